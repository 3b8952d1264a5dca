/* SPDX-License-Identifier: MIT
 *
 * export_values.c: converts recorded values to 64-bit numbers and doubles if this is lossless.
 */
#include "exports/export_values.h"

#include <string.h>

#include "base/bytes.h"
#include "print/text.h"

static double real_at(const uint8_t *at, size_t bytes)
{
    uint64_t bits = bytes == 4 ? probity_get_u32(at) : probity_get_u64(at);
    uint32_t half = (uint32_t)bits;
    float single;
    double value;

    memcpy(&single, &half, sizeof single);
    memcpy(&value, &bits, sizeof value);
    return bytes == 4 ? (double)single : value;
}

/* Reads an integer of 1, 2, 4 or 8 bytes. */
static uint64_t integer_at(const uint8_t *at, size_t bytes, int is_signed)
{
    uint64_t value = 0;

    for (size_t i = bytes; i-- > 0;)
        value = value << 8 | at[i];
    if (is_signed && bytes < 8 && value >> (8 * bytes - 1))
        value |= UINT64_MAX << 8 * bytes;
    return value;
}

struct export_value export_value_of(const struct probity_value_view *view)
{
    struct export_value value = {EXPORT_VALUE_TEXT, 0, 0};

    if (view->is_cut)
        return value;
    switch (view->type) {
    case PROBITY_VALUE_BOOL: value.type = EXPORT_VALUE_BOOL; break;
    case PROBITY_VALUE_I8:
    case PROBITY_VALUE_I16:
    case PROBITY_VALUE_I32:
    case PROBITY_VALUE_I64: value.type = EXPORT_VALUE_SIGNED; break;
    case PROBITY_VALUE_U8:
    case PROBITY_VALUE_U16:
    case PROBITY_VALUE_U32:
    case PROBITY_VALUE_U64: value.type = EXPORT_VALUE_UNSIGNED; break;
    case PROBITY_VALUE_POINTER: value.type = EXPORT_VALUE_POINTER; break;
    case PROBITY_VALUE_FLOAT:
    case PROBITY_VALUE_DOUBLE:
        value.type = EXPORT_VALUE_REAL;
        value.real = real_at(view->at, view->bytes);
        return value;
    default: return value;
    }
    value.number = integer_at(view->at, view->bytes, value.type == EXPORT_VALUE_SIGNED);
    return value;
}

char *export_message_put(char *at, const char *end, const struct probity_event *event)
{
    struct probity_value_walk walk = probity_value_walk_of(event);
    struct probity_value_view view = {.is_cut = 0};

    while (!view.is_cut && probity_value_walk_next(&walk, &view))
        at = probity_value_put(at, end, &view, PROBITY_VALUE_RAW);
    return at;
}
