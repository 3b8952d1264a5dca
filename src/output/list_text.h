/* SPDX-License-Identifier: MIT
 *
 * list_text.h: what is compiled in, hit or not, as a table for people.
 */
#ifndef PROBITY_OUTPUT_LIST_TEXT_H
#define PROBITY_OUTPUT_LIST_TEXT_H

#include <stdio.h>

#include "analysis/coverage.h"

/* Sites in their order, and whose traces they are of, for all ways to print them. */
struct probity_list_answer {
    const struct probity_reader *reader;
    const struct probity_coverage_site *const *sites;
    size_t count;
    size_t limit; /* of sites to show; 0: all */
    int has_signatures; /* instead of names, where they are known */
    struct probity_coverage_total total; /* also of what is not among `sites` */
    uint64_t left_out;                   /* that the programs had no room to list */
    size_t traces_without;               /* that list nothing */
};

size_t probity_list_shown(const struct probity_list_answer *answer);

/* "function", "site" or "probe". */
const char *probity_list_kind(const struct probity_coverage_site *site);

/* Hits of all that is listed, in percent. 0 where nothing is. */
double probity_list_percent(const struct probity_list_answer *answer);

/* A line for each site, the total, then whether the traces are complete. line_columns: of a
 * terminal, 0 without. Errors of writing stay in the stream. */
void probity_list_text(FILE *stream, int has_colour, size_t line_columns,
                       const struct probity_list_answer *answer);

#endif
