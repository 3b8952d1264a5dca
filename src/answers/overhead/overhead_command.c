/* SPDX-License-Identifier: MIT
 *
 * overhead_command.c: `probity overhead`: runs a program with and without recording, in pairs of
 * alternating order, and reports the difference. Traces go to a temporary directory, which is
 * always removed, because signals are blocked except while waiting for a program.
 */
#include "answers/overhead/overhead.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analysis/signed_rank.h"
#include "answers/overhead/overhead_print.h"
#include "base/array_grow.h"
#include "base/os.h"
#include "cli/filter.h"
#include "cli/launch.h"
#include "cli/option.h"
#include "cli/output_stream.h"
#include "writer/recover.h"

enum { PAIRS_DEFAULT = 10 };

struct overhead_call {
    const char *out, *base;
    size_t pairs_least;
    double seconds_least;
    int force, as_json, as_csv, is_profile, ignores_status;
    char **program;
    char directory[PATH_MAX], pattern[PATH_MAX + 16];
    sigset_t mask; /* signal mask with which programs start */
    int taken;     /* the signal that is to end this process */
    struct probity_overhead_pair *pairs;
    size_t count;
};

/* ---- Files left by a run -----------------------------------------------------------------------
 */

static int add_calls(void *context, const struct probity_profiled *profiled)
{
    struct probity_overhead_run *run = context;

    run->calls += profiled->calls;
    return 0;
}

static int read_trace(const struct overhead_call *call, const char *path,
                      struct probity_overhead_run *run)
{
    struct probity_reader_options options = {0};
    struct probity_reader *reader;
    char why[256];
    char *paths[] = {(char *)(uintptr_t)path};
    int status = cli_open_reader(&cli_command_overhead, paths, 1, &options, &reader);

    if (status != CLI_OK)
        return status;
    const struct probity_trace_facts *facts = probity_reader_facts(reader, 0);
    const struct probity_totals *totals = &facts->totals;
    run->traces++;
    run->records += facts->records + facts->spool_records;
    run->lost += totals->dropped_full + totals->dropped_memory + totals->dropped_write +
                 facts->totals_records_missing;
    run->incomplete += !probity_trace_is_complete(facts, why, sizeof why);
    if (facts->state == PROBITY_TRACE_LIVE)
        cli_warn(&cli_command_overhead, "a process started by '%s' is still running; its time is "
                 "not included", call->program[0]);
    int error = probity_reader_profile(reader, 0, add_calls, run);
    probity_reader_close(reader);
    return error == 0 ? CLI_OK : cli_fail_trace(&cli_command_overhead, path, error, errno);
}

/* Reads and removes a run's traces and the spools left by killed programs. run NULL: only removes
 * them. */
static int take_traces(const struct overhead_call *call, struct probity_overhead_run *run)
{
    DIR *directory = opendir(call->directory);
    struct dirent *entry;
    int status = CLI_OK;

    if (directory == NULL)
        return cli_fail(&cli_command_overhead, "cannot read '%s': %s", call->directory,
                        strerror(errno));
    while ((entry = readdir(directory)) != NULL) {
        char path[PATH_MAX + NAME_MAX + 2];
        struct probity_recover_result result;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", call->directory, entry->d_name);
        if (run != NULL && status == CLI_OK)
            status = read_trace(call, path, run);
        probity_recover_discard(path, &result);
        unlink(path);
    }
    closedir(directory);
    return status;
}

/* ---- Running -----------------------------------------------------------------------------------
 */

/* Ways to run the program. */
enum run_kind { RUN_OFF, RUN_ON, RUN_IDLE };

static int fail_program(const struct overhead_call *call, const struct cli_launched *launched,
                        enum run_kind kind)
{
    int is_on = kind != RUN_OFF;
    const char *name = !is_on && call->base != NULL ? call->base : call->program[0];
    const char *how = is_on ? "with recording" : "without recording";

    if (launched->signal != 0)
        return cli_fail(&cli_command_overhead, "'%s', %s, was terminated by signal %d (%s)", name,
                        how, launched->signal, strsignal(launched->signal));
    return cli_fail(&cli_command_overhead, "'%s', %s, failed with status %d; use --ignore-status "
                    "to measure it anyway", name, how, launched->status);
}

