/* SPDX-License-Identifier: MIT
 *
 * log_command.c: `probity log`: prints the calls of instrumented functions in the format of the
 * FnTrace article; with --follow, while the program runs.
 */
#include "log/log.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array_grow.h"
#include "cli/align.h"
#include "cli/cli.h"
#include "cli/filter.h"
#include "cli/index.h"
#include "cli/option.h"
#include "cli/output_stream.h"
#include "cli/time_range.h"
#include "cli/signatures.h"

#define ME (&cli_command_log)

enum { FOLLOW_EVERY_MS = 50 };

struct log_call {
    const char *out;
    struct cli_range range;
    int force, follow;
    struct probity_log_options log;
    const char **functions;
    struct cli_filter tids, probes;
    size_t limit;   /* maximum number of lines; 0: all */
    int is_stopped; /* the limit was reached */
    unsigned seen; /* bits of kinds of events in the range, up to CHECKPOINT */
    struct symbols *symbols;
    struct probity_reader *reader;
};

/* ---- Options -----------------------------------------------------------------------------------
 */

static int parse_number(const struct cli_given *given, uint32_t most, uint32_t *ret_number)
{
    const char *text = given->value;
    char *end;
    unsigned long number = strtoul(text, &end, 10);

    if (*text < '0' || *text > '9' || *end != '\0' || number > most)
        return cli_fail_usage(ME, "invalid --%s '%s' (0 to %" PRIu32 ")", given->option->name, text,
                              most);
    *ret_number = (uint32_t)number;
    return CLI_OK;
}

static int take_level(const struct cli_given *given)
{
    struct log_call *call = given->at;
    uint32_t level = 0;
    int status = parse_number(given, 5, &level);

    if (status == CLI_OK)
        call->log.level_max = (int)level;
    return status;
}

static int take_depth(const struct cli_given *given)
{
    struct log_call *call = given->at;

    return parse_number(given, UINT32_MAX, &call->log.depth_max);
}

static int take_duration(const struct cli_given *given)
{
    struct log_call *call = given->at;

    if (cli_parse_duration(given->value, &call->log.duration_ns_min) != 0)
        return cli_fail_usage(ME, "invalid --min-duration '%s' (seconds, or with a unit such as "
                              "5ms)", given->value);
    return CLI_OK;
}

