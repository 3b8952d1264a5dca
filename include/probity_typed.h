/* SPDX-License-Identifier: MIT
 *
 * probity_typed.h: probes with ids: of a request that passes through threads, a lock or a queue.
 *
 *     PROBITY_REQUEST_BEGIN("request", id);           PROBITY_REQUEST_END("request", id);
 *     PROBITY_QUEUE_PUT("jobs", &queue, job);         PROBITY_QUEUE_GET("jobs", &queue, job);
 *     PROBITY_LOCK_WAIT("cache", &mutex);  PROBITY_LOCK_HOLD("cache", &mutex);
 *     PROBITY_LOCK_RELEASE("cache", &mutex);
 *     PROBITY_SEND("fetch", id);                      PROBITY_RECEIVE("fetch", id);
 *     PROBITY_PROBE_NAMED_WITH("parsed", id);         PROBITY_PROBE_WITH(7, id);
 *
 * Each records a hit of a named site ("jobs:put", "cache:wait", "request:begin") or of a numbered
 * probe, as in probity.h, with one or two 64-bit ids; all commands show it as a hit. `probity
 * blocks --by correlation` joins the hits of one correlation id across threads; `probity model`
 * analyzes queues, locks and arrivals.
 *
 * An id is an integer or a pointer. A correlation id identifies one piece of work while it is in
 * progress and may be reused once the work has ended. An object id identifies a lock or a queue;
 * its address is suitable. Names are string literals.
 *
 * All are statements. Any thread, even in a signal handler; errno is untouched. A hit takes 40 or
 * 48 bytes in its thread's chunk instead of 8. While not recording, each is one predicted branch;
 * in profile mode all are off. If PROBITY_DISABLE is defined before the include, they compile to
 * nothing and their arguments are not evaluated.
 */
#ifndef PROBITY_TYPED_H
#define PROBITY_TYPED_H

#include "probity_scope.h"

#ifndef PROBITY_REFUSED

