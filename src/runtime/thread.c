/* SPDX-License-Identifier: MIT
 *
 * thread.c: assigns thread states. A program may create thousands of threads, and they may end
 * without running their destructors. A state is free when its thread has released it, or when the
 * kernel reports that the thread has ended.
 */
#include "runtime/thread.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/assert.h"
#include "base/os.h"
#include "base/thread_local.h"
#include "base/ticks.h"
#include "runtime/declare.h"
#include "runtime/external.h"
#include "runtime/frames.h"
#include "runtime/inside.h"
#include "runtime/levels.h"
#include "runtime/profile.h"
#include "runtime/record.h"
#include "runtime/session.h"
#include "runtime/trigger_calls.h"
#include "runtime/watch.h"

/* The state, even if the inline probe must not use it (no CPU counter). Valid while in_use. */
PROBITY_THREAD_LOCAL(static, struct probity_thread_state *, own_slot);

/* Inherited: the child's thread continues as the thread that forked it. */
PROBITY_THREAD_LOCAL(static, int, is_announced);

PROBITY_THREAD_LOCAL(PROBITY_API, uint32_t, probity_thread_inside);

static pthread_key_t exit_key;
static int exit_key_is_made;

struct probity_thread_state *probity_thread_slot(void)
{
    struct probity_thread_state *slot = own_slot;

    /* In a forked child, the parent's state reads as zeroes. */
    return slot != NULL && __atomic_load_n(&slot->in_use, __ATOMIC_RELAXED) ? slot : NULL;
}

void probity_thread_forget(void)
{
    probity_thread_self = NULL;
}

void probity_thread_disown(const struct probity_thread_state *slot)
{
    if (own_slot != slot)
        return; /* a fork handler that ran first has already probed */
    probity_thread_self = NULL;
    own_slot = NULL;
}

/* A forked child has no writer thread until there is something to write. */
static void make_writer(struct probity_session *session)
{
    if (__atomic_load_n(&session->writer.state, __ATOMIC_ACQUIRE) != PROBITY_WRITER_NONE ||
        probity_external_is(session))
        return;
    probity_os_lock(&session->lock);
    probity_session_need_writer(session);
    probity_os_unlock(&session->lock);
}

/* Returns whether the writer has work. */
static int slot_give_up(struct probity_session *session, struct probity_thread_state *slot)
{
    int is_enough = session != NULL && slot->chunk != PROBITY_POOL_NONE &&
                    probity_live_chunk_release(&session->live, slot) >=
                        probity_live_chunks_to_wake(&session->live);

    probity_assert(slot->in_use);
    if (is_enough)
        probity_writer_notify(&session->writer);
    __atomic_store_n(&slot->hot.valid_bit, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->busy, 0, __ATOMIC_RELAXED);
    probity_os_memory_give(slot);
    __atomic_store_n(&slot->in_use, 0, __ATOMIC_RELEASE);
    return is_enough;
}

/* Runs when a thread ends by return, pthread_exit() or cancellation. Probes in later destructors
 * find no state and get a new one. */
static void thread_ends(void *unused)
{
    struct probity_os_signals before;

    (void)unused;
    probity_inside_begin(&before);
    probity_profile_thread_ends();
    probity_frames_thread_ends();
    struct probity_thread_state *slot = probity_thread_slot();
    probity_thread_self = NULL;
    own_slot = NULL;
    if (slot != NULL) {
        struct probity_session *session = probity_session_recording();
        session = session != NULL ? probity_session_enter() : NULL;
        if (session != NULL) {
            probity_os_lock(&session->live.slots_lock);
            int is_enough = slot_give_up(session, slot);
            probity_os_unlock(&session->live.slots_lock);
            if (is_enough)
                make_writer(session);
            probity_session_leave(session);
        } else if (__atomic_load_n(&slot->chunk, __ATOMIC_ACQUIRE) == PROBITY_POOL_NONE) {
            slot_give_up(NULL, slot);
        } /* otherwise the recording is ending, which drains the chunks of all states in use */
    }
    probity_inside_end(&before);
    probity_os_thread_ends();
}

void probity_thread_watch_own_exit(void)
{
    if (exit_key_is_made)
        pthread_setspecific(exit_key, &exit_key); /* any value but NULL */
}

void probity_thread_watch_exits(void)
{
    /* Each libc numbers keys separately, but a thread has one entry per number: our key would
     * overwrite a key of the program. */
    if (!probity_os_is_beside_program(&exit_key))
        return;
    exit_key_is_made = pthread_key_create(&exit_key, thread_ends) == 0;
}

