/* SPDX-License-Identifier: MIT
 *
 * tool/json.c: jansson.h. Writes the same bytes as Jansson 2.14, so that answers are the same on
 * all systems.
 */
#include "base/windows/tool/jansson.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REAL_DIGITS = 17, NUMBER_BYTES = 64, FIRST_ROOM = 8 };

enum kind { OBJECT, ARRAY, STRING, INTEGER, REAL, TRUE_VALUE, FALSE_VALUE, NULL_VALUE };

struct member {
    char *name; /* name of an object's member; NULL in arrays */
    json_t *value;
};

struct probity_json {
    enum kind kind;
    size_t count, room; /* number of members, or bytes of the text */
    union {
        struct member *members;
        char *text;
        json_int_t integer;
        double real;
    } is;
};

static struct {
    void *(*allocate)(size_t);
    void (*release)(void *);
} memory = {malloc, free};

void json_set_alloc_funcs(void *(*allocate)(size_t), void (*release)(void *))
{
    memory.allocate = allocate;
    memory.release = release;
}

/* ---- Making ------------------------------------------------------------------------------------
 */

static json_t *make(enum kind kind)
{
    json_t *value = memory.allocate(sizeof *value);

    if (value != NULL) {
        memset(value, 0, sizeof *value);
        value->kind = kind;
    }
    return value;
}

json_t *json_object(void)
{
    return make(OBJECT);
}

json_t *json_array(void)
{
    return make(ARRAY);
}

json_t *json_boolean(int value)
{
    return make(value ? TRUE_VALUE : FALSE_VALUE);
}

json_t *json_null(void)
{
    return make(NULL_VALUE);
}

json_t *json_integer(json_int_t value)
{
    json_t *made = make(INTEGER);

    if (made != NULL)
        made->is.integer = value;
    return made;
}

json_t *json_real(double value)
{
    json_t *made = isfinite(value) ? make(REAL) : NULL;

    if (made != NULL)
        made->is.real = value;
    return made;
}

/* Returns the number of bytes of the character; 0 if it is not UTF-8. */
static size_t character(const unsigned char *at, size_t left)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t bytes = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    uint32_t code = bytes > 1 ? at[0] & (0xffu >> (bytes + 1)) : at[0];

    if (at[0] > 0xf4 || bytes > left)
        return 0;
    for (size_t i = 1; i < bytes; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (at[i] & 0x3f);
    }
    return code >= least[bytes] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? bytes
                                                                                         : 0;
}

static char *copy(const char *text, size_t bytes)
{
    char *made = memory.allocate(bytes + 1);

    if (made != NULL) {
        memcpy(made, text, bytes);
        made[bytes] = 0;
    }
    return made;
}

json_t *json_stringn(const char *text, size_t bytes)
{
    const unsigned char *at = (const unsigned char *)text;

    for (size_t i = 0, length; i < bytes; i += length) {
        length = character(at + i, bytes - i);
        if (length == 0)
            return NULL;
    }
    json_t *made = make(STRING);
    if (made == NULL)
        return NULL;
    made->is.text = copy(text, bytes);
    made->count = bytes;
    if (made->is.text == NULL) {
        json_decref(made);
        return NULL;
    }
    return made;
}

json_t *json_string(const char *text)
{
    return text != NULL ? json_stringn(text, strlen(text)) : NULL;
}

static struct member *find(const json_t *object, const char *name)
{
    for (size_t i = 0; i < object->count; i++) {
        if (strcmp(object->is.members[i].name, name) == 0)
            return &object->is.members[i];
    }
    return NULL;
}

json_t *json_object_get(const json_t *object, const char *name)
{
    const struct member *member = object != NULL && object->kind == OBJECT ? find(object, name)
                                                                           : NULL;

    return member != NULL ? member->value : NULL;
}

/* Returns 0 or -1. */
static int make_room(json_t *value)
{
    if (value->count < value->room)
        return 0;
    size_t room = value->room > 0 ? 2 * value->room : FIRST_ROOM;
    struct member *members = memory.allocate(room * sizeof *members);
    if (members == NULL)
        return -1;
    if (value->count > 0)
        memcpy(members, value->is.members, value->count * sizeof *members);
    memory.release(value->is.members);
    value->is.members = members;
    value->room = room;
    return 0;
}

/* Takes ownership of the value. */
static int append(json_t *to, const char *name, json_t *value)
{
    char *own = name != NULL ? copy(name, strlen(name)) : NULL;

    if (value == NULL || (name != NULL && own == NULL) || make_room(to) != 0) {
        memory.release(own);
        json_decref(value);
        return -1;
    }
    to->is.members[to->count++] = (struct member){own, value};
    return 0;
}

int json_object_set_new(json_t *object, const char *name, json_t *value)
{
    if (object == NULL || object->kind != OBJECT || value == NULL) {
        json_decref(value);
        return -1;
    }
    struct member *there = find(object, name);
    if (there == NULL)
        return append(object, name, value);
    json_decref(there->value);
    there->value = value;
    return 0;
}

