/* SPDX-License-Identifier: MIT
 *
 * test_tree.c: paths and their times, the calls that deferred scopes adopt, limits, views, elapsed
 * time over threads, threads, and the exact output. All tests run three times: with a stack of
 * scopes for each analysis, with runs of events, and with one stack shared by all.
 */
#include "test_scopes_make.h"

#include "analysis/active_time.h"
#include "answers/report/report.h"
#include "answers/report/report_csv.h"
#include "answers/threads/threads.h"
#include "answers/threads/threads_print.h"
#include "answers/tree/tree.h"
#include "answers/tree/tree_print.h"
#include "reader/run.h"

static struct make make;
static int is_shared; /* one stack of scopes for all analyses */
static int has_runs;  /* enters and leaves come in runs */
static size_t in_runs;

struct run {
    struct probity_reader *reader;
    struct probity_tree *tree;
    struct probity_report *report;
    struct probity_threads *threads;
};

/* Functions a, b and c with sites 10, 20 and 30; d with site 40 is deferred. */
static void start(void)
{
    make_start(&make);
    make_declare(&make, 1, 10, "a", 0);
    make_declare(&make, 1, 20, "b", 0);
    make_declare(&make, 1, 30, "c;", 0);
    make_declare(&make, 1, 40, "d", 1);
}

static void share(struct run *run)
{
    const struct probity_scopes_listener threads = probity_threads_listener(run->threads);

    probity_tree_follow(run->tree,
                        probity_report_share(run->report, probity_tree_listener(run->tree)));
    probity_threads_follow(run->threads, probity_report_share(run->report, &threads));
}

static void take_runs(const struct run *run)
{
    struct probity_run events;

    while (probity_reader_next_run(run->reader, UINT64_MAX, &events) > 0) {
        assert_int_equal(probity_tree_put_run(run->tree, &events), 0);
        assert_int_equal(probity_threads_put_run(run->threads, &events), 0);
        assert_int_equal(probity_report_put_run(run->report, &events), 0);
        in_runs += events.count;
    }
}

static void take_events(const struct run *run)
{
    const struct probity_event *event;

    for (;;) {
        take_runs(run);
        if (probity_reader_next(run->reader, &event) <= 0)
            return;
        assert_int_equal(probity_tree_put(run->tree, event), 0);
        assert_int_equal(probity_threads_put(run->threads, event), 0);
        assert_int_equal(probity_report_put(run->report, event), 0);
    }
}

static struct run run_paths(const char *const *paths, size_t count,
                            const struct probity_tree_options *options)
{
    struct probity_report_options range = {0}; /* those that share scopes have the same */
    const struct probity_reader_options reading = {.runs = has_runs ? &probity_run_steps : NULL};
    struct run run = {0};

    assert_int_equal(probity_tree_open(options, &run.tree), 0);
    if (is_shared && options != NULL) {
        range.from_ns = options->from_ns;
        range.to_ns = options->to_ns;
    }
    assert_int_equal(probity_report_open(&range, &run.report), 0);
    assert_int_equal(probity_threads_open(range.from_ns, range.to_ns, &run.threads), 0);
    if (is_shared)
        share(&run);
    assert_int_equal(probity_reader_open(paths, count, &reading, NULL, &run.reader), 0);
    take_events(&run);
    assert_int_equal(probity_report_finish(run.report), 0);
    assert_int_equal(probity_tree_finish(run.tree), 0);
    assert_int_equal(probity_tree_sort(run.tree, PROBITY_TREE_TOTAL), 0);
    assert_int_equal(probity_threads_finish(run.threads), 0);
    for (size_t i = 0; i < count; i++)
        unlink(paths[i]);
    return run;
}

static struct run run_made(const char *name, const struct probity_tree_options *options)
{
    const char *path = make.path;

    make_finish(&make, name);
    return run_paths(&path, 1, options);
}

static void close_run(struct run *run)
{
    probity_tree_close(run->tree);
    probity_report_close(run->report);
    probity_threads_close(run->threads);
    probity_reader_close(run->reader);
}

