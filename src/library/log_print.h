/* SPDX-License-Identifier: MIT
 *
 * log_print.h: the program's own log (PROBITY_LOG), printed while it runs.
 */
#ifndef PROBITY_LIBRARY_LOG_PRINT_H
#define PROBITY_LIBRARY_LOG_PRINT_H

#include "runtime/session.h"

/* A probity_session_log. What fails is told once on stderr; recording goes on. */
void probity_log_print(struct probity_session *session, int is_closed);

#endif
