/* SPDX-License-Identifier: MIT
 *
 * threads.c: replacements for functions that create, join and name threads. A new thread starts in
 * a function of this file, which records its beginning and end, and calls the program's function.
 */
#include <string.h>
#include <sys/mman.h>

#include "calls/locks.h"
#include "calls/scopes.h"

/* The function that a new thread must run: in one of a few places, or in a separate page if all of
 * these are taken by threads that have not begun yet. */
struct start {
    union {
        void *(*function)(void *argument);
        thrd_start_t of_c11;
    };
    void *argument;
    const void *place;
    uint32_t creator;
    uint32_t is_used;
};
enum { STARTS = 64, PAGE = 4096 };
static struct start starts[STARTS];

static struct start *take_start(void)
{
    for (int i = 0; i < STARTS; i++) {
        if (__atomic_exchange_n(&starts[i].is_used, 1, __ATOMIC_ACQUIRE) == 0)
            return &starts[i];
    }
    int saved = errno;
    void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = saved;
    return page != MAP_FAILED ? page : NULL;
}

static void give_start(struct start *start)
{
    int saved = errno;

    if (start >= starts && start < starts + STARTS)
        __atomic_store_n(&start->is_used, 0, __ATOMIC_RELEASE);
    else
        munmap(start, PAGE);
    errno = saved;
}

static int is_on(uint32_t family)
{
    return (__atomic_load_n(&probity_calls_shared.on, __ATOMIC_RELAXED) & family) != 0;
}

static const void *handle_of(pthread_t thread)
{
    return (const void *)(uintptr_t)thread;
}

static void record_begin(const struct start *start)
{
    if (is_on(PROBITY_CALLS_THREADS))
        probity_calls_hit_with(&probity_calls_sites[PROBITY_CALLS_THREAD].begin,
                               PROBITY_ROLE_THREAD_BEGIN, start->creator,
                               handle_of(pthread_self()), start->place);
}

/* Called when a thread ends by return, pthread_exit() or cancellation. */
static void record_end(void *context)
{
    const struct start *start = context;

    probity_calls_thread_ends();
    if (is_on(PROBITY_CALLS_THREADS))
        probity_calls_hit(&probity_calls_sites[PROBITY_CALLS_THREAD].end,
                          PROBITY_ROLE_THREAD_END, handle_of(pthread_self()), start->place);
}

static void *begin(void *context)
{
    struct start start = *(struct start *)context;
    void *result;

    give_start(context);
    record_begin(&start);
    pthread_cleanup_push(record_end, &start);
    result = start.function(start.argument);
    pthread_cleanup_pop(1);
    return result;
}

/* The start function of a thread created by thrd_create(). */
static int begin_c11(void *context)
{
    struct start start = *(struct start *)context;
    int result;

    give_start(context);
    record_begin(&start);
    pthread_cleanup_push(record_end, &start);
    result = start.of_c11(start.argument);
    pthread_cleanup_pop(1);
    return result;
}

static int create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *),
                  void *argument, const void *place)
{
    struct start *start = take_start();

    if (start == NULL)
        return probity_calls_next.pthread_create(thread, attributes, function, argument);
    start->function = function;
    start->argument = argument;
    start->place = place;
    start->creator = probity_calls_thread_id();
    int error = probity_calls_next.pthread_create(thread, attributes, begin, start);
    if (error != 0)
        give_start(start);
    return error;
}

#define SITE(type, name, parameters) PROBITY_CALLS_SITE("threads", type, name, parameters)

static void leave(struct probity_call *call, int error)
{
    if (error == 0)
        probity_call_leave(call, error);
    else
        probity_call_leave_error(call, error, error);
}

/* With locks=waits, a thread records its counts when it ends. */
SITE(int, pthread_create, (pthread_t *thread, const pthread_attr_t *attributes,
                           void *(*function)(void *argument), void *argument));
PROBITY_CALLS_WRAP(PROBITY_CALLS_THREADS | PROBITY_CALLS_WAITS, int, pthread_create,
                   (pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
                    void *(*function)(void *), void *restrict argument),
                   (thread, attributes, function, argument))
{
    const void *place = PROBITY_CALLS_PLACE;
    struct probity_call call;

    if (!probity_calls_are_of_program(place))
        return probity_calls_next.pthread_create(thread, attributes, function, argument);
    if (!is_on(PROBITY_CALLS_THREADS) || !probity_call_begin(&call, &site_pthread_create))
        return create(thread, attributes, function, argument, place);
    probity_call_enter(&call);
    int error = create(thread, attributes, function, argument, place);
    leave(&call, error);
    return error;
}