static struct probity_tree_answer answer_of(const struct run *run)
{
    return (struct probity_tree_answer){run->reader, probity_tree_root(run->tree),
                                        probity_tree_repairs(run->tree),
                                        probity_tree_lost(run->tree), 0, 0, 0, NULL};
}

/* The tree as folded stacks, with the `key` of each path. */
static void expect_folded(const struct run *run, enum probity_tree_key key, const char *expected)
{
    const struct probity_tree_answer answer = answer_of(run);
    char *text = NULL;
    size_t bytes;
    uint64_t shortened = 1;
    FILE *stream = open_memstream(&text, &bytes);

    assert_int_equal(probity_tree_folded(stream, &answer, key, &shortened), 0);
    fclose(stream);
    assert_string_equal(text, expected);
    assert_int_equal(shortened, 0);
    free(text);
}

static uint64_t elapsed_of(const struct run *run, const char *name, uint64_t *ret_thousandths)
{
    size_t count;
    struct probity_report_function *functions = probity_report_functions(run->report, &count);

    for (size_t i = 0; i < count; i++) {
        if (strcmp(functions[i].function->name, name) != 0)
            continue;
        *ret_thousandths = probity_report_value(&functions[i].sums, PROBITY_REPORT_PARALLELISM);
        return functions[i].sums.elapsed_ns;
    }
    return UINT64_MAX;
}

static void expect_elapsed(const struct run *run, const char *name, uint64_t ns,
                           uint64_t thousandths)
{
    uint64_t found;

    assert_int_equal(elapsed_of(run, name, &found), ns);
    assert_int_equal(found, thousandths);
}

static int is_named(void *name, const struct probity_function *function)
{
    return strcmp(function->name, name) == 0;
}

/* ---- Paths -------------------------------------------------------------------------------------
 */

static const struct make_item nested[] = {
    ENTER(0, 10),    ENTER(100, 20),  LEAVE(300, 20),  ENTER(400, 30), ENTER(500, 20),
    LEAVE(900, 20),  LEAVE(1000, 30), LEAVE(1200, 10), ENTER(2000, 20), LEAVE(2100, 20)};

static void each_path_has_its_calls_and_times(void **state)
{
    (void)state;
    start();
    make_items(&make, 1, nested, COUNT(nested));
    make_items(&make, 2, nested, COUNT(nested));
    struct run run = run_made("paths", NULL);
    expect_folded(&run, PROBITY_TREE_CALLS, "a 2\na;c: 2\na;c:;b 2\na;b 2\nb 2\n");
    expect_folded(&run, PROBITY_TREE_SELF, "a 400\na;c: 200\na;c:;b 400\na;b 200\nb 100\n");
    expect_folded(&run, PROBITY_TREE_CPU_SELF, "a 400\na;c: 200\na;c:;b 400\na;b 200\nb 100\n");
    expect_folded(&run, PROBITY_TREE_OFF_SELF, "");
    const struct probity_tree_node *root = probity_tree_root(run.tree);
    assert_int_equal(root->sums.total.wall_ns, 1300);
    assert_true(probity_tree_share(root->child) == 1.0);
    assert_true(probity_tree_share(root->child->child) == 0.5);
    assert_int_equal(probity_tree_nodes(run.tree), 5);
    close_run(&run);
}

static void threads_have_trees_on_request(void **state)
{
    const struct probity_tree_options options = {.by_thread = 1};
    const struct make_item one[] = {EVENT(0, PROBITY_EVENT_THREAD_NAME, "first", 5), ENTER(10, 10),
                                    LEAVE(110, 10)};

    (void)state;
    start();
    make_items(&make, 1, one, COUNT(one));
    make_items(&make, 2, nested, COUNT(nested));
    struct run run = run_made("by_thread", &options);
    expect_folded(&run, PROBITY_TREE_CALLS, "thread-102;a 1\nthread-102;a;c: 1\n"
                  "thread-102;a;c:;b 1\nthread-102;a;b 1\nthread-102;b 1\nfirst-101;a 1\n");
    close_run(&run);
}

