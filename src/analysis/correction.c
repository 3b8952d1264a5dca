/* SPDX-License-Identifier: MIT
 *
 * correction.c: turns the rows of COST blocks into ranges.
 */
#include "analysis/correction.h"

static const struct {
    enum probity_cost_kind all, inner; /* inner: 0 unless for scopes */
    enum probity_cost_part own, caller;
} subjects[] = {
    {PROBITY_COST_HIT, 0, PROBITY_PART_HIT, 0},
    {PROBITY_COST_MESSAGE, 0, PROBITY_PART_MESSAGE, 0},
    {PROBITY_COST_SCOPE, PROBITY_COST_SCOPE_INNER, PROBITY_PART_SCOPE_OWN,
     PROBITY_PART_SCOPE_CALLER},
    {PROBITY_COST_VALUES, PROBITY_COST_VALUES_INNER, PROBITY_PART_VALUES_OWN,
     PROBITY_PART_VALUES_CALLER},
    {PROBITY_COST_PROFILED, PROBITY_COST_PROFILED_INNER, PROBITY_PART_PROFILED_OWN,
     PROBITY_PART_PROFILED_CALLER},
    {PROBITY_COST_HOOKED, PROBITY_COST_HOOKED_INNER, PROBITY_PART_HOOKED_OWN,
     PROBITY_PART_HOOKED_CALLER}};

enum { SUBJECTS = sizeof subjects / sizeof *subjects };

/* The cost of a probe depends on the code around it and may differ this much from the
 * measurement. */
enum { ELSEWHERE = PROBITY_COST_UNITS };

