/* SPDX-License-Identifier: MIT
 *
 * values.c: splits an event's bytes into values and writes each as text. Runs in the tool, and in
 * the traced program when that prints its log, so it allocates nothing. Texts are in text.c.
 */
#include "print/values.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "print/csv_digits.h"
#include "print/text.h"

__extension__ typedef __int128 wide_signed;
__extension__ typedef unsigned __int128 wide_unsigned;

struct probity_value_walk probity_value_walk_of(const struct probity_event *event)
{
    const uint8_t *end = event->values != NULL ? event->values + event->value_bytes : NULL;

    return (struct probity_value_walk){event->format, 0, event->values, end};
}

/* Returns the size of the value whose first bytes are at `at`; more than `left` if it is
 * truncated. */
static size_t size_of(uint32_t type, const uint8_t *at, size_t left)
{
    static const uint8_t fixed[] = {0, 1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 16, 16, 4, 8, 16, 8,
                                    0, 0, 0, 0, 0, 4, 16};

    if (type == 0 || type >= sizeof fixed)
        return SIZE_MAX;
    if (type == PROBITY_VALUE_LITERAL || fixed[type] != 0)
        return fixed[type];
    if (left < 2)
        return SIZE_MAX;
    uint16_t length = probity_get_u16(at);
    if (length == PROBITY_VALUE_LENGTH_NULL)
        return 2;
    if (length == PROBITY_VALUE_LENGTH_UNREADABLE)
        return 2 + 8;
    length &= PROBITY_VALUE_LENGTH_CUT - 1;
    return 2 + (type == PROBITY_VALUE_WIDE_STRING ? 4 * (size_t)length : length);
}

int probity_value_walk_next(struct probity_value_walk *walk, struct probity_value_view *ret_view)
{
    if (walk->format == NULL || walk->next >= walk->format->count)
        return 0;
    const struct probity_format_value *value = &walk->format->values[walk->next++];
    size_t left = (size_t)(walk->end - walk->at), size = SIZE_MAX;
    if (walk->at != NULL || value->type == PROBITY_VALUE_LITERAL)
        size = size_of(value->type, walk->at, left);
    *ret_view = (struct probity_value_view){value->type, value->text, walk->at, size, size > left};
    if (size > left) {
        ret_view->bytes = left;
        walk->at = walk->end = NULL;
    } else if (walk->at != NULL) {
        walk->at += size;
    }
    return 1;
}

/* ---- Numbers -----------------------------------------------------------------------------------
 */

static char *put_words(char *at, const char *end, const char *words)
{
    return probity_text_copy(at, end, words, strlen(words));
}

static char *put_unsigned(char *at, const char *end, uint64_t value)
{
    char digits[PROBITY_DIGITS_MAX + PROBITY_DIGITS_SLACK];
    size_t length = (size_t)(probity_digits_put(digits, value) - digits);

    return probity_text_copy(at, end, digits, length);
}

static char *put_signed(char *at, const char *end, int64_t value)
{
    if (value < 0)
        at = put_words(at, end, "-");
    return put_unsigned(at, end, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

static char *put_wide(char *at, const char *end, wide_unsigned value, int is_signed)
{
    char digits[48];
    size_t first = sizeof digits;
    int is_negative = is_signed && (wide_signed)value < 0;

    value = is_negative ? 0 - value : value;
    do {
        digits[--first] = (char)('0' + (int)(value % 10));
        value /= 10;
    } while (value != 0);
    if (is_negative)
        digits[--first] = '-';
    return probity_text_copy(at, end, digits + first, sizeof digits - first);
}

static char *put_hex(char *at, const char *end, uint64_t value)
{
    char digits[18] = "0x";
    int shift = 60;
    size_t length = 2;

    while (shift > 0 && value >> shift == 0)
        shift -= 4;
    for (; shift >= 0; shift -= 4)
        digits[length++] = "0123456789abcdef"[value >> shift & 15];
    return probity_text_copy(at, end, digits, length);
}

/* Writes the same as printf, but with a decimal point in every locale. */
static char *put_printed(char *at, const char *end, const char *text)
{
    for (int in_point = 0; *text != '\0'; text++) {
        int is_plain = strchr("0123456789+-einfa", *text) != NULL;
        if (is_plain || !in_point)
            at = probity_text_copy(at, end, is_plain ? text : ".", 1);
        in_point = !is_plain;
    }
    return at;
}

/* Writes the fewest digits that round-trip: at most 9 for float, 17 for double. */
static char *put_float(char *at, const char *end, float value)
{
    char text[64];

    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value)
            break;
    }
    return put_printed(at, end, text);
}

