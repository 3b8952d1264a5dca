/* SPDX-License-Identifier: MIT
 *
 * values.c: encodes values in the traced thread, through pointers of the program, any of which may
 * be invalid. Texts in the executable's image are read directly; for all others, a system call
 * first checks whether they are readable.
 */
#include "runtime/values.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/os.h"
#include "base/thread_local.h"
#include "format/stream.h"

enum {
    TEXT_BYTES_MAX = 1000, /* limit for one value, so that several fit in an event */
    WIDE_CHARS_MAX = 250,
    BYTES_MAX = 512
};

void probity_payload_put(struct probity_payload *payload, const void *bytes, size_t count)
{
    size_t room = sizeof payload->bytes - payload->used;

    probity_assert(payload->used <= sizeof payload->bytes);
    if (payload->is_full)
        return;
    payload->is_full = count > room;
    count = count < room ? count : room;
    if (count > 0)
        memcpy(payload->bytes + payload->used, bytes, count);
    payload->used += count;
    probity_assert(payload->used <= sizeof payload->bytes);
}

/* Writes a length and the bytes, in elements of `unit` bytes, truncated to the room left. */
static void put_counted(struct probity_payload *payload, const void *bytes, size_t count,
                        size_t unit, int is_cut)
{
    size_t room = sizeof payload->bytes - payload->used;
    size_t fits = room > 2 ? (room - 2) / unit : 0;
    uint8_t length[2];

    probity_assert(unit > 0 && payload->used <= sizeof payload->bytes);
    if (count > fits) {
        count = fits;
        is_cut = 1;
    }
    probity_put_u16(length, (uint16_t)(count | (is_cut ? PROBITY_VALUE_LENGTH_CUT : 0)));
    probity_payload_put(payload, length, sizeof length);
    probity_payload_put(payload, bytes, count * unit);
}

/* Converts characters of UTF-16, where wchar_t has two bytes. Returns their number; they are in
 * ret_wide. */
static size_t widen(const uint8_t *at, size_t count, uint32_t ret_wide[WIDE_CHARS_MAX])
{
    size_t wide = 0;
    uint16_t unit, next = 0;

    for (size_t i = 0; i < count && wide < WIDE_CHARS_MAX; i++) {
        memcpy(&unit, at + 2 * i, sizeof unit);
        if (i + 1 < count)
            memcpy(&next, at + 2 * i + 2, sizeof next);
        int is_pair = i + 1 < count && unit >> 10 == 0xd800 >> 10 && next >> 10 == 0xdc00 >> 10;
        ret_wide[wide++] = is_pair ? 0x10000 + ((unit & 0x3ffu) << 10 | (next & 0x3ffu)) : unit;
        i += (size_t)is_pair;
    }
    return wide;
}

/* Does the same for wide characters. */
static void put_counted_wide(struct probity_payload *payload, const void *text, size_t count,
                             int is_cut)
{
    uint32_t wide[WIDE_CHARS_MAX];

    if (sizeof(wchar_t) == sizeof wide[0])
        put_counted(payload, text, count, sizeof wide[0], is_cut);
    else
        put_counted(payload, wide, widen(text, count, wide), sizeof wide[0], is_cut);
}

static void put_characters(struct probity_payload *payload, const void *text, size_t count,
                           size_t unit, int is_cut)
{
    if (unit == 1)
        put_counted(payload, text, count, unit, is_cut);
    else
        put_counted_wide(payload, text, count, is_cut);
}

static void put_no_text(struct probity_payload *payload, const void *at)
{
    uint8_t bytes[2 + 8];
    int is_null = at == NULL;

    probity_put_u16(bytes,
                    is_null ? PROBITY_VALUE_LENGTH_NULL : PROBITY_VALUE_LENGTH_UNREADABLE);
    probity_put_u64(bytes + 2, (uint64_t)(uintptr_t)at);
    probity_payload_put(payload, bytes, is_null ? 2 : sizeof bytes);
}