/* Counters are no finer than a tick, so a measurement is exact to one tick per window. */
static void widen(struct probity_cost_range *range, uint64_t figure, uint64_t resolution)
{
    uint64_t margin = resolution + ELSEWHERE;
    uint64_t least = figure > margin ? figure - margin : 0;

    range->least = range->most == 0 || least < range->least ? least : range->least;
    range->most = figure + margin > range->most ? figure + margin : range->most;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static const struct probity_cost_row *find(const struct probity_cost *cost, uint32_t kind,
                                           uint32_t context)
{
    for (uint32_t i = 0; i < cost->rows; i++) {
        if (cost->row[i].kind == kind && cost->row[i].context == context)
            return &cost->row[i];
    }
    return NULL;
}

/* Returns one tick, divided by the calls of a window. */
static uint64_t resolution_of(const struct probity_trace_facts *facts,
                              const struct probity_cost_row *row)
{
    uint64_t tick = facts->info.rate >> 24;

    return row->calls > 0 ? (tick + row->calls - 1) / row->calls : tick;
}

static void add(const struct probity_trace_facts *facts, const struct probity_cost *cost,
                int subject, uint32_t context, struct probity_costs *costs)
{
    const struct probity_cost_row *all = find(cost, subjects[subject].all, context);
    uint32_t inner_kind = subjects[subject].inner;
    const struct probity_cost_row *inner = find(cost, inner_kind, context);

    if (all == NULL || (inner_kind != 0 && inner == NULL))
        return;
    const struct probity_cost_row *own = inner_kind != 0 ? inner : all;
    uint64_t resolution = resolution_of(facts, all);
    struct probity_cost_range *range = &costs->part[subjects[subject].own];
    costs->is_known = 1;
    widen(range, own->least, resolution);
    widen(range, own->median, resolution);
    if (inner_kind == 0)
        return;
    range = &costs->part[subjects[subject].caller];
    widen(range, less(all->least, inner->least), resolution);
    widen(range, less(all->median, inner->median), resolution);
}

/* Assumes that an unmeasured cost is between that of its closest equivalent and twice as much: with
 * the system clock, which is most of the cost, records with values are not measured. */
static void guess(struct probity_costs *costs, enum probity_cost_part part,
                  enum probity_cost_part like)
{
    struct probity_cost_range *range = &costs->part[part];

    if (range->most == 0 && costs->part[like].most != 0)
        *range = (struct probity_cost_range){costs->part[like].least, 2 * costs->part[like].most};
}

struct probity_cost_range probity_cost_hooked(const struct probity_costs *costs,
                                              enum probity_cost_part plain)
{
    struct probity_costs guessed = *costs;
    enum probity_cost_part part =
        plain == PROBITY_PART_SCOPE_OWN ? PROBITY_PART_HOOKED_OWN : PROBITY_PART_HOOKED_CALLER;

    guess(&guessed, part, plain);
    return guessed.part[part];
}

const char *probity_cost_part_name(enum probity_cost_part part)
{
    static const char *const names[PROBITY_PARTS] = {
        "hit",     "scope_own",    "scope_caller",    "values_own", "values_caller",
        "message", "profiled_own", "profiled_caller", "hooked_own", "hooked_caller"};

    return names[part];
}

struct probity_corrected probity_correct(uint64_t ns, const struct probity_cost_sum *sum)
{
    const uint64_t units = PROBITY_COST_UNITS;
    uint64_t middle = sum->least + (sum->most - sum->least) / 2;
    /* Half the range, and the middle: other load on the core and cold caches may double the cost
     * of a record within milliseconds (doc/overhead.md), which the measurements may miss. */
    uint64_t error = sum->most + sum->rare + sum->early + sum->early_inside;
    uint64_t taken_ns = (middle + units / 2) / units;
    /* times are reported to the nanosecond */
    struct probity_corrected corrected = {.ns = less(ns, taken_ns),
                                          .error_ns = (error + units - 1) / units + 1,
                                          .most_ns = ns + 1};

    corrected.is_below = corrected.ns < corrected.error_ns;
    return corrected;
}

/* Returns the cost of reading the CPU clock: INFO has that of the call; this adds that of the path
 * to it, and of a second attempt. */
static uint64_t reading_of(const struct probity_info *info)
{
    return (uint64_t)info->cpu_clock_ns * PROBITY_COST_UNITS * 2;
}

/* Returns the largest measured value. */
static uint64_t early_by(const struct probity_trace_facts *facts, uint32_t kind)
{
    uint64_t most = 0;

    for (int moment = 0; moment < PROBITY_COST_MOMENTS; moment++) {
        const struct probity_cost_row *row =
            find(&facts->cost[moment], kind, PROBITY_COST_BARE);
        uint64_t found = row == NULL ? 0 : row->median > row->least ? row->median : row->least;
        most = found > most ? found : most;
    }
    return most > 0 ? most + ELSEWHERE : 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void add_early(const struct probity_trace_facts *facts, struct probity_costs *costs)
{
    costs->is_ordered = (facts->info.flags & PROBITY_INFO_ORDERED) != 0 ||
                        facts->info.clock == PROBITY_CLOCK_MONOTONIC_NS;
    if (costs->is_ordered)
        return;
    costs->early = larger(early_by(facts, PROBITY_COST_EARLY_INTEGERS),
                          early_by(facts, PROBITY_COST_EARLY_LOADS));
    costs->early_slow = larger(early_by(facts, PROBITY_COST_EARLY_DOUBLES),
                               early_by(facts, PROBITY_COST_EARLY_DIVISIONS));
}

void probity_costs_of(const struct probity_trace_facts *facts, struct probity_costs *ret_costs)
{
    int has_cpu = (facts->info.flags & PROBITY_INFO_CPU_TIME) != 0 && facts->info.gap_ticks != 0;

    *ret_costs = (struct probity_costs){.gap_ticks = has_cpu ? facts->info.gap_ticks : UINT64_MAX,
                                        .reading = reading_of(&facts->info)};
    for (int moment = 0; moment < PROBITY_COST_MOMENTS; moment++) {
        for (int subject = 0; subject < SUBJECTS; subject++) {
            add(facts, &facts->cost[moment], subject, PROBITY_COST_BARE, ret_costs);
            add(facts, &facts->cost[moment], subject, PROBITY_COST_AMID_WORK, ret_costs);
        }
    }
    add_early(facts, ret_costs);
    guess(ret_costs, PROBITY_PART_VALUES_OWN, PROBITY_PART_SCOPE_OWN);
    guess(ret_costs, PROBITY_PART_VALUES_CALLER, PROBITY_PART_SCOPE_CALLER);
    guess(ret_costs, PROBITY_PART_MESSAGE, PROBITY_PART_HIT);
}
