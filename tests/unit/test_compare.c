/* SPDX-License-Identifier: MIT
 *
 * test_compare.c: verdicts on runs of known distribution: the rates of false alarms and of detected
 * changes; rows that appear and disappear; limits; exact output.
 *
 *     test_compare write DIRECTORY SEED PERCENT RUNS NAME
 *
 * writes RUNS traces DIRECTORY/run.0 ... of functions `a` to `h` and probes 1 to 4 with noisy
 * times, with one function, or the span after one probe, slower by PERCENT, for tests of the
 * command itself.
 */
#include <float.h>

#include "test_scopes_make.h"

#include "random_numbers.h"

#include "answers/diff/compare.h"
#include "answers/diff/diff_print.h"

/* The repetitions only exercise arithmetic, so a tenth of them is enough under a sanitizer, or if
 * long doubles are computed in software. */
#if LDBL_MANT_DIG > 64
#define IS_SHORTENED 1
#elif defined __has_feature
#define IS_SHORTENED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define IS_SHORTENED 1
#else
#define IS_SHORTENED 0
#endif

enum { FUNCTIONS = 12, SLOW = 4, CALLS = 100, REPETITIONS = IS_SHORTENED ? 20 : 200 };

#define LIMIT(statistic_, is_below_, percent_, text_) \
    {.statistic = (statistic_), .is_below = (is_below_), .percent = (percent_), .text = (text_)}

static const struct probity_compare_options usual = {.confidence = 0.95, .tolerance_percent = 2};

static struct probity_compare *open_compare(const struct probity_compare_options *options)
{
    struct probity_compare *compare;

    assert_int_equal(probity_compare_open(options, &compare), 0);
    return compare;
}

/* The run that is being filled. */
static struct probity_compare_run pending;
static int pending_side;

static void flush_run(struct probity_compare *compare)
{
    if (pending.path != NULL)
        assert_int_equal(probity_compare_take(compare, pending_side, &pending), 0);
    assert_null(pending.path);
}

static void add_run_of(struct probity_compare *compare, int side,
                       const struct probity_trace_facts *facts)
{
    flush_run(compare);
    assert_int_equal(probity_compare_run_describe(facts, &pending), 0);
    pending.has_requests = 1;
    pending_side = side;
}

static void add_run(struct probity_compare *compare, int side, const char *path)
{
    struct probity_trace_facts facts = {.path = path, .state = PROBITY_TRACE_CLOSED,
                                        .info = make_info(NULL), .end_reason = PROBITY_END_EXIT};

    add_run_of(compare, side, &facts);
}

static void finish_runs(struct probity_compare *compare)
{
    flush_run(compare);
    assert_int_equal(probity_compare_finish(compare), 0);
}

static void add_item(struct probity_compare_item item)
{
    item.signature = item.kind == PROBITY_COMPARE_BLOCK ? item.name : (char *)"";
    assert_int_equal(probity_compare_run_add(&pending, &item), 0);
}

/* All values are proportional to ns; spans have no self time. */
static void add_values(enum probity_compare_kind kind, const char *name, double calls, double ns,
                       double quantile_error)
{
    double self = kind == PROBITY_COMPARE_BLOCK ? NAN : ns * calls;

    add_item((struct probity_compare_item){
        .kind = kind, .name = (char *)(uintptr_t)name, .file = (char *)"made.c", .line = 5,
        .quantile_error = quantile_error,
        .values = {calls, self, ns * calls, ns * calls, ns, ns, ns}});
}

static void add_row(const char *name, double calls, double ns)
{
    add_values(PROBITY_COMPARE_FUNCTION, name, calls, ns, 0);
}

static const struct probity_compare_row *row_named(const struct probity_compare *compare,
                                                   const char *name)
{
    size_t count;
    const struct probity_compare_row *rows = probity_compare_rows(compare, &count);

    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].item.name, name) == 0)
            return &rows[i];
    }
    fail_msg("no row %s", name);
    return rows;
}

/* ---- Error rates -------------------------------------------------------------------------------
 */

/* In each run, all functions shift together by 0.5 %, and each one separately by 1, 2 or 3 %; the
 * tail varies more. */
