/* SPDX-License-Identifier: MIT
 *
 * print.h: what libprobity-print prints for a recording: the functions of struct
 * probity_session_hooks; its comments specify when they are called.
 */
#ifndef PROBITY_EMBED_PRINT_PRINT_H
#define PROBITY_EMBED_PRINT_PRINT_H

#include "runtime/hooks.h"

/* Writes the CSV file that a program makes instead of its trace: make_csv. */
int probity_csv_print(const struct probity_hooks_job *job, char ret_why[PROBITY_HOOKS_WHY_BYTES]);

/* Prints the program's own log (PROBITY_LOG), while it runs: print_log. */
void probity_log_print(struct probity_hooks_job *job, int is_closed);

/* Prints calls and times of all functions, when recording ends (PROBITY_SUMMARY): print_summary. */
int probity_summary_print(const struct probity_hooks_job *job);

#endif
