/* SPDX-License-Identifier: MIT
 *
 * thread.c: threads come and go by the thousand, with or without their destructors being run: a
 * slot is free when its thread said so, or when the kernel says that there is no such thread.
 */
#include "runtime/thread.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/os.h"
#include "base/scale.h"
#include "runtime/declare.h"
#include "runtime/levels.h"
#include "runtime/profile.h"
#include "runtime/record.h"

PROBITY_API __thread struct probity_thread *probity_thread_self
    __attribute__((tls_model("initial-exec")));

/* The same by a name that no other copy of the library can take. Not the address of a plain
 * variable, which the linker may have moved into the program. */
extern __thread struct probity_thread *thread_self_here
    __attribute__((alias("probity_thread_self"), visibility("hidden"),
                   tls_model("initial-exec")));

/* The slot, also where the inline probe must not use it (no CPU counter). Valid while in_use. */
static __thread struct probity_slot *own_slot __attribute__((tls_model("initial-exec")));

/* A child's thread goes on as the one that forked it. */
static __thread int is_announced __attribute__((tls_model("initial-exec")));

static pthread_key_t exit_key;
static int exit_key_is_made;

int probity_thread_is_of_this_copy(void)
{
    struct probity_thread **in_use = &probity_thread_self;

    __asm__("" : "+r"(in_use)); /* else the compiler may take two names for two variables */
    return in_use == &thread_self_here;
}

struct probity_slot *probity_thread_slot(void)
{
    struct probity_slot *slot = own_slot;

    /* In a forked child, the parent's slot reads as zeroes. */
    return slot != NULL && __atomic_load_n(&slot->in_use, __ATOMIC_RELAXED) ? slot : NULL;
}

void probity_thread_forget(void)
{
    probity_thread_self = NULL;
}

void probity_thread_disown(const struct probity_slot *slot)
{
    if (own_slot != slot)
        return; /* a handler of fork's that came first probes already */
    probity_thread_self = NULL;
    own_slot = NULL;
}

/* A forked child has no thread that writes before there is something to write. */
static void make_writer(struct probity_session *session)
{
    if (__atomic_load_n(&session->writer.state, __ATOMIC_ACQUIRE) != PROBITY_WRITER_NONE)
        return;
    probity_os_lock(&session->lock);
    probity_session_need_writer(session);
    probity_os_unlock(&session->lock);
}

/* Returns whether the writer has something to do. */
static int slot_give_up(struct probity_session *session, struct probity_slot *slot)
{
    int is_enough = session != NULL && slot->chunk != PROBITY_POOL_NONE &&
                    probity_live_chunk_release(&session->live, slot) >= session->writer_threshold;

    if (is_enough)
        probity_writer_notify(&session->writer);
    __atomic_store_n(&slot->hot.valid_bit, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->busy, 0, __ATOMIC_RELAXED);
    probity_os_memory_give(slot);
    __atomic_store_n(&slot->in_use, 0, __ATOMIC_RELEASE);
    return is_enough;
}

/* Runs when a thread ends by return, pthread_exit or cancellation. Probes in destructors that come
 * later find no slot and begin anew. */
static void thread_ends(void *unused)
{
    struct probity_os_signals before;

    (void)unused;
    probity_os_signals_block(&before);
    probity_profile_thread_ends();
    struct probity_slot *slot = probity_thread_slot();
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
        } /* else an end of recording is at work: it drains the chunks of slots in use */
    }
    probity_os_signals_restore(&before);
}

void probity_thread_watch_own_exit(void)
{
    if (exit_key_is_made)
        pthread_setspecific(exit_key, &exit_key); /* anything but NULL */
}

