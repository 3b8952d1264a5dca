/* SPDX-License-Identifier: MIT
 *
 * cost.c: see cost.h.
 */
#include "calls/cost.h"

#include "base/called.h"
#include "base/ticks.h"
#include "calls/calls.h"

enum {
    TICKS_MAX = 1 << 16, /* a thread that takes longer was probably switched out */
    /* The whole cost of a piece of work, with the instructions before and after it, in 1/256 of
     * what is timed. Measured with a web server (doc/overhead.md, "The budget's estimate"). */
    RECORDED_256 = 312,
    COUNTED_256 = 435,
    TRIES = 16
};

__thread struct probity_calls_local probity_calls_local
    __attribute__((tls_model("initial-exec"), visibility("hidden"), aligned(32))) = {
        .cost_left = PROBITY_CALLS_COST_EVERY / 2};

/* Sums over all threads, in cache lines that are not used otherwise. */
static struct {
    uint64_t recorded_ticks, records, counted_ticks;
    uint64_t empty_ticks; /* ticks of a piece that does nothing; 0: not measured yet */
} sums __attribute__((aligned(128)));

/* Returns the minimum of several attempts, which is the time with warm caches. */
static uint64_t measure_empty(void)
{
    uint64_t least = TICKS_MAX;

    for (int i = 0; i < TRIES; i++) {
        uint64_t first = probity_scope_watch_begin();
        uint64_t ticks = probity_scope_watch_begin() - first;
        least = ticks != 0 && ticks < least ? ticks : least;
    }
    __atomic_store_n(&sums.empty_ticks, least, __ATOMIC_RELAXED);
    return least;
}

uint64_t probity_calls_cost_begin_timed(void)
{
    probity_calls_local.cost_left = PROBITY_CALLS_COST_EVERY - 1;
    if (__atomic_load_n(&sums.empty_ticks, __ATOMIC_RELAXED) == 0)
        measure_empty();
    return probity_scope_watch_begin();
}

void probity_calls_cost_end_timed(uint64_t since, int is_recorded)
{
    uint64_t ticks = probity_scope_watch_begin() - since;
    uint64_t empty_ticks = __atomic_load_n(&sums.empty_ticks, __ATOMIC_RELAXED);

    ticks = ticks > empty_ticks ? ticks - empty_ticks : 0;
    ticks = ticks < TICKS_MAX ? ticks : TICKS_MAX;
    if (!is_recorded) {
        __atomic_fetch_add(&sums.counted_ticks, ticks, __ATOMIC_RELAXED);
        return;
    }
    __atomic_fetch_add(&sums.recorded_ticks, ticks, __ATOMIC_RELAXED);
    __atomic_fetch_add(&sums.records, 1, __ATOMIC_RELAXED);
}

/* A fork copies the sums, and a recording may begin long after the library was loaded: so the cost
 * of a record is an average over all that time, and the first call returns more than the cost of
 * one interval. */
PROBITY_API uint64_t probity_calls_cost(uint64_t rate, uint64_t *ret_record_256)
{
    static uint64_t latest_ticks;
    uint64_t records = __atomic_load_n(&sums.records, __ATOMIC_RELAXED);
    uint64_t ticks = __atomic_load_n(&sums.recorded_ticks, __ATOMIC_RELAXED);
    uint64_t counted_ticks = __atomic_load_n(&sums.counted_ticks, __ATOMIC_RELAXED);
    uint64_t interval_ticks = counted_ticks - latest_ticks;

    latest_ticks = counted_ticks;
    if (records != 0)
        *ret_record_256 = probity_ns_of_ticks(ticks, rate) * RECORDED_256 / records;
    return probity_ns_of_ticks(interval_ticks * PROBITY_CALLS_COST_EVERY, rate) * COUNTED_256 / 256;
}
