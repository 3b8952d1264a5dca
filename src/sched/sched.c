/* SPDX-License-Identifier: MIT
 *
 * sched.c: from the collected events to the files, in two passes: the first finds the threads'
 * lives, which are matched with the threads of the traces; the second follows their states.
 */
#include "sched/sched.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/assert.h"
#include "probity.h"
#include "sched/collect.h"
#include "sched/files.h"
#include "sched/follow.h"
#include "sched/lives.h"
#include "sched/order.h"
#include "sched/traces.h"

struct probity_sched {
    struct probity_sched_collect collect;
    int states; /* a file for blocks */
    int has_wakings;
};

/* The states of one run, while they are written. */
struct writing {
    struct probity_sched_context context;
    struct probity_sched_order order;
    struct probity_sched_lives lives;
    struct probity_sched_trace *traces;
    size_t trace_count;
};

int probity_sched_begin(pid_t pid, const char *near, size_t ring_bytes, uint32_t share,
                        struct probity_sched **ret_sched, int *ret_wakings)
{
    struct probity_sched *sched = calloc(1, sizeof *sched);
    int spill = probity_sched_temporary(near), states = probity_sched_temporary(near);
    int error = sched == NULL || spill < 0 || states < 0
                    ? -1
                    : probity_sched_collect_begin(&sched->collect, pid, spill, ring_bytes,
                                                  share);

    if (error != 0) {
        int error_number = sched == NULL ? ENOMEM : errno;
        if (spill >= 0)
            close(spill);
        if (states >= 0)
            close(states);
        free(sched);
        errno = error_number;
        return -1;
    }
    sched->states = states;
    sched->has_wakings = sched->collect.rings.has_wakings;
    *ret_wakings = sched->collect.rings.wakings_error;
    *ret_sched = sched;
    return 0;
}

void probity_sched_end(struct probity_sched *sched)
{
    probity_sched_collect_end(&sched->collect);
}

/* ---- Passes ------------------------------------------------------------------------------------
 */

static int find_lives(struct writing *writing, const struct probity_sched *sched)
{
    struct probity_sched_event event;
    size_t index;
    int got, error = probity_sched_order_open(&writing->order, &sched->collect);

    if (error != 0)
        return error;
    while ((got = probity_sched_order_next(&writing->order, &event)) > 0) {
        got = probity_sched_lives_take(&writing->lives, &event, writing->order.loss_count > 0,
                                       &index);
        if (got < 0)
            break;
    }
    probity_sched_order_close(&writing->order);
    return got;
}

static int open_traces(struct writing *writing, const struct probity_sched *sched,
                       const char *const *paths)
{
    const struct probity_sched_collect *collect = &sched->collect;
    int error = 0;

    for (size_t i = 0; error == 0 && i < writing->trace_count; i++) {
        writing->traces[i].path = paths[i];
        error = probity_sched_trace_open(&writing->traces[i], (uint32_t)i, collect->anchors,
                                         collect->anchor_count, collect->clock, &writing->lives);
    }
    return error;
}

static struct probity_sched_follow *follow_of(struct writing *writing,
                                              struct probity_sched_life *life)
{
    if (life->follow != NULL)
        return life->follow;
    struct probity_sched_follow *follow = calloc(1, sizeof *follow);
    if (follow == NULL)
        return NULL;
    probity_assert(life->trace < writing->trace_count);
    follow->moments = &writing->traces[life->trace].moments;
    follow->stream.trace = life->trace;
    follow->stream.thread = life->thread;
    follow->stream.tid = life->tid;
    life->follow = follow;
    return follow;
}

static int end_life(struct writing *writing, struct probity_sched_life *life, uint64_t end_ns)
{
    int error = probity_sched_follow_end(&writing->context, life->follow, end_ns);

    free(life->follow);
    life->follow = NULL;
    return error;
}