static void add_noisy_run(struct probity_compare *compare, int side, double slower)
{
    static const char *const names[FUNCTIONS] = {"a", "b", "c", "d", "e", "f",
                                                 "g", "h", "i", "j", "k", "l"};
    double shared = 0.005 * normal();

    add_run(compare, side, "noisy");
    for (int i = 0; i < FUNCTIONS; i++) {
        double deviation = 0.01 * (1 + i % 3), luck = shared + deviation * normal();
        double ns = 1000 * (i + 1) * exp(luck) * (i == SLOW ? slower : 1);
        const double values[PROBITY_COMPARE_STATISTICS] = {
            100, floor(100 * ns), floor(130 * ns * exp(0.002 * normal())),
            floor(100 * ns * exp(0.005 * normal())), ns, floor(0.9 * ns * exp(0.005 * normal())),
            floor(1.5 * ns * exp(0.02 * normal()))};
        struct probity_compare_item item = {.name = (char *)(uintptr_t)names[i]};
        memcpy(item.values, values, sizeof values);
        add_item(item);
    }
}

static struct probity_compare *compare_noisy(const struct probity_compare_options *options,
                                             size_t runs, double slower)
{
    struct probity_compare *compare = open_compare(options);

    for (size_t i = 0; i < runs; i++) {
        add_noisy_run(compare, PROBITY_COMPARE_BASE, 1);
        add_noisy_run(compare, PROBITY_COMPARE_NEW, slower);
    }
    finish_runs(compare);
    return compare;
}

static int is_change(const struct probity_compare_result *result)
{
    return result->verdict == PROBITY_COMPARE_LESS || result->verdict == PROBITY_COMPARE_MORE;
}

/* Returns how many statistics of this row are reported as changed. */
static int changes_of(const struct probity_compare_row *row)
{
    int changes = 0;

    for (int i = 0; i < PROBITY_COMPARE_STATISTICS; i++)
        changes += is_change(&row->results[i]);
    return changes;
}

/* Counts comparisons of equal programs in which some line reports a change: 5 % are allowed. */
static void false_alarms(size_t runs)
{
    int alarms = 0;
    size_t count;

    for (int repetition = 0; repetition < REPETITIONS; repetition++) {
        struct probity_compare *compare = compare_noisy(&usual, runs, 1);
        const struct probity_compare_row *rows = probity_compare_rows(compare, &count);
        int changes = 0;
        assert_int_equal(count, FUNCTIONS);
        for (size_t i = 0; i < count; i++)
            changes += changes_of(&rows[i]);
        alarms += changes > 0;
        probity_compare_close(compare);
    }
    print_message("%d of %d comparisons of equal sets of %zu runs reported a change\n", alarms,
                  REPETITIONS, runs);
    assert_in_range(alarms, 0, REPETITIONS / 20);
}

static void equal_programs_seldom_differ(void **state)
{
    (void)state;
    false_alarms(20);
    false_alarms(10);
    false_alarms(5);
}

static void three_percent_are_found_in_twenty_runs(void **state)
{
    int found = 0, direction = 0;

    (void)state;
    for (int repetition = 0; repetition < REPETITIONS; repetition++) {
        struct probity_compare *compare = compare_noisy(&usual, 20, 1.03);
        const struct probity_compare_row *row = row_named(compare, "e");
        found += changes_of(row) > 0;
        direction += row->results[PROBITY_COMPARE_SELF].verdict != PROBITY_COMPARE_LESS;
        probity_compare_close(compare);
    }
    print_message("3 %% detected in %d of %d\n", found, REPETITIONS);
    assert_in_range(found, REPETITIONS * 9 / 10, REPETITIONS);
    assert_int_equal(direction, REPETITIONS);
}

/* A function exactly at the limit fails in at most 5 % of cases, however many functions there are;
 * one far beyond the limit is found. */
static void limits_fail_seldom_by_mistake(void **state)
{
    const struct probity_compare_limit
        at = {.statistic = PROBITY_COMPARE_SELF, .percent = 3, .text = "self>+3%"},
        beyond = {.statistic = PROBITY_COMPARE_SELF, .percent = -2, .text = "self>-2%"};
    struct probity_compare_options options = usual;
    int mistakes = 0, caught = 0;

    (void)state;
    options.limit_count = 1;
    for (int repetition = 0; repetition < REPETITIONS; repetition++) {
        options.limits = &at;
        struct probity_compare *compare = compare_noisy(&options, 20, 1.03);
        mistakes += row_named(compare, "e")->exceeds != 0;
        probity_compare_close(compare);
        options.limits = &beyond;
        compare = compare_noisy(&options, 20, 1.03);
        caught += row_named(compare, "e")->exceeds != 0;
        probity_compare_close(compare);
    }
    print_message("%d of %d fail at the limit, %d at 5 %% beyond\n", mistakes, REPETITIONS, caught);
    assert_in_range(mistakes, 0, REPETITIONS / 20);
    assert_in_range(caught, REPETITIONS * 9 / 10, REPETITIONS);
}

