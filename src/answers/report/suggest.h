/* SPDX-License-Identifier: MIT
 *
 * suggest.h: a selection for the next recording (see probity-functions(7)): which functions without
 * macros to leave out, so that recording takes little of the program's time. Those are left out
 * whose calls cost most relative to the time they show: those with many short calls.
 */
#ifndef PROBITY_ANSWERS_REPORT_SUGGEST_H
#define PROBITY_ANSWERS_REPORT_SUGGEST_H

#include <stdio.h>

#include "answers/report/report.h"

/* Prints the rules. The cost of recording must have been computed; it may add up to `percent` of
 * the self times of all functions without it. Sets *ret_is_known to 0 and prints nothing if the
 * traces do not have that cost. Returns 0 or PROBITY_ERROR_MEMORY; write errors stay in the
 * stream. */
int probity_suggest(FILE *stream, const struct probity_reader *reader,
                    const struct probity_report_function *functions, size_t count, double percent,
                    int *ret_is_known);

#endif
