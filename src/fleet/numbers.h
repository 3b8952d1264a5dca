/* SPDX-License-Identifier: MIT
 *
 * numbers.h: numbers of runs and functions, which do not depend on where they are computed;
 * histograms as columns. Pure functions.
 */
#ifndef PROBITY_FLEET_NUMBERS_H
#define PROBITY_FLEET_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/histogram.h"
#include "reader/reader.h"

#define PROBITY_FLEET_HASH_SEED UINT64_C(0xcbf29ce484222325)

/* Continues the FNV-1a hash `hash` with more bytes. */
uint64_t probity_fleet_hash(uint64_t hash, const void *bytes, size_t count);

/* Converts a histogram to two columns. Returns the number of buckets. */
enum { PROBITY_FLEET_BUCKETS = 7424 };
struct probity_fleet_histogram_list {
    uint16_t buckets[PROBITY_FLEET_BUCKETS];
    uint64_t counts[PROBITY_FLEET_BUCKETS];
};
size_t probity_fleet_list_histogram(const struct probity_histogram *histogram,
                                    struct probity_fleet_histogram_list *ret_list);

/* Returns the number of a run, computed from its session. */
uint64_t probity_fleet_run(const uint8_t session[16]);

/* Returns the number of a function; if it is NULL, computed from its run and site. */
uint64_t probity_fleet_function(const struct probity_function *function, uint64_t run,
                                uint32_t site);

#endif
