/* SPDX-License-Identifier: MIT
 *
 * numbers.c: computes the numbers that identify runs and functions in the tables, and lists the
 * buckets of histograms.
 */
#include "fleet/numbers.h"

#include <string.h>

#include "base/bytes.h"

uint64_t probity_fleet_run(const uint8_t session[16])
{
    return probity_get_u64(session);
}

uint64_t probity_fleet_hash(uint64_t hash, const void *bytes, size_t count)
{
    const uint8_t *at = bytes;

    for (size_t i = 0; i < count; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

uint64_t probity_fleet_function(const struct probity_function *function, uint64_t run,
                                uint32_t site)
{
    uint64_t hash = PROBITY_FLEET_HASH_SEED;

    if (function == NULL)
        return probity_fleet_hash(probity_fleet_hash(hash, &run, sizeof run), &site, sizeof site);
    const char *const texts[] = {function->name, function->signature, function->file,
                                 function->object, function->returns};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        hash = probity_fleet_hash(hash, texts[i], strlen(texts[i]) + 1);
    hash = probity_fleet_hash(hash, &function->line, sizeof function->line);
    return probity_fleet_hash(hash, &function->level, sizeof function->level);
}

size_t probity_fleet_list_histogram(const struct probity_histogram *histogram,
                                    struct probity_fleet_histogram_list *ret_list)
{
    struct probity_histogram_bucket bucket;
    size_t at = 0, count = 0;

    while (count < PROBITY_FLEET_BUCKETS && probity_histogram_next(histogram, &at, &bucket)) {
        ret_list->buckets[count] =
            (uint16_t)probity_histogram_step(PROBITY_HISTOGRAM_BITS, bucket.least);
        ret_list->counts[count++] = bucket.count;
    }
    return count;
}
