/* SPDX-License-Identifier: MIT
 *
 * json.h: values of a JSON answer, and how its parts are written one by one: an answer of very many
 * rows never is in memory twice. Needs libjansson.
 */
#ifndef PROBITY_OUTPUT_JSON_H
#define PROBITY_OUTPUT_JSON_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

/* JSON has no unsigned 64 bits. Nothing that is summed up comes near. */
static inline json_t *probity_json_integer(uint64_t value)
{
    return json_integer((json_int_t)(value > INT64_MAX ? INT64_MAX : value));
}

static inline void probity_json_put_integer(json_t *object, const char *name, uint64_t value)
{
    json_object_set_new(object, name, probity_json_integer(value));
}

/* A text of the traced program. Bytes of one that is no UTF-8 are replaced, and it is cut. */
json_t *probity_json_string(const char *text);
json_t *probity_json_bytes(const char *text, size_t length);

/* Writes a value behind a text; takes the value, and NULL is one that there was no memory for.
 * digits: of numbers that are not whole. Returns 0, PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE. */
int probity_json_write(FILE *stream, const char *before, json_t *value, unsigned digits);

#endif
