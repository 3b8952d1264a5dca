/* SPDX-License-Identifier: MIT
 *
 * test_waits_state.c: an analysis that resumes from a saved state reports the same waits as one of
 * all events; a damaged state is an error and has no effect. The same for descriptors.
 * link-flags: -Wl,--wrap=probity_reader_traces -Wl,--wrap=probity_reader_waits_index
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/waits.h"
#include "analysis/waits_state.h"
#include "answers/waits/descriptors_internal.h"
#include "base/bytes.h"
#include "probity.h"
#include "probity_typed.h"
#include "reader/index.h"
#include "reader/reader.h"

#define START UINT64_C(1700000000000000000)

enum { THREADS = 6, OBJECTS = 4, EVENTS = 3000, ROUNDS = 60, DAMAGES = 400, TAKEN_MAX = 3000 };

struct taken {
    uint32_t slot, waker_slot, culprit_slot;
    uint64_t from_ns, to_ns, waker_ns, object, holders, place;
    int error, is_forgotten;
    const struct probity_function *waker_function;
};

struct list {
    struct taken items[TAKEN_MAX];
    size_t count;
    uint64_t after_ns;
};

static const struct probity_function functions[] = {
    {.number = 10, .name = "f", .recorded_file = "a.c"},
    {.number = 12, .name = "g", .recorded_file = "a.c"}};

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static int take(void *context, const struct probity_wait *wait, const struct probity_event *event)
{
    struct list *list = context;
    struct taken taken;

    (void)event;
    /* Waits from before the state are not compared: their holders depend on earlier records. */
    int is_before = wait->from_ns <= list->after_ns;
    if (is_before && (wait->to_ns <= list->after_ns || wait->kind != PROBITY_WAIT_CONDITION))
        return 0;
    memset(&taken, 0, sizeof taken); /* compared with its padding */
    taken.slot = wait->thread_slot;
    taken.waker_slot = wait->waker_slot;
    taken.culprit_slot = wait->culprit < 0 ? 0 : wait->holders[wait->culprit].thread_slot;
    taken.from_ns = wait->from_ns;
    taken.to_ns = wait->to_ns;
    taken.waker_ns = wait->waker_ns;
    taken.object = wait->object->id + (wait->object->place << 8) + strlen(wait->object->name);
    for (size_t i = 0; i < wait->holder_count; i++)
        taken.holders = 31 * taken.holders + wait->holders[i].from_ns + wait->holders[i].to_ns +
                        wait->holders[i].place.address;
    taken.place = wait->waker_place.address;
    taken.error = wait->error;
    taken.is_forgotten = wait->is_holder_forgotten;
    taken.waker_function = wait->waker_doing.function;
    assert_true(list->count < TAKEN_MAX);
    list->items[list->count++] = taken;
    return 0;
}

/* Any sequence of roles: inconsistent ones must be treated the same, too. */
static void make_events(uint64_t seed, struct probity_event *events)
{
    static const char *const names[OBJECTS] = {"a:b:hold", "semaphore:hold", "rwlock-read:hold",
                                               "condition:wait"};
    static const uint32_t locks[] = {1, 2, 2, 3, 3, 1, 15}, conditions[] = {8, 8, 9, 10, 10};
    static uint8_t states[EVENTS][PROBITY_STATE_EVENT_BYTES];
    uint64_t random = seed, ns = 0;

    for (size_t i = 0; i < EVENTS; i++) {
        uint32_t thread = i < THREADS ? (uint32_t)i : (uint32_t)(next_random(&random) % THREADS);
        uint64_t object = next_random(&random) % OBJECTS, way = next_random(&random) % 100;
        ns += next_random(&random) % 3;
        events[i] = (struct probity_event){
            .kind = PROBITY_EVENT_HIT, .thread_slot = thread, .thread = thread, .tid = 100 + thread,
            .tick = 1000 + ns, .wall_ns = START + ns, .cpu_ns = ns, .cpu_known = 1, .is_site = 1,
            .has_object = 1, .object = 1 + object, .name = names[object],
            .name_bytes = strlen(names[object]), .has_place = 1,
            .place = 1 + next_random(&random) % 3,
            .correlation = next_random(&random) % 3};
        events[i].role = object == 3 ? conditions[way % 5] : locks[way % 7];
        events[i].has_correlation = events[i].role >= 8 && (way & 1);
        if (way >= 80 && way < 95 && i >= THREADS) {
            states[i][0] = (uint8_t)(way % (PROBITY_STATE_ENDED + 1));
            states[i][4] = (uint8_t)(way % 3 != 0 ? 100 + object : 0); /* the waker */
            events[i].kind = PROBITY_EVENT_THREAD_STATE;
            events[i].payload = states[i];
            events[i].payload_bytes = sizeof states[i];
            events[i].role = 0;
        }
        if (way >= 97) {
            events[i].kind = way == 97 ? PROBITY_EVENT_LOST : way == 98 ? PROBITY_EVENT_ENTER
                                                                       : PROBITY_EVENT_LEAVE;
            events[i].function = way == 97 ? NULL : &functions[object % 2];
            events[i].role = 0;
        }
    }
}

