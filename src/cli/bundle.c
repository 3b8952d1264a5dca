/* SPDX-License-Identifier: MIT
 *
 * bundle.c: see bundle.h. Everything in a bundle is untrusted; src/reader/bundle.c verifies it.
 */
#include "cli/bundle.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader/bundle.h"

static int fail_memory(const struct cli_command *command)
{
    return cli_fail(command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
}

/* Replaces paths[at] with the paths of a bundle's traces, and moves *at to the last of them. */
static int expand(const struct cli_command *command, const struct probity_bundle *bundle,
                  char ***paths, size_t *count, size_t *at)
{
    char **all = realloc(*paths, (*count + bundle->count + 1) * sizeof *all);
    size_t traces = 0;

    if (all == NULL)
        return fail_memory(command);
    *paths = all;
    char *own = all[*at];
    memmove(all + *at + bundle->count, all + *at + 1, (*count - *at - 1) * sizeof *all);
    memset(all + *at, 0, bundle->count * sizeof *all);
    *count += bundle->count - 1;
    for (size_t i = 0; i < bundle->count; i++) {
        if (bundle->members[i].kind != PROBITY_BUNDLE_TRACE)
            continue;
        if (asprintf(&all[*at + traces], "%s/%s", own, bundle->members[i].name) < 0) {
            all[*at + traces] = own;
            return fail_memory(command);
        }
        traces++;
    }
    size_t gap = bundle->count - traces;
    memmove(all + *at + traces, all + *at + bundle->count,
            (*count - *at - bundle->count) * sizeof *all);
    *count -= gap;
    if (traces == 0)
        cli_fail(command, "the bundle '%s' has no traces", own);
    free(own);
    *at += traces - 1;
    return traces > 0 ? CLI_OK : CLI_FAILURE;
}

/* The reader reports other failures. */
int cli_bundles_expand(const struct cli_command *command, char ***paths, size_t *count)
{
    int status = CLI_OK;

    for (size_t i = 0; status == CLI_OK && i < *count; i++) {
        struct probity_bundle bundle;
        const char *path = (*paths)[i];
        int error = probity_bundle_open(path, &bundle);
        if (error == PROBITY_ERROR_MEMORY || error == PROBITY_ERROR_VERSION)
            status = cli_fail_trace(command, path, error, errno);
        else if (error == PROBITY_ERROR_DAMAGED)
            status = cli_fail(command, "the bundle '%s' is damaged: %s; use another copy of it",
                              path, bundle.why);
        if (error == 0) {
            status = expand(command, &bundle, paths, count, &i);
            probity_bundle_release(&bundle);
        }
    }
    return status;
}
