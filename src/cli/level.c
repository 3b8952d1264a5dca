/* SPDX-License-Identifier: MIT
 *
 * level.c: `probity level`: shows or changes the levels of a running program, by way of its spool
 * (doc/spool.md, "Requests").
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "writer/request.h"

#define ME (&cli_command_level)

enum { LEVEL_MAX = 5, UNCHANGED = -1 };
#define WAIT_NS INT64_C(5000000000)

/* What the command line asks for. */
struct wish {
    const char *target;
    int functions, parameters; /* UNCHANGED: as they are */
    int is_change, as_json;
};

/* Where the process keeps its spool, if it keeps to the rule: PROBITY_SPOOL_DIR, or that of its
 * user. malloc'ed; NULL: no memory. */
static char *folder_of(uint32_t pid)
{
    const char *wanted = getenv("PROBITY_SPOOL_DIR");
    char *folder = NULL, process[32];
    struct stat status;

    if (wanted != NULL && wanted[0] != 0)
        return strdup(wanted);
    snprintf(process, sizeof process, "/proc/%" PRIu32, pid);
    uid_t user = stat(process, &status) == 0 ? status.st_uid : geteuid();
    return asprintf(&folder, "/dev/shm/probity-%u", (unsigned)user) < 0 ? NULL : folder;
}

