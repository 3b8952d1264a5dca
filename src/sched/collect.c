/* SPDX-License-Identifier: MIT
 *
 * collect.c: reads the rings when one is a quarter full, and at least once a second. The rings
 * contain wakings of the whole system; only those of the program's threads are kept. A thread may
 * be woken on one CPU right after it was created on another, so before events are taken from the
 * rings, the rings are searched for new threads, up to a later head than the one used for taking.
 *
 * The table of thread ids is not base's hash table: each waking of the system is looked up in it,
 * and it should stay in the cache, at 4 bytes a place.
 */
#include "sched/collect.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/array_grow.h"
#include "base/assert.h"
#include "base/hash.h"
#include "sched/files.h"

enum { ROUND_MS = 1000, DUTY_ROUND_MS = 10, ANCHOR_TRIES = 16, TIDS_FIRST = 256 };

/* ---- Live threads ------------------------------------------------------------------------------
 */

static uint32_t *place_of(const struct probity_sched_collect *collect, uint32_t tid)
{
    size_t mask = collect->tid_capacity - 1, place = (size_t)probity_hash(tid) & mask;

    probity_assert(collect->tid_used < collect->tid_capacity);
    while (collect->tids[place] != 0 && collect->tids[place] != tid)
        place = (place + 1) & mask;
    return &collect->tids[place];
}

static int has_tid(const struct probity_sched_collect *collect, uint32_t tid)
{
    return tid != 0 && *place_of(collect, tid) == tid;
}

static int grow_tids(struct probity_sched_collect *collect)
{
    uint32_t *before = collect->tids;
    size_t capacity = collect->tid_capacity;
    uint32_t *tids = calloc(2 * capacity, sizeof *tids);

    if (tids == NULL)
        return -1;
    collect->tids = tids;
    collect->tid_capacity = 2 * capacity;
    for (size_t i = 0; i < capacity; i++) {
        if (before[i] != 0)
            *place_of(collect, before[i]) = before[i];
    }
    free(before);
    return 0;
}

static void add_tid(struct probity_sched_collect *collect, uint32_t tid)
{
    if (tid == 0 || has_tid(collect, tid))
        return;
    if (2 * collect->tid_used >= collect->tid_capacity && grow_tids(collect) != 0) {
        collect->error = ENOMEM;
        return;
    }
    *place_of(collect, tid) = tid;
    collect->tid_used++;
}

/* Moves entries that would no longer be found to the free place. */
static void remove_tid(struct probity_sched_collect *collect, uint32_t tid)
{
    uint32_t *place = place_of(collect, tid);
    size_t mask = collect->tid_capacity - 1;

    if (tid == 0 || *place != tid)
        return;
    *place = 0;
    collect->tid_used--;
    for (size_t at = (size_t)(place - collect->tids + 1) & mask; collect->tids[at] != 0;
         at = (at + 1) & mask) {
        uint32_t moved = collect->tids[at];
        collect->tids[at] = 0;
        *place_of(collect, moved) = moved;
    }
}

/* ---- The file ----------------------------------------------------------------------------------
 */

static void flush_chunk(struct probity_sched_collect *collect, uint32_t ring)
{
    const struct probity_sched_spilled *filling =
        collect->filling + (size_t)ring * PROBITY_SCHED_CHUNK_EVENTS;
    uint32_t count = collect->filled[ring];
    void *chunks = probity_array_room(collect->chunks, sizeof *collect->chunks,
                                      collect->chunk_count, &collect->chunk_capacity);

    if (chunks == NULL) {
        collect->error = ENOMEM;
        return;
    }
    collect->chunks = chunks;
    if (probity_sched_write_all(collect->spill, filling, count * sizeof *filling,
                                collect->chunk_count * PROBITY_SCHED_CHUNK_BYTES) != 0) {
        collect->error = errno;
        return;
    }
    collect->chunks[collect->chunk_count++] = (struct probity_sched_chunk){
        ring, count, collect->rings.items[ring].cpu};
    collect->filled[ring] = 0;
}

static void put_event(struct probity_sched_collect *collect, uint32_t ring,
                      const struct probity_sched_event *event)
{
    probity_assert(collect->filled[ring] < PROBITY_SCHED_CHUNK_EVENTS);
    collect->filling[(size_t)ring * PROBITY_SCHED_CHUNK_EVENTS + collect->filled[ring]++] =
        (struct probity_sched_spilled){event->time_ns << 4 | event->kind, event->tid,
                                       event->other};
    if (collect->filled[ring] == PROBITY_SCHED_CHUNK_EVENTS)
        flush_chunk(collect, ring);
}

/* ---- Rounds ------------------------------------------------------------------------------------
 */