#ifdef __cplusplus
extern "C" {
#endif

/* Meaning of a hit's ids. Values are those in the trace. */
enum probity_role {
    PROBITY_ROLE_NONE = 0,          /* only a correlation id */
    PROBITY_ROLE_LOCK_WAIT = 1,     /* before acquiring the lock; may be omitted if it is free */
    PROBITY_ROLE_LOCK_HOLD = 2,     /* the thread has acquired the lock */
    PROBITY_ROLE_LOCK_RELEASE = 3,  /* before releasing the lock */
    PROBITY_ROLE_QUEUE_PUT = 4,     /* before putting the item, while no other thread can have it */
    PROBITY_ROLE_QUEUE_GET = 5,     /* after getting the item */
    PROBITY_ROLE_REQUEST_BEGIN = 6, /* the work arrives */
    PROBITY_ROLE_REQUEST_END = 7,   /* the work is done or abandoned */
    /* Calls to the C library (doc/calls.md). */
    PROBITY_ROLE_CONDITION_WAIT = 8, /* before waiting for something that no thread holds;
                                        correlation: the lock released meanwhile, or 0 */
    PROBITY_ROLE_WOKEN = 9,          /* after that wait; correlation: 0, or an error number */
    PROBITY_ROLE_NOTIFY = 10,        /* before waking; correlation: maximum number of threads */
    PROBITY_ROLE_LOCK_MADE = 11,
    PROBITY_ROLE_LOCK_GONE = 12,
    PROBITY_ROLE_ALLOCATE = 13,      /* object: the address; correlation: bytes requested */
    PROBITY_ROLE_FREE = 14,
    PROBITY_ROLE_GIVEN_UP = 15,      /* instead of acquiring the lock; correlation: error number */
    PROBITY_ROLE_THREAD_BEGIN = 16,  /* object: pthread_t; correlation: thread id of its creator */
    PROBITY_ROLE_THREAD_END = 17,
    /* Messages to another process or host (doc/hosts.md). */
    PROBITY_ROLE_SEND = 18,          /* before the message is passed on */
    PROBITY_ROLE_RECEIVE = 19        /* after it has arrived */
};

/* ---- Not for direct use -------------------------------------------------------------------------
 */

enum {
    PROBITY_WITH_SITE = 1, /* flags of the event, as in doc/trace-format.md */
    PROBITY_WITH_CORRELATION = 2,
    PROBITY_WITH_OBJECT = 4,
    PROBITY_WITH_PLACE = 8,
    PROBITY_WITH_ROLE_SHIFT = 8,
    PROBITY_KIND_HIT_WITH = 17
};

/* Slow paths of the functions below: records the event; returns the code of a site, declaring
 * it if necessary, or 0 on failure. */
PROBITY_API void probity_hit_with_slow(uint32_t number, uint32_t flags, uint64_t correlation,
                                       uint64_t object) PROBITY_COLD;
PROBITY_API void probity_hit_at_slow(uint32_t number, uint32_t flags, uint64_t correlation,
                                     uint64_t object, uint64_t place) PROBITY_COLD;
PROBITY_API uint32_t probity_site_declare(struct probity_site *site) PROBITY_COLD;

/* The constant `flags` determines the length of the record. Takes two to four stores more than
 * probity_hit(). */
PROBITY_INLINE void
probity_hit_with(uint32_t number, uint32_t flags, uint64_t correlation, uint64_t object)
{
    struct probity_event_room room;
    const uint32_t bytes = 8u + (flags & PROBITY_WITH_CORRELATION ? 8u : 0u) +
                           (flags & PROBITY_WITH_OBJECT ? 8u : 0u);

    if (PROBITY_EXPECT(!PROBITY_LOAD(int, &probity_active), 0))
        return;
    uint8_t *at = probity_event_begin(&room, PROBITY_KIND_HIT_WITH, bytes);
    if (PROBITY_EXPECT(at == NULL, 0)) {
        probity_hit_with_slow(number, flags, correlation, object);
        return;
    }
    at = probity_put_bytes(at, &number, 4);
    at = probity_put_bytes(at, &flags, 4);
    if (flags & PROBITY_WITH_CORRELATION)
        at = probity_put_bytes(at, &correlation, 8);
    if (flags & PROBITY_WITH_OBJECT)
        probity_put_bytes(at, &object, 8);
    probity_event_publish(&room);
}

/* The same for flags that include PROBITY_WITH_PLACE. place: a return address. */
PROBITY_INLINE void
probity_hit_at(uint32_t number, uint32_t flags, uint64_t correlation, uint64_t object,
               uint64_t place)
{
    struct probity_event_room room;
    const uint32_t bytes = 16u + (flags & PROBITY_WITH_CORRELATION ? 8u : 0u) +
                           (flags & PROBITY_WITH_OBJECT ? 8u : 0u);

    if (PROBITY_EXPECT(!PROBITY_LOAD(int, &probity_active), 0))
        return;
    uint8_t *at = probity_event_begin(&room, PROBITY_KIND_HIT_WITH, bytes);
    if (PROBITY_EXPECT(at == NULL, 0)) {
        probity_hit_at_slow(number, flags, correlation, object, place);
        return;
    }
    at = probity_put_bytes(at, &number, 4);
    at = probity_put_bytes(at, &flags, 4);
    if (flags & PROBITY_WITH_CORRELATION)
        at = probity_put_bytes(at, &correlation, 8);
    if (flags & PROBITY_WITH_OBJECT)
        at = probity_put_bytes(at, &object, 8);
    probity_put_bytes(at, &place, 8);
    probity_event_publish(&room);
}

/* Returns the number of a site, declaring it if necessary; UINT32_MAX: it cannot be recorded. */
PROBITY_INLINE uint32_t probity_site_number(struct probity_site *site)
{
    uint32_t code = PROBITY_LOAD(uint32_t, &site->code);

    if (PROBITY_EXPECT(code == 0, 0)) {
        if (PROBITY_LOAD(int, &probity_active))
            code = probity_site_declare(site);
        if (code == 0)
            return UINT32_MAX;
    }
    return (code - PROBITY_CODE_FIRST) / 2;
}

PROBITY_INLINE void
probity_site_hit_with(struct probity_site *site, uint32_t flags, uint64_t correlation,
                      uint64_t object)
{
    uint32_t code = PROBITY_LOAD(uint32_t, &site->code);

    if (PROBITY_EXPECT(code == 0, 0)) {
        if (PROBITY_LOAD(int, &probity_active))
            code = probity_site_declare(site);
        if (code == 0)
            return;
    }
    probity_hit_with((code - PROBITY_CODE_FIRST) / 2, flags | PROBITY_WITH_SITE, correlation,
                     object);
}

/* The same with a place. */
PROBITY_INLINE void
probity_site_hit_at(struct probity_site *site, uint32_t flags, uint64_t correlation,
                    uint64_t object, uint64_t place)
{
    uint32_t number = probity_site_number(site);

    if (PROBITY_EXPECT(number != UINT32_MAX, 1))
        probity_hit_at(number, flags | PROBITY_WITH_SITE | PROBITY_WITH_PLACE, correlation, object,
                       place);
}

#ifdef __cplusplus
}

