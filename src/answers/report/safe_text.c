/* SPDX-License-Identifier: MIT
 *
 * safe_text.c: writes untrusted texts.
 */
#include "answers/report/safe_text.h"

#include "print/text.h"

enum { PART_BYTES = 256 };

/* Writes the text in pieces: each byte may become four, and this may run on the stack of a thread
 * of the program. */
void probity_report_put_safe(FILE *stream, const char *text, size_t bytes)
{
    char safe[4 * PART_BYTES];

    while (bytes > 0) {
        size_t part = bytes > PART_BYTES ? probity_text_whole(text, PART_BYTES) : bytes;
        const char *end = probity_text_put(safe, safe + sizeof safe, text, part, '\0');
        fwrite(safe, 1, (size_t)(end - safe), stream);
        text += part;
        bytes -= part;
    }
}

size_t probity_report_safe_columns(const char *text, size_t bytes)
{
    enum { FOLLOWING_MASK = 0xc0, FOLLOWING = 0x80 }; /* UTF-8 continuation bytes */
    char safe[4 * PART_BYTES];
    size_t columns = 0;

    while (bytes > 0) {
        size_t part = bytes > PART_BYTES ? probity_text_whole(text, PART_BYTES) : bytes;
        const char *end = probity_text_put(safe, safe + sizeof safe, text, part, '\0');
        for (const char *at = safe; at < end; at++)
            columns += (*at & FOLLOWING_MASK) != FOLLOWING;
        text += part;
        bytes -= part;
    }
    return columns;
}
