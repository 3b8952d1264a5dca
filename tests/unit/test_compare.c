/* SPDX-License-Identifier: MIT
 *
 * test_compare.c: verdicts on runs of known distribution: how often nothing is called a change, how
 * often a change is found; rows that come and go; limits; outputs to the letter.
 *
 *     test_compare write FOLDER SEED PERCENT RUNS FUNCTION
 *
 * writes RUNS traces FOLDER/run.0 ... of functions `a` to `h` with noisy times, one of them slower
 * by so many percent, for tests of the command itself.
 */
#include "test_scopes_make.h"

#include <math.h>

#include "analysis/compare.h"
#include "output/diff_csv.h"
#include "output/diff_json.h"
#include "output/diff_text.h"

enum { FUNCTIONS = 12, SLOW = 4, CALLS = 100 };

static uint64_t seed = 1;

static double uniform(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * acos(-1) * uniform());
}

static const struct probity_compare_options usual = {.confidence = 0.95, .tolerance_percent = 2};

static struct probity_compare *open_compare(const struct probity_compare_options *options)
{
    struct probity_compare *compare;

    assert_int_equal(probity_compare_open(options, &compare), 0);
    return compare;
}

static void add_run(struct probity_compare *compare, int side, const char *path)
{
    struct probity_trace_facts facts = {.path = path, .state = PROBITY_TRACE_CLOSED,
                                        .info = make_info(NULL), .end_reason = PROBITY_END_EXIT};

    assert_int_equal(probity_compare_add_run(compare, side, &facts), 0);
}

static const struct probity_function *function_of(const char *name)
{
    static struct probity_function function;

    function = (struct probity_function){.name = name, .file = "folder/made.c", .line = 5,
                                         .signature = "", .returns = "", .object = ""};
    return &function;
}

static void add_row(struct probity_compare *compare, const char *name, double calls, double ns)
{
    const double values[PROBITY_COMPARE_STATISTICS] = {calls, ns * calls, ns * calls, ns * calls,
                                                       ns, ns, ns};

    assert_int_equal(probity_compare_add_row(compare, function_of(name), 0, values), 0);
}

static const struct probity_compare_row *row_named(const struct probity_compare *compare,
                                                   const char *name)
{
    size_t count;
    const struct probity_compare_row *rows = probity_compare_rows(compare, &count);

    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    }
    fail_msg("no row %s", name);
    return rows;
}

/* ---- Error rates -------------------------------------------------------------------------------
 */

/* All functions share half a percent of a run's luck, and have 1, 2 or 3 % of their own; the tail
 * moves more than the rest. */
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
        assert_int_equal(probity_compare_add_row(compare, function_of(names[i]), 0, values), 0);
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
    assert_int_equal(probity_compare_finish(compare), 0);
    return compare;
}

static int is_change(const struct probity_compare_result *result)
{
    return result->verdict == PROBITY_COMPARE_LESS || result->verdict == PROBITY_COMPARE_MORE;
}

/* Statistics of this row that are said to have changed. */
static int changes_of(const struct probity_compare_row *row)
{
    int changes = 0;

    for (int i = 0; i < PROBITY_COMPARE_STATISTICS; i++)
        changes += is_change(&row->results[i]);
    return changes;
}

/* Of 200 comparisons of equal programs, with any line at all that claims a change: 5 % are 10. */
static void false_alarms(size_t runs, int most)
{
    int alarms = 0;
    size_t count;

    for (int repetition = 0; repetition < 200; repetition++) {
        struct probity_compare *compare = compare_noisy(&usual, runs, 1);
        const struct probity_compare_row *rows = probity_compare_rows(compare, &count);
        int changes = 0;
        assert_int_equal(count, FUNCTIONS);
        for (size_t i = 0; i < count; i++)
            changes += changes_of(&rows[i]);
        alarms += changes > 0;
        probity_compare_close(compare);
    }
    print_message("%d of 200 comparisons of equal sets of %zu runs told a change\n", alarms, runs);
    assert_in_range(alarms, 0, most);
}

static void equal_programs_seldom_differ(void **state)
{
    (void)state;
    false_alarms(20, 10);
    false_alarms(10, 10);
    false_alarms(5, 10);
}

