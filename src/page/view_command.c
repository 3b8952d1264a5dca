/* SPDX-License-Identifier: MIT
 *
 * view_command.c: `probity view`: writes a self-contained HTML page.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answers/blocks/blocks.h"
#include "answers/report/profiled.h"
#include "answers/report/report.h"
#include "answers/threads/threads.h"
#include "answers/timeline/timeline.h"
#include "answers/tree/tree.h"
#include "cli/align.h"
#include "cli/diff_base.h"
#include "cli/index.h"
#include "cli/query.h"
#include "cli/sched.h"
#include "cli/signatures.h"
#include "cli/wait_symbols.h"
#include "page/view.h"
#include "page/view_beside.h"
#include "page/view_messages.h"
#include "page/view_open.h"
#include "page/view_place.h"
#include "page/view_serve.h"
#include "page/view_tiles.h"
#include "page/view_waits.h"

enum { BLOCKS_SHOWN = 2000, BLOCKS_SLOWEST = 5, THREAD_ROWS_SHOWN = 20000,
       SPANS_USUAL = 640000, SPANS_PER_WAIT = 4, WAITS_PART = 32, MESSAGES_PART = 32,
       EVENTS_BETWEEN = 4096 };

struct view_call {
    struct cli_query answer;
    size_t spans_max;
    uint64_t from_ns, to_ns;
    struct probity_timeline *timeline;
    struct view_beside *beside;    /* makes the timeline in a second thread; NULL: no second
                                    * thread */
    struct probity_reader *again; /* reads the same traces a second time for detail; NULL: no
                                   * detail */
    struct probity_report *report;
    struct probity_threads *threads;
    struct probity_blocks *blocks;
    struct probity_request_times requests; /* for the comparison */
    struct probity_tree *tree;
    struct probity_view_waits *waits;
    struct probity_view_messages *messages; /* NULL: one trace */
    struct symbols_addresses *addresses;
    struct symbols *symbols;
    const struct probity_blocks_pair *const *pairs;
    size_t pair_count, pruned;
    uint64_t profiled;
    struct cli_diff_base against; /* --diff */
    char *tids; /* thread ids as given; NULL: all */
    const struct probity_view_place *place; /* where the page opens; NULL: at its first part */
    char *name; /* name of the page, if none was given */
    int is_to_open, is_named;
    int is_served; /* --serve */
    size_t port;
    struct view_served served;
    uint64_t events;
    int expects_pass; /* whether a second pass, for detail, is expected */
    struct view_tiles tiles; /* --tiles */
    int tiles_status;        /* exit status of writing them */
};

/* The page includes it in the commands that it shows. */
static int take_tids(const struct cli_given *given)
{
    struct view_call *call = given->at;
    char *before = call->tids;

    if (asprintf(&call->tids, "%s%s%s", before != NULL ? before : "", before != NULL ? "," : "",
                 given->value) < 0)
        call->tids = NULL;
    free(before);
    return cli_filter_parse(given->command, &call->answer.tids, given->value, 0);
}

static int take_diff(const struct cli_given *given)
{
    struct view_call *call = given->at;

    return cli_diff_base_add(&call->against, given->value);
}

static int take_output(const struct cli_given *given)
{
    struct view_call *call = given->at;

    call->is_named = 1;
    call->answer.out = strcmp(given->value, "-") == 0 ? NULL : given->value;
    return CLI_OK;
}

/* Reports a waiting thread. */
static int is_wanted(void *context, uint32_t tid)
{
    struct view_call *call = context;

    return cli_filter_passes(&call->answer.tids, tid, NULL, 0);
}

/* ---- Steps -------------------------------------------------------------------------------------
 */

static int has_states(const struct probity_reader *reader)
{
    int has = 0;

    for (size_t i = 0; i < probity_reader_traces(reader); i++)
        has |= probity_reader_facts(reader, i)->sched != NULL;
    return has;
}

/* The report, the tree and the threads share one stack of scopes. For the threads, states do not
 * extend scopes that are still open. */
static void share_scopes(struct view_call *call)
{
    const struct probity_scopes_listener threads = probity_threads_listener(call->threads);

    probity_tree_follow(call->tree, probity_report_share(call->report,
                                                         probity_tree_listener(call->tree)));
    if (!has_states(call->answer.reader))
        probity_threads_follow(call->threads, probity_report_share(call->report, &threads));
}

