/* SPDX-License-Identifier: MIT
 *
 * runs.h: the history of runs: a list, or the full contents of some. Texts come from traced
 * programs and are printed without terminal control characters.
 */
#ifndef PROBITY_ANSWERS_RUNS_RUNS_H
#define PROBITY_ANSWERS_RUNS_RUNS_H

#include <stdio.h>

#include "store/store.h"

enum probity_runs_form { PROBITY_RUNS_TEXT, PROBITY_RUNS_JSON, PROBITY_RUNS_CSV };

/* Runs in order. */
struct probity_runs {
    const struct probity_store_entry *entries;
    size_t count;
};

/* A line for each run; JSON: {"runs": [...]}. Times are ns, unknown values are empty or null.
 * Returns 0, PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE; write errors of text and CSV may stay in
 * the stream. */
int probity_runs_list(FILE *stream, enum probity_runs_form form, const struct probity_runs *runs);

/* The full contents of each run, with functions and blocks, which must be loaded; in CSV a line for
 * each function and block. Returns as above. */
int probity_runs_show(FILE *stream, enum probity_runs_form form, const struct probity_runs *runs);

#endif
