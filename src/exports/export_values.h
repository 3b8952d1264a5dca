/* SPDX-License-Identifier: MIT
 *
 * export_values.h: recorded values for formats with typed numbers, and names for unnamed values.
 */
#ifndef PROBITY_EXPORTS_EXPORT_VALUES_H
#define PROBITY_EXPORTS_EXPORT_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "print/values.h"

enum export_value_type {
    EXPORT_VALUE_SIGNED,
    EXPORT_VALUE_UNSIGNED,
    EXPORT_VALUE_REAL,
    EXPORT_VALUE_BOOL,
    EXPORT_VALUE_POINTER,
    EXPORT_VALUE_TEXT /* everything else, as text from probity_value_put() */
};

struct export_value {
    enum export_value_type type;
    uint64_t number; /* 64 bits, also for signed values */
    double real;
};

/* Converts a value to a type that the format can store. */
struct export_value export_value_of(const struct probity_value_view *view);

/* Writes the text of a message: its concatenated values. */
char *export_message_put(char *at, const char *end, const struct probity_event *event);

#endif