/* Thread 101 in process 77, in process 78, and in another process 77. */
static void threads_of_other_processes_have_other_stacks(void **state)
{
    const struct probity_tree_options options = {.by_thread = 1};
    const struct make_item one[] = {EVENT(0, PROBITY_EVENT_THREAD_NAME, "same", 4), ENTER(10, 10),
                                    LEAVE(20, 10)};
    struct probity_info info = make_info(NULL);
    static struct make makes[3];
    const char *paths[3];
    char name[] = "process_0";

    (void)state;
    for (size_t i = 0; i < COUNT(makes); i++) {
        info.pid = i == 1 ? 78 : 77;
        memset(info.session, (int)i, sizeof info.session);
        make_start_with(&makes[i], &info);
        make_declare(&makes[i], 1, 10, "a", 0);
        make_items(&makes[i], 1, one, COUNT(one));
        name[8] = (char)('0' + i);
        make_finish(&makes[i], name);
        paths[i] = makes[i].path;
    }
    struct run run = run_paths(paths, COUNT(paths), &options);
    expect_folded(&run, PROBITY_TREE_CALLS, "same-77/101;a 1\nsame-78/101;a 1\n"
                  "same-77#2/101;a 1\n");
    close_run(&run);
}

static void direct_recursion_folds_on_request(void **state)
{
    const struct probity_tree_options options = {.fold_recursion = 1};
    const struct make_item items[] = {ENTER(0, 10),   ENTER(100, 10), ENTER(200, 10),
                                      ENTER(300, 20), LEAVE(500, 20), LEAVE(600, 10),
                                      LEAVE(700, 10), LEAVE(1000, 10)};

    (void)state;
    start();
    make_items(&make, 1, items, COUNT(items));
    struct run run = run_made("fold", &options);
    expect_folded(&run, PROBITY_TREE_CALLS, "a 3\na;b 1\n");
    expect_folded(&run, PROBITY_TREE_SELF, "a 400\na;b 100\n");
    assert_int_equal(probity_tree_root(run.tree)->child->sums.total.wall_ns, 500);
    close_run(&run);
}

static void a_deferred_scope_adopts_what_it_called(void **state)
{
    (void)state;
    start();
    make_deferred(&make);
    struct run run = run_made("deferred", NULL);
    expect_folded(&run, PROBITY_TREE_CALLS, "a 1\na;d 1\na;d;b 2\na;d;b;c: 1\na;b 1\n");
    expect_folded(&run, PROBITY_TREE_SELF,
                  "a 175\na;d 300\na;d;b 80\na;d;b;c: 20\na;b 25\n");
    expect_elapsed(&run, "d", 400, 1000);
    close_run(&run);
}

static void too_many_paths_are_reported(void **state)
{
    const struct probity_tree_options options = {.nodes_max = 2};

    (void)state;
    start();
    make_items(&make, 1, nested, COUNT(nested));
    struct run run = run_made("limit", &options);
    expect_folded(&run, PROBITY_TREE_CALLS, "a 1\na;b 1\n");
    assert_int_equal(probity_tree_lost(run.tree), 3);
    close_run(&run);
}

static void calls_outside_the_range_have_no_part(void **state)
{
    const struct probity_tree_options options = {.from_ns = MAKE_WALL + 200,
                                                 .to_ns = MAKE_WALL + 300};

    (void)state;
    start();
    make_items(&make, 1, nested, COUNT(nested));
    struct run run = run_made("range", &options);
    expect_folded(&run, PROBITY_TREE_CALLS, "a;c: 1\na;c:;b 1\n");
    close_run(&run);
}

/* ---- Views -------------------------------------------------------------------------------------
 */

