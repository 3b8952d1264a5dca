/* SPDX-License-Identifier: MIT
 *
 * attach.c: `probity attach` and `probity detach`: start and end a recording of a running program
 * (doc/attach.md).
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/called.h"
#include "base/conditions.h"
#include "base/os.h"
#include "base/share.h"
#include "cli/cli.h"
#include "cli/cli_process.h"
#include "cli/cli_traces.h"
#include "cli/option.h"
#include "cli/selection.h"
#include "cli/time_range.h"
#include "cli/triggers.h"
#include "reader/spools.h"
#include "writer/request.h"
#include "writer/wake_process.h"

#define ME (&cli_command_attach)
#define WAIT_NS_USUAL INT64_C(10000000000)

struct attach_call {
    const char *out, *mode, *level, *budget, *label, *calls;
    int is_profile, as_json, functions;
    struct cli_selection selection;
    struct cli_triggers triggers;
    uint64_t wait_ns;
    char settings[PROBITY_WAKE_SETTINGS_MAX];
    size_t bytes;
    int is_full;
    int has_page; /* the process has a control page */
};

/* ---- Common parts ------------------------------------------------------------------------------
 */

/* Opens the spool of a process, and finds its trace: malloc'ed, or NULL if unknown. Returns CLI_OK,
 * -1 if it is not recording, or CLI_FAILURE. */
static int find_recording(const struct cli_command *command, uint32_t pid,
                          struct probity_request **ret_request, char **ret_path)
{
    struct probity_spools_entry entry = {0};
    char directory[PATH_MAX];
    int count = 0;
    int error = probity_request_open_process(pid, directory, sizeof directory, &count, ret_request);

    *ret_path = NULL;
    if (error != 0)
        return cli_process_fail(command, pid, directory, error);
    probity_os_yield(); /* yields between steps that take about equally long */
    if (count != 1)
        return count == 0 ? -1
                          : cli_fail(command, "process %" PRIu32 " records %d traces", pid, count);
    int found = probity_spools_find_trace(probity_request_attach(*ret_request), &entry);
    if (found >= 0)
        *ret_path = entry.trace_path;
    return CLI_OK;
}

static void print_result(uint32_t pid, const char *path, int as_json)
{
    if (as_json)
        printf("{\"pid\": %" PRIu32 ", \"trace\": ", pid);
    else
        printf("%" PRIu32 ": ", pid);
    if (as_json)
        fputc('"', stdout);
    for (const char *at = path != NULL ? path : ""; as_json && *at != 0; at++) {
        unsigned char byte = (unsigned char)*at;
        if (byte < 0x20 || byte == 0x7f || byte == '"' || byte == '\\')
            printf("\\u%04x", byte);
        else
            fputc(byte, stdout);
    }
    if (!as_json)
        cli_put_text(stdout, path != NULL ? path : "(unknown)");
    fputs(as_json ? "\"}\n" : "\n", stdout);
}

static int take_pid(const struct cli_command *command, int argc, char **argv, uint32_t *ret_pid)
{
    if (argc - optind != 1 || !cli_process_is(argv[optind]))
        return cli_fail_usage(command, "expected a process id");
    unsigned long pid = strtoul(argv[optind], NULL, 10);
    if (pid == 0 || pid > INT32_MAX)
        return cli_fail(command, "no process %s", argv[optind]);
    *ret_pid = (uint32_t)pid;
    return CLI_OK;
}

/* ---- attach ------------------------------------------------------------------------------------
 */

static void add_setting(struct attach_call *call, const char *name, const char *value)
{
    size_t room = sizeof call->settings - call->bytes;
    int length = snprintf(call->settings + call->bytes, room, "%s=%s", name, value);

    if (length < 0 || (size_t)length >= room)
        call->is_full = 1;
    else
        call->bytes += (size_t)length + 1;
}

/* Relative names refer to this process's working directory, not to the program's. If the directory
 * was removed, its name is not absolute. */
static int make_absolute(const char *pattern, char **ret_absolute)
{
    *ret_absolute = cli_absolute_pattern(pattern);
    if (*ret_absolute != NULL && (*ret_absolute)[0] == '/')
        return CLI_OK;
    return cli_fail(ME, "cannot determine the current directory: %s",
                    strerror(*ret_absolute != NULL ? ENOENT : errno));
}

