/* SPDX-License-Identifier: MIT
 *
 * threads_csv.h: threads as lines for spreadsheets and scripts, as in RFC 4180.
 */
#ifndef PROBITY_OUTPUT_THREADS_CSV_H
#define PROBITY_OUTPUT_THREADS_CSV_H

#include "output/threads_text.h"

/* A line of names, then one for each thread. Times are ns, first and last of CLOCK_REALTIME; what
 * is not known is empty. Errors of writing stay in the stream. */
void probity_threads_csv(FILE *stream, const struct probity_threads_answer *answer);

#endif
