/* SPDX-License-Identifier: MIT
 *
 * json.c: strings and parts of JSON answers.
 */
#include "output/json.h"

#include "probity.h"

json_t *probity_json_string(const char *text)
{
    json_t *value = json_string(text);
    char plain[2048];
    size_t length = 0;

    if (value != NULL)
        return value;
    for (; text[length] != '\0' && length < sizeof plain; length++)
        plain[length] = (unsigned char)text[length] < 0x80 ? text[length] : '?';
    return json_stringn(plain, length);
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
