/* SPDX-License-Identifier: MIT
 *
 * histogram.c: creates and enlarges pages of counts, and iterates over them.
 */
#include "analysis/histogram.h"

#include <stdlib.h>
#include <string.h>

#include "probity.h"

/* A page with FEW items is a cache line, including the word that malloc() keeps before the
 * block. */
enum { FEW = 7, PART_MASK = PROBITY_HISTOGRAM_PARTS - 1 };

/* Makes room for one more page, usually next to the others. */
static int make_room(struct probity_histogram *fine, unsigned page)
{
    uint32_t first = page, end = page + 1, old_end = fine->first + fine->room;

    if (fine->room > 0) {
        first = fine->first < page ? fine->first : page;
        end = old_end > page ? old_end : page + 1;
    }
    void **pages = calloc(end - first, sizeof *pages);
    if (pages == NULL)
        return PROBITY_ERROR_MEMORY;
    if (fine->room > 0)
        memcpy(pages + (fine->first - first), fine->pages, fine->room * sizeof *pages);
    free(fine->pages);
    fine->pages = pages;
    fine->first = first;
    fine->room = end - first;
    return 0;
}

/* Counts a value in a sparse page. Returns whether there was room. */
static int add_to_few(uint64_t *items, unsigned part, uint64_t count)
{
    for (int i = 0; i < FEW; i++) {
        if (items[i] != 0 && (items[i] & PART_MASK) != part)
            continue;
        if (count > (UINT64_MAX >> PROBITY_HISTOGRAM_BITS) - (items[i] >> PROBITY_HISTOGRAM_BITS))
            return 0;
        items[i] = (items[i] & ~(uint64_t)PART_MASK) + (count << PROBITY_HISTOGRAM_BITS | part);
        return 1;
    }
    return 0;
}

static int add_to_all(uint32_t *counts, unsigned part, uint64_t count)
{
    if (count > UINT32_MAX - counts[part])
        return 0;
    counts[part] += (uint32_t)count;
    return 1;
}

static uint64_t count_of(const struct probity_histogram *fine, unsigned page, unsigned part)
{
    const void *counts = fine->pages[page - fine->first];
    const uint64_t *items = counts;

    if (fine->all >> page & 1)
        return ((const uint32_t *)counts)[part];
    if (fine->wide >> page & 1)
        return items[part];
    for (int i = 0; i < FEW && items[i] != 0; i++) {
        if ((items[i] & PART_MASK) == part)
            return items[i] >> PROBITY_HISTOGRAM_BITS;
    }
    return 0;
}

/* Whether the counts of a sparse page, plus `count`, fit in 32 bits. */
static int is_narrow(const struct probity_histogram *fine, unsigned page, uint64_t count)
{
    const uint64_t *items = fine->pages[page - fine->first];
    uint64_t most = count;

    for (int i = 0; i < FEW; i++)
        most |= items[i] >> PROBITY_HISTOGRAM_BITS;
    return most <= UINT32_MAX;
}

/* Enlarges a page that has no room for another bucket, or for so large a count. */
static int make_larger(struct probity_histogram *fine, unsigned page, uint64_t count)
{
    int is_wide = (fine->all >> page & 1) != 0 || !is_narrow(fine, page, count);
    uint64_t *wide = calloc(PROBITY_HISTOGRAM_PARTS, is_wide ? sizeof *wide : sizeof(uint32_t));
    uint32_t *all = (uint32_t *)wide;

    if (wide == NULL)
        return PROBITY_ERROR_MEMORY;
    for (unsigned part = 0; part < PROBITY_HISTOGRAM_PARTS; part++) {
        uint64_t seen = count_of(fine, page, part);
        if (is_wide)
            wide[part] = seen;
        else
            all[part] = (uint32_t)seen;
    }
    free(fine->pages[page - fine->first]);
    fine->pages[page - fine->first] = wide;
    fine->all = (fine->all & ~(UINT64_C(1) << page)) | (uint64_t)!is_wide << page;
    fine->wide |= (uint64_t)is_wide << page;
    return 0;
}