/* Returns the number of elements before a zero of `unit` bytes; `count` if there is none. */
static size_t elements_before_zero(const uint8_t *bytes, size_t count, size_t unit)
{
    static const uint8_t zero[4];

    probity_assert(unit == 1 || unit == 2 || unit == 4);
    if (unit == 1)
        return strnlen((const char *)bytes, count);
    for (size_t i = 0; i < count; i++) {
        if (memcmp(bytes + i * unit, zero, unit) == 0)
            return i;
    }
    return count;
}

size_t probity_text_pointed(const struct probity_os_image *image, const void *text, size_t unit,
                            size_t most, int *ret_is_whole)
{
    const uint8_t *at = text;
    size_t readable = 0, length = 0, count = 0;

    while (length == count && count <= most) {
        size_t more = image != NULL ? probity_os_image_bytes(image, at + readable) : 0;
        if (more == 0)
            more = probity_os_readable_bytes(at + readable);
        if (more == 0)
            break;
        readable += more;
        count = readable / unit < most + 1 ? readable / unit : most + 1;
        length += elements_before_zero(at + length * unit, count - length, unit);
    }
    *ret_is_whole = length < count;
    return length < most ? length : most;
}

static void put_pointed_text(struct probity_payload *payload, const void *at, size_t unit,
                             size_t most)
{
    int is_whole = 0;
    size_t length = 0;

    if (at != NULL)
        length = probity_text_pointed(payload->image, at, unit, most, &is_whole);
    if (length == 0 && !is_whole)
        put_no_text(payload, at);
    else
        put_characters(payload, at, length, unit, !is_whole);
}

static void put_array_text(struct probity_payload *payload, const void *at, size_t bytes,
                           size_t unit, size_t most)
{
    size_t count = bytes / unit, length = elements_before_zero(at, count, unit);

    probity_assert(unit > 0);
    put_characters(payload, at, length < most ? length : most, unit, length > most);
}

static void put_bytes(struct probity_payload *payload, const struct probity_value *value)
{
    struct pointed { /* struct probity_bytes of FnTrace.h */
        const void *at;
        size_t count;
    } bytes = {value->at, value->bytes};

    if (value->how == PROBITY_AT_ARRAY)
        memcpy(&bytes.at, value->at, sizeof bytes.at);
    if (value->how == PROBITY_AT_VALUE)
        memcpy(&bytes, value->at, sizeof bytes);
    size_t most = bytes.count < BYTES_MAX ? bytes.count : BYTES_MAX, got = 0, more = 1;
    if (value->how != PROBITY_AT_VALUE)
        got = most; /* an array in the program: known to be valid */
    for (; got < most && more > 0; got += more)
        more = probity_os_readable_bytes((const uint8_t *)bytes.at + got);
    got = got < most ? got : most;
    if (got == 0 && most > 0)
        put_no_text(payload, bytes.at);
    else
        put_counted(payload, bytes.at, got, 1, got < bytes.count);
}

/* Number of nested formatters in this thread, and the stack address of the outermost. */
PROBITY_THREAD_LOCAL(static, uint32_t, formatters_open);
PROBITY_THREAD_LOCAL(static, uintptr_t, formatter_first);

/* Limits the recursion: a formatter may run scopes that record values of the same type. */
static size_t make_text(const struct probity_value *value, char *text, size_t bytes)
{
    enum { OPEN_MAX = 3 };
    static const char refused[] = "(inside its own formatter)";
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    /* An outer formatter that does not enclose this one was left by longjmp(). */
    uint32_t open = here < formatter_first ? formatters_open : 0;

    probity_assert(value->format != NULL && bytes > 0);
    if (open == OPEN_MAX) {
        memcpy(text, refused, sizeof refused);
        return sizeof refused - 1;
    }
    if (open == 0)
        formatter_first = here;
    formatters_open = open + 1;
    size_t length = value->format(value->at, text, bytes);
    formatters_open = open;
    return length;
}

