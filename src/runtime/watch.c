/* SPDX-License-Identifier: MIT
 *
 * watch.c: variables that the record path reads because of conditions; in every program. All are
 * zero if no recording has conditions.
 */
#include "runtime/watch.h"

#include "runtime/session_mapping.h"
#include "runtime/trigger_calls.h"

uint64_t probity_trigger_functions[PROBITY_LIMIT_SITES / 2 + 1];

int probity_trigger_has_gaps;

PROBITY_API uint64_t probity_scope_watch_begin(void)
{
    const struct probity_session *session = probity_session_recording();

    return session != NULL ? probity_clock_ticks(session->live.clock) : 0;
}

PROBITY_API void probity_scope_watch_end(const struct probity_site_function *function,
                                         uint64_t entered, uint64_t left)
{
    if (probity_trigger_is_linked())
        probity_trigger_calls.call_ended(function, entered, left);
}
