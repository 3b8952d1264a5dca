/* SPDX-License-Identifier: MIT
 *
 * collect.c: reads the rings when one of them is a quarter full, and at least once a second. The
 * rings contain wakings of the whole system, of which only those of the program's threads are kept.
 * A thread may be woken on one CPU right after it was created on another, so before events are
 * taken from the rings, the rings are searched for new threads, up to a later head than the one
 * used for taking.
 *
 * The table of thread ids does not use base/hashtable.h: it is searched for each waking of the
 * system, so it should stay in the cache, with 4 bytes per place.
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
#include "probity.h"
#include "sched/files.h"
#include "sched/price.h"

enum {
    ROUND_MS = 1000,
    DUTY_ROUND_MS = 10,
    ANCHOR_TRIES = 16,
    ANCHORS_MAX = 4096, /* limit if older events are discarded */
    TIDS_FIRST = 256
};

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

/* Moves entries to the free place if they could not be found otherwise. */
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

/* Returns the time of the earliest event that was not discarded. */
static uint64_t earliest_of(const struct probity_sched_collect *collect)
{
    uint64_t earliest_ns = UINT64_MAX;

    for (size_t i = 0; i < collect->chunk_count; i++) {
        if (collect->chunks[i].first_ns < earliest_ns)
            earliest_ns = collect->chunks[i].first_ns;
    }
    for (uint32_t i = 0; i < collect->rings.count; i++) {
        const struct probity_sched_spilled *first =
            &collect->filling[(size_t)i * PROBITY_SCHED_CHUNK_EVENTS];
        if (collect->filled[i] > 0 && first->time_kind >> 4 < earliest_ns)
            earliest_ns = first->time_kind >> 4;
    }
    return earliest_ns;
}

/* Discards the oldest chunk. Returns 0 or an errno. */
static int discard_oldest(struct probity_sched_collect *collect)
{
    const struct probity_sched_chunk oldest = collect->chunks[0];
    struct probity_sched_spilled *events = malloc(PROBITY_SCHED_CHUNK_BYTES);
    void *places = probity_array_room(collect->free_places, sizeof *collect->free_places,
                                      collect->free_count, &collect->free_capacity);
    size_t bytes = oldest.count * sizeof *events;
    int error = events == NULL || places == NULL ? ENOMEM : 0;

    if (places != NULL)
        collect->free_places = places;
    if (error == 0 && pread(collect->spill, events, bytes,
                            (off_t)(oldest.place * PROBITY_SCHED_CHUNK_BYTES)) != (ssize_t)bytes)
        error = EIO;
    if (error == 0 && probity_sched_kept_discard(&collect->kept, oldest.cpu, events,
                                                 oldest.count) != 0)
        error = ENOMEM;
    free(events);
    if (error != 0)
        return error;
    collect->free_places[collect->free_count++] = oldest.place;
    memmove(collect->chunks, collect->chunks + 1, --collect->chunk_count * sizeof oldest);
    probity_sched_kept_forget(&collect->kept, earliest_of(collect));
    return 0;
}

/* Makes a place for a chunk. Returns 0 or an errno. */
static int make_place(struct probity_sched_collect *collect, uint32_t *ret_place)
{
    int error = 0;

    /* Pairs with the release in probity_sched_taken_release(). */
    int is_read = __atomic_load_n(&collect->readers, __ATOMIC_ACQUIRE) > 0;
    while (error == 0 && !is_read && collect->chunks_max != 0 &&
           collect->chunk_count >= collect->chunks_max)
        error = discard_oldest(collect);
    if (error == 0)
        *ret_place = collect->free_count > 0 ? collect->free_places[--collect->free_count]
                                             : collect->places++;
    return error;
}

