/* SPDX-License-Identifier: MIT
 *
 * export_json.h: JSON without a library's objects, for formats with millions of lines. What is put
 * is strict JSON in UTF-8, whatever bytes the traced program had; nothing is put at or behind `end`
 * but what is cut there stays valid.
 */
#ifndef PROBITY_OUTPUT_EXPORT_JSON_H
#define PROBITY_OUTPUT_EXPORT_JSON_H

#include <stdint.h>
#include <string.h>

#include "output/csv_digits.h"
#include "output/values.h"
#include "reader/reader.h"

/* Words of our own, where there is room. */
static inline char *export_put(char *at, const char *words)
{
    size_t length = strlen(words);

    memcpy(at, words, length);
    return at + length;
}

/* Three digits, zeros in front. */
static inline char *export_put_three(char *at, uint32_t value)
{
    at[0] = (char)('0' + value / 100);
    at[1] = (char)('0' + value / 10 % 10);
    at[2] = (char)('0' + value % 10);
    return at + 3;
}

/* ns as microseconds with three decimals. */
static inline char *export_put_us(char *at, uint64_t ns)
{
    at = probity_digits_put(at, ns / 1000);
    *at++ = '.';
    return export_put_three(at, (uint32_t)(ns % 1000));
}

/* Safe text (output/text.h) in quotes. */
char *export_json_text(char *at, const char *end, const char *text, size_t bytes);

/* A value: integers that a double holds, truth values and finite numbers as such, all else as the
 * text that a log shows. */
char *export_json_value(char *at, const char *end, const struct probity_value_view *view);

/* Members "text in the source": value, with commas between. */
char *export_json_values(char *at, const char *end, const struct probity_event *event);

/* The values of a message or label, one behind the other, in quotes. */
char *export_json_message(char *at, const char *end, const struct probity_event *event);

#endif
