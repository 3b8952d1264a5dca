/* SPDX-License-Identifier: MIT
 *
 * hist_csv.h: histograms as lines for spreadsheets and scripts, as in RFC 4180.
 */
#ifndef PROBITY_OUTPUT_HIST_CSV_H
#define PROBITY_OUTPUT_HIST_CSV_H

#include "output/hist_text.h"

/* A line of names, then one for each row of each histogram. Bounds are ns. Errors of writing stay
 * in the stream. */
void probity_hist_csv(FILE *stream, const struct probity_hist_answer *answer);

#endif
