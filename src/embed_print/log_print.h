/* SPDX-License-Identifier: MIT
 *
 * log_print.h: the program's own log (PROBITY_LOG), printed while it runs.
 */
#ifndef PROBITY_EMBED_PRINT_LOG_PRINT_H
#define PROBITY_EMBED_PRINT_LOG_PRINT_H

#include "runtime/hooks.h"

/* The print_log of struct probity_session_hooks. */
void probity_log_print(struct probity_hooks_job *job, int is_closed);

#endif
