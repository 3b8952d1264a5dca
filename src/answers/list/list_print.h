/* SPDX-License-Identifier: MIT
 *
 * list_print.h: sites and their hit counts as text, CSV and JSON.
 */
#ifndef PROBITY_ANSWERS_LIST_LIST_PRINT_H
#define PROBITY_ANSWERS_LIST_LIST_PRINT_H

#include <stdio.h>

#include "answers/list/coverage.h"
#include "print/columns.h"

/* Sorted sites and their traces: the input of all output formats. */
struct probity_list_answer {
    const struct probity_reader *reader;
    const struct probity_coverage_site *const *sites;
    size_t count;
    size_t limit; /* number of sites to show; 0: all */
    int has_signatures; /* show known signatures instead of names */
    struct probity_coverage_total total; /* includes sites that are not in `sites` */
    uint64_t left_out;                   /* sites that did not fit in the programs' lists */
    size_t traces_without;               /* traces without a list */
};

size_t probity_list_shown(const struct probity_list_answer *answer);

/* Returns "function", "site" or "probe". */
const char *probity_list_kind(const struct probity_coverage_site *site);

/* Returns the share of listed sites that were hit, in percent, or 0 if none are listed. */
double probity_list_percent(const struct probity_list_answer *answer);

enum {
    PROBITY_LIST_KIND,
    PROBITY_LIST_NUMBER,
    PROBITY_LIST_NAME,
    PROBITY_LIST_SIGNATURE,
    PROBITY_LIST_FILE,
    PROBITY_LIST_LINE,
    PROBITY_LIST_WITHIN,
    PROBITY_LIST_OBJECT,
    PROBITY_LIST_LEVEL,
    PROBITY_LIST_PLACES,
    PROBITY_LIST_LISTED,
    PROBITY_LIST_HITS,
    PROBITY_LIST_COUNTED,
    PROBITY_LIST_ARE_LEAST,
    PROBITY_LIST_CSV_COLUMNS, /* the columns above, in order */
    PROBITY_LIST_JSON_LINE = PROBITY_LIST_CSV_COLUMNS,
    PROBITY_LIST_JSON_PLACES,
    PROBITY_LIST_COLUMNS
};

/* Each row is a struct probity_coverage_site. */
extern const struct probity_column probity_list_columns[PROBITY_LIST_COLUMNS];

/* Prints a line for each site, the total, then whether the traces are complete. line_columns:
 * terminal width, or 0. The caller checks the stream for errors. */
void probity_list_text(FILE *stream, int has_color, size_t line_columns,
                       const struct probity_list_answer *answer);

/* Prints a header line, then one line for each site in order. The caller checks the stream for
 * errors. */
void probity_list_csv(FILE *stream, const struct probity_list_answer *answer);

/* Prints one object: traces, total, sites in order. Returns 0, PROBITY_ERROR_WRITE or
 * PROBITY_ERROR_MEMORY. */
int probity_list_json(FILE *stream, const struct probity_list_answer *answer);

#endif
