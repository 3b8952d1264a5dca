/* SPDX-License-Identifier: MIT
 *
 * test_correction.c: which call each record's cost is charged to, and times without that cost, for
 * traces with round costs. A tick is half a nanosecond. With one call per window, a range is
 * widened by 128/256 ns at either end, and by the usual 1 ns. The error is half the range, plus its
 * midpoint (for the influence of other load), plus 1 ns for rounding.
 */
#include "test_scopes_make.h"

#include "answers/blocks/blocks.h"
#include "answers/report/report.h"
#include "answers/report/report_json.h"
#include "answers/report/report_text.h"

enum { UNITS = 256, MARGIN = 128 + 256 };

static struct make make;

struct run {
    struct probity_reader *reader;
    struct probity_report *report;
    struct probity_report_function *functions;
    size_t count;
};

/* Midpoints: a hit costs 4; a scope costs itself 10 and its caller 6, or with values 20 and 16; a
 * message costs 8. The ranges extend by 2 to either side, plus the margin. */
static void start(void)
{
    static const struct {
        uint16_t kind;
        uint32_t least, median;
    } rows[] = {{PROBITY_COST_HIT, 2, 6},          {PROBITY_COST_MESSAGE, 6, 10},
                {PROBITY_COST_SCOPE, 12, 20},      {PROBITY_COST_SCOPE_INNER, 8, 12},
                {PROBITY_COST_VALUES, 32, 40},     {PROBITY_COST_VALUES_INNER, 18, 22}};
    struct probity_cost cost = {.rows = COUNT(rows)};

    for (size_t i = 0; i < COUNT(rows); i++)
        cost.row[i] = (struct probity_cost_row){rows[i].kind, 0, 20, 1, UNITS * rows[i].least,
                                                UNITS * rows[i].median};
    make_start(&make);
    make_block(&make, PROBITY_BLOCK_COST, probity_cost_put(make_payload(&make), &cost));
    make_declare(&make, 1, 10, "a", 0);
    make_declare(&make, 1, 20, "b", 0);
    make_declare(&make, 1, 30, "c", 0);
    make_declare(&make, 1, 40, "d", 1);
}

static struct run run_made(const char *name)
{
    struct run run = {0};
    struct probity_report_options options = {0};
    const char *path = make.path;
    const struct probity_event *event;

    make_finish(&make, name);
    assert_int_equal(probity_reader_open(&path, 1, NULL, NULL, &run.reader), 0);
    options.costs_of = run.reader;
    assert_int_equal(probity_report_open(&options, &run.report), 0);
    while (probity_reader_next(run.reader, &event) > 0)
        assert_int_equal(probity_report_put(run.report, event), 0);
    assert_int_equal(probity_report_finish(run.report), 0);
    run.functions = probity_report_functions(run.report, &run.count);
    probity_report_sort(run.functions, run.count, PROBITY_REPORT_NAME);
    unlink(make.path);
    return run;
}

static void close_run(struct run *run)
{
    probity_report_close(run->report);
    probity_reader_close(run->reader);
}

/* middle: the expected midpoint in ns. reach: the number of costs in it, each known to within 2 ns
 * and the margin. */
static void expect_cost(const struct probity_cost_sum *cost, uint64_t middle, uint64_t reach)
{
    assert_int_equal((cost->least + cost->most) / 2, middle * UNITS);
    assert_int_equal((cost->most - cost->least) / 2, reach * (2 * UNITS + MARGIN));
    assert_int_equal(cost->rare, 0);
}

