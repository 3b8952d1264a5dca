/* SPDX-License-Identifier: MIT
 *
 * path_command.c: `probity path`: the critical paths of the slowest requests, calls or spans.
 */
#include <errno.h>
#include <stdlib.h>

#include "answers/path/path_choose.h"
#include "answers/path/path_print.h"
#include "answers/report/states_print.h"
#include "cli/filter.h"
#include "cli/query.h"
#include "cli/wait_symbols.h"

enum { SLOWEST_MAX = 100000 };

struct path_call {
    struct cli_query answer;
    struct probity_path *path;
    struct probity_path_choice *choice; /* first pass, to read less in the second; or NULL */
    struct probity_reader *again;       /* reader of the second pass; or NULL */
    struct probity_path_options options;
    struct symbols_addresses *symbols;
    struct cli_filter from, to;
    const char *request, *function;
    struct cli_function_memo memo; /* matches of `function` */
    size_t slowest;
};

static int passes(struct cli_filter *filter, const struct probity_event *event)
{
    return cli_filter_passes(filter, event->is_site ? UINT64_MAX : event->id, event->name,
                             event->name_bytes);
}

/* Returns bits in the form of struct probity_path_options. */
static unsigned marks_of_probes(void *context, const struct probity_event *event)
{
    struct path_call *call = context;

    if (event->kind != PROBITY_EVENT_HIT)
        return 0;
    return (unsigned)passes(&call->from, event) | (unsigned)passes(&call->to, event) << 1;
}

static unsigned marks_of_calls(void *context, const struct probity_event *event)
{
    struct path_call *call = context;

    if ((event->kind != PROBITY_EVENT_ENTER && event->kind != PROBITY_EVENT_LEAVE) ||
        event->function == NULL ||
        !cli_function_memo_matches(&call->memo, call->function, event->function))
        return 0;
    return event->kind == PROBITY_EVENT_ENTER ? 1 : 2;
}

static int is_wanted(void *context, uint32_t tid)
{
    struct path_call *call = context;

    return cli_filter_passes(&call->answer.tids, tid, NULL, 0);
}

/* Whether the slowest calls can be found without their paths. */
static int may_choose(const struct path_call *call)
{
    const struct probity_reader *reader = call->answer.reader;

    return call->function != NULL && call->options.slowest <= PROBITY_PATH_CHOICE_MAX &&
           probity_reader_traces(reader) == 1 && !probity_reader_may_wait(reader) &&
           probity_reader_do_calls_match(reader) && !probity_states_are_known(reader);
}

static int open_path(void *context, uint64_t from_ns, uint64_t to_ns)
{
    struct path_call *call = context;

    call->options.from_ns = from_ns;
    call->options.to_ns = to_ns;
    call->options.slowest = call->slowest > 0 ? call->slowest : SLOWEST_MAX;
    call->options.is_wanted = call->answer.tids.count > 0 ? is_wanted : NULL;
    call->symbols = symbols_addresses_open(cli_memory_end);
    call->options.symbols = cli_wait_symbols(call->symbols);
    call->options.resumed = call->answer.reader;
    return may_choose(call) ? probity_path_choice_open(&call->options, &call->choice)
                            : probity_path_open(&call->options, &call->path);
}

static int put_to_path(void *context, const struct probity_event *event)
{
    struct path_call *call = context;

    return probity_path_put(call->path, event);
}

static int put_event(void *context, const struct probity_event *event)
{
    const struct path_call *call = context;

    return call->choice != NULL ? probity_path_choice_put(call->choice, event)
                                : put_to_path(context, event);
}

static uint64_t count_pending_of_path(void *context)
{
    const struct path_call *call = context;

    return probity_path_pending(call->path);
}

static uint64_t count_pending(void *context)
{
    const struct path_call *call = context;

    return call->choice != NULL ? probity_path_choice_pending(call->choice)
                                : count_pending_of_path(context);
}

/* Without functions and probes, spans are requests. Not empty if calls do not match: these are
 * reported, too. */
static int is_empty(void *context, const struct probity_reader *reader)
{
    const struct path_call *call = context;

    return call->options.marks == NULL && !probity_reader_may_have_requests(reader) &&
           !probity_reader_may_wait(reader) && probity_reader_do_calls_match(reader) &&
           !probity_states_are_known(reader);
}

/* Reads again for the paths, from shortly before the slowest calls. After damage, it is uncertain
 * which calls match and which are slowest, so everything is read again. */
static int finish_path(void *context, const struct probity_reader *reader)
{
    struct path_call *call = context;
    const struct cli_query_pass pass = {.put = put_to_path, .pending = count_pending_of_path,
                                        .context = call};
    struct probity_path_options *options = &call->options;

    if (call->choice == NULL)
        return 0;
    if (!probity_trace_is_damaged(probity_reader_facts(reader, 0)))
        probity_path_choice_range(call->choice, &options->from_ns, &options->to_ns);
    int error = probity_path_open(options, &call->path);
    uint64_t to_ns = options->to_ns != 0 ? options->to_ns : UINT64_MAX;
    return error == 0 ? cli_query_read_again(&call->answer, reader, options->from_ns, to_ns, &pass,
                                             &call->again)
                      : error;
}

