/* SPDX-License-Identifier: MIT
 *
 * test_waits.c: waits of generated events with known holders, wakers and functions; if records are
 * missing, no thread is named.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/waits.h"
#include "probity.h"

#define START UINT64_C(1700000000000000000)

enum {
    WAIT = 1, HOLD = 2, BACK = 3, CONDITION = 8, WOKEN = 9, NOTIFY = 10, MADE = 11, GONE = 12,
    GIVEN_UP = 15, THREAD_END = 17
};

enum { TAKEN_MAX = 4096, HOLDERS_MAX = 8 };

/* A copy of a wait that was reported. */
struct taken {
    struct probity_wait wait;
    struct probity_wait_holder holders[HOLDERS_MAX];
    uint64_t object;
    char name[32];
};

struct test {
    struct probity_waits *waits;
    struct taken taken[TAKEN_MAX];
    size_t count;
};

static const struct probity_function function_f = {
    .number = 10, .name = "f", .recorded_file = "a.c"};
static const struct probity_function function_g = {
    .number = 12, .name = "g", .recorded_file = "a.c"};
static const struct probity_function function_read = {
    .number = 14, .name = "read", .recorded_file = "libc/io"};

static int take(void *context, const struct probity_wait *wait, const struct probity_event *event)
{
    struct test *test = context;
    struct taken *taken = &test->taken[test->count++ % TAKEN_MAX];

    (void)event;
    taken->wait = *wait;
    for (size_t i = 0; i < wait->holder_count && i < HOLDERS_MAX; i++)
        taken->holders[i] = wait->holders[i];
    taken->object = wait->object != NULL ? wait->object->id : 0;
    strncpy(taken->name, wait->object != NULL ? wait->object->name : "", sizeof taken->name - 1);
    return 0;
}

static struct test *start(void)
{
    struct test *test = calloc(1, sizeof *test);

    assert_non_null(test);
    assert_int_equal(probity_waits_open(take, test, &test->waits), 0);
    return test;
}

static void stop(struct test *test)
{
    probity_waits_close(test->waits);
    free(test);
}

static struct probity_event event_of(uint32_t thread, uint64_t ns)
{
    return (struct probity_event){.kind = PROBITY_EVENT_HIT, .thread_slot = thread,
                                  .thread = thread, .tid = 100 + thread, .tick = 1000 + ns,
                                  .wall_ns = START + ns, .wall_known = 1, .cpu_ns = ns,
                                  .cpu_known = 1};
}

static void put(struct test *test, const struct probity_event *event)
{
    assert_int_equal(probity_waits_put(test->waits, event), 0);
}

static void hit_named(struct test *test, uint32_t thread, uint64_t ns, uint32_t role,
                      uint64_t object, const char *name, int64_t id)
{
    struct probity_event event = event_of(thread, ns);

    event.role = role;
    event.has_object = 1;
    event.object = object;
    event.is_site = 1;
    event.name = name;
    event.name_bytes = strlen(name);
    event.has_correlation = id >= 0;
    event.correlation = id >= 0 ? (uint64_t)id : 0;
    put(test, &event);
}

static void hit(struct test *test, uint32_t thread, uint64_t ns, uint32_t role, uint64_t object)
{
    hit_named(test, thread, ns, role, object, "cache:role", -1);
}

struct hit {
    uint32_t thread;
    uint64_t ns;
    uint32_t role;
    uint64_t object;
};

static void hit_all(struct test *test, const struct hit *hits, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hit(test, hits[i].thread, hits[i].ns, hits[i].role, hits[i].object);
}

/* A list of {THREAD, NS, ROLE, OBJECT}. */
#define HITS(test, ...)                                                                            \
    hit_all(test, (const struct hit[]){__VA_ARGS__},                                               \
            sizeof((const struct hit[]){__VA_ARGS__}) / sizeof(struct hit))

static void call(struct test *test, uint32_t thread, uint64_t ns, uint32_t kind,
                 const struct probity_function *function, uint64_t cpu_ns)
{
    struct probity_event event = event_of(thread, ns);

    event.kind = kind;
    event.function = function;
    event.id = function->number;
    event.cpu_ns = cpu_ns;
    put(test, &event);
}

