/* SPDX-License-Identifier: MIT
 *
 * blocks_columns.h: the columns of a block in CSV and its members in JSON.
 */
#ifndef PROBITY_ANSWERS_BLOCKS_BLOCKS_COLUMNS_H
#define PROBITY_ANSWERS_BLOCKS_BLOCKS_COLUMNS_H

#include "answers/blocks/blocks.h"
#include "print/columns.h"

struct probity_blocks_row {
    const struct probity_blocks_pair *pair;
    const struct probity_reader *reader;
};

enum { PROBITY_BLOCKS_COLUMNS = 11, PROBITY_BLOCKS_CORRECTED_COLUMNS = 2 };

/* Each row is a struct probity_blocks_row. Times are ns. */
extern const struct probity_column probity_blocks_columns[PROBITY_BLOCKS_COLUMNS];

/* Wall time minus the recording overhead, and its error. */
extern const struct probity_column
    probity_blocks_corrected_columns[PROBITY_BLOCKS_CORRECTED_COLUMNS];

#endif
