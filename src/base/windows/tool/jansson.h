/* SPDX-License-Identifier: MIT
 *
 * tool/jansson.h: the part of Jansson's interface that the tool uses, since mingw-w64 has no
 * package of it: creates and writes values, in the same form.
 */
#ifndef PROBITY_WINDOWS_JANSSON_H
#define PROBITY_WINDOWS_JANSSON_H

#include <stddef.h>
#include <stdint.h>

typedef struct probity_json json_t;
typedef int64_t json_int_t;

#define JSON_INDENT(columns) ((size_t)(columns) & 31)
#define JSON_REAL_PRECISION(digits) (((size_t)(digits) & 31) << 11)
#define JSON_ENCODE_ANY ((size_t)0x200)

void json_set_alloc_funcs(void *(*allocate)(size_t), void (*release)(void *));

/* Return NULL if out of memory. Texts must be UTF-8, and numbers finite; otherwise NULL. */
json_t *json_object(void);
json_t *json_array(void);
json_t *json_string(const char *text);
json_t *json_stringn(const char *text, size_t bytes);
json_t *json_integer(json_int_t value);
json_t *json_real(double value);
json_t *json_boolean(int value);
json_t *json_null(void);

/* Take ownership of the value, even if they fail, and return 0 or -1. A new value for a name
 * replaces the previous one, in the same place. */
int json_object_set_new(json_t *object, const char *name, json_t *value);
int json_array_append_new(json_t *array, json_t *value);

/* Returns the value of a name, or NULL; the object still owns it. */
json_t *json_object_get(const json_t *object, const char *name);

void json_decref(json_t *value);

/* Calls `part` with each part of the text, in whole characters, until it does not return 0. Returns
 * 0 or -1. */
typedef int (*json_dump_callback_t)(const char *text, size_t bytes, void *context);
int json_dump_callback(const json_t *value, json_dump_callback_t part, void *context, size_t flags);

#endif
