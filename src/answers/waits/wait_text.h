/* SPDX-License-Identifier: MIT
 *
 * wait_text.h: texts shared by the answers about waiting.
 */
#ifndef PROBITY_ANSWERS_WAITS_WAIT_TEXT_H
#define PROBITY_ANSWERS_WAITS_WAIT_TEXT_H

#include <stdio.h>

#include "analysis/thread_past.h"
#include "analysis/thread_table.h"
#include "answers/waits/wait_names.h"

/* Prints "lock cache 0x55d0", "file /etc/hosts", "sleep nanosleep". */
void probity_wait_text_name(FILE *stream, const struct probity_wait_name *name);

/* Prints "f"; "f > read" if it is in a call to the C library; or, without an open scope, "read" or
 * "-". */
void probity_wait_text_doing(FILE *stream, const struct probity_past_doing *doing);

/* Returns the name of a function, or "" for NULL. */
const char *probity_wait_function_name(const struct probity_function *function);

/* Prints a thread's id and name, or "thread N" if only its id is known (0: "other threads"). */
void probity_wait_text_thread(FILE *stream, const struct probity_thread_label *thread,
                              uint32_t tid, int has_pids);

/* Prints ", NAME_tid, NAME_thread, NAME_function, NAME_call" as members of a JSON object; null if
 * unknown. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_wait_json_who(FILE *stream, const char *name, const struct probity_thread_label *thread,
                          uint32_t tid, const struct probity_past_doing *doing);

/* Prints the same as four CSV cells, each with a comma before it; empty if unknown. */
void probity_wait_csv_who(FILE *stream, const struct probity_thread_label *thread, uint32_t tid,
                          const struct probity_past_doing *doing);

/* Prints the seconds since recording began, as accepted by --since, and the local time of day. */
void probity_wait_text_when(FILE *stream, uint64_t at_ns, uint64_t start_ns);

/* Prints lines that report what is missing, if anything, from the trace or because of limits. */
void probity_wait_text_facts(FILE *stream, const struct probity_waits_facts *facts);

/* Prints the same as members of a JSON object, each with a comma before it. */
void probity_wait_json_facts(FILE *stream, const struct probity_waits_facts *facts);

#endif
