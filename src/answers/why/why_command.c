/* SPDX-License-Identifier: MIT
 *
 * why_command.c: `probity why`: why the slowest call was slow.
 */
#include <string.h>

#include "answers/report/states_print.h"
#include "answers/why/why_print.h"
#include "cli/filter.h"
#include "cli/query.h"
#include "cli/wait_symbols.h"
#include "page/view_place.h"

/* Each call takes a screen, and a copy of its values on each path. */
enum { SLOWEST_MAX = 1000 };

struct why_call {
    struct cli_query answer;
    struct probity_why *why;
    struct probity_why_options options;
    struct symbols_addresses *symbols;
    struct cli_filter from, to;
    const char *function;
    struct cli_function_memo memo; /* matches of `function` */
    size_t slowest;
    struct probity_why_dump dump; /* if neither functions nor probes are given */
    int is_of_dump, is_reached;   /* is_reached: events have reached its time */
    const char *page;             /* --view; NULL: none */
    int is_to_open;
};

static int passes(struct cli_filter *filter, const struct probity_event *event)
{
    return cli_filter_passes(filter, event->is_site ? UINT64_MAX : event->id, event->name,
                             event->name_bytes);
}

/* Returns bits in the form of struct probity_why_options. */
static unsigned marks_of_probes(void *context, const struct probity_event *event)
{
    struct why_call *call = context;

    return (unsigned)passes(&call->from, event) | (unsigned)passes(&call->to, event) << 1;
}

static unsigned marks_of_dump(void *context, const struct probity_event *event)
{
    const struct why_call *call = context;

    return probity_why_dump_marks(&call->dump, event);
}

static int is_of_dump(void *context, const struct probity_function *function)
{
    const struct why_call *call = context;

    return probity_why_dump_is_function(&call->dump, function);
}

static int is_like(void *context, const struct probity_function *function)
{
    struct why_call *call = context;

    return cli_function_memo_matches(&call->memo, call->function, function);
}

static int is_wanted(void *context, uint32_t tid)
{
    struct why_call *call = context;

    return cli_filter_passes(&call->answer.tids, tid, NULL, 0);
}

static int open_why(void *context, uint64_t from_ns, uint64_t to_ns)
{
    struct why_call *call = context;

    call->options.from_ns = from_ns;
    call->options.to_ns = to_ns;
    call->options.slowest = call->slowest > 0 ? call->slowest : SLOWEST_MAX;
    call->options.is_wanted = call->answer.tids.count > 0 ? is_wanted : NULL;
    call->symbols = symbols_addresses_open(cli_memory_end);
    call->options.symbols = cli_wait_symbols(call->symbols);
    call->options.resumed = call->answer.reader;
    call->options.has_no_waits = !probity_reader_may_wait(call->answer.reader) &&
                                 probity_reader_do_calls_match(call->answer.reader) &&
                                 !probity_states_are_known(call->answer.reader);
    return probity_why_open(&call->options, &call->why);
}

static int put_event(void *context, const struct probity_event *event)
{
    struct why_call *call = context;

    if (call->is_of_dump && !call->is_reached && event->tick >= call->dump.within_tick) {
        call->is_reached = 1;
        probity_why_choose(call->why, event->wall_ns);
    }
    return probity_why_put(call->why, event);
}

/* Until the time of the dump is reached, takes each event on its own, because it may be in the
 * run. */
static int put_run(void *context, const struct probity_run *run)
{
    struct why_call *call = context;

    return call->is_of_dump && !call->is_reached ? cli_query_put_each(run, put_event, call)
                                                 : probity_why_put_run(call->why, run);
}

static uint64_t count_pending(void *context)
{
    const struct why_call *call = context;

    return probity_why_pending(call->why);
}

static int finish_why(void *context, const struct probity_reader *reader)
{
    (void)context;
    (void)reader;
    return 0;
}

static int print_why(void *context, FILE *stream, const struct probity_reader *reader,
                     int has_color)
{
    struct why_call *call = context;
    const struct probity_why_answer answer = {
        reader, call->why, call->options.is_like == NULL ? "span" : NULL,
        call->is_of_dump ? &call->dump : NULL};

    if (call->answer.as_json)
        return probity_why_json(stream, &answer);
    probity_why_text(stream, has_color, &answer);
    return 0;
}

static int refuse(const struct probity_reader *reader)
{
    const struct probity_trace_facts *facts = probity_reader_facts(reader, 0);
    struct probity_why_dump_other other;

    if (probity_reader_traces(reader) == 1 && probity_why_dump_other(facts, &other))
        return cli_fail(&cli_command_why, "'%s' was made because of %s, not because of a slow "
                        "call or block; run `probity %s` on it, or choose calls with --function",
                        facts->path, other.what, other.command);
    return cli_fail_usage(&cli_command_why, "expected --function, or --start-probe and "
                          "--end-probe; all may be omitted only for a single dump caused by a "
                          "slow function, block or single-thread request");
}

/* Explains the call or block for which the dump was made. */
static int explain_dump(void *context, struct probity_reader *reader, uint64_t from_ns,
                        uint64_t to_ns)
{
    struct why_call *call = context;

    if (probity_reader_traces(reader) != 1 ||
        !probity_why_dump_find(probity_reader_facts(reader, 0), &call->dump))
        return refuse(reader);
    call->is_of_dump = 1;
    call->options.at_ns = UINT64_MAX;
    call->options.at_tid = call->dump.reason.tid;
    if (call->dump.reason.kind == PROBITY_DUMP_FUNCTION)
        call->options.is_like = is_of_dump;
    else
        call->options.marks = marks_of_dump;
    return cli_query_collect(&call->answer, reader, from_ns, to_ns);
}

