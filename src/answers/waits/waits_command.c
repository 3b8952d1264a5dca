/* SPDX-License-Identifier: MIT
 *
 * waits_command.c: `probity waits`: what threads waited for.
 */
#include <string.h>

#include "answers/report/states_print.h"
#include "answers/waits/waits_print.h"
#include "cli/query.h"
#include "cli/wait_symbols.h"

/* Default number of rows in the text, and of holders of each. */
enum { TOP_USUAL = 20, HOLDERS_USUAL = 5 };

#define NOT_GIVEN SIZE_MAX

struct waits_call {
    struct cli_query answer;
    struct probity_waiting *waiting;
    struct symbols_addresses *symbols;
    int by; /* an enum probity_waiting_by */
    size_t limit; /* 0: all */
    uint64_t counted; /* calls to the C library that were only counted */
};

static int is_wanted(void *context, uint32_t tid, uint32_t thread_slot, uint64_t from_ns)
{
    struct waits_call *call = context;

    return cli_filter_passes(&call->answer.tids, tid, NULL, 0) &&
           cli_query_is_within(&call->answer, thread_slot, from_ns);
}

static int open_waits(void *context, uint64_t from_ns, uint64_t to_ns)
{
    struct waits_call *call = context;

    call->symbols = symbols_addresses_open(cli_memory_end);
    const struct probity_waiting_options options = {(enum probity_waiting_by)call->by, from_ns,
                                                    to_ns, cli_wait_symbols(call->symbols),
                                                    is_wanted, call,
                                                    call->answer.reader};
    return probity_waiting_open(&options, &call->waiting);
}

static int put_event(void *context, const struct probity_event *event)
{
    struct waits_call *call = context;

    return probity_waiting_put(call->waiting, event);
}

static uint64_t count_pending(void *context)
{
    const struct waits_call *call = context;

    return probity_waiting_pending(call->waiting);
}

/* Not empty if calls do not match: these are reported, too. With thread states, threads may have
 * waited for a CPU. */
static int is_empty(void *context, const struct probity_reader *reader)
{
    (void)context;
    return !probity_reader_may_wait(reader) && probity_reader_do_calls_match(reader) &&
           !probity_states_are_known(reader);
}

static int take_counted(void *context, const struct probity_profiled *profiled)
{
    struct waits_call *call = context;

    if (profiled->function != NULL && strncmp(profiled->function->recorded_file, "libc/", 5) == 0)
        call->counted += profiled->counted;
    return 0;
}

static int finish_waits(void *context, const struct probity_reader *reader)
{
    struct waits_call *call = context;
    int error = 0;

    for (size_t i = 0; error == 0 && i < probity_reader_traces(reader); i++)
        error = probity_reader_profile(reader, i, take_counted, call);
    return error == 0 ? probity_waiting_finish(call->waiting) : error;
}

static int print_waits(void *context, FILE *stream, const struct probity_reader *reader,
                       int has_color)
{
    struct waits_call *call = context;
    int is_text = !call->answer.as_json && !call->answer.as_csv;
    const struct probity_waits_answer answer = {
        reader, call->waiting, (enum probity_waiting_by)call->by,
        call->limit != NOT_GIVEN ? call->limit : is_text ? TOP_USUAL : 0, HOLDERS_USUAL,
        probity_states_are_known(reader), call->counted};

    if (call->answer.as_json)
        return probity_waits_json(stream, &answer);
    if (call->answer.as_csv)
        probity_waits_csv(stream, &answer);
    else
        probity_waits_text(stream, has_color, cli_query_line_columns(&call->answer), &answer);
    return 0;
}

static void release(void *context)
{
    struct waits_call *call = context;

    symbols_addresses_close(call->symbols);
    if (call->waiting != NULL)
        probity_waiting_close(call->waiting);
}

static int run(int argc, char **argv)
{
    static const struct cli_query_steps steps = {
        .open = open_waits, .put = put_event, .finish = finish_waits, .print = print_waits,
        .release = release, .pending = count_pending, .is_empty = is_empty, .is_windowed = 1,
        .has_waits = 1, .resumes_waits = CLI_QUERY_WAITS_OF_RANGE, .has_past_of_functions = 1};
    struct waits_call call = {
        .limit = NOT_GIVEN,
        .answer = {.command = &cli_command_waits, .steps = &steps, .context = &call,
                   .has_states = 1, .has_all_tids = 1, .has_all_functions = 1}};

    return cli_query_main(&call.answer, argc, argv);
}

static const struct cli_option options[] = {
    {.name = "by", .value = "WHAT", .brief = "what a row represents", .initial = "object",
     .help = "what each row represents: object (whatever was waited for; default), lock, file, "
             "peer, or the waiting function or thread",
     CLI_CHOICE(struct waits_call, by, "object lock file peer function thread")},
    {.name = "limit", .older = "top", .letter = 'n', .value = "N",
     .help = "show only the first N rows (default: 20 in text, all in JSON and CSV)",
     .brief = "maximum number of rows",
     .valid = "a number, or 0 for all",
     CLI_NUMBER(struct waits_call, limit, 0, CLI_LIMIT_MAX)},
    CLI_QUERY_SINCE_ROWS(struct waits_call, "only waits that begin"),
    CLI_QUERY_TID_ROW(struct waits_call, "only waits of"),
    {.name = "function", .value = "PATTERN", .brief = "only waits in calls of functions that match",
     .help = "only waits that begin in calls of functions that match (* ? [a-z]), or of their "
             "callees; may be repeated",
     CLI_PATTERNS(struct waits_call, answer.functions)},
    CLI_QUERY_JSON_ROW(struct waits_call, "print one JSON object; times in ns"),
    CLI_QUERY_CSV_ROW(struct waits_call, "print CSV with a header, one line per row; times in ns"),
    CLI_QUERY_OUTPUT_ROWS(struct waits_call),
    {.name = NULL},
};

const struct cli_command cli_command_waits = {
    .name = "waits",
    .run = run,
    .summary = "Show what threads waited for, and which threads caused it",
    .usage = "[OPTION]... TRACE...",
    .help =
        "For each lock, condition, file, peer and sleep that threads waited for: number and times "
        "of the waits, which threads held it or ended the wait, in which function, and the "
        "longest waits. Requires typed probes, or recorded calls to the C library.",
    .options = options,
};