static uint64_t ns_of(const struct timeval *time)
{
    return ((uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec) * 1000;
}

/* RUN_IDLE: profile mode turns off probes, and level 0 turns off scopes. */
static int run_once(struct overhead_call *call, enum run_kind kind,
                    struct probity_overhead_run *ret_run)
{
    const struct cli_variable on[] = {
        {"PROBITY_OUT", call->pattern}, {"PROBITY_PROFILE", "1"}, {"PROBITY_LEVEL", "0"}};
    size_t on_count = kind == RUN_IDLE ? 3 : 1 + (size_t)call->is_profile;
    int is_on = kind != RUN_OFF;
    const struct cli_variable off[] = {
        {"PROBITY_OUT", NULL}, {"PROBITY_LOG", NULL}, {"PROBITY_SUMMARY", NULL}};
    const struct cli_launch launch = {
        .program = call->program,
        .file = is_on ? NULL : call->base,
        .environment = is_on ? on : off,
        .environment_count = is_on ? on_count : sizeof off / sizeof *off,
        .is_quiet = 1,
        .is_ours = 1,
        .mask = &call->mask};
    struct cli_launched launched;
    int status = cli_launch(&cli_command_overhead, &launch, &launched);

    if (status != CLI_OK)
        return status;
    call->taken = launched.taken;
    if (launched.exec_error != 0 || launched.taken != 0)
        return CLI_FAILURE;
    if (launched.status != 0 && !call->ignores_status)
        return fail_program(call, &launched, kind);
    *ret_run = (struct probity_overhead_run){.wall_ns = launched.wall_ns,
                                             .user_ns = ns_of(&launched.usage.ru_utime),
                                             .system_ns = ns_of(&launched.usage.ru_stime)};
    status = take_traces(call, is_on ? ret_run : NULL);
    if (status == CLI_OK && kind == RUN_ON && ret_run->traces == 0)
        return cli_fail(&cli_command_overhead, "'%s' wrote no trace: does it use Probity, and does "
                        "it set its own output?", call->program[0]);
    return status;
}

/* The order alternates, so that any drift affects both sides equally. */
static int run_pair(struct overhead_call *call, struct probity_overhead_pair *pair)
{
    pair->on_came_first = call->count % 2 != 0;
    int status = pair->on_came_first ? run_once(call, RUN_ON, &pair->on)
                                     : run_once(call, RUN_OFF, &pair->off);

    if (status == CLI_OK)
        status = pair->on_came_first ? run_once(call, RUN_OFF, &pair->off)
                                     : run_once(call, RUN_ON, &pair->on);
    return status == CLI_OK ? run_once(call, RUN_IDLE, &pair->idle) : status;
}

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The first pair does not count: it warms caches and reveals errors early. */
static int run_pairs(struct overhead_call *call)
{
    struct probity_overhead_pair unused;
    int status = run_pair(call, &unused);
    double start_s = now_s();

    while (status == CLI_OK && call->count < PROBITY_SIGNED_RANK_MAX &&
           (call->count < call->pairs_least || now_s() - start_s < call->seconds_least)) {
        struct probity_overhead_pair *pairs =
            probity_array_append(call->pairs, sizeof *pairs, call->count);
        if (pairs == NULL)
            return cli_fail(&cli_command_overhead, "%s",
                            probity_error_text(PROBITY_ERROR_MEMORY));
        call->pairs = pairs;
        status = run_pair(call, &pairs[call->count]);
        call->count += status == CLI_OK;
        cli_progress((void *)(uintptr_t)&cli_command_overhead, call->count, call->pairs_least);
    }
    cli_progress_end();
    return status;
}

/* PROBITY_OUT is a pattern, so the directory's name must not contain '%'. */
static int directory_make(struct overhead_call *call)
{
    const char *parent = getenv("TMPDIR");

    if (parent == NULL || !probity_os_is_absolute(parent) || strchr(parent, '%') != NULL)
        parent = "/tmp";
    int length =
        snprintf(call->directory, sizeof call->directory, "%s/probity-overhead.XXXXXX", parent);
    if (length < 0 || (size_t)length >= sizeof call->directory || mkdtemp(call->directory) == NULL)
        return cli_fail(&cli_command_overhead, "cannot create a directory in '%s': %s", parent,
                        strerror(errno));
    snprintf(call->pattern, sizeof call->pattern, "%s/%%p", call->directory);
    return CLI_OK;
}

/* A signal that arrives during the runs takes effect after the directory is removed. */
static int measure(struct overhead_call *call)
{
    static const int held[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT};
    sigset_t signals;

    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof held / sizeof *held; i++)
        sigaddset(&signals, held[i]);
    sigprocmask(SIG_BLOCK, &signals, &call->mask);
    int status = directory_make(call);
    if (status == CLI_OK) {
        status = run_pairs(call);
        take_traces(call, NULL);
        rmdir(call->directory);
    }
    if (call->taken != 0)
        raise(call->taken);
    sigprocmask(SIG_SETMASK, &call->mask, NULL);
    return status;
}

/* ---- Output ------------------------------------------------------------------------------------
 */