static void views_keep_the_totals_of_the_function(void **state)
{
    static const struct make_item items[] = {ENTER(0, 10),   ENTER(100, 20), ENTER(200, 10),
                                             ENTER(300, 20), LEAVE(500, 20), LEAVE(600, 10),
                                             LEAVE(700, 20), LEAVE(1000, 10)};
    static const struct {
        enum probity_tree_view view;
        const char *calls, *self;
        uint64_t total_ns;
    } views[] = {
        {PROBITY_TREE_BELOW, "b 1\nb;a 1\nb;a;b 1\n", "b 100\nb;a 100\nb;a;b 100\n", 300},
        {PROBITY_TREE_CALLERS, "b 2\nb;a 2\nb;a;b 1\nb;a;b;a 1\n",
         "b 200\nb;a 200\nb;a;b 100\nb;a;b;a 100\n", 300},
        {PROBITY_TREE_CALLEES, "b 2\nb;a 1\n", "b 200\nb;a 100\n", 300}};

    (void)state;
    for (size_t i = 0; i < COUNT(views); i++) {
        start();
        make_items(&make, 1, items, COUNT(items));
        struct run run = run_made("views", NULL);
        assert_int_equal(probity_tree_view(run.tree, views[i].view, is_named, "b"), 0);
        assert_int_equal(probity_tree_sort(run.tree, PROBITY_TREE_TOTAL), 0);
        expect_folded(&run, PROBITY_TREE_CALLS, views[i].calls);
        expect_folded(&run, PROBITY_TREE_SELF, views[i].self);
        assert_int_equal(probity_tree_root(run.tree)->child->sums.total.wall_ns,
                         views[i].total_ns);
        close_run(&run);
    }
}

static void what_is_cut_stays_in_the_sum(void **state)
{
    const struct probity_tree_limits depth = {.depth = 1}, share = {.share_min = 0.3};

    (void)state;
    start();
    make_items(&make, 1, nested, COUNT(nested));
    struct run run = run_made("cut", NULL);
    assert_int_equal(probity_tree_prune(run.tree, &share), 1);
    expect_folded(&run, PROBITY_TREE_SELF, "a 300\na;c: 100\na;c:;b 200\nb 50\n");
    assert_int_equal(probity_tree_prune(run.tree, &depth), 2);
    expect_folded(&run, PROBITY_TREE_SELF, "a 600\nb 50\n");
    close_run(&run);
}

/* ---- Elapsed time ------------------------------------------------------------------------------
 */

static void elapsed_time_is_that_of_any_thread(void **state)
{
    const struct make_item one[] = {ENTER(0, 10), LEAVE(1000, 10), ENTER(4000, 10),
                                    LEAVE(5000, 10)};
    const struct make_item two[] = {ENTER(500, 10), ENTER(600, 10), LEAVE(1400, 10),
                                    LEAVE(1500, 10)};

    (void)state;
    start();
    make_items(&make, 1, one, COUNT(one));
    make_items(&make, 2, two, COUNT(two));
    struct run run = run_made("elapsed", NULL);
    expect_elapsed(&run, "a", 750 + 500, 1500 * 1000 / 1250);
    close_run(&run);
}

/* A pause counts neither for the function nor for its caller; a call made during the pause counts
 * for its own function. */
static void pauses_are_not_elapsed(void **state)
{
    const struct make_item one[] = {
        ENTER(0, 10),    ENTER(200, 20),
        EVENT(400, PROBITY_EVENT_PAUSE, "", 0), ENTER(500, 30),  LEAVE(700, 30),
        EVENT(800, PROBITY_EVENT_RESUME, "", 0), EVENT(900, PROBITY_EVENT_PAUSE, "", 0),
        LEAVE(1000, 20), LEAVE(2000, 10)};

    (void)state;
    start();
    make_items(&make, 1, one, COUNT(one));
    struct run run = run_made("pauses", NULL);
    expect_elapsed(&run, "a", 750, 1000);
    expect_elapsed(&run, "b", 150, 1000);
    expect_elapsed(&run, "c;", 100, 1000);
    close_run(&run);
}

static void stretches_join_those_that_began_before_they_were_known(void **state)
{
    static struct probity_active_time_past past;
    struct probity_active_time elapsed = {.past = &past};

    (void)state;
    for (uint64_t i = 1; i <= 3; i++) {
        probity_active_time_enter(&elapsed, 100 * i);
        probity_active_time_leave(&elapsed, 100 * i + 50);
    }
    assert_int_equal(elapsed.sum_ns, 150);
    probity_active_time_enter_back(&elapsed, 220); /* inside 200-250, around 300-350 */
    probity_active_time_leave(&elapsed, 400);
    assert_int_equal(elapsed.sum_ns, 50 + 200);
    probity_active_time_enter(&elapsed, 500);
    probity_active_time_enter_back(&elapsed, 450);
    probity_active_time_leave(&elapsed, 510);
    probity_active_time_leave(&elapsed, 520);
    assert_int_equal(elapsed.sum_ns, 50 + 200 + 70);
}

