/* SPDX-License-Identifier: MIT
 *
 * test_runs.c: a reader that makes runs returns the same events as one that does not, with one
 * thread or two.
 */
#include "test_reader_make.h"

#include "reader/ahead.h"
#include "reader/reader.h"
#include "reader/run.h"

enum { THREADS = 5, HITS = 2000, COPIES_MAX = 5 * HITS };

/* The compared part of an event. */
struct copy {
    uint64_t tick, wall_ns, cpu_ns;
    uint32_t trace, thread, slot, tid, kind, id;
    int is_site, cpu_known;
    char name[8];
};

static struct make make, other;
static struct copy expected[COPIES_MAX], seen[COPIES_MAX];

static struct copy copy_of(const struct probity_event *event)
{
    struct copy copy;

    memset(&copy, 0, sizeof copy);
    copy.tick = event->tick;
    copy.wall_ns = event->wall_ns;
    copy.cpu_ns = event->cpu_ns;
    copy.trace = event->trace;
    copy.thread = event->thread;
    copy.slot = event->thread_slot;
    copy.tid = event->tid;
    copy.kind = event->kind;
    copy.id = event->id;
    copy.is_site = event->is_site;
    copy.cpu_known = event->cpu_known;
    if (event->kind == PROBITY_EVENT_HIT && event->name != NULL)
        snprintf(copy.name, sizeof copy.name, "%.*s", (int)event->name_bytes, event->name);
    return copy;
}

/* Returns the number of events. */
static size_t read_single(struct probity_reader *reader, struct copy *copies)
{
    const struct probity_event *event;
    size_t count = 0;

    while (probity_reader_next(reader, &event) > 0) {
        assert_true(count < COPIES_MAX);
        copies[count++] = copy_of(event);
    }
    return count;
}

/* Same as above. Runs end before end_ns. */
static size_t read_runs(struct probity_reader *reader, uint64_t end_ns, struct copy *copies,
                        size_t *ret_in_runs)
{
    const struct probity_event *event;
    struct probity_run run;
    size_t count = 0;

    *ret_in_runs = 0;
    for (;;) {
        while (probity_reader_next_run(reader, end_ns, &run) > 0) {
            assert_true(count + run.count <= COPIES_MAX);
            for (size_t i = 0; i < run.count; i++, ++*ret_in_runs) {
                assert_true(run.events[i].wall_ns < end_ns);
                assert_true(run.kinds >> probity_run_code_of(&run, i)->kind & 1);
                copies[count++] = copy_of(probity_run_event_at(&run, i));
            }
        }
        if (probity_reader_next(reader, &event) <= 0)
            return count;
        copies[count++] = copy_of(event);
    }
}

static struct probity_reader *open_with(const char *const *paths, size_t count,
                                        const struct probity_reader_options *options)
{
    struct probity_reader *reader = NULL;

    assert_int_equal(probity_reader_open(paths, count, options, NULL, &reader), 0);
    return reader;
}

/* Compares single events with runs. Returns the number of events in runs. */
static size_t compare_one(const char *const *paths, size_t count,
                      struct probity_reader_options options, uint64_t end_ns)
{
    struct probity_reader *reader = open_with(paths, count, &options);
    size_t events = read_single(reader, expected), in_runs;

    probity_reader_close(reader);
    options.runs = &probity_run_steps;
    reader = open_with(paths, count, &options);
    assert_int_equal(read_runs(reader, end_ns, seen, &in_runs), events);
    assert_memory_equal(seen, expected, events * sizeof *seen);
    probity_reader_close(reader);
    return in_runs;
}

/* Compares single events with runs, without a second thread and with one. Returns the number of
 * events in runs without one. */
static size_t compare(const char *const *paths, size_t count,
                      struct probity_reader_options options, uint64_t end_ns)
{
    size_t in_runs = compare_one(paths, count, options, end_ns);

    options.ahead = &probity_ahead_steps;
    compare_one(paths, count, options, end_ns);
    return in_runs;
}

static uint32_t draw(uint32_t *random, uint32_t end)
{
    *random = *random * 1664525 + 1013904223;
    return (*random >> 16) % end;
}

