/* SPDX-License-Identifier: MIT
 *
 * export_json.h: writes JSON without the objects of a library, for formats with millions of lines.
 * The output is strict JSON in UTF-8, whatever bytes the traced program used; nothing is written at
 * or after `end`, and truncated output stays valid.
 */
#ifndef PROBITY_EXPORTS_EXPORT_JSON_H
#define PROBITY_EXPORTS_EXPORT_JSON_H

#include <stdint.h>
#include <string.h>

#include "print/csv_digits.h"
#include "print/values.h"
#include "reader/reader.h"

/* Writes constant words, if there is room. */
static inline char *export_put(char *at, const char *words)
{
    size_t length = strlen(words);

    memcpy(at, words, length);
    return at + length;
}

/* Writes three digits, with leading zeros. */
static inline char *export_put_three(char *at, uint32_t value)
{
    at[0] = (char)('0' + value / 100);
    at[1] = (char)('0' + value / 10 % 10);
    at[2] = (char)('0' + value % 10);
    return at + 3;
}

/* Writes ns as microseconds with three decimals. */
static inline char *export_put_us(char *at, uint64_t ns)
{
    at = probity_digits_put(at, ns / 1000);
    *at++ = '.';
    return export_put_three(at, (uint32_t)(ns % 1000));
}

/* Writes safe text (print/text.h) in quotes. */
char *export_json_text(char *at, const char *end, const char *text, size_t bytes);

/* Writes a value: integers that a double represents exactly, booleans and finite numbers as such,
 * everything else as text, as `probity log` does. */
char *export_json_value(char *at, const char *end, const struct probity_value_view *view);

/* Writes members "text in the source": value, separated by commas. */
char *export_json_values(char *at, const char *end, const struct probity_event *event);

/* Writes the concatenated values of a message or label, in quotes. */
char *export_json_message(char *at, const char *end, const struct probity_event *event);

#endif
