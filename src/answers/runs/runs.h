/* SPDX-License-Identifier: MIT
 *
 * runs.h: the history of runs, as a list, or the full contents of selected runs. Texts come from
 * traced programs, so control characters are escaped.
 */
#ifndef PROBITY_ANSWERS_RUNS_RUNS_H
#define PROBITY_ANSWERS_RUNS_RUNS_H

#include <stdio.h>

#include "store/store.h"

enum probity_runs_form { PROBITY_RUNS_TEXT, PROBITY_RUNS_JSON, PROBITY_RUNS_CSV };

/* Runs, in order. */
struct probity_runs {
    const struct probity_store_entry *entries;
    size_t count;
};

/* Prints a line for each run, or in JSON {"runs": [...]}. Times are ns; unknown values are empty or
 * null. Returns 0, PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE; for text and CSV the caller checks
 * the stream for errors. */
int probity_runs_list(FILE *stream, enum probity_runs_form form, const struct probity_runs *runs);

/* Prints everything about each run, with its functions and blocks, which must be loaded; in CSV, a
 * line for each of these. Returns the same as above. */
int probity_runs_show(FILE *stream, enum probity_runs_form form, const struct probity_runs *runs);

#endif
