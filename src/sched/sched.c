/* SPDX-License-Identifier: MIT
 *
 * sched.c: writes the files from the collected events, in two passes: the first finds the lives of
 * threads, which are matched with the threads of the traces; the second follows their states. Of
 * events older than a dump, only each thread's latest is needed.
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
    int has_wakings;
};

/* The states of one recording, while they are written. */
struct writing {
    struct probity_sched_taken taken;
    struct probity_sched_context context;
    struct probity_sched_order order;
    struct probity_sched_lives lives;
    struct probity_sched_trace *traces;
    size_t trace_count;
};

int probity_sched_begin(pid_t pid, const char *near, const struct probity_sched_limits *limits,
                        struct probity_sched **ret_sched, int *ret_wakings)
{
    struct probity_sched *sched = calloc(1, sizeof *sched);
    int spill = probity_sched_temporary(near);
    int error = sched == NULL || spill < 0
                    ? -1
                    : probity_sched_collect_begin(&sched->collect, pid, spill, limits);

    if (error != 0) {
        int error_number = sched == NULL ? ENOMEM : errno;
        if (spill >= 0)
            close(spill);
        free(sched);
        errno = error_number;
        return -1;
    }
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

static int take_life(struct writing *writing, const struct probity_sched_event *event,
                     size_t *ret_index)
{
    int is_lossy = writing->order.loss_count > 0 || writing->taken.kept.until_ns != 0;

    return probity_sched_lives_take(&writing->lives, event, is_lossy, ret_index);
}

static int find_lives(struct writing *writing)
{
    struct probity_sched_event event;
    size_t index;
    int got, error = probity_sched_order_open(&writing->order, &writing->taken);

    if (error != 0)
        return error;
    while ((got = probity_sched_order_next(&writing->order, &event)) > 0) {
        got = take_life(writing, &event, &index);
        if (got < 0)
            break;
    }
    probity_sched_order_close(&writing->order);
    return got;
}

static int open_traces(struct writing *writing, const char *const *paths, uint32_t clock)
{
    const struct probity_sched_taken *taken = &writing->taken;
    int error = 0;

    for (size_t i = 0; error == 0 && i < writing->trace_count; i++) {
        writing->traces[i].path = paths[i];
        error = probity_sched_trace_open(&writing->traces[i], (uint32_t)i, taken->anchors,
                                         taken->anchor_count, clock, &writing->lives);
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
    int got = take_life(writing, event, &index);

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

static int follow_all(struct writing *writing)
{
    struct probity_sched_event event;
    int got = probity_sched_order_open(&writing->order, &writing->taken);

    if (got != 0)
        return got;
    writing->context.order = &writing->order;
    probity_sched_lives_rewind(&writing->lives);
    while ((got = probity_sched_order_next(&writing->order, &event)) > 0) {
        got = take_event(writing, &event);
        if (got < 0)
            break;
    }
    for (size_t i = 0; i < writing->lives.count; i++) {
        struct probity_sched_life *life = &writing->lives.items[i];
        int error = life->follow != NULL ? end_life(writing, life, writing->taken.end_ns) : 0;
        got = got == 0 ? error : got;
    }
    return got;
}

/* ---- Dumps -------------------------------------------------------------------------------------
 */

/* Discards chunks that end before a time, except for what must be kept from them. Returns 0 or an
 * error. */
static int discard_older(struct probity_sched_taken *taken, uint64_t from_ns)
{
    struct probity_sched_spilled *events = malloc(PROBITY_SCHED_CHUNK_BYTES);
    size_t left = 0;
    int error = events == NULL ? PROBITY_ERROR_MEMORY : 0;

    for (size_t i = 0; error == 0 && i < taken->chunk_count; i++) {
        const struct probity_sched_chunk chunk = taken->chunks[i];
        size_t bytes = chunk.count * sizeof *events;
        if (chunk.last_ns >= from_ns) {
            taken->chunks[left++] = chunk;
            continue;
        }
        error = pread(taken->spill, events, bytes,
                      (off_t)(chunk.place * PROBITY_SCHED_CHUNK_BYTES)) == (ssize_t)bytes
                    ? probity_sched_kept_discard(&taken->kept, chunk.cpu, events, chunk.count)
                    : PROBITY_ERROR_READ;
    }
    taken->chunk_count = left;
    free(events);
    return error;
}

/* Keeps only events that concern the window of a dump. Returns 1, 0 if the trace is not a dump, or
 * an error. */
static int take_window(struct writing *writing, const char *path, uint32_t clock)
{
    struct probity_sched_taken *taken = &writing->taken;
    uint64_t from_ns, until_ns;

    if (!probity_sched_trace_window(path, taken->anchors, taken->anchor_count, clock, &from_ns,
                                    &until_ns))
        return 0;
    if (from_ns > writing->context.from_ns)
        writing->context.from_ns = from_ns;
    taken->end_ns = until_ns < taken->end_ns ? until_ns + 1 : taken->end_ns;
    int error = discard_older(taken, from_ns);
    return error != 0 ? error : 1;
}

/* ---- Files -------------------------------------------------------------------------------------
 */

/* Sets the fields for what was left out because of the limit on the share. The pauses of the whole
 * recording do not apply to a dump, which shows its own as unknown states. */
static void put_limits(struct writing *writing, struct probity_sched_trace *trace,
                       const struct probity_sched_result *result, struct probity_sched_info *info)
{
    uint64_t until_ns = writing->taken.wakings_ns;

    info->pauses = result->pauses;
    info->paused_ns = result->paused_ns;
    if (until_ns == 0 || until_ns >= writing->taken.end_ns)
        return;
    uint64_t tick = probity_sched_moments_tick(&trace->moments, until_ns);
    info->flags = (info->flags & ~(uint32_t)PROBITY_SCHED_WAKINGS) | PROBITY_SCHED_WAKINGS_STOPPED;
    info->wakings_until = tick > info->first_tick ? tick : info->first_tick;
}

/* Writes the files. is_dump: skips files without threads of this program, which may only look like
 * its dumps. */
static int write_files(struct writing *writing, int is_dump, struct probity_sched_result *result)
{
    const struct probity_sched_taken *taken = &writing->taken;
    uint64_t begin_ns = taken->anchors[0].raw_ns;
    int error = 0;

    if (writing->context.from_ns > begin_ns)
        begin_ns = writing->context.from_ns;
    result->lost = writing->order.lost;
    for (size_t i = 0; error == 0 && i < writing->trace_count; i++) {
        struct probity_sched_trace *trace = &writing->traces[i];
        if (!trace->is_used || (is_dump && !trace->has_threads))
            continue;
        struct probity_sched_info info = {
            .flags = (writing->context.has_wakings ? PROBITY_SCHED_WAKINGS : 0u) |
                     (taken->error != 0 ? PROBITY_SCHED_CUT : 0u),
            .first_tick = probity_sched_moments_tick(&trace->moments, begin_ns),
            .last_tick = probity_sched_moments_tick(&trace->moments, taken->end_ns),
            .lost = writing->order.lost};
        put_limits(writing, trace, result, &info);
        result->failed = i;
        error = probity_sched_trace_write(trace, (uint32_t)i, &writing->context.blocks, &info);
        result->written += error == 0;
    }
    return error;
}

/* Writes the files from the events taken. is_dump: the only path is that of a file that may be a
 * dump. */
static int write_taken(struct writing *writing, const char *const *paths, int is_dump,
                       uint32_t clock, struct probity_sched_result *result)
{
    int error = 0;

    writing->context.from_ns = writing->taken.kept.until_ns;
    if (is_dump)
        error = take_window(writing, paths[0], clock);
    if (is_dump && error <= 0)
        return error;
    error = find_lives(writing);
    if (error == 0)
        error = open_traces(writing, paths, clock);
    if (error == 0)
        error = follow_all(writing);
    if (error == 0)
        error = write_files(writing, is_dump, result);
    return error;
}

static int write_states(struct probity_sched *sched, const char *const *paths, size_t count,
                        int is_dump, struct probity_sched_result *result)
{
    struct writing *writing = calloc(1, sizeof *writing);
    int error = writing == NULL ? PROBITY_ERROR_MEMORY
                                : probity_sched_collect_take(&sched->collect, &writing->taken);

    if (error != 0) {
        free(writing);
        return error;
    }
    writing->trace_count = count;
    writing->traces = calloc(count + 1, sizeof *writing->traces);
    writing->context.has_wakings = sched->has_wakings;
    writing->context.blocks.file = count > 0 ? probity_sched_temporary(paths[0]) : -1;
    if (writing->traces == NULL)
        error = PROBITY_ERROR_MEMORY;
    else if (count > 0 && writing->context.blocks.file < 0)
        error = PROBITY_ERROR_WRITE;
    else
        error = write_taken(writing, paths, is_dump, sched->collect.clock, result);
    int error_number = errno;
    result->cut_errno = writing->taken.error;
    probity_sched_order_close(&writing->order);
    probity_sched_lives_release(&writing->lives);
    probity_sched_blocks_release(&writing->context.blocks);
    probity_sched_taken_release(&sched->collect, &writing->taken);
    free(writing->traces);
    free(writing);
    errno = error_number;
    return error;
}

int probity_sched_write(struct probity_sched *sched, const char *const *paths, size_t count,
                        struct probity_sched_result *ret_result)
{
    const struct probity_sched_collect *collect = &sched->collect;

    *ret_result = (struct probity_sched_result){
        .wakings_ns = collect->duty.wakings_ns != 0
                          ? collect->duty.wakings_ns - collect->anchors[0].raw_ns : 0,
        .pauses = collect->duty.pauses, .paused_ns = collect->duty.paused_ns,
        .recorded_ns = collect->end_ns - collect->anchors[0].raw_ns};
    return write_states(sched, paths, count, 0, ret_result);
}

int probity_sched_write_dump(struct probity_sched *sched, const char *path,
                             struct probity_sched_result *ret_result)
{
    *ret_result = (struct probity_sched_result){.written = 0};
    return write_states(sched, &path, 1, 1, ret_result);
}

void probity_sched_release(struct probity_sched *sched)
{
    probity_sched_collect_release(&sched->collect);
    free(sched);
}
