/* SPDX-License-Identifier: MIT
 *
 * csv_file.c: converts one trace to one CSV file, with a note next to it if records are missing,
 * because a CSV file cannot show that. Runs in the tool, and in the traced program when it exits.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/temporary.h"
#include "exports/csv/csv.h"

#define NOTE_SUFFIX ".incomplete"

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

/* ---- The note ----------------------------------------------------------------------------------
 */

/* Returns the name of the note, malloc'ed, or NULL if out of memory. */
static char *note_name(const char *csv_path)
{
    size_t bytes = strlen(csv_path);
    char *name = malloc(bytes + sizeof NOTE_SUFFIX);

    if (name != NULL) {
        memcpy(name, csv_path, bytes);
        memcpy(name + bytes, NOTE_SUFFIX, sizeof NOTE_SUFFIX);
    }
    return name;
}

/* Creates the note as a new file, replacing an existing one. Returns 0 or PROBITY_ERROR_WRITE. */
static int write_note(int directory, const char *name, const char *why)
{
    struct iovec parts[] = {{(void *)(uintptr_t)why, strlen(why)}, {(void *)(uintptr_t)"\n", 1}};
    ssize_t bytes = (ssize_t)(parts[0].iov_len + parts[1].iov_len);

    unlinkat(directory, name, 0);
    int file = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file < 0)
        return PROBITY_ERROR_WRITE;
    int is_written = writev(file, parts, 2) == bytes;
    return close(file) == 0 && is_written ? 0 : PROBITY_ERROR_WRITE;
}

/* Renames the CSV file. If it is incomplete, the note exists as long as the file has its final
 * name. */
static int publish(const char *temporary, const struct probity_csv_job *job, const char *why)
{
    char *note = note_name(job->csv_name);
    int error = note == NULL ? PROBITY_ERROR_MEMORY : 0;

    if (error == 0 && why[0] != '\0')
        error = write_note(job->directory, note, why);
    if (error == 0 &&
        renameat(job->directory, temporary, job->directory, job->csv_name) != 0)
        error = PROBITY_ERROR_WRITE;
    if (error == 0 && why[0] == '\0') {
        int before = errno;
        unlinkat(job->directory, note, 0);
        errno = before;
    }
    free(note);
    return error;
}

/* ---- The CSV -----------------------------------------------------------------------------------
 */

/* Writes an unnamed file or, if that is not possible, one with a temporary name, and renames it. */
static int write_by_way_of(struct probity_reader *reader, char *temporary,
                           const struct probity_csv_job *job, char ret_why[PROBITY_CSV_WHY_BYTES])
{
    int is_unnamed, file = probity_temporary_open(job->directory, temporary, &is_unnamed);

    if (file < 0)
        return PROBITY_ERROR_OPEN;
    int error = copy_events(reader, file);
    if (error == 0 && is_unnamed && probity_temporary_keep(file, job->directory, temporary) != 0)
        error = PROBITY_ERROR_WRITE;
    int kept_errno = errno;
    if (close(file) != 0 && error == 0) { /* some file systems report a full disk only here */
        error = PROBITY_ERROR_WRITE;
        kept_errno = errno;
    }
    /* Includes damage that is detected only when a block is read. */
    if (probity_trace_is_complete(probity_reader_facts(reader, 0), ret_why, PROBITY_CSV_WHY_BYTES))
        ret_why[0] = '\0';
    if (error == 0) {
        error = publish(temporary, job, ret_why);
        kept_errno = errno;
    }
    if (error != 0)
        unlinkat(job->directory, temporary, 0);
    errno = kept_errno;
    return error;
}

int probity_csv_write_file(const struct probity_csv_job *job, char ret_why[PROBITY_CSV_WHY_BYTES])
{
    struct probity_reader *reader;
    char *temporary = probity_temporary_name(job->csv_name);

    if (temporary == NULL)
        return PROBITY_ERROR_MEMORY;
    int error = probity_reader_open(&job->trace_path, 1, NULL, NULL, &reader);
    if (error == 0) {
        const struct probity_trace_facts *facts = probity_reader_facts(reader, 0);
        int is_it = facts->device == job->device && facts->inode == job->inode;
        error = is_it ? write_by_way_of(reader, temporary, job, ret_why) : PROBITY_ERROR_OPEN;
        if (error == 0 && ret_why[0] != '\0')
            error = PROBITY_ERROR_DAMAGED;
        int error_number = is_it ? errno : ESTALE;
        probity_reader_close(reader);
        errno = error_number;
    }
    free(temporary);
    return error;
}
