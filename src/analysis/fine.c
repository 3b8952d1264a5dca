/* SPDX-License-Identifier: MIT
 *
 * fine.c: pages of counts, and the walk over them.
 */
#include "analysis/fine.h"

#include <stdlib.h>

#include "probity.h"

enum { PARTS = 1 << PROBITY_FINE_BITS };

int probity_fine_page_make(struct probity_fine *fine, unsigned page)
{
    fine->pages[page] = calloc(PARTS, sizeof *fine->pages[page]);
    return fine->pages[page] != NULL ? 0 : PROBITY_ERROR_MEMORY;
}

/* The middle of a bucket. */
static uint64_t middle_of(unsigned page, unsigned part)
{
    uint64_t width = page > 0 ? UINT64_C(1) << (page - 1) : 1;
    uint64_t least = (page > 0 ? PARTS + (uint64_t)part : part) * width;

    return least + width / 2;
}

uint64_t probity_fine_quantile(const struct probity_fine *fine, unsigned per_mille)
{
    /* From 1; in two steps, so that no count is too large. */
    uint64_t rank = fine->count / 1000 * per_mille + (fine->count % 1000 * per_mille + 999) / 1000;
    uint64_t seen = 0;

    rank = rank > 0 ? rank : 1;
    for (unsigned page = 0; page < PROBITY_FINE_PAGES; page++) {
        for (unsigned part = 0; fine->pages[page] != NULL && part < PARTS; part++) {
            seen += fine->pages[page][part];
            if (seen >= rank)
                return middle_of(page, part);
        }
    }
    return 0;
}

void probity_fine_release(struct probity_fine *fine)
{
    for (unsigned page = 0; page < PROBITY_FINE_PAGES; page++)
        free(fine->pages[page]);
    *fine = (struct probity_fine){.count = 0};
}
