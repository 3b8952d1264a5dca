/* SPDX-License-Identifier: MIT
 *
 * locks.c: sites of all kinds of objects, rare cases, and checks, with objects of this library,
 * that libc's objects have the expected layout.
 */
#include "calls/locks.h"

#include <string.h>

#define SITE(family, name) {name, "libc/" family, "", 0, 0, 0, 0}
#define SITES(family, kind)                                                                        \
    {SITE(family, kind ":wait"),  SITE(family, kind ":hold"),   SITE(family, kind ":release"),     \
     SITE(family, kind ":given-up"), SITE(family, kind ":woken"), SITE(family, kind ":notify"),    \
     SITE(family, kind ":made"),  SITE(family, kind ":gone"),   SITE(family, kind ":begin"),       \
     SITE(family, kind ":end")}

struct probity_calls_sites probity_calls_sites[PROBITY_CALLS_KINDS] = {
    SITES("locks", "mutex"),     SITES("locks", "rwlock-read"), SITES("locks", "rwlock-write"),
    SITES("locks", "spin"),      SITES("locks", "semaphore"),   SITES("locks", "once"),
    SITES("locks", "condition"), SITES("locks", "barrier"),     SITES("locks", "futex"),
    SITES("threads", "join"),    SITES("threads", "thread")};

const char *const probity_calls_kind_names[PROBITY_CALLS_KINDS] = {
    "mutex",     "rwlock-read", "rwlock-write", "spin", "semaphore", "once",
    "condition", "barrier",     "futex",        "join", "thread"};

struct probity_calls_layout probity_calls_layout;

/* ---- Hits --------------------------------------------------------------------------------------
 */

/* ids: those of the kinds stated by the flags, with the place last. */
static inline __attribute__((always_inline)) void record_hit(uint32_t number, uint32_t flags,
                                                             const uint64_t *ids, uint32_t count)
{
    struct probity_event_room room;

    if (!__builtin_expect(__atomic_load_n(&probity_active, __ATOMIC_RELAXED), 1))
        return;
    uint8_t *at = probity_event_reserve(&room, PROBITY_KIND_HIT_WITH, 8 + 8 * count);
    if (__builtin_expect(at == NULL, 0)) {
        probity_hit_at_slow(number, flags, count > 2 ? ids[0] : 0, ids[count - 2],
                            ids[count - 1]);
        return;
    }
    at = probity_put_bytes(at, &number, 4);
    at = probity_put_bytes(at, &flags, 4);
    for (uint32_t i = 0; i < count; i++)
        at = probity_put_bytes(at, &ids[i], 8);
    probity_event_publish(&room);
}

void probity_calls_hit(struct probity_site *site, enum probity_role role,
                       const volatile void *object, const void *place)
{
    const uint32_t flags = PROBITY_WITH_SITE | PROBITY_WITH_OBJECT | PROBITY_WITH_PLACE |
                           (uint32_t)role << PROBITY_WITH_ROLE_SHIFT;
    const uint64_t ids[] = {(uintptr_t)object, (uintptr_t)place};
    uint64_t since = probity_calls_cost_begin();
    uint32_t number = probity_site_number(site);

    if (__builtin_expect(number != UINT32_MAX, 1))
        record_hit(number, flags, ids, 2);
    probity_calls_cost_end(since, 1);
}

void probity_calls_hit_with(struct probity_site *site, enum probity_role role,
                            uint64_t correlation, const volatile void *object, const void *place)
{
    const uint32_t flags = PROBITY_WITH_SITE | PROBITY_WITH_CORRELATION | PROBITY_WITH_OBJECT |
                           PROBITY_WITH_PLACE | (uint32_t)role << PROBITY_WITH_ROLE_SHIFT;
    const uint64_t ids[] = {correlation, (uintptr_t)object, (uintptr_t)place};
    uint64_t since = probity_calls_cost_begin();
    uint32_t number = probity_site_number(site);

    if (__builtin_expect(number != UINT32_MAX, 1))
        record_hit(number, flags, ids, 3);
    probity_calls_cost_end(since, 1);
}

void probity_calls_took_counted(enum probity_calls_kind kind, const volatile void *lock,
                                const void *place)
{
    uint64_t since = probity_calls_cost_begin();
    int is_counted = probity_calls_count(kind);

    probity_calls_cost_end(since, 0);
    if (!is_counted)
        probity_calls_hit(&probity_calls_sites[kind].hold, PROBITY_ROLE_LOCK_HOLD, lock, place);
}