static void each_record_costs_where_it_stands(void **state)
{
    const uint8_t message[] = {1, 0, 0, 0};
    const struct make_item items[] = {
        ENTER(0, 10),     ENTER(200, 20),
        {.tick = 300, .code = 14}, /* a hit of probe 7 */
        {.tick = 310, .code = 14}, EVENT(350, PROBITY_EVENT_MESSAGE, message, 4),
        LEAVE(400, 20),   ENTER(600, 20),
        LEAVE(800, 20),   LEAVE(1000, 10)};

    (void)state;
    start();
    make_items(&make, 1, items, COUNT(items));
    struct run run = run_made("stand");
    assert_int_equal(run.count, 2);
    const struct probity_report_sums *a = &run.functions[0].sums, *b = &run.functions[1].sums;
    assert_int_equal(a->uncosted + b->uncosted, 0);
    /* The function's own cost, and what its two callees cost it; the total also includes the
     * callees' own cost. */
    expect_cost(&a->self_cost, 10 + 2 * 6, 3);
    expect_cost(&b->self_cost, 2 * 10 + 2 * 4 + 8, 2 + 2 + 1);
    expect_cost(&b->total_cost, 2 * 10 + 2 * 4 + 8, 2 + 2 + 1);
    expect_cost(&a->total_cost, 10 + 2 * 6 + 2 * 10 + 2 * 4 + 8, 3 + 5);
    /* 300 ns minus 22, with an error of 3 times 3.5 ns, 22, and 1 for rounding. */
    struct probity_corrected self = probity_report_corrected(a, 1);
    assert_int_equal(a->self.wall_ns, 300);
    assert_int_equal(self.ns, 278);
    assert_int_equal(self.error_ns, 33 + 1); /* 10.5 + 22 */
    assert_false(self.is_below);
    self = probity_report_corrected(a, 0);
    assert_int_equal(self.ns, 500 - 58);
    assert_int_equal(self.error_ns, 28 + 58 + 1);
    close_run(&run);
}

static void recursion_and_pauses(void **state)
{
    const struct make_item items[] = {
        ENTER(0, 10),   ENTER(100, 10), LEAVE(200, 10),
        EVENT(300, PROBITY_EVENT_PAUSE, "", 0), ENTER(320, 20),
        LEAVE(400, 20), EVENT(500, PROBITY_EVENT_RESUME, "", 0), LEAVE(600, 10)};

    (void)state;
    start();
    make_items(&make, 1, items, COUNT(items));
    struct run run = run_made("recursion");
    const struct probity_report_sums *a = &run.functions[0].sums, *b = &run.functions[1].sums;
    /* Calls made in a pause cost the caller nothing. */
    expect_cost(&a->self_cost, 2 * 10 + 6 + 8, 4);
    expect_cost(&a->total_cost, 2 * 10 + 6 + 8, 4);
    expect_cost(&b->self_cost, 10, 1);
    close_run(&run);
}

/* A call shorter than what is subtracted from it becomes 0, never negative. */
static void never_below_nothing(void **state)
{
    const struct make_item items[] = {ENTER(0, 20), LEAVE(18, 20), ENTER(40, 20), LEAVE(58, 20)};
    const struct probity_report_layout layout = {.is_corrected = 1};
    char *text = NULL;
    size_t bytes = 0;

    (void)state;
    start();
    make_items(&make, 1, items, COUNT(items));
    struct run run = run_made("nothing");
    struct probity_corrected self = probity_report_corrected(&run.functions[0].sums, 1);
    assert_int_equal(run.functions[0].sums.self.wall_ns, 18);
    assert_int_equal(self.ns, 0);
    assert_int_equal(self.error_ns, 7 + 20 + 1);
    assert_true(self.is_below);
    FILE *stream = open_memstream(&text, &bytes);
    probity_report_text(stream, &layout, run.reader, run.functions, run.count,
                        probity_report_repairs(run.report));
    fclose(stream);
    assert_non_null(strstr(text, " 2    18ns    < 19ns    28ns    18ns    < 19ns    28ns  b\n"));
    assert_non_null(strstr(text, "overhead: a scope adds 6.5 to 13.5 ns to its self time, 2.5 to "
                                 "9.5 ns to its caller's; a hit 0.5 to 7.5 ns\n"));
    free(text);
    close_run(&run);
}

/* Costs are unknown without a COST block, and for deferred scopes. */
static void what_is_not_known(void **state)
{
    uint8_t checkpoint[16] = {40, 0, 0, 0, 1};
    const struct make_item plain[] = {ENTER(0, 10), LEAVE(100, 10)};
    const struct make_item deferred[] = {
        ENTER(0, 10),   ENTER(100, 20),
        LEAVE(200, 20), EVENT(300, PROBITY_EVENT_CHECKPOINT, checkpoint, sizeof checkpoint),
        LEAVE(400, 40), LEAVE(500, 10)};

    (void)state;
    make_start(&make);
    make_declare(&make, 1, 10, "a", 0);
    make_items(&make, 1, plain, COUNT(plain));
    struct run run = run_made("unknown");
    assert_int_equal(run.functions[0].sums.uncosted, 1);
    assert_false(probity_report_is_known(&run.functions[0].sums, PROBITY_REPORT_SELF_CORRECTED, 1));
    close_run(&run);
    start();
    probity_put_u64(checkpoint + 8, MAKE_START + 250);
    make_items(&make, 1, deferred, COUNT(deferred));
    run = run_made("deferred");
    assert_int_equal(run.count, 3);
    assert_int_equal(run.functions[0].sums.uncosted, 1);
    assert_int_equal(run.functions[1].sums.uncosted, 0);
    assert_int_equal(run.functions[2].sums.uncosted, 1);
    assert_true(probity_report_is_known(&run.functions[1].sums, PROBITY_REPORT_SELF_CORRECTED, 1));
    close_run(&run);
}

