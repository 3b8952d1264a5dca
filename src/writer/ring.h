/* SPDX-License-Identifier: MIT
 *
 * ring.h: which chunks a ring keeps. For the thread that makes passes (src/writer/pass.h).
 */
#ifndef PROBITY_WRITER_RING_H
#define PROBITY_WRITER_RING_H

#include "writer/pass.h"

/* Discards the oldest full chunks while more than three quarters of all are full, and those older
 * than the ring's window. Writes their declarations. Returns 0 or PROBITY_ERROR_WRITE. */
int probity_ring_forget(struct probity_pass *pass);

/* Notes drops: if records were dropped since the last call, a window is complete only from now
 * on. */
void probity_ring_note_drops(struct probity_pass *pass);

/* Copies the declarations of a drained block into `kept`, as the payload of a separate block.
 * Returns its size; *ret_records: their number, possibly 0. */
size_t probity_ring_declarations(const uint8_t *block, size_t block_bytes, uint8_t *kept,
                                 uint32_t *ret_records);

#endif