static void find_threads(struct probity_sched_collect *collect, uint32_t ring)
{
    const struct probity_sched_ring *from = &collect->rings.items[ring];
    uint64_t at = probity_sched_ring_tail(from), head = probity_sched_ring_head(from);
    struct probity_sched_event event;

    while (at < head) {
        if (probity_sched_ring_read(&collect->rings, from, &at, head, &event) &&
            (event.kind == PROBITY_SCHED_BORN || event.kind == PROBITY_SCHED_EXEC))
            add_tid(collect, event.tid);
    }
}

static void take_ring(struct probity_sched_collect *collect, uint32_t ring, uint64_t head)
{
    const struct probity_sched_ring *from = &collect->rings.items[ring];
    uint64_t at = probity_sched_ring_tail(from);
    struct probity_sched_event event;

    while (at < head) {
        if (!probity_sched_ring_read(&collect->rings, from, &at, head, &event) ||
            collect->error != 0)
            continue;
        if (event.kind == PROBITY_SCHED_WOKEN && !has_tid(collect, event.tid))
            continue;
        probity_sched_duty_count(&collect->duty, event.kind);
        if (event.kind == PROBITY_SCHED_LOST)
            collect->lost[ring] += event.tid;
        if (event.kind == PROBITY_SCHED_EXIT)
            remove_tid(collect, event.tid);
        else if (event.kind == PROBITY_SCHED_IN)
            add_tid(collect, event.tid); /* its creation may have been lost */
        put_event(collect, ring, &event);
    }
    probity_sched_ring_release(from, head);
}

static void take_rings(struct probity_sched_collect *collect, uint64_t *heads)
{
    uint32_t count = (uint32_t)collect->rings.count;

    for (uint32_t i = 0; i < count; i++)
        heads[i] = probity_sched_ring_head(&collect->rings.items[i]);
    for (uint32_t i = 0; collect->rings.has_wakings && i < count; i++)
        find_threads(collect, i);
    for (uint32_t i = 0; i < count; i++)
        take_ring(collect, i, heads[i]);
}