/* ---- Rows --------------------------------------------------------------------------------------
 */

/* Runs i = 0 ... of the functions constant, more, less, gone, added and sometimes. */
static struct probity_compare *compare_rough(const struct probity_compare_options *options,
                                             int runs, double quantile_error)
{
    struct probity_compare *compare = open_compare(options);

    for (int i = 0; i < 2 * runs; i++) {
        int side = i % 2;
        double luck = 1 + 0.001 * (i / 2);
        add_run(compare, side, side == 0 ? "base" : "new");
        add_values(PROBITY_COMPARE_FUNCTION, "constant", 10, 1000, quantile_error);
        add_row("more", 10 * (1 + side), 1000 * luck);
        add_values(PROBITY_COMPARE_FUNCTION, "less", 10, (side == 0 ? 1000 : 800) * luck,
                   quantile_error);
        if (side == 0)
            add_row("gone", 10, 1000);
        else
            add_row("added", 1, 1);
        if (i % 4 < 2)
            add_row("sometimes", 4, 1000 * luck);
    }
    finish_runs(compare);
    return compare;
}

static struct probity_compare *compare_known(const struct probity_compare_options *options,
                                             int runs)
{
    return compare_rough(options, runs, 0);
}

static void expect_verdict(const struct probity_compare *compare, const char *name,
                           enum probity_compare_statistic statistic, const char *verdict)
{
    const struct probity_compare_result *result = &row_named(compare, name)->results[statistic];

    assert_string_equal(probity_compare_verdict_name(result->verdict, statistic), verdict);
}

static void verdicts_are_as_the_runs(void **state)
{
    struct probity_compare *compare = compare_known(&usual, 8);
    const struct probity_compare_result *result;

    (void)state;
    expect_verdict(compare, "constant", PROBITY_COMPARE_CALLS, "same");
    expect_verdict(compare, "constant", PROBITY_COMPARE_SELF, "same");
    expect_verdict(compare, "more", PROBITY_COMPARE_CALLS, "more");
    expect_verdict(compare, "more", PROBITY_COMPARE_TOTAL, "slower");
    expect_verdict(compare, "more", PROBITY_COMPARE_MEDIAN, "same");
    expect_verdict(compare, "less", PROBITY_COMPARE_CALLS, "same");
    expect_verdict(compare, "less", PROBITY_COMPARE_P99, "faster");
    expect_verdict(compare, "gone", PROBITY_COMPARE_CPU, "gone");
    expect_verdict(compare, "added", PROBITY_COMPARE_MEAN, "added");
    expect_verdict(compare, "sometimes", PROBITY_COMPARE_CALLS, "inconclusive");
    result = &row_named(compare, "less")->results[PROBITY_COMPARE_MEAN];
    assert_true(fabs(result->ratio - 0.8) < 1e-9);
    assert_true(fabs(result->median[PROBITY_COMPARE_BASE] - 1003.5) < 1e-9);
    assert_true(fabs(result->median[PROBITY_COMPARE_NEW] - 802.8) < 1e-9);
    assert_true(result->low > 0.79 && result->low <= 0.8 && result->high >= 0.8);
    assert_true(fabs(result->p - 2.0 / 12870) < 1e-12); /* the most extreme of C(16, 8) */
    result = row_named(compare, "sometimes")->results;
    assert_int_equal(result[PROBITY_COMPARE_CALLS].runs[0], 8);
    assert_int_equal(result[PROBITY_COMPARE_MEAN].runs[0], 4);
    assert_true(result[PROBITY_COMPARE_CALLS].runs_needed > 8);
    probity_compare_close(compare);
}

static void one_run_gives_only_ratios(void **state)
{
    struct probity_compare *compare = compare_known(&usual, 1);
    const struct probity_compare_result *result =
        &row_named(compare, "less")->results[PROBITY_COMPARE_SELF];

    (void)state;
    assert_true(fabs(result->ratio - 0.8) < 1e-9);
    assert_false(result->has_interval);
    assert_int_equal(result->verdict, PROBITY_COMPARE_UNKNOWN);
    assert_true(result->runs_needed >= probity_compare_least_runs(compare));
    assert_int_equal(probity_compare_least_runs(compare), 4);
    probity_compare_close(compare);
}

