/* SPDX-License-Identifier: MIT
 *
 * timeline_text.h: a timeline as text, one line for each thread, and as JSON.
 */
#ifndef PROBITY_ANSWERS_TIMELINE_TIMELINE_TEXT_H
#define PROBITY_ANSWERS_TIMELINE_TIMELINE_TEXT_H

#include <stdio.h>

#include "answers/timeline/timeline.h"

struct probity_timeline_answer {
    const struct probity_reader *reader;
    const struct probity_timeline *timeline;
    size_t columns; /* width of the line; in JSON: number of time columns */
    size_t threads_max; /* number of threads to show; 0: all */
    int is_cpu;     /* show shades of CPU time instead of letters */
    int is_utf8, has_color;
    uint64_t profiled; /* calls of profile mode, which have no times */
};

/* Prints a line for each thread, a legend of the letters, and whether the traces are complete.
 * Returns 0 or PROBITY_ERROR_MEMORY; the caller checks the stream for errors. */
int probity_timeline_text(FILE *stream, const struct probity_timeline_answer *answer);

/* Prints the same as one JSON object. In src/answers/timeline/timeline_json.c. */
int probity_timeline_json(FILE *stream, const struct probity_timeline_answer *answer);

/* Returns the number of threads of the list to show, and the number of omitted threads with
 * records. */
size_t probity_timeline_shown(const struct probity_timeline_answer *answer, size_t *ret_left_out);

/* Returns the function's name, "site-7" (in ret_text) if its declaration is lost, or the name or
 * number of a probe. */
const char *probity_timeline_label(const struct probity_timeline_name *name, char ret_text[32]);

#endif
