/* SPDX-License-Identifier: MIT
 *
 * values.h: formats recorded values (doc/trace-format.md, "Values") as text. Pure functions on
 * memory, which the library also uses. All input is untrusted: nothing beyond an event's values is
 * read, and the output is one line of valid UTF-8 without terminal control sequences.
 */
#ifndef PROBITY_PRINT_VALUES_H
#define PROBITY_PRINT_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "reader/reader.h"

/* Large enough for the text of any value or name in one event. */
enum { PROBITY_VALUE_TEXT_MAX = 32 << 10 };

enum probity_value_style {
    PROBITY_VALUE_QUOTED = 1, /* for parameters and results: "text", 'c' */
    PROBITY_VALUE_RAW = 2     /* for messages and labels: what std::cout would print */
};

/* One value of an event. */
struct probity_value_view {
    uint32_t type;     /* an enum probity_value_type, or an unknown type */
    const char *text;  /* the expression as written in the source */
    const uint8_t *at; /* its bytes */
    size_t bytes;
    int is_cut; /* the event ends within the value */
};

/* Iterates over an event's values. Start with next = 0, and the event's `at` and `end`. */
struct probity_value_walk {
    const struct probity_format *format;
    size_t next;
    const uint8_t *at, *end;
};

struct probity_value_walk probity_value_walk_of(const struct probity_event *event);

/* Returns 1 with the next value, or 0 after the last. After a value that is truncated or of an
 * unknown type, all values count as truncated. */
int probity_value_walk_next(struct probity_value_walk *walk, struct probity_value_view *ret_view);

/* Writes a value as text, truncated if it does not fit. Returns the end of the text, at most
 * `end`. */
char *probity_value_put(char *at, const char *end, const struct probity_value_view *view,
                        enum probity_value_style style);

#endif
