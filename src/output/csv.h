/* SPDX-License-Identifier: MIT
 *
 * csv.h: hits as lines of comma-separated values. Depends on libc and the reader only: it is part
 * of the library too, which makes the CSV of a program that asked for one.
 */
#ifndef PROBITY_OUTPUT_CSV_H
#define PROBITY_OUTPUT_CSV_H

#include <stddef.h>

#include "reader/reader.h"

enum probity_csv_column {
    PROBITY_CSV_PID,
    PROBITY_CSV_TID,
    PROBITY_CSV_PROBE, /* a probe's number or a site's name */
    PROBITY_CSV_NAME,  /* the name of either, empty without */
    PROBITY_CSV_CPU_S,
    PROBITY_CSV_CPU_NS,
    PROBITY_CSV_WALL_S,
    PROBITY_CSV_WALL_NS,
    PROBITY_CSV_CPU,    /* seconds.nanoseconds */
    PROBITY_CSV_WALL,   /* likewise */
    PROBITY_CSV_TICK,
    PROBITY_CSV_THREAD, /* the thread's number within its trace */
    PROBITY_CSV_ROLE, /* of a hit with ids, in words; empty without */
    PROBITY_CSV_CORRELATION,
    PROBITY_CSV_OBJECT,
    PROBITY_CSV_COLUMNS
};

enum { PROBITY_CSV_COLUMNS_MAX = 32 };

struct probity_csv_layout {
    size_t count; /* 0: pid,tid,probe,cpu_s,cpu_ns,wall_s,wall_ns */
    enum probity_csv_column columns[PROBITY_CSV_COLUMNS_MAX];
    int header; /* 1: names of the columns first */
};

struct probity_csv;

/* Reads a list as "pid,tid,name". Returns 0, or PROBITY_ERROR_ARGUMENT with *ret_bad (may be NULL)
 * at what is no column. */
int probity_csv_layout_parse(const char *text, struct probity_csv_layout *ret_layout,
                             const char **ret_bad);

/* Starts output to an open descriptor, which stays the caller's. layout may be NULL. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_csv_open(int descriptor, const struct probity_csv_layout *layout,
                     struct probity_csv **ret_csv);

/* Puts the line of a hit; other events are passed over. Returns 0 or PROBITY_ERROR_WRITE (errno
 * set). */
int probity_csv_put(struct probity_csv *csv, const struct probity_event *event);

/* Writes what is buffered. Returns as put. */
int probity_csv_flush(struct probity_csv *csv);

void probity_csv_close(struct probity_csv *csv);

/* In csv_file.c. Makes csv_path out of a whole trace, by way of a temporary name: what stands under
 * csv_path is never half a file. Returns 0; PROBITY_ERROR_DAMAGED where all that can be read was
 * written, but it is not all; PROBITY_ERROR_OPEN, PROBITY_ERROR_WRITE and the errors of
 * probity_reader_open(), with nothing left behind. */
int probity_csv_write_file(const char *trace_path, const char *csv_path);

#endif
