/* SPDX-License-Identifier: MIT
 *
 * graphviz.c: escapes text for dot.
 */
#include "print/graphviz.h"

#include "print/text.h"
#include "reader/reader.h"

void probity_graphviz_text(FILE *stream, const char *text, size_t bytes)
{
    char safe[PROBITY_EVENT_BYTES_MAX * 4];
    const char *end = probity_text_put(safe, safe + sizeof safe, text, bytes, '\0');

    for (const char *at = safe; at < end; at++) {
        if (*at == '"' || *at == '\\')
            fputc('\\', stream);
        fputc(*at, stream);
    }
}