static void enter(struct test *test, uint32_t thread, uint64_t ns,
                  const struct probity_function *function)
{
    call(test, thread, ns, PROBITY_EVENT_ENTER, function, ns);
}

static void leave(struct test *test, uint32_t thread, uint64_t ns,
                  const struct probity_function *function)
{
    call(test, thread, ns, PROBITY_EVENT_LEAVE, function, ns);
}

static void lose(struct test *test, uint32_t thread, uint64_t ns)
{
    static const uint8_t payload[8] = {1};
    struct probity_event event = event_of(thread, ns);

    event.kind = PROBITY_EVENT_LOST;
    event.payload = payload;
    event.payload_bytes = sizeof payload;
    put(test, &event);
}

static void expect_holder(const struct taken *taken, size_t index, uint32_t slot, uint64_t from,
                          uint64_t to)
{
    assert_true(index < taken->wait.holder_count);
    assert_int_equal(taken->holders[index].thread_slot, slot);
    assert_int_equal(taken->holders[index].from_ns - START, from);
    assert_int_equal(taken->holders[index].to_ns - START, to);
}

/* Returns the main activity of a thread in a range. */
static const struct probity_function *doing(struct test *test, uint32_t thread, uint64_t from,
                                            uint64_t to)
{
    struct probity_past_stretch stretch;

    if (!probity_past_before(probity_waits_past(test->waits), thread, START + from, START + to,
                             &stretch))
        return NULL;
    return stretch.doing.function;
}

/* ---- Locks -------------------------------------------------------------------------------------
 */

static void the_holder_and_its_function_are_named(void **state)
{
    struct test *test = start();

    (void)state;
    enter(test, 1, 5, &function_f);
    hit(test, 1, 10, HOLD, 7);
    enter(test, 2, 20, &function_g);
    HITS(test, {2, 30, WAIT, 7}, {1, 90, BACK, 7}, {2, 100, HOLD, 7});
    assert_int_equal(test->count, 1);
    const struct taken *taken = &test->taken[0];
    assert_int_equal(taken->wait.kind, PROBITY_WAIT_LOCK);
    assert_int_equal(taken->wait.waited_ns, 70);
    assert_int_equal(taken->object, 7);
    assert_string_equal(taken->name, "cache");
    assert_ptr_equal(taken->wait.doing.function, &function_g);
    assert_int_equal(taken->wait.holder_count, 1);
    assert_int_equal(taken->wait.culprit, 0);
    expect_holder(taken, 0, 1, 30, 90);
    assert_ptr_equal(doing(test, 1, 30, 90), &function_f);
    stop(test);
}

static void hit_at(struct test *test, uint32_t thread, uint64_t ns, uint32_t role, uint64_t place)
{
    struct probity_event event = event_of(thread, ns);

    event.role = role;
    event.has_object = event.has_place = event.is_site = 1;
    event.object = 7;
    event.place = place;
    event.name = "cache";
    event.name_bytes = strlen(event.name);
    put(test, &event);
}

static void the_places_of_waiter_and_holder_are_known(void **state)
{
    struct test *test = start();

    (void)state;
    hit_at(test, 1, 10, HOLD, 0x11);
    hit_at(test, 2, 30, WAIT, 0x21);
    hit_at(test, 1, 90, BACK, 0x12);
    hit_at(test, 2, 100, HOLD, 0x22);
    const struct taken *taken = &test->taken[0];
    assert_int_equal(test->count, 1);
    assert_int_equal(taken->wait.place.address, 0x21);
    assert_int_equal(taken->wait.place.tick, 1030);
    expect_holder(taken, 0, 1, 30, 90);
    assert_int_equal(taken->holders[0].place.address, 0x11);
    stop(test);
}