static int create_c11(thrd_t *thread, thrd_start_t function, void *argument, const void *place)
{
    struct start *start = take_start();

    if (start == NULL)
        return probity_calls_next.thrd_create(thread, function, argument);
    start->of_c11 = function;
    start->argument = argument;
    start->place = place;
    start->creator = probity_calls_thread_id();
    int result = probity_calls_next.thrd_create(thread, begin_c11, start);
    if (result != thrd_success)
        give_start(start);
    return result;
}

SITE(int, thrd_create, (thrd_t *thread, int (*function)(void *argument), void *argument));
PROBITY_CALLS_WRAP(PROBITY_CALLS_THREADS | PROBITY_CALLS_WAITS, int, thrd_create,
                   (thrd_t *thread, thrd_start_t function, void *argument),
                   (thread, function, argument))
{
    const void *place = PROBITY_CALLS_PLACE;
    struct probity_call call;

    if (!probity_calls_are_of_program(place))
        return probity_calls_next.thrd_create(thread, function, argument);
    if (!is_on(PROBITY_CALLS_THREADS) || !probity_call_begin(&call, &site_thrd_create))
        return create_c11(thread, function, argument, place);
    probity_call_enter(&call);
    int result = create_c11(thread, function, argument, place);
    probity_call_leave(&call, result);
    return result;
}

/* ---- Joining -----------------------------------------------------------------------------------
 */

struct join {
    pthread_t thread;
    const void *place;
};

static void join_waits(const struct join *join)
{
    probity_calls_hit_with(&probity_calls_sites[PROBITY_CALLS_JOIN].wait,
                           PROBITY_ROLE_CONDITION_WAIT, 0, handle_of(join->thread),
                           join->place);
}

static int joined(const struct join *join, int error)
{
    probity_calls_hit_with(&probity_calls_sites[PROBITY_CALLS_JOIN].woken, PROBITY_ROLE_WOKEN,
                           (uint32_t)error, handle_of(join->thread), join->place);
    return error;
}

static void cancelled(void *join)
{
    joined(join, ECANCELED);
}

#define JOIN(name, parameters, arguments)                                                          \
    PROBITY_CALLS_WRAP(PROBITY_CALLS_THREADS, int, name, parameters, arguments)                    \
    {                                                                                              \
        struct join join = {thread, PROBITY_CALLS_PLACE};                                          \
        int error;                                                                                 \
                                                                                                   \
        if (!probity_calls_record_locks(join.place))                                               \
            return probity_calls_next.name arguments;                                              \
        join_waits(&join);                                                                         \
        pthread_cleanup_push(cancelled, &join);                                                    \
        error = probity_calls_next.name arguments;                                                 \
        pthread_cleanup_pop(0);                                                                    \
        return joined(&join, error);                                                               \
    }

JOIN(pthread_join, (pthread_t thread, void **result), (thread, result))
JOIN(pthread_timedjoin_np, (pthread_t thread, void **result, const struct timespec *limit),
     (thread, result, limit))
JOIN(pthread_clockjoin_np,
     (pthread_t thread, void **result, clockid_t clock, const struct timespec *limit),
     (thread, result, clock, limit))

/* C11 has no error numbers for this. */
PROBITY_CALLS_WRAP(PROBITY_CALLS_THREADS, int, thrd_join, (thrd_t thread, int *result),
                   (thread, result))
{
    struct join join = {thread, PROBITY_CALLS_PLACE};
    int status;

    if (!probity_calls_record_locks(join.place))
        return probity_calls_next.thrd_join(thread, result);
    join_waits(&join);
    pthread_cleanup_push(cancelled, &join);
    status = probity_calls_next.thrd_join(thread, result);
    pthread_cleanup_pop(0);
    joined(&join, status == thrd_success ? 0 : EINVAL);
    return status;
}

/* ---- Names -------------------------------------------------------------------------------------
 */

/* The name of another thread is not recorded: records belong to the calling thread. */
PROBITY_CALLS_WRAP(PROBITY_CALLS_THREADS, int, pthread_setname_np,
                   (pthread_t thread, const char *name), (thread, name))
{
    const void *place = PROBITY_CALLS_PLACE;
    int error = probity_calls_next.pthread_setname_np(thread, name);

    if (error == 0 && pthread_equal(thread, pthread_self()) && probity_calls_record_locks(place))
        probity_thread_set_name(name);
    return error;
}
