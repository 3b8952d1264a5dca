/* SPDX-License-Identifier: MIT
 *
 * profile.c: counts and times scopes. Two threads never store to the same cell. A signal handler
 * may run scopes between any two instructions: the depth keeps it away from our frame, and
 * additions are single instructions. Nothing is allocated except at the first scope of a thread or
 * of a function.
 */
#include "runtime/profile.h"

#include <errno.h>

#include "base/cpu.h"
#include "base/os.h"
#include "base/ticks.h"
#include "probity_scope.h"
#include "runtime/declare.h"
#include "runtime/inside.h"
#include "runtime/profile_set.h"
#include "runtime/record.h"
#include "runtime/session.h"
#include "runtime/thread.h"

enum {
    IS_SLOW = PROBITY_PROFILE_IS_SLOW,
    IS_DEFERRED = PROBITY_PROFILE_IS_DEFERRED,
    FLAGS = IS_SLOW | IS_DEFERRED
};


#if PROBITY_HAS_FAST_PATH
static inline uint64_t counter(void)
{
    return probity_ticks();
}
#else
static inline uint64_t counter(void)
{
    return 0; /* since fast_depth_max is always 0 */
}
#endif

/* Stores a value that a reader may load at any time. */
static inline void store(uint64_t *at, uint64_t value)
{
    __atomic_store_n(at, value, __ATOMIC_RELAXED);
}

/* Loads a limit, which another thread may change when a recording ends or times are switched
 * off. */
static inline uint32_t limit(const uint32_t *depth_max)
{
    return __atomic_load_n(depth_max, __ATOMIC_RELAXED);
}

/* ---- Frames ------------------------------------------------------------------------------------
 */

/* Handles a gap: the thread may have been off the CPU. Returns the tick for which the reading is
 * valid. */
