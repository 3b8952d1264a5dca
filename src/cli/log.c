/* SPDX-License-Identifier: MIT
 *
 * log.c: `probity log`: what instrumented functions did, in the form of the FnTrace article; of a
 * program that runs on request as it happens.
 */
#include "output/log.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/filter.h"
#include "cli/signatures.h"

#define ME (&cli_command_log)

enum { FOLLOW_EVERY_MS = 50 };

struct log_call {
    const char *out;
    struct cli_range range;
    int force, follow, colour; /* colour: -1 where the output is a terminal */
    struct probity_log_options log;
    const char **functions;
    struct cli_filter tids;
    struct symbols *symbols;
    struct probity_reader *reader;
};

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},   {"force", no_argument, NULL, 'f'},
    {"from", required_argument, NULL, 'F'},     {"to", required_argument, NULL, 'T'},
    {"tid", required_argument, NULL, 't'},      {"function", required_argument, NULL, 'n'},
    {"level", required_argument, NULL, 'l'},    {"depth", required_argument, NULL, 'd'},
    {"by-thread", no_argument, NULL, 'b'},      {"min-duration", required_argument, NULL, 'm'},
    {"probes", no_argument, NULL, 'p'},         {"time", required_argument, NULL, 'c'},
    {"follow", no_argument, NULL, 'w'},         {"color", required_argument, NULL, 'C'},
    {"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0}};

/* ---- Options -----------------------------------------------------------------------------------
 */

static int parse_number(const char *option, const char *text, uint32_t most, uint32_t *ret_number)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);

    if (*text < '0' || *text > '9' || *end != '\0' || number > most)
        return cli_fail_usage(ME, "%s %s: not a number from 0 to %" PRIu32, option, text, most);
    *ret_number = (uint32_t)number;
    return CLI_OK;
}

static int parse_level(struct log_call *call, const char *text)
{
    uint32_t level;
    int status = parse_number("--level", text, 5, &level);

    if (status == CLI_OK)
        call->log.level_max = (int)level;
    return status;
}

static int parse_duration(struct log_call *call, const char *text)
{
    if (*text == '@' || cli_parse_time(text, 0, &call->log.duration_ns_min) != 0)
        return cli_fail_usage(ME, "--min-duration %s: a duration is seconds, or with a unit (5ms)",
                              text);
    return CLI_OK;
}

static int parse_time_column(struct log_call *call, const char *text)
{
    static const char *const names[] = {"none", "relative", "wall"};

    for (int i = 0; i < 3; i++) {
        if (strcmp(text, names[i]) == 0) {
            call->log.time = (enum probity_log_time)i;
            return CLI_OK;
        }
    }
    return cli_fail_usage(ME, "--time %s: there are none, relative, wall", text);
}

static int parse_colour(struct log_call *call, const char *text)
{
    static const char *const names[] = {"auto", "never", "always"};

    for (int i = 0; i < 3; i++) {
        if (strcmp(text, names[i]) == 0) {
            call->colour = i - 1;
            return CLI_OK;
        }
    }
    return cli_fail_usage(ME, "--color %s: there are auto, always, never", text);
}