/* A pattern may contain commas, as names of templates do, so each pattern is a separate option. */
static int take_function(const struct cli_given *given)
{
    struct log_call *call = given->at;
    size_t count = call->log.function_count;
    const char **functions = probity_array_append(call->functions, sizeof(const char *), count);

    if (functions == NULL)
        return cli_fail(ME, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    functions[count] = given->value;
    call->functions = functions;
    call->log.functions = functions;
    call->log.function_count = count + 1;
    return CLI_OK;
}

/* A list of probes, which are printed even without --probes. */
static int take_probes(const struct cli_given *given)
{
    struct log_call *call = given->at;

    call->log.has_probes = 1;
    return cli_filter_parse(ME, &call->probes, given->value, 1);
}

/* The reader applies only the end of the range. The log applies its beginning, because earlier
 * events determine which scopes are open by then. */
static int set_range(struct log_call *call)
{
    struct probity_log_options *log = &call->log;
    uint64_t to_ns;

    log->start_ns = probity_reader_start_ns(call->reader);
    int status = cli_parse_range(ME, &call->range, call->reader, &log->from_ns, &to_ns);
    if (status != CLI_OK)
        return status;
    cli_warn_outside(ME, call->reader, log->from_ns, to_ns);
    log->is_part = call->range.to != NULL;
    probity_reader_set_range(call->reader, 0, to_ns);
    int error = probity_reader_set_window(call->reader, log->from_ns, UINT64_MAX);
    return error == 0 ? CLI_OK
                      : cli_fail_trace(ME, probity_reader_facts(call->reader, 0)->path, error,
                                       errno);
}

/* ---- Events ------------------------------------------------------------------------------------
 */

static volatile sig_atomic_t is_interrupted;

static void interrupt(int number)
{
    (void)number;
    is_interrupted = 1;
}

static const char *signature(void *context, const struct probity_function *function)
{
    struct log_call *call = context;

    return cli_signature(call->symbols, call->reader, function);
}

/* A thread that changes levels or profiling does so for all threads. */
static int is_wanted(struct log_call *call, const struct probity_event *event)
{
    return cli_filter_passes(&call->tids, event->tid, NULL, 0) ||
           event->kind == PROBITY_EVENT_LEVELS || event->kind == PROBITY_EVENT_PROFILING ||
           event->kind == PROBITY_EVENT_BUDGET || event->kind == PROBITY_EVENT_SITES_SWITCHED;
}

/* If there is nothing new yet, flushes, and checks the file again soon. */
static int wait_for_more(struct probity_log *log)
{
    struct timespec pause = {.tv_nsec = FOLLOW_EVERY_MS * 1000000L};
    int error = probity_log_flush(log);

    if (error == 0)
        nanosleep(&pause, NULL);
    return error;
}

/* A requested probe counts as found if a hit is in the range. */
static int is_probe(struct log_call *call, const struct probity_event *event)
{
    return event->wall_ns >= call->log.from_ns &&
           cli_filter_passes(&call->probes, event->is_site ? UINT64_MAX : event->id, event->name,
                             event->name_bytes);
}

static int take_event(struct log_call *call, struct probity_log *log,
                      const struct probity_event *event)
{
    if (event->wall_ns >= call->log.from_ns) /* earlier events may also be read */
        call->seen |= 1U << (event->kind & 31);
    if (event->kind == PROBITY_EVENT_HIT && call->probes.count > 0 && !is_probe(call, event))
        return 0;
    return call->tids.count == 0 || is_wanted(call, event) ? probity_log_put(log, event) : 0;
}

/* Whether all lines up to the limit were written. With --follow, the log then ends without waiting
 * for another line. */
static int is_at_limit(const struct log_call *call, const struct probity_log *log)
{
    return call->limit > 0 &&
           (probity_log_is_full(log) & (call->follow ? PROBITY_LOG_FULL : PROBITY_LOG_CUT)) != 0;
}

/* Returns 0 or an error. */
static int copy_events(struct log_call *call, struct probity_log *log)
{
    const struct probity_event *event;
    int got;

    while ((got = probity_reader_next(call->reader, &event)) > 0 && !is_interrupted) {
        int error = got == PROBITY_READER_WAITS ? wait_for_more(log)
                                                : take_event(call, log, event);
        if (error < 0)
            return error;
        if (is_at_limit(call, log))
            break;
    }
    call->log.is_part |= is_interrupted || is_at_limit(call, log);
    int error = got < 0 ? got : probity_log_finish(log);
    call->is_stopped = is_at_limit(call, log);
    return error;
}

/* Reports what the log had to infer, except open scopes of a live program. */
static void report_counts(const struct log_call *call, const struct probity_log_counts *counts)
{
    uint64_t open = call->log.is_part ? 0 : counts->open;

    for (size_t i = 0; i < probity_reader_traces(call->reader); i++) {
        if (probity_reader_facts(call->reader, i)->state == PROBITY_TRACE_LIVE)
            open = 0;
    }
    if (counts->unwound + counts->orphans + open > 0)
        cli_warn(ME, "scopes repaired: %" PRIu64 " unwound, %" PRIu64 " still open at the end, %"
                 PRIu64 " exits without a matching entry", counts->unwound, open, counts->orphans);
    if (counts->pauses_unmatched + counts->resumes_unmatched > 0)
        cli_warn(ME, "%" PRIu64 " pauses while paused, %" PRIu64 " resumes while not paused",
                 counts->pauses_unmatched, counts->resumes_unmatched);
    if (counts->held_shown > 0)
        cli_warn(ME, "%" PRIu64 " scopes shown may be shorter than --min-duration: too many lines "
                 "to buffer", counts->held_shown);
}

/* Without this, an empty log would look like a program that did nothing. */
static void warn_empty(const struct log_call *call)
{
    const unsigned shown = 1U << PROBITY_EVENT_ENTER | 1U << PROBITY_EVENT_CHECKPOINT |
                           1U << PROBITY_EVENT_MESSAGE | 1U << PROBITY_READER_ENTRY;

    for (size_t i = 0; i < probity_reader_traces(call->reader); i++) {
        const struct probity_trace_facts *facts = probity_reader_facts(call->reader, i);
        if (facts->info.flags & PROBITY_INFO_PROFILE)
            cli_warn(ME, "'%s': profile mode counts scopes and does not record them; see `probity "
                     "report`", facts->path);
    }
    if ((call->seen & shown) == 0 && (call->seen & 1U << PROBITY_EVENT_HIT) != 0 &&
        !call->log.has_probes)
        cli_warn(ME, "no function calls, only hits of probes; see `probity csv`, `probity blocks` "
                 "and --probes");
}

/* A line marks records lost before another record of the same thread, but no line marks records
 * lost at a thread's end, or records of threads that have no others. Damage is reported
 * separately. */
static void warn_dropped(const struct log_call *call)
{
    char why[256];

    for (size_t i = 0; i < probity_reader_traces(call->reader); i++) {
        const struct probity_trace_facts *facts = probity_reader_facts(call->reader, i);
        if (probity_totals_dropped(&facts->totals) > 0 && !probity_trace_is_damaged(facts) &&
            facts->state != PROBITY_TRACE_UNFINISHED &&
            !probity_trace_is_complete(facts, why, sizeof why))
            cli_warn(ME, "'%s' is incomplete: %s", facts->path, why);
    }
}

static int fail_copy(const struct log_call *call, int error, int error_number)
{
    if (error == PROBITY_ERROR_WRITE && call->out == NULL)
        return cli_fail(ME, "cannot write to standard output: %s", strerror(error_number));
    if (error == PROBITY_ERROR_SYSTEM)
        return cli_fail(ME, "cannot write a temporary file: %s; set TMPDIR to a directory with "
                        "free space", strerror(error_number));
    return cli_fail_trace(ME, error == PROBITY_ERROR_WRITE
                                  ? call->out
                                  : probity_reader_facts(call->reader, 0)->path,
                          error, error_number);
}

static int judge(struct log_call *call, const struct probity_log_counts *counts)
{
    int status = CLI_OK;

    if (!call->is_stopped) /* the counts cover more than the lines */
        report_counts(call, counts);
    warn_empty(call);
    warn_dropped(call);
    if (call->is_stopped)
        cli_warn_stopped(ME, call->limit, "lines");
    cli_filter_see_tids(&call->tids, call->reader);
    if (cli_filter_warn_unseen(ME, &call->tids, "thread id"))
        status = CLI_FAILURE;
    /* The limit may be reached before the first hit of a probe. */
    if (!call->is_stopped && cli_filter_warn_unseen(ME, &call->probes, "probe"))
        status = CLI_FAILURE;
    if (call->log.function_count > 0 && counts->named == 0) {
        cli_warn(ME, "no function matches '%s'", call->log.functions[0]);
        status = CLI_FAILURE;
    }
    int judged = cli_judge_traces(ME, call->reader);
    return status == CLI_OK ? judged : status;
}

static int write_output(struct log_call *call)
{
    struct cli_output output;
    struct probity_log_counts counts = {.lines = 0};
    struct probity_log *log;
    /* With --follow, a log may be read before its end. */
    int status = call->follow ? cli_output_open_named(ME, call->out, call->force, &output)
                              : cli_output_open(ME, call->out, call->force, &output);

    if (status != CLI_OK)
        return status;
    call->log.has_color = cli_has_color(output.descriptor);
    int error = probity_log_open(output.descriptor, call->reader, &call->log, &log);
    if (error == PROBITY_ERROR_OPEN) {
        status = cli_fail(ME, "cannot create a temporary file: %s", strerror(errno));
    } else if (error == 0) {
        error = copy_events(call, log);
        int error_number = errno;
        counts = probity_log_counts(log);
        probity_log_close(log);
        errno = error_number;
    }
    if (error != 0 && status == CLI_OK)
        status = fail_copy(call, error, errno);
    int closed = cli_output_close(ME, &output, status == CLI_OK);
    status = status == CLI_OK ? closed : status;
    int judged = judge(call, &counts);
    return status == CLI_OK ? judged : status;
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = interrupt};

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static int run_on(void *context, char **paths, size_t count)
{
    struct log_call *call = context;
    struct probity_reader_options options = {.follow = call->follow};
    int status = cli_output_is_apart(ME, call->out, paths, count);

    /* A pattern that matches only calls outside the range is not reported. */
    if (call->log.function_count == 0)
        cli_index_use(ME, &call->range, 0, &options);
    if (status == CLI_OK)
        status = cli_open_reader(ME, paths, count, &options, &call->reader);
    if (status != CLI_OK)
        return status;
    call->log.has_pids = count > 1;
    call->log.lines_max = call->limit;
    call->log.signature = signature;
    call->log.context = call;
    call->symbols = symbols_open(cli_memory_end);
    if (call->follow)
        catch_signals();
    status = set_range(call);
    if (status == CLI_OK)
        status = write_output(call);
    symbols_close(call->symbols);
    probity_reader_close(call->reader);
    return status;
}

static int check_call(const struct log_call *call, size_t traces)
{
    if (traces == 0)
        return cli_fail_usage(ME, "no trace given");
    if (call->follow && traces > 1)
        return cli_fail_usage(ME, "--follow requires exactly one trace");
    if (call->follow && call->log.by_thread)
        return cli_fail_usage(ME, "--by-thread and --follow are mutually exclusive");
    return CLI_OK;
}

static int run(int argc, char **argv)
{
    struct log_call call = {.log.level_max = PROBITY_LOG_LEVEL_ALL};
    int status = cli_options_take(ME, &call, argc, argv);

    if (status == CLI_OK)
        status = check_call(&call, (size_t)(argc - optind));
    if (status == CLI_OK)
        status = cli_on_traces(ME, argv + optind, (size_t)(argc - optind), run_on, &call);
    cli_filter_release(&call.tids);
    cli_filter_release(&call.probes);
    free(call.functions);
    return status < 0 ? CLI_OK : status;
}

static const struct cli_option options[] = {
    CLI_OUTPUT_ROWS(struct log_call, out, force),
    {.name = "follow", .help = "follow a running program until it ends, or Ctrl-C",
     .brief = "follow until the program ends", CLI_FLAG(struct log_call, follow)},
    {.name = "function", .value = "PATTERN", .repeats = 1, .take = take_function,
     .help = "only functions that match, with * and ?, and their callees; may be repeated",
     .brief = "only functions that match, and their callees"},
    {.name = "level", .value = "N", .brief = "only functions up to this level",
     .help = "only functions declared with a level of at most N, 0 to 5",
     .choices = "0 1 2 3 4 5", .take = take_level},
    {.name = "depth", .value = "N", .help = "show at most N nested scopes; 0: all",
     .brief = "maximum number of nested scopes", .take = take_depth},
    {.name = "min-duration", .value = "T", .brief = "minimum duration of a scope",
     .help = "only scopes that took at least T: seconds, or with a unit (5ms)",
     .take = take_duration},
    {.name = "tid", .older = "thread", .value = "N,...", .help = "only these thread ids",
     .brief = "only these threads", CLI_NUMBERS(struct log_call, tids)},
    CLI_RANGE_ROWS(struct log_call, range, "from", "to", "only events"),
    {.name = "by-thread", .help = "print one thread after another",
     CLI_FLAG(struct log_call, log.by_thread)},
    {.name = "probes", .help = "include hits of probes", CLI_FLAG(struct log_call, log.has_probes)},
    {.name = "probe", .value = "ID,...", .brief = "include hits of these probes",
     .help = "include hits of these probe numbers or names only", .take = take_probes},
    {.name = "limit", .letter = 'n', .value = "N", .help = "print only the first N lines",
     .brief = "maximum number of lines",
     CLI_NUMBER(struct log_call, limit, 0, CLI_LIMIT_MAX)},
    {.name = "time", .value = "FORM", .brief = "time stamps",
     .help = "time stamps: none, relative (to the start of recording) or wall",
     CLI_CHOICE(struct log_call, log.time, "none relative wall")},
    CLI_ALIGN_ROW, CLI_COLOR_ROW, CLI_QUIET_ROW,
    CLI_HELP_ROW,
    {.name = NULL},
};

const struct cli_command cli_command_log = {
    .name = "log",
    .run = run,
    .summary = "Print calls, values, messages and times of instrumented functions",
    .usage = "[OPTION]... TRACE...",
    .help =
        "Each line starts with the thread id and is indented by call depth. Threads and traces "
        "are merged by time.",
    .options = options,
};
