/* SPDX-License-Identifier: MIT
 *
 * json.c: strings and parts of JSON answers.
 */
#include "print/json.h"

#include <string.h>

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

static int put_value(FILE *stream, json_t *value, size_t flags)
{
    int error = value == NULL ? PROBITY_ERROR_MEMORY : 0;

    if (error == 0)
        json_dumpf(value, stream, JSON_ENCODE_ANY | flags);
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
                       json_dumpf(value, stream, JSON_REAL_PRECISION(digits)) != 0))
        error = PROBITY_ERROR_WRITE;
    json_decref(value);
    return error;
}