static void take_anchor(struct probity_sched_collect *collect)
{
    void *anchors = probity_array_room(collect->anchors, sizeof *collect->anchors,
                                       collect->anchor_count, &collect->anchor_capacity);

    if (anchors == NULL) {
        collect->error = ENOMEM;
        return;
    }
    collect->anchors = anchors;
    struct probity_clock_moment *anchor = &collect->anchors[collect->anchor_count++];
    *anchor = (struct probity_clock_moment){0};
    probity_clock_moment(collect->clock, 0, ANCHOR_TRIES, anchor);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Once its last thread has ended, an event keeps reporting only that. */
static int wait_for_events(struct pollfd *files, size_t count, int round_ms)
{
    poll(files, count, round_ms);
    for (size_t i = 1; i < count; i++) {
        if (files[i].revents & (POLLHUP | POLLERR | POLLNVAL))
            files[i].fd = -1;
    }
    return files[0].revents != 0;
}

/* Nothing is known about a pause, so it is a loss without dropped records. It begins at the ring's
 * record before it, PAUSED. */
static void put_in_all(struct probity_sched_collect *collect, uint32_t kind, uint64_t time_ns)
{
    const struct probity_sched_event event = {.time_ns = time_ns, .kind = kind};

    for (uint32_t i = 0; collect->error == 0 && i < collect->rings.count; i++)
        put_event(collect, i, &event);
}

/* Switches the events off and on as the share allows. */
static void keep_share(struct probity_sched_collect *collect, uint64_t *heads, int is_over)
{
    struct probity_sched_duty *duty = &collect->duty;
    uint64_t at_ns = now_ns();
    int change = is_over ? 0 : probity_sched_duty_step(duty, at_ns);

    if (change > 0) {
        probity_sched_rings_switch(&collect->rings, 0);
        take_rings(collect, heads);
        put_in_all(collect, PROBITY_SCHED_PAUSED, at_ns);
    } else if (change < 0 || (is_over && duty->is_paused)) {
        if (is_over)
            duty->paused_ns += at_ns - duty->since_ns;
        put_in_all(collect, PROBITY_SCHED_LOST, at_ns);
        probity_sched_rings_switch(&collect->rings, !is_over);
    }
}

/* The kernel reports a loss with the ring's next record. If none follows, its count shows it. */
static void take_last_losses(struct probity_sched_collect *collect)
{
    for (uint32_t i = 0; collect->error == 0 && i < collect->rings.count; i++) {
        uint64_t lost = probity_sched_ring_lost(&collect->rings.items[i]);
        uint64_t unreported = lost > collect->lost[i] ? lost - collect->lost[i] : 0;
        struct probity_sched_event event = {.time_ns = now_ns(), .kind = PROBITY_SCHED_LOST};
        event.tid = unreported < UINT32_MAX ? (uint32_t)unreported : UINT32_MAX;
        if (unreported > 0)
            put_event(collect, i, &event);
    }
}

/* Everything before it is in the file. */
static uint64_t end_of(const struct probity_sched_collect *collect)
{
    uint64_t end_ns = now_ns();

    for (uint32_t i = 0; i < collect->rings.count; i++) {
        const struct probity_sched_spilled *first =
            &collect->filling[(size_t)i * PROBITY_SCHED_CHUNK_EVENTS];
        if (collect->filled[i] > 0 && first->time_kind >> 4 < end_ns)
            end_ns = first->time_kind >> 4;
    }
    return end_ns;
}

static void *collect_events(void *context)
{
    struct probity_sched_collect *collect = context;
    size_t count = collect->rings.count + 1;
    struct pollfd *files = calloc(count, sizeof *files);
    uint64_t *heads = calloc(count, sizeof *heads), anchor_ns = now_ns();
    int is_over = 0, round_ms = collect->duty.share != 0 ? DUTY_ROUND_MS : ROUND_MS;

    if (files == NULL || heads == NULL)
        collect->error = ENOMEM;
    else
        files[0] = (struct pollfd){.fd = collect->stop_file, .events = POLLIN};
    for (size_t i = 1; collect->error == 0 && i < count; i++)
        files[i] = (struct pollfd){.fd = collect->rings.items[i - 1].file, .events = POLLIN};
    while (collect->error == 0 && !is_over) {
        is_over = wait_for_events(files, count, round_ms);
        if (now_ns() - anchor_ns >= UINT64_C(1000000000) || is_over) {
            take_anchor(collect);
            anchor_ns = now_ns();
        }
        take_rings(collect, heads);
        keep_share(collect, heads, is_over);
    }
    take_last_losses(collect);
    for (uint32_t i = 0; collect->error == 0 && i < collect->rings.count; i++) {
        if (collect->filled[i] > 0)
            flush_chunk(collect, i);
    }
    collect->end_ns = end_of(collect);
    free(files);
    free(heads);
    return NULL;
}

/* ---- Beginning and end -------------------------------------------------------------------------
 */

static int reserve(struct probity_sched_collect *collect)
{
    collect->tid_capacity = TIDS_FIRST;
    collect->tids = calloc(TIDS_FIRST, sizeof *collect->tids);
    collect->filling = calloc(collect->rings.count, PROBITY_SCHED_CHUNK_BYTES);
    collect->filled = calloc(collect->rings.count, sizeof *collect->filled);
    collect->lost = calloc(collect->rings.count, sizeof *collect->lost);
    collect->stop_file = eventfd(0, EFD_CLOEXEC);
    if (collect->tids != NULL && collect->filling != NULL && collect->filled != NULL &&
        collect->lost != NULL && collect->stop_file >= 0)
        return 0;
    errno = collect->stop_file < 0 ? errno : ENOMEM;
    return -1;
}

int probity_sched_collect_begin(struct probity_sched_collect *collect, pid_t pid, int spill,
                                size_t ring_bytes, uint32_t share)
{
    *collect = (struct probity_sched_collect){.spill = -1, .stop_file = -1};
    collect->clock = probity_clock_choose(0, 0);
    if (probity_sched_rings_open(&collect->rings, pid, ring_bytes) != 0)
        return -1;
    int error = reserve(collect);
    if (error == 0) {
        add_tid(collect, (uint32_t)pid);
        probity_sched_duty_begin(&collect->duty, pid, share);
        take_anchor(collect);
        errno = pthread_create(&collect->thread, NULL, collect_events, collect);
        error = errno != 0 ? -1 : 0;
    }
    int error_number = errno;
    if (error == 0)
        collect->spill = spill;
    else
        probity_sched_collect_release(collect);
    errno = error_number;
    return error;
}

void probity_sched_collect_end(struct probity_sched_collect *collect)
{
    const uint64_t one = 1;
    ssize_t put = write(collect->stop_file, &one, sizeof one);

    (void)put; /* a 64-bit counter always has room */
    pthread_join(collect->thread, NULL);
    probity_sched_rings_close(&collect->rings);
}

void probity_sched_collect_release(struct probity_sched_collect *collect)
{
    probity_sched_rings_close(&collect->rings);
    free(collect->chunks);
    free(collect->filling);
    free(collect->filled);
    free(collect->lost);
    free(collect->tids);
    free(collect->anchors);
    if (collect->stop_file >= 0)
        close(collect->stop_file);
    if (collect->spill >= 0)
        close(collect->spill);
    *collect = (struct probity_sched_collect){.spill = -1, .stop_file = -1};
}
