/* SPDX-License-Identifier: MIT
 *
 * tally.h: counts the records of each site in the words of a chunk, for estimating the cost of
 * recording.
 */
#ifndef PROBITY_WRITER_TALLY_H
#define PROBITY_WRITER_TALLY_H

#include <stdint.h>

/* An event with values costs about as much as this many hits. */
enum { PROBITY_TALLY_EVENT_HITS = 2 };

struct probity_tally {
    uint32_t *hits;    /* by site, `sites` of them; a function has two, for enter and leave */
    uint32_t sites;
    uint64_t others;   /* hits of numbered probes, and events without a site */
    uint64_t readings; /* number of readings of the CPU clock */
};

/* Adds the words from `first` on, at which a record begins; they may change meanwhile. */
void probity_tally_add(struct probity_tally *tally, const uint64_t *words, uint32_t first,
                       uint32_t end);

#endif
