/* SPDX-License-Identifier: MIT
 *
 * functions.c: declarations of functions and formats, copied from untrusted bytes. Memory is
 * bounded by the declarations in the trace. No I/O; for the reader's thread only.
 */
#include "reader/functions.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "probity.h"

enum { FUNCTION_FIXED_BYTES = 12, FUNCTION_TEXTS = 5, FORMAT_FIXED_BYTES = 10 };
enum { FLAG_CXX = 1, FLAG_DEFERRED = 2, FLAG_ORDERED = 4, FLAG_ADDRESSED = 8,
       FLAG_ENTRIES = 16 };

/* A function followed by its texts, in one allocation. */
struct probity_function_item {
    struct probity_function_item *next;
    struct probity_function function;
    char *name, *signature; /* demangled, or NULL */
    char *file;             /* located, or NULL */
    const struct probity_text *executable;
    uint64_t address; /* address in its object; valid if has_address */
    int has_address;
    char texts[];
};

char *(*probity_functions_demangle)(const char *symbol, char **ret_name);
char *(*probity_functions_locate)(const char *object, const char *symbol, uint64_t address,
                                  uint32_t *ret_line);

int probity_function_is_whole(const uint8_t *payload, size_t bytes)
{
    size_t at = FUNCTION_FIXED_BYTES;

    for (int text = 0; text < FUNCTION_TEXTS; text++) {
        if (bytes < at + 2)
            return 0;
        at += 2 + (size_t)probity_get_u16(payload + at);
    }
    /* The highest number is invalid: there would be none for the leave. */
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

/* Copies a text of u16 length to *to, zero-terminated. Returns the address after it. */
static const uint8_t *take_text(const uint8_t *at, char **to, const char **ret_text)
{
    size_t length = probity_get_u16(at);

    probity_assert(to != NULL && *to != NULL);
    memcpy(*to, at + 2, length);
    (*to)[length] = '\0';
    *ret_text = *to;
    *to += length + 1;
    return at + 2 + length;
}

/* Demangles the symbol, which is stored as the signature, since it may be longer than a name. */
static void demangle(struct probity_function_item *item)
{
    if (probity_functions_demangle == NULL)
        return;
    item->signature = probity_functions_demangle(item->function.signature, &item->name);
    if (item->signature == NULL)
        return;
    item->function.name = item->name;
    item->function.name_bytes = (uint32_t)strlen(item->name);
    item->function.signature = item->signature;
    item->function.is_cxx = 1;
}

/* Finds the source place. A path may contain any byte except zero, but text from a trace may
 * contain zeros. */
static void locate(struct probity_function_item *item)
{
    const struct probity_text *executable = item->executable;
    struct probity_function *function = &item->function;
    char path[PATH_MAX];
    const char *object = function->object;
    uint32_t line;

    probity_assert(item->has_address);
    if (probity_functions_locate == NULL || executable == NULL)
        return;
    if (*object == '\0') {
        if (executable->length == 0 || executable->length >= sizeof path)
            return;
        memcpy(path, executable->bytes, executable->length);
        path[executable->length] = '\0';
        object = path;
    }
    item->file = probity_functions_locate(object, function->symbol, item->address, &line);
    if (item->file == NULL)
        return;
    function->file = item->file;
    function->line = line;
}

void probity_function_complete(struct probity_function_item *item)
{
    if (item->has_address)
        locate(item);
    demangle(item);
}

int probity_functions_declare(struct probity_functions *functions, struct probity_names *names,
                              uint32_t trace, const struct probity_text *executable,
                              const uint8_t *payload, size_t bytes)
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
                                          .is_deferred = (flags & FLAG_DEFERRED) != 0,
                                          .is_ordered = (flags & FLAG_ORDERED) != 0,
                                          .is_hooked = (flags & FLAG_ADDRESSED) != 0,
                                          .has_entries_only = (flags & FLAG_ENTRIES) != 0};
    const char **const texts[FUNCTION_TEXTS] = {&function->name, &function->file,
                                                &function->signature, &function->returns,
                                                &function->object};
    const uint8_t *at = payload + FUNCTION_FIXED_BYTES;
    char *to = item->texts;
    for (int text = 0; text < FUNCTION_TEXTS; text++)
        at = take_text(at, &to, texts[text]);
    probity_assert(at <= payload + bytes);
    probity_assert(to <= item->texts + bytes);
    function->recorded_file = function->file;
    function->name_bytes = (uint32_t)strlen(function->name);
    item->name = item->signature = item->file = NULL;
    item->executable = executable;
    item->has_address = at + 8 <= payload + bytes;
    item->address = item->has_address ? probity_get_u64(at) : 0;
    item->next = functions->list;
    functions->list = item;
    if (flags & FLAG_ADDRESSED) {
        function->symbol = *function->signature != '\0' ? function->signature : function->name;
        if (functions->declared == NULL)
            probity_function_complete(item);
    }
    int error = probity_names_set_function(names, code, function);
    if (error == 0)
        error = probity_names_set_function(names, code + 2, function);
    if ((flags & FLAG_ADDRESSED) && functions->declared != NULL)
        functions->declared(functions->context, item);
    return error;
}

