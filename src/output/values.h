/* SPDX-License-Identifier: MIT
 *
 * values.h: recorded values (doc/trace-format.md, "Values") to text. Pure functions on memory; part
 * of the library too. Every byte is hostile: nothing is read behind an event's values, and what
 * comes out is one line of valid UTF-8 without anything that a terminal would obey.
 */
#ifndef PROBITY_OUTPUT_VALUES_H
#define PROBITY_OUTPUT_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "reader/reader.h"

/* Room in which the text of any value or name of one event fits, whatever its bytes. */
enum { PROBITY_VALUE_TEXT_MAX = 32 << 10 };

enum probity_value_style {
    PROBITY_VALUE_QUOTED = 1, /* of parameters and results: "text", 'c' */
    PROBITY_VALUE_RAW = 2     /* of messages and labels: as std::cout would print it */
};

/* One value within its event. */
struct probity_value_view {
    uint32_t type;     /* an enum probity_value_type, or not known */
    const char *text;  /* of it in the source */
    const uint8_t *at; /* its bytes */
    size_t bytes;
    int is_cut; /* the event ends before it does */
};

/* Goes over the values of an event. Start it with next 0 and `at` and `end` those of the event. */
struct probity_value_walk {
    const struct probity_format *format;
    size_t next;
    const uint8_t *at, *end;
};

struct probity_value_walk probity_value_walk_of(const struct probity_event *event);

/* Returns 1 with the next value, or 0 behind the last. Behind a value that is cut or of an unknown
 * type, all are cut. */
int probity_value_walk_next(struct probity_value_walk *walk, struct probity_value_view *ret_view);

/* Puts the text of a value. Returns its end, which is never behind `end`: a text that does not fit
 * is cut there. */
char *probity_value_put(char *at, const char *end, const struct probity_value_view *view,
                        enum probity_value_style style);

#endif
