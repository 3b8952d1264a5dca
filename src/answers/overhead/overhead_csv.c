/* SPDX-License-Identifier: MIT
 *
 * overhead_csv.c: one line per run.
 */
#include "answers/overhead/overhead_csv.h"

#include <inttypes.h>

/* recording: 0 off, 1 on, 2 started but idle. */
static void put_run(FILE *stream, size_t pair, int recording,
                    const struct probity_overhead_run *run)
{
    fprintf(stream, "%zu,%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64, pair, recording, run->wall_ns,
            run->user_ns, run->system_ns);
    fprintf(stream, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", run->traces,
            run->records, run->calls, run->lost, run->incomplete);
}

void probity_overhead_csv(FILE *stream, const struct probity_overhead_answer *answer)
{
    fputs("pair,recording,wall_ns,user_ns,system_ns,traces,records,calls,lost,incomplete\n",
          stream);
    for (size_t i = 0; i < answer->count; i++) {
        const struct probity_overhead_pair *pair = &answer->pairs[i];
        const struct probity_overhead_run *first = pair->on_came_first ? &pair->on : &pair->off;
        const struct probity_overhead_run *second = pair->on_came_first ? &pair->off : &pair->on;
        put_run(stream, i + 1, pair->on_came_first, first);
        put_run(stream, i + 1, !pair->on_came_first, second);
        put_run(stream, i + 1, 2, &pair->idle);
    }
}
