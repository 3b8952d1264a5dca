/* SPDX-License-Identifier: MIT
 *
 * list_csv.h: what is compiled in, hit or not, as CSV.
 */
#ifndef PROBITY_OUTPUT_LIST_CSV_H
#define PROBITY_OUTPUT_LIST_CSV_H

#include "output/list_text.h"

/* A line of names, then one for each site in their order. Errors of writing stay in the stream. */
void probity_list_csv(FILE *stream, const struct probity_list_answer *answer);

#endif
