/* SPDX-License-Identifier: MIT
 *
 * memory_columns.h: the columns of a row of memory, or of the sum of all, in CSV, and its members
 * in JSON.
 */
#ifndef PROBITY_ANSWERS_MEMORY_MEMORY_COLUMNS_H
#define PROBITY_ANSWERS_MEMORY_MEMORY_COLUMNS_H

#include "print/columns.h"

enum { PROBITY_MEMORY_COLUMNS = 9 };

/* Each row is a struct probity_memory_sums. */
extern const struct probity_column probity_memory_columns[PROBITY_MEMORY_COLUMNS];

#endif