static void flush_chunk(struct probity_sched_collect *collect, uint32_t ring)
{
    const struct probity_sched_spilled *filling =
        collect->filling + (size_t)ring * PROBITY_SCHED_CHUNK_EVENTS;
    uint32_t count = collect->filled[ring], place;
    void *chunks = probity_array_room(collect->chunks, sizeof *collect->chunks,
                                      collect->chunk_count, &collect->chunk_capacity);

    if (chunks == NULL) {
        collect->error = ENOMEM;
        return;
    }
    collect->chunks = chunks;
    collect->error = make_place(collect, &place);
    if (collect->error != 0)
        return;
    if (probity_sched_write_all(collect->spill, filling, count * sizeof *filling,
                                place * PROBITY_SCHED_CHUNK_BYTES) != 0) {
        collect->error = errno;
        return;
    }
    collect->chunks[collect->chunk_count++] = (struct probity_sched_chunk){
        ring, count, collect->rings.items[ring].cpu, place, filling[0].time_kind >> 4,
        filling[count - 1].time_kind >> 4};
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
    uint64_t at = probity_sched_ring_tail(from), out_ns = 0;
    struct probity_sched_event event;

    while (at < head) {
        if (!probity_sched_ring_read(&collect->rings, from, &at, head, &event) ||
            collect->error != 0)
            continue;
        if (event.kind != PROBITY_SCHED_WOKEN || has_tid(collect, event.payer))
            probity_sched_duty_count(&collect->duty, event.kind, event.time_ns, &out_ns);
        if (event.kind == PROBITY_SCHED_WOKEN && !has_tid(collect, event.tid))
            continue;
        if (event.kind == PROBITY_SCHED_LOST)
            collect->lost[ring] += event.tid;
        if (event.kind == PROBITY_SCHED_EXIT)
            remove_tid(collect, event.tid);
        else if (event.kind == PROBITY_SCHED_IN)
            add_tid(collect, event.tid); /* the event of its creation may have been lost */
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
    /* The first anchor is the beginning, so it is kept. */
    if (collect->chunks_max != 0 && collect->anchor_count == ANCHORS_MAX)
        memmove(collect->anchors + 1, collect->anchors + 2,
                (--collect->anchor_count - 1) * sizeof *collect->anchors);
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

/* Waits for events. When its last thread has ended, the descriptor of an event is always ready, and
 * is no longer polled. */
static void wait_for_events(struct pollfd *files, size_t count, int round_ms)
{
    uint64_t requests;

    poll(files, count, round_ms);
    for (size_t i = 1; i < count; i++) {
        if (files[i].revents & (POLLHUP | POLLERR | POLLNVAL))
            files[i].fd = -1;
    }
    ssize_t got = read(files[0].fd, &requests, sizeof requests);
    (void)got; /* fails if there is no request */
}

/* Adds a pause to all rings. Nothing is known about the time of a pause, so it counts as a loss
 * without dropped records. It begins at the preceding record of the ring, PAUSED. */
static void put_in_all(struct probity_sched_collect *collect, uint32_t kind, uint64_t time_ns)
{
    const struct probity_sched_event event = {.time_ns = time_ns, .kind = kind};

    for (uint32_t i = 0; collect->error == 0 && i < collect->rings.count; i++)
        put_event(collect, i, &event);
}

/* Switches the events off and on as the share allows. All wakings before at_ns are in the rings. */
static void keep_share(struct probity_sched_collect *collect, uint64_t *heads, int is_over)
{
    struct probity_sched_duty *duty = &collect->duty;
    uint64_t at_ns = now_ns();
    enum probity_sched_duty_change change =
        is_over ? PROBITY_SCHED_DUTY_SAME : probity_sched_duty_step(duty, at_ns);

    if (change == PROBITY_SCHED_DUTY_NO_WAKINGS) {
        probity_sched_rings_stop_wakings(&collect->rings);
    } else if (change == PROBITY_SCHED_DUTY_OFF) {
        probity_sched_rings_switch(&collect->rings, 0);
        take_rings(collect, heads);
        put_in_all(collect, PROBITY_SCHED_PAUSED, at_ns);
    } else if (change == PROBITY_SCHED_DUTY_ON || (is_over && duty->is_paused)) {
        if (is_over)
            duty->paused_ns += at_ns - duty->since_ns;
        put_in_all(collect, PROBITY_SCHED_LOST, at_ns);
        probity_sched_rings_switch(&collect->rings, !is_over);
    }
}

/* Counts losses that have not been reported: the kernel reports a loss with the ring's next record.
 * If there is none, only its count of losses includes it. is_last: no report will count them. */
static void take_last_losses(struct probity_sched_collect *collect, int is_last)
{
    for (uint32_t i = 0; collect->error == 0 && i < collect->rings.count; i++) {
        uint64_t lost = probity_sched_ring_lost(&collect->rings.items[i]);
        uint64_t unreported = lost > collect->lost[i] ? lost - collect->lost[i] : 0;
        struct probity_sched_event event = {.time_ns = now_ns(), .kind = PROBITY_SCHED_LOST};
        if (is_last)
            event.tid = unreported < UINT32_MAX ? (uint32_t)unreported : UINT32_MAX;
        if (unreported > 0)
            put_event(collect, i, &event);
    }
}

static void flush_all(struct probity_sched_collect *collect)
{
    for (uint32_t i = 0; collect->error == 0 && i < collect->rings.count; i++) {
        if (collect->filled[i] > 0)
            flush_chunk(collect, i);
    }
}

/* Returns the time before which all events are in the file. */
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

/* ---- Requests ----------------------------------------------------------------------------------
 */

static void *copy_of(const void *from, size_t bytes, int *ret_error)
{
    void *copy = malloc(bytes + 1);

    if (copy == NULL)
        *ret_error = PROBITY_ERROR_MEMORY;
    else if (bytes > 0)
        memcpy(copy, from, bytes);
    return copy;
}

static int fill_request(struct probity_sched_collect *collect,
                        struct probity_sched_taken *taken)
{
    int error = 0;

    taken->spill = collect->spill;
    taken->error = collect->error;
    taken->wakings_ns = collect->duty.wakings_ns;
    taken->chunk_count = collect->chunk_count;
    taken->chunks = copy_of(collect->chunks, collect->chunk_count * sizeof *collect->chunks,
                            &error);
    taken->anchor_count = collect->anchor_count;
    taken->anchors = copy_of(collect->anchors, collect->anchor_count * sizeof *collect->anchors,
                             &error);
    if (error == 0)
        error = probity_sched_kept_copy(&collect->kept, &taken->kept);
    if (error != 0) {
        free(taken->chunks);
        free(taken->anchors);
    }
    /* Only this thread, or the thread that waits for it, adds readers. */
    __atomic_fetch_add(&collect->readers, error == 0, __ATOMIC_RELAXED);
    return error;
}

/* Completes a request. All events before now_ns have been taken from the rings. */
static void answer(struct probity_sched_collect *collect, uint64_t at_ns)
{
    pthread_mutex_lock(&collect->lock);
    if (collect->request != NULL) {
        take_last_losses(collect, 0);
        if (collect->duty.is_paused)
            put_in_all(collect, PROBITY_SCHED_LOST, now_ns());
        flush_all(collect);
        collect->request->end_ns = at_ns;
        collect->request_error = fill_request(collect, collect->request);
        collect->request = NULL;
        pthread_cond_signal(&collect->answered);
    }
    pthread_mutex_unlock(&collect->lock);
}

/* Returns whether to stop. *ret_asked: a thread waits for the events so far. */
static int look_for_requests(struct probity_sched_collect *collect, int *ret_asked)
{
    pthread_mutex_lock(&collect->lock);
    int is_stopping = collect->is_stopping;
    *ret_asked = collect->request != NULL;
    pthread_mutex_unlock(&collect->lock);
    return is_stopping;
}

static void wake(const struct probity_sched_collect *collect)
{
    const uint64_t one = 1;
    ssize_t put = write(collect->stop_file, &one, sizeof one);

    (void)put; /* cannot fail: a 64-bit counter always has room */
}

int probity_sched_collect_take(struct probity_sched_collect *collect,
                               struct probity_sched_taken *ret_taken)
{
    *ret_taken = (struct probity_sched_taken){.spill = -1};
    pthread_mutex_lock(&collect->lock);
    collect->request = ret_taken;
    wake(collect);
    while (collect->request != NULL && !collect->has_ended)
        pthread_cond_wait(&collect->answered, &collect->lock);
    if (collect->request != NULL) {
        collect->request = NULL;
        ret_taken->end_ns = collect->end_ns;
        collect->request_error = fill_request(collect, ret_taken);
    }
    int error = collect->request_error;
    pthread_mutex_unlock(&collect->lock);
    return error;
}

void probity_sched_taken_release(struct probity_sched_collect *collect,
                                 struct probity_sched_taken *taken)
{
    __atomic_fetch_sub(&collect->readers, 1, __ATOMIC_RELEASE); /* pairs with make_place() */
    free(taken->chunks);
    free(taken->anchors);
    probity_sched_kept_release(&taken->kept);
}

/* ---- The thread --------------------------------------------------------------------------------
 */

static void end_collecting(struct probity_sched_collect *collect)
{
    take_last_losses(collect, 1);
    flush_all(collect);
    pthread_mutex_lock(&collect->lock);
    collect->end_ns = end_of(collect);
    collect->has_ended = 1;
    pthread_cond_signal(&collect->answered);
    pthread_mutex_unlock(&collect->lock);
}

/* Collects events once. Returns whether it was the last time. */
static int collect_round(struct probity_sched_collect *collect, uint64_t *heads,
                         uint64_t *anchor_ns)
{
    int is_asked, is_over = look_for_requests(collect, &is_asked);
    uint64_t at_ns = now_ns();

    if (at_ns - *anchor_ns >= UINT64_C(1000000000) || is_over || is_asked) {
        take_anchor(collect);
        *anchor_ns = at_ns;
    }
    take_rings(collect, heads);
    keep_share(collect, heads, is_over);
    if (is_asked)
        answer(collect, at_ns);
    return is_over;
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
        wait_for_events(files, count, round_ms);
        is_over = collect_round(collect, heads, &anchor_ns);
    }
    end_collecting(collect);
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
    collect->stop_file = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (collect->tids != NULL && collect->filling != NULL && collect->filled != NULL &&
        collect->lost != NULL && collect->stop_file >= 0)
        return 0;
    errno = collect->stop_file < 0 ? errno : ENOMEM;
    return -1;
}

int probity_sched_collect_begin(struct probity_sched_collect *collect, pid_t pid, int spill,
                                const struct probity_sched_limits *limits)
{
    *collect = (struct probity_sched_collect){.spill = -1, .stop_file = -1};
    collect->clock = probity_clock_choose(0, 0);
    uint32_t price_ns = limits->share != 0 ? probity_sched_price_ns() : 0;
    if (probity_sched_rings_open(&collect->rings, pid, limits->ring_bytes) != 0)
        return -1;
    collect->chunks_max = limits->keep_bytes / PROBITY_SCHED_CHUNK_BYTES;
    pthread_mutex_init(&collect->lock, NULL);
    pthread_cond_init(&collect->answered, NULL);
    int error = reserve(collect);
    if (error == 0) {
        add_tid(collect, (uint32_t)pid);
        probity_sched_duty_begin(&collect->duty, pid, limits->share, collect->rings.has_wakings,
                                 price_ns);
        take_anchor(collect);
        collect->spill = spill;
        errno = pthread_create(&collect->thread, NULL, collect_events, collect);
        error = errno != 0 ? -1 : 0;
        if (error != 0)
            collect->spill = -1; /* the caller keeps it */
    }
    int error_number = errno;
    if (error != 0)
        probity_sched_collect_release(collect);
    errno = error_number;
    return error;
}

void probity_sched_collect_end(struct probity_sched_collect *collect)
{
    pthread_mutex_lock(&collect->lock);
    collect->is_stopping = 1;
    pthread_mutex_unlock(&collect->lock);
    wake(collect);
    pthread_join(collect->thread, NULL);
    probity_sched_rings_close(&collect->rings);
}

void probity_sched_collect_release(struct probity_sched_collect *collect)
{
    probity_sched_rings_close(&collect->rings);
    probity_sched_kept_release(&collect->kept);
    free(collect->chunks);
    free(collect->free_places);
    free(collect->filling);
    free(collect->filled);
    free(collect->lost);
    free(collect->tids);
    free(collect->anchors);
    pthread_cond_destroy(&collect->answered);
    pthread_mutex_destroy(&collect->lock);
    if (collect->stop_file >= 0)
        close(collect->stop_file);
    if (collect->spill >= 0)
        close(collect->spill);
    *collect = (struct probity_sched_collect){.spill = -1, .stop_file = -1};
}
