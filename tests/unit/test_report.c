/* SPDX-License-Identifier: MIT
 *
 * test_report.c: sums of calls, sort orders, merged functions, and the exact output in both
 * formats. All tests run twice: with single events and with runs of events.
 */
#include "print/time_text.h"
#include "test_scopes_make.h"

#include "answers/report/report.h"
#include "answers/report/report_json.h"
#include "answers/report/report_text.h"
#include "reader/run.h"

static struct make make;
static int has_runs;
static size_t in_runs;

struct run {
    struct probity_reader *reader;
    struct probity_report *report;
    struct probity_report_function *functions;
    size_t count;
};

/* Functions a, b and c with sites 10, 20 and 30, and another function a, with site 50, as if
 * another file included the same header. */
static void start(void)
{
    make_start(&make);
    make_declare(&make, 1, 10, "a", 0);
    make_declare(&make, 1, 20, "b", 0);
    make_declare(&make, 1, 30, "c\033", 0);
}

static void take_events(const struct run *run)
{
    const struct probity_event *event;
    struct probity_run events;

    for (;;) {
        while (probity_reader_next_run(run->reader, UINT64_MAX, &events) > 0) {
            assert_int_equal(probity_report_put_run(run->report, &events), 0);
            in_runs += events.count;
        }
        if (probity_reader_next(run->reader, &event) <= 0)
            return;
        assert_int_equal(probity_report_put(run->report, event), 0);
    }
}

static struct run run_made(const char *name, const struct probity_report_options *options)
{
    const struct probity_reader_options reading = {.runs = has_runs ? &probity_run_steps : NULL};
    struct run run = {0};
    const char *path = make.path;

    make_finish(&make, name);
    assert_int_equal(probity_report_open(options, &run.report), 0);
    assert_int_equal(probity_reader_open(&path, 1, &reading, NULL, &run.reader), 0);
    take_events(&run);
    assert_int_equal(probity_report_finish(run.report), 0);
    run.functions = probity_report_functions(run.report, &run.count);
    probity_report_sort(run.functions, run.count, PROBITY_REPORT_SELF);
    unlink(make.path);
    return run;
}

static void close_run(struct run *run)
{
    probity_report_close(run->report);
    probity_reader_close(run->reader);
}

static void expect_sums(const struct probity_report_sums *sums, uint64_t calls, uint64_t total,
                        uint64_t self)
{
    assert_int_equal(sums->calls, calls);
    assert_int_equal(sums->total.wall_ns, total);
    assert_int_equal(sums->total.cpu_ns, total);
    assert_int_equal(sums->self.wall_ns, self);
    assert_int_equal(sums->self.cpu_ns, self);
}

static void recursion_adds_its_outermost_call_only(void **state)
{
    const struct make_item items[] = {ENTER(0, 10), ENTER(100, 20), ENTER(200, 10), ENTER(300, 10),
                                      LEAVE(500, 10), LEAVE(600, 10), LEAVE(900, 20),
                                      LEAVE(1000, 10)};

    (void)state;
    start();
    make_items(&make, 1, items, COUNT(items));
    struct run run = run_made("recursion", NULL);
    assert_int_equal(run.count, 2);
    assert_string_equal(run.functions[0].function->name, "a");
    expect_sums(&run.functions[0].sums, 3, 500, 100 + 100 + 100);
    assert_int_equal(run.functions[0].sums.min_ns, 100);
    assert_int_equal(run.functions[0].sums.max_ns, 500);
    assert_int_equal(probity_report_value(&run.functions[0].sums, PROBITY_REPORT_MEAN),
                     (500 + 200 + 100) / 3);
    expect_sums(&run.functions[1].sums, 1, 400, 200);
    assert_int_equal(run.functions[1].row_count, 0);
    close_run(&run);
}