/* Templates need C++ linkage, even if the include is inside extern "C". */
extern "C++" {
template <typename Type> PROBITY_INLINE uint64_t probity_id_of(Type *pointer)
{
    return reinterpret_cast<uintptr_t>(pointer);
}

template <typename Type> PROBITY_INLINE uint64_t probity_id_of(Type number)
{
    return static_cast<uint64_t>(number);
}
}
#define PROBITY_ID_OF(id) probity_id_of(id)
#else
/* id: an integer or a pointer. */
#define PROBITY_ID_OF(id) ((uint64_t)(id))
#endif

#ifdef PROBITY_DISABLE
/* No sizeof, because an id may be a bit-field. */
#define PROBITY_X_GONE(id) PROBITY_CAST(void, 0 ? PROBITY_ID_OF(id) : 0u)
#define PROBITY_X_NUMBERED(id, role, flags, correlation, object)                                   \
    PROBITY_CAST(void, (PROBITY_X_GONE(id), PROBITY_X_GONE(correlation), PROBITY_X_GONE(object)))
#define PROBITY_X_NAMED(name, mark, role, flags, correlation, object)                              \
    PROBITY_CAST(void, (PROBITY_PROBE_NAMED(name), PROBITY_X_GONE(correlation),                    \
                        PROBITY_X_GONE(object)))
#else
#define PROBITY_X_NUMBERED(id, role, flags, correlation, object)                                   \
    do {                                                                                           \
        PROBITY_LIST_NUMBER(id);                                                                   \
        PROBITY_X_HIT(PROBITY_X_MARK_NUMBERED(id), probity_hit_with, PROBITY_CAST(uint32_t, id),   \
                      role, flags, correlation, object);                                           \
    } while (0)
#define PROBITY_X_NAMED(name, mark, role, flags, correlation, object)                              \
    do {                                                                                           \
        static struct probity_site probity_site_here = PROBITY_SITE_HERE(name);                    \
        PROBITY_LIST(PROBITY_LISTED_NAMED, 0, 0, 0, "" name, __FILE__, __func__, "");              \
        PROBITY_X_HIT(PROBITY_USDT_WITH("" mark, probity_correlation, probity_object),             \
                      probity_site_hit_with, &probity_site_here, role, flags, correlation,         \
                      object);                                                                     \
    } while (0)
/* mark: a marker for other tracers (probity_usdt.h). */
#define PROBITY_X_MARK_NUMBERED(id)                                                                \
    PROBITY_USDT_NUMBERED_WITH(id, probity_correlation, probity_object)
#ifdef PROBITY_USDT
#define PROBITY_X_HIT(mark, hit, of, role, flags, correlation, object)                             \
    const uint64_t probity_correlation = PROBITY_ID_OF(correlation);                               \
    const uint64_t probity_object = PROBITY_ID_OF(object);                                         \
    mark;                                                                                          \
    hit(of, (flags) | PROBITY_CAST(uint32_t, role) << PROBITY_WITH_ROLE_SHIFT,                     \
        probity_correlation, probity_object)
