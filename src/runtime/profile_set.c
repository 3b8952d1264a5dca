/* SPDX-License-Identifier: MIT
 *
 * profile_set.c: sets of cells are created with threads and outlast them: the sets of the last 64
 * ended threads stay readable; a new thread then reuses the oldest. Memory is thus bounded by the
 * number of concurrent threads. Slow paths only.
 */
#include "runtime/profile_set.h"

#include <sys/mman.h>

#include "base/assert.h"
#include "base/os.h"
#include "base/thread_local.h"
#include "probity_scope.h"
#include "runtime/budget.h"
#include "runtime/session.h"
#include "runtime/thread.h"

enum {
    ENDED_SETS_MAX = 64, /* sets of ended threads that are kept */
    SETS_PER_SEARCH = 64 /* new sets between two searches for dead threads */
};

PROBITY_THREAD_LOCAL(, struct probity_profile_set *, probity_profile_own);

PROBITY_THREAD_LOCAL(PROBITY_API, uint64_t **, probity_scope_counters);

void probity_profile_set_own(struct probity_profile_set *set)
{
    probity_profile_own = set;
    probity_scope_counters = set != NULL ? set->counter : NULL;
}

static struct probity_profile_set *map_set(struct probity_profile_sets *sets)
{
    struct probity_profile_set *set =
        mmap(NULL, sizeof *set, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (set == MAP_FAILED)
        return NULL;
    if (madvise(set, sizeof *set, MADV_WIPEONFORK) != 0) {
        munmap(set, sizeof *set);
        return NULL;
    }
    madvise(set, sizeof *set, MADV_NOHUGEPAGE);
    set->next = sets->first;
    sets->first = set;
    sets->made++;
    return set;
}

/* Frees the set for another thread. Its own thread is dead, or is the caller. */
static void end_set(struct probity_session *session, struct probity_profile_set *set, uint64_t tick)
{
    probity_assert(set->in_use);
    probity_profile_close(set, 0, tick, 1);
    set->fast_depth_max = 0;
    set->depth_max = 0;
    set->ended = ++session->profile.ended;
    __atomic_store_n(&set->in_use, 0, __ATOMIC_RELEASE);
}

/* Ends the sets of threads that exited without running their destructor (a raw exit). */
static void end_dead_sets(struct probity_session *session)
{
    struct probity_profile_set *set = session->profile.first;

    for (; set != NULL; set = set->next) {
        if (set->in_use && !probity_os_thread_exists(session->live.pid, set->owner.tid))
            end_set(session, set, set->slot.hot.last_tick);
    }
}

/* Returns a set for a new thread: one of an earlier recording or, if many threads have ended, the
 * one that ended first; otherwise a new one. */
static struct probity_profile_set *find_set(struct probity_session *session, uint32_t tid)
{
    struct probity_profile_sets *sets = &session->profile;
    struct probity_profile_set *oldest = NULL;
    uint32_t ended = 0;

    if (sets->made % SETS_PER_SEARCH == 0)
        end_dead_sets(session);
    for (struct probity_profile_set *set = sets->first; set != NULL; set = set->next) {
        if (set->in_use && set->owner.tid == tid)
            end_set(session, set, set->slot.hot.last_tick); /* the id was reused */
        if (set->in_use)
            continue;
        if (set->session != session->number)
            return set;
        ended++;
        if (oldest == NULL || set->ended < oldest->ended)
            oldest = set;
    }
    struct probity_profile_set *made = ended <= ENDED_SETS_MAX ? map_set(sets) : NULL;
    return made != NULL ? made : oldest;
}

/* Clears the contents of an earlier recording. */
static void clear_set(struct probity_session *session, struct probity_profile_set *set)
{
    struct probity_profile_set *next = set->next;

    if (set->session != 0)
        madvise(set, sizeof *set, MADV_DONTNEED); /* all zeroes again */
    set->next = next;
    set->session = session->number;
    set->first_chunk = set->chunk = PROBITY_POOL_NONE;
    probity_assert(set->depth == 0);
}

static void begin_slot(struct probity_session *session, struct probity_thread_state *slot)
{
    slot->hot.gap_ticks = session->gap_ticks;
    slot->unmeasured = 0;
    slot->reading = (struct probity_clock_cpu){0};
    probity_thread_measure(session, slot);
    slot->hot.last_tick = slot->reading.tick;
    slot->credit_tick = slot->reading.tick;
    slot->credit = (int64_t)session->cpu_cost_ticks * 16;
}

/* Returns the thread's number in the trace, if it has one. */
static uint32_t thread_number(struct probity_session *session)
{
    const struct probity_thread_state *slot = probity_thread_slot();

    if (slot != NULL && slot->session == probity_session_number(session))
        return slot->thread;
    probity_os_lock(&session->live.slots_lock);
    uint32_t number = session->threads++;
    probity_os_unlock(&session->live.slots_lock);
    __atomic_add_fetch(&session->live.header->threads, 1, __ATOMIC_RELAXED);
    return number;
}

static void begin_set(struct probity_session *session, struct probity_profile_set *set,
                      uint32_t tid)
{
    struct probity_pool *pool = &session->live.pool;
    int is_counter = PROBITY_HAS_FAST_PATH && probity_clock_is_inline(session->live.clock);

    if (set->session != session->number)
        clear_set(session, set);
    set->owner.thread = thread_number(session);
    set->owner.tid = tid;
    set->owner.threads++;
    for (uint32_t chunk = set->first_chunk; chunk != PROBITY_POOL_NONE;
         chunk = probity_pool_private(pool, chunk)->next)
        probity_cells_relabel(pool, chunk, &set->owner);
    begin_slot(session, &set->slot);
    set->depth = 0;
    set->clock = session->live.clock;
    set->is_untimed = session->profile.is_untimed;
    set->depth_max = PROBITY_PROFILE_DEPTH_MAX;
    set->fast_depth_max = is_counter && !set->is_untimed ? PROBITY_PROFILE_DEPTH_MAX : 0;
    probity_assert(set->session == session->number && set->owner.threads > 0);
    probity_assert(set->fast_depth_max <= set->depth_max);
    __atomic_store_n(&set->in_use, 1, __ATOMIC_RELEASE);
}

/* Returns the calling thread's set in this recording. Signals blocked. */
struct probity_profile_set *probity_profile_set_here(struct probity_session *session)
{
    struct probity_profile_set *set = probity_profile_own;
    uint32_t tid = probity_os_thread_id();