/* One thread notifies from two places before the waiter is woken. */
static void the_place_of_a_waker_is_named_if_it_is_certain(void **state)
{
    struct test *test = start();

    (void)state;
    for (uint64_t other = 0; other < 2; other++) {
        uint64_t from = 1000 * other;
        hit_at(test, 2, from + 10, CONDITION, 0x21);
        hit_at(test, 3, from + 11, CONDITION, 0x31);
        struct probity_event notify = event_of(1, from + 20);
        notify.role = NOTIFY;
        notify.has_object = notify.has_place = notify.has_correlation = notify.is_site = 1;
        notify.object = 7;
        notify.correlation = 1;
        notify.place = 0x11;
        notify.name = "cache";
        notify.name_bytes = strlen(notify.name);
        put(test, &notify);
        notify.wall_ns += 10;
        notify.place += other;
        put(test, &notify);
        hit_at(test, 2, from + 40, WOKEN, 0x21);
        hit_at(test, 3, from + 50, WOKEN, 0x31);
    }
    assert_int_equal(test->count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(test->taken[i].wait.waker_slot, 1);
    assert_int_equal(test->taken[0].wait.waker_place.address, 0x11);
    assert_int_equal(test->taken[1].wait.waker_place.address, 0x11);
    assert_int_equal(test->taken[2].wait.waker_place.address, 0);
    stop(test);
}

/* Two threads take the lock before the waiter does; the last one is the culprit. */
static void all_holders_have_their_parts(void **state)
{
    struct test *test = start();

    (void)state;
    HITS(test, {1, 10, HOLD, 7}, {2, 20, WAIT, 7}, {1, 40, BACK, 7}, {3, 50, HOLD, 7},
         {3, 80, BACK, 7}, {2, 90, HOLD, 7});
    assert_int_equal(test->taken[0].wait.holder_count, 2);
    expect_holder(&test->taken[0], 0, 1, 20, 40);
    expect_holder(&test->taken[0], 1, 3, 50, 80);
    assert_int_equal(test->taken[0].wait.culprit, 1);
    stop(test);
}

/* The record of the hold may follow the wait that the hold causes; the lock itself showed its
 * holder.
 */
static void a_hold_may_be_recorded_after_the_wait(void **state)
{
    struct test *test = start();

    (void)state;
    hit_named(test, 1, 1, HOLD, 8, "mutex:hold", -1);
    hit_named(test, 2, 20, WAIT, 7, "mutex:wait", 101);
    hit_named(test, 1, 25, HOLD, 7, "mutex:hold", -1);
    hit_named(test, 1, 80, BACK, 7, "mutex:release", -1);
    hit_named(test, 2, 90, HOLD, 7, "mutex:hold", -1);
    expect_holder(&test->taken[0], 0, 1, 20, 80);
    stop(test);
}

static void recursive_locks_are_held_to_their_last_release(void **state)
{
    struct test *test = start();

    (void)state;
    HITS(test, {1, 10, HOLD, 7}, {1, 11, HOLD, 7}, {2, 20, WAIT, 7}, {1, 40, BACK, 7},
         {1, 60, BACK, 7}, {2, 70, HOLD, 7});
    assert_int_equal(test->taken[0].wait.holder_count, 1);
    expect_holder(&test->taken[0], 0, 1, 20, 60);
    stop(test);
}

static void readers_do_not_hold_up_readers(void **state)
{
    struct test *test = start();

    (void)state;
    hit_named(test, 1, 10, HOLD, 7, "rwlock-read:hold", -1);
    hit_named(test, 2, 11, HOLD, 7, "rwlock-read:hold", -1);
    hit_named(test, 3, 20, WAIT, 7, "rwlock-write:wait", 0);
    hit_named(test, 1, 30, BACK, 7, "rwlock-read:release", -1);
    hit_named(test, 2, 40, BACK, 7, "rwlock-read:release", -1);
    hit_named(test, 3, 50, HOLD, 7, "rwlock-write:hold", -1);
    assert_int_equal(test->taken[0].wait.holder_count, 2);
    expect_holder(&test->taken[0], 0, 1, 20, 30);
    expect_holder(&test->taken[0], 1, 2, 20, 40);
    hit_named(test, 1, 60, WAIT, 7, "rwlock-read:wait", 0);
    hit_named(test, 2, 65, WAIT, 7, "rwlock-read:wait", 0);
    hit_named(test, 3, 70, BACK, 7, "rwlock-write:release", -1);
    hit_named(test, 1, 80, HOLD, 7, "rwlock-read:hold", -1);
    hit_named(test, 1, 85, BACK, 7, "rwlock-read:release", -1);
    hit_named(test, 2, 90, HOLD, 7, "rwlock-read:hold", -1);
    assert_int_equal(test->count, 3);
    for (size_t i = 1; i < 3; i++) {
        assert_int_equal(test->taken[i].wait.holder_count, 1);
        assert_int_equal(test->taken[i].holders[0].thread_slot, 3);
    }
    stop(test);
}

/* After a timeout, the holder still has the lock. */
static void a_wait_may_be_given_up(void **state)
{
    struct test *test = start();

    (void)state;
    HITS(test, {1, 10, HOLD, 7}, {2, 20, WAIT, 7});
    hit_named(test, 2, 50, GIVEN_UP, 7, "cache:given-up", 110);
    assert_int_equal(test->taken[0].wait.error, 110);
    assert_int_equal(test->taken[0].wait.culprit, -1);
    expect_holder(&test->taken[0], 0, 1, 20, 50);
    assert_false(test->taken[0].holders[0].has_released);
    stop(test);
}

static void what_still_waits_at_the_end_is_open(void **state)
{
    struct test *test = start();

    (void)state;
    HITS(test, {1, 10, HOLD, 7}, {2, 12, HOLD, 8}, {2, 20, WAIT, 7}, {1, 30, WAIT, 8});
    hit(test, 3, 100, 0, 0);
    assert_int_equal(probity_waits_finish(test->waits), 0);
    assert_int_equal(test->count, 2);
    assert_true(test->taken[0].wait.is_open);
    expect_holder(&test->taken[0], 0, 2, 30, 100);
    expect_holder(&test->taken[1], 0, 1, 20, 100);
    stop(test);
}

/* ---- Wakers ------------------------------------------------------------------------------------
 */

static void the_thread_that_notifies_is_the_waker(void **state)
{
    struct test *test = start();

    (void)state;
    hit_named(test, 2, 10, CONDITION, 9, "condition:wait", 7);
    enter(test, 1, 20, &function_f);
    hit_named(test, 1, 50, NOTIFY, 9, "condition:notify", 1);
    leave(test, 1, 55, &function_f);
    hit_named(test, 2, 60, WOKEN, 9, "condition:woken", 0);
    assert_int_equal(test->count, 1);
    assert_int_equal(test->taken[0].wait.kind, PROBITY_WAIT_CONDITION);
    assert_int_equal(test->taken[0].wait.mutex, 7);
    assert_int_equal(test->taken[0].wait.waker_slot, 1);
    assert_int_equal(test->taken[0].wait.waker_ns - START, 50);
    assert_ptr_equal(test->taken[0].wait.waker_doing.function, &function_f);
    stop(test);
}

/* Two threads wake one waiter each: which one woke which is unknown. */
static void an_ambiguous_waker_is_not_named(void **state)
{
    struct test *test = start();

    (void)state;
    for (uint32_t thread = 3; thread < 5; thread++)
        hit_named(test, thread, 10, CONDITION, 9, "condition:wait", 7);
    hit_named(test, 1, 20, NOTIFY, 9, "condition:notify", 1);
    hit_named(test, 2, 21, NOTIFY, 9, "condition:notify", 1);
    hit_named(test, 3, 30, WOKEN, 9, "condition:woken", 0);
    assert_int_equal(test->taken[0].wait.waker_slot, PROBITY_WAITS_NO_THREAD);
    assert_int_equal(probity_waits_facts(test->waits).ambiguous, 1);
    /* The other waiter has no waker, either. */
    hit_named(test, 4, 40, WOKEN, 9, "condition:woken", 0);
    assert_int_equal(test->taken[1].wait.waker_slot, PROBITY_WAITS_NO_THREAD);
    assert_int_equal(probity_waits_facts(test->waits).ambiguous, 2);
    stop(test);
}

/* Without states from the kernel, no slot is its waker's, not even the first one. */
static void the_first_thread_may_be_ambiguous_too(void **state)
{
    struct test *test = start();

    (void)state;
    for (uint32_t thread = 3; thread < 5; thread++)
        hit_named(test, thread, 10, CONDITION, 9, "condition:wait", 7);
    hit_named(test, 1, 20, NOTIFY, 9, "condition:notify", 1);
    hit_named(test, 0, 21, NOTIFY, 9, "condition:notify", -1);
    hit_named(test, 3, 30, WOKEN, 9, "condition:woken", 0);
    assert_int_equal(test->taken[0].wait.waker_slot, PROBITY_WAITS_NO_THREAD);
    assert_int_equal(probity_waits_facts(test->waits).ambiguous, 1);
    stop(test);
}

/* A thread's state from the scheduler. waker: thread, or 0. */
static void state_of(struct test *test, uint32_t thread, uint64_t ns, uint32_t state,
                     uint32_t waker)
{
    uint8_t payload[PROBITY_STATE_EVENT_BYTES];
    const struct probity_state_event content = {state, 0, waker > 0 ? 100 + waker : 0};
    struct probity_event event = event_of(thread, ns);

    probity_state_event_put(payload, &content);
    event.kind = PROBITY_EVENT_THREAD_STATE;
    event.payload = payload;
    event.payload_bytes = sizeof payload;
    put(test, &event);
}

static void the_kernel_says_which_notify_it_was(void **state)
{
    struct test *test = start();

    (void)state;
    for (uint32_t thread = 3; thread < 5; thread++) {
        hit_named(test, thread, 10, CONDITION, 9, "condition:wait", 7);
        state_of(test, thread, 12, PROBITY_STATE_BLOCKED, 0);
    }
    enter(test, 2, 15, &function_g);
    hit_named(test, 1, 20, NOTIFY, 9, "condition:notify", 1);
    hit_named(test, 2, 21, NOTIFY, 9, "condition:notify", 1);
    state_of(test, 3, 22, PROBITY_STATE_RUNNABLE, 2);
    state_of(test, 4, 23, PROBITY_STATE_RUNNABLE, 1);
    /* The condition's mutex is released later. */
    state_of(test, 3, 24, PROBITY_STATE_BLOCKED, 0);
    state_of(test, 3, 26, PROBITY_STATE_RUNNABLE, 4);
    hit_named(test, 3, 30, WOKEN, 9, "condition:woken", 0);
    hit_named(test, 4, 40, WOKEN, 9, "condition:woken", 0);
    assert_int_equal(test->taken[0].wait.waker_slot, 2);
    assert_int_equal(test->taken[0].wait.waker_ns - START, 22);
    assert_ptr_equal(test->taken[0].wait.waker_doing.function, &function_g);
    assert_int_equal(test->taken[1].wait.waker_slot, 1);
    assert_int_equal(probity_waits_facts(test->waits).ambiguous, 0);
    stop(test);
}

static void the_kernel_says_who_ended_other_waits(void **state)
{
    static const struct {
        uint32_t from, waker, said;
    } cases[] = {{PROBITY_STATE_BLOCKED, 2, 2},                        /* by a thread */
                 {PROBITY_STATE_BLOCKED, 0, PROBITY_WAITS_NO_THREAD},  /* by a timer */
                 {PROBITY_STATE_BLOCKED, 9, PROBITY_WAITS_NO_THREAD},  /* of another process */
                 {PROBITY_STATE_RUNNING, 0, PROBITY_WAITS_NO_THREAD}}; /* preempted */

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct test *test = start();
        enter(test, 2, 5, &function_g);
        state_of(test, 1, 6, PROBITY_STATE_RUNNING, 0);
        enter(test, 1, 10, &function_read);
        state_of(test, 1, 20, cases[i].from, 0);
        state_of(test, 1, 200, PROBITY_STATE_RUNNABLE, cases[i].waker);
        state_of(test, 1, 210, PROBITY_STATE_RUNNING, 0);
        call(test, 1, 220, PROBITY_EVENT_LEAVE, &function_read, 30);
        assert_int_equal(test->count, 1);
        assert_int_equal(test->taken[0].wait.waker_slot, cases[i].said);
        if (cases[i].said == 2)
            assert_ptr_equal(test->taken[0].wait.waker_doing.function, &function_g);
        /* Not during this call. */
        enter(test, 1, 300, &function_read);
        call(test, 1, 900, PROBITY_EVENT_LEAVE, &function_read, 40);
        assert_int_equal(test->taken[1].wait.waker_slot, PROBITY_WAITS_NO_THREAD);
        stop(test);
    }
}

