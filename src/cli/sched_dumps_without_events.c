/* SPDX-License-Identifier: MIT
 *
 * sched_dumps_without_events.c: replaces sched_dumps.c if the tool is built with
 * -DPROBITY_WITHOUT_PROGRAMS: without events of the scheduler, dumps have no thread states.
 */
#include "cli/sched_dumps.h"

#ifdef PROBITY_WITHOUT_PROGRAMS

void cli_sched_dumps_begin(struct cli_sched_dumps *dumps, struct probity_sched *sched,
                           const char *pattern, const char *program)
{
    (void)dumps;
    (void)sched;
    (void)pattern;
    (void)program;
}

void cli_sched_dumps_end(struct cli_sched_dumps *dumps)
{
    (void)dumps;
}

#endif
