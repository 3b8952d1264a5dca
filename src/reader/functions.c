/* SPDX-License-Identifier: MIT
 *
 * functions.c: declarations of functions and formats, copied out of hostile bytes. Memory is
 * bounded by the declarations in the trace. Pure memory; no thread but the reader's.
 */
#include "reader/functions.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/scatter.h"
#include "probity.h"

enum { FUNCTION_FIXED_BYTES = 12, FUNCTION_TEXTS = 5, FORMAT_FIXED_BYTES = 10 };
enum { FLAG_CXX = 1, FLAG_DEFERRED = 2 };

/* A function with its texts behind it, in one piece. */
struct probity_function_item {
    struct probity_function_item *next;
    struct probity_function function;
    char texts[];
};

int probity_function_is_whole(const uint8_t *payload, size_t bytes)
{
    size_t at = FUNCTION_FIXED_BYTES;

    for (int text = 0; text < FUNCTION_TEXTS; text++) {
        if (bytes < at + 2)
            return 0;
        at += 2 + (size_t)probity_get_u16(payload + at);
    }
    /* The leave of the last number of all would have none. */
    return at <= bytes && probity_get_u32(payload) != UINT32_MAX;
}

int probity_format_is_whole(const uint8_t *payload, size_t bytes)
{
    size_t at = FORMAT_FIXED_BYTES;

    if (bytes < at)
        return 0;
    for (unsigned left = probity_get_u16(payload + 8); left > 0; left--) {
        if (bytes < at + 4)
            return 0;
        at += 4 + (size_t)probity_get_u16(payload + at + 2);
    }
    return at <= bytes;
}

/* Copies a text of u16 length to *to, ended by a zero. Returns the byte behind it. */
static const uint8_t *take_text(const uint8_t *at, char **to, const char **ret_text)
{
    size_t length = probity_get_u16(at);

    memcpy(*to, at + 2, length);
    (*to)[length] = '\0';
    *ret_text = *to;
    *to += length + 1;
    return at + 2 + length;
}

int probity_functions_declare(struct probity_functions *functions, struct probity_names *names,
                              uint32_t trace, const uint8_t *payload, size_t bytes)
{
    if (!probity_function_is_whole(payload, bytes))
        return 0;
    uint32_t number = probity_get_u32(payload);
    uint64_t code = 2 * (uint64_t)number + 1;
    if (probity_names_find(names, code) != NULL || probity_names_find(names, code + 2) != NULL)
        return 0;
    struct probity_function_item *item = malloc(sizeof *item + bytes);
    if (item == NULL)
        return PROBITY_ERROR_MEMORY;
    struct probity_function *function = &item->function;
    unsigned flags = payload[9];
    *function = (struct probity_function){.trace = trace, .number = number,
                                          .line = probity_get_u32(payload + 4),
                                          .level = payload[8],
                                          .is_cxx = (flags & FLAG_CXX) != 0,
                                          .is_deferred = (flags & FLAG_DEFERRED) != 0};
    const char **const texts[FUNCTION_TEXTS] = {&function->name, &function->file,
                                                &function->signature, &function->returns,
                                                &function->object};
    const uint8_t *at = payload + FUNCTION_FIXED_BYTES;
    char *to = item->texts;
    for (int text = 0; text < FUNCTION_TEXTS; text++)
        at = take_text(at, &to, texts[text]);
    item->next = functions->list;
    functions->list = item;
    int error = probity_names_set_function(names, code, function);
    return error != 0 ? error : probity_names_set_function(names, code + 2, function);
}

/* ---- Formats -----------------------------------------------------------------------------------
 */

static size_t place_of(const struct probity_functions *functions, uint32_t number)
{
    size_t mask = functions->capacity - 1;
    size_t place = (size_t)probity_scatter(number) & mask;

    while (functions->places[place] != NULL && functions->places[place]->number != number)
        place = (place + 1) & mask;
    return place;
}

static int grow(struct probity_functions *functions)
{
    struct probity_functions larger = *functions;

    larger.capacity = functions->capacity > 0 ? 2 * functions->capacity : 64;
    larger.places = calloc(larger.capacity, sizeof *larger.places);
    if (larger.places == NULL)
        return PROBITY_ERROR_MEMORY;
    for (size_t i = 0; i < functions->capacity; i++) {
        if (functions->places[i] != NULL)
            larger.places[place_of(&larger, functions->places[i]->number)] = functions->places[i];
    }
    free(functions->places);
    *functions = larger;
    return 0;
}

/* One piece of memory: the format, its values, their texts. */
static struct probity_format *copy_format(const uint8_t *payload, size_t bytes)
{
    size_t count = probity_get_u16(payload + 8);
    struct probity_format *format;
    size_t fixed = sizeof *format + count * sizeof *format->values;

    format = malloc(fixed + bytes);
    if (format == NULL)
        return NULL;
    struct probity_format_value *values = (struct probity_format_value *)(format + 1);
    char *to = (char *)format + fixed;
    const uint8_t *at = payload + FORMAT_FIXED_BYTES;
    for (size_t i = 0; i < count; i++) {
        values[i].type = at[0];
        at = take_text(at + 2, &to, &values[i].text);
    }
    *format = (struct probity_format){probity_get_u32(payload), probity_get_u32(payload + 4), count,
                                      values};
    return format;
}

int probity_functions_declare_format(struct probity_functions *functions, const uint8_t *payload,
                                     size_t bytes)
{
    if (!probity_format_is_whole(payload, bytes))
        return 0;
    if (2 * functions->count >= functions->capacity && grow(functions) != 0)
        return PROBITY_ERROR_MEMORY;
    struct probity_format **place =
        &functions->places[place_of(functions, probity_get_u32(payload))];
    if (*place != NULL)
        return 0;
    *place = copy_format(payload, bytes);
    functions->count += *place != NULL;
    return *place != NULL ? 0 : PROBITY_ERROR_MEMORY;
}

const struct probity_format *
probity_functions_format(const struct probity_functions *functions, uint32_t number)
{
    return functions->count > 0 ? functions->places[place_of(functions, number)] : NULL;
}

void probity_functions_release(struct probity_functions *functions)
{
    struct probity_function_item *item;

    while ((item = functions->list) != NULL) {
        functions->list = item->next;
        free(item);
    }
    for (size_t i = 0; i < functions->capacity; i++)
        free(functions->places[i]);
    free(functions->places);
    *functions = (struct probity_functions){0};
}