/* Spans from 1 to 2 of 100, 200 and 3,000 ns. The last one is longer than a gap; in the generated
 * INFO, the clock reading after a gap costs nothing. */
static void blocks_have_one_hit_each(void **state)
{
    const struct make_item items[] = {{.tick = 0, .code = 2},    {.tick = 200, .code = 4},
                                      {.tick = 300, .code = 2},  {.tick = 700, .code = 4},
                                      {.tick = 800, .code = 2},  {.tick = 6800, .code = 4}};
    const struct probity_blocks_pair *const *pairs;
    struct probity_corrected corrected;
    struct probity_blocks *blocks;
    struct probity_reader *reader;
    const struct probity_event *event;
    const char *path = make.path;
    size_t count;

    (void)state;
    start();
    make_items(&make, 1, items, COUNT(items));
    make_finish(&make, "blocks_cost");
    assert_int_equal(probity_reader_open(&path, 1, NULL, NULL, &reader), 0);
    assert_int_equal(probity_blocks_open(NULL, &blocks), 0);
    while (probity_reader_next(reader, &event) > 0)
        assert_int_equal(probity_blocks_put(blocks, event), 0);
    pairs = probity_blocks_sort(blocks, PROBITY_BLOCKS_CALLS, &count);
    assert_int_equal(count, 2);
    assert_int_equal(pairs[0]->wall_ns, 3300);
    assert_int_equal(probity_blocks_corrected(pairs[0], reader, &corrected), 1);
    assert_int_equal(corrected.ns, 3300 - 3 * 4);
    assert_int_equal(corrected.error_ns, 23 + 1); /* three times 3.5, and 12 */
    assert_int_equal(probity_blocks_corrected(pairs[1], reader, &corrected), 1);
    assert_int_equal(corrected.ns, 100 - 2 * 4);
    probity_blocks_close(blocks);
    probity_reader_close(reader);
    unlink(make.path);
}

/* Costs that occur only occasionally are not subtracted. */
static void rare_costs(void **state)
{
    const struct probity_cost_sum sum = {.least = 2 * UNITS, .most = 4 * UNITS, .rare = 10 * UNITS};
    const struct probity_cost_sum usual = {.least = 2 * UNITS, .most = 4 * UNITS};
    const struct probity_cost_sum much = {.least = UINT64_MAX / 4, .most = UINT64_MAX / 2};

    (void)state;
    struct probity_corrected corrected = probity_correct(100, &sum);
    assert_int_equal(corrected.ns, 97);
    assert_int_equal(corrected.error_ns, 14 + 1); /* 1 + 3 + 10 */
    assert_false(corrected.is_below);
    assert_int_equal(probity_correct(3, &sum).ns, 0);
    assert_int_equal(probity_correct(2, &sum).ns, 0);
    assert_true(probity_correct(17, &sum).is_below);
    assert_false(probity_correct(18, &sum).is_below);
    assert_int_equal(probity_correct(14, &sum).most_ns, 14 + 1);
    assert_int_equal(probity_correct(100, &sum).most_ns, 100 + 1);
    assert_int_equal(probity_correct(100, &usual).most_ns, 100 + 1);
    assert_int_equal(probity_correct(1000, &much).ns, 0);
}

enum { EARLY = 40, EARLY_SLOW = 90 };

/* Like start(), with readings that may be early: by 30 for integers, by 39 for loads, which exceeds
 * the margin of 1 by EARLY, and by 89 for divisions. */
