/* SPDX-License-Identifier: MIT
 *
 * test_timeline.c: positions of calls and marks, the effects of a budget of spans, the refinement
 * by a second pass, deferred scopes, the slowest calls, and columns.
 */
#include "test_scopes_make.h"

#include "answers/timeline/timeline.h"
#include "answers/timeline/timeline_grid.h"

static struct make make;

struct run {
    struct probity_reader *reader;
    struct probity_timeline *timeline;
};

/* Functions a, b and c with sites 10, 20 and 30; d with site 40 is deferred. */
static void start(void)
{
    make_start(&make);
    make_declare(&make, 1, 10, "a", 0);
    make_declare(&make, 1, 20, "b", 0);
    make_declare(&make, 1, 30, "c", 0);
    make_declare(&make, 1, 40, "d", 1);
}

/* Adds all generated events. Returns the reader, which owns the texts that the timeline uses. */
static struct probity_reader *put_made(struct probity_timeline *timeline)
{
    const char *path = make.path;
    const struct probity_event *event;
    struct probity_reader *reader;

    assert_int_equal(probity_reader_open(&path, 1, NULL, NULL, &reader), 0);
    while (probity_reader_next(reader, &event) > 0)
        assert_int_equal(probity_timeline_put(timeline, event), 0);
    assert_int_equal(probity_timeline_finish(timeline), 0);
    return reader;
}

static struct run run_made(const char *name, const struct probity_timeline_options *options)
{
    struct run run = {0};

    make_finish(&make, name);
    assert_int_equal(probity_timeline_open(options, &run.timeline), 0);
    run.reader = put_made(run.timeline);
    unlink(make.path);
    return run;
}

static void close_run(struct run *run)
{
    probity_timeline_close(run->timeline);
    probity_reader_close(run->reader);
}

static const struct probity_timeline_thread *thread_at(const struct run *run, size_t index)
{
    size_t count;
    const struct probity_timeline_thread *const *threads =
        probity_timeline_threads(run->timeline, &count);

    assert_true(index < count);
    return threads[index];
}

static void put_lane(FILE *stream, const struct run *run, const struct probity_timeline_lane *lane)
{
    uint64_t first_ns = probity_timeline_facts(run->timeline).first_ns;
    size_t count;
    const struct probity_timeline_name *const *names =
        probity_timeline_names(run->timeline, &count);

    for (size_t i = 0; i < lane->count; i++) {
        const struct probity_timeline_span *span = &lane->spans[i];
        const struct probity_timeline_name *name = names[span->name];
        uint64_t start_ns = span->start_ns - first_ns;
        if (name->kind == PROBITY_TIMELINE_FUNCTION)
            fprintf(stream, " %s", name->key.function->name);
        else if (name->kind == PROBITY_TIMELINE_CHECKPOINT)
            fputs(" checkpoint", stream);
        else
            fprintf(stream, " #%u", (unsigned)name->number);
        if (span->count > 1)
            fprintf(stream, "*%u(%u)", (unsigned)span->count, (unsigned)span->busy_ns);
        fprintf(stream, "@%u-%u", (unsigned)start_ns, (unsigned)(start_ns + span->length_ns));
    }
}

/* Lanes as "marks | depth 0 | depth 1": name@from-to, several merged as
 * name*count(busy)@from-to. */
static void expect_lanes(const struct run *run, size_t index, const char *expected)
{
    const struct probity_timeline_thread *thread = thread_at(run, index);
    char *text = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&text, &bytes);

    put_lane(stream, run, &thread->marks);
    for (uint32_t depth = 0; depth < thread->depth; depth++) {
        fputs(" |", stream);
        put_lane(stream, run, &thread->calls[depth]);
    }
    fclose(stream);
    assert_string_equal(text, expected);
    free(text);
}

/* Two ticks are a nanosecond. */
static const struct make_item nested[] = {
    ENTER(0, 10),   ENTER(100, 20),  LEAVE(300, 20),  ENTER(400, 30),  ENTER(500, 20),
    LEAVE(900, 20), LEAVE(1000, 30), LEAVE(1200, 10), ENTER(2000, 20), LEAVE(2100, 20)};

