/* SPDX-License-Identifier: MIT
 *
 * overhead.c: `probity overhead`: runs a program without recording and with it, in pairs that take
 * turns in who is first, and says what recording adds. Traces go to a folder of our own, which is
 * removed whatever happens: signals are blocked but while a program is waited for.
 */
#include "analysis/overhead.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analysis/paired.h"
#include "cli/filter.h"
#include "cli/launch.h"
#include "cli/printed.h"
#include "output/overhead_csv.h"
#include "output/overhead_json.h"
#include "output/overhead_text.h"
#include "writer/recover.h"

enum { PAIRS_DEFAULT = 10 };

struct overhead_call {
    const char *out, *base;
    size_t pairs_least;
    double seconds_least;
    int force, as_json, as_csv, is_profile, ignores_status;
    char **program;
    char folder[PATH_MAX], pattern[PATH_MAX + 16];
    sigset_t mask; /* what the programs are to start with */
    int taken;     /* the signal that ends us */
    struct probity_overhead_pair *pairs;
    size_t count;
};

static const struct option long_options[] = {{"output", required_argument, NULL, 'o'},
                                             {"force", no_argument, NULL, 'f'},
                                             {"pairs", required_argument, NULL, 'n'},
                                             {"min-time", required_argument, NULL, 'm'},
                                             {"profile", no_argument, NULL, 'p'},
                                             {"base", required_argument, NULL, 'b'},
                                             {"ignore-status", no_argument, NULL, 'i'},
                                             {"json", no_argument, NULL, 'j'},
                                             {"csv", no_argument, NULL, 'c'},
                                             {"help", no_argument, NULL, 'h'},
                                             {NULL, 0, NULL, 0}};

/* ---- What a run leaves behind ------------------------------------------------------------------
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
        cli_warn(&cli_command_overhead, "a process that '%s' left behind is still running: it is "
                 "not in its times", call->program[0]);
    int error = probity_reader_profile(reader, 0, add_calls, run);
    probity_reader_close(reader);
    return error == 0 ? CLI_OK : cli_fail_trace(&cli_command_overhead, path, error, errno);
}

/* A killed program leaves a spool beside its trace. run NULL: what is there is only removed. */
static int take_traces(const struct overhead_call *call, struct probity_overhead_run *run)
{
    DIR *folder = opendir(call->folder);
    struct dirent *entry;
    int status = CLI_OK;

    if (folder == NULL)
        return cli_fail(&cli_command_overhead, "cannot read '%s': %s", call->folder,
                        strerror(errno));
    while ((entry = readdir(folder)) != NULL) {
        char path[PATH_MAX + NAME_MAX + 2];
        struct probity_recover_result result;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", call->folder, entry->d_name);
        if (run != NULL && status == CLI_OK)
            status = read_trace(call, path, run);
        probity_recover_discard(path, &result);
        unlink(path);
    }
    closedir(folder);
    return status;
}

/* ---- Running -----------------------------------------------------------------------------------
 */

static int fail_program(const struct overhead_call *call, const struct cli_launched *launched,
                        int is_on)
{
    const char *name = !is_on && call->base != NULL ? call->base : call->program[0];
    const char *how = is_on ? "with recording" : "without recording";

    if (launched->signal != 0)
        return cli_fail(&cli_command_overhead, "'%s', %s, was ended by signal %d (%s)", name, how,
                        launched->signal, strsignal(launched->signal));
    return cli_fail(&cli_command_overhead, "'%s', %s, failed with status %d; --ignore-status "
                    "measures it all the same", name, how, launched->status);
}