static void scopes_of_one_name_stay_apart(void **state)
{
    struct probity_compare *compare = open_compare(&usual);
    size_t count;

    (void)state;
    for (int side = 0; side < 2; side++) {
        struct probity_compare_item item = {.name = (char *)"twice", .file = (char *)"made.c"};
        add_run(compare, side, "run");
        add_item(item);
        item.line += 10;
        item.instance = 1;
        add_item(item);
        item.file = (char *)"other.c";
        item.instance = 0;
        add_item(item);
    }
    finish_runs(compare);
    probity_compare_rows(compare, &count);
    assert_int_equal(count, 3);
    probity_compare_close(compare);
}

/* A span has no function name and no self time. If its probes are renamed, it is still the same
 * span, but a site and a probe with the same number are different. */
static void blocks_stand_for_themselves(void **state)
{
    struct probity_compare *compare = open_compare(&usual);
    const struct probity_compare_row *rows;
    size_t count, blocks = 0;

    (void)state;
    for (int i = 0; i < 16; i++) {
        struct probity_compare_item item = {.kind = PROBITY_COMPARE_BLOCK, .name = (char *)"1 -> 2",
                                            .values = {1, NAN, 1, 1, 1, 1, 1}};
        add_run(compare, i % 2, "run");
        add_row("1 -> 2", 1, 1000);
        item.signature = (char *)(i % 2 != 0 ? "1 (one) -> 2" : "1 -> 2");
        assert_int_equal(probity_compare_run_add(&pending, &item), 0);
        item.instance = 3;
        assert_int_equal(probity_compare_run_add(&pending, &item), 0);
        add_values(PROBITY_COMPARE_BLOCK, "2 -> 1", 10, (i % 2 != 0 ? 3000 : 2000) + i, 0);
    }
    finish_runs(compare);
    rows = probity_compare_rows(compare, &count);
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++) {
        int is_block = rows[i].item.kind == PROBITY_COMPARE_BLOCK;
        blocks += is_block != 0;
        assert_int_equal(rows[i].results[PROBITY_COMPARE_SELF].runs[0], is_block ? 0 : 8);
        assert_int_equal(probity_compare_is_chosen(compare, rows[i].item.kind,
                                                   PROBITY_COMPARE_SELF), !is_block);
    }
    assert_int_equal(blocks, 3);
    expect_verdict(compare, "2 -> 1", PROBITY_COMPARE_TOTAL, "slower");
    expect_verdict(compare, "2 -> 1", PROBITY_COMPARE_CALLS, "same");
    assert_int_equal(probity_compare_tests(compare), 5); /* 2 -> 1; others are constant */
    probity_compare_sort(compare, PROBITY_COMPARE_BY_IMPACT);
    assert_string_equal(probity_compare_rows(compare, &count)[0].item.name, "2 -> 1");
    probity_compare_close(compare);
}

/* Patterns select rows. A pattern for one kind excludes all rows of the other kind, unless there is
 * a pattern for that kind, too. */
static void patterns_choose_kinds(void **state)
{
    static const struct {
        const char *function, *function_too, *block;
        size_t rows;
    } cases[] = {{NULL, NULL, NULL, 4},         {"f*", NULL, NULL, 2}, {"f1", NULL, NULL, 1},
                 {NULL, NULL, "*", 2},          {"f2", NULL, "*", 3},  {"none", NULL, NULL, 0},
                 {NULL, NULL, "1 -> [2-4]", 1}, {"f1", "f2", NULL, 2}, {"none", "f2", "*", 3}};

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct probity_compare_options options = usual;
        size_t count;
        const char *const functions[] = {cases[i].function, cases[i].function_too, NULL};
        const char *const blocks[] = {cases[i].block, NULL};
        options.patterns[PROBITY_COMPARE_FUNCTION] = cases[i].function != NULL ? functions : NULL;
        options.patterns[PROBITY_COMPARE_BLOCK] = cases[i].block != NULL ? blocks : NULL;
        struct probity_compare *compare = open_compare(&options);
        add_run(compare, 0, "run");
        add_row("f1", 1, 1);
        add_row("f2", 1, 1);
        add_values(PROBITY_COMPARE_BLOCK, "1 -> 2", 1, 1, 0);
        add_values(PROBITY_COMPARE_BLOCK, "2 -> 1", 1, 1, 0);
        finish_runs(compare);
        probity_compare_rows(compare, &count);
        assert_int_equal(count, cases[i].rows);
        probity_compare_close(compare);
    }
}