static void put(struct probity_waits *waits, const struct probity_event *event)
{
    assert_int_equal(probity_waits_put(waits, event), 0);
}

/* Open scopes at a mark, and what identifies each thread. */
static void put_mark(struct probity_waits *waits, const struct probity_waits *whole, uint64_t tick,
                     uint64_t ns)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        put(waits, &(struct probity_event){.kind = PROBITY_EVENT_FUNCTION, .tick = 1,
                                           .wall_ns = START, .tid = 100,
                                           .function = &functions[i]});
    }
    for (uint32_t slot = 0; slot < THREADS; slot++) {
        struct probity_event event = {.kind = PROBITY_EVENT_ENTER, .thread_slot = slot,
                                      .thread = slot, .tid = 100 + slot, .tick = tick,
                                      .wall_ns = ns, .cpu_known = 1};
        const struct probity_scopes *scopes = probity_waits_scopes(whole);
        for (uint32_t depth = 0; depth < probity_scopes_depth(scopes, slot); depth++) {
            event.function = probity_scopes_at(scopes, slot, depth)->function;
            put(waits, &event);
        }
        event.kind = PROBITY_EVENT_THREAD_NAME;
        event.function = NULL;
        put(waits, &event);
    }
}

static void a_resumed_analysis_reports_the_same(void **state)
{
    struct probity_event *events = calloc(EVENTS, sizeof *events);
    struct list *lists = calloc(2, sizeof *lists);
    size_t waits_in_all = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        struct probity_waits *whole, *part;
        struct probity_waits_state saved = {.bytes = NULL};
        uint8_t *bytes = NULL;
        uint64_t random = seed;
        size_t at = THREADS + next_random(&random) % (EVENTS - THREADS);
        make_events(seed, events);
        lists[0].count = lists[1].count = 0;
        while (at + 1 < EVENTS && events[at].kind == PROBITY_EVENT_THREAD_STATE)
            at++;
        lists[0].after_ns = lists[1].after_ns = events[at].wall_ns;
        while (at + 1 < EVENTS && events[at + 1].tick == events[at].tick)
            at++;
        assert_int_equal(probity_waits_open(take, &lists[0], &whole), 0);
        assert_int_equal(probity_waits_open(take, &lists[1], &part), 0);
        for (size_t i = 0; i <= at; i++)
            put(whole, &events[i]);
        saved.tick = events[at].tick;
        saved.now_ns = probity_waits_now(whole);
        assert_int_equal(probity_waits_save(whole, saved.tick, &bytes, &saved.byte_count), 1);
        saved.bytes = bytes;
        saved.has_wakes = 1;
        assert_int_equal(probity_waits_resume(part, &saved), 0);
        put_mark(part, whole, saved.tick, saved.now_ns);
        for (size_t i = at + 1; i < EVENTS; i++) {
            put(whole, &events[i]);
            put(part, &events[i]);
        }
        assert_int_equal(probity_waits_finish(whole), 0);
        assert_int_equal(probity_waits_finish(part), 0);
        assert_int_equal(lists[0].count, lists[1].count);
        assert_memory_equal(lists[0].items, lists[1].items,
                            lists[0].count * sizeof *lists[0].items);
        waits_in_all += lists[0].count;
        probity_waits_close(whole);
        probity_waits_close(part);
        free(bytes);
    }
    assert_true(waits_in_all > 1000);
    free(events);
    free(lists);
}

