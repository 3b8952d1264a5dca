/* SPDX-License-Identifier: MIT
 *
 * waits_csv.h: what threads waited for, as CSV (RFC 4180).
 */
#ifndef PROBITY_ANSWERS_WAITS_WAITS_CSV_H
#define PROBITY_ANSWERS_WAITS_WAITS_CSV_H

#include "answers/waits/waits_text.h"

/* A header line, then one line for each row, with the holder that accounts for most of it. Times
 * are ns; unknown values are empty. The caller checks the stream for errors. */
void probity_waits_csv(FILE *stream, const struct probity_waits_answer *answer);

#endif
