/* SPDX-License-Identifier: MIT
 *
 * hist_text.h: histograms as text bars.
 */
#ifndef PROBITY_ANSWERS_HIST_HIST_TEXT_H
#define PROBITY_ANSWERS_HIST_HIST_TEXT_H

#include <stdio.h>

#include "analysis/scopes.h"
#include "answers/hist/hist.h"

/* One histogram, of a function or of a block. */
struct probity_hist_entry {
    char *name;       /* a function, or "FROM -> TO" */
    const char *file; /* NULL if unknown, or for a block */
    uint32_t line;
    uint64_t calls; /* includes calls without the measured time */
    uint64_t counted; /* part of them: PROBITY_BUDGET has only counted them */
    int is_least;     /* there were more: it had the function's hooks removed */
    double error;   /* relative error of the values */
    struct probity_hist hist;
};

/* Histograms in order and their traces, for all output formats. */
struct probity_hist_answer {
    const struct probity_reader *reader;
    const struct probity_scopes_repairs *repairs;
    const struct probity_hist_entry *entries;
    size_t count;
    const char *measure;    /* "total", "cpu-self" ... as in JSON */
    const char *title;      /* as in text: "wall time of one call" */
    int is_linear, is_utf8; /* utf8: draw bars with block characters instead of # */
    size_t columns;         /* of a line */
};

/* A bar for each row, then whether the traces are complete. The caller checks the stream for
 * errors. */
void probity_hist_text(FILE *stream, int has_colour, const struct probity_hist_answer *answer);

#endif