/* A thread waits for a condition. According to the kernel, another one wakes it before the
 * state. */
static void a_waking_before_the_state_is_kept(void **state)
{
    uint8_t runnable[PROBITY_STATE_EVENT_BYTES] = {PROBITY_STATE_RUNNABLE, 0, 0, 0, 101};
    struct probity_event hit = {.kind = PROBITY_EVENT_HIT, .tid = 100, .tick = 1000,
                                .wall_ns = START, .is_site = 1, .has_object = 1, .object = 1,
                                .name = "condition:wait", .name_bytes = 14,
                                .role = PROBITY_ROLE_CONDITION_WAIT};
    struct probity_event other = {.kind = PROBITY_EVENT_HIT, .tid = 101, .thread = 1,
                                  .thread_slot = 1, .tick = 1001, .wall_ns = START + 1};
    struct probity_event wake = {.kind = PROBITY_EVENT_THREAD_STATE, .tid = 100, .tick = 1002,
                                 .wall_ns = START + 2, .payload = runnable,
                                 .payload_bytes = sizeof runnable};
    struct probity_waits_state saved = {.tick = 1003, .now_ns = START + 3, .has_wakes = 1};
    struct list *list = calloc(1, sizeof *list);
    struct probity_waits *whole, *part;
    uint8_t *bytes;

    (void)state;
    assert_int_equal(probity_waits_open(take, list, &whole), 0);
    assert_int_equal(probity_waits_open(take, list, &part), 0);
    put(whole, &hit);
    put(whole, &other);
    put(whole, &wake);
    other.tick = saved.tick;
    other.wall_ns = saved.now_ns;
    put(whole, &other);
    assert_int_equal(probity_waits_save(whole, saved.tick, &bytes, &saved.byte_count), 1);
    saved.bytes = bytes;
    assert_int_equal(probity_waits_resume(part, &saved), 0);
    put_mark(part, whole, saved.tick, saved.now_ns);
    hit.role = PROBITY_ROLE_WOKEN;
    hit.tick = 1004;
    hit.wall_ns = START + 4;
    put(part, &hit);
    assert_int_equal(list->count, 1);
    assert_int_equal(list->items[0].waker_slot, 1);
    assert_int_equal(list->items[0].waker_ns, START + 2);
    probity_waits_close(whole);
    probity_waits_close(part);
    free(bytes);
    free(list);
}

/* The saved state has no time for it; those after the next record have one. */
static void a_waking_after_the_latest_record_is_saved_later(void **state)
{
    uint8_t runnable[PROBITY_STATE_EVENT_BYTES] = {PROBITY_STATE_RUNNABLE, 0, 0, 0, 101};
    struct probity_event hit = {.kind = PROBITY_EVENT_HIT, .tid = 100, .tick = 1000,
                                .wall_ns = START};
    const struct probity_event wake = {.kind = PROBITY_EVENT_THREAD_STATE, .tid = 100,
                                       .tick = 1001, .wall_ns = START + 1, .payload = runnable,
                                       .payload_bytes = sizeof runnable};
    static struct list list = {.after_ns = UINT64_MAX};
    struct probity_waits *waits;
    uint8_t *bytes;
    size_t count;

    (void)state;
    assert_int_equal(probity_waits_open(take, &list, &waits), 0);
    put(waits, &hit);
    put(waits, &wake);
    assert_int_equal(probity_waits_save(waits, 1001, &bytes, &count), 1);
    assert_null(bytes);
    hit.tick = 1002;
    hit.wall_ns = START + 2;
    put(waits, &hit);
    assert_int_equal(probity_waits_save(waits, 1002, &bytes, &count), 1);
    assert_non_null(bytes);
    free(bytes);
    probity_waits_close(waits);
}