    if (set != NULL && set->in_use && set->session == session->number)
        return set;
    if (probity_session_is_foreign(session))
        return NULL;
    if (probity_session_has_declared(session) == PROBITY_DECLARATIONS_NONE)
        probity_thread_register(session); /* earlier declarations go into this trace */
    probity_os_lock(&session->profile.lock);
    if (set == NULL || !set->in_use)
        set = find_set(session, tid);
    if (set != NULL) {
        begin_set(session, set, tid);
        if (set->owner.set == 0)
            set->owner.set = session->profile.made;
    }
    probity_os_unlock(&session->profile.lock);
    probity_profile_set_own(set);
    if (set != NULL)
        probity_thread_watch_own_exit();
    return set;
}

/* ---- Cells -------------------------------------------------------------------------------------
 */

/* Threads that record take at most half of the chunks before more are added; cells may take all. */
static uint32_t take_chunk(struct probity_session *session)
{
    struct probity_pool *pool = &session->live.pool;
    uint32_t chunk = probity_thread_take_chunk(session);

    if (chunk != PROBITY_POOL_NONE)
        return chunk;
    probity_os_lock(&session->lock);
    chunk = probity_pool_take(pool);
    if (chunk == PROBITY_POOL_NONE && probity_session_grow(session) == 0)
        chunk = probity_pool_take(pool);
    probity_os_unlock(&session->lock);
    return chunk;
}

static struct probity_profile_cell *make_cell(struct probity_session *session,
                                              struct probity_profile_set *set, uint32_t site)
{
    struct probity_pool *pool = &session->live.pool;
    struct probity_profile_cell *cell =
        set->chunk != PROBITY_POOL_NONE ? probity_cells_add(pool, set->chunk, site) : NULL;

    probity_assert(site < PROBITY_LIMIT_SITES);
    if (cell != NULL)
        return cell;
    uint32_t chunk = take_chunk(session);
    if (chunk == PROBITY_POOL_NONE)
        return NULL;
    probity_cells_prepare(pool, chunk, &set->owner);
    probity_pool_link(pool, chunk, set->first_chunk);
    set->first_chunk = set->chunk = chunk;
    probity_assert(set->chunk == chunk);
    return probity_cells_add(pool, chunk, site);
}

/* Returns the function's entry in the set, with a cell; NULL if a limit is reached. Signals
 * blocked. */
struct probity_profile_entry *probity_profile_entry_here(struct probity_session *session,
                                                         struct probity_profile_set *set,
                                                         uint32_t number)
{
    if (number == 0 || number > PROBITY_LIMIT_SITES)
        return NULL;
    struct probity_profile_entry *entry = &set->entry[number];
    if (entry->cell == NULL)
        entry->cell = make_cell(session, set, number - 1);
    return entry->cell != NULL ? entry : NULL;
}

/* ---- Threads and recordings --------------------------------------------------------------------
 */

void probity_profile_sets_time(struct probity_profile_sets *sets, int is_timed)
{
    probity_os_lock(&sets->lock);
    sets->is_untimed = !is_timed;
    for (struct probity_profile_set *set = sets->first; set != NULL; set = set->next) {
        int is_fast = PROBITY_HAS_FAST_PATH && is_timed && probity_clock_is_inline(set->clock);
        __atomic_store_n(&set->is_untimed, !is_timed, __ATOMIC_RELAXED);
        __atomic_store_n(&set->fast_depth_max, is_fast ? set->depth_max : 0, __ATOMIC_RELAXED);
    }
    probity_os_unlock(&sets->lock);
}

void probity_profile_thread_ends(void)
{
    struct probity_profile_set *set = probity_profile_own;

    probity_profile_set_own(NULL);
    if (set == NULL || !set->in_use)
        return;
    struct probity_session *session = probity_session_get();
    probity_os_lock(&session->profile.lock);
    end_set(session, set, probity_clock_ticks(set->clock));
    probity_os_unlock(&session->profile.lock);
}

void probity_profile_end(struct probity_session *session)
{
    enum { LEAVE_TRIES = 1000, LEAVE_NS = 1000000 };
    struct probity_profile_set *own = probity_profile_own;
    uint32_t never = 0, counted;
    const uint32_t *numbers = probity_budget_numbers(&counted);

    if (own != NULL && own->in_use)
        probity_profile_close(own, 0, probity_clock_ticks(own->clock), 0);
    for (struct probity_profile_set *set = session->profile.first; set != NULL; set = set->next) {
        __atomic_store_n(&set->fast_depth_max, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&set->depth_max, 0, __ATOMIC_RELAXED);
        for (uint32_t i = 0; i < counted; i++)
            __atomic_store_n(&set->counter[numbers[i]], NULL, __ATOMIC_RELAXED);
        /* The caller may have interrupted its own thread. */
        for (int i = 0; set != own && i < LEAVE_TRIES && set->in_use &&
                        __atomic_load_n(&set->busy, __ATOMIC_ACQUIRE) != 0; i++)
            probity_os_wait(&never, 0, LEAVE_NS);
    }
}
