/* SPDX-License-Identifier: MIT
 *
 * blocks_csv.h: blocks as CSV (RFC 4180).
 */
#ifndef PROBITY_ANSWERS_BLOCKS_BLOCKS_CSV_H
#define PROBITY_ANSWERS_BLOCKS_BLOCKS_CSV_H

#include "answers/blocks/blocks_text.h"

/* A header line, then one line for each block, followed by its rows by thread; or, if the slowest
 * are shown, one line for each instance. Times are ns; instances start in CLOCK_REALTIME; unknown
 * values are empty. The caller checks the stream for errors. */
void probity_blocks_csv(FILE *stream, const struct probity_blocks_answer *answer);

#endif
