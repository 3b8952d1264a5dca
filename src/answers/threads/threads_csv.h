/* SPDX-License-Identifier: MIT
 *
 * threads_csv.h: threads as CSV (RFC 4180).
 */
#ifndef PROBITY_ANSWERS_THREADS_THREADS_CSV_H
#define PROBITY_ANSWERS_THREADS_THREADS_CSV_H

#include "answers/threads/threads_text.h"

/* A header line, then one line for each thread. Times are ns, first and last in CLOCK_REALTIME;
 * unknown values are empty. The caller checks the stream for errors. */
void probity_threads_csv(FILE *stream, const struct probity_threads_answer *answer);

#endif