/* Patterns may hold commas, as names of templates do: one for each option. */
static int add_function(struct log_call *call, const char *pattern)
{
    size_t count = call->log.function_count;
    const char **functions = realloc(call->functions, (count + 1) * sizeof(const char *));

    if (functions == NULL)
        return cli_fail(ME, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    functions[count] = pattern;
    call->functions = functions;
    call->log.functions = functions;
    call->log.function_count = count + 1;
    return CLI_OK;
}

static int take_option(void *context, int option, char *value)
{
    struct log_call *call = context;

    switch (option) {
    case 'o': call->out = strcmp(value, "-") == 0 ? NULL : value; return CLI_OK;
    case 'f': call->force = 1; return CLI_OK;
    case 'F': call->range.from = value; return CLI_OK;
    case 'T': call->range.to = value; return CLI_OK;
    case 't': return cli_filter_parse(ME, &call->tids, value, 0);
    case 'n': return add_function(call, value);
    case 'l': return parse_level(call, value);
    case 'd': return parse_number("--depth", value, UINT32_MAX, &call->log.depth_max);
    case 'm': return parse_duration(call, value);
    case 'b': call->log.by_thread = 1; return CLI_OK;
    case 'p': call->log.has_probes = 1; return CLI_OK;
    case 'w': call->follow = 1; return CLI_OK;
    case 'c': return parse_time_column(call, value);
    case 'C': return parse_colour(call, value);
    case 'h': cli_print_help(ME); return -1;
    default: return -2;
    }
}

/* What happened before the range still says which scopes are open in it: the reader cuts the end of
 * the range, the log its beginning. */
static int set_range(struct log_call *call)
{
    struct probity_log_options *log = &call->log;
    uint64_t to_ns;

    log->start_ns = probity_reader_start_ns(call->reader);
    int status = cli_parse_range(ME, &call->range, log->start_ns, &log->from_ns, &to_ns);
    if (status != CLI_OK)
        return status;
    log->is_part = call->range.to != NULL;
    probity_reader_set_range(call->reader, 0, to_ns);
    return CLI_OK;
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

/* Levels and profiling are changed for all threads by whichever does it. */
static int is_wanted(struct log_call *call, const struct probity_event *event)
{
    return cli_filter_passes(&call->tids, event->tid, NULL, 0) ||
           event->kind == PROBITY_EVENT_LEVELS || event->kind == PROBITY_EVENT_PROFILING;
}

/* Nothing new yet: what there is goes out, and the file is looked at again soon. */
static int wait_for_more(struct probity_log *log)
{
    struct timespec pause = {.tv_nsec = FOLLOW_EVERY_MS * 1000000L};
    int error = probity_log_flush(log);

    if (error == 0)
        nanosleep(&pause, NULL);
    return error;
}

/* Returns 0 or an error. */
static int copy_events(struct log_call *call, struct probity_log *log)
{
    const struct probity_event *event;
    int got, has_tids = call->tids.count > 0;

    while ((got = probity_reader_next(call->reader, &event)) > 0 && !is_interrupted) {
        int error = 0;
        if (got == PROBITY_READER_WAITS)
            error = wait_for_more(log);
        else if (!has_tids || is_wanted(call, event))
            error = probity_log_put(log, event);
        if (error < 0)
            return error;
    }
    call->log.is_part |= is_interrupted;
    return got < 0 ? got : probity_log_finish(log);
}

/* What the log had to make up. Open scopes of a live program are none of it. */
static void tell_counts(const struct log_call *call, const struct probity_log_counts *counts)
{
    uint64_t open = call->log.is_part ? 0 : counts->open;

    for (size_t i = 0; i < probity_reader_traces(call->reader); i++) {
        if (probity_reader_facts(call->reader, i)->state == PROBITY_TRACE_LIVE)
            open = 0;
    }
    if (counts->unwound + counts->orphans + open > 0)
        cli_warn(ME, "scopes repaired: %" PRIu64 " unwound, %" PRIu64 " still open at the end, %"
                 PRIu64 " left without an enter", counts->unwound, open, counts->orphans);
    if (counts->pauses_unmatched + counts->resumes_unmatched > 0)
        cli_warn(ME, "%" PRIu64 " pauses in a pause, %" PRIu64 " resumes without a pause",
                 counts->pauses_unmatched, counts->resumes_unmatched);
    if (counts->held_shown > 0)
        cli_warn(ME, "%" PRIu64 " scopes shown that may be shorter than asked for: too many lines "
                 "to hold back", counts->held_shown);
}

/* Without a word, an empty log would look like a program that did nothing. */
static void tell_profiled(const struct log_call *call)
{
    for (size_t i = 0; i < probity_reader_traces(call->reader); i++) {
        const struct probity_trace_facts *facts = probity_reader_facts(call->reader, i);
        if (facts->info.flags & PROBITY_INFO_PROFILE)
            cli_warn(ME, "'%s': in profile mode scopes are counted, not recorded: see `probity "
                     "report`", facts->path);
    }
}

static int fail_copy(const struct log_call *call, int error, int error_number)
{
    if (error == PROBITY_ERROR_WRITE && call->out == NULL)
        return cli_fail(ME, "cannot write to standard output: %s", strerror(error_number));
    if (error == PROBITY_ERROR_SYSTEM)
        return cli_fail(ME, "cannot keep lines in a temporary file: %s; set TMPDIR to where there "
                        "is room", strerror(error_number));
    return cli_fail_trace(ME, error == PROBITY_ERROR_WRITE
                                  ? call->out
                                  : probity_reader_facts(call->reader, 0)->path,
                          error, error_number);
}

static int judge(struct log_call *call, const struct probity_log_counts *counts)
{
    int status = CLI_OK;

    tell_counts(call, counts);
    tell_profiled(call);
    if (cli_filter_tell_unseen(ME, &call->tids, "thread id"))
        status = CLI_FAILURE;
    if (call->log.function_count > 0 && counts->named == 0) {
        cli_warn(ME, "no scope of a function '%s' here", call->log.functions[0]);
        status = CLI_FAILURE;
    }
    int judged = cli_judge_traces(ME, call->reader);
    return status == CLI_OK ? judged : status;
}

static int has_colour(const struct log_call *call, int descriptor)
{
    const char *refused = getenv("NO_COLOR"), *terminal = getenv("TERM");

    if (call->colour >= 0)
        return call->colour;
    return (refused == NULL || *refused == '\0') && isatty(descriptor) &&
           (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

static int write_output(struct log_call *call)
{
    struct cli_output output;
    struct probity_log_counts counts = {.lines = 0};
    struct probity_log *log;
    /* What is followed may be looked at before the end. */
    int status = call->follow ? cli_output_open_named(ME, call->out, call->force, &output)
                              : cli_output_open(ME, call->out, call->force, &output);

    if (status != CLI_OK)
        return status;
    call->log.has_colour = has_colour(call, output.descriptor);
    int error = probity_log_open(output.descriptor, call->reader, &call->log, &log);
    if (error == PROBITY_ERROR_OPEN) {
        status = cli_fail(ME, "cannot make a temporary file: %s", strerror(errno));
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

    if (status == CLI_OK)
        status = cli_open_reader(ME, paths, count, &options, &call->reader);
    if (status != CLI_OK)
        return status;
    call->log.has_pids = count > 1;
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
        return cli_fail_usage(ME, "--follow takes one trace");
    if (call->follow && call->log.by_thread)
        return cli_fail_usage(ME, "--by-thread shows nothing before the end: not with --follow");
    return CLI_OK;
}

static int run(int argc, char **argv)
{
    static const struct cli_options options = {":o:fh", long_options, take_option};
    struct log_call call = {.colour = -1, .log.level_max = PROBITY_LOG_LEVEL_ALL};
    int status = cli_take_options(ME, &options, &call, argc, argv);

    if (status == CLI_OK)
        status = check_call(&call, (size_t)(argc - optind));
    if (status == CLI_OK)
        status = cli_on_traces(ME, argv + optind, (size_t)(argc - optind), run_on, &call);
    cli_filter_release(&call.tids);
    free(call.functions);
    return status < 0 ? CLI_OK : status;
}

const struct cli_command cli_command_log = {
    "log", run, "Print what instrumented functions did: calls, values, messages, times",
    "[OPTION]... TRACE...",
    "A line begins with the thread id and is indented by the depth of calls. Threads, and several\n"
    "traces, are merged by time.\n\n"
    "  -o, --output FILE       write to FILE (default: standard output, also '-')\n"
    "  -f, --force             replace FILE where it exists\n"
    "      --follow            of a program that runs: go on until it ends, or Ctrl-C\n"
    "      --function PATTERN  only functions of this name, with * and ?, and what they call;\n"
    "                          may be given several times\n"
    "      --level N           only functions declared up to this level, 0 to 5\n"
    "      --depth N           only N scopes inside each other; 0: all\n"
    "      --min-duration T    only scopes that lasted at least T: seconds, or with a unit (5ms)\n"
    "      --tid N,...         only these thread ids\n"
    "      --from T, --to T    what happened from T on, and before T: seconds since recording\n"
    "                          began, or with a unit (ns, us, ms, s), or @SECONDS since 1970\n"
    "      --by-thread         one thread after another\n"
    "      --probes            hits of probes too\n"
    "      --time FORM         time in front of each line: none, relative (to the beginning),\n"
    "                          wall\n"
    "      --color WHEN        auto (on a terminal), always, never\n"
    "  -h, --help              this text\n", NULL};
