/* SPDX-License-Identifier: MIT
 *
 * mode.h: the mode of a recording, which `probity level --set mode=...` may change.
 */
#ifndef PROBITY_READER_MODE_H
#define PROBITY_READER_MODE_H

#include <stddef.h>
#include <stdint.h>

/* Values in INFO. */
enum { PROBITY_INFO_BLOCK = 0, PROBITY_INFO_DROP = 1, PROBITY_INFO_RING = 2 };

/* Changes of the mode, in time order. */
struct probity_mode_changes {
    uint64_t count, last_tick;
    uint32_t mode; /* mode after the last change */
};

/* Returns the mode that an event `levels` with this payload sets; -1: none. Its text is
 * untrusted. */
int probity_mode_set_by(const uint8_t *payload, size_t bytes);

#endif