void probity_thread_unwatch_exits(void)
{
    if (exit_key_is_made)
        pthread_key_delete(exit_key);
    exit_key_is_made = 0;
}

/* Finds a free state. Also frees one with our own thread id: its thread is dead, because the kernel
 * has reused the id. */
static struct probity_thread_state *slot_find(struct probity_session *session, uint32_t tid)
{
    struct probity_live *live = &session->live;
    struct probity_thread_state *found = NULL;

    probity_assert(live->slots <= PROBITY_LIMIT_THREADS);
    for (uint32_t i = 0; i < live->slots; i++) {
        struct probity_thread_state *slot = &live->slot[i];
        /* Acquire: pairs with slot_give_up(), which needs no lock between two recordings. */
        if (__atomic_load_n(&slot->in_use, __ATOMIC_ACQUIRE) && slot->tid == tid)
            slot_give_up(session, slot);
        if (!__atomic_load_n(&slot->in_use, __ATOMIC_ACQUIRE) && found == NULL)
            found = slot;
    }
    if (found == NULL && live->slots < PROBITY_LIMIT_THREADS) {
        found = &live->slot[live->slots];
        probity_assert(!found->in_use);
        __atomic_store_n(&live->slots, live->slots + 1, __ATOMIC_RELEASE);
    }
    return found;
}

/* Initializes a state. One that the thread kept across a stop and a restart gets a new number and
 * no chunk, like a new one. */
static void slot_begin(struct probity_session *session, struct probity_thread_state *slot,
                       uint32_t tid)
{
    struct probity_live *live = &session->live;

    probity_assert(!slot->in_use || slot->tid == tid);
    probity_os_memory_take(slot);
    /* Field by field, because the writer and the end of a session read states at any time. */
    __atomic_store_n(&slot->hot.cursor, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->hot.valid_bit, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->chunk, PROBITY_POOL_NONE, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->relocations, 0, __ATOMIC_RELAXED);
    memset(slot->gaps, 0, sizeof slot->gaps);
    slot->unmeasured = 0;
    slot->lost = 0;
    slot->reading = (struct probity_clock_cpu){0};
    slot->session = session->number;
    slot->thread = session->threads++;
    __atomic_store_n(&slot->tid, tid, __ATOMIC_RELAXED);
    slot->hot.gap_ticks = session->gap_ticks;
    probity_thread_measure(session, slot);
    slot->hot.last_tick = slot->reading.tick;
    slot->credit_tick = slot->reading.tick;
    slot->credit = (int64_t)session->cpu_cost_ticks * 16;
    __atomic_add_fetch(&live->header->threads, 1, __ATOMIC_RELAXED);
    probity_assert(probity_thread_state_is_valid(live, slot));
    __atomic_store_n(&slot->in_use, 1, __ATOMIC_RELEASE);
}

/* Makes the thread's next record go into the chunk. */
static void open_chunk(struct probity_session *session, struct probity_thread_state *slot,
                       uint32_t chunk)
{
    struct probity_live *live = &session->live;
    uint64_t now = probity_clock_ticks(live->clock);

    probity_assert(slot->chunk == PROBITY_POOL_NONE);
    if (now - slot->reading.tick >= session->measure_ticks_max)
        probity_thread_measure(session, slot);
    probity_live_anchor(live, now);
    probity_live_chunk_prepare(live, chunk, slot, session->settings.cpu_time);
    __atomic_store_n(&slot->hot.cursor, (uint64_t)probity_pool_words(&live->pool, chunk),
                     __ATOMIC_RELAXED);
    __atomic_store_n(&slot->chunk, chunk, __ATOMIC_RELEASE);
    probity_assert(((uint64_t)probity_pool_words(&live->pool, chunk) &
                   ((uint64_t)live->pool.chunk_words * 8)) != 0);
    if (probity_clock_is_inline(live->clock))
        __atomic_store_n(&slot->hot.valid_bit, (uint64_t)live->pool.chunk_words * 8,
                         __ATOMIC_RELAXED);
}

/* The first thread gets its chunk before any other can register, because others might use up all
 * chunks while it waits for a CPU. */
static void begin_first(struct probity_session *session, struct probity_thread_state *slot)
{
    uint32_t chunk = probity_pool_take(&session->live.pool);

    probity_assert(probity_session_has_declared(session) == PROBITY_DECLARATIONS_NONE &&
                   slot->in_use);
    if (chunk != PROBITY_POOL_NONE)
        open_chunk(session, slot, chunk);
    __atomic_store_n(&session->declarations, PROBITY_DECLARATIONS_BEGUN, __ATOMIC_RELEASE);
}

/* Records the declarations of earlier recordings. If some are dropped, the next thread tries
 * again. */
