/* SPDX-License-Identifier: MIT
 *
 * share.h: a share as users write it, a percentage.
 */
#ifndef PROBITY_BASE_SHARE_H
#define PROBITY_BASE_SHARE_H

#include <stdint.h>

/* Parses a percentage from 0.0001 to 100, with or without a decimal point and "%", into millionths.
 * Returns 1, or 0 if the text is not a percentage. */
int probity_share_parse(const char *text, uint32_t *ret_share);

#endif
