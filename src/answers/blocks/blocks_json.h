/* SPDX-License-Identifier: MIT
 *
 * blocks_json.h: blocks as JSON. Needs libjansson.
 */
#ifndef PROBITY_ANSWERS_BLOCKS_BLOCKS_JSON_H
#define PROBITY_ANSWERS_BLOCKS_BLOCKS_JSON_H

#include "answers/blocks/blocks_text.h"

/* One object: the traces, and the blocks in order. Times are ns; the slowest instances start in
 * CLOCK_REALTIME; unknown values are null. Returns 0, PROBITY_ERROR_MEMORY or
 * PROBITY_ERROR_WRITE. */
int probity_blocks_json(FILE *stream, const struct probity_blocks_answer *answer);

#endif
