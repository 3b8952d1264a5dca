/* SPDX-License-Identifier: MIT
 *
 * list_csv.h: sites and their hit counts as CSV.
 */
#ifndef PROBITY_ANSWERS_LIST_LIST_CSV_H
#define PROBITY_ANSWERS_LIST_LIST_CSV_H

#include "answers/list/list_text.h"

/* A header line, then one line for each site in order. The caller checks the stream for errors. */
void probity_list_csv(FILE *stream, const struct probity_list_answer *answer);

#endif
