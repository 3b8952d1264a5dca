/* SPDX-License-Identifier: MIT
 *
 * cli_spools.c: lists the spool directories. This file only finds directories; src/reader/spools.c
 * opens and checks their contents.
 */
#include "cli/cli_spools.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"

#define SHARED_MEMORY "/dev/shm"

struct collection {
    const struct cli_command *command;
    struct probity_spools *spools;
    size_t hidden; /* directories of other users that cannot be read */
};

/* A user who has no spools has no directory. */
static int add_directory(struct collection *collection, const char *path, uint32_t owner)
{
    int error = probity_spools_add(collection->spools, path, owner);

    if (error == 0 || (error == PROBITY_ERROR_OPEN && errno == ENOENT))
        return CLI_OK;
    if (error == PROBITY_ERROR_OPEN && errno == EACCES && owner != geteuid()) {
        collection->hidden++;
        return CLI_OK;
    }
    if (error == PROBITY_ERROR_STATE)
        return cli_fail(collection->command,
                        "'%s' belongs to another user or is writable by others", path);
    return cli_fail(collection->command, "cannot read '%s': %s", path,
                    error == PROBITY_ERROR_OPEN ? strerror(errno) : probity_error_text(error));
}

/* A directory that is not owned by the user in its name may be malicious; it is skipped with status
 * CLI_DAMAGED. */
static int add_all_users(struct collection *collection)
{
    static const char prefix[] = "probity-";
    DIR *list = opendir(SHARED_MEMORY);
    const struct dirent *entry;
    int status = CLI_OK;

    while (list != NULL && status != CLI_FAILURE && (entry = readdir(list)) != NULL) {
        const char *digits = entry->d_name + sizeof prefix - 1;
        char path[PATH_MAX];
        if (strncmp(entry->d_name, prefix, sizeof prefix - 1) != 0 || digits[0] == 0 ||
            digits[strspn(digits, "0123456789")] != 0)
            continue;
        unsigned long owner = strtoul(digits, NULL, 10);
        snprintf(path, sizeof path, SHARED_MEMORY "/%s", entry->d_name);
        if (owner != geteuid() && owner <= UINT32_MAX &&
            add_directory(collection, path, (uint32_t)owner) != CLI_OK)
            status = CLI_DAMAGED;
    }
    if (list != NULL)
        closedir(list);
    return status;
}

int cli_spools_check(const struct cli_command *command, int is_all, const char *what)
{
    const char *named = getenv("PROBITY_SPOOL_DIR");

    if (is_all && named != NULL && named[0] != 0)
        return cli_fail_usage(command, "%s " SHARED_MEMORY "; unset PROBITY_SPOOL_DIR", what);
    return CLI_OK;
}

int cli_spools_collect(const struct cli_command *command, int is_all,
                       struct probity_spools *ret_spools)
{
    struct collection collection = {.command = command, .spools = ret_spools};
    const char *wanted = probity_os_is_privileged() ? NULL : getenv("PROBITY_SPOOL_DIR");
    char usual[64];

    /* As in programs, PROBITY_SPOOL_DIR replaces the default directory; files elsewhere must not be
     * removed. */
    snprintf(usual, sizeof usual, SHARED_MEMORY "/probity-%u", (unsigned)geteuid());
    int is_named = wanted != NULL && wanted[0] != 0;
    int status = add_directory(&collection, is_named ? wanted : usual, geteuid());
    if (status == CLI_OK && is_all)
        status = add_all_users(&collection);
    if (collection.hidden > 0)
        cli_warn(command, "%zu director%s of other users cannot be read", collection.hidden,
                 collection.hidden == 1 ? "y" : "ies");
    probity_spools_sort(ret_spools);
    return status;
}
