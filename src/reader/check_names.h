/* SPDX-License-Identifier: MIT
 *
 * check_names.h: checks that a trace declares the sites and formats that its records refer to, no
 * later than their use.
 */
#ifndef PROBITY_READER_CHECK_NAMES_H
#define PROBITY_READER_CHECK_NAMES_H

#include "format/stream.h"

struct probity_check_name;

/* Indexed by number. */
struct probity_check_table {
    struct probity_check_name *names;
    uint32_t capacity;
};

struct probity_check_names {
    struct probity_check_table sites, formats;
};

/* Takes a record of the block at `offset`, in any order. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_check_names_take(struct probity_check_names *names,
                             const struct probity_record *record, uint64_t offset);

/* Takes a row of a PROFILE block, which may precede the declaration. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_check_names_take_row(struct probity_check_names *names, uint32_t site,
                                 uint64_t offset);

/* Calls `report` for each number that is used before it is declared or, if all must be declared,
 * never declared, with the offset of the block of its first use. `slack`: by how many ticks a
 * declaration may be later, because threads read their clocks out of order. */
void probity_check_names_judge(const struct probity_check_names *names, uint64_t slack, int all,
                               void (*report)(void *context, uint64_t offset, const char *text),
                               void *context);

void probity_check_names_release(struct probity_check_names *names);

#endif
