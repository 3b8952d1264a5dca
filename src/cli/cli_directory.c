/* SPDX-License-Identifier: MIT
 *
 * cli_directory.c: a directory as output: created under a temporary name and renamed only once
 * complete. -f replaces a directory only if it has no other files, so that a typo cannot delete a
 * home directory.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/temporary.h"
#include "cli/cli.h"

/* The list ends with NULL. */
static int is_listed(const char *name, const char *const *files)
{
    while (*files != NULL && strcmp(*files, name) != 0)
        files++;
    return *files != NULL;
}

/* Whether a directory contains only files with these names. */
static int holds_only(const char *path, const char *const *files)
{
    DIR *directory = opendir(path);
    struct dirent *entry;
    int holds = directory != NULL;

    while (holds && (entry = readdir(directory)) != NULL)
        holds = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
                is_listed(entry->d_name, files);
    if (directory != NULL)
        closedir(directory);
    return holds;
}

int cli_directory_open(const struct cli_command *command, const char *path, int force,
                    const char *const *files, struct cli_output *ret_output)
{
    struct cli_output output = {.descriptor = -1, .path = path, .files = files,
                                .may_replace = force};
    struct stat there;

    if (lstat(path, &there) == 0) {
        if (!force)
            return cli_fail(command, "'%s' already exists; use -f to overwrite it", path);
        if (!S_ISDIR(there.st_mode) || !holds_only(path, files))
            return cli_fail(command, "'%s' is not a directory written by this command; use another "
                            "name", path);
    }
    output.temporary = probity_temporary_name(path);
    if (output.temporary == NULL)
        return cli_fail(command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    if (mkdir(output.temporary, 0777) != 0) {
        cli_fail(command, "cannot create '%s': %s", path, strerror(errno));
        free(output.temporary);
        return CLI_FAILURE;
    }
    cli_unfinished_set(&output);
    *ret_output = output;
    return CLI_OK;
}

/* Ignores errors: files that remain only take up space. */
static void remove_aside(const struct cli_command *command, const char *path,
                         const char *const *files)
{
    if (cli_remove_directory(path, files) != 0 && errno != ENOENT)
        cli_warn(command, "could not remove temporary directory '%s': %s", path, strerror(errno));
}

/* If the names cannot be exchanged, moves the old directory aside, and back if the new one cannot
 * be renamed; neither is ever lost. */
static int put_in_two_steps(const struct cli_command *command, const struct cli_output *output)
{
    char *aside = probity_temporary_name(output->path);
    int error_number = ENOMEM;

    if (aside != NULL && rename(output->path, aside) == 0) {
        if (rename(output->temporary, output->path) == 0) {
            remove_aside(command, aside, output->files);
            free(aside);
            return 0;
        }
        error_number = errno;
        if (rename(aside, output->path) != 0)
            cli_warn(command, "'%s' was renamed to '%s': %s", output->path, aside, strerror(errno));
    } else if (aside != NULL) {
        error_number = errno;
    }
    free(aside);
    errno = error_number;
    return -1;
}

/* Exchanges the directories in one step if the file system supports it; removes the old one once
 * the new one is in place. */
static int put_in_place(const struct cli_command *command, const struct cli_output *output)
{
    if (!output->may_replace)
        return cli_rename_new(output->temporary, output->path);
    if (access(output->path, F_OK) != 0)
        return rename(output->temporary, output->path);
    if (renameat2(AT_FDCWD, output->temporary, AT_FDCWD, output->path, RENAME_EXCHANGE) == 0) {
        remove_aside(command, output->temporary, output->files);
        return 0;
    }
    return errno == EINVAL || errno == ENOSYS ? put_in_two_steps(command, output) : -1;
}

int cli_directory_close(const struct cli_command *command, struct cli_output *output, int keep)
{
    int status = CLI_OK;

    if (keep && put_in_place(command, output) != 0) {
        status = cli_fail_rename(command, output);
        keep = 0;
    }
    if (!keep)
        remove_aside(command, output->temporary, output->files);
    cli_unfinished_clear();
    free(output->temporary);
    output->temporary = NULL;
    return status;
}