static int take_event(struct writing *writing, const struct probity_sched_event *event)
{
    size_t index;
    int got = probity_sched_lives_take(&writing->lives, event, writing->order.loss_count > 0,
                                       &index);

    if (got <= 0)
        return got;
    struct probity_sched_life *life = &writing->lives.items[index];
    if (life->trace == UINT32_MAX)
        return 0;
    struct probity_sched_follow *follow = follow_of(writing, life);
    if (follow == NULL)
        return PROBITY_ERROR_MEMORY;
    int error = probity_sched_follow_take(&writing->context, follow, event);
    if (error == 0 && event->kind == PROBITY_SCHED_EXIT)
        error = end_life(writing, life, event->time_ns);
    return error;
}

static int follow_all(struct writing *writing, const struct probity_sched *sched)
{
    struct probity_sched_event event;
    int got = probity_sched_order_open(&writing->order, &sched->collect);

    if (got != 0)
        return got;
    writing->context.order = &writing->order;
    writing->context.has_wakings = sched->has_wakings;
    probity_sched_lives_rewind(&writing->lives);
    while ((got = probity_sched_order_next(&writing->order, &event)) > 0) {
        got = take_event(writing, &event);
        if (got < 0)
            break;
    }
    for (size_t i = 0; i < writing->lives.count; i++) {
        struct probity_sched_life *life = &writing->lives.items[i];
        int error = life->follow != NULL ? end_life(writing, life, sched->collect.end_ns) : 0;
        got = got == 0 ? error : got;
    }
    return got;
}

/* ---- Files -------------------------------------------------------------------------------------
 */

static int write_files(struct writing *writing, const struct probity_sched *sched,
                       struct probity_sched_result *result)
{
    const struct probity_sched_collect *collect = &sched->collect;
    int error = 0;

    result->lost = writing->order.lost;
    result->cut_errno = collect->error;
    for (size_t i = 0; error == 0 && i < writing->trace_count; i++) {
        struct probity_sched_trace *trace = &writing->traces[i];
        if (!trace->is_used)
            continue;
        struct probity_sched_info info = {
            .flags = (sched->has_wakings ? PROBITY_SCHED_WAKINGS : 0u) |
                     (collect->error != 0 ? PROBITY_SCHED_CUT : 0u),
            .first_tick = probity_sched_moments_tick(&trace->moments, collect->anchors[0].raw_ns),
            .last_tick = probity_sched_moments_tick(&trace->moments, collect->end_ns),
            .lost = writing->order.lost};
        result->failed = i;
        error = probity_sched_trace_write(trace, (uint32_t)i, &writing->context.blocks, &info);
        result->written += error == 0;
    }
    return error;
}

int probity_sched_write(struct probity_sched *sched, const char *const *paths, size_t count,
                        struct probity_sched_result *ret_result)
{
    struct writing *writing = calloc(1, sizeof *writing);
    const struct probity_sched_collect *collect = &sched->collect;
    struct probity_sched_result result = {
        .pauses = collect->duty.pauses, .paused_ns = collect->duty.paused_ns,
        .recorded_ns = collect->end_ns - collect->anchors[0].raw_ns};
    int error = PROBITY_ERROR_MEMORY;

    if (writing == NULL)
        return error;
    writing->context.blocks.file = sched->states;
    writing->trace_count = count;
    writing->traces = calloc(count + 1, sizeof *writing->traces);
    if (writing->traces != NULL)
        error = find_lives(writing, sched);
    if (error == 0)
        error = open_traces(writing, sched, paths);
    if (error == 0)
        error = follow_all(writing, sched);
    if (error == 0)
        error = write_files(writing, sched, &result);
    int error_number = errno;
    probity_sched_order_close(&writing->order);
    probity_sched_lives_release(&writing->lives);
    probity_sched_blocks_release(&writing->context.blocks);
    sched->states = -1;
    free(writing->traces);
    free(writing);
    *ret_result = result;
    errno = error_number;
    return error;
}

void probity_sched_release(struct probity_sched *sched)
{
    probity_sched_collect_release(&sched->collect);
    if (sched->states >= 0)
        close(sched->states);
    free(sched);
}
