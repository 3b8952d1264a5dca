/* SPDX-License-Identifier: MIT
 *
 * blocks_print.h: blocks as text, CSV and JSON.
 */
#ifndef PROBITY_ANSWERS_BLOCKS_BLOCKS_PRINT_H
#define PROBITY_ANSWERS_BLOCKS_BLOCKS_PRINT_H

#include <stdio.h>

#include "answers/blocks/blocks.h"

/* Sorted blocks and their traces: the input of all output formats. */
struct probity_blocks_answer {
    const struct probity_reader *reader;
    const struct probity_blocks_pair *const *pairs;
    size_t count;
    size_t limit;      /* number of blocks to show; 0: all */
    int has_slowest;   /* show the slowest instances of each block */
    int are_chosen;    /* blocks were selected by probe */
    int by_correlation;
    uint64_t forgotten; /* ids evicted (by correlation) */
    uint64_t start_ns; /* CLOCK_REALTIME when recording started */
};

struct probity_blocks_layout {
    int has_color;
    int is_corrected;    /* also show wall time without overhead */
    size_t line_columns; /* terminal width: columns that do not fit are omitted; 0: no limit */
};

/* Writes a numbered probe with its name, if any, in parentheses, and a site by its name. A site
 * name that looks like a number is quoted. */
void probity_blocks_put_probe(FILE *stream, const struct probity_probe *probe);

/* Returns the number of rows that the limit permits. */
size_t probity_blocks_shown(const struct probity_blocks_answer *answer);

/* Prints a line for each block, with its rows by thread and its slowest instances, then whether the
 * traces are complete. The caller checks the stream for errors. */
void probity_blocks_text(FILE *stream, const struct probity_blocks_layout *layout,
                         const struct probity_blocks_answer *answer);

/* Prints a header line, then one line for each block, followed by its rows by thread; or, if the
 * slowest are shown, one line for each instance. Times are ns; start times are CLOCK_REALTIME;
 * unknown values are empty. The caller checks the stream for errors. */
void probity_blocks_csv(FILE *stream, const struct probity_blocks_answer *answer);

/* Prints one object: the traces, and the blocks in order. Times are ns; start times of the slowest
 * instances are CLOCK_REALTIME; unknown values are null. Returns 0, PROBITY_ERROR_MEMORY or
 * PROBITY_ERROR_WRITE. */
int probity_blocks_json(FILE *stream, const struct probity_blocks_answer *answer);

#endif
