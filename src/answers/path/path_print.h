/* SPDX-License-Identifier: MIT
 *
 * path_print.h: critical paths as text, CSV and JSON.
 */
#ifndef PROBITY_ANSWERS_PATH_PATH_PRINT_H
#define PROBITY_ANSWERS_PATH_PATH_PRINT_H

#include <stdio.h>

#include "answers/path/path.h"

/* Paths and their traces: the input of all output formats. */
struct probity_path_answer {
    const struct probity_reader *reader;
    const struct probity_path *path;
    const char *what; /* kind of span: "request", "call", "span" */
};

/* Returns the error of the time of a part between two traces; UINT64_MAX: unknown. */
uint64_t probity_path_wire_error(const struct probity_path_answer *answer,
                                 const struct probity_path_part *part);

/* Returns "running", "runnable", "blocked", "wake-up"; "wire"; "off-cpu", "waiting"; "unknown". */
const char *probity_path_state_name(enum probity_path_state state);

/* Prints for each span a line, a line with its sums by state if known, and a line for each part;
 * then limits, repairs, and whether the traces are complete. The caller checks the stream for
 * errors. */
void probity_path_text(FILE *stream, int has_color, const struct probity_path_answer *answer);

/* Prints a header line, then one line for each part, with the number of its span and the innermost
 * wait. Times are ns; unknown values are empty. The caller checks the stream for errors. */
void probity_path_csv(FILE *stream, const struct probity_path_answer *answer);

/* Prints one object: the traces, the repairs, what is missing, and the spans with their parts.
 * Times are ns; points in time are CLOCK_REALTIME; unknown values are null. Returns 0,
 * PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE. */
int probity_path_json(FILE *stream, const struct probity_path_answer *answer);

#endif
