/* SPDX-License-Identifier: MIT
 *
 * timeline_text.h: a time line as lines of characters, a line for each thread; and as JSON.
 */
#ifndef PROBITY_OUTPUT_TIMELINE_TEXT_H
#define PROBITY_OUTPUT_TIMELINE_TEXT_H

#include <stdio.h>

#include "analysis/timeline.h"

struct probity_timeline_answer {
    const struct probity_reader *reader;
    const struct probity_timeline *timeline;
    size_t columns; /* of the whole line; of JSON: of time */
    int is_cpu;     /* shades of the time on the CPU, in place of letters of functions */
    int is_utf8, has_colour;
    uint64_t profiled; /* calls counted in profile mode, which have no times of day */
};

/* A line for each thread, what the letters mean, and whether the traces are complete. Returns 0 or
 * PROBITY_ERROR_MEMORY; errors of writing stay in the stream. */
int probity_timeline_text(FILE *stream, const struct probity_timeline_answer *answer);

/* One object. Likewise; in src/output/timeline_json.c. */
int probity_timeline_json(FILE *stream, const struct probity_timeline_answer *answer);

/* "parse", "site-7" where a declaration is lost, or a probe's number, in ret_text. */
const char *probity_timeline_label(const struct probity_timeline_name *name, char ret_text[32]);

#endif