/* b calls itself, and is left by a jump after this second call has ended; a never ends. */
static void calls_without_a_recorded_end_have_no_duration(void **state)
{
    const struct make_item items[] = {
        ENTER(0, 10), ENTER(100, 20), ENTER(180, 20), LEAVE(580, 20),
        EVENT(600, PROBITY_EVENT_UNWOUND, "\1\0\0", 4), ENTER(700, 10)};

    (void)state;
    start();
    make_items(&make, 1, items, COUNT(items));
    struct run run = run_made("unrecorded", NULL);
    assert_int_equal(run.count, 2);
    const struct probity_report_sums *left = &run.functions[0].sums;
    assert_string_equal(run.functions[0].function->name, "b");
    assert_int_equal(left->calls, 2);
    assert_int_equal(left->repaired, 1);
    assert_int_equal(left->open, 0);
    assert_int_equal(left->total.wall_ns, (580 - 100) / 2);
    assert_int_equal(probity_report_value(left, PROBITY_REPORT_MIN), 200);
    assert_int_equal(probity_report_value(left, PROBITY_REPORT_MEAN), 200);
    assert_int_equal(probity_report_value(left, PROBITY_REPORT_MAX), 200);
    assert_int_equal(probity_report_quantile(left, 500), 200);
    assert_int_equal(left->durations.count, 1);
    const struct probity_report_sums *open = &run.functions[1].sums;
    assert_int_equal(open->open, open->calls);
    assert_false(probity_report_is_known(open, PROBITY_REPORT_MIN, 1));
    assert_true(probity_report_is_known(open, PROBITY_REPORT_TOTAL, 1));
    close_run(&run);
}

static void threads_have_rows_on_request(void **state)
{
    const struct probity_report_options options = {.by_thread = 1};
    const struct make_item one[] = {EVENT(0, PROBITY_EVENT_THREAD_NAME, "first", 5), ENTER(10, 10),
                                    LEAVE(110, 10)};
    const struct make_item two[] = {ENTER(20, 10), LEAVE(320, 10), ENTER(400, 10), LEAVE(500, 10)};

    (void)state;
    start();
    make_items(&make, 1, one, COUNT(one));
    make_items(&make, 2, two, COUNT(two));
    struct run run = run_made("threads", &options);
    assert_int_equal(run.count, 1);
    expect_sums(&run.functions[0].sums, 3, 250, 250);
    assert_int_equal(run.functions[0].row_count, 2);
    const struct probity_report_row *rows = run.functions[0].rows;
    assert_int_equal(rows[0].thread->tid, 102);
    assert_null(rows[0].thread->name);
    expect_sums(&rows[0].sums, 2, 200, 200);
    assert_int_equal(rows[1].thread->tid, 101);
    assert_string_equal(rows[1].thread->name, "first");
    expect_sums(&rows[1].sums, 1, 50, 50);
    close_run(&run);
}

static void declarations_of_equal_texts_are_one_function(void **state)
{
    const struct probity_report_options options = {.by_thread = 1};
    uint8_t again[128];
    size_t bytes = make_function(again, 50, "a", 0);
    const struct make_item items[] = {EVENT(1, PROBITY_EVENT_FUNCTION, again, bytes), ENTER(10, 10),
                                      LEAVE(110, 10), ENTER(210, 50), LEAVE(290, 50)};

    (void)state;
    probity_put_u32(again + 4, 20); /* the other a's line */
    start();
    make_items(&make, 1, items, COUNT(items));
    struct run run = run_made("equal", &options);
    assert_int_equal(run.count, 1);
    expect_sums(&run.functions[0].sums, 2, 90, 90);
    assert_int_equal(run.functions[0].row_count, 1);
    expect_sums(&run.functions[0].rows[0].sums, 2, 90, 90);
    close_run(&run);
}

static void a_range_takes_calls_that_begin_in_it(void **state)
{
    const struct probity_report_options options = {.from_ns = MAKE_WALL + 100,
                                                   .to_ns = MAKE_WALL + 200};
    const struct make_item items[] = {ENTER(198, 10), ENTER(200, 20), LEAVE(1000, 20),
                                      LEAVE(1100, 10), ENTER(1200, 10), LEAVE(1300, 10)};

    (void)state;
    start();
    make_items(&make, 1, items, COUNT(items));
    struct run run = run_made("range", &options);
    assert_int_equal(run.count, 1);
    assert_string_equal(run.functions[0].function->name, "b");
    expect_sums(&run.functions[0].sums, 1, 400, 400);
    close_run(&run);
}

