/* SPDX-License-Identifier: MIT
 *
 * summary.h: calls and times of all functions, printed by the program itself when recording ends
 * (PROBITY_SUMMARY).
 */
#ifndef PROBITY_EMBED_PRINT_SUMMARY_H
#define PROBITY_EMBED_PRINT_SUMMARY_H

#include "runtime/hooks.h"

/* The print_summary of struct probity_session_hooks. */
int probity_summary_print(const struct probity_hooks_job *job);

#endif