static int open_all(void *context, uint64_t from_ns, uint64_t to_ns)
{
    struct view_call *call = context;
    const struct probity_reader *reader = call->answer.reader;
    /* A quarter of the spans is reserved for detail. */
    const struct probity_timeline_options timeline = {
        .spans_max = call->spans_max / 4 * 3, .from_ns = from_ns, .to_ns = to_ns, .has_around = 1,
        .has_tracks = 1, .keeps_spans = 1};
    const struct probity_report_options report = {.by_thread = 1,
                                                  .from_ns = from_ns, .to_ns = to_ns,
                                                  .costs_of = reader};
    const struct probity_tree_options tree = {.from_ns = from_ns, .to_ns = to_ns,
                                              .nodes_max = CLI_PAGE_NODES_MAX, .costs_of = reader};
    const struct probity_blocks_options blocks = {.from_ns = from_ns, .to_ns = to_ns,
                                                  .slowest = BLOCKS_SLOWEST};

    call->from_ns = from_ns;
    call->to_ns = to_ns;
    probity_request_times_init(from_ns, to_ns, &call->requests);
    int error = probity_timeline_open(&timeline, &call->timeline);
    if (error == 0)
        error = probity_report_open(&report, &call->report);
    if (error == 0)
        error = probity_threads_open(from_ns, to_ns, &call->threads);
    if (error == 0)
        error = probity_blocks_open(&blocks, &call->blocks);
    call->addresses = symbols_addresses_open(cli_memory_end);
    const struct probity_view_waits_options waits = {
        from_ns, to_ns, call->spans_max / WAITS_PART, cli_wait_symbols(call->addresses),
        call->answer.tids.count > 0 ? is_wanted : NULL, call, reader};
    if (error == 0)
        error = probity_view_waits_open(&waits, &call->waits);
    if (error == 0 && probity_reader_traces(reader) > 1) {
        call->messages =
            probity_view_messages_open(from_ns, to_ns, call->spans_max / MESSAGES_PART);
        error = call->messages != NULL ? 0 : PROBITY_ERROR_MEMORY;
    }
    if (error == 0)
        error = probity_tree_open(&tree, &call->tree);
    if (error == 0)
        share_scopes(call);
    if (error == 0 && call->tiles.path == NULL && view_beside_is_possible(&call->answer))
        call->beside = view_beside_start(&call->answer, call->spans_max, call->timeline);
    return error;
}

/* Takes hits, and events after which hits are missing: both end blocks and requests. */
static int put_to_hits(struct view_call *call, const struct probity_event *event)
{
    int error = probity_blocks_put(call->blocks, event);

    if (error == 0 && call->against.compared.compare != NULL)
        error = probity_request_times_put(&call->requests, event);
    return error == 0 && call->messages != NULL ? probity_view_messages_put(call->messages, event)
                                                : error;
}

/* Only records in the range, and those that end what began in it, matter to sums. The report is
 * last, since it calls the listeners of those that share its scopes. */
static int put_to_sums(struct view_call *call, const struct probity_event *event)
{
    int error = probity_threads_put(call->threads, event);

    if (error == 0)
        error = probity_tree_put(call->tree, event);
    if (error == 0 && (event->kind == PROBITY_EVENT_HIT || !probity_event_is_record(event->kind)))
        error = put_to_hits(call, event);
    return error == 0 ? probity_report_put(call->report, event) : error;
}

/* For the progress: a second pass takes as long as the first. */
static void expect_pass(struct view_call *call)
{
    if (call->expects_pass || !probity_timeline_needs_pass(call->timeline))
        return;
    call->expects_pass = 1;
    cli_progress_expect_more();
}

static int put_to_timeline(struct view_call *call, const struct probity_event *event)
{
    if (++call->events % EVENTS_BETWEEN == 0)
        expect_pass(call);
    return probity_timeline_put(call->timeline, event);
}

/* Threads that --tid leaves out may hold a lock for which a selected one waits. */
static int put_event(void *context, const struct probity_event *event)
{
    struct view_call *call = context;
    int is_past = call->to_ns != 0 && call->answer.end_ns == UINT64_MAX;
    int error = probity_view_waits_put(call->waits, event);

    if (error != 0 || !cli_query_is_of_tids(&call->answer, event))
        return error;
    if (call->beside == NULL)
        error = put_to_timeline(call, event);
    if (error != 0 || (is_past && probity_event_is_record(event->kind)))
        return error;
    return put_to_sums(call, event);
}