static void calls_without_profiling_have_no_times(void **state)
{
    const struct make_item items[] = {EVENT(5, PROBITY_EVENT_PROFILING, "\0", 1), ENTER(10, 10),
                                      LEAVE(20, 10), EVENT(25, PROBITY_EVENT_PROFILING, "\1", 1),
                                      ENTER(30, 20), LEAVE(50, 20), ENTER(60, 20)};

    (void)state;
    start();
    make_items(&make, 1, items, COUNT(items));
    struct run run = run_made("off", NULL);
    assert_int_equal(run.count, 2);
    expect_sums(&run.functions[0].sums, 2, 10, 10);
    assert_int_equal(run.functions[0].sums.repaired, 1);
    expect_sums(&run.functions[1].sums, 1, 0, 0);
    assert_int_equal(run.functions[1].sums.untimed, 1);
    assert_int_equal(probity_report_value(&run.functions[1].sums, PROBITY_REPORT_MIN), 0);
    close_run(&run);
}

/* Durations 1 to 1000, so that each rank equals its value. */
static void quantiles_are_right_to_one_in_256(void **state)
{
    static struct make_item items[2000];
    uint64_t tick = 0;

    (void)state;
    for (size_t i = 0; i < 1000; i++) {
        items[2 * i] = (struct make_item)ENTER(tick, 10);
        items[2 * i + 1] = (struct make_item)LEAVE(tick + 2 * (i + 1), 10);
        tick += 2 * (i + 1);
    }
    start();
    make_items(&make, 1, items, COUNT(items));
    struct run run = run_made("quantiles", NULL);
    const struct probity_report_sums *sums = &run.functions[0].sums;
    assert_in_range(probity_report_quantile(sums, 500), 500 - 1, 500 + 1);
    assert_in_range(probity_report_quantile(sums, 900), 900 - 3, 900 + 3);
    assert_in_range(probity_report_quantile(sums, 990), 990 - 3, 990 + 3);
    assert_int_equal(probity_report_quantile(sums, 0), 1);
    assert_int_equal(probity_report_quantile(sums, 1000), 1000);
    close_run(&run);
}

static void rows_from_elsewhere_are_added(void **state)
{
    const struct probity_report_options options = {.by_thread = 1};
    const struct probity_function function = {.name = "p", .file = "f", .signature = "",
                                              .returns = "", .object = ""};
    const struct probity_thread_label thread = {.thread = 7, .tid = 107, .pid = 77, .name = "t"};
    struct probity_report_row row = {
        &function, 0, 0, &thread,
        {.calls = 3, .profiled = 3, .repaired = 1, .total = {300, 30}, .self = {200, 20},
         .sum_ns = 300, .min_ns = 96, .max_ns = 110}};
    struct probity_report *report;
    size_t count;

    (void)state;
    assert_int_equal(probity_report_open(&options, &report), 0);
    assert_int_equal(probity_histogram_add_times(&row.sums.durations, 96, 3), 0);
    assert_int_equal(probity_report_add_row(report, &row), 0);
    probity_histogram_release(&row.sums.durations);
    row.sums.max_ns = 150;
    assert_int_equal(probity_histogram_add_times(&row.sums.durations, 96, 2), 0);
    assert_int_equal(probity_histogram_add(&row.sums.durations, 150), 0);
    assert_int_equal(probity_report_add_row(report, &row), 0);
    probity_histogram_release(&row.sums.durations);
    assert_int_equal(probity_report_finish(report), 0);
    const struct probity_report_function *functions = probity_report_functions(report, &count);
    assert_int_equal(count, 1);
    assert_int_equal(functions->row_count, 1);
    assert_string_equal(functions->rows[0].thread->name, "t");
    assert_int_equal(functions->sums.calls, 6);
    assert_int_equal(functions->sums.profiled, 6);
    assert_int_equal(functions->sums.max_ns, 150);
    assert_int_equal(probity_report_repairs(report)->unwound, functions->sums.repaired);
    assert_true(functions->sums.repaired > 0);
    assert_int_equal(functions->sums.durations.count, 6);
    assert_int_equal(probity_report_quantile(&functions->sums, 834), 150);
    assert_int_equal(probity_report_quantile(&functions->sums, 833), 96);
    probity_report_close(report);
}