void probity_calls_gives_counted(enum probity_calls_kind kind, const volatile void *lock,
                                 const void *place, int has_waiters)
{
    uint64_t since = probity_calls_cost_begin();
    const struct probity_calls_thread *self = probity_calls_local.self;
    int was_recorded = self != NULL && self->remembered_count != 0 &&
                       probity_calls_thread_forget(lock);

    probity_calls_cost_end(since, 0);
    if (was_recorded || has_waiters || self == NULL)
        probity_calls_hit(&probity_calls_sites[kind].release, PROBITY_ROLE_LOCK_RELEASE, lock,
                          place);
}

void probity_calls_waits(enum probity_calls_kind kind, const volatile void *lock, uint32_t holder,
                         const void *place)
{
    probity_calls_hit_with(&probity_calls_sites[kind].wait, PROBITY_ROLE_LOCK_WAIT, holder,
                           lock, place);
}

/* Any thread may release a semaphore, and a thread that ends does not release its locks. */
void probity_calls_waited(enum probity_calls_kind kind, const volatile void *lock, int error,
                          const void *place)
{
    if (error != 0 && error != EOWNERDEAD) {
        probity_calls_hit_with(&probity_calls_sites[kind].given_up, PROBITY_ROLE_GIVEN_UP,
                               (uint32_t)error, lock, place);
        return;
    }
    probity_calls_hit(&probity_calls_sites[kind].hold, PROBITY_ROLE_LOCK_HOLD, lock, place);
    if (kind != PROBITY_CALLS_SEMAPHORE && probity_calls_only_counts(kind) &&
        (probity_calls_local.self != NULL || probity_calls_thread_count_begin()))
        probity_calls_thread_remember(lock);
}

int probity_calls_limit_is_usual(clockid_t clock, const struct timespec *limit)
{
    return (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) && limit->tv_nsec >= 0 &&
           limit->tv_nsec < 1000000000;
}

/* ---- Counted only ------------------------------------------------------------------------------
 */

enum { LOCKS = (1 << PROBITY_CALLS_COUNTED) - 1 };
static uint32_t wanted;

void probity_calls_count_by(uint32_t families)
{
    wanted = families & PROBITY_CALLS_WAITS ? LOCKS : 0;
    __atomic_store_n(&probity_calls_shared.counted, wanted, __ATOMIC_RELAXED);
}

static int is_site(const struct probity_site *site, uint32_t number)
{
    return __atomic_load_n(&site->code, __ATOMIC_RELAXED) == PROBITY_CODE_FIRST + 2 * number + 1;
}

/* Returns the bits of probity_calls_shared.counted for a site. One that belongs to no lock or
 * thread belongs to memory. */
static uint32_t counted_with(uint32_t number)
{
    for (uint32_t kind = 0; kind < PROBITY_CALLS_KINDS; kind++) {
        const struct probity_calls_sites *sites = &probity_calls_sites[kind];
        const struct probity_site *first = &sites->wait;
        if (is_site(&sites->hold, number) || is_site(&sites->release, number))
            return kind < PROBITY_CALLS_COUNTED ? UINT32_C(1) << kind : 0;
        if (kind == PROBITY_CALLS_CONDITION &&
            (is_site(&sites->wait, number) || is_site(&sites->woken, number) ||
             is_site(&sites->notify, number)))
            return UINT32_C(1) << PROBITY_CALLS_CONDITION_WAIT |
                   UINT32_C(1) << PROBITY_CALLS_NOTIFY;
        for (uint32_t role = 0; role < sizeof *sites / sizeof *first; role++) {
            if (is_site(first + role, number))
                return 0;
        }
    }
    return UINT32_C(1) << PROBITY_CALLS_ALLOCATION | UINT32_C(1) << PROBITY_CALLS_FREE;
}

/* The wrapper of pthread_create() is on while something is counted: a thread records its counts
 * when it ends. */
PROBITY_API int probity_calls_count_hits(uint32_t site)
{
    if (site == PROBITY_CALLS_ALL_SITES) {
        __atomic_store_n(&probity_calls_shared.counted, wanted, __ATOMIC_RELAXED);
        return 0;
    }
    uint32_t bits = counted_with(site);
    if (bits == 0)
        return 0;
    __atomic_or_fetch(&probity_calls_shared.on, PROBITY_CALLS_WAITS, __ATOMIC_RELAXED);
    uint32_t before = __atomic_fetch_or(&probity_calls_shared.counted, bits, __ATOMIC_RELAXED);
    return (before & bits) == bits ? 2 : 1;
}

/* ---- Layout ------------------------------------------------------------------------------------
 */

