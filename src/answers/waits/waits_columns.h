/* SPDX-License-Identifier: MIT
 *
 * waits_columns.h: the columns of a row in CSV and its members in JSON.
 */
#ifndef PROBITY_ANSWERS_WAITS_WAITS_COLUMNS_H
#define PROBITY_ANSWERS_WAITS_WAITS_COLUMNS_H

#include "answers/waits/waiting.h"
#include "print/columns.h"

enum { PROBITY_WAITS_COLUMNS = 13 };

/* Each row is a struct probity_waiting_row. */
extern const struct probity_column probity_waits_columns[PROBITY_WAITS_COLUMNS];

#endif
