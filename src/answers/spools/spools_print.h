/* SPDX-License-Identifier: MIT
 *
 * spools_print.h: the list of `probity spools` as a text table and as JSON.
 */
#ifndef PROBITY_ANSWERS_SPOOLS_SPOOLS_PRINT_H
#define PROBITY_ANSWERS_SPOOLS_SPOOLS_PRINT_H

#include <stdio.h>

#include "print/columns.h"
#include "reader/spools.h"

struct probity_spools_row {
    const struct probity_spools_entry *entry;
    int64_t age_ns; /* at least 0 */
};

/* In the order of the JSON. */
enum {
    PROBITY_SPOOLS_PATH,
    PROBITY_SPOOLS_UID,
    PROBITY_SPOOLS_BYTES,
    PROBITY_SPOOLS_AGE,
    PROBITY_SPOOLS_STATE,
    PROBITY_SPOOLS_PID,
    PROBITY_SPOOLS_PROGRAM,
    PROBITY_SPOOLS_TRACE,
    PROBITY_SPOOLS_TRACE_STATE,
    PROBITY_SPOOLS_RECORDS,
    PROBITY_SPOOLS_FUNCTIONS,
    PROBITY_SPOOLS_COLUMNS
};

/* Each row is a struct probity_spools_row. */
extern const struct probity_column probity_spools_columns[PROBITY_SPOOLS_COLUMNS];

/* now_ns: since 1970. */
struct probity_spools_row probity_spools_row_of(const struct probity_spools_entry *entry,
                                                int64_t now_ns);

/* Whether the spool was left by a program that has ended. */
int probity_spools_is_left(const struct probity_spools_entry *entry);

/* now_ns: since 1970. The caller checks the stream for errors. */
void probity_spools_text(FILE *stream, const struct probity_spools *spools, int64_t now_ns);

/* Prints one object. Returns 0, PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE. */
int probity_spools_json(FILE *stream, const struct probity_spools *spools, int64_t now_ns);

#endif