static char *put_double(char *at, const char *end, double value)
{
    char text[64];

    if (value >= -1e15 && value <= 1e15 && (double)(int64_t)value == value &&
        (value != 0 || !signbit(value)))
        return put_signed(at, end, (int64_t)value);
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return put_printed(at, end, text);
}

/* Rounds to a mantissa of 64 bits, even if this machine has a longer one, and prints the digits
 * that it requires, so that a trace gives the same texts on every machine. */
static char *put_long_double(char *at, const char *end, double high, double low)
{
    enum { MANTISSA_BITS = 64, MORE_BITS = LDBL_MANT_DIG - MANTISSA_BITS };
    long double value = low == 0 || isinf(high) ? (long double)high : (long double)high + low;
    char text[80];
    int exponent = 0;

    /* The subtraction drops the lowest MORE_BITS bits, without calling a function of libm. */
    if (MORE_BITS > 0 && isfinite(high)) {
        long double multiple = value * (long double)((UINT64_C(1) << (MORE_BITS & 63)) + 1);
        value = multiple - (multiple - value);
    }
    frexpl(value, &exponent);
    long double half = ldexpl(1, exponent - MANTISSA_BITS - 1); /* half of the last bit */
    for (int digits = 15; digits <= 36; digits++) {
        snprintf(text, sizeof text, "%.*Lg", digits, value);
        long double shown = strtold(text, NULL);
        if (shown == value || isnan(high) || fabsl(shown - value) < half)
            break;
    }
    return put_printed(at, end, text);
}

