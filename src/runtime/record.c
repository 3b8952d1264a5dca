/* SPDX-License-Identifier: MIT
 *
 * record.c: probes outside the one-word path of probity.h. A signal may arrive at any instruction,
 * and its handler may probe: one instruction reserves words, and only a change of chunk blocks
 * signals.
 */
#include "runtime/record.h"

#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "base/cpu.h"
#include "base/os.h"
#include "base/ticks.h"
#include "probity_scope.h"
#include "runtime/external.h"
#include "runtime/inside.h"
#include "runtime/session.h"
#include "runtime/thread.h"
#include "runtime/trigger_calls.h"
#include "runtime/watch.h"

PROBITY_API int probity_active = 1;

/* Compiled for size. */
#define COLD __attribute__((cold))

#if PROBITY_HAS_FAST_PATH
static uint64_t reserve(struct probity_thread_state *slot, uint64_t bytes)
{
    return probity_reserve(&slot->hot, bytes);
}
#else
static uint64_t reserve(struct probity_thread_state *slot, uint64_t bytes)
{
    return __atomic_fetch_add(&slot->hot.cursor, bytes, __ATOMIC_RELAXED);
}
#endif

/* Relaxed: one aligned store, so readers see the whole word or none of it. */
static void store_word(uint64_t at, uint64_t word)
{
    __atomic_store_n((uint64_t *)at, word, __ATOMIC_RELAXED);
}

/* Release: the record's other words are stored before its head. Once the head is visible, a chunk
 * that a signal handler handed over may be given to another thread. Pairs with load_word in
 * src/spool/drain.c. */
static void store_head(uint64_t at, uint64_t word)
{
    __atomic_store_n((uint64_t *)at, word, __ATOMIC_RELEASE);
}

/* Waits for the writer with signals unblocked, and records how long it waited. */
static void wait_for_chunk(struct probity_session *session, uint64_t *stalled_since)
{
    enum { LOOK_AGAIN_NS = 10000000 };
    struct probity_pool *pool = &session->live.pool;
    uint32_t freed = __atomic_load_n(&pool->freed, __ATOMIC_SEQ_CST);

    if (*stalled_since == 0)
        *stalled_since = probity_clock_ticks(session->live.clock);
    __atomic_add_fetch(&pool->waiters, 1, __ATOMIC_SEQ_CST);
    probity_writer_notify(&session->writer);
    if (probity_external_is(session))
        probity_external_wait(session);
    else if (__atomic_load_n(&pool->free_chunks, __ATOMIC_SEQ_CST) == 0)
        probity_os_wait(&pool->freed, freed, LOOK_AGAIN_NS);
    __atomic_sub_fetch(&pool->waiters, 1, __ATOMIC_SEQ_CST);
}

static void record_stall(struct probity_session *session, struct probity_thread_state *slot,
                         uint64_t since)
{
    struct probity_spool_header *header = session->live.header;
    uint64_t ticks = probity_clock_ticks(session->live.clock) - since;

    probity_assert(since != 0);
    __atomic_add_fetch(&header->stalls, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&header->stall_ticks, ticks, __ATOMIC_RELAXED);
    probity_record_event(session, slot, PROBITY_EVENT_STALL, &ticks, sizeof ticks);
}

/* Records the loss before the first record after it, whose clock is read later. */
static void record_lost(struct probity_session *session, struct probity_thread_state *slot)
{
    uint64_t lost = slot->lost;

    slot->lost = 0; /* first, because a signal handler may get here too */
    /* If a handler has already used up the new chunk, the next call records the loss. */
    if (probity_record_event(session, slot, PROBITY_EVENT_LOST, &lost, sizeof lost) != 0)
        slot->lost += lost < UINT32_MAX - slot->lost ? (uint32_t)lost : 0;
}

