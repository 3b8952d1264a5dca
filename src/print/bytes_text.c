/* SPDX-License-Identifier: MIT
 *
 * bytes_text.c: chooses the unit of a number of bytes, and the number of decimals.
 */
#include "print/bytes_text.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

const char *probity_bytes_text(uint64_t bytes, char *ret_text)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes / 1024;
    size_t unit = 0;

    if (bytes < 1024) {
        snprintf(ret_text, PROBITY_BYTES_TEXT_BYTES, "%" PRIu64 " B", bytes);
        return ret_text;
    }
    for (; value >= 1000 && unit + 1 < sizeof units / sizeof *units; unit++)
        value /= 1024;
    snprintf(ret_text, PROBITY_BYTES_TEXT_BYTES, value < 10 && unit > 0 ? "%.1f %s" : "%.0f %s",
             value, units[unit]);
    return ret_text;
}