static void a_notify_is_for_those_who_wait_already(void **state)
{
    struct test *test = start();

    (void)state;
    hit_named(test, 1, 5, NOTIFY, 9, "condition:notify", UINT32_MAX);
    hit_named(test, 3, 10, CONDITION, 9, "condition:wait", 7);
    hit_named(test, 4, 11, CONDITION, 9, "condition:wait", 7);
    hit_named(test, 1, 20, NOTIFY, 9, "condition:notify", UINT32_MAX);
    hit_named(test, 3, 25, WOKEN, 9, "condition:woken", 0);
    hit_named(test, 3, 26, CONDITION, 9, "condition:wait", 7);
    hit_named(test, 2, 30, NOTIFY, 9, "condition:notify", UINT32_MAX);
    hit_named(test, 4, 35, WOKEN, 9, "condition:woken", 0);
    hit_named(test, 3, 36, WOKEN, 9, "condition:woken", 0);
    assert_int_equal(test->count, 3);
    assert_int_equal(test->taken[0].wait.waker_slot, 1);
    assert_int_equal(test->taken[1].wait.waker_slot, 1); /* thread 4 was slow */
    assert_int_equal(test->taken[2].wait.waker_slot, 2);
    stop(test);
}

static void a_time_limit_wakes_by_itself(void **state)
{
    struct test *test = start();

    (void)state;
    hit_named(test, 3, 10, CONDITION, 9, "condition:wait", 7);
    hit_named(test, 1, 20, NOTIFY, 9, "condition:notify", 1);
    hit_named(test, 3, 30, WOKEN, 9, "condition:woken", 110);
    assert_int_equal(test->taken[0].wait.waker_slot, PROBITY_WAITS_NO_THREAD);
    assert_int_equal(test->taken[0].wait.error, 110);
    stop(test);
}