static void times_have_four_digits_and_a_unit(void **state)
{
    static const struct {
        uint64_t ns;
        const char *text;
    } times[] = {{0, "0ns"}, {999, "999ns"}, {1000, "1.000us"}, {9999, "9.999us"},
                 {12345, "12.34us"}, {999999, "999.9us"}, {1000000, "1.000ms"},
                 {UINT64_C(999999999), "999.9ms"}, {UINT64_C(1000000000), "1.000s"},
                 {UINT64_C(86400000000000), "86400s"}, {UINT64_C(99999000000000), "27.77h"},
                 {UINT64_MAX, "5124095h"}};
    char text[PROBITY_TIME_TEXT_BYTES];

    (void)state;
    for (size_t i = 0; i < COUNT(times); i++)
        assert_string_equal(probity_time_text(times[i].ns, text), times[i].text);
    assert_string_equal(probity_real_time_text(1499.5, text), "1.500us");
    assert_string_equal(probity_real_time_text(0.4, text), "0ns");
    assert_string_equal(probity_real_time_text(-1, text), "0ns");
    assert_string_equal(probity_real_time_text(1e300, text), "5124095h");
    assert_string_equal(probity_real_time_text(18446744073709551616.0, text), "5124095h");
}

static void ages_have_one_unit(void **state)
{
    static const struct {
        uint64_t s;
        const char *text;
    } ages[] = {{0, "0 s"}, {119, "119 s"}, {120, "2 min"}, {7199, "119 min"}, {7200, "2 h"},
                {172799, "47 h"}, {172800, "2 d"}, {UINT64_MAX / 1000000000, "213503 d"}};
    char text[PROBITY_TIME_TEXT_BYTES];

    (void)state;
    for (size_t i = 0; i < COUNT(ages); i++)
        assert_string_equal(probity_age_text(ages[i].s * 1000000000, text), ages[i].text);
}

/* ---- Outputs -----------------------------------------------------------------------------------
 */

static const struct make_item golden[] = {
    EVENT(0, PROBITY_EVENT_THREAD_NAME, "main", 4), ENTER(1000, 10), ENTER(3000, 20),
    LEAVE(5000, 20), ENTER(7000, 20), EVENT(7500, PROBITY_EVENT_PAUSE, "", 0),
    EVENT(8500, PROBITY_EVENT_RESUME, "", 0), LEAVE(11000, 20), ENTER(12000, 30),
    LEAVE(1000000, 10), LEAVE(1000100, 30), ENTER(1000200, 10)};

static char *printed(struct run *run, const struct probity_report_layout *layout)
{
    char *text = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&text, &bytes);

    if (layout != NULL)
        probity_report_text(stream, layout, run->reader, run->functions, run->count,
                            probity_report_repairs(run->report));
    else
        assert_int_equal(probity_report_json(stream, run->reader, run->functions, run->count,
                                             probity_report_repairs(run->report)), 0);
    fclose(stream);
    return text;
}

/* Compares the text except for the file name after "trace:", which varies. */
static void expect_text(char *text, const char *expected)
{
    char *trace = strstr(text, "trace: ");

    assert_non_null(trace);
    assert_non_null(strstr(trace, ": complete: closed at exit\n"));
    *trace = '\0';
    assert_string_equal(text, expected);
    free(text);
}

