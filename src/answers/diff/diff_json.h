/* SPDX-License-Identifier: MIT
 *
 * diff_json.h: a comparison of runs as JSON. Needs libjansson.
 */
#ifndef PROBITY_ANSWERS_DIFF_DIFF_JSON_H
#define PROBITY_ANSWERS_DIFF_DIFF_JSON_H

#include <stdio.h>

#include "answers/diff/compare.h"
#include "answers/diff/diff_text.h"

/* One object: the test method, the runs, their differences, limits, and the rows in order with the
 * values of each run. Times are ns. Only the layout's selection of rows is used. Returns 0,
 * PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE. */
int probity_diff_json(FILE *stream, const struct probity_diff_layout *layout,
                      const struct probity_compare *compare);

#endif
