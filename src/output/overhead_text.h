/* SPDX-License-Identifier: MIT
 *
 * overhead_text.h: what recording adds to a program, for people.
 */
#ifndef PROBITY_OUTPUT_OVERHEAD_TEXT_H
#define PROBITY_OUTPUT_OVERHEAD_TEXT_H

#include <stdio.h>

#include "analysis/overhead.h"

struct probity_overhead_answer {
    char **program;   /* with its arguments, ended by NULL */
    const char *base; /* run in its place without recording; NULL: the program itself */
    int is_profile;
    const struct probity_overhead_pair *pairs;
    size_t count;
    struct probity_overhead overhead;
};

/* "wall", "cpu". */
const char *probity_overhead_time_name(enum probity_overhead_time which);

/* Errors of writing stay in the stream. */
void probity_overhead_text(FILE *stream, int has_colour,
                           const struct probity_overhead_answer *answer);

#endif