/* ---- Formats -----------------------------------------------------------------------------------
 */

/* A format, followed by its values and their texts. */
struct format_item {
    struct probity_link link;
    struct probity_format format;
};

/* Copies a format, its values and their texts into one allocation. */
static struct format_item *copy_format(const uint8_t *payload, size_t bytes)
{
    size_t count = probity_get_u16(payload + 8);
    size_t fixed = sizeof(struct format_item) + count * sizeof(struct probity_format_value);
    struct format_item *item = malloc(fixed + bytes);

    if (item == NULL)
        return NULL;
    struct probity_format_value *values = (struct probity_format_value *)(item + 1);
    char *to = (char *)item + fixed;
    const uint8_t *at = payload + FORMAT_FIXED_BYTES;
    for (size_t i = 0; i < count; i++) {
        values[i].type = at[0];
        at = take_text(at + 2, &to, &values[i].text);
    }
    probity_assert(at <= payload + bytes && to <= (char *)item + fixed + bytes);
    item->format = (struct probity_format){probity_get_u32(payload), probity_get_u32(payload + 4),
                                           count, values};
    return item;
}

void probity_function_set_least(const struct probity_function *function)
{
    /* All names are in items that this file has allocated. */
    if (function != NULL)
        __atomic_store_n(&((struct probity_function *)(uintptr_t)function)->is_least, 1,
                         __ATOMIC_RELAXED);
}

int probity_functions_declare_format(struct probity_functions *functions, const uint8_t *payload,
                                     size_t bytes)
{
    if (!probity_format_is_whole(payload, bytes))
        return 0;
    uint32_t number = probity_get_u32(payload);
    if (probity_functions_format(functions, number) != NULL)
        return 0;
    struct format_item *item = copy_format(payload, bytes);
    int error = item != NULL ? probity_hashtable_add(&functions->formats, item,
                                                     probity_hash(number))
                             : PROBITY_ERROR_MEMORY;
    if (error != 0)
        free(item);
    return error;
}

const struct probity_format *
probity_functions_format(const struct probity_functions *functions, uint32_t number)
{
    const struct format_item *item =
        probity_hashtable_at(&functions->formats, probity_hash(number));

    while (item != NULL && item->format.number != number)
        item = (const void *)item->link.next;
    return item != NULL ? &item->format : NULL;
}

void probity_functions_release(struct probity_functions *functions)
{
    struct probity_function_item *item;
    struct format_item *format;

    while ((item = functions->list) != NULL) {
        functions->list = item->next;
        free(item->name);
        free(item->signature);
        free(item->file);
        free(item);
    }
    while ((format = probity_hashtable_take(&functions->formats)) != NULL)
        free(format);
    *functions = (struct probity_functions){0};
}
