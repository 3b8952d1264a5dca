/* SPDX-License-Identifier: MIT
 *
 * wait_text.h: texts that the answers about waiting share.
 */
#ifndef PROBITY_ANSWERS_WAITS_WAIT_TEXT_H
#define PROBITY_ANSWERS_WAITS_WAIT_TEXT_H

#include <stdio.h>

#include "analysis/thread_past.h"
#include "analysis/thread_table.h"
#include "answers/waits/wait_names.h"

/* "lock cache 0x55d0", "file /etc/hosts", "sleep nanosleep". */
void probity_wait_text_name(FILE *stream, const struct probity_wait_name *name);

/* "f", "f > read" if it is in a call to the C library, "read", or "-" without an open scope. */
void probity_wait_text_doing(FILE *stream, const struct probity_past_doing *doing);

/* The name of a function, "" for NULL. */
const char *probity_wait_function_name(const struct probity_function *function);

/* A thread's id and name; "thread N" if only its id is known (0: "other threads"). */
void probity_wait_text_thread(FILE *stream, const struct probity_thread_label *thread,
                              uint32_t tid, int has_pids);

/* ", NAME_tid, NAME_thread, NAME_function, NAME_call" as members of a JSON object; null if unknown.
 * Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_wait_json_who(FILE *stream, const char *name, const struct probity_thread_label *thread,
                          uint32_t tid, const struct probity_past_doing *doing);

/* Four CSV cells of the same, with a comma before each; empty if unknown. */
void probity_wait_csv_who(FILE *stream, const struct probity_thread_label *thread, uint32_t tid,
                          const struct probity_past_doing *doing);

/* Seconds since recording began, as --since takes them, and the local time of day. */
void probity_wait_text_when(FILE *stream, uint64_t at_ns, uint64_t start_ns);

/* Lines that report what is missing from the trace or because of limits, if anything. */
void probity_wait_text_facts(FILE *stream, const struct probity_waits_facts *facts);

/* The same as members of a JSON object, with a comma before each. */
void probity_wait_json_facts(FILE *stream, const struct probity_waits_facts *facts);

#endif