/* ---- Threads -----------------------------------------------------------------------------------
 */

static void threads_have_time_and_records(void **state)
{
    const struct make_item one[] = {EVENT(0, PROBITY_EVENT_THREAD_NAME, "first", 5),
                                    ENTER(100, 10), ENTER(200, 20), LEAVE(300, 20),
                                    LEAVE(900, 10)};
    const struct make_hit hits[] = {{400, 14, 0}, {1000, 14, 500}, {1400, 14, 0}};
    size_t count;

    (void)state;
    start();
    make_items(&make, 1, one, COUNT(one));
    struct make_hit moved[3];
    for (size_t i = 0; i < 3; i++)
        moved[i] = (struct make_hit){MAKE_START + hits[i].tick, hits[i].code, hits[i].off};
    make_data(&make, (struct probity_data){.thread = 2}, moved, 3);
    struct run run = run_made("threads", NULL);
    const struct probity_threads_process *processes =
        probity_threads_processes(run.threads, &count);
    assert_int_equal(count, 1);
    assert_int_equal(processes->thread_count, 2);
    probity_threads_sort(run.threads, PROBITY_THREADS_TID);
    const struct probity_threads_sums *sums = &processes->threads[0]->sums;
    assert_string_equal(processes->threads[0]->name, "first");
    assert_int_equal(sums->first_ns, MAKE_WALL + 50);
    assert_int_equal(sums->last_ns, MAKE_WALL + 450);
    assert_int_equal(sums->inside_ns, 400);
    assert_int_equal(sums->cpu_ns, 400);
    assert_int_equal(sums->off_ns, 0);
    assert_int_equal(sums->records, 4);
    assert_int_equal(sums->scopes, 2);
    sums = &processes->threads[1]->sums;
    assert_int_equal(sums->hits, 3);
    assert_int_equal(sums->cpu_ns, 250);
    assert_int_equal(sums->off_ns, 250);
    assert_int_equal(processes->sums.records, 7);
    assert_int_equal(processes->sums.last_ns, MAKE_WALL + 700);
    probity_threads_sort(run.threads, PROBITY_THREADS_HITS);
    assert_int_equal(processes->threads[0]->tid, 102);
    close_run(&run);
}

/* ---- Outputs -----------------------------------------------------------------------------------
 */

static void expect_text(char *text, const char *expected)
{
    char *trace = strstr(text, "trace: ");

    if (trace != NULL)
        *trace = '\0';
    assert_string_equal(text, expected);
    free(text);
}

/* Compares the text after the name of the trace, which varies. */
static void expect_json(char *text, const char *expected)
{
    const char *rest = strstr(text, "\"repairs\"");

    assert_non_null(rest);
    assert_string_equal(rest, expected);
    free(text);
}

static char *printed(const struct run *run, int form)
{
    const struct probity_tree_answer answer = answer_of(run);
    struct probity_tree_layout layout = {.has_lines = form == 1};
    char *text = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&text, &bytes);

    if (form < 2)
        probity_tree_text(stream, &layout, &answer);
    else if (form == 2)
        assert_int_equal(probity_tree_json(stream, &answer), 0);
    else
        assert_int_equal(probity_tree_csv(stream, &answer), 0);
    fclose(stream);
    return text;
}