static void the_table_is_as_ever(void **state)
{
    struct probity_report_layout layout = {0};

    (void)state;
    start();
    make_items(&make, 1, golden, COUNT(golden));
    struct run run = run_made("text", NULL);
    expect_text(printed(&run, &layout),
        "               wall time        CPU time                  wall time of one call\n"
        "    calls   total    self   total    self     min    mean     p50     p99     max"
        "  function\n"
        "        2 499.0us 496.5us 499.0us 496.5us 499.0us 499.0us 499.0us 499.0us 499.0us  a\n"
        "        2 2.500us 2.500us 2.500us 2.500us 1.000us 1.250us 1.000us 1.500us 1.500us  b\n"
        "        1     0ns     0ns     0ns     0ns       -       -       -       -       -  "
        "c\\033\n"
        "\n"
        "overhead: not measured\n"
        "repaired: 1 ended without an exit record (longjmp, or records are missing)\n"
        "repaired: 1 still open at the end of their thread's records\n"
        "repaired: 1 exits without a matching entry\n");
    layout = (struct probity_report_layout){.limit = 1, .has_places = 1, .has_signatures = 1};
    expect_text(printed(&run, &layout),
        "               wall time        CPU time                  wall time of one call\n"
        "    calls   total    self   total    self     min    mean     p50     p99     max"
        "  function\n"
        "        2 499.0us 496.5us 499.0us 496.5us 499.0us 499.0us 499.0us 499.0us 499.0us  "
        "a  made.c:20\n"
        "\n"
        "2 more functions are not shown\n"
        "overhead: not measured\n"
        "repaired: 1 ended without an exit record (longjmp, or records are missing)\n"
        "repaired: 1 still open at the end of their thread's records\n"
        "repaired: 1 exits without a matching entry\n");
    close_run(&run);
}