static __attribute__((cold, noinline)) uint64_t find_gap(struct probity_profile_set *set,
                                                         uint64_t tick)
{
    struct probity_session *session;
    int before = errno;

    /* Pairs with probity_profile_end, which ends the recording and then, after a process-wide
     * barrier, waits for busy threads. */
    __atomic_store_n(&set->busy, set->busy + 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    session = probity_session_recording();
    if (session != NULL && set->session == probity_session_number(session) &&
        (int64_t)(tick - set->slot.hot.last_tick) > 0) {
        int64_t off_ns = probity_record_gap(session, &set->slot, set->depth, tick);
        set->off += probity_ticks_of_ns(off_ns, probity_live_rate(&session->live));
        /* Preempted since the clock was read: see finish_hit() in record.c. */
        if ((int64_t)(set->slot.reading.tick - tick) >= (int64_t)set->slot.hot.gap_ticks)
            tick = set->slot.reading.tick;
    }
    __atomic_store_n(&set->busy, set->busy - 1, __ATOMIC_RELEASE);
    errno = before;
    return tick;
}

static inline int is_gap(const struct probity_profile_set *set, uint64_t tick)
{
    return tick - set->slot.hot.last_tick >= set->slot.hot.gap_ticks;
}

/* Stores the depth first, so that a signal handler uses frames above. */
static inline void raise_depth(struct probity_profile_set *set, uint32_t depth)
{
    __atomic_store_n(&set->depth, depth + 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline void lower_depth(struct probity_profile_set *set, uint32_t depth)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&set->depth, depth, __ATOMIC_RELAXED);
}

static inline struct probity_profile_entry *entry_of(const struct probity_profile_frame *frame)
{
    return (struct probity_profile_entry *)(frame->entry & ~(uintptr_t)FLAGS);
}

/* Opens a call of a function that is on the stack already. A call made in a pause is part of no
 * enclosing total. */
static __attribute__((cold, noinline)) void open_inner(struct probity_profile_set *set,
                                                       struct probity_profile_entry *entry,
                                                       uint32_t depth)
{
    if (entry->outermost > set->pause_floor)
        return;
    set->frame[depth + 1].outer = entry->outermost;
    entry->outermost = (uint64_t)depth + 1;
}

/* Stores the entry last: then a jump out of a signal handler leaves a frame without times, not one
 * with wrong times. */
static inline void open_frame(struct probity_profile_set *set, struct probity_profile_entry *entry,
                              uint32_t depth, uint64_t tick)
{
    struct probity_profile_frame *frame = &set->frame[depth + 1];

    set->slot.hot.last_tick = tick;
    frame->enter_tick = tick;
    /* Not a vector store, which would be slower. */
    __atomic_store_n(&frame->self_from, tick, __ATOMIC_RELAXED);
    frame->enter_off = set->off;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    frame->entry = (uintptr_t)entry;
    if (__builtin_expect(entry->outermost - 1 >= depth, 1)) {
        entry->outermost = (uint64_t)depth + 1;
        store(&entry->cell->open_since, tick);
    } else if (__builtin_expect(set->pause_floor != 0, 0)) {
        open_inner(set, entry, depth);
    }
}

/* Handles the end of a call that was made in a pause of the enclosing call of the same function:
 * that is the outermost one again. */
static __attribute__((cold, noinline)) void reopen(struct probity_profile_frame *frame,
                                                   struct probity_profile_cell *cell,
                                                   uint32_t depth)
{
    store(&cell->open_since, frame[(int64_t)frame->outer - depth - 1].enter_tick);
    frame->outer = 0;
}

/* Marks the call as no longer in progress before it is counted, so that it is not counted twice if
 * the process is killed in between; the rest follows (doc/spool.md, "Cells"). Returns whether it
 * was the outermost activation of its function. */
static inline int add_times(struct probity_profile_frame *frame, uint32_t depth, uint64_t tick,
                            uint64_t pauses)
{
    struct probity_profile_entry *entry = (struct probity_profile_entry *)frame->entry;
    struct probity_profile_cell *cell = entry->cell;
    int is_outermost = entry->outermost == (uint64_t)depth + 1;
    uint64_t total = tick - frame->enter_tick;

    frame->entry = IS_SLOW;
    probity_cpu_add(&frame[-1].self_from, total);
    total -= pauses;
    if (__builtin_expect(is_outermost, 1)) {
        store(&cell->open_since, 0);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    }
    probity_cpu_add(&cell->calls, 1);
    /* Counts the previous call: a store whose address depends on the clock just read would delay
     * the next reading by 8 ns. */
    probity_cpu_add(&cell->histogram[probity_profile_bucket(cell->latest)], 1);
    store(&cell->latest, total);
    if (__builtin_expect(is_outermost, 1)) {
        entry->outermost = frame->outer;
        if (__builtin_expect(frame->outer != 0, 0))
            reopen(frame, cell, depth);
        probity_cpu_add(&cell->total, total);
    }
    probity_cpu_add(&cell->durations, total);
    probity_cpu_add(&cell->self, tick - frame->self_from);
    if (__builtin_expect(total < cell->min, 0))
        store(&cell->min, total);
    if (__builtin_expect(total > cell->max, 0))
        store(&cell->max, total);
    return is_outermost;
}

/* Does the same if the thread was off the CPU or paused in between: rare, because most scopes are
 * short. */
static __attribute__((noinline)) void close_rare(struct probity_profile_set *set, uint32_t depth,
                                                 uint64_t tick)
{
    struct probity_profile_frame *frame = &set->frame[depth + 1], *caller = frame - 1;
    struct probity_profile_cell *cell = ((struct probity_profile_entry *)frame->entry)->cell;
    uint64_t off = set->off - frame->enter_off;

    set->slot.hot.last_tick = tick;
    if (add_times(frame, depth, tick, frame->pauses))
        probity_cpu_add(&cell->off_total, off - frame->pauses_off);
    probity_cpu_add(&cell->off_self, off - frame->not_self_off);
    probity_cpu_add(&caller->pauses, frame->pauses);
    probity_cpu_add(&caller->not_self_off, off);
    probity_cpu_add(&caller->pauses_off, frame->pauses_off);
    frame->pauses = frame->not_self_off = frame->pauses_off = 0;
    lower_depth(set, depth);
}

/* Excludes calls made in the pause from this function's times. */
static void end_pause(struct probity_profile_set *set, uint32_t depth, uint64_t tick)
{
    struct probity_profile_frame *frame = &set->frame[depth + 1];
    struct probity_profile_pause *pause = &set->pause[depth + 1];
    uint64_t paused = tick - pause->tick, off = set->off - pause->off;

    frame->entry -= IS_SLOW;
    if (frame->entry & IS_DEFERRED) {
        pause->own += paused;
        pause->own_off += off;
        pause->inside += frame->self_from - pause->self_from;
    } else {
        probity_cpu_add(&entry_of(frame)->cell->paused, paused);
    }
    frame->self_from = pause->self_from + paused;
    frame->pauses = pause->pauses + paused;
    frame->not_self_off = pause->not_self_off + off;
    frame->pauses_off = pause->pauses_off + off;
    set->pause_floor = pause->floor;
}

static void begin_pause(struct probity_profile_set *set, uint32_t depth, uint64_t tick)
{
    struct probity_profile_frame *frame = &set->frame[depth + 1];
    struct probity_profile_pause *pause = &set->pause[depth + 1];

    pause->tick = tick;
    pause->self_from = frame->self_from;
    pause->pauses = frame->pauses;
    pause->off = set->off;
    pause->not_self_off = frame->not_self_off;
    pause->pauses_off = frame->pauses_off;
    pause->floor = set->pause_floor;
    set->pause_floor = depth + 1;
    frame->entry += IS_SLOW;
}

/* Drops a scope that was not confirmed: its callees become its caller's. */
static void drop_deferred(struct probity_profile_set *set, uint32_t depth)
{
    struct probity_profile_frame *frame = &set->frame[depth + 1], *caller = frame - 1;
    const struct probity_profile_pause *pause = &set->pause[depth + 1];
    struct probity_profile_entry *entry = entry_of(frame);

    if (entry->outermost == (uint64_t)depth + 1) {
        entry->outermost = frame->outer;
        if (frame->outer != 0)
            reopen(frame, entry->cell, depth);
    }
    probity_cpu_add(&caller->self_from,
                    frame->self_from - frame->enter_tick - pause->own + pause->inside);
    probity_cpu_add(&caller->pauses, frame->pauses - pause->own);
    probity_cpu_add(&caller->not_self_off, frame->not_self_off - pause->own_off);
    probity_cpu_add(&caller->pauses_off, frame->pauses_off - pause->own_off);
    *frame = (struct probity_profile_frame){.entry = IS_SLOW};
}

/* Opens a scope without times: those of its callees count as its caller's. */
static void open_untimed(struct probity_profile_set *set, struct probity_profile_entry *entry,
                         uint32_t depth)
{
    probity_cpu_add(&entry->cell->untimed, 1);
    if (depth < limit(&set->depth_max))
        set->frame[depth + 1] =
            (struct probity_profile_frame){.entry = IS_SLOW, .outer = (uintptr_t)entry};
}

static void close_untimed(struct probity_profile_frame *frame)
{
    if (frame->enter_tick == 0) { /* otherwise a jump left it incompletely opened */
        frame[-1].self_from += frame->self_from;
        frame[-1].pauses += frame->pauses;
        frame[-1].not_self_off += frame->not_self_off;
        frame[-1].pauses_off += frame->pauses_off;
    }
    *frame = (struct probity_profile_frame){.entry = IS_SLOW};
}

/* Closes the frames from the innermost down to `depth`. */
void probity_profile_close(struct probity_profile_set *set, uint32_t depth, uint64_t tick,
                          int is_unwound)
{
    while (set->depth > depth) {
        uint32_t at = set->depth - 1;
        if (at >= limit(&set->depth_max)) {
            lower_depth(set, at);
            continue;
        }
        struct probity_profile_frame *frame = &set->frame[at + 1];
        if (frame->entry <= IS_SLOW) {
            close_untimed(frame);
            lower_depth(set, at);
            continue;
        }
        if (frame->entry & IS_SLOW)
            end_pause(set, at, tick);
        if (frame->entry & IS_DEFERRED) {
            drop_deferred(set, at);
            lower_depth(set, at);
            continue;
        }
        if (is_unwound)
            probity_cpu_add(&entry_of(frame)->cell->unwound, 1);
        close_rare(set, at, tick);
    }
}

/* ---- Scopes ------------------------------------------------------------------------------------
 */

static uint64_t entered(uint32_t depth)
{
    return PROBITY_SCOPE_PROFILED | (uint64_t)depth << 32;
}

/* Excludes the reading of the CPU clock from this function's time. */
static __attribute__((cold, noinline)) uint64_t
enter_behind_gap(struct probity_profile_set *set, struct probity_profile_entry *entry,
                 uint64_t tick)
{
    uint32_t depth = set->depth - 1;

    find_gap(set, tick);
    open_frame(set, entry, depth, probity_clock_ticks(set->clock));
    return entered(depth);
}

/* Enters a scope in a thread without a readable counter or without times, or at a depth without a
 * frame. */
static uint64_t enter_any(struct probity_profile_set *set, struct probity_profile_entry *entry)
{
    uint32_t depth = set->depth;

    raise_depth(set, depth);
    if (limit(&set->is_untimed) || depth >= limit(&set->depth_max)) {
        open_untimed(set, entry, depth);
        return entered(depth);
    }
    uint64_t tick = probity_clock_ticks(set->clock);
    if (is_gap(set, tick))
        return enter_behind_gap(set, entry, tick);
    open_frame(set, entry, depth, tick);
    return entered(depth);
}

/* Returns the function's entry in this thread's set, and the set; NULL if the call is not counted.
 * If the function is only to be counted, its next call takes the fast path. */
static struct probity_profile_entry *make_entry(uint32_t number,
                                                struct probity_profile_set **ret_set,
                                                int is_only_counted)
{
    struct probity_profile_entry *entry = NULL;
    struct probity_cpu_registers kept;
    struct probity_os_signals before;
    int saved = errno;

    probity_cpu_keep(&kept);
    probity_inside_begin(&before);
    struct probity_session *session = probity_session_enter();
    if (session != NULL) {
        int may_record = probity_thread_may_record(session);
        *ret_set = may_record ? probity_profile_set_here(session) : NULL;
        if (*ret_set != NULL)
            entry = probity_profile_entry_here(session, *ret_set, number);
        if (entry != NULL && is_only_counted)
            __atomic_store_n(&(*ret_set)->counter[number], &entry->cell->untimed,
                             __ATOMIC_RELAXED);
        if (may_record && entry == NULL)
            __atomic_add_fetch(&session->live.header->dropped_memory, 1, __ATOMIC_RELAXED);
        probity_session_leave(session);
    }
    probity_inside_end(&before);
    probity_cpu_restore(&kept);
    errno = saved;
    return entry;
}

static __attribute__((cold, noinline)) uint64_t enter_slow(struct probity_site_function *function)
{
    struct probity_profile_set *set = probity_profile_own;
    uint32_t number = __atomic_load_n(&function->number, __ATOMIC_RELAXED);

    if (set != NULL && limit(&set->depth_max) != 0 && number <= PROBITY_LIMIT_SITES &&
        set->entry[number].cell != NULL)
        return enter_any(set, &set->entry[number]);
    int saved = errno;
    if (number == 0)
        probity_declare_function(function);
    errno = saved;
    struct probity_profile_entry *entry =
        make_entry(__atomic_load_n(&function->number, __ATOMIC_RELAXED), &set, 0);
    return entry != NULL ? enter_any(set, entry) : 0;
}

void probity_profile_count(const struct probity_site_function *function)
{
    uint32_t number = __atomic_load_n(&function->number, __ATOMIC_RELAXED);
    struct probity_profile_set *set;
    struct probity_profile_entry *entry = make_entry(number, &set, 1);

    /* Not read through the set's pointer, which another thread clears if the function is switched
     * on. */
    struct probity_profile_cell *cell = entry != NULL ? entry->cell : NULL;
    if (cell != NULL)
        probity_cpu_add(&cell->untimed, 1);
}

/* Like the leave, calls other functions only at the end of a path, so that no register is saved. */
uint64_t probity_profile_enter(struct probity_site_function *function)
{
    struct probity_profile_set *set = probity_profile_own;

    if (__builtin_expect(set == NULL, 0))
        return enter_slow(function);
    uint32_t depth = set->depth;
    struct probity_profile_entry *entry =
        &set->entry[__atomic_load_n(&function->number, __ATOMIC_RELAXED)];
    if (__builtin_expect(depth >= limit(&set->fast_depth_max) || entry->cell == NULL, 0))
        return enter_slow(function);
    raise_depth(set, depth);
    uint64_t tick = counter();
    if (__builtin_expect(is_gap(set, tick), 0))
        return enter_behind_gap(set, entry, tick);
    open_frame(set, entry, depth, tick);
    return entered(depth);
}

static __attribute__((cold, noinline)) void leave_behind_gap(struct probity_profile_set *set,
                                                             uint32_t depth, uint64_t tick)
{
    close_rare(set, depth, find_gap(set, tick));
}

static __attribute__((cold, noinline)) void leave_slow(uint32_t depth)
{
    struct probity_profile_set *set = probity_profile_own;

    /* The scope was entered in an earlier recording, or before a fork; the scopes open now were
     * entered later. */
    if (set == NULL || set->depth <= depth)
        return;
    if (limit(&set->depth_max) == 0) {
        lower_depth(set, depth);
        return;
    }
    /* Scopes that were jumped over lasted at least until the last enter or leave; the time since
     * then is counted for the scope jumped to. */
    probity_profile_close(set, depth + 1, set->slot.hot.last_tick, 1);
    uint64_t tick = probity_clock_ticks(set->clock);
    if (is_gap(set, tick))
        tick = find_gap(set, tick);
    probity_profile_close(set, depth, tick, 0);
}

void probity_profile_unwind(uint32_t count)
{
    struct probity_profile_set *set = probity_profile_own;

    if (set != NULL && limit(&set->depth_max) != 0)
        probity_profile_close(set, set->depth > count ? set->depth - count : 0,
                              set->slot.hot.last_tick, 1);
}

void probity_profile_leave(uint32_t depth)
{
    struct probity_profile_set *set = probity_profile_own;

    if (__builtin_expect(set == NULL || set->depth != depth + 1 ||
                             depth >= limit(&set->fast_depth_max),
                         0)) {
        leave_slow(depth);
        return;
    }
    struct probity_profile_frame *frame = &set->frame[depth + 1];
    if (__builtin_expect(frame->entry & FLAGS, 0)) {
        leave_slow(depth);
        return;
    }
    uint64_t tick = counter();
    if (__builtin_expect(is_gap(set, tick), 0)) {
        leave_behind_gap(set, depth, tick);
        return;
    }
    if (__builtin_expect(((set->off - frame->enter_off) | frame->pauses) != 0, 0)) {
        close_rare(set, depth, tick);
        return;
    }
    set->slot.hot.last_tick = tick;
    add_times(frame, depth, tick, 0);
    lower_depth(set, depth);
}

void probity_profile_pause(int is_pause)
{
    struct probity_profile_set *set = probity_profile_own;

    if (set == NULL || set->depth == 0 || set->depth > limit(&set->depth_max))
        return;
    uint32_t depth = set->depth - 1;
    uintptr_t entry = set->frame[depth + 1].entry;
    if (entry <= IS_SLOW || (entry & IS_SLOW) == (unsigned)is_pause)
        return;
    uint64_t tick = probity_clock_ticks(set->clock);
    if (is_gap(set, tick))
        tick = find_gap(set, tick);
    set->slot.hot.last_tick = tick;
    if (is_pause)
        begin_pause(set, depth, tick);
    else
        end_pause(set, depth, tick);
}

/* Returns the frame of the scope at this depth, NULL if it has none. */
static struct probity_profile_frame *frame_of(struct probity_profile_set *set, uint32_t depth)
{
    if (set == NULL || set->depth <= depth || depth >= limit(&set->depth_max))
        return NULL;
    return &set->frame[depth + 1];
}

void probity_profile_defer(uint32_t depth)
{
    struct probity_profile_set *set = probity_profile_own;
    struct probity_profile_frame *frame = frame_of(set, depth);

    if (frame == NULL)
        return;
    if (frame->entry <= IS_SLOW) {
        probity_cpu_add(&((struct probity_profile_entry *)frame->outer)->cell->untimed,
                        UINT64_MAX);
        return;
    }
    set->pause[depth + 1].own = set->pause[depth + 1].own_off = set->pause[depth + 1].inside = 0;
    frame->entry |= IS_DEFERRED;
    store(&entry_of(frame)->cell->open_since, 0);
}

void probity_profile_confirm(uint32_t depth)
{
    struct probity_profile_set *set = probity_profile_own;
    struct probity_profile_frame *frame = frame_of(set, depth);

    if (frame == NULL)
        return;
    if (frame->entry <= IS_SLOW && frame->outer != 0) {
        probity_cpu_add(&((struct probity_profile_entry *)frame->outer)->cell->untimed, 1);
        frame->outer = 0;
    } else if (frame->entry & IS_DEFERRED) {
        frame->entry &= ~(uintptr_t)IS_DEFERRED;
        if (entry_of(frame)->outermost == (uint64_t)depth + 1)
            store(&entry_of(frame)->cell->open_since, frame->enter_tick);
        probity_cpu_add(&entry_of(frame)->cell->paused, set->pause[depth + 1].own);
    }
}

void probity_profile_set_timed(int is_timed)
{
    struct probity_os_signals before;
    int saved = errno;

    probity_inside_begin(&before);
    struct probity_session *session = probity_session_enter();
    if (session != NULL) {
        probity_profile_sets_time(&session->profile, is_timed);
        probity_session_leave(session);
    }
    probity_inside_end(&before);
    errno = saved;
}
