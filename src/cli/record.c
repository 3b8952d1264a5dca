/* SPDX-License-Identifier: MIT
 *
 * record.c: `probity record`: runs a program with recording on, and completes its trace however the
 * program ends.
 */
#include <errno.h>
#include <inttypes.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/called.h"
#include "base/limits.h"
#include "base/os.h"
#include "base/selection.h"
#include "base/share.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/cli_drain.h"
#include "cli/cli_recover.h"
#include "cli/cli_traces.h"
#include "cli/filter.h"
#include "cli/launch.h"
#include "cli/option.h"
#include "cli/preload.h"
#include "cli/program_file.h"
#include "cli/sched.h"
#include "cli/sched_dumps.h"
#include "cli/selection.h"
#include "cli/triggers.h"

struct record_call {
    const char *out, *mode, *label, *writer, *budget, *calls;
    int force, functions, has_sched;
    size_t ring_kib; /* of the scheduler's events; 0: the default */
    struct cli_selection selection;
    char *rules; /* rules of the selection, or NULL */
    struct cli_arguments arguments;
    struct cli_triggers triggers;
    struct cli_program_file file;
    int description; /* description of arguments: a file that the program inherits, or -1 */
    char **program;
};

/* ---- Paths -------------------------------------------------------------------------------------
 */

/* Expands %p, %n and %% as the library would in process pid. malloc'ed. */
static char *expand_pattern(const char *pattern, const char *program, pid_t pid)
{
    char name[PATH_MAX], *path = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&path, &bytes);

    if (stream == NULL)
        return NULL;
    cli_launch_name(program, name);
    for (const char *at = pattern; *at != '\0'; at++) {
        if (at[0] != '%' || at[1] == '\0') {
            fputc(*at, stream);
            continue;
        }
        at++;
        if (*at == 'p')
            fprintf(stream, "%ld", (long)pid);
        else if (*at == 'n')
            fputs(name, stream);
        else
            fputc(*at, stream);
    }
    return fclose(stream) == 0 ? path : NULL;
}

/* Removes the spool along with a trace, because otherwise it would never be found. */
static int discard(const char *trace)
{
    struct probity_recover_result result;
    int error = probity_recover_discard(trace, &result);

    if (error == PROBITY_ERROR_STATE)
        return cli_fail(&cli_command_record, "'%s' is still being recorded; use -o to choose "
                        "another name", trace);
    return error == 0 ? CLI_OK : cli_fail_trace(&cli_command_record, trace, error, errno);
}

/* Removes an existing output file. */
static int remove_old(const char *path, int is_trace)
{
    struct stat status;

    if (lstat(path, &status) != 0)
        return CLI_OK;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return cli_fail(&cli_command_record, "'%s' is not a regular file; use -o to choose another "
                        "name", path);
    if (is_trace && discard(path) != CLI_OK)
        return CLI_FAILURE;
    return unlink(path) == 0 ? CLI_OK
                             : cli_fail(&cli_command_record, "cannot remove '%s': %s", path,
                                        strerror(errno));
}

static int has_process_id(const char *pattern)
{
    for (const char *at = pattern; *at != '\0'; at += at[0] == '%' && at[1] != '\0' ? 2 : 1) {
        if (at[0] == '%' && at[1] == 'p')
            return 1;
    }
    return 0;
}