static int put_run_to_timeline(struct view_call *call, const struct probity_run *run)
{
    uint64_t before = call->events;

    call->events += run->count;
    if (call->events / EVENTS_BETWEEN != before / EVENTS_BETWEEN)
        expect_pass(call);
    return probity_timeline_put_run(call->timeline, run);
}

static int put_run_to_sums(struct view_call *call, const struct probity_run *run)
{
    int has_hits = (run->kinds & 1U << PROBITY_EVENT_HIT) != 0;
    int error = probity_threads_put_run(call->threads, run);

    if (error == 0)
        error = probity_tree_put_run(call->tree, run);
    for (size_t i = 0; error == 0 && has_hits && i < run->count; i++) {
        if (probity_run_code_of(run, i)->kind == PROBITY_EVENT_HIT)
            error = put_to_hits(call, probity_run_event_at(run, i));
    }
    return error == 0 ? probity_report_put_run(call->report, run) : error;
}

static int put_to_waits(void *context, const struct probity_event *event)
{
    return probity_view_waits_put(context, event);
}

/* The same as for each event, since all events of a run are records. With --tid, there are no
 * runs. */
static int put_run(void *context, const struct probity_run *run)
{
    struct view_call *call = context;
    int is_past = call->to_ns != 0 && call->answer.end_ns == UINT64_MAX;
    int error = 0;

    if (!probity_view_waits_is_idle(call->waits))
        error = cli_query_put_each(run, put_to_waits, call->waits);
    if (error == 0 && call->beside == NULL)
        error = put_run_to_timeline(call, run);
    return error != 0 || is_past ? error : put_run_to_sums(call, run);
}

static uint64_t count_pending(void *context)
{
    const struct view_call *call = context;
    uint64_t pending =
        probity_report_pending(call->report) + probity_view_waits_pending(call->waits);

    /* A second pass for detail ends when nothing is pending in the timeline. */
    if (call->beside == NULL &&
        (pending > 0) != (probity_timeline_pending(call->timeline) > 0))
        probity_timeline_drop_kept(call->timeline);
    return pending;
}

struct view_closer {
    struct view_call *call;
    struct probity_timeline *timeline;
};

static int put_closer(void *context, const struct probity_event *event)
{
    struct view_closer *closer = context;

    return cli_query_is_of_tids(&closer->call->answer, event)
               ? probity_timeline_put(closer->timeline, event) : 0;
}

static int put_run_closer(void *context, const struct probity_run *run)
{
    const struct view_closer *closer = context;

    return probity_timeline_put_run(closer->timeline, run);
}

static uint64_t count_pending_closer(void *context)
{
    const struct view_closer *closer = context;

    return probity_timeline_pending(closer->timeline);
}

/* The intervals that need detail are known only at the end, so the traces are read twice, unless
 * all spans were kept. */
static int look_again(struct view_call *call, struct probity_timeline *timeline)
{
    struct view_closer closer = {call, timeline};
    const struct cli_query_pass pass = {.put = put_closer, .pending = count_pending_closer,
                                        .context = &closer, .put_run = put_run_closer};
    int error = cli_query_read(&call->answer, call->again, &pass);

    if (error == PROBITY_ERROR_MEMORY)
        return error;
    /* A file that was readable a moment ago may have been deleted: then there is less detail. */
    return error == 0 ? probity_timeline_finish(timeline) : 0;
}

static int read_closer(struct view_call *call, const struct probity_reader *reader,
                       size_t spans_more)
{
    size_t count = probity_reader_traces(reader);
    const char **paths = calloc(count + 1, sizeof *paths);
    struct probity_reader_options options = {.runs = &probity_run_steps};
    struct probity_timeline *closer = NULL;
    int error = paths != NULL ? 0 : PROBITY_ERROR_MEMORY;

    for (size_t i = 0; error == 0 && i < count; i++)
        paths[i] = probity_reader_facts(reader, i)->path;
    cli_sched_use(&options);
    cli_align_use(&options);
    options.progress = cli_progress;
    options.progress_context = (void *)(uintptr_t)&cli_command_view;
    cli_progress_expect(view_tiles_passes(&call->tiles));
    cli_progress_pass();
    cli_index_share(reader, &options);
    if (error == 0 && probity_reader_open(paths, count, &options, NULL, &call->again) != 0)
        call->again = NULL;
    if (call->again != NULL && cli_query_set_window(&call->answer, call->again, call->from_ns,
                                                    call->to_ns) != CLI_OK)
        error = PROBITY_ERROR_READ;
    if (error == 0 && call->again != NULL)
        error = probity_timeline_refine(call->timeline, spans_more, &closer);
    if (error == 0 && closer != NULL)
        error = look_again(call, closer);
    if (closer != NULL) {
        int taken = probity_timeline_take_over(call->timeline, closer);
        error = error == 0 ? taken : error;
    }
    free(paths);
    return error;
}

