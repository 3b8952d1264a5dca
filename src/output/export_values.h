/* SPDX-License-Identifier: MIT
 *
 * export_values.h: recorded values for formats that have numbers of their own, and names of what is
 * not named.
 */
#ifndef PROBITY_OUTPUT_EXPORT_VALUES_H
#define PROBITY_OUTPUT_EXPORT_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "output/values.h"

enum export_value_type {
    EXPORT_VALUE_SIGNED,
    EXPORT_VALUE_UNSIGNED,
    EXPORT_VALUE_REAL,
    EXPORT_VALUE_BOOL,
    EXPORT_VALUE_POINTER,
    EXPORT_VALUE_TEXT /* all else: probity_value_put() shows it */
};

struct export_value {
    enum export_value_type type;
    uint64_t number; /* of a signed one, its 64 bits */
    double real;
};

/* What a format can store of a value. */
struct export_value export_value_of(const struct probity_value_view *view);

/* Puts the text of a message: its values one after the other. */
char *export_message_put(char *at, const char *end, const struct probity_event *event);

#endif
