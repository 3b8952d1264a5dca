/* SPDX-License-Identifier: MIT
 *
 * text.h: turns arbitrary bytes into text that is safe to print: valid UTF-8 on one line, without
 * control characters. Pure functions on memory. None writes at `end` or beyond, where the text is
 * truncated; each returns the end of its output.
 */
#ifndef PROBITY_PRINT_TEXT_H
#define PROBITY_PRINT_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Copies bytes that are known to be safe. */
static inline char *probity_text_copy(char *at, const char *end, const char *bytes, size_t count)
{
    size_t room = (size_t)(end - at);

    count = count < room ? count : room;
    memcpy(at, bytes, count);
    return at + count;
}

/* Writes UTF-8. Control characters and invalid bytes become C escapes; outside quotes, tabs are
 * kept. quote: this character and the backslash are escaped, too; 0: none. */
char *probity_text_put(char *at, const char *end, const char *text, size_t bytes, char quote);

/* Same as above for unaligned 32-bit characters. */
char *probity_text_put_wide(char *at, const char *end, const uint8_t *characters, size_t count,
                            char quote);

/* Writes the value of a C or C++ literal as in the source; any other text as probity_text_put()
 * does. */
char *probity_text_put_literal(char *at, const char *end, const char *source);

/* Finds the function's name, with its classes and namespaces, in a C++ signature; for a lambda,
 * which has none, that of the enclosing function. If there is none, returns `name`. Otherwise
 * returns the beginning of what it found. */
const char *probity_text_qualified(const char *signature, const char *name, size_t *ret_bytes);

/* The ending of a noun after a count, and the form of a verb. */
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

/* Length of the character at `text` if it is valid UTF-8 but must not be printed, because it moves
 * the cursor, or hides or reorders its neighbors. Otherwise 0; also below 0x20. */
size_t probity_text_hidden(const char *text, size_t bytes, uint32_t *ret_character);

/* Length without an incomplete UTF-8 character at the end. */
size_t probity_text_whole(const char *text, size_t bytes);

#endif
