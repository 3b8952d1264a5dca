/* SPDX-License-Identifier: MIT
 *
 * diff_json.h: a comparison of runs, for programs. Needs libjansson.
 */
#ifndef PROBITY_OUTPUT_DIFF_JSON_H
#define PROBITY_OUTPUT_DIFF_JSON_H

#include <stdio.h>

#include "analysis/compare.h"
#include "output/diff_text.h"

/* One object: how was tested, the runs, what they differ in, limits, and functions in their order
 * with each value of each run. Times are ns. Of the layout, only what is shown counts. Returns 0,
 * PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE. */
int probity_diff_json(FILE *stream, const struct probity_diff_layout *layout,
                      const struct probity_compare *compare);

#endif