/* A row without a limit adds no test to the correction for multiple tests. */
static void limits_may_be_of_some_rows(void **state)
{
    const struct probity_compare_limit limits[] = {
        {.is_of_kind = 1, .kind = PROBITY_COMPARE_BLOCK, .pattern = "1 -> 2",
         .statistic = PROBITY_COMPARE_MEAN, .percent = 5, .text = "block:1 -> 2:mean>5"},
        {.is_of_kind = 1, .kind = PROBITY_COMPARE_FUNCTION, .pattern = "*",
         .statistic = PROBITY_COMPARE_MEAN, .percent = 5, .text = "function:*:mean>5"},
        {.statistic = PROBITY_COMPARE_SELF, .percent = 5, .text = "self>5"}};
    struct probity_compare_options options = usual;

    (void)state;
    options.limits = limits;
    options.limit_count = COUNT(limits);
    struct probity_compare *compare = open_compare(&options);
    for (int i = 0; i < 16; i++) {
        double ns = (i % 2 != 0 ? 1200 : 1000) + i;
        add_run(compare, i % 2, "run");
        add_row("same", 1, 1000);
        add_values(PROBITY_COMPARE_BLOCK, "1 -> 2", 1, ns, 0);
        add_values(PROBITY_COMPARE_BLOCK, "2 -> 1", 1, ns, 0);
    }
    finish_runs(compare);
    assert_int_equal(probity_compare_limit_tests(compare), 3);
    assert_int_equal(row_named(compare, "1 -> 2")->exceeds, 1);
    assert_int_equal(row_named(compare, "2 -> 1")->exceeds, 0);
    assert_int_equal(row_named(compare, "same")->exceeds, 0);
    probity_compare_close(compare);
}

static void one_session_is_one_run(void **state)
{
    struct probity_compare *compare = open_compare(&usual);
    struct probity_trace_facts facts = {.path = "copy", .info = make_info(NULL)};
    struct probity_compare_run run;

    (void)state;
    add_run(compare, 0, "first");
    flush_run(compare);
    assert_int_equal(probity_compare_run_describe(&facts, &run), 0);
    assert_string_equal(probity_compare_twin(compare, 0, &run)->path, "first");
    assert_null(probity_compare_twin(compare, 1, &run));
    run.session[15]++;
    assert_null(probity_compare_twin(compare, 0, &run));
    probity_compare_run_release(&run);
    probity_compare_close(compare);
}

static void limits_need_more_than_to_be_observed(void **state)
{
    const struct probity_compare_limit limits[] = {
        LIMIT(PROBITY_COMPARE_CALLS, 0, 99, "calls>+99%"),  /* 100 % more: exceeded */
        LIMIT(PROBITY_COMPARE_CALLS, 0, 100, "calls>+100%"), /* exactly at the limit */
        LIMIT(PROBITY_COMPARE_MEAN, 1, -15, "mean<-15%"),   /* 20 % less: exceeded */
        LIMIT(PROBITY_COMPARE_MEAN, 1, -25, "mean<-25%")};
    struct probity_compare_options options = usual;

    (void)state;
    options.limits = limits;
    options.limit_count = COUNT(limits);
    struct probity_compare *compare = compare_known(&options, 8);
    assert_int_equal(probity_compare_limit_tests(compare), 4 * 6);
    assert_int_equal(row_named(compare, "more")->exceeds, 1);
    assert_int_equal(row_named(compare, "less")->exceeds, 4);
    assert_int_equal(row_named(compare, "constant")->exceeds, 0);
    assert_int_equal(row_named(compare, "added")->exceeds, 0);
    probity_compare_close(compare);
    /* Four runs per side are too few for 24 tests: 1 / C(8, 4) is more than 5 % / 24. */
    compare = compare_known(&options, 4);
    assert_int_equal(row_named(compare, "more")->exceeds, 0);
    assert_int_equal(probity_compare_limit_runs(compare), 6);
    probity_compare_close(compare);
}

/* A quantile is known only to within its bucket, so equal values of several runs may all be off by
 * the same amount. */
