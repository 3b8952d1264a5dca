/* SPDX-License-Identifier: MIT
 *
 * arguments.c: see arguments.h. The tables follow each other without gaps, so their counts
 * determine their offsets and the total size.
 */
#include "base/arguments.h"

#include <string.h>

#include "base/assert.h"
#include "base/cpu.h"

_Static_assert(sizeof(struct probity_arguments_head) == 40, "as in doc/arguments.md");
_Static_assert(sizeof(struct probity_arguments_object) == 80, "as in doc/arguments.md");
_Static_assert(sizeof(struct probity_arguments_function) == 16, "as in doc/arguments.md");
_Static_assert(sizeof(struct probity_arguments_value) == 24, "as in doc/arguments.md");
_Static_assert(sizeof(struct probity_arguments_enumerator) == 16, "as in doc/arguments.md");

/* Types of the trace format. */
enum { I8 = 3, U64 = 10, STRING = 17, WIDE_STRING = 18, WIDE_CHAR = 22, COMPLEX = 23 };

/* Whether `count` items starting at `first` are within `all`. */
static int are_among(uint64_t first, uint64_t count, uint64_t all)
{
    return first <= all && count <= all - first;
}

/* ---- Values ------------------------------------------------------------------------------------
 */

static int is_place_valid(const struct probity_arguments_place *place, uint32_t bytes,
                          int is_result)
{
    static const uint16_t arguments[PROBITY_ARGUMENTS_WHERES] = {
        PROBITY_CPU_ARGUMENTS, PROBITY_CPU_ARGUMENT_VECTORS, PROBITY_ARGUMENTS_STACK_WORDS_MAX,
        PROBITY_CPU_ARGUMENT_VECTORS};
    static const uint16_t results[PROBITY_ARGUMENTS_WHERES] = {
        PROBITY_CPU_RESULTS, PROBITY_CPU_RESULT_VECTORS, 0, PROBITY_CPU_RESULT_VECTORS};

    if (place->where >= PROBITY_ARGUMENTS_WHERES || bytes > 8 || place->offset > 8 - bytes)
        return 0;
    return place->index < (is_result ? results : arguments)[place->where];
}

/* Whether a value of this type can have this size. */
static int has_size(uint32_t type, uint32_t bytes)
{
    static const uint8_t sizes[] = {0, 1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 16, 16, 4, 8, 16, 8, 8, 8};

    probity_assert(bytes <= UINT8_MAX);
    if (type == WIDE_CHAR)
        return bytes == 1 || bytes == 2 || bytes == 4;
    if (type == COMPLEX)
        return bytes == 8 || bytes == 16;
    return type < sizeof sizes && type > 0 && sizes[type] == bytes;
}

static int is_kind_valid(const struct probity_arguments *arguments,
                         const struct probity_arguments_value *value)
{
    switch (value->kind & ~PROBITY_ARGUMENTS_REFERENCE) {
    case PROBITY_ARGUMENTS_UNKNOWN: return 1;
    case PROBITY_ARGUMENTS_PLAIN:
        return value->type != STRING && value->type != WIDE_STRING &&
               has_size(value->type, value->bytes);
    case PROBITY_ARGUMENTS_TEXT:
        return (value->type == STRING || value->type == WIDE_STRING) && value->bytes == 8;
    case PROBITY_ARGUMENTS_ENUM:
        return value->type >= I8 && value->type <= U64 && has_size(value->type, value->bytes) &&
               are_among(value->first_enumerator, value->enumerators,
                         arguments->head->enumerators);
    default: return 0;
    }
}

static int is_value_valid(const struct probity_arguments *arguments,
                          const struct probity_arguments_value *value, int is_result)
{
    int is_reference = (value->kind & PROBITY_ARGUMENTS_REFERENCE) != 0;

    if (value->name >= arguments->head->text_bytes || value->reserved != 0 ||
        !is_kind_valid(arguments, value))
        return 0;
    if (value->kind == PROBITY_ARGUMENTS_UNKNOWN)
        return 1;
    uint32_t bytes = is_reference || value->bytes > 8 ? 8 : value->bytes;
    return is_place_valid(&value->place[0], bytes, is_result) &&
           (is_reference || value->bytes <= 8 || is_place_valid(&value->place[1], 8, is_result));
}