static void the_tree_is_as_ever(void **state)
{
    (void)state;
    start();
    make_items(&make, 1, nested, COUNT(nested));
    struct run run = run_made("text", NULL);
    expect_text(printed(&run, 0),
        "               wall time        CPU time\n"
        "    calls   total    self   total    self   share  function\n"
        "        1   600ns   200ns   600ns   200ns  100.0%  a\n"
        "        1   300ns   100ns   300ns   100ns   50.0%  |- c;\n"
        "        1   200ns   200ns   200ns   200ns   33.3%  |  `- b\n"
        "        1   100ns   100ns   100ns   100ns   16.7%  `- b\n"
        "        1    50ns    50ns    50ns    50ns  100.0%  b\n\n");
    char *text = printed(&run, 1);
    assert_non_null(strstr(text, "\xe2\x94\x82  \xe2\x94\x94\xe2\x94\x80 b\n"));
    free(text);
    expect_text(printed(&run, 3),
        "node,caller,depth,pid,tid,thread,function,file,line,calls,calls_untimed,calls_repaired,"
        "total_ns,self_ns,paused_ns,cpu_total_ns,cpu_self_ns,off_cpu_total_ns,off_cpu_self_ns,"
        "share,total_corrected_ns,total_error_ns,self_corrected_ns,self_error_ns\n"
        "1,0,1,,,,a,made.c,20,1,0,0,600,200,0,600,200,0,0,1.000000,,,,\n"
        "2,1,2,,,,c;,made.c,40,1,0,0,300,100,0,300,100,0,0,0.500000,,,,\n"
        "3,2,3,,,,b,made.c,30,1,0,0,200,200,0,200,200,0,0,0.333333,,,,\n"
        "4,1,2,,,,b,made.c,30,1,0,0,100,100,0,100,100,0,0,0.166667,,,,\n"
        "5,0,1,,,,b,made.c,30,1,0,0,50,50,0,50,50,0,0,1.000000,,,,\n");
    close_run(&run);
}

static void the_json_is_as_ever(void **state)
{
    (void)state;
    start();
    make_items(&make, 1, nested, 3);
    struct run run = run_made("json", NULL);
    expect_json(printed(&run, 2),
        "\"repairs\": {\"unwound\": 0, \"open\": 1, \"orphans\": 0, \"pauses_unmatched\": 0, "
        "\"resumes_unmatched\": 0},\n"
        "\"nodes_pruned\": 0, \"calls_lost\": 0, \"calls_profiled\": 0, \"calls_counted\": 0,\n"
        "\"tree\": [\n"
        "{\"name\": \"a\", \"file\": \"made.c\", \"line\": 20, \"calls\": 1, "
        "\"calls_untimed\": 0, \"calls_repaired\": 1, \"total_ns\": 150, \"self_ns\": 50, "
        "\"paused_ns\": 0, \"cpu_total_ns\": 150, \"cpu_self_ns\": 50, \"off_cpu_total_ns\": 0, "
        "\"off_cpu_self_ns\": 0, \"share\": 1.000000, "
        "\"total_corrected_ns\": null, \"total_error_ns\": null, \"self_corrected_ns\": null, "
        "\"self_error_ns\": null, \"children\": [\n"
        "{\"name\": \"b\", \"file\": \"made.c\", \"line\": 30, \"calls\": 1, "
        "\"calls_untimed\": 0, \"calls_repaired\": 0, \"total_ns\": 100, \"self_ns\": 100, "
        "\"paused_ns\": 0, \"cpu_total_ns\": 100, \"cpu_self_ns\": 100, \"off_cpu_total_ns\": 0, "
        "\"off_cpu_self_ns\": 0, \"share\": 0.666667, "
        "\"total_corrected_ns\": null, \"total_error_ns\": null, \"self_corrected_ns\": null, "
        "\"self_error_ns\": null, \"children\": []}]}]}\n");
    close_run(&run);
}