static int print_path(void *context, FILE *stream, const struct probity_reader *reader,
                      int has_color)
{
    struct path_call *call = context;
    const struct probity_path_answer answer = {reader, call->path,
                                               call->options.marks == NULL ? "request"
                                               : call->function != NULL    ? "call"
                                                                           : "span"};

    if (call->answer.as_json)
        return probity_path_json(stream, &answer);
    if (call->answer.as_csv)
        probity_path_csv(stream, &answer);
    else
        probity_path_text(stream, has_color, &answer);
    return 0;
}

static int take_request(struct path_call *call)
{
    char *end;

    errno = 0;
    call->options.request = strtoull(call->request, &end, 0);
    call->options.has_request = 1;
    if (errno != 0 || end == call->request || *end != '\0' || *call->request == '-')
        return cli_fail_usage(&cli_command_path, "invalid --request '%s'", call->request);
    return CLI_OK;
}

static int run_on(void *context, char **names, size_t count)
{
    struct path_call *call = context;
    size_t spans = 0;
    int are_probes = call->from.count + call->to.count > 0;

    if ((call->request != NULL) + (call->function != NULL) + are_probes > 1)
        return cli_fail_usage(&cli_command_path,
                              "--request, --function and --start-probe with --end-probe are "
                              "mutually exclusive");
    if (are_probes && (call->from.count == 0 || call->to.count == 0))
        return cli_fail_usage(&cli_command_path,
                              "--start-probe and --end-probe require each other");
    if (call->request != NULL && take_request(call) != CLI_OK)
        return CLI_USAGE;
    call->options.context = call;
    call->options.marks = are_probes               ? marks_of_probes
                          : call->function != NULL ? marks_of_calls
                                                   : NULL;
    int status = cli_query_run(&call->answer, names, count);
    if (call->path != NULL)
        (void)probity_path_spans(call->path, &spans);
    return status == CLI_OK && spans == 0
               ? cli_fail(&cli_command_path, "no matching span begins and ends in the trace")
               : status;
}

static void release(void *context)
{
    struct path_call *call = context;

    symbols_addresses_close(call->symbols);
    if (call->choice != NULL)
        probity_path_choice_close(call->choice);
    if (call->path != NULL)
        probity_path_close(call->path);
    if (call->again != NULL)
        probity_reader_close(call->again);
    cli_filter_release(&call->from);
    cli_filter_release(&call->to);
}

static int run(int argc, char **argv)
{
    static const struct cli_query_steps steps = {
        .run = run_on, .open = open_path, .put = put_event, .finish = finish_path,
        .print = print_path, .release = release, .pending = count_pending,
        .is_empty = is_empty, .is_windowed = 1,
        .has_waits = 1, .resumes_waits = CLI_QUERY_WAITS_BEFORE};
    struct path_call call = {
        .answer = {.command = &cli_command_path, .steps = &steps, .context = &call,
                   .has_states = 1, .has_all_tids = 1},
        .slowest = 1};

    return cli_query_main(&call.answer, argc, argv);
}

static const struct cli_option options[] = {
    {.name = "request", .value = "ID", .help = "only requests with this id",
     CLI_TEXT(struct path_call, request)},
    {.name = "function", .value = "PATTERN", .help = "calls of the functions that match",
     CLI_TEXT(struct path_call, function)},
    {.name = "start-probe", .older = "from", .value = "ID,...",
     .help = "spans from a hit of these probe numbers or names to the next hit of those given by "
             "--end-probe, with the same id if they have ids, otherwise in the same thread",
     .brief = "probes that begin spans", CLI_NAMES(struct path_call, from)},
    {.name = "end-probe", .older = "to", .value = "ID,...", .help = "probes that end them",
     CLI_NAMES(struct path_call, to)},
    {.name = "limit", .older = "slowest", .letter = 'n', .value = "N",
     .help = "show the N slowest, 0: all (default: 1)", .brief = "maximum number of paths",
     CLI_NUMBER(struct path_call, slowest, 0, SLOWEST_MAX)},
    CLI_QUERY_SINCE_ROWS(struct path_call, "only those that begin"),
    CLI_QUERY_TID_ROW(struct path_call, "only those begun by"),
    CLI_QUERY_JSON_ROW(struct path_call, "print one JSON object; times in ns"),
    CLI_QUERY_CSV_ROW(struct path_call, "print CSV with a header, one line per part; times in ns"),
    CLI_QUERY_OUTPUT_ROWS(struct path_call),
    {.name = NULL},
};

const struct cli_command cli_command_path = {
    .name = "path",
    .run = run,
    .summary = "Show the critical path of the slowest request or call",
    .usage = "[OPTION]... TRACE...",
    .help =
        "Shows how the time of a request was spent, across threads and locks: what its thread ran "
        "and, while it waited, what the thread that it waited for did. The parts sum to the time "
        "from beginning to end. Without options: the slowest request (PROBITY_REQUEST_BEGIN).",
    .options = options,
};
