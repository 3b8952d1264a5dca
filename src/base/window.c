/* SPDX-License-Identifier: MIT
 *
 * window.c: parses times and sizes. No allocation, no locale.
 */
#include "base/window.h"

#include <string.h>

struct unit {
    char name[4]; /* not a pointer, which would need a relocation in every program */
    uint64_t value;
};

/* Longer names come first, because a shorter one may be a prefix of a longer one. */
static const struct unit times[] = {
    {"min", UINT64_C(60000000000)}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}, {"s", 1000000000},
    {"", 0}};
static const struct unit sizes[] = {
    {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"K", 1 << 10}, {"M", 1 << 20},
    {"G", 1 << 30}, {"", 1}, {"", 0}};

static int is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* Parses a number that fits into 2^53 with three decimals, in thousandths. */
static int take_number(const char **at, uint64_t *ret_thousandths)
{
    const uint64_t most = UINT64_C(9000000000000);
    uint64_t number = 0, unit = 1000;

    if (!is_digit(**at))
        return 0;
    for (; is_digit(**at) && number < most; (*at)++)
        number = number * 10 + (uint64_t)(**at - '0');
    if (number >= most)
        return 0;
    number *= 1000;
    if ((*at)[0] == '.' && is_digit((*at)[1])) {
        for (++*at; is_digit(**at); (*at)++) {
            unit /= 10;
            number += (uint64_t)(**at - '0') * unit;
        }
    }
    *ret_thousandths = number;
    return 1;
}

static const struct unit *take_unit(const struct unit *units, const char **at)
{
    for (; units->value != 0; units++) {
        size_t length = strlen(units->name);
        if (strncmp(*at, units->name, length) == 0) {
            *at += length;
            return units;
        }
    }
    return NULL;
}

static int take(const struct unit *units, const char *text, const char **ret_end,
                uint64_t *ret_value)
{
    uint64_t thousandths = 0;

    *ret_end = text;
    if (!take_number(ret_end, &thousandths))
        return 0;
    const struct unit *unit = take_unit(units, ret_end);
    if (unit == NULL || (thousandths != 0 && unit->value > UINT64_MAX / thousandths))
        return 0;
    *ret_value = thousandths * unit->value / 1000;
    return 1;
}

int probity_window_time(const char *text, const char **ret_end, uint64_t *ret_ns)
{
    return take(times, text, ret_end, ret_ns);
}

int probity_window_bytes(const char *text, const char **ret_end, uint64_t *ret_bytes)
{
    return take(sizes, text, ret_end, ret_bytes);
}

int probity_window_ring(const char *text, uint64_t *ret_ns, uint64_t *ret_bytes)
{
    const uint64_t ns_min = 1000000, ns_max = UINT64_C(86400000000000);
    uint64_t ns = 0, bytes = 0;
    const char *end = text;
    int has_time = probity_window_time(text, &end, &ns);

    if (has_time && (ns < ns_min || ns > ns_max))
        return 0;
    if (has_time && *end != 0 && *end++ != ',')
        return 0;
    if (!has_time)
        end = text;
    if ((!has_time || *end != 0) &&
        (!probity_window_bytes(end, &end, &bytes) || bytes < 1 << 20 || bytes > 1 << 30))
        return 0;
    /* Rejects "30s,", which has nothing after the comma. */
    if (*end != 0 || end[-1] == ',')
        return 0;
    *ret_ns = ns;
    *ret_bytes = bytes;
    return 1;
}