static void the_json_is_as_ever(void **state)
{
    const struct probity_report_options options = {.by_thread = 1};

    (void)state;
    start();
    make_items(&make, 1, golden, 4); /* a and one call of b */
    struct run run = run_made("json", &options);
    char *text = printed(&run, NULL), *repairs = strstr(text, "\"repairs\"");
    assert_non_null(strstr(text, "{\"traces\": [{\"trace\": \""));
    assert_non_null(strstr(text, "\"pid\": 77, \"state\": \"closed\", \"complete\": true, \"why\": "
                                 "\"closed at exit\", \"wall_steps\": 0, \"stalls\": 0, "
                                 "\"stall_ns\": 0}],\n"));
    assert_string_equal(repairs,
        "\"repairs\": {\"unwound\": 0, \"open\": 1, \"orphans\": 0, \"pauses_unmatched\": 0, "
        "\"resumes_unmatched\": 0},\n"
        "\"functions\": [\n"
        "{\"name\": \"a\", \"declared\": true, \"signature\": \"\", \"returns\": \"int\", "
        "\"file\": \"made.c\", \"line\": 20, \"object\": \"\", \"level\": 1, \"calls\": 1, "
        "\"calls_untimed\": 0, \"calls_counted\": 0, \"calls_entries\": 0, "
        "\"calls_are_least\": false, \"calls_repaired\": 1, \"calls_open\": 1, "
        "\"total_ns\": 2000, \"self_ns\": 1000, "
        "\"paused_ns\": 0, \"cpu_total_ns\": 2000, \"cpu_self_ns\": 1000, \"cpu_paused_ns\": 0, "
        "\"off_cpu_total_ns\": 0, \"off_cpu_self_ns\": 0, \"elapsed_ns\": 2000, "
        "\"parallelism\": 1.0, "
        "\"min_ns\": null, \"mean_ns\": null, \"p50_ns\": null, \"p90_ns\": null, "
        "\"p99_ns\": null, \"max_ns\": null, "
        "\"percentile_error\": 0.00390625, "
        "\"total_corrected_ns\": null, \"total_error_ns\": null, \"self_corrected_ns\": null, "
        "\"self_error_ns\": null, \"histogram\": [], \"threads\": [{"
        "\"pid\": 77, \"tid\": 101, \"thread\": 1, \"name\": \"main\", \"calls\": 1, "
        "\"calls_untimed\": 0, \"calls_counted\": 0, \"calls_entries\": 0, "
        "\"calls_are_least\": false, \"calls_repaired\": 1, \"calls_open\": 1, "
        "\"total_ns\": 2000, \"self_ns\": 1000, "
        "\"paused_ns\": 0, \"cpu_total_ns\": 2000, \"cpu_self_ns\": 1000, \"cpu_paused_ns\": 0, "
        "\"off_cpu_total_ns\": 0, \"off_cpu_self_ns\": 0, \"elapsed_ns\": 2000, "
        "\"parallelism\": 1.0, "
        "\"min_ns\": null, \"mean_ns\": null, \"p50_ns\": null, \"p90_ns\": null, "
        "\"p99_ns\": null, \"max_ns\": null, "
        "\"percentile_error\": 0.00390625, "
        "\"total_corrected_ns\": null, \"total_error_ns\": null, \"self_corrected_ns\": null, "
        "\"self_error_ns\": null}]},\n"
        "{\"name\": \"b\", \"declared\": true, \"signature\": \"\", \"returns\": \"int\", "
        "\"file\": \"made.c\", \"line\": 30, \"object\": \"\", \"level\": 1, \"calls\": 1, "
        "\"calls_untimed\": 0, \"calls_counted\": 0, \"calls_entries\": 0, "
        "\"calls_are_least\": false, \"calls_repaired\": 0, \"calls_open\": 0, "
        "\"total_ns\": 1000, \"self_ns\": 1000, "
        "\"paused_ns\": 0, \"cpu_total_ns\": 1000, \"cpu_self_ns\": 1000, \"cpu_paused_ns\": 0, "
        "\"off_cpu_total_ns\": 0, \"off_cpu_self_ns\": 0, \"elapsed_ns\": 1000, "
        "\"parallelism\": 1.0, "
        "\"min_ns\": 1000, \"mean_ns\": 1000, \"p50_ns\": 1000, \"p90_ns\": 1000, "
        "\"p99_ns\": 1000, \"max_ns\": 1000, "
        "\"percentile_error\": 0.00390625, "
        "\"total_corrected_ns\": null, \"total_error_ns\": null, \"self_corrected_ns\": null, "
        "\"self_error_ns\": null, \"histogram\": [[1000, 1]], \"threads\": [{"
        "\"pid\": 77, \"tid\": 101, \"thread\": 1, \"name\": \"main\", \"calls\": 1, "
        "\"calls_untimed\": 0, \"calls_counted\": 0, \"calls_entries\": 0, "
        "\"calls_are_least\": false, \"calls_repaired\": 0, \"calls_open\": 0, "
        "\"total_ns\": 1000, \"self_ns\": 1000, "
        "\"paused_ns\": 0, \"cpu_total_ns\": 1000, \"cpu_self_ns\": 1000, \"cpu_paused_ns\": 0, "
        "\"off_cpu_total_ns\": 0, \"off_cpu_self_ns\": 0, \"elapsed_ns\": 1000, "
        "\"parallelism\": 1.0, "
        "\"min_ns\": 1000, \"mean_ns\": 1000, \"p50_ns\": 1000, \"p90_ns\": 1000, "
        "\"p99_ns\": 1000, \"max_ns\": 1000, "
        "\"percentile_error\": 0.00390625, "
        "\"total_corrected_ns\": null, \"total_error_ns\": null, \"self_corrected_ns\": null, "
        "\"self_error_ns\": null}]}]}\n");
    free(text);
    close_run(&run);
}

/* ---- Generated events --------------------------------------------------------------------------
 */

struct moment {
    uint64_t kind, wall_ns, cpu_ns;
    uint32_t slot, function;
};

/* A report on generated events, without a reader. */
static struct run run_moments(const struct probity_report_options *options,
                              const struct moment *moments, size_t count)
{
    struct run run = {0};

    assert_int_equal(probity_report_open(options, &run.report), 0);
    for (size_t i = 0; i < count; i++) {
        const struct probity_event event = {
            .kind = (uint32_t)moments[i].kind, .id = moments[i].function,
            .thread = moments[i].slot, .thread_slot = moments[i].slot, .tick = moments[i].wall_ns,
            .wall_ns = moments[i].wall_ns, .cpu_ns = moments[i].cpu_ns, .wall_known = 1,
            .cpu_known = 1};
        assert_int_equal(probity_report_put(run.report, &event), 0);
    }
    assert_int_equal(probity_report_finish(run.report), 0);
    run.functions = probity_report_functions(run.report, &run.count);
    probity_report_sort(run.functions, run.count, PROBITY_REPORT_TOTAL);
    return run;
}