static void who_posts_a_semaphore_wakes(void **state)
{
    struct test *test = start();

    (void)state;
    hit_named(test, 2, 5, HOLD, 9, "semaphore:hold", -1);
    hit_named(test, 3, 10, WAIT, 9, "semaphore:wait", 0);
    hit_named(test, 1, 40, BACK, 9, "semaphore:release", -1);
    hit_named(test, 3, 50, HOLD, 9, "semaphore:hold", -1);
    assert_int_equal(test->taken[0].wait.kind, PROBITY_WAIT_SEMAPHORE);
    assert_int_equal(test->taken[0].wait.waker_slot, 1);
    assert_int_equal(test->taken[0].wait.holder_count, 0);
    hit_named(test, 1, 60, WAIT, 9, "semaphore:wait", 0);
    hit_named(test, 3, 90, BACK, 9, "semaphore:release", -1);
    hit_named(test, 1, 95, HOLD, 9, "semaphore:hold", -1);
    assert_int_equal(test->taken[1].wait.waker_slot, 3);
    expect_holder(&test->taken[1], 0, 3, 60, 90);
    assert_int_equal(probity_waits_facts(test->waits).orphans, 0);
    stop(test);
}

static void the_end_of_a_thread_wakes_who_joins_it(void **state)
{
    struct test *test = start();

    (void)state;
    hit_named(test, 1, 10, CONDITION, 55, "join:wait", -1);
    hit_named(test, 2, 40, THREAD_END, 55, "thread:end", 0);
    hit_named(test, 1, 50, WOKEN, 55, "join:woken", 0);
    assert_int_equal(test->taken[0].wait.waker_slot, 2);
    stop(test);
}

