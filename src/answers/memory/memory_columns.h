/* SPDX-License-Identifier: MIT
 *
 * memory_columns.h: the figures of a row of memory, or of all, as columns of CSV and members of
 * JSON.
 */
#ifndef PROBITY_ANSWERS_MEMORY_MEMORY_COLUMNS_H
#define PROBITY_ANSWERS_MEMORY_MEMORY_COLUMNS_H

#include "print/columns.h"

enum { PROBITY_MEMORY_COLUMNS = 9 };

/* Of a struct probity_memory_sums. */
extern const struct probity_column probity_memory_columns[PROBITY_MEMORY_COLUMNS];

#endif
