/* SPDX-License-Identifier: MIT
 *
 * waits_bytes.h: encodes and decodes numbers in the part of an index that describes waits and the
 * names of descriptors at a mark (doc/trace-format.md, "Index"). For one thread at a time; input is
 * untrusted.
 */
#ifndef PROBITY_ANALYSIS_WAITS_BYTES_H
#define PROBITY_ANALYSIS_WAITS_BYTES_H

#include <stddef.h>
#include <stdint.h>

/* The bytes written so far. After an error, nothing is added. The caller frees `bytes`. */
struct waits_bytes {
    uint8_t *bytes;
    size_t used, capacity;
    int error;
};

/* Makes room for more bytes. Returns the address of the first, or NULL. */
uint8_t *waits_bytes_room(struct waits_bytes *saved, size_t bytes);

void waits_bytes_put(struct waits_bytes *saved, uint64_t value);

/* The bytes to read. After damage is found, zeros are read. */
struct waits_cursor {
    const uint8_t *at, *end;
    int is_damaged;
};

uint64_t waits_cursor_get(struct waits_cursor *cursor);

#endif