static void threads_are_printed_as_ever(void **state)
{
    struct probity_threads_answer answer;
    char *text = NULL;
    size_t bytes;

    (void)state;
    start();
    make_items(&make, 1, nested, COUNT(nested));
    struct run run = run_made("print", NULL);
    answer = (struct probity_threads_answer){.reader = run.reader,
                                             .repairs = probity_threads_repairs(run.threads)};
    answer.processes = probity_threads_processes(run.threads, &answer.count);
    FILE *stream = open_memstream(&text, &bytes);
    probity_threads_text(stream, 0, 0, &answer);
    fclose(stream);
    expect_text(text,
        "  pid/tid   first    last    life     CPU off CPU  share   records      hits    scopes"
        "  name\n"
        "     77       0ns 1.050us 1.050us 1.050us     0ns 100.0%        10         0         5"
        "  made (1 thread)\n"
        "      101     0ns 1.050us 1.050us 1.050us     0ns 100.0%        10         0         5"
        "  -\n\n");
    stream = open_memstream(&text, &bytes);
    assert_int_equal(probity_threads_json(stream, &answer), 0);
    fclose(stream);
    char *processes = strstr(text, "\"start_ns\"");
    assert_non_null(processes);
    assert_string_equal(processes,
        "\"start_ns\": 1700000000000000000,\n\"processes\": [\n{\"pid\": 77, "
        "\"first_ns\": 1700000000000000000, \"last_ns\": 1700000000000001050, "
        "\"lifetime_ns\": 1050, \"inside_ns\": 650, \"cpu_ns\": 1050, \"off_cpu_ns\": 0, "
        "\"cpu_share\": 1.000000, \"records\": 10, \"hits\": 0, \"scopes\": 5, \"threads\": [\n "
        "{\"tid\": 101, \"thread\": 1, \"name\": null, "
        "\"first_ns\": 1700000000000000000, \"last_ns\": 1700000000000001050, "
        "\"lifetime_ns\": 1050, \"inside_ns\": 650, \"cpu_ns\": 1050, \"off_cpu_ns\": 0, "
        "\"cpu_share\": 1.000000, \"records\": 10, \"hits\": 0, \"scopes\": 5}]}]}\n");
    free(text);
    close_run(&run);
}

static void the_csv_of_a_report_is_as_ever(void **state)
{
    size_t count, bytes;
    char *text = NULL;

    (void)state;
    start();
    make_items(&make, 1, nested, COUNT(nested));
    struct run run = run_made("report", NULL);
    struct probity_report_function *functions = probity_report_functions(run.report, &count);
    probity_report_sort(functions, count, PROBITY_REPORT_NAME);
    FILE *stream = open_memstream(&text, &bytes);
    probity_report_csv(stream, run.reader, functions, 1);
    fclose(stream);
    expect_text(text,
        "function,signature,file,line,pid,tid,thread,calls,calls_untimed,calls_repaired,total_ns,"
        "self_ns,paused_ns,cpu_total_ns,cpu_self_ns,off_cpu_total_ns,off_cpu_self_ns,elapsed_ns,"
        "parallelism,min_ns,mean_ns,p50_ns,p90_ns,p99_ns,max_ns,percentile_error,"
        "total_corrected_ns,total_error_ns,self_corrected_ns,self_error_ns,calls_counted,"
        "calls_are_least,calls_entries\n"
        "a,,made.c,20,,,,1,0,0,600,200,0,600,200,0,0,600,1.000,600,600,600,600,600,600,0.0039,,,,"
        ",0,0,0\n");
    close_run(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_path_has_its_calls_and_times),
        cmocka_unit_test(threads_have_trees_on_request),
        cmocka_unit_test(threads_of_other_processes_have_other_stacks),
        cmocka_unit_test(direct_recursion_folds_on_request),
        cmocka_unit_test(a_deferred_scope_adopts_what_it_called),
        cmocka_unit_test(too_many_paths_are_reported),
        cmocka_unit_test(calls_outside_the_range_have_no_part),
        cmocka_unit_test(views_keep_the_totals_of_the_function),
        cmocka_unit_test(what_is_cut_stays_in_the_sum),
        cmocka_unit_test(elapsed_time_is_that_of_any_thread),
        cmocka_unit_test(pauses_are_not_elapsed),
        cmocka_unit_test(stretches_join_those_that_began_before_they_were_known),
        cmocka_unit_test(threads_have_time_and_records),
        cmocka_unit_test(the_tree_is_as_ever),
        cmocka_unit_test(the_json_is_as_ever),
        cmocka_unit_test(threads_are_printed_as_ever),
        cmocka_unit_test(the_csv_of_a_report_is_as_ever),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    has_runs = 1;
    failed += cmocka_run_group_tests(tests, NULL, NULL);
    failed += in_runs < 100;
    has_runs = 0;
    is_shared = 1;
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