static int add_out(struct attach_call *call)
{
    const char *out = call->out != NULL ? call->out : "%n.%p.probity";
    size_t length = strlen(out);
    char *absolute;

    if (cli_check_out(ME, call->out) != CLI_OK)
        return CLI_USAGE;
    if (length > 4 && strcmp(out + length - 4, ".csv") == 0)
        return cli_fail_usage(ME, "the output is a trace; convert it with `probity csv`");
    int status = make_absolute(out, &absolute);
    if (status == CLI_OK)
        add_setting(call, "PROBITY_OUT", absolute);
    free(absolute);
    return status;
}

/* The program would report this only when its first dump is due. dumps: an absolute path. */
static int check_directory(uint32_t pid, const char *dumps)
{
    const char *end = strrchr(dumps, '/'), *at = dumps;
    char *directory = NULL, *name = NULL;
    struct stat status;

    while ((at = strchr(at, '%')) != NULL && at < end && at[1] == '%')
        at += 2;
    if ((at != NULL && at < end) || probity_request_has_other_files(pid))
        return CLI_OK; /* has %n or %p, or is a directory that only the program can see */
    cli_dumps_where(dumps, "", &directory, &name);
    int error = directory == NULL                     ? ENOMEM
                : stat(directory, &status) != 0       ? errno
                : !S_ISDIR(status.st_mode)            ? ENOTDIR
                : access(directory, W_OK | X_OK) != 0 ? errno
                                                      : 0;
    int result = error == 0 ? CLI_OK
                            : cli_fail(ME, "cannot write in '%s': %s",
                                       directory != NULL ? directory : dumps, strerror(error));
    free(directory);
    free(name);
    return result;
}

/* Checks conditions and dumps. The program could report only that some setting is invalid. */
static int add_triggers(struct attach_call *call, uint32_t pid)
{
    struct cli_variable variables[CLI_TRIGGER_VARIABLES];
    size_t count = 0;
    char *dumps = NULL;
    int status = cli_triggers_check(ME, &call->triggers, call->mode, NULL);

    if (status == CLI_OK && call->triggers.conditions != NULL && call->is_profile)
        return cli_fail_usage(ME, "--profile and --when are mutually exclusive");
    if (status == CLI_OK && call->triggers.names != NULL)
        status = make_absolute(call->triggers.names, &dumps);
    if (status == CLI_OK && dumps != NULL)
        status = check_directory(pid, dumps);
    if (status == CLI_OK) {
        cli_triggers_put(&call->triggers, dumps, variables, &count);
        for (size_t i = 0; i < count; i++)
            add_setting(call, variables[i].name, variables[i].value);
    }
    free(dumps);
    return status;
}

/* Checks options: the program could report only that some option is invalid. */
static int check_budget_and_level(const struct attach_call *call)
{
    const char *level = call->level;
    uint32_t share;

    if (call->budget != NULL && !probity_share_parse(call->budget, &share))
        return cli_fail_usage(ME, "invalid --budget '%s' (a percentage above 0, such as 1%%)",
                              call->budget);
    if (level != NULL && (strspn(level, "012345") != 1 ||
                          (level[1] != 0 && (level[1] != ',' ||
                                             strspn(level + 2, "012345") != 1 || level[3] != 0))))
        return cli_fail_usage(ME, "invalid --level '%s' (0 to 5; or two, of functions and "
                              "parameters: 3,1)", level);
    return CLI_OK;
}

/* Prepends a line `ends NAME` for each condition on the duration of a function: the program rejects
 * a request that would record such a function without its ends. *rules: malloc'ed, or NULL. */
