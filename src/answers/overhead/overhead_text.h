/* SPDX-License-Identifier: MIT
 *
 * overhead_text.h: recording overhead as text.
 */
#ifndef PROBITY_ANSWERS_OVERHEAD_OVERHEAD_TEXT_H
#define PROBITY_ANSWERS_OVERHEAD_OVERHEAD_TEXT_H

#include <stdio.h>

#include "answers/overhead/overhead.h"

struct probity_overhead_answer {
    char **program;   /* with its arguments; NULL-terminated */
    const char *base; /* what runs without recording; NULL: the program itself */
    int is_profile;
    const struct probity_overhead_pair *pairs;
    size_t count;
    struct probity_overhead overhead;
};

/* "wall", "cpu". */
const char *probity_overhead_time_name(enum probity_overhead_time which);

/* The caller checks the stream for errors. */
void probity_overhead_text(FILE *stream, int has_colour,
                           const struct probity_overhead_answer *answer);

#endif
