/* SPDX-License-Identifier: MIT
 *
 * switched.h: the sites of one trace that are switched off at the time of its current event
 * (doc/trace-format.md, "Sites that are switched off"). If their hits are missing, the roles and
 * ids of other hits would lead to waits, holds and requests that did not happen.
 */
#ifndef PROBITY_READER_SWITCHED_H
#define PROBITY_READER_SWITCHED_H

#include "reader/names.h"
#include "reader/reader.h"

struct probity_switched_site {
    struct probity_switched_stem *stem; /* the stem that counts the site; NULL: none */
    uint8_t is_off, is_request;         /* is_request: counted in `requests` */
};

/* All zero: none. */
struct probity_switched_sites {
    struct probity_switched_site *sites; /* indexed by number */
    uint32_t size;
    size_t count;    /* number of sites that are off */
    size_t requests; /* those of them that begin or end requests */
    struct probity_hashtable stems; /* names without roles, of sites that are or were off */
};

/* Takes the payload of a PROBITY_EVENT_SITES_SWITCHED. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_switched_take(struct probity_switched_sites *sites, const struct probity_names *names,
                          const uint8_t *payload, size_t bytes);

/* Removes a hit's role or correlation id, if it has no meaning while these sites are off. */
void probity_switched_adjust(const struct probity_switched_sites *sites, struct probity_event *hit);

void probity_switched_release(struct probity_switched_sites *sites);

#endif