static void calls_lie_by_thread_and_depth(void **state)
{
    (void)state;
    start();
    make_items(&make, 1, nested, COUNT(nested));
    make_items(&make, 2, nested, 2);
    struct run run = run_made("timeline", NULL);
    expect_lanes(&run, 0, " | a@0-600 b@1000-1050 | b@50-150 c@200-500 | b@250-450");
    expect_lanes(&run, 1, " | a@0-50 | b@50-50");
    assert_int_equal(thread_at(&run, 1)->calls[0].spans[0].flags, PROBITY_TIMELINE_OPEN);
    struct probity_timeline_facts facts = probity_timeline_facts(run.timeline);
    assert_int_equal(facts.calls, 7);
    assert_int_equal(facts.together, 0);
    assert_int_equal(facts.unit_ns, 1);
    assert_int_equal(facts.last_ns - facts.first_ns, 1050);
    close_run(&run);
}

static void hits_are_moments(void **state)
{
    static const struct make_item items[] = {
        {.tick = 0, .code = 2 * 7}, {.tick = 200, .code = 2 * 8}, {.tick = 400, .code = 2 * 7}};

    (void)state;
    start();
    make_items(&make, 1, items, COUNT(items));
    struct run run = run_made("timeline_hits", NULL);
    expect_lanes(&run, 0, " #7@0-0 #8@100-100 #7@200-200");
    assert_int_equal(probity_timeline_facts(run.timeline).marks, 3);
    close_run(&run);
}

enum { CALLS = 1000, SPANS = 64 };

/* Calls of b that take 10 ns each, every 100 ns, and a call of a that takes 40 us. */
static void make_many(struct make_item *items)
{
    for (int i = 0; i < CALLS; i++) {
        items[2 * i] = (struct make_item)ENTER(200 * (uint64_t)i, 20);
        items[2 * i + 1] = (struct make_item)LEAVE(200 * (uint64_t)i + 20, 20);
    }
    items[2 * CALLS] = (struct make_item)ENTER(200 * CALLS, 10);
    items[2 * CALLS + 1] = (struct make_item)LEAVE(200 * CALLS + 80000, 10);
}

static void a_budget_loses_no_call_and_no_long_one(void **state)
{
    static struct make_item items[2 * CALLS + 2];
    const struct probity_timeline_options options = {.spans_max = SPANS};
    uint64_t calls = 0, busy_ns = 0, end_ns = 0;

    (void)state;
    make_many(items);
    start();
    make_items(&make, 1, items, COUNT(items));
    struct run run = run_made("timeline_budget", &options);
    struct probity_timeline_facts facts = probity_timeline_facts(run.timeline);
    const struct probity_timeline_lane *lane = &thread_at(&run, 0)->calls[0];
    for (size_t i = 0; i < lane->count; i++) {
        assert_true(lane->spans[i].start_ns >= end_ns);
        end_ns = lane->spans[i].start_ns + lane->spans[i].length_ns;
        calls += lane->spans[i].count;
        busy_ns += lane->spans[i].busy_ns;
    }
    assert_int_equal(calls, CALLS + 1);
    assert_int_equal(busy_ns, 10 * CALLS + 40000);
    assert_true(lane->count <= SPANS);
    assert_true(lane->count > SPANS / 4);
    assert_int_equal(facts.spans, lane->count);
    assert_int_equal(facts.together, CALLS);
    assert_true(facts.unit_ns >= 100 * CALLS / SPANS && facts.unit_ns <= 400 * CALLS / SPANS * 4);
    assert_int_equal(lane->spans[lane->count - 1].count, 1);
    assert_int_equal(lane->spans[lane->count - 1].length_ns, 40000);
    close_run(&run);
}

/* Calls in a stretch are separate spans, as if there were no budget; elsewhere none is lost. */
static void expect_closer(const struct run *run, const struct run *all)
{
    const struct probity_timeline_lane *lane = &thread_at(run, 0)->calls[0];
    const struct probity_timeline_lane *whole = &thread_at(all, 0)->calls[0];
    size_t count, at = 0, next = 0, inside = 0;
    const struct probity_timeline_stretch *stretches =
        probity_timeline_stretches(run->timeline, &count);
    uint64_t together = 0;

    for (size_t i = 0; i < lane->count; at += lane->spans[i++].count) {
        const struct probity_timeline_span *span = &lane->spans[i];
        assert_int_equal(span->start_ns, whole->spans[at].start_ns);
        while (next < count && span->start_ns >= stretches[next].to_ns)
            next++;
        if (next == count || span->start_ns < stretches[next].from_ns) {
            together += span->count > 1 ? span->count : 0;
            continue;
        }
        inside++;
        assert_int_equal(span->count, 1);
        assert_int_equal(span->length_ns, whole->spans[at].length_ns);
        assert_int_equal(span->busy_ns, whole->spans[at].busy_ns);
        assert_int_equal(span->name, whole->spans[at].name);
    }
    assert_int_equal(at, whole->count);
    assert_true(inside > SPANS / 2);
    assert_int_equal(probity_timeline_facts(run->timeline).together, together);
    assert_int_equal(probity_timeline_facts(run->timeline).spans, lane->count);
    assert_true(stretches[0].from_ns <= whole->spans[0].start_ns);
    assert_true(stretches[count - 1].to_ns > whole->spans[CALLS - 1].start_ns);
}

