/* SPDX-License-Identifier: MIT
 *
 * often.h: between the often-driver and its memory.
 */
#ifndef TESTS_FUZZ_OFTEN_H
#define TESTS_FUZZ_OFTEN_H

#include <stddef.h>
#include <stdint.h>

/* Writes the input at hand into a file, says why, and ends the process. */
_Noreturn void often_found(const char *why);

/* Ends an execution: nothing may be allocated any more. */
void often_memory_anew(void);

#endif