static void three_percent_are_found_in_twenty_runs(void **state)
{
    int found = 0, direction = 0;

    (void)state;
    for (int repetition = 0; repetition < 200; repetition++) {
        struct probity_compare *compare = compare_noisy(&usual, 20, 1.03);
        const struct probity_compare_row *row = row_named(compare, "e");
        found += changes_of(row) > 0;
        direction += row->results[PROBITY_COMPARE_SELF].verdict != PROBITY_COMPARE_LESS;
        probity_compare_close(compare);
    }
    print_message("3 %% found in %d of 200\n", found);
    assert_in_range(found, 180, 200);
    assert_int_equal(direction, 200);
}

/* A function that is exactly at the limit fails with at most 5 %, however many others there are;
 * one far beyond is caught. */
static void limits_fail_seldom_by_mistake(void **state)
{
    const struct probity_compare_limit at = {PROBITY_COMPARE_SELF, 0, 3, "self>+3%"},
                                       beyond = {PROBITY_COMPARE_SELF, 0, -2, "self>-2%"};
    struct probity_compare_options options = usual;
    int mistakes = 0, caught = 0;

    (void)state;
    options.limit_count = 1;
    for (int repetition = 0; repetition < 200; repetition++) {
        options.limits = &at;
        struct probity_compare *compare = compare_noisy(&options, 20, 1.03);
        mistakes += row_named(compare, "e")->exceeds != 0;
        probity_compare_close(compare);
        options.limits = &beyond;
        compare = compare_noisy(&options, 20, 1.03);
        caught += row_named(compare, "e")->exceeds != 0;
        probity_compare_close(compare);
    }
    print_message("at the limit %d of 200 fail, 5 %% beyond %d\n", mistakes, caught);
    assert_in_range(mistakes, 0, 10);
    assert_in_range(caught, 180, 200);
}

/* ---- Rows --------------------------------------------------------------------------------------
 */

/* Runs i = 0 ... of constant, more, less, gone, added and sometimes. */
static struct probity_compare *compare_known(const struct probity_compare_options *options,
                                             int runs)
{
    struct probity_compare *compare = open_compare(options);

    for (int i = 0; i < 2 * runs; i++) {
        int side = i % 2;
        double luck = 1 + 0.001 * (i / 2);
        add_run(compare, side, side == 0 ? "base" : "new");
        add_row(compare, "constant", 10, 1000);
        add_row(compare, "more", 10 * (1 + side), 1000 * luck);
        add_row(compare, "less", 10, (side == 0 ? 1000 : 800) * luck);
        if (side == 0)
            add_row(compare, "gone", 10, 1000);
        else
            add_row(compare, "added", 1, 1);
        if (i % 4 < 2)
            add_row(compare, "sometimes", 4, 1000 * luck);
    }
    assert_int_equal(probity_compare_finish(compare), 0);
    return compare;
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
    expect_verdict(compare, "sometimes", PROBITY_COMPARE_CALLS, "cannot tell");
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

static void one_run_tells_ratios_only(void **state)
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
    const double values[PROBITY_COMPARE_STATISTICS] = {1, 1, 1, 1, 1, 1, 1};
    size_t count;

    (void)state;
    for (int side = 0; side < 2; side++) {
        struct probity_function function = *function_of("twice");
        function.file = side == 0 ? "/here/made.c" : "/there/made.c"; /* built elsewhere */
        add_run(compare, side, "run");
        assert_int_equal(probity_compare_add_row(compare, &function, 0, values), 0);
        function.line += 10;
        assert_int_equal(probity_compare_add_row(compare, &function, 1, values), 0);
        function.file = "other.c";
        assert_int_equal(probity_compare_add_row(compare, &function, 0, values), 0);
    }
    assert_int_equal(probity_compare_finish(compare), 0);
    probity_compare_rows(compare, &count);
    assert_int_equal(count, 3);
    probity_compare_close(compare);
}

