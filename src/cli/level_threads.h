/* SPDX-License-Identifier: MIT
 *
 * level_threads.h: finds the thread of a program that a request waits for.
 */
#ifndef PROBITY_CLI_LEVEL_THREADS_H
#define PROBITY_CLI_LEVEL_THREADS_H

#include <stddef.h>
#include <stdint.h>

/* Describes, for the end of a sentence, the thread of the process that delays the reply to a
 * request. Returns 1, or 0 if there is no such thread or it cannot be determined. */
int cli_level_thread(uint32_t pid, char *ret_text, size_t room);

#endif