#else
#define PROBITY_X_HIT(mark, hit, of, role, flags, correlation, object)                             \
    hit(of, (flags) | PROBITY_CAST(uint32_t, role) << PROBITY_WITH_ROLE_SHIFT,                     \
        PROBITY_ID_OF(correlation), PROBITY_ID_OF(object))
#endif
#endif

/* ---- Probes -------------------------------------------------------------------------------------
 */

/* Records a hit of probe number id, or of the site with this name, with a correlation id. */
#define PROBITY_PROBE_WITH(id, correlation)                                                        \
    PROBITY_X_NUMBERED(id, 0, PROBITY_WITH_CORRELATION, correlation, 0)
#define PROBITY_PROBE_NAMED_WITH(name, correlation)                                                \
    PROBITY_X_NAMED(name, name, 0, PROBITY_WITH_CORRELATION, correlation, 0)

/* Records a hit of probe number id in a role, for programs that number their probes. The
 * correlation id of a lock and the object id of a request are not used and may be 0. */
#define PROBITY_PROBE_ROLE(id, role, correlation, object)                                          \
    PROBITY_X_NUMBERED(id, role, PROBITY_WITH_CORRELATION | PROBITY_WITH_OBJECT, correlation,      \
                       object)

#define PROBITY_LOCK_WAIT(name, lock)                                                              \
    PROBITY_X_NAMED(name ":wait", name "__wait",                                                   \
                    PROBITY_ROLE_LOCK_WAIT, PROBITY_WITH_OBJECT, 0, lock)
#define PROBITY_LOCK_HOLD(name, lock)                                                              \
    PROBITY_X_NAMED(name ":hold", name "__hold",                                                   \
                    PROBITY_ROLE_LOCK_HOLD, PROBITY_WITH_OBJECT, 0, lock)
#define PROBITY_LOCK_RELEASE(name, lock)                                                           \
    PROBITY_X_NAMED(name ":release", name "__release",                                             \
                    PROBITY_ROLE_LOCK_RELEASE, PROBITY_WITH_OBJECT, 0, lock)

/* item: a correlation id, which pairs the get with its put. */
#define PROBITY_QUEUE_PUT(name, queue, item)                                                       \
    PROBITY_X_NAMED(name ":put", name "__put",                                                     \
                    PROBITY_ROLE_QUEUE_PUT,                                                        \
                    PROBITY_WITH_CORRELATION | PROBITY_WITH_OBJECT, item, queue)
#define PROBITY_QUEUE_GET(name, queue, item)                                                       \
    PROBITY_X_NAMED(name ":get", name "__get",                                                     \
                    PROBITY_ROLE_QUEUE_GET,                                                        \
                    PROBITY_WITH_CORRELATION | PROBITY_WITH_OBJECT, item, queue)

/* Begin and end may be in different threads. */
#define PROBITY_REQUEST_BEGIN(name, request)                                                       \
    PROBITY_X_NAMED(name ":begin", name "__begin",                                                 \
                    PROBITY_ROLE_REQUEST_BEGIN, PROBITY_WITH_CORRELATION, request, 0)
#define PROBITY_REQUEST_END(name, request)                                                         \
    PROBITY_X_NAMED(name ":end", name "__end",                                                     \
                    PROBITY_ROLE_REQUEST_END, PROBITY_WITH_CORRELATION, request, 0)

/* A message with this correlation id to another process or host, and its arrival there. Both sides
 * use the same name for messages of one kind and direction. The clocks of hosts are aligned with
 * these hits: record each message that is sent, before it can be received, and no message twice. */
#define PROBITY_SEND(name, request)                                                                \
    PROBITY_X_NAMED(name ":send", name "__send",                                                   \
                    PROBITY_ROLE_SEND, PROBITY_WITH_CORRELATION, request, 0)
#define PROBITY_RECEIVE(name, request)                                                             \
    PROBITY_X_NAMED(name ":receive", name "__receive",                                             \
                    PROBITY_ROLE_RECEIVE, PROBITY_WITH_CORRELATION, request, 0)

#endif /* PROBITY_REFUSED */

#endif
