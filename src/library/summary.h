/* SPDX-License-Identifier: MIT
 *
 * summary.h: calls and times of all functions, printed by the program itself when recording ends
 * (PROBITY_SUMMARY).
 */
#ifndef PROBITY_LIBRARY_SUMMARY_H
#define PROBITY_LIBRARY_SUMMARY_H

#include "runtime/session.h"

/* A probity_session_summary. What fails is told on stderr; the trace then stays. */
int probity_summary_print(struct probity_session *session);

#endif
