/* SPDX-License-Identifier: MIT
 *
 * test_scopes.c: how enters, leaves, pauses and repairs become scopes. A line is written for each
 * closed scope:
 *
 *     thread: name depth/recursion how elapsed-children-paused=self total
 *
 * in ns of wall time; the thread is on the CPU throughout, so CPU times must be the same.
 */
#include "test_scopes_make.h"

#include "analysis/scopes.h"

static struct make make;
static char lines[8192];
static struct probity_scopes_repairs repairs;

static void on_closed(void *context, const struct probity_scope *scope, enum probity_scope_end how,
                      uint32_t thread_slot, const struct probity_event *event)
{
    static const char *const ends[] = {"", "left", "unwound", "open"};
    struct probity_scope_time self = probity_scope_self(scope);
    size_t used = strlen(lines);
    char site[32];

    (void)context;
    assert_int_equal(event == NULL, how == PROBITY_SCOPE_OPEN);
    assert_int_equal(scope->elapsed.wall_ns, scope->elapsed.cpu_ns);
    assert_int_equal(scope->children.wall_ns, scope->children.cpu_ns);
    assert_int_equal(scope->paused.wall_ns, scope->paused.cpu_ns);
    assert_int_equal(scope->total.wall_ns, scope->total.cpu_ns);
    assert_int_equal(self.wall_ns, self.cpu_ns);
    snprintf(site, sizeof site, "site-%u", scope->number);
    snprintf(lines + used, sizeof lines - used, "%u: %s %u/%u %s %lu-%lu-%lu=%lu %lu%s\n",
             thread_slot, scope->function != NULL ? scope->function->name : site, scope->depth,
             scope->recursion, ends[how], (unsigned long)scope->elapsed.wall_ns,
             (unsigned long)scope->children.wall_ns, (unsigned long)scope->paused.wall_ns,
             (unsigned long)self.wall_ns, (unsigned long)scope->total.wall_ns,
             scope->is_untimed ? " untimed" : "");
}

/* Processes the trace. The results are in `lines` and `repairs`. */
static void run_made(const char *name)
{
    const struct probity_scopes_listener listener = {NULL, on_closed, NULL};
    const char *path = make.path;
    struct probity_reader *reader;
    struct probity_scopes *scopes;
    const struct probity_event *event;

    make_finish(&make, name);
    lines[0] = '\0';
    assert_int_equal(probity_scopes_open(&scopes), 0);
    assert_int_equal(probity_reader_open(&path, 1, NULL, NULL, &reader), 0);
    while (probity_reader_next(reader, &event) > 0)
        assert_int_equal(probity_scopes_put(scopes, event, &listener), 0);
    probity_scopes_finish(scopes, &listener);
    assert_null(probity_scopes_top(scopes, 0));
    repairs = *probity_scopes_repairs(scopes);
    probity_scopes_close(scopes);
    probity_reader_close(reader);
    unlink(make.path);
}

/* Functions a, b and c with sites 10, 20 and 30; d with 40 is deferred. */
static void start(void)
{
    make_start(&make);
    make_declare(&make, 1, 10, "a", 0);
    make_declare(&make, 1, 20, "b", 0);
    make_declare(&make, 1, 30, "c", 0);
    make_declare(&make, 1, 40, "d", 1);
}

static void run_items(const char *name, const struct make_item *items, size_t count)
{
    start();
    make_items(&make, 1, items, count);
    run_made(name);
}

#define RUN(name, ...) \
    run_items(name, (const struct make_item[]){__VA_ARGS__}, \
              COUNT(((const struct make_item[]){__VA_ARGS__})))
#define PAUSE(at) EVENT(at, PROBITY_EVENT_PAUSE, "", 0)
#define RESUME(at) EVENT(at, PROBITY_EVENT_RESUME, "", 0)

static void callees_are_taken_off(void **state)
{
    (void)state;
    RUN("callees", ENTER(100, 10), ENTER(200, 20), ENTER(220, 30), LEAVE(240, 30), LEAVE(300, 20),
        ENTER(400, 20), LEAVE(420, 20), LEAVE(1100, 10));
    assert_string_equal(lines, "0: c 2/0 left 10-0-0=10 10\n"
                               "0: b 1/0 left 50-10-0=40 50\n"
                               "0: b 1/0 left 10-0-0=10 10\n"
                               "0: a 0/0 left 500-60-0=440 500\n");
}