static uint64_t ns_of(const struct timeval *time)
{
    return ((uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec) * 1000;
}

static int run_once(struct overhead_call *call, int is_on, struct probity_overhead_run *ret_run)
{
    const struct cli_variable on[] = {{"PROBITY_OUT", call->pattern}, {"PROBITY_PROFILE", "1"}};
    const struct cli_variable off[] = {
        {"PROBITY_OUT", NULL}, {"PROBITY_LOG", NULL}, {"PROBITY_SUMMARY", NULL}};
    const struct cli_launch launch = {
        .program = call->program,
        .file = is_on ? NULL : call->base,
        .environment = is_on ? on : off,
        .environment_count = is_on ? 1 + (size_t)call->is_profile : sizeof off / sizeof *off,
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
        return fail_program(call, &launched, is_on);
    *ret_run = (struct probity_overhead_run){.wall_ns = launched.wall_ns,
                                             .user_ns = ns_of(&launched.usage.ru_utime),
                                             .system_ns = ns_of(&launched.usage.ru_stime)};
    status = take_traces(call, is_on ? ret_run : NULL);
    if (status == CLI_OK && is_on && ret_run->traces == 0)
        return cli_fail(&cli_command_overhead, "'%s' made no trace: does it use Probity, and does "
                        "it say itself where to record to?", call->program[0]);
    return status;
}

/* Turns: what warms up or wears off over the runs falls to both sides alike. */
static int run_pair(struct overhead_call *call, struct probity_overhead_pair *pair)
{
    pair->on_came_first = call->count % 2 != 0;
    int status = run_once(call, pair->on_came_first,
                          pair->on_came_first ? &pair->on : &pair->off);

    if (status == CLI_OK)
        status = run_once(call, !pair->on_came_first,
                          pair->on_came_first ? &pair->off : &pair->on);
    return status;
}

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The first pair is for the caches, and for the errors. */
static int run_pairs(struct overhead_call *call)
{
    struct probity_overhead_pair unused;
    int status = run_pair(call, &unused);
    double start_s = now_s();

    while (status == CLI_OK && call->count < PROBITY_PAIRED_MAX &&
           (call->count < call->pairs_least || now_s() - start_s < call->seconds_least)) {
        struct probity_overhead_pair *pairs =
            realloc(call->pairs, (call->count + 1) * sizeof *pairs);
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

/* PROBITY_OUT is a template: a percent sign in a folder's name would be taken for one. */
static int folder_make(struct overhead_call *call)
{
    const char *parent = getenv("TMPDIR");

    if (parent == NULL || parent[0] != '/' || strchr(parent, '%') != NULL)
        parent = "/tmp";
    int length = snprintf(call->folder, sizeof call->folder, "%s/probity-overhead.XXXXXX", parent);
    if (length < 0 || (size_t)length >= sizeof call->folder || mkdtemp(call->folder) == NULL)
        return cli_fail(&cli_command_overhead, "cannot make a folder in '%s': %s", parent,
                        strerror(errno));
    snprintf(call->pattern, sizeof call->pattern, "%s/%%p", call->folder);
    return CLI_OK;
}

/* Whatever signal came meanwhile does what it would have done, but behind the cleaning. */
static int measure(struct overhead_call *call)
{
    static const int held[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT};
    sigset_t signals;

    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof held / sizeof *held; i++)
        sigaddset(&signals, held[i]);
    sigprocmask(SIG_BLOCK, &signals, &call->mask);
    int status = folder_make(call);
    if (status == CLI_OK) {
        status = run_pairs(call);
        take_traces(call, NULL);
        rmdir(call->folder);
    }
    if (call->taken != 0)
        raise(call->taken);
    sigprocmask(SIG_SETMASK, &call->mask, NULL);
    return status;
}

/* ---- The answer --------------------------------------------------------------------------------
 */

static int print(void *context, FILE *stream, int has_colour)
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
        probity_overhead_text(stream, has_colour, &answer);
    return error;
}

/* Before a long measurement that would come to nothing. */
static int check_output(const struct overhead_call *call)
{
    if (call->out == NULL || strcmp(call->out, "-") == 0 || call->force ||
        access(call->out, F_OK) != 0)
        return CLI_OK;
    return cli_fail(&cli_command_overhead, "'%s' exists; use -f to replace it", call->out);
}

static int parse_pairs(struct overhead_call *call, const char *text)
{
    if (cli_parse_number(text, 1, PROBITY_PAIRED_MAX, &call->pairs_least) == 0)
        return CLI_OK;
    return cli_fail_usage(&cli_command_overhead, "-n %s: 1 to %d pairs of runs", text,
                          PROBITY_PAIRED_MAX);
}

static int parse_seconds(struct overhead_call *call, const char *text)
{
    char *end;

    call->seconds_least = strtod(text, &end);
    if (end == text || *end != '\0' || !(call->seconds_least >= 0 && call->seconds_least < 1e6))
        return cli_fail_usage(&cli_command_overhead, "--min-time %s: seconds", text);
    return CLI_OK;
}

/* Returns CLI_OK, CLI_USAGE, or -1 where help was shown. */
static int parse_option(struct overhead_call *call, char **argv, int option)
{
    switch (option) {
    case 'o': call->out = optarg; return CLI_OK;
    case 'f': call->force = 1; return CLI_OK;
    case 'n': return parse_pairs(call, optarg);
    case 'm': return parse_seconds(call, optarg);
    case 'p': call->is_profile = 1; return CLI_OK;
    case 'b': call->base = optarg; return CLI_OK;
    case 'i': call->ignores_status = 1; return CLI_OK;
    case 'j': call->as_json = 1; return CLI_OK;
    case 'c': call->as_csv = 1; return CLI_OK;
    case 'h': cli_print_help(&cli_command_overhead); return -1;
    default: return cli_fail_option(&cli_command_overhead, argv, option);
    }
}

static int run(int argc, char **argv)
{
    struct overhead_call call = {.pairs_least = PAIRS_DEFAULT};
    int option, status = CLI_OK;

    while (status == CLI_OK &&
           (option = getopt_long(argc, argv, "+:o:fn:ih", long_options, NULL)) != -1)
        status = parse_option(&call, argv, option);
    if (status == CLI_OK && call.as_json && call.as_csv)
        status = cli_fail_usage(&cli_command_overhead, "--json and --csv exclude each other");
    if (status == CLI_OK && optind == argc)
        status = cli_fail_usage(&cli_command_overhead, "no program given");
    call.program = argv + optind;
    if (status == CLI_OK)
        status = check_output(&call);
    if (status == CLI_OK)
        status = measure(&call);
    if (status == CLI_OK)
        status = cli_print_answer(&cli_command_overhead, call.out, call.force, print, &call);
    free(call.pairs);
    return status < 0 ? CLI_OK : status;
}

const struct cli_command cli_command_overhead = {
    "overhead", run, "Say by how much recording slows a program down",
    "[OPTION]... [--] PROGRAM [ARGUMENT]...",
    "Runs the program without recording and with it, in pairs that take turns in which comes\n"
    "first, behind a pair that does not count. Prints the median wall and CPU times, the slowdown\n"
    "within a pair with its interval, and what was recorded and lost. The program's input and\n"
    "output are /dev/null; its traces are removed.\n\n"
    "  -n, --pairs N        pairs of runs (default: 10; fewer than 6 give no interval)\n"
    "      --min-time S     go on until the runs have taken S seconds\n"
    "      --profile        record in profile mode\n"
    "      --base PROGRAM   without recording, run this instead, with the same arguments: one\n"
    "                       that was compiled without probes\n"
    "  -i, --ignore-status  measure also a program that fails\n"
    "      --json           one object, with all runs; times are ns\n"
    "      --csv            one line for each run; times are ns\n"
    "  -o, --output FILE    write to FILE (default: standard output, also '-')\n"
    "  -f, --force          replace FILE where it exists\n"
    "  -h, --help           this text\n",
    "0 done; 1 failure, also of the program; 2 wrong call"};