/* Gets a chunk for the thread. Returns 1, or 0 if the record is dropped. */
static COLD int change_chunk(struct probity_session *session, struct probity_thread_state *slot)
{
    struct probity_cpu_registers kept;
    uint64_t stalled_since = 0;
    int result = 0;

    probity_cpu_keep(&kept);
    while (result == 0) {
        struct probity_os_signals before;
        probity_inside_begin(&before);
        /* The session may be that of a parent process (src/runtime/child.c). Once it is entered, no
         * other recording begins: the state may be that of a late thread in an earlier
         * recording. */
        int is_inside = probity_session_recording() == session && probity_session_enter() != NULL;
        if (is_inside && slot->session == probity_session_number(session)) {
            result = probity_thread_need_chunk(session, slot);
        } else {
            /* Otherwise the cursor would advance into the next thread's chunk. */
            __atomic_store_n(&slot->hot.valid_bit, 0, __ATOMIC_RELAXED);
            if (probity_thread_slot() == slot)
                probity_thread_forget();
            result = -1;
        }
        if (is_inside)
            probity_session_leave(session);
        probity_inside_end(&before);
        if (result == 0)
            wait_for_chunk(session, &stalled_since);
    }
    if (result > 0 && stalled_since != 0)
        record_stall(session, slot, stalled_since);
    if (result > 0 && slot->lost != 0)
        record_lost(session, slot);
    probity_cpu_restore(&kept);
    return result > 0;
}

/* Reserves `words` contiguous words. Returns their address, or 0 if the record is dropped. The
 * address alone shows whether it is in a chunk (struct probity_thread). */
static uint64_t reserve_words(struct probity_session *session, struct probity_thread_state *slot,
                              uint32_t words)
{
    uint64_t chunk_bytes = (uint64_t)session->live.pool.chunk_words * 8;

    for (;;) {
        uint64_t at = slot->chunk != PROBITY_POOL_NONE ? reserve(slot, 8 * (uint64_t)words) : 0;
        uint64_t last = at + 8 * (uint64_t)(words - 1);
        if (at & last & chunk_bytes)
            return at;
        /* The rest of the chunk is this thread's, but is too short: it is padded so that it does
         * not look like a hole. */
        if (at & chunk_bytes) {
            uint32_t left = (uint32_t)(chunk_bytes - (at & (chunk_bytes - 1))) / 8;
            probity_assert(left > 0 && left < words);
            store_word(at, probity_word(slot->hot.last_tick,
                                        probity_word_special(PROBITY_WORD_PAD, left)));
        }
        if (!change_chunk(session, slot))
            return 0;
    }
}

