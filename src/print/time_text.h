/* SPDX-License-Identifier: MIT
 *
 * time_text.h: formats a time with its unit as human-readable text.
 */
#ifndef PROBITY_PRINT_TIME_TEXT_H
#define PROBITY_PRINT_TIME_TEXT_H

#include <stdint.h>

enum { PROBITY_TIME_TEXT_BYTES = 24 };

/* Writes, for example, "1.234ms": four digits in 7 columns. Returns ret_text, which has
 * PROBITY_TIME_TEXT_BYTES. */
const char *probity_time_text(uint64_t ns, char *ret_text);

/* Same as above, rounded, and clamped to what a count of ns can hold, because a damaged history may
 * have any value. */
const char *probity_real_time_text(double ns, char *ret_text);

/* Writes, for example, "3 min": seconds, or the largest unit of minutes, hours and days of which
 * there are at least two, rounded down. Returns ret_text, which has PROBITY_TIME_TEXT_BYTES. */
const char *probity_age_text(uint64_t ns, char *ret_text);

#endif
