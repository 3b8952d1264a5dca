/* SPDX-License-Identifier: MIT
 *
 * time_text.c: chooses the unit of a time, and the number of decimals.
 */
#include "print/time_text.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

const char *probity_time_text(uint64_t ns, char *ret_text)
{
    static const struct {
        uint64_t ns;
        const char *unit;
    } units[] = {{1000, "us"}, {1000000, "ms"}, {1000000000, "s"}, {UINT64_C(3600000000000), "h"}};
    size_t unit = 0;

    if (ns < 1000) {
        snprintf(ret_text, PROBITY_TIME_TEXT_BYTES, "%uns", (unsigned)ns);
        return ret_text;
    }
    /* Seconds may have more digits, because minutes and hours are not decimal. */
    while (unit < 3 && ns >= (unit < 2 ? units[unit + 1].ns : UINT64_C(99999) * 1000000000))
        unit++;
    uint64_t whole = ns / units[unit].ns, rest = ns % units[unit].ns;
    int digits = whole < 10 ? 3 : whole < 100 ? 2 : whole < 1000 ? 1 : 0;
    unsigned scale = digits == 3 ? 1000 : digits == 2 ? 100 : 10;
    /* Truncates, because 999.96 us must not become a millisecond. */
    unsigned fraction = (unsigned)((double)rest / (double)units[unit].ns * scale);
    fraction = fraction < scale ? fraction : scale - 1;
    if (digits == 0)
        snprintf(ret_text, PROBITY_TIME_TEXT_BYTES, "%" PRIu64 "%s", whole, units[unit].unit);
    else
        snprintf(ret_text, PROBITY_TIME_TEXT_BYTES, "%" PRIu64 ".%0*u%s", whole, digits, fraction,
                 units[unit].unit);
    return ret_text;
}

const char *probity_real_time_text(double ns, char *ret_text)
{
    const double least_too_large = 18446744073709551616.0;
    uint64_t count = ns > 0 ? UINT64_MAX : 0;

    if (ns > 0 && ns + 0.5 < least_too_large)
        count = (uint64_t)(ns + 0.5);
    return probity_time_text(count, ret_text);
}

const char *probity_age_text(uint64_t ns, char *ret_text)
{
    static const struct {
        uint64_t seconds;
        const char *name;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
    uint64_t seconds = ns / 1000000000;
    size_t unit = 0;

    while (unit < 3 && seconds < 2 * units[unit].seconds)
        unit++;
    snprintf(ret_text, PROBITY_TIME_TEXT_BYTES, "%" PRIu64 " %s", seconds / units[unit].seconds,
             units[unit].name);
    return ret_text;
}
