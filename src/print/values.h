/* SPDX-License-Identifier: MIT
 *
 * values.h: formats recorded values (doc/trace-format.md, "Values") as text. Pure functions on
 * memory, used by the library too. All input is untrusted: nothing is read past an event's values,
 * and the output is one line of valid UTF-8 without terminal control sequences.
 */
#ifndef PROBITY_PRINT_VALUES_H
#define PROBITY_PRINT_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "reader/reader.h"

/* Enough room for the text of any value or name of one event. */
enum { PROBITY_VALUE_TEXT_MAX = 32 << 10 };

enum probity_value_style {
    PROBITY_VALUE_QUOTED = 1, /* of parameters and results: "text", 'c' */
    PROBITY_VALUE_RAW = 2     /* of messages and labels: as std::cout would print it */
};

/* One value of an event. */
struct probity_value_view {
    uint32_t type;     /* an enum probity_value_type, or an unknown one */
    const char *text;  /* its text in the source */
    const uint8_t *at; /* its bytes */
    size_t bytes;
    int is_cut; /* the event ends before the value does */
};

/* Iterates over the values of an event. Start with next = 0 and with `at` and `end` of the
 * event. */
struct probity_value_walk {
    const struct probity_format *format;
    size_t next;
    const uint8_t *at, *end;
};

struct probity_value_walk probity_value_walk_of(const struct probity_event *event);

/* Returns 1 with the next value, or 0 after the last. After a value that is truncated or of an
 * unknown type, all following ones are truncated. */
int probity_value_walk_next(struct probity_value_walk *walk, struct probity_value_view *ret_view);

/* Writes the text of a value. Returns its end, which is never after `end`: a text that does not fit
 * is truncated. */
char *probity_value_put(char *at, const char *end, const struct probity_value_view *view,
                        enum probity_value_style style);

#endif
