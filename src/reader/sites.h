/* SPDX-License-Identifier: MIT
 *
 * sites.h: the list of sites compiled into the program of one trace: its SITES blocks, read on
 * demand.
 */
#ifndef PROBITY_READER_SITES_H
#define PROBITY_READER_SITES_H

#include <stddef.h>
#include <stdint.h>

#include "reader/reader.h"
#include "reader/scan.h"

struct probity_trace;

/* Positions of the blocks in the file. */
struct probity_sites_places {
    struct probity_sites_place {
        uint64_t offset, bytes;
    } *items;
    size_t count, capacity;
};

/* Takes a SITES block found by a prescan. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_sites_places_add(struct probity_sites_places *places,
                             const struct probity_scan_item *item);
void probity_sites_places_release(struct probity_sites_places *places);

/* See probity_reader_sites(). */
int probity_sites_read(struct probity_trace *trace, probity_sites_take *take, void *context,
                       uint64_t *ret_left_out);

#endif
