/* SPDX-License-Identifier: MIT
 *
 * text.h: turns arbitrary bytes into text that is safe to print: valid UTF-8 on one line, without
 * control characters. Pure functions on memory. They write only before `end`, where the text is
 * truncated, and return the end of their output.
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
 * kept. quote: this character and the backslash are also escaped; 0: none. */
char *probity_text_put(char *at, const char *end, const char *text, size_t bytes, char quote);

/* Same as above, for unaligned 32-bit characters. */
char *probity_text_put_wide(char *at, const char *end, const uint8_t *characters, size_t count,
                            char quote);

/* Writes the value of a C or C++ literal given as in the source, and any other text like
 * probity_text_put(). */
char *probity_text_put_literal(char *at, const char *end, const char *source);

/* Finds the function's name, with its classes and namespaces, in a C++ signature; for a lambda,
 * which has no name, that of the enclosing function. Returns the beginning of the result, or `name`
 * if there is none. */
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

/* Returns the length of the character at `text` if it is valid UTF-8 but must not be printed,
 * because it moves the cursor, or hides or reorders its neighbors; otherwise, and for characters
 * below 0x20, returns 0. */
size_t probity_text_hidden(const char *text, size_t bytes, uint32_t *ret_character);

/* Returns the length without an incomplete UTF-8 character at the end. */
size_t probity_text_whole(const char *text, size_t bytes);

#endif
