/* SPDX-License-Identifier: MIT
 *
 * json.h: values in a JSON answer, written one by one, so that an answer with many rows is never in
 * memory twice. Needs libjansson.
 */
#ifndef PROBITY_PRINT_JSON_H
#define PROBITY_PRINT_JSON_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "print/columns.h"

/* Jansson's integers are signed, but no sum comes near their limit. */
static inline json_t *probity_json_integer(uint64_t value)
{
    return json_integer((json_int_t)(value > INT64_MAX ? INT64_MAX : value));
}

static inline void probity_json_put_integer(json_t *object, const char *name, uint64_t value)
{
    json_object_set_new(object, name, probity_json_integer(value));
}

/* A text from the traced program, truncated if too long, and with invalid UTF-8 replaced. */
json_t *probity_json_string(const char *text);
json_t *probity_json_bytes(const char *text, size_t length);

/* Writes a value like json_dumpf(), but escapes characters that must not reach a terminal (text.h);
 * Jansson escapes only those below 0x20. Returns 0 or -1. */
int probity_json_dump(json_t *value, FILE *stream, size_t flags);

/* Writes a text as above; NULL as null. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_json_put_text(FILE *stream, const char *text);

/* Writes a number in the same format as probity_json_write(), with at most `digits` digits. Returns
 * 0 or PROBITY_ERROR_MEMORY. */
int probity_json_put_real(FILE *stream, double value, unsigned digits);

/* Writes `before` and a value, of which it takes ownership; NULL: the caller ran out of memory.
 * digits: for numbers that are not integers. Returns 0, PROBITY_ERROR_MEMORY or
 * PROBITY_ERROR_WRITE. */
int probity_json_write(FILE *stream, const char *before, json_t *value, unsigned digits);

/* Adds the members of a row to an object, in the format of probity_columns_put_json() and with the
 * same number of digits. */
void probity_columns_set_json(json_t *object, const struct probity_column *columns, size_t count,
                              const void *row);

#endif
