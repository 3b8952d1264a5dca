/* SPDX-License-Identifier: MIT
 *
 * blocks_json.h: blocks, for programs. Needs libjansson.
 */
#ifndef PROBITY_OUTPUT_BLOCKS_JSON_H
#define PROBITY_OUTPUT_BLOCKS_JSON_H

#include "output/blocks_text.h"

/* One object: the traces, and blocks in their order. Times are ns, that of the slowest of
 * CLOCK_REALTIME; what is not known is null. Returns 0, PROBITY_ERROR_MEMORY or
 * PROBITY_ERROR_WRITE. */
int probity_blocks_json(FILE *stream, const struct probity_blocks_answer *answer);

#endif