static void limits_need_more_than_to_be_observed(void **state)
{
    const struct probity_compare_limit limits[] = {
        {PROBITY_COMPARE_CALLS, 0, 99, "calls>+99%"},  /* 100 % more: beyond */
        {PROBITY_COMPARE_CALLS, 0, 100, "calls>+100%"}, /* exactly at it */
        {PROBITY_COMPARE_MEAN, 1, -15, "mean<-15%"},   /* 20 % less: beyond */
        {PROBITY_COMPARE_MEAN, 1, -25, "mean<-25%"}};
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
    /* Four runs a side cannot pay for 24 tests: 1 / C(8, 4) is more than 5 % / 24. */
    compare = compare_known(&options, 4);
    assert_int_equal(row_named(compare, "more")->exceeds, 0);
    assert_int_equal(probity_compare_limit_runs(compare), 6);
    probity_compare_close(compare);
}

/* Where a quantile is known to its bucket only, runs that agree may all be off alike. */
static void coarse_quantiles_are_not_called_same(void **state)
{
    const struct probity_compare_limit limits[] = {{PROBITY_COMPARE_P99, 1, -15, "p99<-15%"},
                                                   {PROBITY_COMPARE_P99, 1, -1, "p99<-1%"}};
    struct probity_compare_options options = usual;

    (void)state;
    options.limits = limits;
    options.limit_count = COUNT(limits);
    options.quantile_error = 0.1;
    struct probity_compare *compare = compare_known(&options, 8);
    expect_verdict(compare, "constant", PROBITY_COMPARE_SELF, "same");
    expect_verdict(compare, "constant", PROBITY_COMPARE_P99, "cannot tell");
    expect_verdict(compare, "less", PROBITY_COMPARE_MEDIAN, "faster");
    assert_int_equal(row_named(compare, "constant")->results[PROBITY_COMPARE_P99].runs_needed, 0);
    assert_int_equal(row_named(compare, "less")->exceeds, 2); /* 0.8 * 1.1 is not below 0.85 */
    probity_compare_close(compare);
}

static void other_machines_are_told(void **state)
{
    struct probity_compare *compare = open_compare(&usual);
    struct probity_trace_facts facts = {.path = "one", .state = PROBITY_TRACE_CLOSED,
                                        .info = make_info(NULL)};
    size_t count;

    (void)state;
    assert_int_equal(probity_compare_add_run(compare, 0, &facts), 0);
    facts.info.rate += facts.info.rate / 100000; /* measured anew */
    assert_int_equal(probity_compare_add_run(compare, 0, &facts), 0);
    facts.path = "two";
    facts.info.text[PROBITY_TAG_CPU] = (struct probity_text){"Z80", 3};
    facts.info.mode = 2;
    facts.info.clock = PROBITY_CLOCK_MONOTONIC_NS;
    facts.info.gap_ticks *= 2;
    facts.info.text[PROBITY_TAG_COMMAND] = (struct probity_text){"made\0fast", 9};
    assert_int_equal(probity_compare_add_run(compare, 1, &facts), 0);
    assert_int_equal(probity_compare_finish(compare), 0);
    const struct probity_compare_difference *found = probity_compare_differences(compare, &count);
    assert_int_equal(count, 5);
    assert_string_equal(found[0].what, "CPU model");
    assert_string_equal(found[0].texts[1], "Z80");
    assert_string_equal(found[0].paths[1], "two");
    assert_string_equal(found[1].texts[1], "made fast");
    assert_string_equal(found[2].what, "clock");
    assert_string_equal(found[3].texts[1], "ring");
    assert_string_equal(found[4].texts[0], "1.5 us");
    assert_string_equal(found[4].texts[1], "3.0 us");
    probity_compare_close(compare);
}

