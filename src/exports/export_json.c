/* SPDX-License-Identifier: MIT
 *
 * export_json.c: writes texts and values as JSON.
 */
#include "exports/export_json.h"

#include "print/text.h"

enum { ESCAPE_BYTES_MAX = 6, DIGITS_EXACT = 15 };

/* Escapes a byte that is not a plain character. */
static char *put_escape(char *at, unsigned char byte)
{
    static const char digits[] = "0123456789abcdef";

    *at++ = '\\';
    if (byte == '"' || byte == '\\') {
        *at++ = (char)byte;
        return at;
    }
    at = export_put(at, "u00");
    *at++ = digits[byte >> 4];
    *at++ = digits[byte & 15];
    return at;
}

/* Copies text that is already safe; truncated at a character boundary. */
static char *put_safe(char *at, const char *end, const char *text, size_t bytes)
{
    const char *limit = end - ESCAPE_BYTES_MAX - 1;
    size_t i = 0;

    *at++ = '"';
    for (; i < bytes && at < limit; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte < 0x20 || byte == '"' || byte == '\\')
            at = put_escape(at, byte);
        else
            *at++ = (char)byte;
    }
    if (i < bytes)
        at -= i - probity_text_whole(text, i);
    *at++ = '"';
    return at;
}

char *export_json_text(char *at, const char *end, const char *text, size_t bytes)
{
    char safe[PROBITY_VALUE_TEXT_MAX];
    const char *safe_end = probity_text_put(safe, safe + sizeof safe, text, bytes, '\0');

    return put_safe(at, end, safe, (size_t)(safe_end - safe));
}

/* Whether the text of a number is a JSON number that every reader accepts unchanged. */
static int is_number(uint32_t type, const char *text, size_t bytes)
{
    switch (type) {
    case PROBITY_VALUE_I8:
    case PROBITY_VALUE_U8:
    case PROBITY_VALUE_I16:
    case PROBITY_VALUE_U16:
    case PROBITY_VALUE_I32:
    case PROBITY_VALUE_U32: return 1;
    case PROBITY_VALUE_I64:
    case PROBITY_VALUE_U64: return bytes <= DIGITS_EXACT;
    case PROBITY_VALUE_FLOAT:
    case PROBITY_VALUE_DOUBLE: return memchr(text, 'n', bytes) == NULL; /* inf, nan */
    default: return 0;
    }
}

char *export_json_value(char *at, const char *end, const struct probity_value_view *view)
{
    char text[PROBITY_VALUE_TEXT_MAX];
    size_t bytes = (size_t)(probity_value_put(text, text + sizeof text, view,
                                              PROBITY_VALUE_QUOTED) - text);

    if (view->is_cut || (view->type != PROBITY_VALUE_BOOL && !is_number(view->type, text, bytes)))
        return put_safe(at, end, text, bytes);
    return probity_text_copy(at, end, text, bytes);
}

char *export_json_values(char *at, const char *end, const struct probity_event *event)
{
    struct probity_value_walk walk = probity_value_walk_of(event);
    struct probity_value_view view;
    int is_first = 1;

    while (probity_value_walk_next(&walk, &view) != 0 && at < end - PROBITY_VALUE_TEXT_MAX) {
        if (!is_first)
            *at++ = ',';
        is_first = 0;
        at = export_json_text(at, end, view.text, strlen(view.text));
        *at++ = ':';
        at = export_json_value(at, end - PROBITY_VALUE_TEXT_MAX / 2, &view);
    }
    return at;
}

char *export_json_message(char *at, const char *end, const struct probity_event *event)
{
    struct probity_value_walk walk = probity_value_walk_of(event);
    char text[PROBITY_VALUE_TEXT_MAX], *text_at = text;
    struct probity_value_view view;

    while (probity_value_walk_next(&walk, &view) != 0)
        text_at = probity_value_put(text_at, text + sizeof text, &view, PROBITY_VALUE_RAW);
    return put_safe(at, end, text, (size_t)(text_at - text));
}
