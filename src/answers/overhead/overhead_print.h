/* SPDX-License-Identifier: MIT
 *
 * overhead_print.h: recording overhead as text, CSV and JSON.
 */
#ifndef PROBITY_ANSWERS_OVERHEAD_OVERHEAD_PRINT_H
#define PROBITY_ANSWERS_OVERHEAD_OVERHEAD_PRINT_H

#include <stdio.h>

#include "answers/overhead/overhead.h"

struct probity_overhead_answer {
    char **program;   /* with its arguments; NULL-terminated */
    const char *base; /* the program to run without recording; NULL: the same program */
    int is_profile;
    const struct probity_overhead_pair *pairs;
    size_t count;
    struct probity_overhead overhead;
};

/* Returns "wall" or "cpu". */
const char *probity_overhead_time_name(enum probity_overhead_time which);

/* The caller checks the stream for errors. */
void probity_overhead_text(FILE *stream, int has_color,
                           const struct probity_overhead_answer *answer);

/* Prints a header line, then one line per run in the order of the runs; an idle run follows each
 * pair. Times are ns. The caller checks the stream for errors. */
void probity_overhead_csv(FILE *stream, const struct probity_overhead_answer *answer);

/* Prints one object: medians and slowdowns, then all pairs. Returns 0 or PROBITY_ERROR_MEMORY; the
 * caller checks the stream for errors. */
int probity_overhead_json(FILE *stream, const struct probity_overhead_answer *answer);

#endif
