/* SPDX-License-Identifier: MIT
 *
 * spread.c: the scale, and counts to cells.
 */
#include "analysis/spread.h"

#include <string.h>

static uint64_t steps_of(unsigned bits, uint64_t least, uint64_t most)
{
    return probity_fine_step(bits, most) - probity_fine_step(bits, least) + 1;
}

struct probity_spread probity_spread_of(uint64_t least, uint64_t most)
{
    struct probity_spread spread = {PROBITY_SPREAD_BITS_MAX, 1, 0};

    most = most > least ? most : least;
    while (spread.bits > 0 && steps_of(spread.bits, least, most) > PROBITY_SPREAD_CELLS)
        spread.bits--;
    uint64_t steps = steps_of(spread.bits, least, most);
    spread.each = (unsigned)((steps + PROBITY_SPREAD_CELLS - 1) / PROBITY_SPREAD_CELLS);
    spread.first = probity_fine_step(spread.bits, least);
    return spread;
}

uint64_t probity_spread_least(const struct probity_spread *spread, unsigned cell)
{
    return probity_fine_step_least(spread->bits, spread->first + (uint64_t)cell * spread->each);
}

/* Of what profile mode has counted, a bucket may begin before the least value. */
void probity_spread_count(const struct probity_spread *spread, const struct probity_fine *fine,
                          uint64_t ret_counts[PROBITY_SPREAD_CELLS])
{
    struct probity_fine_bucket bucket;
    size_t at = 0;

    memset(ret_counts, 0, PROBITY_SPREAD_CELLS * sizeof *ret_counts);
    while (probity_fine_next(fine, &at, &bucket)) {
        uint64_t step = probity_fine_step(spread->bits, bucket.least);
        uint64_t cell = step > spread->first ? (step - spread->first) / spread->each : 0;
        ret_counts[cell < PROBITY_SPREAD_CELLS ? cell : PROBITY_SPREAD_CELLS - 1] += bucket.count;
    }
}