static int open_process(uint32_t pid, struct probity_request **ret_request)
{
    if (kill((pid_t)pid, 0) != 0 && errno == ESRCH)
        return cli_fail(ME, "no process %" PRIu32, pid);
    char *folder = folder_of(pid);
    if (folder == NULL)
        return cli_fail(ME, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    int count = 0, status = CLI_OK;
    int error = probity_request_open_process(folder, pid, &count, ret_request);
    if (error != 0)
        status = cli_fail(ME, "cannot look into '%s' for process %" PRIu32 ": %s", folder, pid,
                          error == PROBITY_ERROR_OPEN ? strerror(errno)
                                                      : probity_error_text(error));
    else if (count == 0)
        status = cli_fail(ME, "process %" PRIu32 " is not recording: nothing of it in '%s'; where "
                          "its spool is elsewhere, set PROBITY_SPOOL_DIR or name its trace",
                          pid, folder);
    else if (count > 1)
        status = cli_fail(ME, "process %" PRIu32 " records %d traces; name one of them", pid,
                          count);
    free(folder);
    return status;
}

/* The spool that a trace names. */
static int open_spool(const char *trace, const struct probity_info *info,
                      struct probity_request **ret_request)
{
    const struct probity_text *spool = &info->text[PROBITY_TAG_SPOOL];
    char *path = spool->bytes != NULL ? strndup(spool->bytes, spool->length) : NULL;

    if (path == NULL)
        return cli_fail(ME, "'%s' names no spool", trace);
    int error = probity_request_open_spool(path, info->session, info->boot, ret_request);
    int before = errno;
    free(path);
    if (error == 0)
        return CLI_OK;
    if (error == PROBITY_ERROR_STATE || (error == PROBITY_ERROR_OPEN && before == ENOENT))
        return cli_fail(ME, "'%s': its program (process %" PRIu32 ") does not record any more",
                        trace, info->pid);
    return cli_fail(ME, "'%s': its spool cannot be opened: %s", trace,
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
                     ? cli_fail(ME, "'%s' is closed: its program does not record any more", path)
                     : open_spool(path, &facts->info, ret_request);
        probity_reader_close(reader);
    }
    free(path);
    return status;
}

/* A process id is all digits; a trace of such a name is ./NAME. */
static int is_process(const char *target)
{
    return target[0] != 0 && target[strspn(target, "0123456789")] == 0;
}

static int open_target(const char *target, struct probity_request **ret_request)
{
    if (!is_process(target))
        return open_trace(target, ret_request);
    errno = 0;
    unsigned long pid = strtoul(target, NULL, 10);
    if (errno != 0 || pid == 0 || pid > INT32_MAX)
        return cli_fail(ME, "no process %s", target);
    return open_process((uint32_t)pid, ret_request);
}

static int tell_error(uint32_t pid, int is_served, int error)
{
    switch (error) {
    case PROBITY_ERROR_VERSION:
        return cli_fail(ME, "process %" PRIu32 " runs a version of Probity without levels", pid);
    case PROBITY_ERROR_STATE:
        return cli_fail(ME, "process %" PRIu32 " ended, or its recording did, before it answered",
                        pid);
    case PROBITY_ERROR_LIMIT:
        return cli_fail(ME, "process %" PRIu32 " did not answer within 5 s: %s", pid,
                        is_served ? "it is stopped, or held up; it will when it goes on"
                                  : "it has no writing thread before its first chunk is full; it "
                                    "will answer then");
    default:
        return cli_fail(ME, "cannot write to the spool of process %" PRIu32 ": %s", pid,
                        strerror(errno));
    }
}

static int ask(const struct wish *wish, const struct probity_request *request)
{
    uint32_t pid = probity_request_pid(request);
    int functions = 0, parameters = 0;
    int error = wish->is_change
                    ? probity_request_levels(request, wish->functions, wish->parameters, WAIT_NS,
                                             &functions, &parameters)
                    : probity_request_read(request, &functions, &parameters);

    if (error != 0)
        return tell_error(pid, probity_request_has_writer(request), error);
    printf(wish->as_json ? "{\"pid\": %" PRIu32 ", \"functions\": %d, \"parameters\": %d}\n"
                         : "%" PRIu32 ": levels %d, %d\n",
           pid, functions, parameters);
    return CLI_OK;
}

/* "-" leaves a level as it is. */
static int level_of(const char *text, int *ret_level)
{
    if (strcmp(text, "-") == 0) {
        *ret_level = UNCHANGED;
        return CLI_OK;
    }
    if (text[0] < '0' || text[0] > '0' + LEVEL_MAX || text[1] != 0)
        return cli_fail_usage(ME, "'%s' is not a level: 0 to %d, or '-' to leave it", text,
                              LEVEL_MAX);
    *ret_level = text[0] - '0';
    return CLI_OK;
}

static int operands(int argc, char **argv, struct wish *wish)
{
    int count = argc - optind, status = CLI_OK;

    if (count == 0)
        return cli_fail_usage(ME, "no process and no trace given");
    if (count > 3)
        return cli_fail_usage(ME, "too many arguments");
    wish->target = argv[optind];
    wish->is_change = count > 1;
    if (count > 1)
        status = level_of(argv[optind + 1], &wish->functions);
    if (status == CLI_OK && count > 2)
        status = level_of(argv[optind + 2], &wish->parameters);
    return status;
}

static int run(int argc, char **argv)
{
    static const struct option long_options[] = {{"json", no_argument, NULL, 'j'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    struct wish wish = {.functions = UNCHANGED, .parameters = UNCHANGED};
    struct probity_request *request;
    int option;

    while ((option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        switch (option) {
        case 'j': wish.as_json = 1; break;
        case 'h': return cli_print_help(ME);
        default: return cli_fail_option(ME, argv, option);
        }
    }
    int status = operands(argc, argv, &wish);
    if (status == CLI_OK)
        status = open_target(wish.target, &request);
    if (status != CLI_OK)
        return status;
    status = ask(&wish, request);
    probity_request_close(request);
    return status;
}

const struct cli_command cli_command_level = {
    "level", run, "Show or change the levels of a running program",
    "[--json] PID|TRACE [FUNCTIONS [PARAMETERS]]",
    "A function scope is recorded where its own level is not above FUNCTIONS, 0 to 5; its\n"
    "parameters, where it is not above PARAMETERS, which are raised to FUNCTIONS where they are\n"
    "below. A '-' leaves a level as it is. Prints the levels in force then; the trace tells when\n"
    "they changed.\n\n"
    "      --json   print an object\n"
    "  -h, --help   this text\n",
    "0 done; 1 failure; 2 wrong call"};