static int add_ends(const struct attach_call *call, char **rules)
{
    struct probity_condition condition;
    struct probity_condition_error error;
    char *text = NULL, *before = *rules;
    const char *end;
    size_t bytes;
    FILE *stream = open_memstream(&text, &bytes);

    for (size_t i = 0; stream != NULL && i < call->triggers.when.count; i++) {
        if (probity_condition_parse(call->triggers.when.items[i], &end, &condition, &error) &&
            condition.kind == PROBITY_CONDITION_FUNCTION &&
            strpbrk(condition.name.name, ";#\n") == NULL)
            fprintf(stream, "ends %s\n", condition.name.name);
    }
    if (stream != NULL && before != NULL)
        fputs(before, stream);
    free(before);
    int result = stream != NULL ? fclose(stream) : EOF;
    *rules = text;
    return result == 0 ? CLI_OK
                       : cli_fail(ME, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
}

/* Settings of libprobity-functions and libprobity-calls. Rules select functions, so they imply that
 * functions are recorded. */
static int add_others(struct attach_call *call)
{
    uint32_t families;
    char *rules;

    if (call->calls != NULL && !probity_called_parse(call->calls, &families))
        return cli_fail_usage(ME, "invalid --calls '%s' (a list of io, locks, locks=waits, memory, "
                              "sleep and threads, or all)", call->calls);
    if (call->calls != NULL)
        add_setting(call, "PROBITY_CALLS", call->calls);
    int status = cli_selection_text(ME, &call->selection, &rules);
    if (status != CLI_OK)
        return status;
    if (call->functions || rules != NULL) {
        add_setting(call, "FUNCTIONS", "1");
        status = add_ends(call, &rules);
    }
    if (rules != NULL && rules[0] != 0)
        add_setting(call, "PROBITY_SELECT", rules);
    free(rules);
    return status;
}

static int make_settings(struct attach_call *call, uint32_t pid)
{
    int status = check_budget_and_level(call);

    if (status == CLI_OK)
        status = add_out(call);
    if (status == CLI_OK)
        status = add_triggers(call, pid);
    if (status == CLI_OK)
        status = add_others(call);

    add_setting(call, "PROBITY_PROFILE", call->is_profile ? "1" : "0");
    if (call->mode != NULL)
        add_setting(call, "PROBITY_MODE", call->mode);
    if (call->level != NULL)
        add_setting(call, "PROBITY_LEVEL", call->level);
    if (call->budget != NULL)
        add_setting(call, "PROBITY_BUDGET", call->budget);
    if (call->label != NULL)
        add_setting(call, "PROBITY_LABEL", call->label);
    if (status == CLI_OK && call->is_full)
        return cli_fail_usage(ME, "the names of the trace and the dumps, the label, the rules and "
                              "the conditions are too long: together, a request has room for %d "
                              "bytes", PROBITY_WAKE_SETTINGS_MAX);
    return status;
}

/* Reports that the program lacks something that the request requires. */
static int report_missing(uint32_t pid, int result)
{
    int why = result >> PROBITY_WAKE_ERRNO_SHIFT;

    switch (result & PROBITY_WAKE_WHAT) {
    case PROBITY_WAKE_NO_FUNCTIONS:
        return cli_fail(ME, "process %" PRIu32 " does not have libprobity-functions, which records "
                        "functions: link it, or start the program with it in LD_PRELOAD", pid);
    case PROBITY_WAKE_NO_CALLS:
        return cli_fail(ME, "process %" PRIu32 " does not have libprobity-calls, which records "
                        "calls: link it, or start the program with it in LD_PRELOAD", pid);
    case PROBITY_WAKE_FORKED:
        return cli_fail(ME, "process %" PRIu32 " was forked from one with threads, so it cannot "
                        "change its own code to record functions: attach to its parent, or have it "
                        "start a program", pid);
    case PROBITY_WAKE_CHANGING:
        return cli_fail(ME, "process %" PRIu32 " could not change its own code for functions, "
                        "because a fork, or a library that is being loaded, took more than a "
                        "second; try again", pid);
    case PROBITY_WAKE_NO_DUMPS:
        return cli_fail(ME, "process %" PRIu32 " cannot check conditions: it is linked with "
                        "libprobity.a without the code for dumps; link it with "
                        "-Wl,-u,probity_snapshot", pid);
    case PROBITY_WAKE_NO_SOURCES:
        return cli_fail(ME, "process %" PRIu32 " has no debugging information, without which "
                        "--file selects no function: compile it with -g, and do not strip it", pid);
    case PROBITY_WAKE_LATE:
        return cli_fail(ME, "process %" PRIu32 " cannot record yet: one of its threads was stopped "
                        "or got no CPU while it stored a record of the last recording, and has not "
                        "continued; see --wait", pid);
    case PROBITY_WAKE_ENDED:
        return cli_fail(ME, "process %" PRIu32 " ended the recording itself, with "
                        "probity_stop(), while it was starting", pid);
    default:
        if (why == ENOTSUP)
            return cli_fail(ME, "process %" PRIu32 " would record a function that a condition "
                            "names by -fpatchable-function-entry, without the end of its calls: "
                            "leave the condition out, or the function (--exclude), or compile "
                            "without that flag; see probity-functions(7)", pid);
        return cli_fail(ME, "process %" PRIu32 " cannot change its own code to record functions: "
                        "%s (%s)", pid, why != 0 ? strerror(why) : "refused",
                        why == ENOMEM   ? "no memory near the code, or too many mappings"
                        : why == ENOSYS ? "the kernel or a filter has no membarrier() for code"
                                        : "a policy forbids it");
    }
}

/* The setting is in the program's environment, which may be unreadable. */
static int report_limit(uint32_t pid)
{
    const char *here = getenv("PROBITY_SPOOL_TOTAL");
    int is_set = here != NULL && *here != 0;

    return cli_fail(ME, "process %" PRIu32 " cannot record: its user's spools leave no room "
                    "below its PROBITY_SPOOL_TOTAL (%s%s%s), or its RLIMIT_FSIZE is too small for "
                    "a spool; see `probity spools`", pid,
                    is_set ? "here it is " : "the default is half of the file system for spools, "
                                             "at most 1 GiB",
                    is_set ? here : "", is_set ? " bytes" : "");
}

static int report_timeout(const struct attach_call *call, uint32_t pid)
{
    if (probity_wake_is_stopped(pid))
        return cli_fail(ME, "process %" PRIu32 " is stopped, by a signal or a debugger, so nothing "
                        "was started: continue it, and try again", pid);
    if (call->has_page)
        return cli_fail(ME, "process %" PRIu32 " did not reply in time, so nothing was started: it "
                        "gets no CPU; see --wait", pid);
    return cli_fail(ME, "process %" PRIu32 " hit no probe in time, so nothing was started: see "
                    "--wait, or start it with PROBITY_CONTROL=1, which needs no probe", pid);
}

static int report_refusal(const struct attach_call *call, uint32_t pid,
                          enum probity_wake_refusal refusal, int error)
{
    switch (refusal) {
    case PROBITY_WAKE_NO_PROCESS:
        return cli_fail(ME, "no process %" PRIu32 ", or it ended before it replied", pid);
    case PROBITY_WAKE_OTHER_USER:
        return cli_fail(ME, "process %" PRIu32 " belongs to another user; attach as that user",
                        pid);
    case PROBITY_WAKE_NO_RIGHTS:
        return cli_fail(ME, "not permitted to write to the memory of process %" PRIu32 ", which "
                        "requires ptrace permission (see /proc/sys/kernel/yama/ptrace_scope; a "
                        "process that is not dumpable grants it to root only), and it was not "
                        "started with PROBITY_CONTROL=1, which does not", pid);
    case PROBITY_WAKE_NO_LIBRARY:
        return cli_fail(ME, "process %" PRIu32 " does not have the Probity library: link it, or "
                        "start the program with `probity record`", pid);
    case PROBITY_WAKE_OTHER_VERSION:
        return cli_fail(ME, "process %" PRIu32 " has another version of the Probity library, which "
                        "this command cannot attach to", pid);
    case PROBITY_WAKE_RECORDS:
        return cli_fail(ME, "process %" PRIu32 " is already recording, or will be from its "
                        "first probe on, to a spool in another directory: see PROBITY_SPOOL_DIR",
                        pid);
    case PROBITY_WAKE_BUSY:
        return cli_fail(ME, "another command is attaching to process %" PRIu32, pid);
    case PROBITY_WAKE_TIMEOUT:
        return report_timeout(call, pid);
    case PROBITY_WAKE_REFUSED:
        if (error > 0)
            return report_missing(pid, error);
        if (error == PROBITY_ERROR_LIMIT)
            return report_limit(pid);
        return cli_fail(ME, "process %" PRIu32 " cannot record: %s", pid,
                        error == PROBITY_ERROR_ARGUMENT
                            ? "an option, or a PROBITY_ variable of the program, is invalid"
                        : error == PROBITY_ERROR_OPEN
                            ? "its trace cannot be created (by the program, in its file system)"
                            : probity_error_text(error));
    default:
        return cli_fail(ME, "cannot write to the memory of process %" PRIu32 ": %s", pid,
                        strerror(errno));
    }
}

/* Fails if the process has a spool. Otherwise returns CLI_OK. */
static int refuse_recording(uint32_t pid)
{
    struct probity_request *request;
    char *path;
    int status = find_recording(ME, pid, &request, &path);

    if (status == CLI_OK) {
        probity_request_close(request);
        status = cli_fail(ME, "process %" PRIu32 " is already recording to '%s'", pid,
                          path != NULL ? path : "an unknown trace");
        free(path);
        return status;
    }
    return status < 0 ? CLI_OK : status;
}

/* Uses the control page if there is one: this works even if the program hits no probe. */
static enum probity_wake_refusal wake(struct attach_call *call, uint32_t pid, int *ret_error)
{
    enum probity_wake_refusal refusal = probity_wake_page(pid, call->settings, call->bytes,
                                                          (int64_t)call->wait_ns, ret_error);

    call->has_page = refusal != PROBITY_WAKE_NO_LIBRARY;
    return call->has_page
               ? refusal
               : probity_wake_process(pid, call->settings, call->bytes, (int64_t)call->wait_ns,
                                      ret_error);
}

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Repeats the request while a thread has not left the last recording. Waits long enough for each
 * reply: a request that is withdrawn while the program handles it may still start a recording. */
static enum probity_wake_refusal wake_in_time(struct attach_call *call, uint32_t pid,
                                              int *ret_error)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    const int64_t least_ns = 1000000000;
    int64_t until_ns = now_ns() + (int64_t)call->wait_ns, left_ns;
    int is_late = 0;

    for (;;) {
        enum probity_wake_refusal refusal = wake(call, pid, ret_error);
        if (refusal == PROBITY_WAKE_TIMEOUT && is_late) {
            *ret_error = PROBITY_WAKE_LATE;
            return PROBITY_WAKE_REFUSED;
        }
        is_late = refusal == PROBITY_WAKE_REFUSED && *ret_error == PROBITY_WAKE_LATE;
        left_ns = until_ns - now_ns();
        if (!is_late || left_ns <= 0)
            return refusal;
        nanosleep(&pause, NULL);
        call->wait_ns = (uint64_t)(left_ns > least_ns ? left_ns : least_ns);
    }
}