int probity_histogram_add_slowly(struct probity_histogram *fine, unsigned page, unsigned part,
                                 uint64_t count)
{
    int is_in = 0;

    if (page - fine->first >= fine->room && make_room(fine, page) != 0)
        return PROBITY_ERROR_MEMORY;
    void **place = &fine->pages[page - fine->first];
    if (*place == NULL && (*place = calloc(FEW, sizeof(uint64_t))) == NULL)
        return PROBITY_ERROR_MEMORY;
    while (!is_in) {
        is_in = 1;
        if (fine->wide >> page & 1)
            ((uint64_t *)*place)[part] += count;
        else
            is_in = fine->all >> page & 1 ? add_to_all(*place, part, count)
                                          : add_to_few(*place, part, count);
        if (!is_in && make_larger(fine, page, count) != 0)
            return PROBITY_ERROR_MEMORY;
    }
    fine->count += count;
    return 0;
}

int probity_histogram_add_times(struct probity_histogram *fine, uint64_t value, uint64_t count)
{
    unsigned page = probity_histogram_page(value);

    return count > 0 ?
        probity_histogram_add_slowly(fine, page, probity_histogram_part(value, page), count)
                     : 0;
}

/* ---- Iteration ----------------------------------------------------------------------------------
 */

int probity_histogram_next(const struct probity_histogram *fine, size_t *at,
                           struct probity_histogram_bucket *ret_bucket)
{
    for (size_t i = *at; i < (size_t)fine->room * PROBITY_HISTOGRAM_PARTS; i++) {
        unsigned page = fine->first + (unsigned)(i / PROBITY_HISTOGRAM_PARTS);
        unsigned part = i % PROBITY_HISTOGRAM_PARTS;
        if (fine->pages[page - fine->first] == NULL) {
            i |= PART_MASK;
            continue;
        }
        uint64_t count = count_of(fine, page, part);
        if (count == 0)
            continue;
        uint64_t width = page > 0 ? UINT64_C(1) << (page - 1) : 1;
        uint64_t least = (page > 0 ? PROBITY_HISTOGRAM_PARTS + (uint64_t)part : part) * width;
        *ret_bucket = (struct probity_histogram_bucket){least, width, count};
        *at = i + 1;
        return 1;
    }
    return 0;
}

int probity_histogram_merge(struct probity_histogram *to, const struct probity_histogram *from)
{
    struct probity_histogram_bucket bucket;
    size_t at = 0;
    int error = 0;

    while (error == 0 && probity_histogram_next(from, &at, &bucket))
        error = probity_histogram_add_times(to, bucket.least, bucket.count);
    return error;
}

/* Returns the rank of a quantile, starting at 1. Computed in two steps, so that no count
 * overflows. */
static uint64_t rank_of(const struct probity_histogram *fine, unsigned per_mille)
{
    uint64_t rank = fine->count / 1000 * per_mille + (fine->count % 1000 * per_mille + 999) / 1000;

    return rank > 0 ? rank : 1;
}

uint64_t probity_histogram_quantile(const struct probity_histogram *fine, unsigned per_mille,
                                    uint64_t min, uint64_t max)
{
    uint64_t rank = rank_of(fine, per_mille), seen = 0;
    struct probity_histogram_bucket bucket = {0};
    size_t at = 0;

    if (fine->count == 0)
        return 0;
    if (rank == 1 || rank == fine->count)
        return rank == 1 ? min : max;
    while (seen < rank && probity_histogram_next(fine, &at, &bucket))
        seen += bucket.count;
    uint64_t middle = bucket.least + bucket.width / 2;
    middle = middle < max ? middle : max;
    return middle > min ? middle : min;
}

void probity_histogram_release(struct probity_histogram *fine)
{
    for (uint32_t i = 0; i < fine->room; i++)
        free(fine->pages[i]);
    free(fine->pages);
    *fine = (struct probity_histogram){.count = 0};
}
