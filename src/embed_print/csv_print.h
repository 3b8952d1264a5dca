/* SPDX-License-Identifier: MIT
 *
 * csv_print.h: the CSV file that a program writes instead of its trace.
 */
#ifndef PROBITY_EMBED_PRINT_CSV_PRINT_H
#define PROBITY_EMBED_PRINT_CSV_PRINT_H

#include "runtime/hooks.h"

/* The make_csv of struct probity_session_hooks. */
int probity_csv_print(const struct probity_hooks_job *job, char ret_why[PROBITY_HOOKS_WHY_BYTES]);

#endif