/* Writes a page that opens at the slowest call. A dump is shown as a whole, because it is not much
 * longer than the slow call. */
static int write_page(const struct why_call *call, const struct probity_why_case *of, char **names,
                      size_t count)
{
    const struct probity_thread_label *thread =
        probity_path_thread(probity_why_paths(call->why), of->thread_slot);
    const struct probity_view_place place = {
        thread->trace, thread->thread, of->from_ns, of->to_ns, call->options.is_like != NULL,
        call->is_of_dump};
    const struct view_place_page page = {
        .place = &place, .since = call->answer.range.from, .until = call->answer.range.to,
        .out = call->page, .force = call->answer.force, .is_to_open = call->is_to_open};

    return view_place_write(&page, names, count);
}

static int check_options(const struct why_call *call)
{
    int are_probes = call->from.count + call->to.count > 0;

    if (call->function != NULL && are_probes)
        return cli_fail_usage(&cli_command_why,
                              "--function and --start-probe with --end-probe are mutually "
                              "exclusive");
    if (are_probes && (call->from.count == 0 || call->to.count == 0))
        return cli_fail_usage(&cli_command_why,
                              "--start-probe and --end-probe require each other");
    if (call->page != NULL && strcmp(call->page, "-") == 0)
        return cli_fail_usage(&cli_command_why, "--view requires a file, not standard output");
    if (call->is_to_open && call->page == NULL)
        return cli_fail_usage(&cli_command_why, "--open requires --view");
    return CLI_OK;
}

static int run_on(void *context, char **names, size_t count)
{
    struct why_call *call = context;
    const struct probity_why_case *const *cases = NULL;
    size_t case_count = 0;
    int status = check_options(call);

    if (status != CLI_OK)
        return status;
    call->options.context = call;
    if (call->from.count > 0)
        call->options.marks = marks_of_probes;
    else if (call->function != NULL)
        call->options.is_like = is_like;
    else
        call->answer.stream = explain_dump;
    status = cli_query_run(&call->answer, names, count);
    if (call->why != NULL)
        cases = probity_why_cases(call->why, &case_count);
    if (status == CLI_OK && case_count == 0)
        return cli_fail(&cli_command_why, "no matching %s begins and ends in the trace",
                        call->options.is_like == NULL ? "span" : "call");
    if ((status != CLI_OK && status != CLI_DAMAGED) || call->page == NULL || case_count == 0)
        return status;
    int written = write_page(call, cases[0], names, count);
    return written == CLI_OK ? status : written;
}

static void release(void *context)
{
    struct why_call *call = context;

    symbols_addresses_close(call->symbols);
    if (call->why != NULL)
        probity_why_close(call->why);
    cli_filter_release(&call->from);
    cli_filter_release(&call->to);
}

static int run(int argc, char **argv)
{
    static const struct cli_query_steps steps = {
        .run = run_on, .open = open_why, .put = put_event, .put_run = put_run,
        .finish = finish_why, .print = print_why, .release = release, .pending = count_pending,
        .is_windowed = 1, .has_waits = 1, .resumes_waits = CLI_QUERY_WAITS_BEFORE};
    struct why_call call = {
        .answer = {.command = &cli_command_why, .steps = &steps, .context = &call,
                   .has_states = 1, .has_all_tids = 1},
        .slowest = 1};

    return cli_query_main(&call.answer, argc, argv);
}

static const struct cli_option options[] = {
    {.name = "function", .value = "PATTERN", .help = "calls of the functions that match",
     CLI_TEXT(struct why_call, function)},
    {.name = "start-probe", .older = "from", .value = "ID,...",
     .help = "spans from a hit of these probe numbers or names to the next hit of those given by "
             "--end-probe, in the same thread",
     .brief = "probes that begin spans", CLI_NAMES(struct why_call, from)},
    {.name = "end-probe", .older = "to", .value = "ID,...", .help = "probes that end them",
     CLI_NAMES(struct why_call, to)},
    {.name = "limit", .older = "slowest", .letter = 'n', .value = "N",
     .help = "explain the N slowest, 0: all (default: 1)", .brief = "maximum number of calls",
     CLI_NUMBER(struct why_call, slowest, 0, SLOWEST_MAX)},
    CLI_QUERY_SINCE_ROWS(struct why_call, "only those that begin"),
    CLI_QUERY_TID_ROW(struct why_call, "only those of"),
    {.name = "view", .value = "FILE", .brief = "also write a page",
     .help = "also write a page (`probity view`) to FILE that opens at the slowest call",
     CLI_TEXT(struct why_call, page)},
    {.name = "open", .help = "with --view, open the page in the browser (xdg-open)",
     .brief = "open the page in the browser", CLI_FLAG(struct why_call, is_to_open)},
    CLI_QUERY_JSON_ROW(struct why_call, "print one JSON object; times in ns"),
    CLI_QUERY_OUTPUT_ROWS(struct why_call),
    {.name = NULL},
};

const struct cli_command cli_command_why = {
    .name = "why",
    .run = run,
    .summary = "Explain why the slowest call was slow",
    .usage = "[OPTION]... TRACE...",
    .help =
        "Shows where the time of the slowest call went: running, waiting for locks, other threads, "
        "I/O or a CPU; how the same call usually looks, by the medians of all calls in the trace; "
        "what differed below it; and the cause, in one sentence. Without options, explains the "
        "call or block for which a dump was made.",
    .options = options,
};
