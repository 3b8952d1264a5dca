/* SPDX-License-Identifier: MIT
 *
 * values.h: describes the values shown for a parameter or a result: one for a number, one for each
 * member of a struct.
 */
#ifndef PROBITY_SYMBOLS_VALUES_H
#define PROBITY_SYMBOLS_VALUES_H

#include "symbols/description.h"
#include "symbols/passing.h"

/* Enumerators that are already in the description. */
struct symbols_enum {
    const void *at; /* identifies the type */
    uint32_t first, count;
};

struct symbols_values {
    struct symbols_description *description;
    struct symbols_enum *enums;
    size_t enum_count;
    uint32_t count; /* number of values of the current arguments or results; no more than the
                     * library accepts */
};

/* name: the parameter's name; "" for a result, whose members have only their own names. */
void symbols_values_add(struct symbols_values *values, const char *name,
                        const struct symbols_type *type, const struct symbols_passing *passing);

void symbols_values_release(struct symbols_values *values);

#endif