/* ---- Calls to the C library --------------------------------------------------------------------
 */

static void a_call_waits_while_it_is_off_the_cpu(void **state)
{
    struct test *test = start();

    (void)state;
    enter(test, 1, 10, &function_f);
    enter(test, 1, 20, &function_read);
    call(test, 1, 220, PROBITY_EVENT_LEAVE, &function_read, 50);
    enter(test, 1, 230, &function_read);
    call(test, 1, 240, PROBITY_EVENT_LEAVE, &function_read, 300);
    /* Rounding. */
    enter(test, 1, 310, &function_read);
    call(test, 1, 360, PROBITY_EVENT_LEAVE, &function_read, 359);
    assert_int_equal(test->count, 1);
    assert_int_equal(test->taken[0].wait.kind, PROBITY_WAIT_IO);
    assert_int_equal(test->taken[0].wait.waited_ns, 170);
    assert_ptr_equal(test->taken[0].wait.doing.function, &function_f);
    assert_ptr_equal(test->taken[0].wait.doing.call, &function_read);
    stop(test);
}

/* ---- Missing records ---------------------------------------------------------------------------
 */

/* A wait whose end is lost, and a holder that may have released the lock, are not reported. */
static void lost_records_name_nobody(void **state)
{
    struct test *test = start();

    (void)state;
    HITS(test, {1, 10, HOLD, 7}, {2, 20, WAIT, 7});
    lose(test, 2, 30);
    hit(test, 2, 90, HOLD, 7);
    assert_int_equal(test->count, 0);
    HITS(test, {2, 95, BACK, 7}, {1, 100, HOLD, 8});
    lose(test, 1, 110);
    HITS(test, {2, 120, WAIT, 8}, {1, 130, BACK, 8}, {2, 140, HOLD, 8});
    assert_int_equal(test->count, 1);
    expect_holder(&test->taken[0], 0, 1, 130, 130); /* it released the lock; since when it held it
                                                     * is unknown */
    assert_int_equal(probity_waits_facts(test->waits).lost, 1);
    assert_int_equal(probity_waits_facts(test->waits).orphans, 1);
    stop(test);
}

