/* SPDX-License-Identifier: MIT
 *
 * list_text.h: sites and their hit counts as a text table.
 */
#ifndef PROBITY_ANSWERS_LIST_LIST_TEXT_H
#define PROBITY_ANSWERS_LIST_LIST_TEXT_H

#include <stdio.h>

#include "answers/list/coverage.h"

/* Sorted sites and their traces, for all output formats. */
struct probity_list_answer {
    const struct probity_reader *reader;
    const struct probity_coverage_site *const *sites;
    size_t count;
    size_t limit; /* number of sites to show; 0: all */
    int has_signatures; /* show signatures instead of names where known */
    struct probity_coverage_total total; /* includes sites that are not in `sites` */
    uint64_t left_out;                   /* sites that did not fit in the programs' lists */
    size_t traces_without;               /* traces without a list */
};

size_t probity_list_shown(const struct probity_list_answer *answer);

/* "function", "site" or "probe". */
const char *probity_list_kind(const struct probity_coverage_site *site);

/* Share of listed sites that were hit, in percent; 0 if none are listed. */
double probity_list_percent(const struct probity_list_answer *answer);

/* A line for each site, the total, then whether the traces are complete. line_columns: terminal
 * width, or 0. The caller checks the stream for errors. */
void probity_list_text(FILE *stream, int has_colour, size_t line_columns,
                       const struct probity_list_answer *answer);

#endif
