/* SPDX-License-Identifier: MIT
 *
 * diff_csv.h: a comparison of runs as comma-separated values.
 */
#ifndef PROBITY_ANSWERS_DIFF_DIFF_CSV_H
#define PROBITY_ANSWERS_DIFF_DIFF_CSV_H

#include <stdio.h>

#include "answers/diff/compare.h"
#include "answers/diff/diff_text.h"

/* A header line, then one line per statistic of each function and block. Times are ns; unknown
 * values are empty. The caller checks the stream for errors. */
void probity_diff_csv(FILE *stream, const struct probity_diff_layout *layout,
                      const struct probity_compare *compare);

#endif