static void coarse_quantiles_are_not_called_same(void **state)
{
    const struct probity_compare_limit limits[] = {LIMIT(PROBITY_COMPARE_P99, 1, -15, "p99<-15%"),
                                                   LIMIT(PROBITY_COMPARE_P99, 1, -1, "p99<-1%")};
    struct probity_compare_options options = usual;

    (void)state;
    options.limits = limits;
    options.limit_count = COUNT(limits);
    /* The ratio of two such values may be off by (1 + 1 / 21) / (1 - 1 / 21), which is 1.1. */
    struct probity_compare *compare = compare_rough(&options, 8, 1.0 / 21);
    assert_true(fabs(row_named(compare, "less")->quantile_error - 0.1) < 1e-9);
    expect_verdict(compare, "constant", PROBITY_COMPARE_SELF, "same");
    expect_verdict(compare, "constant", PROBITY_COMPARE_P99, "inconclusive");
    expect_verdict(compare, "less", PROBITY_COMPARE_MEDIAN, "faster");
    assert_int_equal(row_named(compare, "constant")->results[PROBITY_COMPARE_P99].runs_needed, 0);
    assert_int_equal(row_named(compare, "less")->exceeds, 2); /* 0.8 * 1.1 is not below 0.85 */
    probity_compare_close(compare);
}

static void set_text(struct probity_info *info, enum probity_info_tag tag, const char *text)
{
    info->text[tag] = (struct probity_text){text, strlen(text)};
}

static void other_machines_are_reported(void **state)
{
    struct probity_compare *compare = open_compare(&usual);
    struct probity_trace_facts facts = {.path = "one", .state = PROBITY_TRACE_CLOSED,
                                        .info = make_info(NULL)};
    size_t count;

    (void)state;
    set_text(&facts.info, PROBITY_TAG_BUILD, "c0ffee");
    set_text(&facts.info, PROBITY_TAG_CPU, "6502");
    set_text(&facts.info, PROBITY_TAG_COMMAND, "made");
    add_run_of(compare, 0, &facts);
    facts.info.rate += facts.info.rate / 100000; /* measured again */
    add_run_of(compare, 0, &facts);
    facts.path = "two";
    set_text(&facts.info, PROBITY_TAG_CPU, "Z80");
    set_text(&facts.info, PROBITY_TAG_BUILD, "beef");
    set_text(&facts.info, PROBITY_TAG_PROCESSORS, "2"); /* the others do not have it */
    facts.info.mode = 2;
    facts.info.clock = PROBITY_CLOCK_MONOTONIC_NS;
    facts.info.gap_ticks *= 2;
    facts.info.text[PROBITY_TAG_COMMAND] = (struct probity_text){"made\0fast", 9};
    add_run_of(compare, 1, &facts);
    facts.path = "three";
    set_text(&facts.info, PROBITY_TAG_PROCESSORS, "4");
    add_run_of(compare, 1, &facts);
    finish_runs(compare);
    const struct probity_compare_difference *found = probity_compare_differences(compare, &count);
    assert_int_equal(count, 7);
    assert_string_equal(found[0].what, "CPU model");
    assert_string_equal(found[0].texts[1], "Z80");
    assert_string_equal(found[0].paths[1], "two");
    assert_string_equal(probity_diff_where(&found[0]), "between");
    assert_string_equal(found[1].what, "processors");
    assert_string_equal(probity_diff_where(&found[1]), "new");
    assert_string_equal(found[1].paths[0], "two");
    assert_string_equal(found[1].paths[1], "three");
    assert_string_equal(found[2].what, "build id");
    assert_string_equal(found[2].texts[1], "beef");
    assert_string_equal(found[3].texts[1], "made fast");
    assert_string_equal(found[4].what, "clock");
    assert_string_equal(found[5].texts[1], "ring");
    assert_string_equal(found[6].texts[0], "1.5 us");
    assert_string_equal(found[6].texts[1], "3.0 us");
    probity_compare_close(compare);
}

static void rows_come_in_order(void **state)
{
    /* 20 * 1003.5 - 10 * 1003.5 is slightly more than the removed 10 * 1000. */
    static const struct {
        int order;
        const char *first, *second;
    } orders[] = {{PROBITY_COMPARE_BY_NAME, "added", "constant"},
                  {PROBITY_COMPARE_BY_IMPACT, "more", "gone"},
                  {PROBITY_COMPARE_BY_CHANGE, "more", "less"},
                  {PROBITY_COMPARE_CALLS, "more", "constant"}};
    struct probity_compare *compare = compare_known(&usual, 8);
    size_t count;

    (void)state;
    for (size_t i = 0; i < COUNT(orders); i++) {
        probity_compare_sort(compare, orders[i].order);
        const struct probity_compare_row *rows = probity_compare_rows(compare, &count);
        assert_string_equal(rows[0].item.name, orders[i].first);
        assert_string_equal(rows[1].item.name, orders[i].second);
        assert_int_equal(count, 6);
    }
    probity_compare_close(compare);
}