static void a_closer_look_finds_each_call_of_some_stretches(void **state)
{
    static struct make_item items[2 * CALLS + 2];
    const struct probity_timeline_options options = {.spans_max = SPANS};
    struct probity_timeline *closer;
    struct run all = {0}, run = {0};

    (void)state;
    make_many(items);
    start();
    make_items(&make, 1, items, COUNT(items));
    make_finish(&make, "timeline_closer");
    assert_int_equal(probity_timeline_open(NULL, &all.timeline), 0);
    assert_int_equal(probity_timeline_open(&options, &run.timeline), 0);
    all.reader = put_made(all.timeline);
    run.reader = put_made(run.timeline);
    size_t spans = probity_timeline_facts(run.timeline).spans;
    assert_int_equal(probity_timeline_refine(all.timeline, SPANS, &closer), 0);
    assert_null(closer);
    assert_int_equal(probity_timeline_refine(run.timeline, 0, &closer), 0);
    assert_null(closer);
    assert_int_equal(probity_timeline_refine(run.timeline, 2 * SPANS, &closer), 0);
    assert_non_null(closer);
    struct probity_reader *again = put_made(closer);
    assert_int_equal(probity_timeline_take_over(run.timeline, closer), 0);
    assert_true(probity_timeline_facts(run.timeline).spans <= spans + 2 * SPANS);
    expect_closer(&run, &all);
    unlink(make.path);
    close_run(&run);
    close_run(&all);
    probity_reader_close(again);
}

static void expect_same(const struct run *a, const struct run *b)
{
    const struct probity_timeline_lane *left = &thread_at(a, 0)->calls[0];
    const struct probity_timeline_lane *right = &thread_at(b, 0)->calls[0];
    size_t count, other_count;
    const struct probity_timeline_stretch *stretches =
        probity_timeline_stretches(a->timeline, &count);
    const struct probity_timeline_stretch *others =
        probity_timeline_stretches(b->timeline, &other_count);

    assert_int_equal(count, other_count);
    assert_memory_equal(stretches, others, count * sizeof *stretches);
    assert_int_equal(left->count, right->count);
    for (size_t i = 0; i < left->count; i++) {
        const struct probity_timeline_span *span = &left->spans[i], *other = &right->spans[i];
        assert_int_equal(span->start_ns, other->start_ns);
        assert_int_equal(span->length_ns, other->length_ns);
        assert_int_equal(span->busy_ns, other->busy_ns);
        assert_int_equal(span->off_ns, other->off_ns);
        assert_int_equal(span->count, other->count);
        assert_int_equal(span->name, other->name);
        assert_int_equal(span->flags, other->flags);
    }
    assert_int_equal(probity_timeline_facts(a->timeline).together,
                     probity_timeline_facts(b->timeline).together);
}

static void kept_spans_are_those_of_a_second_pass(void **state)
{
    static struct make_item items[2 * CALLS + 2];
    const struct probity_timeline_options options = {.spans_max = SPANS};
    const struct probity_timeline_options keeping = {.spans_max = SPANS, .keeps_spans = 1};
    struct probity_timeline *closer;
    struct run run = {0}, kept = {0}, dropped = {0};
    int is_done;

    (void)state;
    make_many(items);
    start();
    make_items(&make, 1, items, COUNT(items));
    make_finish(&make, "timeline_kept");
    assert_int_equal(probity_timeline_open(&options, &run.timeline), 0);
    assert_int_equal(probity_timeline_open(&keeping, &kept.timeline), 0);
    assert_int_equal(probity_timeline_open(&keeping, &dropped.timeline), 0);
    run.reader = put_made(run.timeline);
    kept.reader = put_made(kept.timeline);
    dropped.reader = put_made(dropped.timeline);
    assert_int_equal(probity_timeline_refine(run.timeline, 2 * SPANS, &closer), 0);
    struct probity_reader *again = put_made(closer);
    assert_int_equal(probity_timeline_take_over(run.timeline, closer), 0);
    assert_int_equal(probity_timeline_refine_kept(kept.timeline, 2 * SPANS, &is_done), 0);
    assert_true(is_done);
    expect_same(&run, &kept);
    probity_timeline_drop_kept(dropped.timeline);
    size_t spans = probity_timeline_facts(dropped.timeline).spans;
    assert_int_equal(probity_timeline_refine_kept(dropped.timeline, 2 * SPANS, &is_done), 0);
    assert_false(is_done);
    assert_int_equal(probity_timeline_facts(dropped.timeline).spans, spans);
    unlink(make.path);
    close_run(&run);
    close_run(&kept);
    close_run(&dropped);
    probity_reader_close(again);
}

