/* SPDX-License-Identifier: MIT
 *
 * waits_columns.h: the figures of a row, as columns of CSV and members of JSON.
 */
#ifndef PROBITY_ANSWERS_WAITS_WAITS_COLUMNS_H
#define PROBITY_ANSWERS_WAITS_WAITS_COLUMNS_H

#include "answers/waits/waiting.h"
#include "print/columns.h"

enum { PROBITY_WAITS_COLUMNS = 13 };

/* Of a struct probity_waiting_row. */
extern const struct probity_column probity_waits_columns[PROBITY_WAITS_COLUMNS];

#endif
