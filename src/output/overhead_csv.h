/* SPDX-License-Identifier: MIT
 *
 * overhead_csv.h: the runs without recording and with it, as lines for spreadsheets and scripts.
 */
#ifndef PROBITY_OUTPUT_OVERHEAD_CSV_H
#define PROBITY_OUTPUT_OVERHEAD_CSV_H

#include "output/overhead_text.h"

/* A line of names, then one for each run in the order in which they were made. Times are ns. Errors
 * of writing stay in the stream. */
void probity_overhead_csv(FILE *stream, const struct probity_overhead_answer *answer);

#endif
