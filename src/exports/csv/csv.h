/* SPDX-License-Identifier: MIT
 *
 * csv.h: hits as comma-separated values. Depends only on libc and the reader, because the library
 * also uses it, to write the CSV file that a program has requested.
 */
#ifndef PROBITY_EXPORTS_CSV_CSV_H
#define PROBITY_EXPORTS_CSV_CSV_H

#include <stddef.h>

#include "reader/reader.h"

enum probity_csv_column {
    PROBITY_CSV_PID,
    PROBITY_CSV_TID,
    PROBITY_CSV_PROBE, /* a probe's number or a site's name */
    PROBITY_CSV_NAME,  /* the name of the probe or site, may be empty */
    PROBITY_CSV_CPU_S,
    PROBITY_CSV_CPU_NS,
    PROBITY_CSV_WALL_S,
    PROBITY_CSV_WALL_NS,
    PROBITY_CSV_CPU,    /* seconds.nanoseconds */
    PROBITY_CSV_WALL,   /* seconds.nanoseconds */
    PROBITY_CSV_TICK,
    PROBITY_CSV_THREAD, /* the thread's number within its trace */
    PROBITY_CSV_ROLE, /* for a hit with ids, in words; else empty */
    PROBITY_CSV_CORRELATION,
    PROBITY_CSV_OBJECT,
    PROBITY_CSV_PLACE,
    PROBITY_CSV_COLUMNS
};

enum { PROBITY_CSV_COLUMNS_MAX = 32 };

struct probity_csv_layout {
    size_t count; /* 0: the standard columns pid,tid,probe,cpu_s,cpu_ns,wall_s,wall_ns */
    enum probity_csv_column columns[PROBITY_CSV_COLUMNS_MAX];
    int header; /* 1: begin with a line of column names */
};

struct probity_csv;

/* Returns the name of a column, as used in lists of columns. */
const char *probity_csv_column_name(enum probity_csv_column column);

/* Parses a list such as "pid,tid,name". Returns 0, or PROBITY_ERROR_ARGUMENT with *ret_bad (may be
 * NULL) at the invalid column. */
int probity_csv_layout_parse(const char *text, struct probity_csv_layout *ret_layout,
                             const char **ret_bad);

/* Starts output to an open descriptor, which the caller keeps owning. layout may be NULL. Returns 0
 * or PROBITY_ERROR_MEMORY. */
int probity_csv_open(int descriptor, const struct probity_csv_layout *layout,
                     struct probity_csv **ret_csv);

/* Adds the line of a hit; ignores other events. Returns 0 or PROBITY_ERROR_WRITE (errno set). */
int probity_csv_put(struct probity_csv *csv, const struct probity_event *event);

/* Writes buffered lines. Returns the same as probity_csv_put(). */
int probity_csv_flush(struct probity_csv *csv);

void probity_csv_close(struct probity_csv *csv);

/* A trace to be converted to a CSV file in the same directory. */
struct probity_csv_job {
    int directory;          /* directory of both files, as an open descriptor */
    const char *trace_path; /* path of the trace */
    const char *csv_name;   /* name of the CSV file in the directory */
    uint64_t device, inode; /* of the trace: the file that is opened must be this one */
};

enum { PROBITY_CSV_WHY_BYTES = 256 };

/* In csv_file.c. Writes the CSV under a temporary name and renames it: csv_name is never a partial
 * file. Returns 0; PROBITY_ERROR_DAMAGED if everything readable was written but records are
 * missing: then ret_why and a file named csv_name with ".incomplete" appended give the reason; a
 * later complete CSV removes that file; PROBITY_ERROR_OPEN (errno ESTALE if the path leads to
 * another file), PROBITY_ERROR_WRITE or an error of probity_reader_open(), without a CSV. */
int probity_csv_write_file(const struct probity_csv_job *job, char ret_why[PROBITY_CSV_WHY_BYTES]);

#endif