/* The library would report this as well, but only after the program had started. */
static int check_directory(const char *out, const char *program)
{
    const char *slash = out != NULL ? strrchr(out, '/') : NULL;
    char *pattern = slash == NULL  ? strdup(".")
                    : slash == out ? strdup("/")
                                   : strndup(out, (size_t)(slash - out));
    char *directory = pattern != NULL ? expand_pattern(pattern, program, 0) : NULL;
    struct stat status;
    int result = CLI_OK;

    if (directory == NULL) {
        free(pattern);
        return cli_fail(&cli_command_record, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    }
    int error = stat(directory, &status) != 0         ? errno
                : !S_ISDIR(status.st_mode)            ? ENOTDIR
                : access(directory, W_OK | X_OK) != 0 ? errno
                                                      : 0;
    if (has_process_id(pattern))
        result = cli_fail_usage(&cli_command_record, "'%s': a directory cannot be named after a "
                                "process that has not started; use %%p in the file's name", out);
    else if (error != 0)
        result = cli_fail(&cli_command_record, "cannot write in '%s': %s", directory,
                          strerror(error));
    free(pattern);
    free(directory);
    return result;
}

/* Rejects or removes existing output. A pattern with %p names a file that cannot exist yet. */
static int clear_output(const struct record_call *call)
{
    if (call->out == NULL || strchr(call->out, '%') != NULL)
        return CLI_OK;
    char *trace = cli_trace_path(call->out);
    if (trace == NULL)
        return cli_fail(&cli_command_record, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    const char *existing = access(trace, F_OK) == 0       ? trace
                           : access(call->out, F_OK) == 0 ? call->out
                                                          : NULL;
    int status = CLI_OK;
    if (existing != NULL && !call->force)
        status = cli_fail(&cli_command_record, "'%s' already exists; use -f to overwrite it, or -o "
                          "for another name", existing);
    else if (existing != NULL)
        status = remove_old(trace, 1);
    if (existing != NULL && status == CLI_OK && strcmp(trace, call->out) != 0)
        status = remove_old(call->out, 0);
    free(trace);
    return status;
}

/* ---- Afterwards --------------------------------------------------------------------------------
 */

/* Whether the file at this path is regular and was written since the start; sets its owner. */
static int is_file_new(const char *path, uint64_t start_ns, uid_t *ret_owner)
{
    struct stat status;

    if (lstat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return 0;
    *ret_owner = status.st_uid;
    return (uint64_t)status.st_mtim.tv_sec * 1000000000 + (uint64_t)status.st_mtim.tv_nsec +
               20000000 >= start_ns; /* a file system's clock may lag by a kernel tick */
}

/* Totals of the traces that match. */
struct conclusion {
    const char *own; /* the program's own trace */
    uint64_t start_ns;
    size_t appeared; /* began after start_ns */
    size_t foreign;  /* owned by other users, possibly on purpose */
    const char *first_foreign;
    struct cli_sched *sched;
};

/* Examines a trace that has appeared, and recovers it if necessary. A name proves nothing: only
 * this user's traces count, and probity_recover() checks each file that it opens. */
static void conclude_one(const char *path, struct conclusion *conclusion)
{
    const char *paths[] = {path};
    struct probity_reader *reader;
    struct probity_recover_result result;
    uid_t owner;

    if (!is_file_new(path, conclusion->start_ns, &owner))
        return;
    if (owner != geteuid()) {
        if (conclusion->foreign++ == 0)
            conclusion->first_foreign = path;
        return;
    }
    if (probity_reader_open(paths, 1, NULL, NULL, &reader) != 0)
        return;
    const struct probity_trace_facts *facts = probity_reader_facts(reader, 0);
    /* Dumps already have their thread states. */
    int is_new = facts->info.anchor.realtime_ns >= conclusion->start_ns &&
                 facts->owner == geteuid() && facts->dump == NULL;
    enum probity_trace_state state = facts->state;
    probity_reader_close(reader);
    conclusion->appeared += (size_t)is_new;
    if (is_new)
        cli_sched_add(conclusion->sched, path);
    /* The program has ended, but its children may still be running. */
    if (is_new && (state == PROBITY_TRACE_KILLED || strcmp(path, conclusion->own) == 0)) {
        if (cli_recover_trace(&cli_command_record, path, 0, &result) == CLI_OK &&
            result.has_failed)
            cli_warn(&cli_command_record, "'%s' is incomplete: recording stopped because of a "
                     "write error; see `probity info`", path);
    }
}

/* Recovers the spools of killed programs, including children and programs started by a script.
 * Reports errors, but does not change the status. */
static void conclude(const struct record_call *call, const char *pattern, const char *own_out,
                     uint64_t start_ns, struct cli_sched *sched)
{
    struct cli_names names = {NULL, 0};
    char *own = cli_trace_path(own_out);
    struct conclusion conclusion = {.own = own, .start_ns = start_ns, .sched = sched};
    int is_csv = own != NULL && strcmp(own, own_out) != 0;
    uid_t owner;

    if (own == NULL || cli_names_find(pattern, &names) != 0) {
        free(own);
        cli_fail(&cli_command_record, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
        return;
    }
    for (size_t i = 0; i < names.count; i++)
        conclude_one(names.items[i], &conclusion);
    if (conclusion.foreign > 0)
        cli_warn(&cli_command_record, "%zu new traces belong to other users and were not touched: "
                 "'%s'%s", conclusion.foreign, conclusion.first_foreign,
                 conclusion.foreign > 1 ? ", ..." : "");
    /* A trace is removed once its CSV is complete. If the CSV has another name, nothing shows which
     * program wrote it. */
    if (is_csv && is_file_new(own_out, start_ns, &owner) && owner == geteuid())
        conclusion.appeared++;
    if (call->calls != NULL && call->file.is_static)
        cli_warn(&cli_command_record, "no calls were recorded: '%s' is linked statically, and only "
                 "calls through the dynamic linker can be recorded; see probity-calls(7)",
                 call->program[0]);
    else if (conclusion.appeared == 0 && call->calls != NULL)
        cli_warn(&cli_command_record, "no calls were recorded: '%s' or what it runs must be linked "
                 "dynamically, not set-user-ID, and able to write the trace; see probity-calls(7)",
                 call->program[0]);
    else if (conclusion.appeared == 0 && call->rules != NULL)
        cli_warn(&cli_command_record, "no function was recorded: none that the program calls is "
                 "selected%s, or it was not compiled with one of the flags of "
                 "probity-functions(7)%s",
                 probity_selection_has_files(call->rules)
                     ? " (`file` rules select only functions that were compiled with -g)" : "",
                 call->functions ? "" : ", or --functions is missing");
    else if (conclusion.appeared == 0 && call->functions)
        cli_warn(&cli_command_record, "no function was recorded: compile the program with "
                 "-finstrument-functions, -pg -mfentry -minstrument-return=call, clang's "
                 "-fxray-instrument or -fpatchable-function-entry=5, and link it "
                 "dynamically; see probity-functions(7)");
    else if (conclusion.appeared == 0 && call->description >= 0)
        cli_warn(&cli_command_record, "no trace '%s' was written: a program that is not linked "
                 "with probity-functions needs --functions in addition to --args and --returns",
                 own);
    else if (conclusion.appeared == 0 && !(is_csv && strchr(pattern, '%') != NULL))
        cli_warn(&cli_command_record, "no trace '%s' was written: does the program use Probity, "
                 "and can it write there?", own);
    cli_names_release(&names);
    free(own);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Limit for thread states, in millionths of the program's CPU time: a third of the budget. 0:
 * no limit. */
static uint32_t share_of_states(const struct record_call *call)
{
    uint32_t share;

    return call->has_sched && call->budget != NULL && probity_share_parse(call->budget, &share)
               ? share / 3 + (share < 3)
               : 0;
}

/* The budget minus the part that thread states may take. */
static const char *budget_of_library(const struct record_call *call, char text[32])
{
    uint32_t share;

    if (!call->has_sched || !probity_share_parse(call->budget, &share))
        return call->budget;
    share -= share / 3;
    snprintf(text, 32, "%" PRIu32 ".%04" PRIu32 "%%", share / 10000, share % 10000);
    return text;
}

/* Recordings made in addition to that of the program. */
struct beside {
    struct cli_sched sched;
    struct cli_sched_dumps dumps;
    char *near;          /* a path in the directory of the trace */
    char *dumps_pattern; /* pattern of dumps, or NULL */
    const char *program;
};

static void prepare(void *context, pid_t pid)
{
    struct beside *beside = context;

    cli_sched_prepare(&beside->sched, pid);
    if (beside->sched.sched != NULL && beside->dumps_pattern != NULL)
        cli_sched_dumps_begin(&beside->dumps, beside->sched.sched, beside->dumps_pattern,
                              beside->program);
}

/* dumps: pattern of their names, or NULL: next to the trace. */
static void plan_beside(struct beside *beside, const struct record_call *call, const char *pattern,
                        const char *dumps)
{
    int is_ring = call->triggers.ring != NULL || call->triggers.conditions != NULL;

    beside->program = call->program[0];
    beside->near = expand_pattern(pattern, call->program[0], 0);
    beside->sched = (struct cli_sched){
        .command = &cli_command_record, .near = beside->near != NULL ? beside->near : pattern,
        .ring_kib = call->ring_kib, .share = share_of_states(call), .is_ring = is_ring};
    beside->dumps = (struct cli_sched_dumps){.command = &cli_command_record};
    beside->dumps_pattern = NULL;
    if (is_ring)
        beside->dumps_pattern = dumps != NULL ? strdup(dumps) : cli_dumps_beside(pattern);
}

static void end_beside(struct beside *beside)
{
    cli_sched_end(&beside->sched);
    cli_sched_dumps_end(&beside->dumps);
}

static void release_beside(struct beside *beside)
{
    cli_sched_conclude(&beside->sched);
    free(beside->dumps_pattern);
    free(beside->near);
}

static int is_external(const struct record_call *call)
{
    return call->writer != NULL && strcmp(call->writer, "external") == 0;
}

/* Options that are not given leave the environment unchanged. dumps: pattern of their names, or
 * NULL. */
static int launch(const struct record_call *call, const char *pattern, const char *dumps,
                  struct beside *beside, struct cli_launched *ret_launched)
{
    struct cli_variable environment[16] = {{"PROBITY_OUT", pattern}};
    char recorder[16], description[16], budget[32];
    struct cli_launch how = {
        .program = call->program, .environment = environment, .environment_count = 1,
        .prepare = call->has_sched ? prepare : NULL, .context = beside};

    if (call->mode != NULL)
        environment[how.environment_count++] = (struct cli_variable){"PROBITY_MODE", call->mode};
    if (call->label != NULL)
        environment[how.environment_count++] = (struct cli_variable){"PROBITY_LABEL", call->label};
    if (call->writer != NULL)
        environment[how.environment_count++] =
            (struct cli_variable){"PROBITY_WRITER", call->writer};
    if (call->budget != NULL)
        environment[how.environment_count++] =
            (struct cli_variable){"PROBITY_BUDGET", budget_of_library(call, budget)};
    if (call->rules != NULL)
        environment[how.environment_count++] = (struct cli_variable){"PROBITY_SELECT", call->rules};
    cli_triggers_put(&call->triggers, dumps, environment, &how.environment_count);
    if (call->description >= 0) {
        snprintf(description, sizeof description, "%d", call->description);
        environment[how.environment_count++] =
            (struct cli_variable){"PROBITY_ARGUMENTS", description};
    }
    int preloads = call->functions || call->calls != NULL;
    char *preload = preloads ? cli_preload(&cli_command_record, call->functions,
                                           call->calls != NULL, call->file.sanitizer)
                             : NULL;
    if (preloads && preload == NULL)
        return CLI_FAILURE;
    if (preload != NULL)
        environment[how.environment_count++] = (struct cli_variable){"LD_PRELOAD", preload};
    if (call->calls != NULL)
        environment[how.environment_count++] = (struct cli_variable){"PROBITY_CALLS", call->calls};
    else if (call->functions)
        environment[how.environment_count++] = (struct cli_variable){"PROBITY_START", "first"};
    if (preload != NULL || is_external(call)) {
        /* The library reports what it found in this program, but not in its children, and a program
         * that ends before its spool is drained does not report that. */
        snprintf(recorder, sizeof recorder, "%ld", (long)getpid());
        environment[how.environment_count++] = (struct cli_variable){"PROBITY_RECORDER", recorder};
    }
    int status = cli_launch(&cli_command_record, &how, ret_launched);
    free(preload);
    return status;
}

/* Returns the program's status; reports problems with its trace on stderr. */
static int record(const struct record_call *call)
{
    struct cli_launched launched = {0};
    int status = check_directory(call->out, call->program[0]);

    if (status == CLI_OK && call->triggers.names != NULL)
        status = check_directory(call->triggers.names, call->program[0]);
    if (status == CLI_OK)
        status = clear_output(call);
    if (status != CLI_OK)
        return status;
    uint64_t start_ns = now_ns();
    char *pattern = cli_absolute_pattern(call->out != NULL ? call->out : "%n.%p.probity");
    if (pattern == NULL)
        return cli_fail(&cli_command_record, "cannot get the working directory: %s",
                        strerror(errno));
    char *dumps = call->triggers.names != NULL ? cli_absolute_pattern(call->triggers.names) : NULL;
    struct cli_drain *drain = NULL;
    struct beside beside;
    plan_beside(&beside, call, pattern, dumps);
    if (is_external(call))
        status = cli_drain_begin(&cli_command_record, pattern, start_ns, &drain);
    if (status == CLI_OK)
        status = launch(call, pattern, dumps, &beside, &launched);
    cli_drain_end(drain);
    end_beside(&beside);
    if (status == CLI_OK) {
        char *out = expand_pattern(pattern, call->program[0], launched.pid);
        if (out != NULL && launched.exec_error == 0)
            conclude(call, pattern, out, start_ns, &beside.sched);
        free(out);
        status = launched.status;
    }
    release_beside(&beside);
    free(dumps);
    free(pattern);
    return status;
}

/* Checks options that require parts that this build may lack. Returns CLI_OK or CLI_FAILURE. */
static int check_build(const struct record_call *call)
{
    return call->functions || call->calls != NULL ? cli_preload_check(&cli_command_record) : CLI_OK;
}

/* Returns CLI_OK, an exit status, or -1 if help was shown. */
static int take_arguments(struct record_call *call, int argc, char **argv)
{
    int status = cli_options_take(&cli_command_record, call, argc, argv);

    if (status != CLI_OK)
        return status;
    const char *inherited = getenv("PROBITY_WRITER");
    if (call->writer == NULL && call->budget == NULL && call->triggers.when.count == 0 &&
        inherited != NULL && strcmp(inherited, "external") == 0)
        call->writer = "external"; /* without a writer thread, something else must drain */
    if (call->label != NULL && (*call->label == '\0' || strlen(call->label) > PROBITY_LIMIT_NAME))
        return cli_fail_usage(&cli_command_record, "a label must have 1 to %d bytes",
                              PROBITY_LIMIT_NAME);
    uint32_t share;
    if (call->budget != NULL && !probity_share_parse(call->budget, &share))
        return cli_fail_usage(&cli_command_record, "invalid --budget '%s' (a percentage above 0, "
                              "such as 1%%)", call->budget);
    if (call->budget != NULL && is_external(call))
        return cli_fail_usage(&cli_command_record,
                              "--budget and --writer external are mutually exclusive");
    uint32_t families;
    if (call->calls != NULL && !probity_called_parse(call->calls, &families))
        return cli_fail_usage(&cli_command_record, "invalid --calls '%s' (a list of io, locks, "
                              "locks=waits, memory, sleep and threads, or all)", call->calls);
    if (optind == argc)
        return cli_fail_usage(&cli_command_record, "no program given");
    if (cli_check_out(&cli_command_record, call->out) != CLI_OK)
        return CLI_USAGE;
    if (cli_triggers_is_pattern(call->out)) {
        call->triggers.names = call->out;
        call->out = NULL;
    }
    call->program = argv + optind;
    if (call->out != NULL)
        probity_os_use_slashes((char *)(uintptr_t)call->out);
    if (call->triggers.names != NULL)
        probity_os_use_slashes((char *)(uintptr_t)call->triggers.names);
    status = check_build(call);
    if (status == CLI_OK)
        status = cli_triggers_check(&cli_command_record, &call->triggers, call->mode, call->writer);
    if (status != CLI_OK)
        return status;
    status = cli_arguments_check(&cli_command_record, &call->arguments);
    return status == CLI_OK
               ? cli_selection_text(&cli_command_record, &call->selection, &call->rules)
               : status;
}

static int run(int argc, char **argv)
{
    struct record_call call = {.description = -1};
    int status = take_arguments(&call, argc, argv), is_help = status < 0;

    if (status == CLI_OK)
        status = cli_arguments_describe(&cli_command_record, &call.arguments, call.program[0],
                                        &call.description);
    if (status == CLI_OK && (call.calls != NULL || call.functions))
        cli_program_inspect(call.program[0], &call.file);
    if (status == CLI_OK)
        status = record(&call);
    if (call.description >= 0)
        close(call.description);
    cli_selection_release(&call.selection);
    cli_arguments_release(&call.arguments);
    cli_triggers_release(&call.triggers);
    free(call.rules);
    return is_help ? CLI_OK : status; /* the program's status may be negative */
}

/* The kernel accepts only powers of two. */
static int take_ring(const struct cli_given *given)
{
    int status = cli_take_number(given);
    const size_t *kib = given->at;

    if (status == CLI_OK && (*kib & (*kib - 1)) != 0)
        status = cli_fail_usage(given->command, "invalid --sched-ring '%s' (a power of two from 4 "
                                "to 65536)", given->value);
    return status;
}

static const struct cli_operand operands[] = {{.label = "program", .is_program = 1},
                                              {.label = NULL}};

static const struct cli_option options[] = {
    {.name = "output", .letter = 'o', .value = "TRACE", .brief = "trace file to write",
     .help = "the trace (default: %n.%p.probity in this directory; %n program, %p process id); if "
             "the name ends in .csv, it is converted to CSV when the program ends; a name with %i "
             "is for dumps (--ring), and the trace gets its default name",
     CLI_TEXT(struct record_call, out)},
    {.name = "force", .letter = 'f', .help = "remove TRACE first if it exists",
     .brief = "overwrite an existing trace", CLI_FLAG(struct record_call, force)},
    {.name = "functions", .brief = "record functions without macros",
     .help = "record the functions of a program that was compiled with -finstrument-functions, "
             "-pg -mfentry -minstrument-return=call, clang's -fxray-instrument or "
             "-fpatchable-function-entry=5, by preloading libprobity-functions",
     CLI_FLAG(struct record_call, functions)},
    {.name = "calls", .value = "LIST", .brief = "record calls to the C library",
     .help = "record calls to the C library, even in a program without probes, by preloading "
             "libprobity-calls: a list of io, locks, memory, sleep and threads, or all; "
             "locks=waits records only waits; see probity-calls(7)",
     CLI_TEXT(struct record_call, calls)},
    {.name = "function", .value = "PATTERN", .brief = "record only functions that match",
     .help = "of functions without macros, record only those whose name matches: * ? [a-z]; may be "
             "repeated", CLI_PATTERNS(struct record_call, selection.functions)},
    {.name = "exclude", .value = "PATTERN", .brief = "do not record functions that match",
     .help = "skip those whose name matches; may be repeated",
     CLI_PATTERNS(struct record_call, selection.excluded)},
    {.name = "file", .value = "PATTERN", .brief = "only functions of these source files",
     .help = "only those whose source file matches, according to their debugging information; may "
             "be repeated", CLI_PATTERNS(struct record_call, selection.sources)},
    {.name = "object", .value = "PATTERN", .brief = "only functions of these files",
     .help = "only those of executables and shared libraries whose file name matches; may be "
             "repeated", CLI_PATTERNS(struct record_call, selection.objects)},
    {.name = "min-bytes", .value = "N", .brief = "only functions with this much code",
     .help = "only those with at least N bytes of code", .valid = "a number",
     CLI_NUMBER(struct record_call, selection.min_bytes, 0, CLI_LIMIT_MAX)},
    {.name = "selection", .value = "FILE", .brief = "file with rules that select functions",
     .help = "read rules that select functions from FILE; see probity-functions(7); `probity "
             "report` can suggest some; may be repeated",
     CLI_PATTERNS(struct record_call, selection.files)},
    {.name = "args", .value = "PATTERN", .brief = "record arguments of functions that match",
     .help = "record the arguments of functions without macros whose name matches, as described "
             "by their debugging information; may be repeated",
     CLI_PATTERNS(struct record_call, arguments.arguments)},
    {.name = "returns", .value = "PATTERN", .brief = "record results of functions that match",
     .help = "record the results of functions without macros whose name matches; may be repeated",
     CLI_PATTERNS(struct record_call, arguments.results)},
    {.name = "args-in", .value = "FILE", .brief = "search this file for --args and --returns",
     .help = "also search FILE for such functions: a plugin, or a program started by this one; "
             "may be repeated",
     CLI_PATTERNS(struct record_call, arguments.files)},
    {.name = "label", .value = "LABEL", .help = "label this run so that it can be found again",
     .brief = "label of the run", CLI_TEXT(struct record_call, label)},
    {.name = "budget", .value = "PERCENT", .brief = "share of CPU time that recording may take",
     .help = "keep recording below this share of the program's CPU time, such as 1%: functions "
             "that are called too often for that are counted instead of recorded",
     CLI_TEXT(struct record_call, budget)},
    {.name = "sched", .brief = "record thread states",
     .help = "also have the kernel record when each thread runs, waits for a CPU and is blocked, "
             "in TRACE.sched, for `probity threads`, `probity waits` and others",
     CLI_FLAG(struct record_call, has_sched)},
    {.name = "sched-ring", .value = "KIB", .brief = "size of the kernel's buffer for --sched",
     .help = "size of the kernel's buffer for each CPU (default: 512); records that do not fit "
             "are dropped and counted", .valid = "a power of two from 4 to 65536",
     .take = take_ring,
     .offset = CLI_OFFSET(struct record_call, ring_kib, size_t: 0), .least = 4, .most = 65536},
    {.name = "mode", .value = "MODE", .brief = "what to do when the writer cannot keep up",
     .help = "when the writer cannot keep up: block (default), drop or ring",
     .noun = "mode", CLI_WORD(struct record_call, mode, "block drop ring")},
    CLI_TRIGGER_ROWS(struct record_call, triggers),
    {.name = "writer", .value = "WRITER", .brief = "writer of the trace",
     .help = "thread (default): a thread of the program writes the trace; confined: that thread "
             "may make only the system calls it needs to write; external: this command writes it, "
             "and also waits for the program's children",
     .noun = "writer", CLI_WORD(struct record_call, writer, "thread confined external")},
    CLI_HELP_ROW,
    {.name = NULL},
};

const struct cli_command cli_command_record = {
    .name = "record",
    .run = run,
    .summary = "Run a program and record its probes",
    .usage = "[OPTION]... [--] PROGRAM [ARGUMENT]...",
    .help =
        "Sets PROBITY_OUT for the program, waits for it, and exits with its status: 128 + N if "
        "it was terminated by signal N, 127 if it was not found, 126 if it could not be run. "
        "Forwards SIGTERM and SIGHUP. If the program is killed, recovers its last records from "
        "the spool.",
    .options = options,
    .operands = operands,
    .stops_at_operand = 1,
    .statuses =
    "the program's; if it was not run: 1 failure; 2 usage error;\n"
    "126 cannot be run; 127 not found",
};
