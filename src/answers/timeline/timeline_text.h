/* SPDX-License-Identifier: MIT
 *
 * timeline_text.h: a time line as text, one line for each thread; and as JSON.
 */
#ifndef PROBITY_ANSWERS_TIMELINE_TIMELINE_TEXT_H
#define PROBITY_ANSWERS_TIMELINE_TIMELINE_TEXT_H

#include <stdio.h>

#include "answers/timeline/timeline.h"

struct probity_timeline_answer {
    const struct probity_reader *reader;
    const struct probity_timeline *timeline;
    size_t columns; /* of the whole line; in JSON: number of time columns */
    int is_cpu;     /* shades of CPU time instead of letters of functions */
    int is_utf8, has_colour;
    uint64_t profiled; /* calls counted by profile mode, which have no time of day */
};

/* A line for each thread, a legend of the letters, and whether the traces are complete. Returns 0
 * or PROBITY_ERROR_MEMORY; write errors stay in the stream. */
int probity_timeline_text(FILE *stream, const struct probity_timeline_answer *answer);

/* The same as one JSON object, in src/answers/timeline/timeline_json.c. */
int probity_timeline_json(FILE *stream, const struct probity_timeline_answer *answer);

/* "parse", "site-7" if a declaration is lost, or a probe's number, in ret_text. */
const char *probity_timeline_label(const struct probity_timeline_name *name, char ret_text[32]);

#endif
