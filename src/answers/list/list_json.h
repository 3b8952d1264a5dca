/* SPDX-License-Identifier: MIT
 *
 * list_json.h: sites and their hit counts as JSON.
 */
#ifndef PROBITY_ANSWERS_LIST_LIST_JSON_H
#define PROBITY_ANSWERS_LIST_LIST_JSON_H

#include "answers/list/list_text.h"

/* One object: traces, total, sites in order. Returns 0, PROBITY_ERROR_WRITE or
 * PROBITY_ERROR_MEMORY. */
int probity_list_json(FILE *stream, const struct probity_list_answer *answer);

#endif