static int look_closer(struct view_call *call, const struct probity_reader *reader)
{
    /* A wait takes about as many bytes as these. */
    size_t spans = probity_timeline_facts(call->timeline).spans +
                   SPANS_PER_WAIT * probity_view_waits_count(call->waits);
    int is_done = 0;

    if (spans >= call->spans_max)
        return 0;
    int error =
        probity_timeline_refine_kept(call->timeline, call->spans_max - spans, &is_done);
    return error == 0 && !is_done ? read_closer(call, reader, call->spans_max - spans) : error;
}

static int finish_timeline(struct view_call *call, const struct probity_reader *reader)
{
    int is_refined = 0;
    int error = call->beside != NULL ? view_beside_join(call->beside, &is_refined)
                                     : probity_timeline_finish(call->timeline);

    if (error != 0 || is_refined)
        return error;
    if (call->tiles.path != NULL)
        view_tiles_plan(&call->tiles, call->timeline, reader);
    return probity_timeline_facts(call->timeline).together > 0 ? look_closer(call, reader) : 0;
}

static int finish_answers(struct view_call *call, const struct probity_reader *reader)
{
    int error = cli_query_profiles(&call->answer, reader, call->report, &call->profiled,
                                   &call->profiled);

    if (error != 0)
        return error;
    error = probity_view_waits_finish(call->waits);
    if (error != 0)
        return error;
    error = probity_report_finish(call->report);
    if (error != 0)
        return error;
    error = probity_threads_finish(call->threads);
    return error != 0 ? error : probity_tree_finish(call->tree);
}

static int finish_all(void *context, const struct probity_reader *reader)
{
    struct view_call *call = context;
    int error = finish_timeline(call, reader);

    if (error == 0)
        error = finish_answers(call, reader);
    if (error != 0)
        return error;
    probity_threads_sort(call->threads, PROBITY_THREADS_FIRST);
    call->pruned = probity_tree_prune_to(call->tree, CLI_PAGE_NODES_SHOWN, CLI_PAGE_DEPTH);
    call->pairs = probity_blocks_sort(call->blocks, PROBITY_BLOCKS_TOTAL, &call->pair_count);
    return call->pairs != NULL ? probity_tree_sort(call->tree, PROBITY_TREE_TOTAL)
                               : PROBITY_ERROR_MEMORY;
}

/* More rows of functions per thread would make the page slow to open. */
static void limit_rows(struct probity_report_function *functions, size_t count)
{
    size_t rows = 0;

    for (size_t i = 0; i < count; i++)
        rows += functions[i].row_count;
    for (size_t i = 0; rows > THREAD_ROWS_SHOWN && i < count; i++)
        functions[i].row_count = 0;
}

/* The base as shown on the page; NULL: only the comparison is known. */
static const struct probity_view_answer *base_of(const struct cli_diff_base *against,
                                                 struct probity_view_answer *base)
{
    if (against->tree == NULL)
        return NULL;
    *base = (struct probity_view_answer){
        .reader = against->reader,
        .timeline = against->timeline,
        .repairs = probity_report_repairs(against->report),
        .tree = {against->reader, probity_tree_root(against->tree),
                 probity_tree_repairs(against->tree), probity_tree_lost(against->tree),
                 against->profiled, against->pruned, 0, NULL},
        .blocks = {.reader = against->reader, .pairs = against->pairs,
                   .count = against->pair_count, .limit = BLOCKS_SHOWN},
        .requests = &against->requests};
    base->functions = probity_report_functions(against->report, &base->function_count);
    return base;
}

static int sort_functions(struct view_call *call)
{
    struct probity_report *reports[] = {call->report, call->against.report};
    int error = 0;

    for (size_t i = 0; error == 0 && i < 2; i++) {
        size_t count = 0;
        struct probity_report_function *functions =
            reports[i] != NULL ? probity_report_functions(reports[i], &count) : NULL;
        error = probity_report_sort(functions, count, PROBITY_REPORT_SELF);
    }
    return error;
}