static void put_made_text(struct probity_payload *payload, const struct probity_value *value)
{
    char text[TEXT_BYTES_MAX + 1];
    size_t length = make_text(value, text, sizeof text);

    put_counted(payload, text, length < TEXT_BYTES_MAX ? length : TEXT_BYTES_MAX, 1,
                length > TEXT_BYTES_MAX);
}

/* Writes two doubles, which represent a long double with a mantissa of 64 bits. */
static void put_long_double(struct probity_payload *payload, const void *at)
{
    long double value;
    double parts[2];

    memcpy(&value, at, sizeof value);
    parts[0] = (double)value;
    parts[1] = __builtin_isfinite(parts[0]) ? (double)(value - (long double)parts[0]) : 0;
    probity_payload_put(payload, parts, sizeof parts);
}

static void put_complex(struct probity_payload *payload, const struct probity_value *value)
{
    float narrow[2];
    double parts[2];

    probity_assert(value->at != NULL);
    if (value->bytes == sizeof narrow) {
        memcpy(narrow, value->at, sizeof narrow);
        parts[0] = (double)narrow[0];
        parts[1] = (double)narrow[1];
    } else {
        memcpy(parts, value->at, sizeof parts);
    }
    probity_payload_put(payload, parts, sizeof parts);
}

static void put_text(struct probity_payload *payload, const struct probity_value *value,
                     size_t unit, size_t most)
{
    const void *at;

    if (value->how == PROBITY_AT_DATA) {
        size_t count = value->bytes / unit;
        put_characters(payload, value->at, count < most ? count : most, unit, count > most);
        return;
    }
    memcpy(&at, value->at, sizeof at);
    if (value->how == PROBITY_AT_ARRAY)
        put_array_text(payload, at, value->bytes, unit, most);
    else
        put_pointed_text(payload, at, unit, most);
}

/* Writes a value of 1, 2 or 4 bytes. */
static void put_wide_char(struct probity_payload *payload, const struct probity_value *value)
{
    uint32_t wide = 0;

    memcpy(&wide, value->at, value->bytes < sizeof wide ? value->bytes : sizeof wide);
    probity_payload_put(payload, &wide, sizeof wide);
}

size_t probity_bytes_of_type(uint32_t type)
{
    static const uint8_t bytes[] = {0, 1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 16, 16, 4, 8, 0, 8};

    return type < sizeof bytes ? bytes[type] : 0;
}

/* Writes a value of fixed size, or the value inside an object of the program. */
static void put_fixed(struct probity_payload *payload, uint32_t type,
                      const struct probity_value *value)
{
    char made[16] = {0};

    if (value->format != NULL)
        value->format(value->at, made, sizeof made);
    probity_payload_put(payload, value->format != NULL ? made : value->at,
                        probity_bytes_of_type(type));
}

void probity_payload_put_value(struct probity_payload *payload, uint32_t type,
                               const struct probity_value *value)
{
    switch (type) {
    case PROBITY_VALUE_STRING: put_text(payload, value, 1, TEXT_BYTES_MAX); break;
    case PROBITY_VALUE_WIDE_STRING:
        put_text(payload, value, sizeof(wchar_t), WIDE_CHARS_MAX);
        break;
    case PROBITY_VALUE_BYTES: put_bytes(payload, value); break;
    case PROBITY_VALUE_LITERAL: break;
    case PROBITY_VALUE_TEXT: put_made_text(payload, value); break;
    case PROBITY_VALUE_LONG_DOUBLE: put_long_double(payload, value->at); break;
    case PROBITY_VALUE_COMPLEX: put_complex(payload, value); break;
    case PROBITY_VALUE_WIDE_CHAR: put_wide_char(payload, value); break;
    default: put_fixed(payload, type, value); break;
    }
}
