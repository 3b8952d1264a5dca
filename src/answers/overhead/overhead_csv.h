/* SPDX-License-Identifier: MIT
 *
 * overhead_csv.h: the runs with and without recording as CSV.
 */
#ifndef PROBITY_ANSWERS_OVERHEAD_OVERHEAD_CSV_H
#define PROBITY_ANSWERS_OVERHEAD_OVERHEAD_CSV_H

#include "answers/overhead/overhead_text.h"

/* A header line, then one line per run in the order in which they were made. Times are ns. The
 * caller checks the stream for errors. */
void probity_overhead_csv(FILE *stream, const struct probity_overhead_answer *answer);

#endif
