/* SPDX-License-Identifier: MIT
 *
 * diff_csv.h: a comparison of runs as comma-separated values.
 */
#ifndef PROBITY_OUTPUT_DIFF_CSV_H
#define PROBITY_OUTPUT_DIFF_CSV_H

#include <stdio.h>

#include "analysis/compare.h"
#include "output/diff_text.h"

/* A line of names, then one for each statistic of each function. Times are ns; what is not known is
 * empty. Errors of writing stay in the stream. */
void probity_diff_csv(FILE *stream, const struct probity_diff_layout *layout,
                      const struct probity_compare *compare);

#endif
