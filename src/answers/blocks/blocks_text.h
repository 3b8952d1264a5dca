/* SPDX-License-Identifier: MIT
 *
 * blocks_text.h: blocks as a text table.
 */
#ifndef PROBITY_ANSWERS_BLOCKS_BLOCKS_TEXT_H
#define PROBITY_ANSWERS_BLOCKS_BLOCKS_TEXT_H

#include <stdio.h>

#include "answers/blocks/blocks.h"

/* Sorted blocks and their traces, for all output formats. */
struct probity_blocks_answer {
    const struct probity_reader *reader;
    const struct probity_blocks_pair *const *pairs;
    size_t count;
    size_t limit;      /* number of blocks to show; 0: all */
    int has_slowest;   /* show the slowest instances of each */
    int are_chosen;    /* selected by their probes */
    int by_correlation;
    uint64_t forgotten; /* ids evicted, by correlation */
    uint64_t start_ns; /* CLOCK_REALTIME at the start of recording */
};

struct probity_blocks_layout {
    int has_colour;
    int is_corrected;    /* also show wall time without overhead */
    size_t line_columns; /* of the terminal: columns that do not fit are left out; 0: no limit */
};

/* Writes a probe, followed by its name in parentheses if it is numbered and named; a site's name
 * that looks like a number is quoted. */
void probity_blocks_put_probe(FILE *stream, const struct probity_probe *probe);

/* Number of blocks to show. */
size_t probity_blocks_shown(const struct probity_blocks_answer *answer);

/* A line for each block, with those of its threads and its slowest instances, then whether the
 * traces are complete. Write errors stay in the stream. */
void probity_blocks_text(FILE *stream, const struct probity_blocks_layout *layout,
                         const struct probity_blocks_answer *answer);

#endif
