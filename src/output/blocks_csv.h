/* SPDX-License-Identifier: MIT
 *
 * blocks_csv.h: blocks as lines for spreadsheets and scripts, as in RFC 4180.
 */
#ifndef PROBITY_OUTPUT_BLOCKS_CSV_H
#define PROBITY_OUTPUT_BLOCKS_CSV_H

#include "output/blocks_text.h"

/* A line of names, then one for each block, followed by those of its threads; or, where the slowest
 * are to be shown, one for each instance. Times are ns, those at which instances began of
 * CLOCK_REALTIME; what is not known is empty. Errors of writing stay in the stream. */
void probity_blocks_csv(FILE *stream, const struct probity_blocks_answer *answer);

#endif
