/* SPDX-License-Identifier: MIT
 *
 * waits_bytes.h: the numbers in what an index keeps of waits and of the names of descriptors at a
 * mark (doc/trace-format.md, "Index"). One thread at a time; input is untrusted.
 */
#ifndef PROBITY_ANALYSIS_WAITS_BYTES_H
#define PROBITY_ANALYSIS_WAITS_BYTES_H

#include <stddef.h>
#include <stdint.h>

/* What is written. After an error, nothing is added. The caller frees `bytes`. */
struct waits_bytes {
    uint8_t *bytes;
    size_t used, capacity;
    int error;
};

/* Makes room for this number of bytes after those used. Returns the place of the first, or NULL. */
uint8_t *waits_bytes_room(struct waits_bytes *saved, size_t bytes);

void waits_bytes_put(struct waits_bytes *saved, uint64_t value);

/* What is read. Once it is damaged, the rest is zeros. */
struct waits_cursor {
    const uint8_t *at, *end;
    int is_damaged;
};

uint64_t waits_cursor_get(struct waits_cursor *cursor);

#endif
