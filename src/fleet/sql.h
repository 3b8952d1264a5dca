/* SPDX-License-Identifier: MIT
 *
 * sql.h: statements for ClickHouse. Text is added to a statement only by probity_fleet_sql_text(),
 * which escapes every byte that could end a literal. Does no I/O.
 */
#ifndef PROBITY_FLEET_SQL_H
#define PROBITY_FLEET_SQL_H

#include <stdint.h>
#include <stdio.h>

/* The runs that a command selects. */
struct probity_fleet_choice {
    const char *host, *executable, *label, *build; /* NULL: any */
    uint64_t from_ns, to_ns; /* runs with a record in [from, to); to 0: no end */
    uint64_t run;            /* only the run with this number; 0: any */
};

/* Writes text as a string literal. */
void probity_fleet_sql_text(FILE *stream, const char *text);

/* Writes a condition on the columns of probity_runs. */
void probity_fleet_sql_choice(FILE *stream, const struct probity_fleet_choice *choice);

/* Writes a statement for the latest rows of the selected runs, or only for their numbers (`run`).
 * Replies to the former are read by probity_fleet_run_get(). */
void probity_fleet_sql_runs(FILE *stream, const struct probity_fleet_choice *choice);
void probity_fleet_sql_run_numbers(FILE *stream, const struct probity_fleet_choice *choice);

#endif