/* Thread 1 still "holds" the lock: its release was lost without notice. */
static void a_stale_hold_is_not_a_holder(void **state)
{
    struct test *test = start();

    (void)state;
    HITS(test, {1, 10, HOLD, 7}, {3, 20, HOLD, 7}, {2, 30, WAIT, 7}, {3, 40, BACK, 7},
         {2, 50, HOLD, 7});
    assert_int_equal(test->taken[0].wait.holder_count, 1);
    expect_holder(&test->taken[0], 0, 3, 30, 40);
    HITS(test, {2, 60, BACK, 7}, {1, 70, HOLD, 7}, {2, 80, WAIT, 7}, {1, 90, BACK, 7},
         {2, 95, HOLD, 7});
    expect_holder(&test->taken[1], 0, 1, 80, 90);
    stop(test);
}

/* The waiter takes another lock, or returns from the function in which it waited. */
static void a_wait_without_an_end_is_given_up(void **state)
{
    struct test *test = start();

    (void)state;
    HITS(test, {1, 10, HOLD, 7}, {2, 20, WAIT, 7}, {2, 50, HOLD, 8}, {2, 60, HOLD, 7});
    enter(test, 3, 70, &function_f);
    hit(test, 3, 71, WAIT, 9);
    leave(test, 3, 80, &function_f);
    hit(test, 3, 90, HOLD, 9);
    assert_int_equal(test->count, 0);
    assert_int_equal(probity_waits_facts(test->waits).lost, 2);
    stop(test);
}

/* A wait for a free lock has no culprit; a failed attempt has one. */
static void a_free_lock_has_no_culprit(void **state)
{
    struct test *test = start();

    (void)state;
    HITS(test, {1, 10, HOLD, 7}, {1, 20, BACK, 7}, {2, 30, WAIT, 7}, {2, 31, HOLD, 7});
    assert_int_equal(test->taken[0].wait.holder_count, 0);
    assert_int_equal(test->taken[0].wait.culprit, -1);
    hit(test, 2, 40, BACK, 7);
    hit_named(test, 1, 41, WAIT, 7, "rwlock-write:wait", 0);
    hit_named(test, 1, 45, HOLD, 7, "rwlock-write:hold", -1);
    assert_int_equal(test->taken[1].wait.culprit, 0);
    assert_int_equal(test->taken[1].holders[0].thread_slot, 2);
    stop(test);
}