static int print(void *context, FILE *stream, int has_color)
{
    const struct overhead_call *call = context;
    struct probity_overhead_answer answer = {.program = call->program,
                                             .base = call->base,
                                             .is_profile = call->is_profile,
                                             .pairs = call->pairs,
                                             .count = call->count};
    int error = probity_overhead_of(call->pairs, call->count, &answer.overhead);

    if (error == 0 && call->as_json)
        return probity_overhead_json(stream, &answer);
    if (error == 0 && call->as_csv)
        probity_overhead_csv(stream, &answer);
    else if (error == 0)
        probity_overhead_text(stream, has_color, &answer);
    return error;
}

/* Checked first, because the measurement may take a long time. */
static int check_output(const struct overhead_call *call)
{
    if (call->out == NULL || strcmp(call->out, "-") == 0 || call->force ||
        access(call->out, F_OK) != 0)
        return CLI_OK;
    return cli_fail(&cli_command_overhead, "'%s' already exists; use -f to overwrite it",
                    call->out);
}

static int take_seconds(const struct cli_given *given)
{
    struct overhead_call *call = given->at;
    const char *text = given->value;
    char *end;

    call->seconds_least = strtod(text, &end);
    if (end == text || *end != '\0' || !(call->seconds_least >= 0 && call->seconds_least < 1e6))
        return cli_fail_usage(&cli_command_overhead, "invalid --min-time '%s' (expected seconds)",
                              text);
    return CLI_OK;
}

static int run_call(struct overhead_call *call)
{
    if (call->as_json && call->as_csv)
        return cli_fail_usage(&cli_command_overhead, "--json and --csv are mutually exclusive");
    if (*call->program == NULL)
        return cli_fail_usage(&cli_command_overhead, "no program given");
    int status = check_output(call);
    if (status != CLI_OK || (status = measure(call)) != CLI_OK)
        return status;
    return cli_print_answer(&cli_command_overhead, call->out, call->force, print, call);
}

static int run(int argc, char **argv)
{
    struct overhead_call call = {.pairs_least = PAIRS_DEFAULT};
    int status = cli_options_take(&cli_command_overhead, &call, argc, argv);

    call.program = argv + optind;
    if (status == CLI_OK)
        status = run_call(&call);
    free(call.pairs);
    return status < 0 ? CLI_OK : status;
}

static const struct cli_operand operands[] = {{.label = "program", .is_program = 1},
                                              {.label = NULL}};

static const struct cli_option options[] = {
    {.name = "pairs", .letter = 'n', .value = "N", .brief = "number of pairs of runs",
     .help = "number of pairs (default: 10; fewer than 6 give no interval)",
     .noun = "number of pairs",
     CLI_NUMBER(struct overhead_call, pairs_least, 1, PROBITY_SIGNED_RANK_MAX)},
    {.name = "min-time", .value = "S", .brief = "minimum measuring time in seconds",
     .help = "keep going until the runs have taken S seconds", .take = take_seconds},
    {.name = "profile", .help = "record in profile mode",
     CLI_FLAG(struct overhead_call, is_profile)},
    {.name = "base", .value = "PROGRAM", .brief = "program to run without recording",
     .help = "for the runs without recording, run this build without probes instead, with the same "
             "arguments", CLI_TEXT(struct overhead_call, base)},
    {.name = "ignore-status", .letter = 'i', .help = "measure the program even if it fails",
     CLI_FLAG(struct overhead_call, ignores_status)},
    {.name = "json", .help = "print one JSON object with all runs; times in ns",
     .brief = "print JSON", CLI_FLAG(struct overhead_call, as_json)},
    {.name = "csv", .help = "print CSV, one row per run; times in ns", .brief = "print CSV",
     CLI_FLAG(struct overhead_call, as_csv)},
    {.name = "output", .letter = 'o', .value = "FILE", .brief = "write to a file",
     .help = "write to FILE; '-' is standard output (the default)",
     CLI_TEXT(struct overhead_call, out)},
    {.name = "force", .letter = 'f', .help = "overwrite FILE if it exists",
     .brief = "overwrite an existing file", CLI_FLAG(struct overhead_call, force)},
    CLI_HELP_ROW,
    {.name = NULL},
};

const struct cli_command cli_command_overhead = {
    .name = "overhead",
    .run = run,
    .summary = "Measure recording overhead",
    .usage = "[OPTION]... [--] PROGRAM [ARGUMENT]...",
    .help =
        "Runs the program with and without recording, in pairs with alternating order, after one "
        "warm-up pair. Prints median wall and CPU times, the slowdown within a pair with its "
        "confidence interval, and how much was recorded and lost. Each pair includes a third run "
        "that starts recording but records nothing, which separates the cost of start and exit "
        "from the cost per record. The program's input and output are /dev/null; its traces are "
        "removed.",
    .options = options,
    .operands = operands,
    .stops_at_operand = 1,
    .statuses = "0 success; 1 failure, or the program failed; 2 usage error",
};
