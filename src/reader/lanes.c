/* SPDX-License-Identifier: MIT
 *
 * lanes.c: counts the records of each thread during the prescan of a trace, and divides the
 * threads, largest first: each goes into the lane with fewer records.
 */
#include "reader/lanes.h"

#include <stdlib.h>

#include "base/array_grow.h"
#include "base/assert.h"
#include "probity.h"
#include "reader/trace.h"

/* Reading ahead in a second thread takes about 3/4 of the time of one thread. Records of blocks
 * that are only searched for declarations take about a sixth of the time of others. */
enum { LANE_PERCENT_MAX = 65, SEARCHED = 6 };

struct share {
    struct probity_lane_thread *thread;
    size_t order; /* tie-breaker, so that both readers divide the threads in the same way */
};

int probity_lanes_add(struct probity_lanes *lanes, const struct probity_data *data)
{
    uint32_t slot;
    int error = probity_threads_slot(&lanes->threads, 0, data->thread, data->tid, &slot);

    if (error == 0 && slot >= lanes->capacity) {
        void *grown =
            probity_array_grow(lanes->items, sizeof *lanes->items, slot, &lanes->capacity);
        error = grown != NULL ? 0 : PROBITY_ERROR_MEMORY;
        if (grown != NULL)
            lanes->items = grown;
    }
    if (error != 0)
        return error;
    probity_assert(slot < lanes->capacity);
    lanes->items[slot].records += data->records;
    if (data->flags & PROBITY_DATA_HAS_EVENTS)
        lanes->shared += data->records;
    return 0;
}

static int compare_shares(const void *left, const void *right)
{
    const struct share *a = left, *b = right;

    if (a->thread->records != b->thread->records)
        return a->thread->records > b->thread->records ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Returns whether each trace is closed and complete, and the number of its threads. */
static int count_threads(const struct probity_trace *traces, size_t count, size_t *ret_threads)
{
    *ret_threads = 0;
    for (size_t i = 0; i < count; i++) {
        const struct probity_trace_facts *facts = &traces[i].facts;
        if (facts->state != PROBITY_TRACE_CLOSED || traces[i].has_rest ||
            traces[i].index.file >= 0 || traces[i].sched.range.file >= 0 ||
            probity_trace_is_damaged(facts))
            return 0;
        *ret_threads += traces[i].lanes.threads.count;
    }
    return *ret_threads > 1;
}

/* Returns whether the larger lane is small enough. */
static int assign(struct share *shares, size_t count, uint64_t shared)
{
    uint64_t records[2] = {0, 0};

    if (count > 1)
        qsort(shares, count, sizeof *shares, compare_shares);
    for (size_t i = 0; i < count; i++) {
        uint32_t lane = records[1] < records[0];
        shares[i].thread->lane = lane + 1;
        records[lane] += shares[i].thread->records;
    }
    uint64_t all = records[0] + records[1];
    uint64_t most = (records[0] > records[1] ? records[0] : records[1]) + shared / SEARCHED;
    return all > 0 && most / LANE_PERCENT_MAX <= all / 100;
}

int probity_lanes_divide(struct probity_trace *traces, size_t count)
{
    size_t threads, at = 0;
    uint64_t shared = 0;

    if (!count_threads(traces, count, &threads))
        return 0;
    struct share *shares = malloc(threads * sizeof *shares);
    if (shares == NULL)
        return PROBITY_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        struct probity_lanes *lanes = &traces[i].lanes;
        shared += lanes->shared;
        for (size_t slot = 0; slot < lanes->threads.count; slot++, at++)
            shares[at] = (struct share){&lanes->items[slot], at};
    }
    probity_assert(at == threads);
    int is_divided = assign(shares, threads, shared);
    free(shares);
    return is_divided;
}

int probity_lanes_have(struct probity_lanes *lanes, uint32_t lane, uint32_t thread)
{
    uint32_t slot;

    probity_assert(lane == 1 || lane == 2);
    /* A thread that the prescan did not find is in the first lane. */
    if (probity_threads_slot(&lanes->threads, 0, thread, 0, &slot) != 0 ||
        slot >= lanes->capacity || lanes->items[slot].lane == 0)
        return lane == 1;
    return lanes->items[slot].lane == lane;
}

void probity_lanes_release(struct probity_lanes *lanes)
{
    probity_threads_release(&lanes->threads);
    free(lanes->items);
    *lanes = (struct probity_lanes){.capacity = 0};
}
