/* SPDX-License-Identifier: MIT
 *
 * path_columns.h: the columns of a part of a critical path in CSV and its members in JSON.
 */
#ifndef PROBITY_ANSWERS_PATH_PATH_COLUMNS_H
#define PROBITY_ANSWERS_PATH_PATH_COLUMNS_H

#include "answers/path/path.h"
#include "print/columns.h"

struct probity_path_row {
    const struct probity_path_span *span;
    const struct probity_path_part *part;
};

enum { PROBITY_PATH_COLUMNS = 5 };

/* Each row is a struct probity_path_row. */
extern const struct probity_column probity_path_columns[PROBITY_PATH_COLUMNS];

#endif