static void recursion_is_counted(void **state)
{
    (void)state;
    RUN("recursion", ENTER(100, 10), ENTER(200, 20), ENTER(300, 10), ENTER(400, 10), LEAVE(500, 10),
        LEAVE(600, 10), LEAVE(700, 20), LEAVE(800, 10));
    assert_string_equal(lines, "0: a 3/2 left 50-0-0=50 50\n"
                               "0: a 2/1 left 150-50-0=100 150\n"
                               "0: b 1/0 left 250-150-0=100 250\n"
                               "0: a 0/0 left 350-250-0=100 350\n");
}

static void what_longjmp_left_is_unwound(void **state)
{
    (void)state;
    RUN("longjmp", ENTER(100, 10), ENTER(200, 20), ENTER(300, 30), LEAVE(500, 10));
    assert_string_equal(lines, "0: c 2/0 unwound 0-0-0=0 0\n"
                               "0: b 1/0 unwound 50-0-0=50 50\n"
                               "0: a 0/0 left 200-50-0=150 200\n");
    assert_int_equal(repairs.unwound, 2);
}

static void unwound_events_close_so_many(void **state)
{
    (void)state;
    RUN("unwound", ENTER(100, 10), ENTER(200, 20), ENTER(300, 30),
        EVENT(400, PROBITY_EVENT_UNWOUND, "\2\0\0\0", 4), ENTER(420, 30), LEAVE(440, 30),
        EVENT(500, PROBITY_EVENT_UNWOUND, "\377\377\377\377", 4),
        EVENT(510, PROBITY_EVENT_UNWOUND, "\1\0\0", 3));
    assert_string_equal(lines, "0: c 2/0 unwound 0-0-0=0 0\n"
                               "0: b 1/0 unwound 50-0-0=50 50\n"
                               "0: c 1/0 left 10-0-0=10 10\n"
                               "0: a 0/0 unwound 170-60-0=110 170\n");
    assert_int_equal(repairs.unwound, 3);
}

static void lost_records_end_what_was_open(void **state)
{
    (void)state;
    RUN("lost", ENTER(100, 10), ENTER(200, 20), EVENT(400, PROBITY_EVENT_LOST, "\5\0\0\0\0\0\0", 8),
        ENTER(420, 30), LEAVE(440, 30), LEAVE(500, 10));
    assert_string_equal(lines, "0: b 1/0 unwound 0-0-0=0 0\n"
                               "0: a 0/0 unwound 50-0-0=50 50\n"
                               "0: c 0/0 left 10-0-0=10 10\n");
    assert_int_equal(repairs.unwound, 2);
    assert_int_equal(repairs.orphans, 1);
}

static void orphan_leaves_are_passed_over(void **state)
{
    (void)state;
    RUN("orphan", LEAVE(50, 10), ENTER(100, 10), LEAVE(150, 20), LEAVE(200, 10), LEAVE(250, 10));
    assert_string_equal(lines, "0: a 0/0 left 50-0-0=50 50\n");
    assert_int_equal(repairs.orphans, 3);
    assert_int_equal(repairs.unwound, 0);
}

static void open_scopes_end_with_their_thread(void **state)
{
    const struct make_item one[] = {ENTER(100, 10), ENTER(200, 20), {.tick = 300, .code = 6}};
    const struct make_item two[] = {ENTER(150, 10), ENTER(200, 20), LEAVE(400, 20)};

    (void)state;
    start();
    make_items(&make, 1, one, COUNT(one));
    make_items(&make, 2, two, COUNT(two));
    run_made("open");
    assert_string_equal(lines, "1: b 1/0 left 100-0-0=100 100\n"
                               "0: b 1/0 open 50-0-0=50 50\n"
                               "0: a 0/0 open 100-50-0=50 100\n"
                               "1: a 0/0 open 125-100-0=25 125\n");
    assert_int_equal(repairs.open, 3);
}

static void pauses_are_in_no_total(void **state)
{
    (void)state;
    RUN("pauses", ENTER(100, 10), PAUSE(200), RESUME(300), ENTER(400, 20), PAUSE(440), RESUME(460),
        LEAVE(500, 20), LEAVE(1100, 10));
    assert_string_equal(lines, "0: b 1/0 left 50-0-10=40 40\n"
                               "0: a 0/0 left 500-50-50=400 440\n");
}

static void a_pause_in_a_pause_changes_nothing(void **state)
{
    (void)state;
    RUN("twice", PAUSE(10), RESUME(20), ENTER(100, 10), PAUSE(200), PAUSE(220), RESUME(300),
        RESUME(320), PAUSE(400), LEAVE(500, 10));
    assert_string_equal(lines, "0: a 0/0 left 200-0-100=100 100\n");
    assert_int_equal(repairs.pauses_unmatched, 2);
    assert_int_equal(repairs.resumes_unmatched, 2);
}