/* ---- Outputs -----------------------------------------------------------------------------------
 */

static char *printed(const struct probity_compare *compare,
                     const struct probity_diff_layout *layout, int form)
{
    char *text = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&text, &bytes);

    if (form == 0)
        probity_diff_text(stream, layout, compare);
    else if (form == 1)
        probity_diff_csv(stream, layout, compare);
    else
        assert_int_equal(probity_diff_json(stream, layout, compare), 0);
    fclose(stream);
    return text;
}

static void outputs_are_as_ever(void **state)
{
    const struct probity_compare_limit limit = LIMIT(PROBITY_COMPARE_CALLS, 0, 50, "calls>+50%");
    const struct probity_diff_layout layout = {.limit = 2, .is_changed_only = 1};
    struct probity_compare_options options = usual;

    (void)state;
    options.statistics = 1 << PROBITY_COMPARE_CALLS | 1 << PROBITY_COMPARE_MEAN;
    options.limits = &limit;
    options.limit_count = 1;
    struct probity_compare *compare = compare_known(&options, 8);
    probity_compare_sort(compare, PROBITY_COMPARE_BY_CHANGE);
    char *text = printed(compare, &layout, 0), *csv = printed(compare, &layout, 1);
    char *json = printed(compare, &layout, 2);
    assert_string_equal(text,
        "base: 8 runs, new: 8 runs; medians over runs; 95% confidence intervals; same: within "
        "2%\n"
        "p: rank-sum test, Benjamini-Hochberg adjusted for 5 tests, significant up to 0.05; ~N "
        "runs: runs needed per side\n\n"
        "     base      new   change     from       to        p  verdict                   of     "
        " function\n"
        "       10       20  +100.0%  +100.0%  +100.0%  0.00039  more                      calls  "
        " more\n"
        "  1.004us    803ns   -20.0%   -20.2%   -19.8%  0.00039  faster                    mean   "
        " less\n\n"
        "2 more not shown\n"
        "traces: 16 of 16 complete\n"
        "limit calls>+50%: exceeded by more (+100.0%)\n");
    assert_string_equal(csv,
        "function,file,line,statistic,base_runs,new_runs,base_median,new_median,ratio,low,high,p,"
        "p_adjusted,verdict,runs_needed,kind\n"
        "more,made.c,5,calls,8,8,10,20,2,2,2,0.0001554001554,0.0003885003885,more,,function\n"
        "less,made.c,5,mean,8,8,1003.5,802.8,0.8,0.7976143141,0.8023928215,0.0001554001554,"
        "0.0003885003885,faster,,function\n");
    assert_non_null(strstr(json,
        "\n\"differences\": [],\n"
        "\"limits\": [{\"limit\": \"calls>+50%\", \"exceeded_by\": [\"more\"]}],\n"
        "\"functions\": [\n"
        "{\"name\": \"more\", \"signature\": \"\", \"file\": \"made.c\", \"line\": 5, "
        "\"object\": \"\", \"quantile_error\": 0.0, "
        "\"statistics\": {\"calls\": {\"base_median\": 10, "
        "\"new_median\": 20, \"ratio\": 2.0, \"low\": 2.0, \"high\": 2.0, "
        "\"p\": 0.0001554001554, \"p_adjusted\": 0.0003885003885, \"verdict\": \"more\", "
        "\"runs_needed\": null, \"base\": [10, 10, 10, 10, 10, 10, 10, 10], "
        "\"new\": [20, 20, 20, 20, 20, 20, 20, 20]}}},\n"));
    assert_non_null(strstr(json, "{\"method\": {\"test\": \"Wilcoxon rank-sum, two-sided\", "
                                 "\"correction\": \"Benjamini-Hochberg\", "
                                 "\"correction_of_limits\": \"Holm\", \"tests\": 5, "
                                 "\"blocks_left_out\": 0, \"requests_left_out\": 0, "
                                 "\"runs_without_requests\": 0, "
                                 "\"tests_of_limits\": 6, \"confidence\": 0.95, "
                                 "\"tolerance_percent\": 2.0, "
                                 "\"runs_least\": 4},\n"
                                 "\"base\": [{\"trace\": \"base\", \"label\": null, "
                                 "\"complete\": true, "
                                 "\"why\": \"closed at exit\"}, "));
    free(text);
    free(csv);
    free(json);
    probity_compare_close(compare);
}

