/* SPDX-License-Identifier: MIT
 *
 * why_print.h: prints why calls were slow, as text of one screen each, and as JSON.
 */
#ifndef PROBITY_ANSWERS_WHY_WHY_PRINT_H
#define PROBITY_ANSWERS_WHY_WHY_PRINT_H

#include <stdio.h>

#include "answers/why/why.h"
#include "answers/why/why_dump.h"

/* Slow calls and their traces: the input of all output formats. */
struct probity_why_answer {
    const struct probity_reader *reader;
    const struct probity_why *why;
    const char *span; /* name of the spans between probes; NULL: calls of functions */
    const struct probity_why_dump *dump; /* why the dump was made; NULL: not requested */
};

/* Returns "running", "lock", "condition", "io", "sleep", "process", "waiting-for-cpu", "blocked",
 * "off-cpu" or "unknown". */
const char *probity_why_part_name(enum probity_why_part part);

/* Returns "none", "lock", "condition", "io", "sleep", "process", "descheduled", "blocked",
 * "off-cpu", "more-work" or "more-calls". */
const char *probity_why_cause_name(enum probity_why_cause_kind kind);

/* Prints one sentence that names the cause. */
void probity_why_sentence(FILE *stream, const struct probity_why_answer *answer,
                          const struct probity_why_case *of,
                          const struct probity_why_cause *cause);

/* Prints the case, its parts, the differences, its critical path and the sentence; then what is
 * missing, repairs, and whether the traces are complete. The caller checks the stream for
 * errors. */
void probity_why_text(FILE *stream, int has_color, const struct probity_why_answer *answer);

/* Prints one object: traces, repairs, what is missing, and the calls, slowest first. Times are ns.
 * Returns 0, PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE. */
int probity_why_json(FILE *stream, const struct probity_why_answer *answer);

#endif