/* Threads take turns of up to `burst` hits. Their CPU time seems to step back now and then. */
static void put_threads(struct make *to, uint32_t seed, uint32_t burst, uint64_t first_tick)
{
    static struct make_hit hits[THREADS][HITS];
    size_t counts[THREADS] = {0};
    uint32_t random = seed, thread = 0, left = 0;

    for (uint32_t i = 0; i < HITS; i++) {
        if (left-- == 0) {
            thread = draw(&random, THREADS);
            left = draw(&random, burst);
        }
        uint32_t kind = draw(&random, 16);
        hits[thread][counts[thread]++] = (struct make_hit){
            first_tick + 3 * i + (kind == 0 ? 0 : draw(&random, 3)),
            kind < 12 ? 2 * kind : 2 * draw(&random, 40000) + 1,
            draw(&random, 30) == 0 ? (int64_t)draw(&random, 3000) - 1500 : 0};
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        if (counts[i] > 0)
            make_data(to, (struct probity_data){.thread = i}, hits[i], counts[i]);
    }
}

/* Probe 1 is renamed repeatedly, so that its hits are often the next events; CLOCK_REALTIME runs at
 * three speeds. */
static void make_trace(struct make *to, const struct probity_info *info, uint32_t seed,
                       uint32_t burst, const char *name)
{
    struct probity_anchor fast = make_anchor(1004000);

    fast.realtime_ns += 700;
    make_start_with(to, info);
    make_event(to, 1, 1000050, PROBITY_EVENT_PROBE_NAME, "\1\0\0\0one", 7);
    put_threads(to, seed, burst, 1000100);
    make_sync(to, PROBITY_BLOCK_SYNC, fast, 1000100);
    for (uint64_t i = 0; i < 64; i++)
        make_event(to, 2, 1003000 + 40 * i, PROBITY_EVENT_PROBE_NAME,
                   i & 1 ? "\1\0\0\0one" : "\1\0\0\0two", 7);
    put_threads(to, seed + 1, burst, 1007000);
    make_sync(to, PROBITY_BLOCK_END, make_anchor(1020000), 1020000);
    make_write(to, name);
}

static void runs_have_the_events_of_one_trace(void **state)
{
    static const uint32_t bursts[] = {1, 2, 20, 400, HITS};
    const struct probity_info info = make_info(NULL);
    const char *path = make.path;

    (void)state;
    for (uint32_t i = 0; i < sizeof bursts / sizeof *bursts; i++) {
        make_trace(&make, &info, 7 * i, bursts[i], "runs");
        size_t in_runs = compare(&path, 1, (struct probity_reader_options){0}, UINT64_MAX);
        assert_true(in_runs > HITS);
        compare(&path, 1, (struct probity_reader_options){0}, MAKE_WALL + 3000);
        compare(&path, 1, (struct probity_reader_options){0}, MAKE_WALL);
    }
    unlink(make.path);
}

static void runs_keep_to_the_range(void **state)
{
    const struct probity_info info = make_info(NULL);
    const char *path = make.path;

    (void)state;
    make_trace(&make, &info, 99, 30, "range");
    for (uint64_t ns = 0; ns < 10000; ns += 917) {
        const struct probity_reader_options options = {.from_ns = MAKE_WALL + ns,
                                                       .to_ns = MAKE_WALL + ns + 2500};
        compare(&path, 1, options, UINT64_MAX);
        compare(&path, 1, options, MAKE_WALL + ns + 1000);
    }
    unlink(make.path);
}

/* Traces of one boot are merged by ticks, others by wall time. */
static void runs_have_the_events_of_two_traces(void **state)
{
    struct probity_info info = make_info(NULL);
    const char *const paths[] = {make.path, other.path};

    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        make_trace(&make, &info, i, 25, "first");
        info.boot[0] = (uint8_t)(i & 1 ? 9 : 10);
        info.session[0] = 8;
        make_trace(&other, &info, i + 50, 25, "second");
        assert_true(compare(paths, 2, (struct probity_reader_options){0}, UINT64_MAX) > HITS);
        unlink(make.path);
        unlink(other.path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_have_the_events_of_one_trace),
        cmocka_unit_test(runs_keep_to_the_range),
        cmocka_unit_test(runs_have_the_events_of_two_traces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
