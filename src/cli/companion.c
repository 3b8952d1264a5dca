/* SPDX-License-Identifier: MIT
 *
 * companion.c: see companion.h.
 */
#include "cli/companion.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader/file.h"

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

int cli_companion_open(const char *trace, const char *suffix, int trace_file)
{
    char *name = cli_companion_name(trace, suffix);
    int file = -1;

    if (name != NULL && probity_file_open(name, &file) != 0)
        file = -1;
    free(name);
    if (file >= 0 && !is_trusted(file, trace_file)) {
        close(file);
        file = -1;
    }
    return file;
}