/* The pause of a contains the whole call, which must not be subtracted twice. */
static void a_call_in_a_pause_is_not_the_callers(void **state)
{
    (void)state;
    RUN("call", ENTER(100, 10), PAUSE(200), ENTER(300, 20), LEAVE(500, 20), RESUME(600),
        LEAVE(700, 10));
    assert_string_equal(lines, "0: b 1/0 left 100-0-0=100 100\n"
                               "0: a 0/0 left 300-0-200=100 100\n");
}

/* A checkpoint of function d, which was entered at MAKE_START + tick. */
static const uint8_t *checkpoint(uint64_t tick)
{
    static uint8_t bytes[4][16];
    static unsigned next;
    uint8_t *at = bytes[next++ % 4];

    probity_put_u32(at, 40);
    probity_put_u32(at + 4, 0);
    probity_put_u64(at + 8, tick != 0 ? MAKE_START + tick : 0);
    return at;
}

#define REACH(at, entered) EVENT(at, PROBITY_EVENT_CHECKPOINT, checkpoint(entered), 16)

static void a_deferred_scope_adopts_its_children(void **state)
{
    (void)state;
    RUN("deferred", ENTER(100, 10), ENTER(200, 20), LEAVE(300, 20), ENTER(400, 20), ENTER(420, 30),
        LEAVE(440, 30), LEAVE(500, 20), ENTER(510, 30), LEAVE(530, 30), REACH(600, 350),
        ENTER(700, 30), LEAVE(720, 30), REACH(730, 0), LEAVE(1000, 40), LEAVE(1100, 10));
    assert_string_equal(lines, "0: b 1/0 left 50-0-0=50 50\n"
                               "0: c 2/0 left 10-0-0=10 10\n"
                               "0: b 1/0 left 50-10-0=40 50\n"
                               "0: c 1/0 left 10-0-0=10 10\n"
                               "0: c 2/0 left 10-0-0=10 10\n"
                               "0: d 1/0 left 325-70-0=255 325\n"
                               "0: a 0/0 left 500-375-0=125 500\n");
}

static void a_deferred_scope_may_adopt_another(void **state)
{
    (void)state;
    RUN("nested", ENTER(100, 10), REACH(300, 200), LEAVE(400, 40), REACH(500, 150), LEAVE(600, 40),
        LEAVE(700, 10));
    assert_string_equal(lines, "0: d 1/0 left 100-0-0=100 100\n"
                               "0: d 1/0 left 225-100-0=125 225\n"
                               "0: a 0/0 left 300-225-0=75 300\n");
}

/* Open scopes that began later were called by the deferred scope, which runs again. */
static void a_deferred_scope_unwinds_what_began_later(void **state)
{
    (void)state;
    RUN("later", ENTER(100, 10), ENTER(300, 20), REACH(400, 200), LEAVE(600, 40), LEAVE(700, 10));
    assert_string_equal(lines, "0: b 1/0 unwound 0-0-0=0 0\n"
                               "0: d 1/0 left 200-0-0=200 200\n"
                               "0: a 0/0 left 300-200-0=100 300\n");
    assert_int_equal(repairs.unwound, 1);
}

/* A deferred scope adopts only the newest of its children; older ones stay with its caller. */
static void many_siblings_are_forgotten_without_harm(void **state)
{
    struct make_item items[302];
    size_t count = 0;

    (void)state;
    items[count++] = (struct make_item)ENTER(10, 10);
    for (uint64_t i = 0; i < 150; i++) {
        items[count++] = (struct make_item)ENTER(100 + 10 * i, 20);
        items[count++] = (struct make_item)LEAVE(104 + 10 * i, 20);
    }
    items[count++] = (struct make_item)REACH(1700, 50);
    start();
    make_items(&make, 1, items, count);
    run_made("many");
    assert_non_null(strstr(lines, "0: d 1/0 open 825-128-0=697 825\n"));
    assert_non_null(strstr(lines, "0: a 0/0 open 845-997-0=0 997\n"));
}

static void what_profiling_did_not_see_is_untimed(void **state)
{
    (void)state;
    RUN("off", ENTER(100, 10), EVENT(150, PROBITY_EVENT_PROFILING, "\0", 1), ENTER(200, 20),
        EVENT(250, PROBITY_EVENT_PROFILING, "\1", 1), ENTER(260, 30), LEAVE(270, 30),
        LEAVE(300, 20), LEAVE(400, 10));
    assert_string_equal(lines, "0: c 2/0 left 5-0-0=5 5\n"
                               "0: b 1/0 left 50-5-0=45 50 untimed\n"
                               "0: a 0/0 left 150-50-0=100 150\n");
}

