/* SPDX-License-Identifier: MIT
 *
 * sparkline.c: computes the scale, and the cells from the counts.
 */
#include "analysis/sparkline.h"

#include <string.h>

static uint64_t steps_of(unsigned bits, uint64_t least, uint64_t most)
{
    return probity_histogram_step(bits, most) - probity_histogram_step(bits, least) + 1;
}

struct probity_sparkline probity_sparkline_of(uint64_t least, uint64_t most)
{
    struct probity_sparkline spread = {PROBITY_SPARKLINE_BITS_MAX, 1, 0};

    most = most > least ? most : least;
    while (spread.bits > 0 && steps_of(spread.bits, least, most) > PROBITY_SPARKLINE_CELLS)
        spread.bits--;
    uint64_t steps = steps_of(spread.bits, least, most);
    spread.each = (unsigned)((steps + PROBITY_SPARKLINE_CELLS - 1) / PROBITY_SPARKLINE_CELLS);
    spread.first = probity_histogram_step(spread.bits, least);
    return spread;
}

uint64_t probity_sparkline_least(const struct probity_sparkline *spread, unsigned cell)
{
    return probity_histogram_step_least(spread->bits,
                                        spread->first + (uint64_t)cell * spread->each);
}

/* In profile mode, the minimum may be above the beginning of its bucket. */
void probity_sparkline_count(const struct probity_sparkline *spread,
                             const struct probity_histogram *fine,
                             uint64_t ret_counts[PROBITY_SPARKLINE_CELLS])
{
    struct probity_histogram_bucket bucket;
    size_t at = 0;

    memset(ret_counts, 0, PROBITY_SPARKLINE_CELLS * sizeof *ret_counts);
    while (probity_histogram_next(fine, &at, &bucket)) {
        uint64_t step = probity_histogram_step(spread->bits, bucket.least);
        uint64_t cell = step > spread->first ? (step - spread->first) / spread->each : 0;
        ret_counts[cell < PROBITY_SPARKLINE_CELLS ? cell : PROBITY_SPARKLINE_CELLS -
                   1] += bucket.count;
    }
}