/* ---- Traces for tests of the command -----------------------------------------------------------
 */

enum { WRITTEN_FUNCTIONS = 8, WRITTEN_BLOCKS = 4 };

/* Returns how much slower a run makes one function or span. */
static double factor_of(uint32_t place, int is_slow, double percent)
{
    static const double noise[] = {0.01, 0.015, 0.02, 0.03};

    return exp(noise[place % 4] * normal()) * (is_slow ? 1 + percent / 100 : 1);
}

static uint64_t ticks_of(uint32_t place, double factor)
{
    return (uint64_t)(2 * (300 + 100 * (double)place) * factor * exp(0.05 * normal()));
}

static void write_functions(struct make *make, double percent, char slow)
{
    static struct make_item items[2 * CALLS * WRITTEN_FUNCTIONS];
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    double factors[WRITTEN_FUNCTIONS];
    uint64_t tick = 0;

    for (uint32_t i = 0; i < WRITTEN_FUNCTIONS; i++) {
        make_declare(make, 1, 10 * (i + 1), names[i], 0);
        factors[i] = factor_of(i, *names[i] == slow, percent);
    }
    for (uint32_t i = 0; i < WRITTEN_FUNCTIONS * CALLS; i++) {
        uint32_t place = i % WRITTEN_FUNCTIONS;
        items[2 * i] = (struct make_item)ENTER(tick, 10 * (place + 1));
        tick += ticks_of(place, factors[place]);
        items[2 * i + 1] = (struct make_item)LEAVE(tick, 10 * (place + 1));
        tick += 20;
    }
    make_items(make, 1, items, COUNT(items));
}

static void write_hits(struct make *make, double percent, char slow)
{
    static struct make_item items[CALLS * WRITTEN_BLOCKS];
    double factors[WRITTEN_BLOCKS];
    uint64_t tick = 0;

    for (uint32_t i = 0; i < WRITTEN_BLOCKS; i++)
        factors[i] = factor_of(i, slow == (char)('1' + i), percent);
    for (uint32_t i = 0; i < COUNT(items); i++) {
        uint32_t place = i % WRITTEN_BLOCKS;
        items[i] = (struct make_item){.tick = tick, .code = 2 * (uint64_t)(place + 1)};
        tick += ticks_of(place, factors[place]);
    }
    make_items(make, 2, items, COUNT(items));
}

static void write_trace(const char *path, double percent, char slow)
{
    static struct make make;
    struct probity_info info = make_info(NULL);

    memcpy(info.session, &seed, sizeof seed);
    make_start_with(&make, &info);
    write_functions(&make, percent, slow);
    write_hits(&make, percent, slow);
    make_finish(&make, "compare");
    assert_int_equal(rename(make.path, path), 0);
}

static int write_traces(char **words)
{
    char path[512];

    setenv("TMPDIR", words[0], 1);
    seed = strtoull(words[1], NULL, 10) * 1000003 + 12345;
    for (int i = 0; i < 10; i++)
        uniform();
    for (int i = 0; i < atoi(words[3]); i++) {
        snprintf(path, sizeof path, "%s/run.%d", words[0], i);
        write_trace(path, atof(words[2]), *words[4]);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_programs_seldom_differ),
        cmocka_unit_test(three_percent_are_found_in_twenty_runs),
        cmocka_unit_test(limits_fail_seldom_by_mistake),
        cmocka_unit_test(verdicts_are_as_the_runs),
        cmocka_unit_test(one_run_gives_only_ratios),
        cmocka_unit_test(scopes_of_one_name_stay_apart),
        cmocka_unit_test(blocks_stand_for_themselves),
        cmocka_unit_test(patterns_choose_kinds),
        cmocka_unit_test(limits_may_be_of_some_rows),
        cmocka_unit_test(one_session_is_one_run),
        cmocka_unit_test(limits_need_more_than_to_be_observed),
        cmocka_unit_test(coarse_quantiles_are_not_called_same),
        cmocka_unit_test(other_machines_are_reported),
        cmocka_unit_test(rows_come_in_order),
        cmocka_unit_test(outputs_are_as_ever),
    };
    if (argc == 7 && strcmp(argv[1], "write") == 0)
        return write_traces(argv + 2);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
