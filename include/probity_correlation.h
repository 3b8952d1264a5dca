/* SPDX-License-Identifier: MIT
 *
 * probity_correlation.h: a correlation id sent to another process or host, as text: the header
 * `traceparent` of W3C Trace Context (https://www.w3.org/TR/trace-context), which other tracers on
 * the way understand and pass on.
 *
 *     char header[PROBITY_CORRELATION_TEXT_BYTES];
 *     if (probity_correlation_to_text(id, header) == 0)
 *         ... send "traceparent: " and header with the request ...
 *
 *     uint64_t id;
 *     if (probity_correlation_from_text(header, &id) == 0)
 *         PROBITY_REQUEST_BEGIN("request", id);
 *
 * Needs no other header and no library. May be used in any thread, even in a signal handler;
 * preserves errno.
 */
#ifndef PROBITY_CORRELATION_H
#define PROBITY_CORRELATION_H

#include <stdint.h>

enum {
    PROBITY_CORRELATION_TEXT_BYTES = 56, /* including the terminating zero byte */
    PROBITY_CORRELATION_TRACE_AT = 3,    /* 32 digits */
    PROBITY_CORRELATION_PARENT_AT = 36   /* 16 digits */
};

/* Writes version 00, the id as trace id and as parent id, and the flag "sampled". Returns 0, or -1
 * with an empty text if the id is 0, which means that there is no id. */
static inline int probity_correlation_to_text(uint64_t correlation,
                                              char ret_text[PROBITY_CORRELATION_TEXT_BYTES])
{
    const char *const form = "00-00000000000000000000000000000000-0000000000000000-01";
    int at;

    for (at = 0; at < PROBITY_CORRELATION_TEXT_BYTES; at++)
        ret_text[at] = correlation != 0 ? form[at] : '\0';
    if (correlation == 0)
        return -1;
    for (at = 0; at < 16; at++) {
        char digit = "0123456789abcdef"[correlation >> (60 - 4 * at) & 15];
        ret_text[PROBITY_CORRELATION_TRACE_AT + 16 + at] = digit;
        ret_text[PROBITY_CORRELATION_PARENT_AT + at] = digit;
    }
    return 0;
}

/* Reads `count` digits. Returns 0, or -1 if one of them is not a lower-case hexadecimal digit, for
 * example a zero byte. */
static inline int probity_correlation_digits(const char *text, int count, uint64_t *ret_number)
{
    uint64_t number = 0;
    int at;

    for (at = 0; at < count; at++) {
        char digit = text[at];
        int is_letter = digit >= 'a' && digit <= 'f';
        if (!is_letter && (digit < '0' || digit > '9'))
            return -1;
        number <<= 4;
        number += is_letter ? digit - 'a' + 10U : digit - '0' + 0U;
    }
    *ret_number = number;
    return 0;
}

/* Reads a header of any version, including one from another tracer: the id is the last 8 bytes of
 * the trace id, or the first 8 if those are 0. Returns 0, or -1 if the text is not such a header,
 * without reading beyond its first wrong byte. */
static inline int probity_correlation_from_text(const char *text, uint64_t *ret_correlation)
{
    uint64_t version, high, low, parent, flags;

    if (probity_correlation_digits(text, 2, &version) != 0 || version == 255 || text[2] != '-' ||
        probity_correlation_digits(text + 3, 16, &high) != 0 ||
        probity_correlation_digits(text + 19, 16, &low) != 0 || text[35] != '-' ||
        probity_correlation_digits(text + 36, 16, &parent) != 0 || text[52] != '-' ||
        probity_correlation_digits(text + 53, 2, &flags) != 0)
        return -1;
    if (text[55] != '\0' && (version == 0 || text[55] != '-'))
        return -1;
    if ((high | low) == 0 || parent == 0)
        return -1;
    *ret_correlation = low != 0 ? low : high;
    return 0;
}

#endif
