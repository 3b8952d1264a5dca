/* SPDX-License-Identifier: MIT
 *
 * level.c: `probity level`: shows or changes the levels of a running program through its spool
 * (doc/spool.md, "Requests").
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "cli/cli.h"
#include "cli/cli_process.h"
#include "cli/level_settings.h"
#include "cli/level_threads.h"
#include "cli/option.h"
#include "cli/patterns.h"
#include "print/json.h"

#define ME (&cli_command_level)

enum { LEVEL_MAX = 5, UNCHANGED = -1, WHY_BYTES = 2040 };
/* Maximum size in one record of the trace, with a zero. */
enum { SETTINGS_BYTES = 2038 };
#define WAIT_NS INT64_C(5000000000)

/* The request given on the command line. */
struct level_request {
    const char *target;
    int functions, parameters; /* new levels, or UNCHANGED */
    int is_change, as_json;
    struct cli_patterns settings; /* NAME=VALUE; includes --off and --on, in the order given */
    char **made;                  /* the settings made from --off and --on, malloc'ed */
    size_t made_count;
    char text[SETTINGS_BYTES];    /* all settings, one per line */
};

/* The spool of a trace. */
static int open_spool(const char *trace, const struct probity_trace_facts *facts,
                      struct probity_request **ret_request)
{
    const struct probity_request_trace wanted = {.path = trace,
                                                 .info = &facts->info,
                                                 .device = facts->device,
                                                 .inode = facts->inode,
                                                 .owner = facts->owner};
    int error = probity_request_open_trace(&wanted, ret_request), before = errno;

    if (error == 0)
        return CLI_OK;
    if (error == PROBITY_ERROR_STATE || (error == PROBITY_ERROR_OPEN && before == ENOENT))
        return cli_fail(ME, "'%s': its program (process %" PRIu32 ") is no longer recording", trace,
                        facts->info.pid);
    return cli_fail(ME, "cannot open the spool of '%s': %s", trace,
                    error == PROBITY_ERROR_OPEN ? strerror(before) : probity_error_text(error));
}

