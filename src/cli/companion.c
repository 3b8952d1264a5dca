/* SPDX-License-Identifier: MIT
 *
 * companion.c: see companion.h.
 */
#include "cli/companion.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>


char *cli_companion_name(const char *trace, const char *suffix)
{
    char *name = NULL;

    return asprintf(&name, "%s%s", trace, suffix) >= 0 ? name : NULL;
}

static int is_trusted(int file, int trace_file)
{
    struct stat companion, trace;

    return fstat(file, &companion) == 0 && fstat(trace_file, &trace) == 0 &&
           (companion.st_uid == trace.st_uid || companion.st_uid == geteuid());
}

int cli_companion_open(const char *trace, const char *suffix, const struct probity_range *range,
                       struct probity_range *ret_companion)
{
    char *name = cli_companion_name(trace, suffix);
    struct probity_range companion = {.file = -1};
    int error = name != NULL ? probity_range_open(name, &companion) : -1;

    free(name);
    if (error != 0)
        return -1;
    if (!is_trusted(companion.file, range->file)) {
        close(companion.file);
        return -1;
    }
    *ret_companion = companion;
    return 0;
}
