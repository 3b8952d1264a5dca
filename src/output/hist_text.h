/* SPDX-License-Identifier: MIT
 *
 * hist_text.h: histograms as bars, for people.
 */
#ifndef PROBITY_OUTPUT_HIST_TEXT_H
#define PROBITY_OUTPUT_HIST_TEXT_H

#include <stdio.h>

#include "analysis/hist.h"
#include "analysis/scopes.h"

/* One histogram, of a function or of a block. */
struct probity_hist_entry {
    char *name;       /* a function, or "FROM -> TO" */
    const char *file; /* NULL: lost, or of a block */
    uint32_t line;
    uint64_t calls; /* those without what is measured too */
    double error;   /* relative, of the values */
    struct probity_hist hist;
};

/* Histograms in their order, and whose traces they are of, for all ways to print them. */
struct probity_hist_answer {
    const struct probity_reader *reader;
    const struct probity_scopes_repairs *repairs;
    const struct probity_hist_entry *entries;
    size_t count;
    const char *measure;    /* "total", "cpu-self" ... as JSON has it */
    const char *title;      /* of people: "wall time of one call" */
    int is_linear, is_utf8; /* utf8: bars may be of block characters, else of # */
    size_t columns;         /* of a line */
};

/* A bar for each row, then whether the traces are complete. Errors of writing stay in the stream.
 */
void probity_hist_text(FILE *stream, int has_colour, const struct probity_hist_answer *answer);

#endif
