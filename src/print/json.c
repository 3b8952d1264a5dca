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

int probity_json_write(FILE *stream, const char *before, json_t *value, unsigned digits)
{
    int error = value == NULL ? PROBITY_ERROR_MEMORY : 0;

    if (error == 0 && (fputs(before, stream) == EOF ||
                       json_dumpf(value, stream, JSON_REAL_PRECISION(digits)) != 0))
        error = PROBITY_ERROR_WRITE;
    json_decref(value);
    return error;
}