/* If the second pass finds less, as in a ring that was still being written, it replaces nothing. */
static void a_closer_look_at_less_loses_nothing(void **state)
{
    static struct make_item items[2 * CALLS + 2];
    const struct probity_timeline_options options = {.spans_max = SPANS};
    struct probity_timeline *closer;
    uint64_t calls = 0;
    size_t count;

    (void)state;
    make_many(items);
    start();
    make_items(&make, 1, items, COUNT(items));
    struct run run = run_made("timeline_other", &options);
    struct probity_timeline_facts before = probity_timeline_facts(run.timeline);
    assert_int_equal(probity_timeline_refine(run.timeline, 2 * SPANS, &closer), 0);
    start();
    make_items(&make, 1, items + 4, 2 * CALLS - 2);
    make_finish(&make, "timeline_changed");
    struct probity_reader *again = put_made(closer);
    unlink(make.path);
    assert_int_equal(probity_timeline_take_over(run.timeline, closer), 0);
    const struct probity_timeline_lane *lane = &thread_at(&run, 0)->calls[0];
    for (size_t i = 0; i < lane->count; i++)
        calls += lane->spans[i].count;
    assert_int_equal(calls, CALLS + 1);
    assert_int_equal(probity_timeline_facts(run.timeline).calls, before.calls);
    /* The first two calls no longer exist, so their stretch has changed. */
    const struct probity_timeline_stretch *stretches =
        probity_timeline_stretches(run.timeline, &count);
    for (size_t i = 0; i < count; i++)
        assert_true(stretches[i].from_ns > lane->spans[0].start_ns);
    close_run(&run);
    probity_reader_close(again);
}

static void a_deferred_scope_is_around_what_it_called(void **state)
{
    (void)state;
    start();
    make_deferred(&make);
    struct run run = run_made("timeline_deferred", NULL);
    expect_lanes(&run, 0, " checkpoint@400-400 | a@0-600 | b@25-50 d@100-500 | b@150-200 "
                          "b@250-300 | c@170-190");
    close_run(&run);
}

static void the_slowest_calls_are_kept(void **state)
{
    static struct make_item items[2 * CALLS + 2];
    const struct probity_timeline_options options = {.spans_max = SPANS};
    size_t count;

    (void)state;
    make_many(items);
    /* Calls 100, 300 and 200 of b take 35, 30 and 20 ns. */
    items[201].tick += 50;
    items[601].tick += 40;
    items[401].tick += 20;
    start();
    make_items(&make, 1, items, COUNT(items));
    struct run run = run_made("timeline_slow", &options);
    const struct probity_timeline_name *const *names =
        probity_timeline_names(run.timeline, &count);
    assert_int_equal(count, 2);
    assert_int_equal(names[0]->slow_count, PROBITY_TIMELINE_SLOWEST);
    assert_int_equal(names[0]->slow[0].span.length_ns, 35);
    assert_int_equal(names[0]->slow[1].span.length_ns, 30);
    assert_int_equal(names[0]->slow[2].span.length_ns, 20);
    assert_int_equal(names[0]->slow[3].span.length_ns, 10);
    assert_int_equal(names[1]->slow_count, 1);
    assert_int_equal(names[0]->slow[1].span.start_ns -
                         probity_timeline_facts(run.timeline).first_ns, 30000);
    close_run(&run);
}

