/* SPDX-License-Identifier: MIT
 *
 * suggest.h: suggests a selection for the next recording (see probity-functions(7)): the functions
 * without macros to exclude, so that recording takes little of the program's time. Excludes the
 * functions whose calls cost most relative to the time they show: those with many short calls.
 */
#ifndef PROBITY_ANSWERS_REPORT_SUGGEST_H
#define PROBITY_ANSWERS_REPORT_SUGGEST_H

#include <stdio.h>

#include "answers/report/report.h"

/* Prints the rules. Recording may add up to `percent` to the self times of all functions; its cost
 * must have been computed. If the traces lack that cost, sets *ret_is_known to 0 and prints
 * nothing. Returns 0 or PROBITY_ERROR_MEMORY; the caller checks the stream for errors. */
int probity_suggest(FILE *stream, const struct probity_reader *reader,
                    const struct probity_report_function *functions, size_t count, double percent,
                    int *ret_is_known);

#endif
