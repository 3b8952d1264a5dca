/* SPDX-License-Identifier: MIT
 *
 * json.c: writes strings and other parts of JSON answers.
 */
#include "print/json.h"

#include <string.h>

#include "print/text.h"
#include "probity.h"

json_t *probity_json_bytes(const char *text, size_t length)
{
    json_t *value = json_stringn(text, length);
    char plain[2048];

    if (value != NULL)
        return value;
    length = length < sizeof plain ? length : sizeof plain;
    for (size_t i = 0; i < length; i++)
        plain[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
    return json_stringn(plain, length);
}

json_t *probity_json_string(const char *text)
{
    return probity_json_bytes(text, strlen(text));
}

static void put_escape(FILE *stream, uint32_t character)
{
    uint32_t above = character - 0x10000;

    if (character <= 0xffff)
        fprintf(stream, "\\u%04X", (unsigned)character);
    else
        fprintf(stream, "\\u%04X\\u%04X", (unsigned)(0xd800 + (above >> 10)),
                (unsigned)(0xdc00 + (above & 0x3ff)));
}

/* Jansson passes whole characters. Only strings contain non-ASCII characters. */
static int put_part(const char *text, size_t bytes, void *stream)
{
    size_t from = 0, at = 0;

    while (at < bytes) {
        uint32_t character;
        size_t length = (unsigned char)text[at] < 0x7f
                            ? 0
                            : probity_text_hidden(text + at, bytes - at, &character);
        if (length == 0) {
            at++;
            continue;
        }
        fwrite(text + from, 1, at - from, stream);
        put_escape(stream, character);
        from = at += length;
    }
    fwrite(text + from, 1, bytes - from, stream);
    return ferror((FILE *)stream) ? -1 : 0;
}

int probity_json_dump(json_t *value, FILE *stream, size_t flags)
{
    return json_dump_callback(value, put_part, stream, flags);
}

static int put_value(FILE *stream, json_t *value, size_t flags)
{
    int error = value == NULL ? PROBITY_ERROR_MEMORY : 0;

    if (error == 0)
        probity_json_dump(value, stream, JSON_ENCODE_ANY | flags);
    json_decref(value);
    return error;
}

int probity_json_put_text(FILE *stream, const char *text)
{
    return put_value(stream, text != NULL ? probity_json_string(text) : json_null(), 0);
}

int probity_json_put_real(FILE *stream, double value, unsigned digits)
{
    return put_value(stream, json_real(value), JSON_REAL_PRECISION(digits));
}

int probity_json_write(FILE *stream, const char *before, json_t *value, unsigned digits)
{
    int error = value == NULL ? PROBITY_ERROR_MEMORY : 0;

    if (error == 0 && (fputs(before, stream) == EOF ||
                       probity_json_dump(value, stream, JSON_REAL_PRECISION(digits)) != 0))
        error = PROBITY_ERROR_WRITE;
    json_decref(value);
    return error;
}