/* If a program finds out late that it cannot record as requested, it replies before it ends the
 * recording: until then, another command might find a recording in progress. */
static void await_end(uint32_t pid)
{
    enum { TRIES = 400 };
    const struct timespec pause = {.tv_nsec = 5000000};
    struct probity_request *request;
    char *path;

    for (int i = 0; i < TRIES; i++) {
        if (find_recording(ME, pid, &request, &path) != CLI_OK)
            return;
        probity_request_close(request);
        free(path);
        nanosleep(&pause, NULL);
    }
}

/* The program chooses the directory, from its own environment and in its own file system. */
static void warn_of_place(uint32_t pid)
{
    cli_warn(ME, "process %" PRIu32 " is recording, but to a spool in another directory: `probity "
             "detach` needs the PROBITY_SPOOL_DIR of the program", pid);
}

static int attach_to(struct attach_call *call, uint32_t pid)
{
    struct probity_request *request;
    char *path;
    int error = 0, status = refuse_recording(pid);

    if (status != CLI_OK)
        return status;
    enum probity_wake_refusal refusal = wake_in_time(call, pid, &error);
    if (refusal == PROBITY_WAKE_RECORDS)
        status = refuse_recording(pid); /* a recording may have started meanwhile */
    if (status != CLI_OK)
        return status;
    if (refusal == PROBITY_WAKE_REFUSED)
        await_end(pid);
    if (refusal != PROBITY_WAKE_OK)
        return report_refusal(call, pid, refusal, error);
    status = find_recording(ME, pid, &request, &path);
    if (status == CLI_OK)
        probity_request_close(request);
    else if (status < 0)
        warn_of_place(pid);
    print_result(pid, path, call->as_json);
    free(path);
    return status > 0 ? status : CLI_OK;
}