static int print_page(void *context, FILE *stream, const struct probity_reader *reader,
                      int has_color)
{
    struct view_call *call = context;
    size_t count;
    struct probity_report_function *functions = probity_report_functions(call->report, &count);
    struct probity_view_answer base;
    struct probity_view_answer answer = {
        .reader = reader,
        .timeline = call->timeline,
        .tids = call->tids,
        .place = call->place,
        .functions = functions,
        .function_count = count,
        .repairs = probity_report_repairs(call->report),
        .tree = {reader, probity_tree_root(call->tree), probity_tree_repairs(call->tree),
                 probity_tree_lost(call->tree), call->profiled, call->pruned, 0, NULL},
        .blocks = {.reader = reader, .pairs = call->pairs, .count = call->pair_count,
                   .limit = BLOCKS_SHOWN, .has_slowest = 1},
        .threads = {.reader = reader, .repairs = probity_threads_repairs(call->threads)},
        .waits = call->waits,
        .messages = call->messages,
        .comparison = call->against.compared.compare,
        .requests = &call->requests,
        .base = base_of(&call->against, &base),
        .base_runs = call->against.traces,
        .base_why = call->against.why,
        .is_served = call->is_served && call->tiles.path == NULL};

    (void)has_color;
    call->symbols = symbols_open(cli_memory_end);
    cli_signatures_find(call->symbols, reader, functions, count);
    limit_rows(functions, count);
    int error = sort_functions(call);
    if (error != 0)
        return error;
    if (call->beside != NULL)
        answer.spans = view_beside_spans(call->beside, &answer.spans_bytes);
    answer.threads.processes =
        probity_threads_processes(call->threads, &answer.threads.count);
    if (call->tiles.path != NULL) {
        call->tiles_status = view_tiles_write(&call->tiles, call->timeline, &answer);
        return 0;
    }
    return call->is_served ? view_served_keep(&call->served, &answer)
                           : probity_view_html(stream, &answer);
}

/* ---- The page's name and its reader ------------------------------------------------------------
 */

/* Returns "run.html" for "dir/run.probity", in the working directory. */
static int set_name(struct view_call *call, const char *trace)
{
    static const char suffix[] = ".probity";
    const char *slash = strrchr(trace, '/'), *base = slash != NULL ? slash + 1 : trace;
    size_t length = strlen(base), suffix_length = sizeof suffix - 1;

    if (length > suffix_length && strcmp(base + length - suffix_length, suffix) == 0)
        length -= suffix_length;
    if (asprintf(&call->name, "%.*s.html", (int)length, base) < 0)
        call->name = NULL;
    call->answer.out = call->name;
    return call->name != NULL ? CLI_OK
                              : cli_fail(&cli_command_view, "%s",
                                         probity_error_text(PROBITY_ERROR_MEMORY));
}

/* ---- The whole command -------------------------------------------------------------------------
 */

/* Returns CLI_OK with or without a page. */
static int find_tiles(void *context, char **paths, size_t count)
{
    struct view_call *call = context;

    return view_served_find(&call->served, &call->tiles, paths, count);
}

/* Reads the traces and writes the directory. */
static int make_tiles(struct view_call *call, char **names, size_t count)
{
    int status = cli_query_run(&call->answer, names, count);

    return status == CLI_OK || status == CLI_DAMAGED
               ? (call->tiles_status != CLI_OK ? call->tiles_status : status) : status;
}

/* Serves a directory of tiles, which is created if it is missing or belongs to something else. */
static int serve_tiles(struct view_call *call, char **names, size_t count)
{
    int status = cli_on_traces(&cli_command_view, names, count, find_tiles, call);

    if (status == CLI_OK && call->served.options.page == NULL) {
        call->tiles.force = 1;
        status = make_tiles(call, names, count);
        if (status == CLI_OK || status == CLI_DAMAGED)
            status = cli_on_traces(&cli_command_view, names, count, find_tiles, call);
        if (status == CLI_OK && call->served.options.page == NULL)
            status = cli_fail(&cli_command_view, "'%s' changed while it was read",
                              call->tiles.path);
    }
    return status;
}

/* Makes the page in memory, or uses the one next to its tiles, then serves it until the command
 * ends. */
