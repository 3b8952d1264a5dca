/* SPDX-License-Identifier: MIT
 *
 * diff_csv.h: a comparison of runs as comma-separated values.
 */
#ifndef PROBITY_ANSWERS_DIFF_DIFF_CSV_H
#define PROBITY_ANSWERS_DIFF_DIFF_CSV_H

#include <stdio.h>

#include "answers/diff/compare.h"
#include "answers/diff/diff_text.h"

/* A header line, then one line for each statistic of each function. Times are ns; unknown values
 * are empty. Write errors stay in the stream. */
void probity_diff_csv(FILE *stream, const struct probity_diff_layout *layout,
                      const struct probity_compare *compare);

#endif