static int take_wait(const struct cli_given *given)
{
    struct attach_call *call = given->at;

    if (cli_parse_duration(given->value, &call->wait_ns) != 0 ||
        call->wait_ns > UINT64_C(86400000000000))
        return cli_fail_usage(ME, "invalid --wait '%s' (seconds, or with a unit; at most a day)",
                              given->value);
    return CLI_OK;
}

static int run_attach(int argc, char **argv)
{
    struct attach_call call = {.wait_ns = WAIT_NS_USUAL};
    uint32_t pid = 0;
    int status = cli_options_take(ME, &call, argc, argv);

    if (status == CLI_OK)
        status = take_pid(ME, argc, argv, &pid);
    if (cli_triggers_is_pattern(call.out)) {
        call.triggers.names = call.out;
        call.out = NULL;
    }
    if (status == CLI_OK)
        status = make_settings(&call, pid);
    if (status == CLI_OK)
        status = attach_to(&call, pid);
    cli_selection_release(&call.selection);
    cli_triggers_release(&call.triggers);
    return status < 0 ? CLI_OK : status;
}

static const struct cli_operand operands[] = {{.label = "process"}, {.label = NULL}};

static const struct cli_option attach_options[] = {
    {.name = "output", .letter = 'o', .value = "FILE", .brief = "the trace",
     .help = "the trace, like PROBITY_OUT (default: %n.%p.probity in the current directory); a "
             "name with %i is for dumps (--ring), and the trace gets its default name",
     CLI_TEXT(struct attach_call, out)},
    {.name = "mode", .value = "MODE", .brief = "what to do if the writer cannot keep up",
     .noun = "mode", CLI_WORD(struct attach_call, mode, "block drop ring")},
    CLI_TRIGGER_ROWS(struct attach_call, triggers),
    {.name = "profile", .help = "count and time calls instead of recording them",
     CLI_FLAG(struct attach_call, is_profile)},
    {.name = "level", .value = "F[,P]", .brief = "levels of functions and parameters",
     .help = "levels of functions and parameters, 0 to 5, like PROBITY_LEVEL",
     CLI_TEXT(struct attach_call, level)},
    {.name = "budget", .value = "SHARE", .brief = "share of CPU time for recording",
     .help = "keep recording below this share of CPU time (1%), like PROBITY_BUDGET",
     CLI_TEXT(struct attach_call, budget)},
    {.name = "functions", .brief = "record functions without macros",
     .help = "record functions without macros, which requires libprobity-functions in the program: "
             "XRay sleds and patchable entries are patched now, and restored by detach",
     CLI_FLAG(struct attach_call, functions)},
    {.name = "function", .value = "PATTERN", .brief = "record only functions that match",
     .help = "like --functions, but only those whose name matches: * ? [a-z]; may be repeated",
     CLI_PATTERNS(struct attach_call, selection.functions)},
    {.name = "exclude", .value = "PATTERN", .brief = "do not record functions that match",
     .help = "like --functions, but skip those whose name matches; may be repeated",
     CLI_PATTERNS(struct attach_call, selection.excluded)},
    {.name = "file", .value = "PATTERN", .brief = "only functions of these source files",
     .help = "like --functions, but only those in source files that match; may be repeated",
     CLI_PATTERNS(struct attach_call, selection.sources)},
    {.name = "object", .value = "PATTERN", .brief = "only functions of these files",
     .help = "like --functions, but only those in executables and libraries whose file name "
             "matches; may be repeated", CLI_PATTERNS(struct attach_call, selection.objects)},
    {.name = "calls", .value = "LIST", .brief = "record calls to the C library",
     .help = "record calls to the C library, which requires libprobity-calls in the program: a "
             "list of io, locks, memory, sleep and threads, or all; locks=waits records only waits",
     CLI_TEXT(struct attach_call, calls)},
    {.name = "label", .value = "TEXT", .help = "a label for this run",
     CLI_TEXT(struct attach_call, label)},
    {.name = "wait", .value = "T", .take = take_wait, .brief = "how long to wait for a probe",
     .help = "wait at most T for the first probe: seconds, or with a unit (default: 10s)"},
    {.name = "json", .help = "print a JSON object", .brief = "print JSON",
     CLI_FLAG(struct attach_call, as_json)},
    CLI_HELP_ROW,
    {.name = NULL},
};