static int serve(struct view_call *call, char **names, size_t count)
{
    if (call->is_named || call->answer.force)
        return cli_fail_usage(&cli_command_view, "--serve writes no file: --output and --force do "
                              "not apply");
    call->served.answer = &call->answer;
    call->served.port = (unsigned)call->port;
    int status = view_served_open(&call->served);
    if (status == CLI_OK)
        status = call->tiles.path != NULL ? serve_tiles(call, names, count)
                                          : cli_query_run(&call->answer, names, count);
    if (status != CLI_OK && status != CLI_DAMAGED)
        return status;
    return view_served_run(&call->served, call->is_to_open ? view_open : NULL);
}

/* Reads the base, which gets a quarter of the spans. */
static int read_base(struct view_call *call, char **names, size_t count)
{
    if (call->against.count == 0 || count == 0)
        return CLI_OK;
    call->against.spans_max = call->spans_max / 4;
    int status = cli_diff_base_read(&call->against, &call->answer, names, count);
    if (call->against.timeline != NULL)
        call->spans_max -= call->against.spans_max;
    return status;
}

/* Writes the page of a new directory. */
static int write_tiles(struct view_call *call, char **names, size_t count)
{
    if (call->is_named)
        return cli_fail_usage(&cli_command_view, "--tiles and --output are mutually exclusive");
    call->tiles.force = call->answer.force;
    call->tiles.bases = call->against.count;
    int status = read_base(call, names, count);
    if (status == CLI_OK)
        status = make_tiles(call, names, count);
    if (status == CLI_OK && call->against.compared.is_damaged)
        status = CLI_DAMAGED;
    if (status != CLI_OK && status != CLI_DAMAGED)
        return status;
    if (asprintf(&call->name, "%s/index.html", call->tiles.path) < 0)
        call->name = NULL;
    if (call->name == NULL)
        return cli_fail(&cli_command_view, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    printf("%s\n", call->name);
    int opened = call->is_to_open ? view_open(call->name) : CLI_OK;
    return opened != CLI_OK ? opened : status;
}

static int run_on(void *context, char **names, size_t count)
{
    struct view_call *call = context;
    int status = CLI_OK;

    call->tiles.answer = &call->answer;
    call->tiles.tids = call->tids;
    cli_progress_expect(view_tiles_passes(&call->tiles));
    if (call->against.count > 0 && call->answer.functions.count > 0)
        return cli_fail_usage(&cli_command_view, "--function and --diff are mutually exclusive");
    if (call->is_served && call->against.count == 0)
        return serve(call, names, count);
    if (call->is_served)
        return cli_fail_usage(&cli_command_view, "--serve does not apply to --diff: a server reads "
                              "windows of one set of runs; --tiles with --diff writes a directory "
                              "that works without it");
    if (call->port != 0)
        return cli_fail_usage(&cli_command_view, "--port requires --serve");
    if (call->tiles.path != NULL)
        return write_tiles(call, names, count);
    if (!call->is_named && count > 0)
        status = set_name(call, names[0]);
    if (status == CLI_OK && call->is_to_open && call->answer.out == NULL)
        status = cli_fail_usage(&cli_command_view, "--open requires a file, not standard output");
    if (status == CLI_OK)
        status = read_base(call, names, count);
    if (status == CLI_OK)
        status = cli_query_run(&call->answer, names, count);
    if (status == CLI_OK && call->against.compared.is_damaged)
        status = CLI_DAMAGED;
    if ((status == CLI_OK || status == CLI_DAMAGED) && !call->is_named)
        printf("%s\n", call->name);
    if ((status == CLI_OK || status == CLI_DAMAGED) && call->is_to_open) {
        int opened = view_open(call->answer.out);
        status = opened != CLI_OK ? opened : status;
    }
    return status;
}

static void release(void *context)
{
    struct view_call *call = context;

    view_beside_close(call->beside);
    if (call->timeline != NULL)
        probity_timeline_close(call->timeline);
    view_tiles_release(&call->tiles);
    if (call->again != NULL)
        probity_reader_close(call->again);
    if (call->waits != NULL)
        probity_view_waits_close(call->waits);
    probity_view_messages_close(call->messages);
    symbols_addresses_close(call->addresses);
    if (call->report != NULL)
        probity_report_close(call->report);
    if (call->threads != NULL)
        probity_threads_close(call->threads);
    if (call->blocks != NULL)
        probity_blocks_close(call->blocks);
    if (call->tree != NULL)
        probity_tree_close(call->tree);
    probity_request_times_release(&call->requests);
    cli_diff_base_release(&call->against);
    free(call->tids);
    if (call->symbols != NULL)
        symbols_close(call->symbols);
    free(call->name);
    view_served_release(&call->served);
}

static const struct cli_query_steps steps = {
    .run = run_on,
    .open = open_all, .put = put_event, .put_run = put_run, .finish = finish_all,
    .print = print_page, .release = release, .pending = count_pending, .is_windowed = 1,
    .has_waits = 1, .resumes_waits = CLI_QUERY_WAITS_OF_RANGE, .has_next = 1,
    .has_past_of_functions = 1};

static void init(struct view_call *call)
{
    *call = (struct view_call){
        .spans_max = SPANS_USUAL,
        .answer = {.command = &cli_command_view, .steps = &steps, .context = call,
                   .has_states = 1, .has_all_tids = 1},
        .against = {.compared = {.command = &cli_command_view}}};
}

static int run(int argc, char **argv)
{
    struct view_call call;

    init(&call);
    return cli_query_main(&call.answer, argc, argv);
}

int view_place_write(const struct view_place_page *page, char **names, size_t count)
{
    struct view_call call;

    init(&call);
    call.place = page->place;
    call.is_named = 1;
    call.is_to_open = page->is_to_open;
    call.answer.range = (struct cli_range){page->since, page->until};
    call.answer.out = page->out;
    call.answer.force = page->force;
    int status = run_on(&call, names, count);
    release(&call);
    return status;
}

static const struct cli_option options[] = {
    {.name = "diff", .value = "BASE", .brief = "compare with this run", .repeats = 1,
     .help = "also compare with this run, from before a change; may be repeated; @LABEL means all "
             "runs with that label in the project's history (`probity runs`)",
     .take = take_diff},
    {.name = "open", .help = "open the page in the browser (xdg-open)",
     CLI_FLAG(struct view_call, is_to_open)},
    {.name = "port", .value = "N", .brief = "port of the server",
     .help = "with --serve, listen on port N (default: a free one)",
     CLI_NUMBER(struct view_call, port, 1, 65535)},
    {.name = "project", .value = "DIR", .brief = "project directory", .help = CLI_PROJECT_HELP,
     CLI_TEXT(struct view_call, against.compared.project)},
    {.name = "serve", .brief = "serve the page on the loopback interface",
     .help = "serve the page to this machine's browsers instead of writing it, until interrupted; "
             "zooming in reads records from the trace; prints the address",
     CLI_FLAG(struct view_call, is_served)},
    {.name = "spans", .value = "N", .brief = "maximum number of spans",
     .help = "keep up to N spans for the timeline (default: 640000)",
     CLI_NUMBER(struct view_call, spans_max, 100, 99999999)},
    CLI_QUERY_RANGE_ROWS(struct view_call, "only calls and hits"),
    CLI_QUERY_WITHIN_ROW(struct view_call),
    {.name = "tid", .older = "thread", .value = "N,...", .help = "only these thread ids",
     .brief = "only these threads", .take = take_tids},
    {.name = "tiles", .value = "DIR", .brief = "write a page with tiles",
     .help = "for long traces, write a page to the new directory DIR that loads finer spans as it "
             "is zoomed; with --serve, serve DIR, and create it if it is missing or belongs to "
             "other traces", CLI_TEXT(struct view_call, tiles.path)},
    {.name = "output", .letter = 'o', .value = "FILE", .brief = "write to a file",
     .help = "write to FILE; '-' is standard output; default: the first trace's name with .html, "
             "in the working directory; the name is printed", .take = take_output},
    {.name = "force", .letter = 'f', .help = "overwrite FILE or DIR if it exists",
     .brief = "overwrite an existing file", CLI_FLAG(struct view_call, answer.force)},
    CLI_ALIGN_ROW, CLI_COLOR_ROW, CLI_QUIET_ROW, CLI_HELP_ROW,
    {.name = NULL},
};

const struct cli_command cli_command_view = {
    .name = "view",
    .run = run,
    .summary = "Write a self-contained HTML report",
    .usage = "[OPTION]... TRACE...",
    .help =
        "The page needs no network: open it in a browser or attach it to an email. It contains an "
        "overview, a timeline of each thread, a flame graph, and the functions and blocks "
        "between probes, each with its distribution. In long traces, spans too short to see are "
        "merged; the page shows this.",
    .options = options,
};
