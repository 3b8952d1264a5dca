/* SPDX-License-Identifier: MIT
 *
 * cli_process.c: finds the spool of a process for the commands that take a process id.
 */
#include "cli/cli_process.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int cli_process_is(const char *operand)
{
    return operand[0] != 0 && operand[strspn(operand, "0123456789")] == 0;
}

int cli_process_exists(uint32_t pid)
{
    return kill((pid_t)pid, 0) == 0 || errno != ESRCH;
}

static int is_of_other_user(uint32_t pid)
{
    char path[32];
    struct stat status;

    snprintf(path, sizeof path, "/proc/%" PRIu32, pid);
    return stat(path, &status) == 0 && status.st_uid != geteuid();
}

int cli_process_fail(const struct cli_command *command, uint32_t pid, const char *directory,
                     int error)
{
    int why = errno;

    if (error == PROBITY_ERROR_STATE)
        return cli_fail(command, "'%s' belongs to another user or is writable by others",
                        directory);
    if (error == PROBITY_ERROR_VERSION)
        return cli_fail(command, "process %" PRIu32 " records with another version of Probity; use "
                        "the `probity` of that version (this is %s)", pid, probity_version());
    if (error == PROBITY_ERROR_OPEN && why == EACCES && is_of_other_user(pid))
        return cli_fail(command, "process %" PRIu32 " belongs to another user; run `probity %s` as "
                        "that user", pid, command->name);
    return cli_fail(command, "cannot search '%s' for process %" PRIu32 ": %s", directory, pid,
                    error == PROBITY_ERROR_OPEN ? strerror(why) : probity_error_text(error));
}

int cli_process_open(const struct cli_command *command, const char *operand,
                     struct probity_request **ret_request)
{
    char directory[PATH_MAX];
    int count = 0;

    errno = 0;
    unsigned long number = strtoul(operand, NULL, 10);
    if (errno != 0 || number == 0 || number > INT32_MAX)
        return cli_fail(command, "no process %s", operand);
    uint32_t pid = (uint32_t)number;
    if (!cli_process_exists(pid))
        return cli_fail(command, "no process %" PRIu32 " in this PID namespace; if it is in "
                        "another, give its trace instead", pid);
    int error = probity_request_open_process(pid, directory, sizeof directory, &count, ret_request);
    if (error != 0)
        return cli_process_fail(command, pid, directory, error);
    if (count == 0)
        return cli_fail(command, "process %" PRIu32 " is not recording: it has no spool in '%s'; "
                        "if its spool is elsewhere, set PROBITY_SPOOL_DIR or give its trace", pid,
                        directory);
    if (count > 1)
        return cli_fail(command, "process %" PRIu32 " records %d traces; give one of them", pid,
                        count);
    return CLI_OK;
}