static void start_early(void)
{
    static const struct {
        uint16_t kind;
        uint32_t least, median;
    } rows[] = {{PROBITY_COST_HIT, 4, 4},           {PROBITY_COST_MESSAGE, 8, 8},
                {PROBITY_COST_SCOPE, 16, 16},       {PROBITY_COST_SCOPE_INNER, 10, 10},
                {PROBITY_COST_EARLY_INTEGERS, 30, 20}, {PROBITY_COST_EARLY_LOADS, 30, 39},
                {PROBITY_COST_EARLY_DOUBLES, 80, 70},  {PROBITY_COST_EARLY_DIVISIONS, 89, 80}};
    struct probity_cost cost = {.rows = COUNT(rows)};
    uint8_t payload[512];
    size_t bytes;

    for (size_t i = 0; i < COUNT(rows); i++)
        cost.row[i] = (struct probity_cost_row){rows[i].kind, 0, 3, 4, UNITS * rows[i].least,
                                                UNITS * rows[i].median};
    make_start(&make);
    make_block(&make, PROBITY_BLOCK_COST, probity_cost_put(make_payload(&make), &cost));
    make_declare(&make, 1, 10, "a", 0);
    make_declare(&make, 1, 20, "b", 0);
    bytes = make_function(payload, 30, "ordered", 0);
    payload[9] = 4; /* flags */
    make_event(&make, 1, MAKE_START, PROBITY_EVENT_FUNCTION, payload, bytes);
}

/* A total has one begin and one end per call; shifts inside the call affect only self times. */
static void early_readings(void **state)
{
    const struct make_item items[] = {
        ENTER(0, 10),    ENTER(200, 20), LEAVE(400, 20), ENTER(600, 20),
        LEAVE(800, 20),  ENTER(900, 30), LEAVE(1000, 30),
        EVENT(1100, PROBITY_EVENT_PAUSE, "", 0), EVENT(1200, PROBITY_EVENT_RESUME, "", 0),
        LEAVE(1300, 10)};
    const struct probity_report_layout layout = {0};
    char *text = NULL;
    size_t bytes = 0;

    (void)state;
    start_early();
    make_items(&make, 1, items, COUNT(items));
    struct run run = run_made("early");
    assert_int_equal(run.count, 3);
    const struct probity_report_sums *a = &run.functions[0].sums, *b = &run.functions[1].sums;
    const struct probity_report_sums *ordered = &run.functions[2].sums;
    assert_int_equal(b->self_cost.early, 2 * EARLY * UNITS);
    assert_int_equal(b->self_cost.early_inside, 0);
    assert_int_equal(b->total_cost.early, 2 * EARLY * UNITS);
    assert_int_equal(a->self_cost.early, EARLY * UNITS);
    assert_int_equal(a->self_cost.early_inside, 2 * EARLY * UNITS);
    assert_int_equal(a->self_cost.rare, EARLY * UNITS); /* the pause */
    assert_int_equal(a->total_cost.early, EARLY * UNITS);
    assert_int_equal(a->total_cost.early_inside, 0);
    assert_int_equal(ordered->self_cost.early + ordered->self_cost.early_inside, 0);
    assert_int_equal(ordered->self_cost.rare, ordered->self_cost.most);
    /* The cost of the two calls of b, and by how much they are early. */
    struct probity_corrected with = probity_report_corrected(b, 1);
    struct probity_cost_sum punctual = b->self_cost;
    punctual.early = 0;
    assert_int_equal(with.error_ns - probity_correct(b->self.wall_ns, &punctual).error_ns,
                     2 * EARLY);
    FILE *stream = open_memstream(&text, &bytes);
    probity_report_text(stream, &layout, run.reader, run.functions, run.count,
                        probity_report_repairs(run.report));
    fclose(stream);
    assert_non_null(strstr(text, "order: the clock may be read up to 40 ns before preceding work "
                                 "has finished (90 ns for floating point and divisions, longer "
                                 "for cache misses); for calls below 160 ns, record "
                                 "with PROBITY_ORDER=strict\n"));
    free(text);
    close_run(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_record_costs_where_it_stands),
                                       cmocka_unit_test(recursion_and_pauses),
                                       cmocka_unit_test(never_below_nothing),
                                       cmocka_unit_test(what_is_not_known),
                                       cmocka_unit_test(blocks_have_one_hit_each),
                                       cmocka_unit_test(rare_costs),
                                       cmocka_unit_test(early_readings)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