static void what_is_measured_off_the_cpu_is_wall_less_cpu_time(void **state)
{
    static const struct moment moments[] = {{PROBITY_EVENT_ENTER, 5000, 100, 0, 10},
                                            {PROBITY_EVENT_ENTER, 5100, 200, 0, 20},
                                            {PROBITY_EVENT_LEAVE, 5500, 250, 0, 20},
                                            {PROBITY_EVENT_LEAVE, 6000, 400, 0, 10}};
    static const struct {
        enum probity_report_key measure;
        uint64_t outer, inner;
    } cases[] = {{PROBITY_REPORT_TOTAL, 1000, 400},    {PROBITY_REPORT_SELF, 600, 400},
                 {PROBITY_REPORT_CPU_TOTAL, 300, 50},  {PROBITY_REPORT_CPU_SELF, 250, 50},
                 {PROBITY_REPORT_OFF_TOTAL, 700, 350}, {PROBITY_REPORT_OFF_SELF, 350, 350}};

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct probity_report_options options = {.measure = cases[i].measure};
        struct run run = run_moments(&options, moments, COUNT(moments));
        assert_int_equal(run.count, 2);
        assert_int_equal(run.functions[0].number, 10);
        assert_int_equal(run.functions[0].sums.min_ns, cases[i].outer);
        assert_int_equal(run.functions[0].sums.max_ns, cases[i].outer);
        assert_int_equal(run.functions[1].sums.max_ns, cases[i].inner);
        probity_report_close(run.report);
    }
}

/* Two threads that overlap, one during the other, and one alone. */
static void time_in_which_any_thread_was_inside_counts_once(void **state)
{
    static const struct moment moments[] = {
        {PROBITY_EVENT_ENTER, 1000, 0, 0, 10}, {PROBITY_EVENT_ENTER, 1500, 0, 1, 10},
        {PROBITY_EVENT_LEAVE, 2000, 0, 0, 10}, {PROBITY_EVENT_LEAVE, 2500, 0, 1, 10},
        {PROBITY_EVENT_ENTER, 3000, 0, 0, 10}, {PROBITY_EVENT_ENTER, 3100, 0, 1, 10},
        {PROBITY_EVENT_LEAVE, 3200, 0, 1, 10}, {PROBITY_EVENT_LEAVE, 3300, 0, 0, 10},
        {PROBITY_EVENT_ENTER, 4000, 0, 2, 10}, {PROBITY_EVENT_LEAVE, 4001, 0, 2, 10}};

    (void)state;
    struct run run = run_moments(NULL, moments, COUNT(moments));
    assert_int_equal(run.count, 1);
    assert_int_equal(run.functions[0].sums.total.wall_ns, 1000 + 1000 + 300 + 100 + 1);
    assert_int_equal(run.functions[0].sums.elapsed_ns, 1500 + 300 + 1);
    probity_report_close(run.report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recursion_adds_its_outermost_call_only),
        cmocka_unit_test(calls_without_a_recorded_end_have_no_duration),
        cmocka_unit_test(threads_have_rows_on_request),
        cmocka_unit_test(declarations_of_equal_texts_are_one_function),
        cmocka_unit_test(a_range_takes_calls_that_begin_in_it),
        cmocka_unit_test(calls_without_profiling_have_no_times),
        cmocka_unit_test(quantiles_are_right_to_one_in_256),
        cmocka_unit_test(rows_from_elsewhere_are_added),
        cmocka_unit_test(times_have_four_digits_and_a_unit),
        cmocka_unit_test(ages_have_one_unit),
        cmocka_unit_test(the_table_is_as_ever),
        cmocka_unit_test(the_json_is_as_ever),
        cmocka_unit_test(what_is_measured_off_the_cpu_is_wall_less_cpu_time),
        cmocka_unit_test(time_in_which_any_thread_was_inside_counts_once),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    has_runs = 1;
    failed += cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (in_runs < 100);
}
