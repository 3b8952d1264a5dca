/* SPDX-License-Identifier: MIT
 *
 * blocks_text.h: blocks as a table, for people.
 */
#ifndef PROBITY_OUTPUT_BLOCKS_TEXT_H
#define PROBITY_OUTPUT_BLOCKS_TEXT_H

#include <stdio.h>

#include "analysis/blocks.h"

/* Blocks in their order, and whose traces they are of, for all ways to print them. */
struct probity_blocks_answer {
    const struct probity_reader *reader;
    const struct probity_blocks_pair *const *pairs;
    size_t count;
    size_t limit;      /* of blocks to show; 0: all */
    int has_slowest;   /* the slowest instances of each are shown */
    int are_chosen;    /* by their probes */
    int by_correlation;
    uint64_t forgotten; /* ids, by correlation */
    uint64_t start_ns; /* CLOCK_REALTIME: when recording began */
};

struct probity_blocks_layout {
    int has_colour;
    int is_corrected;    /* wall time less overhead beside that with it */
    size_t line_columns; /* of a terminal: columns that do not fit are left out; 0: all are there */
};

/* A probe, and in brackets the name that a number was given; in quotes a site's name that looks
 * like a number. */
void probity_blocks_put_probe(FILE *stream, const struct probity_probe *probe);

/* How many of the blocks are to be shown. */
size_t probity_blocks_shown(const struct probity_blocks_answer *answer);

/* A line for each block, with those of its threads and of its slowest instances, then whether the
 * traces are complete. Errors of writing stay in the stream. */
void probity_blocks_text(FILE *stream, const struct probity_blocks_layout *layout,
                         const struct probity_blocks_answer *answer);

#endif