static void calls_outside_the_range_are_not_there(void **state)
{
    (void)state;
    start();
    make_items(&make, 1, nested, COUNT(nested));
    struct run all = run_made("timeline_all", NULL);
    uint64_t first_ns = probity_timeline_facts(all.timeline).first_ns;
    close_run(&all);
    const struct probity_timeline_options options = {.from_ns = first_ns + 50,
                                                     .to_ns = first_ns + 300};
    start();
    make_items(&make, 1, nested, COUNT(nested));
    struct run run = run_made("timeline_range", &options);
    const struct probity_timeline_thread *thread = thread_at(&run, 0);
    assert_int_equal(thread->calls[0].count, 0);
    assert_int_equal(thread->calls[1].count, 2);
    assert_int_equal(thread->calls[2].count, 1);
    close_run(&run);
}

/* Calls in progress at the beginning of the range are shown from there, but not counted. */
static void calls_around_the_range_are_there_where_wanted(void **state)
{
    (void)state;
    start();
    make_items(&make, 1, nested, COUNT(nested));
    struct run all = run_made("timeline_within", NULL);
    uint64_t first_ns = probity_timeline_facts(all.timeline).first_ns;
    close_run(&all);
    const struct probity_timeline_options options = {
        .from_ns = first_ns + 50, .to_ns = first_ns + 300, .has_around = 1};
    start();
    make_items(&make, 1, nested, COUNT(nested));
    struct run run = run_made("timeline_around", &options);
    const struct probity_timeline_thread *thread = thread_at(&run, 0);
    assert_int_equal(thread->calls[0].count, 1);
    assert_int_equal(thread->calls[0].spans[0].flags,
                     PROBITY_TIMELINE_BEFORE | PROBITY_TIMELINE_OPEN); /* cut at the end */
    assert_int_equal(thread->calls[0].spans[0].start_ns, first_ns);
    assert_int_equal(thread->calls[0].spans[0].length_ns, 300);
    assert_int_equal(thread->calls[1].count, 2);
    assert_int_equal(probity_timeline_facts(run.timeline).calls, 3);
    close_run(&run);
}

/* Columns of 50 ns each. */
static void columns_are_named_after_what_took_most(void **state)
{
    enum { COLUMNS = 21 };
    static const char expected[] = "abbacbbbbcaa........b";
    struct probity_timeline_cell cells[COLUMNS];
    char found[COLUMNS + 1] = "";
    size_t count;

    (void)state;
    start();
    make_items(&make, 1, nested, COUNT(nested));
    struct run run = run_made("timeline_grid", NULL);
    const struct probity_timeline_name *const *names =
        probity_timeline_names(run.timeline, &count);
    assert_int_equal(probity_timeline_grid(run.timeline, thread_at(&run, 0), COLUMNS, cells), 0);
    for (size_t i = 0; i < COLUMNS; i++) {
        found[i] = cells[i].function == PROBITY_TIMELINE_NOTHING
                       ? '.'
                       : names[cells[i].function]->key.function->name[0];
        assert_int_equal((int)(cells[i].there_ns + 0.5), 50);
        assert_int_equal((int)(cells[i].inside_ns + 0.5), found[i] == '.' ? 0 : 50);
    }
    assert_string_equal(found, expected);
    close_run(&run);
}

/* One letter per column; '.' outside functions, ' ' before the thread begins. */
static void expect_columns(const struct run *run, size_t index, const char *expected)
{
    struct probity_timeline_cell cells[100];
    size_t columns = strlen(expected), count;
    char found[101] = "";
    const struct probity_timeline_thread *thread = thread_at(run, index);
    const struct probity_timeline_name *const *names =
        probity_timeline_names(run->timeline, &count);

    assert_int_equal(probity_timeline_grid(run->timeline, thread, columns, cells), 0);
    for (size_t i = 0; i < columns; i++) {
        found[i] = cells[i].function != PROBITY_TIMELINE_NOTHING
                       ? names[cells[i].function]->key.function->name[0]
                   : cells[i].there_ns > 0 ? '.'
                                           : ' ';
    }
    assert_string_equal(found, expected);
}

static struct run run_in_window(uint64_t from_ns, uint64_t to_ns)
{
    const struct probity_timeline_options options = {
        .from_ns = from_ns, .to_ns = to_ns, .is_window = 1};

    start();
    make_items(&make, 1, nested, COUNT(nested));
    make_items(&make, 2, nested, 2);
    return run_made("timeline_window", &options);
}

