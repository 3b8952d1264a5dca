/* SPDX-License-Identifier: MIT
 *
 * output_file.c: the file that a command writes. It gets its name only when it is complete.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/temporary.h"
#include "cli/cli.h"
#include "cli/place.h"
#include "probity.h"

int cli_output_is_apart(const struct cli_command *command, const char *path, char **inputs,
                        size_t count)
{
    struct cli_place input;
    struct stat output;

    if (path == NULL || strcmp(path, "-") == 0 || stat(path, &output) != 0)
        return CLI_OK;
    for (size_t i = 0; i < count; i++) {
        if (cli_place_of(inputs[i], &input) && input.device == output.st_dev &&
            input.inode == output.st_ino)
            return cli_fail(command, "refusing to overwrite input '%s'", path);
    }
    return CLI_OK;
}

/* Creates the new file next to the one that it will replace. */
static int open_temporary(const struct cli_command *command, int must_have_name,
                          struct cli_output *output)
{
    output->temporary = probity_temporary_name(output->path);
    if (output->temporary == NULL)
        return cli_fail(command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    cli_unfinished_set(output);
    output->descriptor =
        must_have_name ? open(output->temporary,
                              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666)
                       : probity_temporary_open(AT_FDCWD, output->temporary, &output->is_unnamed);
    if (output->descriptor >= 0)
        return CLI_OK;
    cli_unfinished_clear();
    cli_fail(command, "cannot write '%s': %s", output->path, strerror(errno));
    free(output->temporary);
    return CLI_FAILURE;
}

/* Writes directly to a pipe or device, because replacing it would destroy it. Follows a link to one
 * only if this user or root created it: in a shared directory, another user may have created a link
 * to a device that only this user may write to. Does not touch a regular file that has meanwhile
 * replaced it. */
static int open_special(const struct cli_command *command, struct cli_output *output)
{
    const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY;
    struct stat status;

    output->descriptor = open(output->path, flags | O_NOFOLLOW);
    if (output->descriptor < 0 && errno == ELOOP && lstat(output->path, &status) == 0) {
        if (status.st_uid != geteuid() && status.st_uid != 0)
            return cli_fail(command, "cannot write '%s': this link belongs to another user",
                            output->path);
        output->descriptor = open(output->path, flags);
    }
    if (output->descriptor >= 0 &&
        (fstat(output->descriptor, &status) != 0 || S_ISREG(status.st_mode))) {
        close(output->descriptor);
        output->descriptor = -1;
        errno = EEXIST;
    }
    return output->descriptor >= 0
               ? CLI_OK
               : cli_fail(command, "cannot write '%s': %s", output->path, strerror(errno));
}

static int open_output(const struct cli_command *command, const char *path, int force,
                       int must_have_name, struct cli_output *ret_output)
{
    struct cli_output output = {.descriptor = STDOUT_FILENO};
    struct stat there;
    int status = CLI_OK;

    if (path != NULL && strcmp(path, "-") != 0) {
        int exists = stat(path, &there) == 0;
        if (!force && (exists || lstat(path, &there) == 0)) /* a dangling link counts as existing */
            return cli_fail(command, "'%s' already exists; use -f to overwrite it", path);
        output.path = path;
        output.may_replace = force;
        status = exists && !S_ISREG(there.st_mode) ? open_special(command, &output)
                                                   : open_temporary(command, must_have_name,
                                                                    &output);
    }
    if (status == CLI_OK)
        *ret_output = output;
    return status;
}

int cli_output_open(const struct cli_command *command, const char *path, int force,
                    struct cli_output *ret_output)
{
    return open_output(command, path, force, 0, ret_output);
}

int cli_output_open_named(const struct cli_command *command, const char *path, int force,
                          struct cli_output *ret_output)
{
    return open_output(command, path, force, 1, ret_output);
}

int cli_rename_new(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS && errno != EPERM) /* EPERM: from a filter of system
                                                               * calls */
        return -1;
    if (linkat(AT_FDCWD, from, AT_FDCWD, to, 0) == 0) {
        (void)unlink(from);
        return 0;
    }
    return errno == EEXIST ? -1 : rename(from, to);
}

int cli_fail_rename(const struct cli_command *command, const struct cli_output *output)
{
    if (errno == EEXIST && !output->may_replace)
        return cli_fail(command, "'%s' already exists; use -f to overwrite it", output->path);
    return cli_fail(command, "cannot rename '%s' to '%s': %s", output->temporary, output->path,
                    strerror(errno));
}

/* Some file systems (FUSE, CIFS) report write errors only at close(), of any descriptor. */
static int is_flushed(int descriptor)
{
    int again = dup(descriptor);

    return again < 0 || close(again) == 0;
}

/* Links an unnamed file to its temporary name or, if it replaces nothing, directly to its final
 * name, so that being killed leaves no temporary file. Returns whether the file is complete;
 * *ret_is_named: whether it has its temporary name. */
static int name_unnamed(const struct cli_output *output, int *ret_is_named)
{
    *ret_is_named = 0;
    if (!output->may_replace) {
        if (!is_flushed(output->descriptor))
            return 0;
        if (probity_temporary_link(output->descriptor, AT_FDCWD, output->path) == 0)
            return 1;
        if (errno == EEXIST)
            return 0;
    }
    *ret_is_named =
        probity_temporary_keep(output->descriptor, AT_FDCWD, output->temporary) == 0;
    return *ret_is_named;
}

/* The file gets its final name only after all bytes were written. */
int cli_output_close(const struct cli_command *command, struct cli_output *output, int keep)
{
    int status = CLI_OK;

    if (output->path == NULL) {
        if (keep && close(STDOUT_FILENO) != 0 && errno != EBADF)
            status = cli_fail(command, "cannot write to standard output: %s", strerror(errno));
        return status;
    }
    int is_named = output->temporary != NULL && !output->is_unnamed, is_whole = keep;
    if (keep && output->is_unnamed)
        is_whole = name_unnamed(output, &is_named);
    if (keep && !is_whole)
        status = errno == EEXIST ? cli_fail_rename(command, output)
                                 : cli_fail(command, "cannot write '%s': %s", output->path,
                                            strerror(errno));
    if (close(output->descriptor) != 0 && is_whole) {
        status = cli_fail(command, "cannot write '%s': %s", output->path, strerror(errno));
        is_whole = 0;
    }
    if (is_whole && is_named &&
        (output->may_replace ? rename : cli_rename_new)(output->temporary, output->path) != 0) {
        status = cli_fail_rename(command, output);
        is_whole = 0;
    }
    if (!is_whole && is_named && unlink(output->temporary) != 0)
        cli_warn(command, "could not remove temporary file '%s': %s", output->temporary,
                 strerror(errno));
    cli_unfinished_clear();
    free(output->temporary);
    output->temporary = NULL;
    return status;
}

int cli_check_out(const struct cli_command *command, const char *out)
{
    if (out != NULL && *out == '\0')
        return cli_fail_usage(command, "-o requires a name");
    if (out != NULL && strcmp(out, "-") == 0)
        return cli_fail_usage(command, "-o -: a trace cannot be written to standard output "
                              "(for a file of this name use ./-)");
    return CLI_OK;
}