static void rows_come_in_order(void **state)
{
    /* 20 * 1003.5 - 10 * 1003.5 is a little more than the 10 * 1000 that are gone. */
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
        assert_string_equal(rows[0].name, orders[i].first);
        assert_string_equal(rows[1].name, orders[i].second);
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
    const struct probity_compare_limit limit = {PROBITY_COMPARE_CALLS, 0, 50, "calls>+50%"};
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
        "base: 8 runs, new: 8 runs; medians over runs; 95% intervals of each line; same: within "
        "2%\n"
        "p: rank-sum test, for 5 tests after Benjamini and Hochberg, a change up to 0.05; ~N runs: "
        "so many a side could tell\n\n"
        "     base      new   change     from       to        p  verdict                   of     "
        " function\n"
        "       10       20  +100.0%  +100.0%  +100.0%  0.00039  more                      calls  "
        " more\n"
        "  1.004us    803ns   -20.0%   -20.2%   -19.8%  0.00039  faster                    mean   "
        " less\n\n"
        "2 more functions are not shown\n"
        "traces: 16 of 16 complete\n"
        "limit calls>+50%: exceeded by more (+100.0%)\n");
    assert_string_equal(csv,
        "function,file,line,statistic,base_runs,new_runs,base_median,new_median,ratio,low,high,p,"
        "p_adjusted,verdict,runs_needed\n"
        "more,made.c,5,calls,8,8,10,20,2,2,2,0.0001554001554,0.0003885003885,more,\n"
        "less,made.c,5,mean,8,8,1003.5,802.8,0.8,0.7976143141,0.8023928215,0.0001554001554,"
        "0.0003885003885,faster,\n");
    assert_non_null(strstr(json,
        "\n\"differences\": [],\n"
        "\"limits\": [{\"limit\": \"calls>+50%\", \"exceeded_by\": [\"more\"]}],\n"
        "\"functions\": [\n"
        "{\"name\": \"more\", \"signature\": \"\", \"file\": \"made.c\", \"line\": 5, "
        "\"object\": \"\", \"statistics\": {\"calls\": {\"base_median\": 10, "
        "\"new_median\": 20, \"ratio\": 2.0, \"low\": 2.0, \"high\": 2.0, "
        "\"p\": 0.0001554001554, \"p_adjusted\": 0.0003885003885, \"verdict\": \"more\", "
        "\"runs_needed\": null, \"base\": [10, 10, 10, 10, 10, 10, 10, 10], "
        "\"new\": [20, 20, 20, 20, 20, 20, 20, 20]}}},\n"));
    assert_non_null(strstr(json, "{\"method\": {\"test\": \"Wilcoxon rank-sum, two-sided\", "
                                 "\"correction\": \"Benjamini-Hochberg\", "
                                 "\"correction_of_limits\": \"Holm\", \"tests\": 5, "
                                 "\"tests_of_limits\": 6, \"confidence\": 0.95, "
                                 "\"tolerance_percent\": 2.0, "
                                 "\"quantile_error\": 0.0, \"runs_least\": 4},\n"
                                 "\"base\": [{\"trace\": \"base\", \"complete\": true, "
                                 "\"why\": \"closed at exit\"}, "));
    free(text);
    free(csv);
    free(json);
    probity_compare_close(compare);
}

/* ---- Traces for tests of the command -----------------------------------------------------------
 */

static void write_trace(const char *path, double percent, char slow)
{
    static struct make make;
    static struct make_item items[2 * CALLS * 8];
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    static const double noise[] = {0.01, 0.015, 0.02, 0.03};
    double factors[8];
    uint64_t tick = 0;

    make_start(&make);
    for (uint32_t i = 0; i < 8; i++) {
        make_declare(&make, 1, 10 * (i + 1), names[i], 0);
        factors[i] = exp(noise[i % 4] * normal()) *
                     (*names[i] == slow ? 1 + percent / 100 : 1);
    }
    for (size_t i = 0; i < 8 * CALLS; i++) {
        double ns = (300 + 100 * (double)(i % 8)) * factors[i % 8] * exp(0.05 * normal());
        items[2 * i] = (struct make_item)ENTER(tick, 10 * (i % 8 + 1));
        tick += (uint64_t)(2 * ns);
        items[2 * i + 1] = (struct make_item)LEAVE(tick, 10 * (i % 8 + 1));
        tick += 20;
    }
    make_items(&make, 1, items, COUNT(items));
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
        cmocka_unit_test(one_run_tells_ratios_only),
        cmocka_unit_test(scopes_of_one_name_stay_apart),
        cmocka_unit_test(limits_need_more_than_to_be_observed),
        cmocka_unit_test(coarse_quantiles_are_not_called_same),
        cmocka_unit_test(other_machines_are_told),
        cmocka_unit_test(rows_come_in_order),
        cmocka_unit_test(outputs_are_as_ever),
    };
    if (argc == 7 && strcmp(argv[1], "write") == 0)
        return write_traces(argv + 2);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