/* Stores a pending head, which keeps readers from parsing the other words as records. */
static void store_pending(uint64_t at, uint64_t tick, uint32_t words)
{
    probity_assert(at % 8 == 0 && words > 1);
    store_word(at, probity_word(tick, probity_word_special(PROBITY_WORD_PENDING, words)));
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

/* What to record: the code of a short hit; or code 0, and an event's kind and payload; or both 0,
 * and a wide hit's number. */
struct item {
    uint32_t code, kind;
    uint64_t number;
    const void *payload;
    size_t bytes;
};

enum { CPU_WORDS = 3, WIDE_WORDS = 2 };

static uint32_t words_of(const struct item *item)
{
    probity_assert(item->bytes <= PROBITY_EVENT_BYTES_MAX);
    if (item->code != 0)
        return 1;
    return item->kind != 0 ? PROBITY_EVENT_HEAD_WORDS + (uint32_t)(item->bytes + 7) / 8
                           : WIDE_WORDS;
}

static void store_event(uint64_t at, uint64_t tick, const struct item *item)
{
    uint32_t words = words_of(item);

    probity_assert(item->kind != 0 && item->bytes <= UINT16_MAX);
    store_pending(at, tick, words);
    store_word(at + 8, tick);
    store_word(at + 16, item->kind | (uint64_t)item->bytes << 16);
    for (size_t i = 0; i < item->bytes; i += 8) {
        uint64_t word = 0;
        memcpy(&word, (const char *)item->payload + i,
               item->bytes - i < 8 ? item->bytes - i : 8);
        store_word(at + 24 + i, word);
    }
    store_head(at, probity_word(tick, probity_word_special(PROBITY_WORD_EVENT, words)));
}

static void store_item(uint64_t at, uint64_t tick, const struct item *item)
{
    probity_assert(at % 8 == 0);
    if (item->code != 0) {
        store_head(at, probity_word(tick, item->code));
        return;
    }
    if (item->kind != 0) {
        store_event(at, tick, item);
        return;
    }
    store_pending(at, tick, WIDE_WORDS);
    store_word(at + 8, item->number);
    store_head(at, probity_word(tick, probity_word_special(PROBITY_WORD_HIT, WIDE_WORDS)));
}

/* Returns a tick within the running probe for which the reading is valid: the thread was not
 * preempted between the two. If all tries fail, the time in between is not measured. */
static uint64_t tick_of_reading(struct probity_session *session, struct probity_thread_state *slot,
                                struct probity_clock_cpu *reading)
{
    enum { TRIES = 4 };

    probity_assert(session->reading_ticks_max > 0);
    for (int tries = 1;; tries++) {
        slot->hot.last_tick = reading->tick;
        uint64_t tick = probity_clock_ticks(session->live.clock);
        if (tick - reading->tick < session->reading_ticks_max)
            return tick;
        if (tries == TRIES) {
            slot->unmeasured += tick - reading->tick;
            return tick;
        }
        probity_thread_measure(session, slot);
        probity_clock_cpu_copy(reading, &slot->reading);
    }
}

/* Records the CPU time and the hit that found the gap, in one reservation. Returns the tick of the
 * hit, or 0 if it is dropped. */
static uint64_t record_measured_hit(struct probity_session *session,
                                    struct probity_thread_state *slot, const struct item *item,
                                    uint64_t tick)
{
    uint64_t at = reserve_words(session, slot, CPU_WORDS + words_of(item));

    if (at == 0)
        return 0;
    /* The thread was preempted since the clock was read, or had to wait for a chunk: the reading is
     * not valid for that moment. The probe is still running, so the current time can be used,
     * unlike the time of the reading, which may lie between two records of a signal handler. The
     * time in between counts towards the next gap. */
    struct probity_clock_cpu reading;
    probity_clock_cpu_copy(&reading, &slot->reading);
    if ((int64_t)(reading.tick - tick) >= (int64_t)slot->hot.gap_ticks)
        tick = tick_of_reading(session, slot, &reading);
    store_pending(at, reading.tick, CPU_WORDS);
    store_word(at + 8, reading.tick);
    store_word(at + 16, reading.cpu_ns);
    store_head(at,
               probity_word(reading.tick, probity_word_special(PROBITY_WORD_CPU, CPU_WORDS)));
    store_item(at + CPU_WORDS * 8, tick, item);
    return tick;
}

/* Records the hit in words other than those reserved at `at` before its clock was read, and turns
 * these into padding last. The writer is informed (pass.c, slot_drain), because the tick is older
 * than the new words. Returns the tick of the record, or 0 if it is dropped. */
static uint64_t move_hit(struct probity_session *session, struct probity_thread_state *slot,
                         const struct item *item, uint64_t at, uint64_t tick)
{
    uint32_t relocations = (slot->relocations + 1) | 1, words = words_of(item);
    int is_inside = slot->relocations & 1; /* a signal handler's hit, while an older one is moved */

    probity_assert(at % 8 == 0);
    /* Unless a jump left that move: then the writer no longer waits for it. */
    if (is_inside && tick - slot->relocating_tick > session->move_ticks_max)
        is_inside = 0;
    if (!is_inside) {
        /* Release: a thread that sees this also sees that the previous move has ended. */
        __atomic_store_n(&slot->relocating_tick, tick, __ATOMIC_RELEASE);
        __atomic_store_n(&slot->relocations, relocations, __ATOMIC_RELEASE);
    }
    uint64_t stored = record_measured_hit(session, slot, item, tick);
    store_head(at, probity_word(tick, probity_word_special(PROBITY_WORD_PAD, words)));
    if (!is_inside)
        __atomic_store_n(&slot->relocations, relocations + 1, __ATOMIC_RELEASE);
    return stored;
}

/* Returns the gaps of the probe. Probes may share an entry: then they merely compete for
 * readings. */
static struct probity_thread_gaps *gaps_of(struct probity_thread_state *slot,
                                           const struct item *item)
{
    uint64_t number = item->code != 0 ? item->code : item->number;

    return &slot->gaps[number / 2 % (sizeof slot->gaps / sizeof slot->gaps[0])];
}

/* Returns the value that a reading of the CPU clock must have: its cost, or four times that if gaps
 * like this one, before this probe, were never time off the CPU. A gap longer than usual is always
 * worth its cost. */
static uint64_t price_of_reading(struct probity_session *session, struct probity_thread_state *slot,
                                 const struct item *item, uint64_t gap)
{
    enum { SHIFT_MAX = 2, IN_PROGRAM = 4 }; /* caches are colder than during the measurement */
    const struct probity_thread_gaps *gaps = gaps_of(slot, item);
    uint32_t shift = gap >> gaps->usual_log2 != 0 ? 0 : gaps->wasted;

    return session->cpu_cost_ticks * IN_PROGRAM << (shift < SHIFT_MAX ? shift : SHIFT_MAX);
}

/* Returns a share of `ticks`, for readings. */
static int64_t share_of(const struct probity_session *session, uint64_t ticks)
{
    return (int64_t)(ticks * __atomic_load_n(&session->budget, __ATOMIC_RELAXED) >> 16);
}

static int has_budget(const struct probity_session *session)
{
    return __atomic_load_n(&session->settings.budget, __ATOMIC_RELAXED) != 0;
}

static int64_t credit_max(const struct probity_session *session)
{
    enum { CREDIT_COSTS_MAX = 64 };

    return (int64_t)session->cpu_cost_ticks * CREDIT_COSTS_MAX;
}

/* Adds to the thread's budget of ticks for wasted readings. Time that turns out to be off the CPU
 * is subtracted later. */
static __attribute__((noinline)) void credit_time(struct probity_session *session,
                                                  struct probity_thread_state *slot,
                                                  uint64_t tick)
{
    int64_t credit = slot->credit + share_of(session, tick - slot->credit_tick);
    int64_t most = credit_max(session);

    slot->credit = credit < most ? credit : most;
    slot->credit_tick = tick;
}

/* After a wasted reading, gaps of this length are usual; if the usual length is longer, it is
 * reduced step by step. */
static void learn_gap(struct probity_thread_gaps *gaps, uint64_t gap)
{
    enum { WASTED_MAX = 8 };
    uint32_t log2 = 64u - (uint32_t)__builtin_clzll(gap | 1);

    probity_assert(gaps->usual_log2 <= 63);
    gaps->wasted += gaps->wasted < WASTED_MAX;
    if (log2 >= gaps->usual_log2)
        gaps->usual_log2 = (uint8_t)(log2 < 63 ? log2 : 63);
    else
        gaps->usual_log2--;
}

/* Returns whether a gap is so long that it is measured even if the budget is used up: it may
 * contain much time off the CPU, and the cost of the reading is small in comparison. But that cost
 * is not small compared with the CPU time of a thread that waits, and the duration of a wait that
 * is recorded by hits is known without it. If recording may take only a share of the CPU time,
 * those gaps are measured once they add up to a long time, which limits the error of CPU times. */
static int is_long(const struct probity_session *session, const struct probity_thread_state *slot,
                   const struct item *item, uint64_t gap)
{
    enum { LONG_COSTS = 128, LONG_TOGETHER_COSTS = 4096 };

    if (item->kind == PROBITY_EVENT_HIT_WITH && has_budget(session))
        return gap + slot->unmeasured >= session->cpu_cost_ticks * LONG_TOGETHER_COSTS;
    return gap >= session->cpu_cost_ticks * LONG_COSTS;
}

/* Returns whether the CPU clock must be read after a gap: the value that the reading must have, or
 * 0 if it must not be read. */
static COLD uint64_t price_if_due(struct probity_session *session,
                                  struct probity_thread_state *slot, const struct item *item,
                                  uint64_t gap, uint64_t tick)
{
    credit_time(session, slot, tick);
    uint64_t price = price_of_reading(session, slot, item, gap);
    if (slot->credit < (int64_t)price && !is_long(session, slot, item, gap)) {
        slot->unmeasured += gap;
        return 0;
    }
    return price;
}

/* Subtracts from the credit. If recording may take only a share of the CPU time, the excess is
 * subtracted from later credits: otherwise a thread that waits often would measure each gap, paid
 * for by the credit for time off the CPU. */
static void debit(const struct probity_session *session, struct probity_thread_state *slot,
                  int64_t ticks)
{
    int64_t least = has_budget(session) ? -credit_max(session) : 0;

    ticks = slot->credit - ticks;
    slot->credit = ticks > least ? ticks : least;
}

/* Reads the CPU clock and records the result. Returns the time off the CPU in ns. */
static COLD int64_t measure_gap(struct probity_session *session, struct probity_thread_state *slot,
                                const struct item *item, uint64_t gap, uint64_t price)
{
    enum { IN_VAIN_NS = 500 };
    struct probity_thread_gaps *gaps = gaps_of(slot, item);
    int64_t off_ns = probity_thread_measure(session, slot), ticks = (int64_t)price;

    if (off_ns >= IN_VAIN_NS) {
        gaps->wasted = 0;
        /* If recording may take only a share of the CPU time, these readings are limited, too. */
        if (!has_budget(session))
            ticks = 0;
        /* The amount that the gap added to the credit. */
        ticks += share_of(session, probity_ticks_of_ns(off_ns, probity_live_rate(&session->live)));
    } else {
        learn_gap(gaps, gap);
    }
    debit(session, slot, ticks);
    return off_ns;
}

int64_t probity_record_gap(struct probity_session *session, struct probity_thread_state *slot,
                           uint32_t number, uint64_t tick)
{
    const struct item place = {.number = 2 * (uint64_t)number};
    uint64_t gap = tick - slot->hot.last_tick;

    slot->hot.last_tick = tick;
    uint64_t price = price_if_due(session, slot, &place, gap, tick);
    return price != 0 ? measure_gap(session, slot, &place, gap, price) : 0;
}

/* Stores a hit after a gap. Returns its tick, or 0 if it is dropped. */
static COLD uint64_t finish_gap(struct probity_session *session, struct probity_thread_state *slot,
                                const struct item *item, uint64_t at, uint64_t gap, uint64_t tick)
{
    uint64_t price = price_if_due(session, slot, item, gap, tick);
    if (price == 0) {
        store_item(at, tick, item);
        return tick;
    }
    measure_gap(session, slot, item, gap, price);
    return move_hit(session, slot, item, at, tick);
}

/* Compares a span or wait that took longer than its limit, which ends with a gap. Compares it once
 * the record is stored, since the tick of the record may be later than the reading that found the
 * gap. */
static __attribute__((cold, noinline)) uint64_t compare_gap(struct probity_session *session,
                                                            struct probity_thread_state *slot,
                                                            const struct item *item, uint64_t at,
                                                            uint64_t gap, uint64_t tick)
{
    const struct probity_trigger_record record = {item->code, item->kind, item->payload,
                                                  item->bytes};
    struct probity_trigger_met met;
    struct probity_cpu_registers kept;

    probity_cpu_keep(&kept);
    probity_trigger_calls.gap_found(session, slot, &record, at, tick - gap, &met);
    met.end = finish_gap(session, slot, item, at, gap, tick);
    if (met.conditions != 0 && met.end != 0)
        probity_trigger_calls.compare(&met);
    probity_cpu_restore(&kept);
    return met.end;
}

/* Stores a hit in the word or words reserved at `at`. After a gap the thread may have been off the
 * CPU; then the words stay empty until the records that replace them are stored, so that the writer
 * does not pass them. Returns the tick of the record, or 0 if it is dropped. */
static uint64_t finish_hit(struct probity_session *session, struct probity_thread_state *slot,
                           const struct item *item, uint64_t at, uint64_t tick)
{
    uint64_t gap = tick - slot->hot.last_tick;

    if ((int64_t)gap < 0) /* a signal handler probed after the clock was read */
        gap = 0;
    else
        slot->hot.last_tick = tick;
    if (gap < slot->hot.gap_ticks) {
        store_item(at, tick, item);
        return tick;
    }
    if (__builtin_expect(probity_trigger_has_gaps, 0))
        return compare_gap(session, slot, item, at, gap, tick);
    return finish_gap(session, slot, item, at, gap, tick);
}

/* Delays the end of a recording, and with it the next start, until the thread leaves. Returns
 * whether the recording is still running. Plain stores: the process-wide barrier at the end makes
 * them visible in time (quiesce_threads). */
static int slot_enter(struct probity_session *session, struct probity_thread_state *slot)
{
    __atomic_store_n(&slot->busy, slot->busy + 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return __atomic_load_n(&session->state, __ATOMIC_ACQUIRE) == PROBITY_SESSION_RECORDING &&
           slot->session == probity_session_number(session);
}

static void slot_leave(struct probity_thread_state *slot)
{
    /* May be 0 by now, if a signal handler has started over in the next recording. */
    __atomic_store_n(&slot->busy, slot->busy - (slot->busy != 0), __ATOMIC_RELEASE);
}

PROBITY_API void probity_probe_gap(uint32_t code, uint64_t at, uint64_t tick)
{
    struct probity_session *session = probity_session_recording();
    struct probity_thread_state *slot = probity_thread_slot();
    struct item item = {.code = code};
    int before = errno;

    if (session == NULL || slot == NULL) {
        store_item(at, tick, &item); /* recording ended after the reservation */
        return;
    }
    if (slot_enter(session, slot))
        finish_hit(session, slot, &item, at, tick);
    else
        store_item(at, tick, &item);
    slot_leave(slot);
    errno = before;
}

PROBITY_API int probity_event_gap(uint32_t kind, uint64_t tick)
{
    struct probity_session *session = probity_session_recording();
    struct probity_thread_state *slot = probity_thread_slot();
    const struct item item = {.kind = kind, .number = 2 * (uint64_t)kind};

    if (session == NULL || slot == NULL || probity_trigger_has_gaps)
        return 0;
    /* Negative if a signal handler probed after the clock was read. */
    uint64_t gap = tick - slot->hot.last_tick;
    int is_skipped = slot_enter(session, slot) && (int64_t)gap >= 0 &&
                     price_if_due(session, slot, &item, gap, tick) == 0;
    slot_leave(slot);
    return is_skipped;
}

/* Assigns the calling thread a state if anything is recorded. */
static __attribute__((cold, noinline)) struct probity_thread_state *
assign_slot(struct probity_session **ret_session)
{
    struct probity_thread_state *slot = NULL;
    struct probity_cpu_registers kept;
    struct probity_os_signals before;

    probity_cpu_keep(&kept);
    probity_inside_begin(&before);
    *ret_session = probity_session_enter();
    if (*ret_session != NULL) {
        if (probity_thread_may_record(*ret_session))
            slot = probity_thread_register(*ret_session);
        probity_session_leave(*ret_session);
    } else {
        probity_thread_forget();
    }
    probity_inside_end(&before);
    probity_cpu_restore(&kept);
    return slot;
}

/* Returns the calling thread's state if anything is recorded, assigned if missing. */
static struct probity_thread_state *slot_here(struct probity_session **ret_session)
{
    struct probity_thread_state *slot = probity_thread_slot();

    *ret_session = probity_session_recording();
    if (*ret_session != NULL && slot != NULL &&
        slot->session == probity_session_number(*ret_session))
        return slot;
    if (*ret_session != NULL && !probity_thread_may_record(*ret_session))
        return NULL;
    return assign_slot(ret_session);
}

/* is_trial: the state is in no recording. Returns the tick of the record, or 0 if it is dropped. */
static uint64_t record_in(struct probity_session *session, struct probity_thread_state *slot,
                          const struct item *item, int is_trial)
{
    int may_record = slot_enter(session, slot) || is_trial;
    uint64_t at = may_record ? reserve_words(session, slot, words_of(item)) : 0;
    uint64_t tick = 0;

    if (at != 0)
        tick = finish_hit(session, slot, item, at, probity_clock_ticks(session->live.clock));
    slot_leave(slot);
    return tick;
}

static uint64_t record_item(const struct item *item)
{
    struct probity_session *session;
    int before = errno;
    struct probity_thread_state *slot = slot_here(&session);
    uint64_t tick = slot != NULL ? record_in(session, slot, item, 0) : 0;

    errno = before;
    return tick;
}

uint64_t probity_record_values(uint32_t kind, const void *payload, size_t bytes)
{
    struct item item = {.kind = kind, .number = 2 * (uint64_t)kind, .payload = payload,
                        .bytes = bytes < PROBITY_EVENT_ROOM ? bytes : PROBITY_EVENT_ROOM};

    return __atomic_load_n(&probity_active, __ATOMIC_RELAXED) ? record_item(&item) : 0;
}

PROBITY_API uint64_t probity_scope_watch_hit(uint32_t code)
{
    const struct item item = {.code = code};

    return __atomic_load_n(&probity_active, __ATOMIC_RELAXED) ? record_item(&item) : 0;
}

/* Returns the bit that is set in addresses of chunks, while the thread state is in a recording;
 * else 0. */
static uint64_t chunk_bit(const struct probity_thread_state *slot)
{
    const struct probity_session *session = probity_session_recording();

    return session != NULL && slot->session == probity_session_number(session)
               ? (uint64_t)session->live.pool.chunk_words * 8
               : 0;
}

/* Returns words that the inline probe reserved but may not use. If recording has ended, they must
 * not look like words that a probe is about to fill; without a chunk the cursor must not reach the
 * next thread's chunk. A signal handler may get a chunk between any two instructions: the cursor,
 * read before the bit, has then changed and is kept. Or the handler may use up the chunk of these
 * words: then the cursor must not return to it, because another thread may soon own it. */
static void unreserve(uint32_t words)
{
    struct probity_thread_state *slot = probity_thread_slot();

    if (probity_thread_self == NULL || slot == NULL)
        return;
    uint64_t cursor = __atomic_load_n(&slot->hot.cursor, __ATOMIC_RELAXED);
    do {
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        if (__atomic_load_n(&slot->hot.valid_bit, __ATOMIC_RELAXED) != 0 ||
            ((cursor - 8 * (uint64_t)words) & chunk_bit(slot)) != 0)
            return;
    } while (!__atomic_compare_exchange_n(&slot->hot.cursor, &cursor,
                                          cursor - 8 * (uint64_t)words, 0, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
}

PROBITY_API void probity_event_refused(uint64_t at, uint32_t words)
{
    struct probity_thread_state *slot = probity_thread_slot();
    uint64_t chunk_bytes =
        slot != NULL ? __atomic_load_n(&slot->hot.valid_bit, __ATOMIC_RELAXED) : 0;

    if (chunk_bytes == 0) {
        unreserve(words);
        /* A signal handler may have handed over the chunk with the words without getting
         * another. */
        chunk_bytes = slot != NULL ? chunk_bit(slot) : 0;
    }
    if ((at & chunk_bytes) == 0)
        return; /* all of them are after the chunk's end */
    uint32_t left = (uint32_t)(chunk_bytes - (at & (chunk_bytes - 1))) / 8;
    store_word(at, probity_word(slot->hot.last_tick,
                                probity_word_special(PROBITY_WORD_PAD,
                                                     left < words ? left : words)));
}

/* Separate from its only caller, which is cold and therefore optimized for size: with the system
 * clock or in strict order, all probes get here. */
static __attribute__((noinline, hot)) void record_code(uint32_t code)
{
    const struct item item = {.code = code};

    record_item(&item);
}

PROBITY_API void probity_probe_slow(uint32_t code)
{
    unreserve(1);
    /* Otherwise the thread's state belongs to an earlier recording: drops it, so that its probes no
     * longer get here. */
    if (__atomic_load_n(&probity_active, __ATOMIC_RELAXED))
        record_code(code);
    else
        probity_thread_forget();
}

/* Makes the same calls as probity_probe_slow(), so that it takes as long. */
void probity_record_trial(struct probity_session *session, struct probity_thread_state *slot,
                          uint32_t code)
{
    const struct item item = {.code = code};

    unreserve(1);
    int before = errno;
    int is_live = probity_session_recording() != NULL && probity_thread_slot() != NULL;
    if (is_live || slot->session == probity_session_number(session))
        record_in(session, slot, &item, 1);
    errno = before;
}

PROBITY_API void probity_probe_wide(uint32_t id)
{
    struct item item = {.number = 2 * (uint64_t)id};

    if (__atomic_load_n(&probity_active, __ATOMIC_RELAXED))
        record_item(&item);
}

int probity_record_event(struct probity_session *session, struct probity_thread_state *slot,
                         uint32_t kind, const void *payload, size_t bytes)
{
    struct item item = {.kind = kind, .payload = payload,
                        .bytes = bytes < PROBITY_EVENT_ROOM ? bytes : PROBITY_EVENT_ROOM};
    uint64_t at = reserve_words(session, slot, words_of(&item));

    if (at == 0)
        return PROBITY_ERROR_LIMIT;
    store_event(at, probity_clock_ticks(session->live.clock), &item);
    return 0;
}

PROBITY_API int probity_event_slow(uint32_t kind, const void *payload, size_t bytes)
{
    return probity_record_event_here(kind, payload,
                                     bytes < PROBITY_EVENT_ROOM ? bytes : PROBITY_EVENT_ROOM);
}

int probity_record_event_here(uint32_t kind, const void *payload, size_t bytes)
{
    struct probity_session *session;
    int before = errno, result = PROBITY_ERROR_STATE;
    /* Even in profile mode, in which probes are off. */
    int is_on =
        __atomic_load_n(&probity_active, __ATOMIC_RELAXED) || probity_session_recording() != NULL;
    struct probity_thread_state *slot = is_on ? slot_here(&session) : NULL;

    if (slot != NULL) {
        if (slot_enter(session, slot))
            result = probity_record_event(session, slot, kind, payload, bytes);
        slot_leave(slot);
    }
    errno = before;
    return result;
}