static void functions_without_declaration_are_distinguished_by_number(void **state)
{
    (void)state;
    RUN("lost", EVENT(100, PROBITY_EVENT_ENTER, "\144\0\0\0\0\0\0\0", 8),
        EVENT(200, PROBITY_EVENT_ENTER, "\310\0\0\0\0\0\0\0", 8),
        EVENT(300, PROBITY_EVENT_LEAVE, "\144\0\0\0\0\0\0\0", 8));
    assert_string_equal(lines, "0: site-200 1/0 unwound 0-0-0=0 0\n"
                               "0: site-100 0/0 left 100-0-0=100 100\n");
}

static void a_stack_of_any_depth_is_kept(void **state)
{
    enum { DEPTH = 5000 };
    static struct make_item items[2 * DEPTH];

    (void)state;
    for (size_t i = 0; i < DEPTH; i++) {
        uint32_t site = i % 3 == 0 ? 10 : i % 3 == 1 ? 20 : 30;
        items[i] = (struct make_item)ENTER(100 + i, site);
        items[2 * DEPTH - 1 - i] = (struct make_item)LEAVE(100 + 2 * DEPTH - i, site);
    }
    run_items("deep", items, COUNT(items));
    assert_memory_equal(lines, "0: b 4999/1666 left 1-0-0=1 1\n", 30);
    assert_int_equal(repairs.orphans + repairs.unwound + repairs.open, 0);
}

static void count_closed(void *context, const struct probity_scope *scope,
                         enum probity_scope_end how, uint32_t thread_slot,
                         const struct probity_event *event)
{
    (void)how;
    (void)thread_slot;
    (void)event;
    assert_ptr_equal(*scope->of_function, NULL);
    ++*(int *)context;
}

/* Threads start and end, for a second each; a thread with an open scope is never evicted. */
static void threads_that_are_gone_are_forgotten(void **state)
{
    enum { THREADS = 5000 };
    const struct probity_function function = {.number = 10, .name = "a"};
    int closed = 0;
    const struct probity_scopes_listener listener = {NULL, count_closed, &closed};
    struct probity_scopes *scopes;

    (void)state;
    assert_int_equal(probity_scopes_open(&scopes), 0);
    for (uint32_t i = 0; i < THREADS; i++) {
        struct probity_event event = {.kind = PROBITY_EVENT_ENTER, .function = &function, .id = 10,
                                      .wall_ns = i * UINT64_C(1000000000), .thread_slot = i};
        assert_int_equal(probity_scopes_put(scopes, &event, &listener), 0);
        event.kind = PROBITY_EVENT_LEAVE;
        if (i % 1000 != 0)
            assert_int_equal(probity_scopes_put(scopes, &event, &listener), 0);
    }
    assert_int_equal(probity_scopes_depth(scopes, 0), 1);
    assert_int_equal(probity_scopes_depth(scopes, 1), 0);
    probity_scopes_finish(scopes, &listener);
    assert_int_equal(closed, THREADS);
    assert_int_equal(probity_scopes_repairs(scopes)->open, THREADS / 1000);
    probity_scopes_close(scopes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callees_are_taken_off),
        cmocka_unit_test(recursion_is_counted),
        cmocka_unit_test(what_longjmp_left_is_unwound),
        cmocka_unit_test(unwound_events_close_so_many),
        cmocka_unit_test(lost_records_end_what_was_open),
        cmocka_unit_test(orphan_leaves_are_passed_over),
        cmocka_unit_test(open_scopes_end_with_their_thread),
        cmocka_unit_test(pauses_are_in_no_total),
        cmocka_unit_test(a_pause_in_a_pause_changes_nothing),
        cmocka_unit_test(a_call_in_a_pause_is_not_the_callers),
        cmocka_unit_test(a_deferred_scope_adopts_its_children),
        cmocka_unit_test(a_deferred_scope_may_adopt_another),
        cmocka_unit_test(a_deferred_scope_unwinds_what_began_later),
        cmocka_unit_test(many_siblings_are_forgotten_without_harm),
        cmocka_unit_test(what_profiling_did_not_see_is_untimed),
        cmocka_unit_test(functions_without_declaration_are_distinguished_by_number),
        cmocka_unit_test(a_stack_of_any_depth_is_kept),
        cmocka_unit_test(threads_that_are_gone_are_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