static void a_damaged_state_does_no_harm(void **state)
{
    struct probity_event *events = calloc(EVENTS, sizeof *events);
    struct list *list = calloc(1, sizeof *list);
    struct probity_waits *whole, *part;
    struct probity_waits_state saved = {.bytes = NULL};
    uint8_t *bytes = NULL;
    uint64_t random = 1;
    int damaged = 0;

    (void)state;
    list->after_ns = UINT64_MAX;
    make_events(1, events);
    assert_int_equal(probity_waits_open(take, list, &whole), 0);
    events[EVENTS / 2 - 1].kind = PROBITY_EVENT_HIT;
    for (size_t i = 0; i < EVENTS / 2; i++)
        put(whole, &events[i]);
    saved.tick = events[EVENTS / 2 - 1].tick;
    saved.now_ns = probity_waits_now(whole);
    assert_int_equal(probity_waits_save(whole, saved.tick, &bytes, &saved.byte_count), 1);
    size_t count = saved.byte_count;
    saved.has_wakes = 1;
    for (int i = 0; i < DAMAGES; i++) {
        uint8_t *copy = malloc(count);
        memcpy(copy, bytes, count);
        copy[24 + next_random(&random) % (count - 24)] ^=
            (uint8_t)(1U << next_random(&random) % 8);
        saved.bytes = copy;
        saved.byte_count = i % 2 == 0 ? count : 24 + next_random(&random) % (count - 24);
        assert_int_equal(probity_waits_open(take, list, &part), 0);
        assert_int_equal(probity_waits_resume(part, &saved), 0);
        put_mark(part, whole, saved.tick, saved.now_ns);
        int error = 0;
        for (size_t at = EVENTS / 2; error == 0 && at < EVENTS; at++)
            error = events[at].tick > saved.tick ? probity_waits_put(part, &events[at]) : 0;
        assert_true(error == 0 || error == PROBITY_ERROR_DAMAGED);
        damaged += error != 0;
        probity_waits_close(part);
        free(copy);
    }
    assert_true(damaged > DAMAGES / 2);
    probity_waits_close(whole);
    free(bytes);
    free(events);
    free(list);
}

/* ---- Descriptors -------------------------------------------------------------------------------
 */

static struct probity_index index_of_files;

size_t __wrap_probity_reader_traces(const struct probity_reader *reader);
const struct probity_index *__wrap_probity_reader_waits_index(const struct probity_reader *reader,
                                                              size_t trace);

size_t __wrap_probity_reader_traces(const struct probity_reader *reader)
{
    (void)reader;
    return 1;
}

const struct probity_index *__wrap_probity_reader_waits_index(const struct probity_reader *reader,
                                                              size_t trace)
{
    (void)reader;
    (void)trace;
    return &index_of_files;
}

/* Saves an open call with this descriptor, and takes it from the state. */
static void expect_name_of(int64_t fd, const char *expected)
{
    struct probity_event event = {.kind = PROBITY_EVENT_HIT, .tid = 100, .tick = 1000,
                                  .wall_ns = START};
    struct probity_waits_state saved = {.tick = 1000, .now_ns = START, .has_wakes = 1};
    struct probity_descriptors before = {.forgotten = 0}, after = {.forgotten = 0};
    struct probity_index_waits chosen = {.tick = 1000};
    struct probity_waits *whole, *part;
    static struct list list = {.after_ns = UINT64_MAX};
    uint8_t *bytes, *files;
    size_t count;

    assert_int_equal(probity_waits_open(take, &list, &whole), 0);
    assert_int_equal(probity_waits_open(take, &list, &part), 0);
    put(whole, &event);
    struct descriptor_call *call = descriptors_call_at(&before, 0);
    assert_non_null(call);
    call->function = &functions[0];
    call->fd = fd;
    assert_int_equal(probity_waits_save(whole, saved.tick, &bytes, &saved.byte_count), 1);
    assert_int_equal(probity_descriptors_save(&before, whole, saved.tick, &files, &count), 1);
    saved.bytes = bytes;
    chosen.files_bytes = (uint32_t)count;
    index_of_files = (struct probity_index){.chosen_waits = &chosen, .files_payload = files};
    assert_int_equal(probity_waits_resume(part, &saved), 0);
    assert_int_equal(
        probity_descriptors_resume(&after, (const struct probity_reader *)&index_of_files), 0);
    put_mark(part, whole, saved.tick, saved.now_ns);
    assert_int_equal(probity_descriptors_follow(&after, part, &event), 1);
    event.tick++;
    assert_int_equal(probity_descriptors_follow(&after, part, &event), 0);
    assert_string_equal(probity_descriptors_target(&after, 0, 0).name, expected);
    probity_descriptors_release(&before);
    probity_descriptors_release(&after);
    probity_waits_close(whole);
    probity_waits_close(part);
    free(bytes);
    free(files);
}