static void a_window_shows_what_runs_in_it(void **state)
{
    (void)state;
    start();
    make_items(&make, 1, nested, COUNT(nested));
    struct run run = run_made("timeline_whole", NULL);
    uint64_t first_ns = probity_timeline_facts(run.timeline).first_ns;
    close_run(&run);
    /* A window without records: the functions open at the time fill it. */
    run = run_in_window(first_ns + 300, first_ns + 400);
    expect_lanes(&run, 0, " | a@0-100 | c@0-100 | b@0-100");
    expect_columns(&run, 0, "bbbbbbbbbb");
    assert_int_equal(probity_timeline_facts(run.timeline).last_ns, first_ns + 400);
    assert_int_equal(thread_at(&run, 1)->first_ns, 0); /* has ended */
    close_run(&run);
    /* Spans are cut at both ends. */
    run = run_in_window(first_ns + 100, first_ns + 300);
    expect_lanes(&run, 0, " | a@0-200 | b@0-50 c@100-200 | b@150-200");
    expect_columns(&run, 0, "bbaaccbb");
    close_run(&run);
    /* The axis is the window, even beyond the records. */
    run = run_in_window(first_ns - 100, first_ns + 100);
    expect_columns(&run, 0, "    aabb");
    expect_columns(&run, 1, "    aa  ");
    assert_int_equal(probity_timeline_facts(run.timeline).first_ns, first_ns - 100);
    close_run(&run);
    run = run_in_window(first_ns + 5000, first_ns + 6000);
    assert_int_equal(probity_timeline_facts(run.timeline).last_ns, 0);
    close_run(&run);
    run = run_in_window(first_ns + 5000, 0);
    assert_int_equal(probity_timeline_facts(run.timeline).last_ns, 0);
    close_run(&run);
}

/* No matter how short the window is. */
static void a_column_is_at_least_a_nanosecond(void **state)
{
    (void)state;
    start();
    make_items(&make, 1, nested, COUNT(nested));
    struct run run = run_made("timeline_whole", NULL);
    uint64_t first_ns = probity_timeline_facts(run.timeline).first_ns;
    close_run(&run);
    run = run_in_window(first_ns + 60, first_ns + 65);
    assert_true(probity_timeline_column_ns(run.timeline, 100) == 1);
    expect_columns(&run, 0, "bbbbb     ");
    close_run(&run);
}

/* Once the maximum number of blocks is named, further blocks lack their second name, except those
 * that have occurred before. */
static void blocks_keep_their_names(void **state)
{
    enum { HITS = PROBITY_TIMELINE_PAIRS_MAX + 10 };
    static struct make_item items[HITS];
    const struct probity_timeline_options options = {.has_tracks = 1, .spans_max = 4 * HITS};
    size_t count;

    (void)state;
    for (size_t i = 0; i < HITS; i++)
        items[i] = (struct make_item){.tick = 2 * i, .code = 2 * (i + 1)};
    items[HITS - 3].code = 2 * 1;
    items[HITS - 2].code = 2 * 2;
    start();
    for (size_t i = 0; i < HITS; i += 1000)
        make_items(&make, 1, items + i, HITS - i < 1000 ? HITS - i : 1000);
    struct run run = run_made("timeline_names", &options);
    const struct probity_timeline_name *const *names =
        probity_timeline_names(run.timeline, &count);
    const struct probity_timeline_lane *blocks = &thread_at(&run, 0)->blocks;
    assert_int_equal(blocks->count, HITS); /* the last is open */
    assert_int_equal(blocks->spans[HITS - 3].name, blocks->spans[0].name);
    assert_int_equal(names[blocks->spans[0].name]->to, names[blocks->spans[1].name]->number);
    assert_int_equal(names[blocks->spans[HITS - 4].name]->to, PROBITY_TIMELINE_NO_NAME);
    close_run(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_lie_by_thread_and_depth),
        cmocka_unit_test(hits_are_moments),
        cmocka_unit_test(a_window_shows_what_runs_in_it),
        cmocka_unit_test(a_column_is_at_least_a_nanosecond),
        cmocka_unit_test(a_budget_loses_no_call_and_no_long_one),
        cmocka_unit_test(a_closer_look_finds_each_call_of_some_stretches),
        cmocka_unit_test(kept_spans_are_those_of_a_second_pass),
        cmocka_unit_test(a_closer_look_at_less_loses_nothing),
        cmocka_unit_test(a_deferred_scope_is_around_what_it_called),
        cmocka_unit_test(the_slowest_calls_are_kept),
        cmocka_unit_test(calls_outside_the_range_are_not_there),
        cmocka_unit_test(calls_around_the_range_are_there_where_wanted),
        cmocka_unit_test(columns_are_named_after_what_took_most),
        cmocka_unit_test(blocks_keep_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