const struct cli_command cli_command_attach = {
    .name = "attach",
    .run = run_attach,
    .summary = "Start recording a running program",
    .usage = "[OPTION]... PID",
    .help =
        "The program must have the Probity library, linked or preloaded, and not be recording. Its "
        "next probe or scope starts the recording; no thread is stopped. A program that was "
        "started with PROBITY_CONTROL=1 has a control page, so neither a probe nor permission for "
        "ptrace is needed. Prints the name of the trace.",
    .options = attach_options,
    .operands = operands,
    .statuses = "0 success; 1 failure; 2 usage error",
    .is_for_running = 1,
};

/* ---- detach ------------------------------------------------------------------------------------
 */

struct detach_call {
    int as_json;
};

static int report_end(uint32_t pid, int error)
{
    const struct cli_command *command = &cli_command_detach;

    switch (error) {
    case PROBITY_ERROR_VERSION:
        return cli_fail(command, "process %" PRIu32 " cannot be detached from: it has an external "
                        "writer, or a version of Probity without detach", pid);
    case PROBITY_ERROR_STATE:
        return cli_fail(command, "process %" PRIu32 " has stopped recording after a write error; "
                        "see `probity spools`", pid);
    case PROBITY_ERROR_LIMIT:
        return cli_fail(command, "process %" PRIu32 " did not reply within 10 s: it is stopped, "
                        "delayed, or has no writer thread; it will end its recording when it can",
                        pid);
    default:
        return cli_fail(command, "cannot write to the spool of process %" PRIu32 ": %s", pid,
                        strerror(errno));
    }
}