/* ---- Tables ------------------------------------------------------------------------------------
 */

static int is_function_valid(const struct probity_arguments *arguments,
                             const struct probity_arguments_function *function)
{
    uint32_t count = (uint32_t)function->arguments + function->results;

    if (function->arguments > PROBITY_ARGUMENTS_VALUES_MAX ||
        function->results > PROBITY_ARGUMENTS_VALUES_MAX ||
        !are_among(function->first_value, count, arguments->head->values))
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_value_valid(arguments, &arguments->values[function->first_value + i],
                            i >= function->arguments))
            return 0;
    }
    return 1;
}

static int are_functions_valid(const struct probity_arguments *arguments,
                               const struct probity_arguments_object *object)
{
    if (object->build_id_bytes > PROBITY_ARGUMENTS_BUILD_ID_MAX ||
        !are_among(object->first_function, object->functions, arguments->head->functions))
        return 0;
    for (uint32_t i = 0; i < object->functions; i++) {
        const struct probity_arguments_function *function =
            &arguments->functions[object->first_function + i];
        if (!is_function_valid(arguments, function) ||
            (i > 0 && function[-1].address >= function->address))
            return 0;
    }
    return 1;
}

static int is_head_valid(const struct probity_arguments_head *head, size_t size)
{
    uint64_t bytes = sizeof *head;

    if (memcmp(head->magic, PROBITY_ARGUMENTS_MAGIC, sizeof head->magic) != 0 ||
        head->version != PROBITY_ARGUMENTS_VERSION || head->reserved != 0 || head->bytes != size)
        return 0;
    bytes += head->objects * (uint64_t)sizeof(struct probity_arguments_object);
    bytes += head->functions * (uint64_t)sizeof(struct probity_arguments_function);
    bytes += head->values * (uint64_t)sizeof(struct probity_arguments_value);
    bytes += head->enumerators * (uint64_t)sizeof(struct probity_arguments_enumerator);
    return bytes + head->text_bytes == size && head->text_bytes > 0;
}

int probity_arguments_check(const void *bytes, size_t size,
                            struct probity_arguments *ret_arguments)
{
    struct probity_arguments all = {.head = bytes};

    if (size < sizeof *all.head || size > PROBITY_ARGUMENTS_BYTES_MAX ||
        !is_head_valid(all.head, size))
        return -1;
    all.objects = (const struct probity_arguments_object *)(all.head + 1);
    all.functions =
        (const struct probity_arguments_function *)(all.objects + all.head->objects);
    all.values = (const struct probity_arguments_value *)(all.functions + all.head->functions);
    all.enumerators =
        (const struct probity_arguments_enumerator *)(all.values + all.head->values);
    all.texts = (const char *)(all.enumerators + all.head->enumerators);
    if (all.texts[all.head->text_bytes - 1] != '\0')
        return -1;
    for (uint32_t i = 0; i < all.head->enumerators; i++) {
        if (all.enumerators[i].name >= all.head->text_bytes)
            return -1;
    }
    for (uint32_t i = 0; i < all.head->objects; i++) {
        if (!are_functions_valid(&all, &all.objects[i]))
            return -1;
    }
    *ret_arguments = all;
    return 0;
}

/* ---- Finding -----------------------------------------------------------------------------------
 */

const struct probity_arguments_function *
probity_arguments_find(const struct probity_arguments *arguments,
                       const struct probity_arguments_object *object, uint64_t address)
{
    const struct probity_arguments_function *functions =
        &arguments->functions[object->first_function];
    uint32_t low = 0, high = object->functions;

    probity_assert(object->first_function <= arguments->head->functions);
    probity_assert(object->functions <= arguments->head->functions - object->first_function);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (functions[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < object->functions && functions[low].address == address ? &functions[low] : NULL;
}

const char *probity_arguments_enumerator_name(const struct probity_arguments *arguments,
                                              const struct probity_arguments_value *value,
                                              int64_t number)
{
    const struct probity_arguments_enumerator *all =
        &arguments->enumerators[value->first_enumerator];
    uint32_t low = 0, high = value->enumerators;

    probity_assert(value->enumerators <= arguments->head->enumerators);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (all[middle].value < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < value->enumerators && all[low].value == number ? arguments->texts + all[low].name
                                                                 : NULL;
}
