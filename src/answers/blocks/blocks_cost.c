/* SPDX-License-Identifier: MIT
 *
 * blocks_cost.c: corrects times for the cost of hits. With several traces, the cost is taken from
 * any of them.
 */
#include "answers/blocks/blocks.h"

/* Returns the number of blocks that may include a reading of the CPU clock, because they are at
 * least as long as a gap. Returns all of them if the durations are not wall times. */
static uint64_t long_blocks(const struct probity_blocks_pair *pair, uint64_t gap_ns)
{
    struct probity_histogram_bucket bucket;
    uint64_t count = 0;
    size_t at = 0;

    if (pair->sum_ns != pair->wall_ns)
        return pair->calls;
    while (probity_histogram_next(&pair->durations, &at, &bucket))
        count += bucket.least >= gap_ns ? bucket.count : 0;
    return count;
}

int probity_blocks_corrected(const struct probity_blocks_pair *pair,
                             const struct probity_reader *reader,
                             struct probity_corrected *ret_corrected)
{
    struct probity_cost_sum sum = {.least = UINT64_MAX};

    for (size_t i = 0; i < probity_reader_traces(reader); i++) {
        const struct probity_trace_facts *facts = probity_reader_facts(reader, i);
        struct probity_costs costs;
        probity_costs_of(facts, &costs);
        const struct probity_cost_range *hit = &costs.part[PROBITY_PART_HIT];
        if (hit->most == 0)
            return 0;
        sum.least = hit->least < sum.least ? hit->least : sum.least;
        sum.most = hit->most > sum.most ? hit->most : sum.most;
        sum.early = costs.early > sum.early ? costs.early : sum.early;
        if (costs.gap_ticks == UINT64_MAX)
            continue;
        uint64_t gap_ns = probity_trace_ns_of_ticks(facts, costs.gap_ticks);
        uint64_t rare = long_blocks(pair, gap_ns) * costs.reading;
        sum.rare = rare > sum.rare ? rare : sum.rare;
    }
    sum.least *= pair->calls;
    sum.most *= pair->calls;
    sum.early *= pair->calls;
    *ret_corrected = probity_correct(pair->wall_ns, &sum);
    return 1;
}