static int is_own(const volatile void *object, size_t offset)
{
    return probity_calls_field(object, offset) == probity_calls_thread_id();
}

static int check_mutex(void)
{
    union {
        pthread_mutex_t mutex;
        char room[PROBITY_CALLS_MUTEX_KIND + 4];
    } one;
    int is_as_expected;

    memset(&one, 0, sizeof one);
    if (probity_calls_next.pthread_mutex_init(&one.mutex, NULL) != 0 ||
        probity_calls_next.pthread_mutex_lock(&one.mutex) != 0)
        return 0;
    is_as_expected = is_own(&one, PROBITY_CALLS_MUTEX_OWNER) &&
                     probity_calls_field(&one, PROBITY_CALLS_MUTEX_LOCK) == 1 &&
                     probity_calls_field(&one, PROBITY_CALLS_MUTEX_KIND) == 0;
    probity_calls_next.pthread_mutex_unlock(&one.mutex);
    is_as_expected = is_as_expected && probity_calls_field(&one, PROBITY_CALLS_MUTEX_OWNER) == 0 &&
                     probity_calls_field(&one, PROBITY_CALLS_MUTEX_LOCK) == 0;
    probity_calls_next.pthread_mutex_destroy(&one.mutex);
    return is_as_expected;
}

static int check_rwlock(void)
{
    union {
        pthread_rwlock_t rwlock;
        char room[PROBITY_CALLS_RWLOCK_WRITER + 4];
    } one;
    int is_as_expected;

    memset(&one, 0, sizeof one);
    if (probity_calls_next.pthread_rwlock_init(&one.rwlock, NULL) != 0 ||
        probity_calls_next.pthread_rwlock_wrlock(&one.rwlock) != 0)
        return 0;
    is_as_expected = is_own(&one, PROBITY_CALLS_RWLOCK_WRITER);
    probity_calls_next.pthread_rwlock_unlock(&one.rwlock);
    is_as_expected = is_as_expected && probity_calls_field(&one, PROBITY_CALLS_RWLOCK_WRITER) == 0;
    probity_calls_next.pthread_rwlock_destroy(&one.rwlock);
    return is_as_expected;
}

/* Checks a semaphore: its value is in the lower half of a 64-bit word, the number of waiters in the
 * upper half. */
static int check_semaphore(void)
{
    enum { VALUE = 5 };
    union {
        sem_t semaphore;
        char room[PROBITY_CALLS_SEMAPHORE_WAITERS + 4];
    } one;

    memset(&one, 0xff, sizeof one);
    if (probity_calls_next.sem_init(&one.semaphore, 0, VALUE) != 0)
        return 0;
    int is_as_expected = probity_calls_field(&one, PROBITY_CALLS_SEMAPHORE_VALUE) == VALUE &&
                         probity_calls_field(&one, PROBITY_CALLS_SEMAPHORE_WAITERS) == 0;
    probity_calls_next.sem_destroy(&one.semaphore);
    return is_as_expected;
}

/* Checks a barrier for one thread, which therefore never waits. */
static int check_barrier(void)
{
    union {
        pthread_barrier_t barrier;
        char room[PROBITY_CALLS_BARRIER_COUNT + 4];
    } one;

    memset(&one, 0xff, sizeof one);
    if (probity_calls_next.pthread_barrier_init(&one.barrier, NULL, 1) != 0)
        return 0;
    int is_as_expected = probity_calls_field(&one, PROBITY_CALLS_BARRIER_IN) == 0 &&
                         probity_calls_field(&one, PROBITY_CALLS_BARRIER_COUNT) == 1;
    probity_calls_next.pthread_barrier_wait(&one.barrier);
    is_as_expected = is_as_expected && probity_calls_field(&one, PROBITY_CALLS_BARRIER_IN) == 1;
    probity_calls_next.pthread_barrier_destroy(&one.barrier);
    return is_as_expected;
}

void probity_calls_locks_prepare(void)
{
    static int is_prepared;
    int saved = errno;

    if (is_prepared)
        return;
    is_prepared = 1;
    probity_calls_layout.mutex = check_mutex();
    probity_calls_layout.rwlock = check_rwlock();
    probity_calls_layout.semaphore = check_semaphore();
    probity_calls_layout.barrier = check_barrier();
    errno = saved;
}

/* Runs after prepare.c has read the setting. */
__attribute__((constructor(102))) static void at_load(void)
{
    if (__atomic_load_n(&probity_calls_shared.on, __ATOMIC_RELAXED) & PROBITY_CALLS_LOCKS)
        probity_calls_locks_prepare();
}