/* The recorded program may pass any number. */
static void any_descriptor_is_kept(void **state)
{
    (void)state;
    expect_name_of(-1, "");
    expect_name_of(INT64_MIN, "");
    expect_name_of(0, "descriptor 0");
    expect_name_of(INT32_MAX - 1, "descriptor 2147483646");
    expect_name_of(INT32_MAX, "descriptor 2147483647");
    expect_name_of(INT64_MAX, "descriptor 9223372036854775807");
}

/* An event of a call, with values of 4 bytes, or of 8 for a result. */
static void put_call(struct probity_descriptors *descriptors, uint32_t kind, uint32_t slot,
                     const char *name, const int64_t *numbers)
{
    static struct probity_format_value range[] = {{7, "fd"}, {7, "last"}};
    static struct probity_format_value result[] = {{9, "result"}};
    static const struct probity_format enter = {.count = 2, .values = range},
                                       leave = {.count = 1, .values = result};
    static const struct probity_function close_range_of = {.number = 20, .name = "close_range",
                                                           .recorded_file = "libc/io"},
                                         read_of = {.number = 22, .name = "read",
                                                    .recorded_file = "libc/io"};
    uint8_t values[8];
    struct probity_event event = {.kind = kind, .thread_slot = slot, .values = values,
                                  .value_bytes = sizeof values};

    event.function = strcmp(name, "read") == 0 ? &read_of : &close_range_of;
    event.format = kind == PROBITY_EVENT_LEAVE ? &leave : &enter;
    if (kind == PROBITY_EVENT_LEAVE) {
        probity_put_u64(values, (uint64_t)numbers[0]);
    } else {
        probity_put_u32(values, (uint32_t)numbers[0]);
        probity_put_u32(values + 4, (uint32_t)numbers[1]);
    }
    assert_int_equal(probity_descriptors_put(descriptors, &event), 0);
}

static void expect_target(struct probity_descriptors *descriptors, int fd, const char *expected)
{
    put_call(descriptors, PROBITY_EVENT_ENTER, 9, "read", (const int64_t[]){fd, -1});
    assert_string_equal(probity_descriptors_target(descriptors, 0, 9).name, expected);
}

static void give_name(struct probity_descriptors *descriptors, int fd, const char *name)
{
    assert_int_equal(descriptors_add(descriptors, descriptor_key(0, fd), PROBITY_DESCRIPTOR_FILE,
                                     name), 0);
}

/* Not if the call failed, and not what was opened during the call. */
static void a_range_is_closed_at_the_leave(void **state)
{
    struct probity_descriptors descriptors = {.added = 0};
    const int64_t range[] = {4, 6}, failed = -1, done = 0;

    (void)state;
    for (int fd = 3; fd <= 7; fd++)
        give_name(&descriptors, fd, "old");
    put_call(&descriptors, PROBITY_EVENT_ENTER, 0, "close_range", range);
    assert_string_equal(probity_descriptors_target(&descriptors, 0, 0).name, "");
    assert_true(probity_descriptors_are_closing(&descriptors));
    put_call(&descriptors, PROBITY_EVENT_LEAVE, 0, "close_range", &failed);
    assert_false(probity_descriptors_are_closing(&descriptors));
    for (int fd = 3; fd <= 7; fd++)
        expect_target(&descriptors, fd, "old");
    put_call(&descriptors, PROBITY_EVENT_ENTER, 0, "close_range", range);
    give_name(&descriptors, 5, "new"); /* another thread opens it before the leave */
    put_call(&descriptors, PROBITY_EVENT_LEAVE, 0, "close_range", &done);
    expect_target(&descriptors, 3, "old");
    expect_target(&descriptors, 4, "descriptor 4");
    expect_target(&descriptors, 5, "new");
    expect_target(&descriptors, 6, "descriptor 6");
    expect_target(&descriptors, 7, "old");
    probity_descriptors_release(&descriptors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_resumed_analysis_reports_the_same),
        cmocka_unit_test(a_waking_before_the_state_is_kept),
        cmocka_unit_test(a_waking_after_the_latest_record_is_saved_later),
        cmocka_unit_test(a_damaged_state_does_no_harm),
        cmocka_unit_test(any_descriptor_is_kept),
        cmocka_unit_test(a_range_is_closed_at_the_leave),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