static int open_trace(const char *name, struct probity_request **ret_request)
{
    struct probity_reader_options options = {0};
    struct probity_reader *reader;
    char *path = cli_trace_path(name);

    if (path == NULL)
        return cli_fail(ME, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    int status = cli_open_reader(ME, &path, 1, &options, &reader);
    if (status == CLI_OK) {
        const struct probity_trace_facts *facts = probity_reader_facts(reader, 0);
        status = facts->state == PROBITY_TRACE_CLOSED
                     ? cli_fail(ME, "'%s' is closed: its program is no longer recording", path)
                     : open_spool(path, facts, ret_request);
        probity_reader_close(reader);
    }
    free(path);
    return status;
}

static int open_target(const char *target, struct probity_request **ret_request)
{
    return cli_process_is(target) ? cli_process_open(ME, target, ret_request)
                                  : open_trace(target, ret_request);
}

/* is_made: the request will be carried out. */
static int report_silence(uint32_t pid, int is_served, int is_made, const char *result)
{
    char thread[160];

    if (!is_served)
        return cli_fail(ME, "process %" PRIu32 " has no writer thread at present; it will %s when "
                        "its first chunk is full", pid,
                        is_made ? "make this change"
                                : "make an earlier change, and not this one,");
    if (cli_level_thread(pid, thread, sizeof thread))
        return cli_fail(ME, "process %" PRIu32 " %s; it waits for %s", pid, result, thread);
    return cli_fail(ME, "process %" PRIu32 " %s", pid, result);
}

static int report_error(uint32_t pid, int is_served, int error)
{
    switch (error) {
    case PROBITY_ERROR_VERSION:
        return cli_fail(ME, "process %" PRIu32 " uses a version of Probity without levels", pid);
    case PROBITY_ERROR_STATE:
        return cli_fail(ME, "process %" PRIu32 " ended, or stopped recording, before it replied",
                        pid);
    case PROBITY_ERROR_LIMIT:
        return report_silence(pid, is_served, 1, "did not reply within 5 s: it is stopped or "
                              "delayed and will reply when it resumes");
    case PROBITY_ERROR_EXISTS:
        return report_silence(pid, is_served, 0, "has not answered an earlier request yet: nothing "
                              "was changed");
    default:
        return cli_fail(ME, "cannot write to the spool of process %" PRIu32 ": %s", pid,
                        strerror(errno));
    }
}

static int report_refusal(uint32_t pid, int is_served, int error, const char *why)
{
    if (error == PROBITY_ERROR_ARGUMENT)
        return cli_fail(ME, "process %" PRIu32 " refused the change: %s", pid, why);
    return report_error(pid, is_served, error);
}

static int join_settings(struct level_request *wanted)
{
    size_t used = 0;

    for (size_t i = 0; i < wanted->settings.count; i++) {
        const char *setting = wanted->settings.items[i];
        int status = cli_level_settings_check(ME, setting);
        if (status != CLI_OK)
            return status;
        if (strlen(setting) + 1 + (used > 0) > sizeof wanted->text - used)
            return cli_fail_usage(ME, "too many settings: at most %d bytes",
                                  SETTINGS_BYTES - 1);
        used += (size_t)snprintf(wanted->text + used, sizeof wanted->text - used, "%s%s",
                                 used > 0 ? "\n" : "", setting);
    }
    return CLI_OK;
}

/* Returns CLI_OK once the settings are in force; why: WHY_BYTES. */
static int change(const struct level_request *wanted, const struct probity_request *request,
                  uint32_t pid, char *why)
{
    if (wanted->text[0] == 0)
        return CLI_OK;
    int error = probity_request_change(request, wanted->text, WAIT_NS, why);
    for (char *at = why; *at != 0; at++)
        *at = *at >= ' ' && *at != 127 ? *at : '?';
    return error != 0 ? report_refusal(pid, probity_request_has_writer(request), error, why)
                      : CLI_OK;
}

/* Prints the name of a site that stays on, if any. */
static void print_stays(const char *said)
{
    const char *begin = strstr(said, "; site '"), *end = strstr(said, "' stays on");
    char text[WHY_BYTES];

    if (begin == NULL || end == NULL || end < begin)
        return;
    begin += sizeof "; site '" - 1;
    snprintf(text, sizeof text, "%.*s", (int)(end - begin), begin);
    printf(", \"stays_on\": ");
    probity_json_put_text(stdout, text);
}

/* said: the program's reply, "N of M functions ...; N of M sites ...; site 'NAME' stays on...; none
 * of them matches 'PATTERN'", or empty. */
static void print_json(uint32_t pid, int functions, int parameters, const char *said)
{
    unsigned off, called;
    const char *sites = strstr(said, "only counted; ");
    const char *pattern = strstr(said, "none of them matches '");
    char text[WHY_BYTES];

    printf("{\"pid\": %" PRIu32 ", \"functions\": %d, \"parameters\": %d", pid, functions,
           parameters);
    if (sscanf(said, "%u of %u functions", &off, &called) == 2)
        printf(", \"functions_called\": %u, \"functions_off\": %u", called, off);
    if (sites != NULL && sscanf(sites, "only counted; %u of %u sites", &off, &called) == 2)
        printf(", \"sites_hit\": %u, \"sites_off\": %u", called, off);
    print_stays(said);
    if (pattern != NULL && strlen(pattern) > sizeof "none of them matches '") {
        snprintf(text, sizeof text, "%s", pattern + sizeof "none of them matches '" - 1);
        text[strlen(text) - 1] = 0;
        printf(", \"unmatched\": ");
        probity_json_put_text(stdout, text);
    }
    puts("}");
}

/* The reason is added here, to keep the library, which is in every program, small. */
static void print_text(const char *said)
{
    static const char stays[] = "' stays on";
    const char *at = strstr(said, stays);
    int before = at != NULL ? (int)(at - said) + (int)sizeof stays - 1 : 0;

    printf("%s%.*s%s%s\n", said[0] != 0 ? "; " : "", before, said,
           at != NULL ? ", since it is in a library or was compiled with an older probity.h" : "",
           said + before);
}

static int ask(const struct level_request *wanted, const struct probity_request *request)
{
    /* The process may have a different id in its PID namespace. */
    uint32_t pid = cli_process_is(wanted->target) ? (uint32_t)strtoul(wanted->target, NULL, 10)
                                                  : probity_request_pid(request);
    char said[WHY_BYTES] = "";
    int functions = 0, parameters = 0, status = change(wanted, request, pid, said);

    if (status != CLI_OK)
        return status;
    int error = wanted->is_change
                    ? probity_request_levels(request, wanted->functions, wanted->parameters,
                                             WAIT_NS, &functions, &parameters)
                    : probity_request_read(request, &functions, &parameters);

    if (error != 0)
        return report_error(pid, probity_request_has_writer(request), error);
    if (wanted->as_json) {
        print_json(pid, functions, parameters, said);
        return CLI_OK;
    }
    printf("%" PRIu32 ": levels %d, %d", pid, functions, parameters);
    print_text(said);
    return CLI_OK;
}

/* "-" leaves a level unchanged. */
static int level_of(const char *text, int *ret_level)
{
    if (strcmp(text, "-") == 0) {
        *ret_level = UNCHANGED;
        return CLI_OK;
    }
    if (text[0] < '0' || text[0] > '0' + LEVEL_MAX || text[1] != 0)
        return cli_fail_usage(ME, "invalid level '%s' (0 to %d, or '-' to leave it unchanged)",
                              text, LEVEL_MAX);
    *ret_level = text[0] - '0';
    return CLI_OK;
}

static int take_operands(int argc, char **argv, struct level_request *wanted)
{
    int count = argc - optind, status = CLI_OK;

    if (count == 0)
        return cli_fail_usage(ME, "expected a process id or a trace");
    if (count > 3)
        return cli_fail_usage(ME, "too many arguments");
    wanted->target = argv[optind];
    wanted->is_change = count > 1;
    if (count > 1)
        status = level_of(argv[optind + 1], &wanted->functions);
    if (status == CLI_OK && count > 2)
        status = level_of(argv[optind + 2], &wanted->parameters);
    return status;
}

static int run(int argc, char **argv)
{
    struct level_request wanted = {.functions = UNCHANGED, .parameters = UNCHANGED};
    struct probity_request *request;
    int status = cli_options_take(ME, &wanted, argc, argv);

    if (status == CLI_OK)
        status = take_operands(argc, argv, &wanted);
    if (status == CLI_OK)
        status = join_settings(&wanted);
    if (status == CLI_OK)
        status = open_target(wanted.target, &request);
    if (status == CLI_OK) {
        status = ask(&wanted, request);
        probity_request_close(request);
    }
    cli_patterns_release(&wanted.settings);
    for (size_t i = 0; i < wanted.made_count; i++)
        free(wanted.made[i]);
    free(wanted.made);
    return status < 0 ? CLI_OK : status;
}

/* --off PATTERN is --set off=PATTERN, and --on the same. */
static int take_switch(const struct cli_given *given)
{
    struct level_request *wanted = given->at;
    size_t bytes = strlen(given->option->name) + strlen(given->value) + 2;
    char **made = probity_array_append(wanted->made, sizeof *made, wanted->made_count);
    char *text = malloc(bytes);

    wanted->made = made != NULL ? made : wanted->made;
    if (made == NULL || text == NULL) {
        free(text);
        return cli_fail(ME, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    }
    snprintf(text, bytes, "%s=%s", given->option->name, given->value);
    made[wanted->made_count++] = text;
    return cli_patterns_add(ME, &wanted->settings, text);
}

static const struct cli_operand operands[] = {
    {.label = "process or trace"},
    {.label = "level of functions", .choices = "0 1 2 3 4 5 -"},
    {.label = "level of parameters", .choices = "0 1 2 3 4 5 -"},
    {.label = NULL},
};

static const struct cli_option options[] = {
    {.name = "set", .value = "NAME=VALUE",
     .help = "also change another setting; may be repeated: ring=TIME, before=, after=, at-most=, "
             "keep=, limit=, budget=, mode=, when=CONDITION (see probity-record(1)), off=PATTERN, "
             "on=PATTERN; either all of them are changed or none",
     .brief = "change a setting", CLI_PATTERNS(struct level_request, settings)},
    {.name = "off", .value = "PATTERN", .take = take_switch,
     .brief = "switch functions and sites off",
     .help = "from now on, only count calls of functions whose name matches, and ignore hits of "
             "such sites, like --set off=PATTERN; may be repeated"},
    {.name = "on", .value = "PATTERN", .take = take_switch, .brief = "switch them on again",
     .help = "record them again, like --set on=PATTERN; if several match, the last one applies"},
    {.name = "json", .help = "print a JSON object", .brief = "print JSON",
     CLI_FLAG(struct level_request, as_json)},
    CLI_HELP_ROW,
    {.name = NULL},
};

const struct cli_command cli_command_level = {
    .name = "level",
    .run = run,
    .summary = "Show or change levels and settings of a running program",
    .usage = "[--json] [--off PATTERN]... [--on PATTERN]... [--set NAME=VALUE]... PID|TRACE "
             "[FUNCTIONS [PARAMETERS]]",
    .help =
        "A function scope is recorded if its level is at most FUNCTIONS (0 to 5), and its "
        "parameters if it is at most PARAMETERS. PARAMETERS is raised to FUNCTIONS if it is "
        "lower. A '-' leaves a level unchanged. Prints the levels now in effect; the trace "
        "records when they changed.",
    .options = options,
    .operands = operands,
    .statuses = "0 success; 1 failure; 2 usage error",
    .is_for_running = 1,
};
