/* SPDX-License-Identifier: MIT
 *
 * share.c: parses a percentage.
 */
#include "base/share.h"

int probity_share_parse(const char *text, uint32_t *ret_share)
{
    enum { PERCENT = 10000, MOST = 100 * PERCENT };
    const char *at = text;
    uint32_t share = 0, unit = PERCENT;

    if (*at < '0' || *at > '9')
        return 0;
    for (; *at >= '0' && *at <= '9' && share <= MOST; at++)
        share = share * 10 + (uint32_t)(*at - '0') * PERCENT;
    if (at[0] == '.' && at[1] >= '0' && at[1] <= '9') {
        for (at++; *at >= '0' && *at <= '9' && unit > 1; at++)
            share += (uint32_t)(*at - '0') * (unit /= 10);
    }
    at += *at == '%';
    if (*at != 0 || share == 0 || share > MOST)
        return 0;
    *ret_share = share;
    return 1;
}