static void an_address_is_used_again(void **state)
{
    struct test *test = start();

    (void)state;
    HITS(test, {1, 10, HOLD, 7}, {3, 15, GONE, 7}, {3, 16, MADE, 7}, {2, 20, WAIT, 7});
    hit_named(test, 2, 50, GIVEN_UP, 7, "cache:given-up", 110);
    assert_int_equal(test->taken[0].wait.holder_count, 0);
    stop(test);
}

/* ---- Bounds ------------------------------------------------------------------------------------
 */

static void millions_of_locks_take_bounded_memory(void **state)
{
    struct test *test = start();

    (void)state;
    HITS(test, {1, 1, HOLD, 1}, {2, 2, WAIT, 1});
    for (uint64_t i = 0; i < 2 * PROBITY_WAITS_OBJECTS_MAX; i++)
        hit(test, 3, 10 + i, HOLD, 100 + i);
    assert_true(probity_waits_facts(test->waits).objects_forgotten >= PROBITY_WAITS_OBJECTS_MAX);
    /* Objects with waiters are not evicted. */
    HITS(test, {1, 10000000, BACK, 1}, {2, 10000001, HOLD, 1});
    assert_int_equal(test->count, 1);
    expect_holder(&test->taken[0], 0, 1, 2, 10000000);
    stop(test);
}

/* A starved waiter waits for more handovers than are kept: the earlier ones are reported as
 * missing. */
static void a_starved_waiter_keeps_its_latest_holders(void **state)
{
    struct test *test = start();

    (void)state;
    hit(test, 2, 1, WAIT, 7);
    for (uint64_t i = 0; i < PROBITY_WAITS_HOLDS_MAX + 5; i++) {
        hit(test, 1, 10 * i + 10, HOLD, 7);
        hit(test, 1, 10 * i + 15, BACK, 7);
    }
    hit(test, 2, 1000000, HOLD, 7);
    assert_int_equal(test->taken[0].wait.holder_count, PROBITY_WAITS_HOLDS_MAX);
    assert_true(test->taken[0].wait.is_holder_forgotten);
    assert_int_equal(probity_waits_facts(test->waits).holds_forgotten, 5);
    stop(test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_holder_and_its_function_are_named),
        cmocka_unit_test(the_places_of_waiter_and_holder_are_known),
        cmocka_unit_test(the_place_of_a_waker_is_named_if_it_is_certain),
        cmocka_unit_test(all_holders_have_their_parts),
        cmocka_unit_test(a_hold_may_be_recorded_after_the_wait),
        cmocka_unit_test(recursive_locks_are_held_to_their_last_release),
        cmocka_unit_test(readers_do_not_hold_up_readers),
        cmocka_unit_test(a_wait_may_be_given_up),
        cmocka_unit_test(what_still_waits_at_the_end_is_open),
        cmocka_unit_test(the_thread_that_notifies_is_the_waker),
        cmocka_unit_test(an_ambiguous_waker_is_not_named),
        cmocka_unit_test(the_first_thread_may_be_ambiguous_too),
        cmocka_unit_test(the_kernel_says_which_notify_it_was),
        cmocka_unit_test(the_kernel_says_who_ended_other_waits),
        cmocka_unit_test(a_notify_is_for_those_who_wait_already),
        cmocka_unit_test(a_time_limit_wakes_by_itself),
        cmocka_unit_test(who_posts_a_semaphore_wakes),
        cmocka_unit_test(the_end_of_a_thread_wakes_who_joins_it),
        cmocka_unit_test(a_call_waits_while_it_is_off_the_cpu),
        cmocka_unit_test(lost_records_name_nobody),
        cmocka_unit_test(a_stale_hold_is_not_a_holder),
        cmocka_unit_test(a_wait_without_an_end_is_given_up),
        cmocka_unit_test(a_free_lock_has_no_culprit),
        cmocka_unit_test(an_address_is_used_again),
        cmocka_unit_test(millions_of_locks_take_bounded_memory),
        cmocka_unit_test(a_starved_waiter_keeps_its_latest_holders),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
