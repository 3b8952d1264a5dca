/* SPDX-License-Identifier: MIT
 *
 * hist_csv.h: histograms as CSV (RFC 4180).
 */
#ifndef PROBITY_ANSWERS_HIST_HIST_CSV_H
#define PROBITY_ANSWERS_HIST_HIST_CSV_H

#include "answers/hist/hist_text.h"

/* A header line, then one line for each row of each histogram. Bounds are ns. The caller checks the
 * stream for errors. */
void probity_hist_csv(FILE *stream, const struct probity_hist_answer *answer);

#endif