int json_array_append_new(json_t *array, json_t *value)
{
    if (array == NULL || array->kind != ARRAY) {
        json_decref(value);
        return -1;
    }
    return append(array, NULL, value);
}

void json_decref(json_t *value)
{
    if (value == NULL)
        return;
    if (value->kind == STRING)
        memory.release(value->is.text);
    if (value->kind <= ARRAY) {
        for (size_t i = 0; i < value->count; i++) {
            memory.release(value->is.members[i].name);
            json_decref(value->is.members[i].value);
        }
        memory.release(value->is.members);
    }
    memory.release(value);
}

/* ---- Writing -----------------------------------------------------------------------------------
 */

struct output {
    json_dump_callback_t part;
    void *context;
    size_t indent;
    int digits, has_failed;
};

static void put_bytes(struct output *output, const char *text, size_t bytes)
{
    if (bytes > 0 && !output->has_failed)
        output->has_failed = output->part(text, bytes, output->context) != 0;
}

static void put_text(struct output *output, const char *text)
{
    put_bytes(output, text, strlen(text));
}

static void put_line(struct output *output, size_t depth, int is_between)
{
    if (output->indent == 0) {
        put_text(output, is_between ? " " : "");
        return;
    }
    put_text(output, "\n");
    for (size_t i = 0; i < depth * output->indent; i++)
        put_text(output, " ");
}

static void put_escape(struct output *output, unsigned char one)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *found = one != 0 ? strchr(plain, one) : NULL;
    char text[8];

    if (found != NULL)
        snprintf(text, sizeof text, "\\%c", letters[found - plain]);
    else
        snprintf(text, sizeof text, "\\u%04X", one);
    put_text(output, text);
}

static void put_string(struct output *output, const char *text, size_t bytes)
{
    size_t from = 0;

    put_text(output, "\"");
    for (size_t i = 0; i < bytes; i++) {
        unsigned char one = (unsigned char)text[i];
        if (one >= 0x20 && one != '"' && one != '\\')
            continue;
        put_bytes(output, text + from, i - from);
        put_escape(output, one);
        from = i + 1;
    }
    put_bytes(output, text + from, bytes - from);
    put_text(output, "\"");
}

/* Always recognizable as a real number; exponents have no plus sign and no leading zeros. */
static void put_real(struct output *output, double value)
{
    char text[NUMBER_BYTES], power[NUMBER_BYTES];

    snprintf(text, sizeof text, "%.*g", output->digits, value);
    char *exponent = strchr(text, 'e');
    if (exponent == NULL) {
        put_text(output, text);
        put_text(output, strchr(text, '.') != NULL ? "" : ".0");
        return;
    }
    snprintf(power, sizeof power, "e%d", atoi(exponent + 1));
    *exponent = 0;
    put_text(output, text);
    put_text(output, power);
}

static void put_integer(struct output *output, int64_t value)
{
    char text[NUMBER_BYTES];

    snprintf(text, sizeof text, "%" PRId64, value);
    put_text(output, text);
}

static void put(struct output *output, const json_t *value, size_t depth);

static void put_members(struct output *output, const json_t *value, size_t depth)
{
    const char *ends = value->kind == OBJECT ? "{}" : "[]";

    put_bytes(output, ends, 1);
    for (size_t i = 0; i < value->count; i++) {
        const struct member *member = &value->is.members[i];
        if (i > 0)
            put_text(output, ",");
        put_line(output, depth + 1, i > 0);
        if (member->name != NULL) {
            put_string(output, member->name, strlen(member->name));
            put_text(output, ": ");
        }
        put(output, member->value, depth + 1);
    }
    if (value->count > 0)
        put_line(output, depth, 0);
    put_bytes(output, ends + 1, 1);
}

static void put(struct output *output, const json_t *value, size_t depth)
{
    switch (value->kind) {
    case OBJECT:
    case ARRAY: put_members(output, value, depth); break;
    case STRING: put_string(output, value->is.text, value->count); break;
    case INTEGER: put_integer(output, value->is.integer); break;
    case REAL: put_real(output, value->is.real); break;
    case TRUE_VALUE: put_text(output, "true"); break;
    case FALSE_VALUE: put_text(output, "false"); break;
    case NULL_VALUE: put_text(output, "null"); break;
    }
}

int json_dump_callback(const json_t *value, json_dump_callback_t part, void *context, size_t flags)
{
    size_t digits = flags >> 11 & 31;
    struct output output = {part, context, flags & 31, digits > 0 ? (int)digits : REAL_DIGITS, 0};

    if (value == NULL || (value->kind > ARRAY && !(flags & JSON_ENCODE_ANY)))
        return -1;
    put(&output, value, 0);
    return output.has_failed ? -1 : 0;
}
