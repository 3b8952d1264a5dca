/* SPDX-License-Identifier: MIT
 *
 * interpreter.h: the dynamic linker that an executable requests.
 */
#ifndef PROBITY_SYMBOLS_INTERPRETER_H
#define PROBITY_SYMBOLS_INTERPRETER_H

#include <stddef.h>

/* Writes its path. Returns 0, or -1 if the file is not an executable for this machine, is linked
 * statically, or cannot be read. */
int symbols_interpreter(const char *path, char *ret_path, size_t room);

#endif
