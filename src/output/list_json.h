/* SPDX-License-Identifier: MIT
 *
 * list_json.h: what is compiled in, hit or not, as JSON.
 */
#ifndef PROBITY_OUTPUT_LIST_JSON_H
#define PROBITY_OUTPUT_LIST_JSON_H

#include "output/list_text.h"

/* One object: traces, the total, sites in their order. Returns 0, PROBITY_ERROR_WRITE or
 * PROBITY_ERROR_MEMORY. */
int probity_list_json(FILE *stream, const struct probity_list_answer *answer);

#endif