void probity_thread_watch_exits(void)
{
    /* Each libc numbers keys anew, but a thread has one place for each number: ours would take the
     * place of one of the program's. */
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

/* A free slot; on the way, one that bears our own thread id: its thread is dead, since the kernel
 * gave the id to us. */
static struct probity_slot *slot_find(struct probity_session *session, uint32_t tid)
{
    struct probity_live *live = &session->live;
    struct probity_slot *found = NULL;

    for (uint32_t i = 0; i < live->slots; i++) {
        struct probity_slot *slot = &live->slot[i];
        if (slot->in_use && slot->tid == tid)
            slot_give_up(session, slot);
        if (!slot->in_use && found == NULL)
            found = slot;
    }
    if (found == NULL && live->slots < PROBITY_LIMIT_THREADS) {
        found = &live->slot[live->slots];
        __atomic_store_n(&live->slots, live->slots + 1, __ATOMIC_RELEASE);
    }
    return found;
}

/* A slot that the thread kept over a stop and a new start gets a new number and no chunk, as a new
 * one does. */
static void slot_begin(struct probity_session *session, struct probity_slot *slot, uint32_t tid)
{
    struct probity_live *live = &session->live;

    probity_os_memory_take(slot);
    /* Field by field: the writer and the end of a session look at slots at any time. */
    __atomic_store_n(&slot->hot.cursor, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->hot.valid_bit, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->chunk, PROBITY_POOL_NONE, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->moves, 0, __ATOMIC_RELAXED);
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
    slot->credit = session->cpu_cost_ticks * 16;
    __atomic_add_fetch(&live->header->threads, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->in_use, 1, __ATOMIC_RELEASE);
}

struct probity_slot *probity_thread_register(struct probity_session *session)
{
    uint32_t tid = probity_os_thread_id();
    int before = errno, is_first;
    char name[16];

    probity_os_lock(&session->live.slots_lock);
    /* A foreign thread's slot would be its parent's after vfork, and seem that of a dead one. */
    struct probity_slot *slot =
        probity_session_is_foreign(session) ? NULL : slot_find(session, tid);
    is_first = slot != NULL && !session->is_declared;
    if (slot != NULL) {
        slot_begin(session, slot, tid);
        __atomic_store_n(&session->is_declared, 1, __ATOMIC_RELEASE);
    }
    probity_os_unlock(&session->live.slots_lock);
    if (slot == NULL) {
        __atomic_add_fetch(&session->live.header->dropped_memory, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    own_slot = slot;
    /* In profile mode probes are off: only what it declares is recorded of the thread. */
    probity_thread_self = PROBITY_HAS_FAST_PATH && !session->settings.profile &&
                                  probity_clock_is_counter(session->live.clock)
                              ? &slot->hot
                              : NULL;
    probity_thread_watch_own_exit();
    if (is_first) {
        probity_declare_all(session, slot);
        probity_levels_record(session, slot);
    }
    if (prctl(PR_GET_NAME, name) == 0)
        probity_record_event(session, slot, PROBITY_EVENT_THREAD_NAME, name,
                             strnlen(name, sizeof name));
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
    probity_os_signals_block(&before);
    struct probity_session *session = probity_session_enter();
    if (session != NULL) {
        const struct probity_slot *slot = probity_thread_slot();
        if (slot == NULL || slot->session != probity_session_number(session))
            probity_thread_register(session);
        probity_session_leave(session);
    }
    probity_os_signals_restore(&before);
    errno = saved;
}

/* A reading found so much time off the CPU, of which as much as was passed over before may have
 * been there all along: the error of the CPU times in between. */
static void note_error(struct probity_session *session, int64_t off_ns, uint64_t unmeasured)
{
    uint64_t *most = &session->live.header->unmeasured_ticks_max;
    uint64_t off = off_ns > 0 ? probity_ticks_of_ns(off_ns, probity_live_rate(&session->live)) : 0;
    uint64_t error = off < unmeasured ? off : unmeasured;

    uint64_t before = __atomic_load_n(most, __ATOMIC_RELAXED);
    /* Exchanged: another thread's larger one must stay. */
    while (error > before && !__atomic_compare_exchange_n(most, &before, error, 0,
                                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

int64_t probity_thread_measure(struct probity_session *session, struct probity_slot *slot)
{
    struct probity_live *live = &session->live;
    struct probity_clock_cpu before, now = {0};

    if (!session->settings.cpu_time) {
        slot->reading.tick = probity_clock_ticks(live->clock);
        return 0;
    }
    probity_clock_cpu_copy(&before, &slot->reading);
    probity_clock_cpu(live->clock, session->reading_ticks_max, &now);
    if (__atomic_load_n(&slot->reading.tick, __ATOMIC_RELAXED) != before.tick)
        return 0; /* a signal handler's is as new, and it has told what was off the CPU */
    probity_clock_cpu_copy(&slot->reading, &now);
    uint64_t elapsed_ns = probity_ns_of_ticks(now.tick - before.tick, probity_live_rate(live));
    int64_t off_ns = (int64_t)(elapsed_ns - (now.cpu_ns - before.cpu_ns));
    note_error(session, off_ns, slot->unmeasured);
    slot->unmeasured = 0;
    probity_live_anchor(live, now.tick);
    return off_ns;
}

/* A chunk, or a new segment where threads rather than a slow writer have used up the others. */
static uint32_t take_chunk(struct probity_session *session)
{
    struct probity_pool *pool = &session->live.pool;
    uint32_t chunk = probity_pool_take(pool);

    if (chunk != PROBITY_POOL_NONE)
        return chunk;
    probity_os_lock(&session->lock);
    chunk = probity_pool_take(pool);
    uint32_t open = __atomic_load_n(&pool->open_chunks, __ATOMIC_RELAXED);
    if (chunk == PROBITY_POOL_NONE && open >= probity_pool_total(pool) / 2 &&
        probity_session_grow(session) == 0)
        chunk = probity_pool_take(pool);
    probity_os_unlock(&session->lock);
    return chunk;
}

static void hand_over(struct probity_session *session, struct probity_slot *slot)
{
    uint32_t full = probity_live_chunk_release(&session->live, slot);

    make_writer(session);
    if (full >= session->writer_threshold)
        probity_writer_notify(&session->writer);
}

/* In a ring the writer makes room at once, unless it is taking a snapshot. */
static int may_wait(const struct probity_session *session)
{
    const struct probity_writer *writer = &session->writer;

    if (session->live.mode == PROBITY_MODE_RING)
        return __atomic_load_n(&writer->flush_asked, __ATOMIC_RELAXED) ==
               __atomic_load_n(&writer->flush_done, __ATOMIC_RELAXED);
    return session->live.mode == PROBITY_MODE_BLOCK;
}

int probity_thread_need_chunk(struct probity_session *session, struct probity_slot *slot)
{
    struct probity_live *live = &session->live;
    uint64_t chunk_bytes = (uint64_t)live->pool.chunk_words * 8;

    if (slot->chunk != PROBITY_POOL_NONE) {
        uint64_t start = (uint64_t)probity_pool_words(&live->pool, slot->chunk);
        /* In this very chunk: reservations of a handler's handler may come to the next window's. */
        if (slot->hot.cursor - start < chunk_bytes)
            return 1; /* a signal handler got here first */
        hand_over(session, slot);
    }
    uint32_t chunk = take_chunk(session);
    if (chunk == PROBITY_POOL_NONE) {
        make_writer(session); /* threads that ended may have left all chunks to it */
        uint32_t open = __atomic_load_n(&live->pool.open_chunks, __ATOMIC_RELAXED);
        /* Where all chunks are open, or no thread can be made to write, waiting would not end. */
        if (may_wait(session) && open < probity_pool_total(&live->pool) &&
            __atomic_load_n(&session->writer.state, __ATOMIC_RELAXED) == PROBITY_WRITER_RUNS)
            return 0;
        __atomic_add_fetch(open < probity_pool_total(&live->pool)
                               ? &live->header->dropped_full
                               : &live->header->dropped_memory,
                           1, __ATOMIC_RELAXED);
        slot->lost += slot->lost < UINT32_MAX;
        return -1;
    }
    uint64_t now = probity_clock_ticks(live->clock);
    if (now - slot->reading.tick >= session->measure_ticks_max)
        probity_thread_measure(session, slot);
    probity_live_anchor(live, now);
    probity_live_chunk_prepare(live, chunk, slot, session->settings.cpu_time);
    __atomic_store_n(&slot->hot.cursor, (uint64_t)probity_pool_words(&live->pool, chunk),
                     __ATOMIC_RELAXED);
    __atomic_store_n(&slot->chunk, chunk, __ATOMIC_RELEASE);
    if (probity_clock_is_counter(live->clock))
        __atomic_store_n(&slot->hot.valid_bit, chunk_bytes, __ATOMIC_RELAXED);
    return 1;
}
