/* SPDX-License-Identifier: MIT
 *
 * text.h: texts of any bytes to text that is safe to show: valid UTF-8 on one line, without control
 * characters. Pure functions on memory. None of them writes at or behind `end`, where the text is
 * cut; each returns the end of what it put.
 */
#ifndef PROBITY_OUTPUT_TEXT_H
#define PROBITY_OUTPUT_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes that are known to be safe. */
static inline char *probity_text_copy(char *at, const char *end, const char *bytes, size_t count)
{
    size_t room = (size_t)(end - at);

    count = count < room ? count : room;
    memcpy(at, bytes, count);
    return at + count;
}

/* UTF-8. Control characters, and bytes that are none, become escapes of C; tabs stay outside of
 * quotes. quote: this character and the backslash are escaped too; 0: none. */
char *probity_text_put(char *at, const char *end, const char *text, size_t bytes, char quote);

/* Characters of 32 bits, unaligned. */
char *probity_text_put_wide(char *at, const char *end, const uint8_t *characters, size_t count,
                            char quote);

/* A literal of C or C++ as it stands in the source: what it says. A text that is none is put as
 * probity_text_put() does. */
char *probity_text_put_literal(char *at, const char *end, const char *source);

/* Where a signature of C++ has the function's name with its classes and namespaces; of a lambda,
 * which has no name, the function around it. Without any: the name. Returns its beginning. */
const char *probity_text_qualified(const char *signature, const char *name, size_t *ret_bytes);

/* Ends a noun that a count stands before, and says of it that it is or was. */
static inline const char *probity_text_s(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static inline const char *probity_text_are(uint64_t count)
{
    return count == 1 ? "is" : "are";
}

static inline const char *probity_text_were(uint64_t count)
{
    return count == 1 ? "was" : "were";
}

/* Length without the beginning of a character of UTF-8 that the end cuts off. */
size_t probity_text_whole(const char *text, size_t bytes);

#endif