/* Called after the recording has ended. */
static int report_code(uint32_t pid, int why)
{
    return cli_fail(&cli_command_detach, "process %" PRIu32 " is no longer recording, but could "
                    "not restore its code: %s; its functions still call the library%s", pid,
                    strerror(why), why == EAGAIN ? " until a fork in progress is over" : "");
}

static int run_detach(int argc, char **argv)
{
    const struct cli_command *command = &cli_command_detach;
    struct detach_call call = {0};
    struct probity_request *request;
    char *path = NULL;
    uint32_t pid = 0;
    int status = cli_options_take(command, &call, argc, argv);

    if (status == CLI_OK)
        status = take_pid(command, argc, argv, &pid);
    if (status != CLI_OK)
        return status < 0 ? CLI_OK : status;
    status = find_recording(command, pid, &request, &path);
    if (status < 0 && !cli_process_exists(pid))
        return cli_fail(command, "no process %" PRIu32, pid);
    if (status < 0)
        return cli_fail(command, "process %" PRIu32 " is not recording; if its spool is elsewhere, "
                        "set PROBITY_SPOOL_DIR", pid);
    if (status != CLI_OK)
        return status;
    int why = 0, error = probity_request_end(request, WAIT_NS_USUAL, &why);
    status = error != 0 ? report_end(pid, error) : CLI_OK;
    probity_request_close(request);
    if (error == 0)
        print_result(pid, path, call.as_json);
    free(path);
    return why == 0 ? status : report_code(pid, why);
}

static const struct cli_option detach_options[] = {
    {.name = "json", .help = "print a JSON object", .brief = "print JSON",
     CLI_FLAG(struct detach_call, as_json)},
    CLI_HELP_ROW,
    {.name = NULL},
};

const struct cli_command cli_command_detach = {
    .name = "detach",
    .run = run_detach,
    .summary = "End the recording of a running program",
    .usage = "[--json] PID",
    .help =
        "Ends the recording, however it was started, and waits until its trace is complete. The "
        "program keeps running, and can be attached to again.",
    .options = detach_options,
    .operands = operands,
    .statuses = "0 success; 1 failure; 2 usage error",
    .is_for_running = 1,
};
