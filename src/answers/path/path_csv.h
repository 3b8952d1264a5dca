/* SPDX-License-Identifier: MIT
 *
 * path_csv.h: critical paths as CSV (RFC 4180).
 */
#ifndef PROBITY_ANSWERS_PATH_PATH_CSV_H
#define PROBITY_ANSWERS_PATH_PATH_CSV_H

#include "answers/path/path_text.h"

/* A header line, then one line for each part, with the number of its span and the innermost wait.
 * Times are ns; unknown values are empty. The caller checks the stream for errors. */
void probity_path_csv(FILE *stream, const struct probity_path_answer *answer);

#endif
