/* SPDX-License-Identifier: MIT
 *
 * runs.h: the history of runs: a list, or all that it holds of some. Texts come from traced
 * programs and are shown without what a terminal would obey.
 */
#ifndef PROBITY_OUTPUT_RUNS_H
#define PROBITY_OUTPUT_RUNS_H

#include <stdio.h>

#include "store/store.h"

enum probity_runs_form { PROBITY_RUNS_TEXT, PROBITY_RUNS_JSON, PROBITY_RUNS_CSV };

/* Runs in their order. */
struct probity_runs {
    const struct probity_store_entry *entries;
    size_t count;
};

/* A line for each run; JSON: {"runs": [...]}. Times are ns, what is not known is empty or null.
 * Returns 0, PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE; errors of text and CSV may stay in the
 * stream. */
int probity_runs_list(FILE *stream, enum probity_runs_form form, const struct probity_runs *runs);

/* All of each run, with functions and blocks, which must be loaded. Likewise; CSV: a line for each
 * function and block. */
int probity_runs_show(FILE *stream, enum probity_runs_form form, const struct probity_runs *runs);

#endif
