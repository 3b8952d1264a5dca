/* SPDX-License-Identifier: MIT
 *
 * csv_file.c: one trace to one CSV file. Runs in the tool, and in the traced program when it ends.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/temporary.h"
#include "output/csv.h"

/* Returns 0, or the first error of either side. */
static int copy_events(struct probity_reader *reader, int file)
{
    const struct probity_event *event;
    struct probity_csv *csv;
    int error = probity_csv_open(file, NULL, &csv);

    if (error != 0)
        return error;
    while (error == 0 && (error = probity_reader_next(reader, &event)) > 0)
        error = probity_csv_put(csv, event);
    if (error == 0)
        error = probity_csv_flush(csv);
    probity_csv_close(csv);
    return error;
}

/* Under the temporary name, and before that under none, then renames. */
static int write_by_way_of(struct probity_reader *reader, char *temporary, const char *path)
{
    int is_unnamed, file = probity_temporary_open(temporary, &is_unnamed);

    if (file < 0)
        return PROBITY_ERROR_OPEN;
    int error = copy_events(reader, file);
    if (error == 0 && is_unnamed && probity_temporary_keep(file, temporary) != 0)
        error = PROBITY_ERROR_WRITE;
    int kept_errno = errno;
    if (close(file) != 0 && error == 0) { /* some file systems tell of a full disk only here */
        error = PROBITY_ERROR_WRITE;
        kept_errno = errno;
    }
    if (error == 0 && rename(temporary, path) != 0) {
        error = PROBITY_ERROR_WRITE;
        kept_errno = errno;
    }
    if (error != 0)
        unlink(temporary);
    errno = kept_errno;
    return error;
}

int probity_csv_write_file(const char *trace_path, const char *csv_path)
{
    struct probity_reader *reader;
    char *temporary = probity_temporary_name(csv_path);

    if (temporary == NULL)
        return PROBITY_ERROR_MEMORY;
    int error = probity_reader_open(&trace_path, 1, NULL, NULL, &reader);
    if (error == 0) {
        error = write_by_way_of(reader, temporary, csv_path);
        const struct probity_trace_facts *facts = probity_reader_facts(reader, 0);
        if (error == 0 &&
            (probity_trace_is_damaged(facts) || facts->state == PROBITY_TRACE_UNFINISHED))
            error = PROBITY_ERROR_DAMAGED;
        probity_reader_close(reader);
    }
    free(temporary);
    return error;
}
