/* SPDX-License-Identifier: MIT
 *
 * ticks.c: converts nanoseconds to ticks.
 */
#include "base/ticks.h"

uint64_t probity_ticks_of_ns(int64_t ns, uint64_t rate)
{
    return rate != 0 ? (uint64_t)((probity_wide)ns * ((probity_wide)1 << 32) / (probity_wide)rate)
                     : 0;
}