static double double_at(const uint8_t *at)
{
    uint64_t bits = probity_get_u64(at);
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static float float_at(const uint8_t *at)
{
    uint32_t bits = probity_get_u32(at);
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static char *put_complex(char *at, const char *end, const uint8_t *from)
{
    double imaginary = double_at(from + 8);

    at = put_double(at, end, double_at(from));
    if (!signbit(imaginary))
        at = put_words(at, end, "+");
    at = put_double(at, end, imaginary);
    return put_words(at, end, "i");
}

/* ---- Texts -------------------------------------------------------------------------------------
 */

static char *put_bytes(char *at, const char *end, const uint8_t *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        char digits[3] = {' ', "0123456789abcdef"[from[i] >> 4], "0123456789abcdef"[from[i] & 15]};
        at = probity_text_copy(at, end, digits + (i == 0), sizeof digits - (i == 0));
    }
    return at;
}

/* Writes a value that begins with a length. */
static char *put_string(char *at, const char *end, const struct probity_value_view *view,
                        enum probity_value_style style)
{
    uint16_t length = probity_get_u16(view->at);
    const uint8_t *from = view->at + 2;
    int is_cut = (length & PROBITY_VALUE_LENGTH_CUT) != 0;
    size_t bytes = view->bytes - 2;
    char quote = style == PROBITY_VALUE_QUOTED && view->type != PROBITY_VALUE_TEXT &&
                         view->type != PROBITY_VALUE_BYTES
                     ? '"'
                     : '\0';

    if (length == PROBITY_VALUE_LENGTH_NULL)
        return put_words(at, end, "NULL");
    if (length == PROBITY_VALUE_LENGTH_UNREADABLE)
        return put_hex(put_words(at, end, "unreadable "), end, probity_get_u64(from));
    at = probity_text_copy(at, end, &quote, quote != '\0');
    if (view->type == PROBITY_VALUE_BYTES)
        at = put_bytes(at, end, from, bytes);
    else if (view->type == PROBITY_VALUE_WIDE_STRING)
        at = probity_text_put_wide(at, end, from, bytes / 4, quote);
    else
        at = probity_text_put(at, end, (const char *)from,
                              is_cut ? probity_text_whole((const char *)from, bytes) : bytes,
                              quote);
    at = probity_text_copy(at, end, &quote, quote != '\0');
    return is_cut ? put_words(at, end, "...") : at;
}

static char *put_character(char *at, const char *end, const struct probity_value_view *view,
                           enum probity_value_style style)
{
    char quote = style == PROBITY_VALUE_QUOTED ? '\'' : '\0';

    at = probity_text_copy(at, end, &quote, quote != '\0');
    if (view->type == PROBITY_VALUE_WIDE_CHAR)
        at = probity_text_put_wide(at, end, view->at, 1, quote);
    else
        at = probity_text_put(at, end, (const char *)view->at, 1, quote);
    return probity_text_copy(at, end, &quote, quote != '\0');
}

static char *put_pointer(char *at, const char *end, uint64_t value)
{
    return value == 0 ? put_words(at, end, "NULL") : put_hex(at, end, value);
}

char *probity_value_put(char *at, const char *end, const struct probity_value_view *view,
                        enum probity_value_style style)
{
    const uint8_t *from = view->at;

    if (view->is_cut)
        return put_words(at, end, "(cut)");
    switch (view->type) {
    case PROBITY_VALUE_BOOL: return put_words(at, end, *from ? "true" : "false");
    case PROBITY_VALUE_CHAR: return put_character(at, end, view, style);
    case PROBITY_VALUE_I8: return put_signed(at, end, (int8_t)*from);
    case PROBITY_VALUE_U8: return put_unsigned(at, end, *from);
    case PROBITY_VALUE_I16: return put_signed(at, end, (int16_t)probity_get_u16(from));
    case PROBITY_VALUE_U16: return put_unsigned(at, end, probity_get_u16(from));
    case PROBITY_VALUE_I32: return put_signed(at, end, (int32_t)probity_get_u32(from));
    case PROBITY_VALUE_U32: return put_unsigned(at, end, probity_get_u32(from));
    case PROBITY_VALUE_I64: return put_signed(at, end, (int64_t)probity_get_u64(from));
    case PROBITY_VALUE_U64: return put_unsigned(at, end, probity_get_u64(from));
    case PROBITY_VALUE_I128:
    case PROBITY_VALUE_U128:
        return put_wide(at, end,
                        (wide_unsigned)probity_get_u64(from + 8) << 64 | probity_get_u64(from),
                        view->type == PROBITY_VALUE_I128);
    case PROBITY_VALUE_FLOAT: return put_float(at, end, float_at(from));
    case PROBITY_VALUE_DOUBLE: return put_double(at, end, double_at(from));
    case PROBITY_VALUE_LONG_DOUBLE:
        return put_long_double(at, end, double_at(from), double_at(from + 8));
    case PROBITY_VALUE_COMPLEX: return put_complex(at, end, from);
    case PROBITY_VALUE_POINTER: return put_pointer(at, end, probity_get_u64(from));
    case PROBITY_VALUE_WIDE_CHAR: return put_character(at, end, view, style);
    case PROBITY_VALUE_LITERAL:
        return style == PROBITY_VALUE_QUOTED
                   ? probity_text_put(at, end, view->text, strlen(view->text), '\0')
                   : probity_text_put_literal(at, end, view->text);
    default: return put_string(at, end, view, style);
    }
}
