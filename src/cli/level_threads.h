/* SPDX-License-Identifier: MIT
 *
 * level_threads.h: which thread of a program a request waits for.
 */
#ifndef PROBITY_CLI_LEVEL_THREADS_H
#define PROBITY_CLI_LEVEL_THREADS_H

#include <stddef.h>
#include <stdint.h>

/* Describes the thread of the process that keeps a request from being answered, for the end of a
 * sentence. Returns 1, or 0 if there is none, or if it cannot be found out. */
int cli_level_thread(uint32_t pid, char *ret_text, size_t room);

#endif