static void record_declarations(struct probity_session *session, struct probity_thread_state *slot)
{
    /* Acquire: a thread that does not declare reads the clock after all declarations were
     * stored. */
    if (probity_session_has_declared(session) == PROBITY_DECLARATIONS_RECORDED)
        return;
    int result = probity_declare_all(session, slot);
    probity_levels_record(session, slot);
    if (result == 0)
        __atomic_store_n(&session->declarations, PROBITY_DECLARATIONS_RECORDED, __ATOMIC_RELEASE);
}

struct probity_thread_state *probity_thread_register(struct probity_session *session)
{
    uint32_t tid = probity_os_thread_id();
    int before = errno;
    char name[16];

    probity_os_lock(&session->live.slots_lock);
    /* In a foreign process, a state would belong to the parent after vfork(), and look like that of
     * a dead thread. */
    struct probity_thread_state *slot =
        probity_session_is_foreign(session) ? NULL : slot_find(session, tid);
    if (slot != NULL) {
        slot_begin(session, slot, tid);
        if (probity_session_has_declared(session) == PROBITY_DECLARATIONS_NONE)
            begin_first(session, slot);
    }
    probity_os_unlock(&session->live.slots_lock);
    if (slot == NULL) {
        __atomic_add_fetch(&session->live.header->dropped_memory, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    own_slot = slot;
    /* In profile mode probes are off: only the thread's declarations are recorded. */
    probity_thread_self = PROBITY_HAS_FAST_PATH && !session->settings.profile &&
                                  probity_clock_is_inline(session->live.clock)
                              ? &slot->hot
                              : NULL;
    probity_thread_watch_own_exit();
    record_declarations(session, slot);
    if (prctl(PR_GET_NAME, name) == 0)
        probity_record_event(session, slot, PROBITY_EVENT_THREAD_NAME, name,
                             strnlen(name, sizeof name));
    if (__atomic_load_n(&session->is_writer_late, __ATOMIC_RELAXED))
        make_writer(session);
    errno = before;
    return slot;
}

int probity_thread_may_record(const struct probity_session *session)
{
    return is_announced || !__atomic_load_n(&session->announced_only, __ATOMIC_RELAXED);
}

PROBITY_API void probity_thread_announce(void)
{
    struct probity_os_signals before;
    int saved = errno;

    is_announced = 1;
    if (!__atomic_load_n(&probity_active, __ATOMIC_RELAXED))
        return;
    probity_inside_begin(&before);
    struct probity_session *session = probity_session_enter();
    if (session != NULL) {
        const struct probity_thread_state *slot = probity_thread_slot();
        if (slot == NULL || slot->session != probity_session_number(session))
            probity_thread_register(session);
        probity_session_leave(session);
    }
    probity_inside_end(&before);
    errno = saved;
}

/* Notes the possible error: a reading found this much time off the CPU, and part of it, up to the
 * sum of the skipped gaps, may be older. That is the error of the CPU times in between. The reading
 * itself is uncertain by its duration. */
static void note_error(struct probity_session *session, int64_t off_ns, uint64_t unmeasured,
                       uint64_t width)
{
    uint64_t *most = &session->live.header->unmeasured_ticks_max;
    int64_t off = (int64_t)probity_ticks_of_ns(off_ns, probity_live_rate(&session->live));
    int64_t older = off < (int64_t)unmeasured ? off : (int64_t)unmeasured;
    uint64_t error = (uint64_t)(older > (int64_t)width ? older : (int64_t)width);

    uint64_t before = __atomic_load_n(most, __ATOMIC_RELAXED);
    /* Keeps the maximum of this error and another thread's. */
    while (error > before && !__atomic_compare_exchange_n(most, &before, error, 0,
                                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

int64_t probity_thread_measure(struct probity_session *session, struct probity_thread_state *slot)
{
    struct probity_live *live = &session->live;
    struct probity_clock_cpu before, now;

    probity_assert(session->live.header != NULL);
    if (!session->settings.cpu_time) {
        slot->reading.tick = probity_clock_ticks(live->clock);
        return 0;
    }
    probity_clock_cpu_copy(&before, &slot->reading);
    uint64_t width = probity_clock_cpu(live->clock, session->reading_ticks_max, &now);
    if (__atomic_load_n(&slot->reading.tick, __ATOMIC_RELAXED) != before.tick)
        return 0; /* a handler's reading is as recent, and has recorded time off the CPU */
    probity_clock_cpu_copy(&slot->reading, &now);
    uint64_t elapsed_ns = probity_ns_of_ticks(now.tick - before.tick, probity_live_rate(live));
    int64_t off_ns = (int64_t)(elapsed_ns - (now.cpu_ns - before.cpu_ns));
    note_error(session, off_ns, slot->unmeasured, width);
    slot->unmeasured = 0;
    probity_live_anchor(live, now.tick);
    return off_ns;
}

uint32_t probity_thread_take_chunk(struct probity_session *session)
{
    struct probity_pool *pool = &session->live.pool;
    uint32_t chunk = probity_pool_take(pool);

    /* Another thread may take the chunk that this thread has added. */
    while (chunk == PROBITY_POOL_NONE && probity_pool_extend(pool) == 0)
        chunk = probity_pool_take(pool);
    if (probity_pool_is_low(pool))
        probity_writer_extend(&session->writer);
    return chunk;
}

/* Takes a chunk, or adds a segment if threads, not a slow writer, have used up the others. */
static uint32_t take_chunk(struct probity_session *session)
{
    struct probity_pool *pool = &session->live.pool;
    uint32_t chunk = probity_thread_take_chunk(session);

    if (chunk != PROBITY_POOL_NONE)
        return chunk;
    probity_os_lock(&session->lock);
    chunk = probity_pool_take(pool);
    if (chunk == PROBITY_POOL_NONE && probity_external_is(session) &&
        probity_external_reclaim(session) > 0)
        chunk = probity_pool_take(pool);
    uint32_t open = __atomic_load_n(&pool->open_chunks, __ATOMIC_RELAXED);
    if (chunk == PROBITY_POOL_NONE && open >= probity_pool_total(pool) / 2 &&
        probity_session_grow(session) == 0)
        chunk = probity_pool_take(pool);
    probity_os_unlock(&session->lock);
    return chunk;
}

static void hand_over(struct probity_session *session, struct probity_thread_state *slot)
{
    const struct probity_pool *pool = &session->live.pool;

    if (probity_trigger_has_gaps)
        probity_trigger_calls.keep_words(probity_pool_words(pool, slot->chunk),
                                         pool->chunk_words);
    uint32_t full = probity_live_chunk_release(&session->live, slot);

    make_writer(session);
    if (full >= probity_live_chunks_to_wake(&session->live))
        probity_writer_notify(&session->writer);
}

/* In a ring, the writer frees a chunk immediately, unless it is taking a snapshot. Without a
 * writer, the wait would never end. */
static int may_wait(struct probity_session *session)
{
    const struct probity_writer *writer = &session->writer;
    int mode = probity_live_mode(&session->live);

    if (probity_external_is(session))
        return mode == PROBITY_MODE_BLOCK && probity_external_has_drainer(session);
    if (__atomic_load_n(&writer->state, __ATOMIC_RELAXED) != PROBITY_WRITER_RUNS ||
        PROBITY_OS_THREADS_ARE_GONE())
        return 0;
    if (mode == PROBITY_MODE_RING)
        return __atomic_load_n(&writer->flush_asked, __ATOMIC_RELAXED) ==
               __atomic_load_n(&writer->flush_done, __ATOMIC_RELAXED);
    return mode == PROBITY_MODE_BLOCK;
}

int probity_thread_need_chunk(struct probity_session *session, struct probity_thread_state *slot)
{
    struct probity_live *live = &session->live;
    uint64_t chunk_bytes = (uint64_t)live->pool.chunk_words * 8;

    probity_assert(probity_thread_state_is_valid(live, slot));
    probity_assert(slot->session == session->number);
    if (slot->chunk != PROBITY_POOL_NONE) {
        uint64_t start = (uint64_t)probity_pool_words(&live->pool, slot->chunk);
        /* Must be in this very chunk: reservations by nested handlers may extend into the chunk of
         * the next window. */
        if (slot->hot.cursor - start < chunk_bytes)
            return 1; /* a signal handler got a chunk first */
        hand_over(session, slot);
    }
    uint32_t chunk = take_chunk(session);
    if (chunk == PROBITY_POOL_NONE) {
        make_writer(session); /* it may have all the chunks that ended threads left behind */
        uint32_t open = __atomic_load_n(&live->pool.open_chunks, __ATOMIC_RELAXED);
        /* Nor does it wait if all chunks are open. */
        if (open < probity_pool_total(&live->pool) && may_wait(session))
            return 0;
        __atomic_add_fetch(open < probity_pool_total(&live->pool)
                               ? &live->header->dropped_full
                               : &live->header->dropped_memory,
                           1, __ATOMIC_RELAXED);
        slot->lost += slot->lost < UINT32_MAX;
        return -1;
    }
    open_chunk(session, slot, chunk);
    return 1;
}
