/* SPDX-License-Identifier: MIT
 *
 * tally.c: counts records in a second pass over the words, after packing, while these are in the
 * cache. Runs in the writer thread. Accepts any words.
 */
#include "writer/tally.h"

#include "base/assert.h"
#include "format/stream.h"
#include "spool/layout.h"

static void add_hits(struct probity_tally *tally, uint64_t site, uint32_t hits)
{
    if (site < tally->sites)
        tally->hits[site] += hits;
    else
        tally->others += hits;
}

static void add_event(struct probity_tally *tally, const uint64_t *words, uint32_t count)
{
    enum { HEAD_WORDS = 3 };
    uint32_t kind = count > HEAD_WORDS ? words[2] & 0xffff : 0;
    int has_site = kind == PROBITY_EVENT_ENTER || kind == PROBITY_EVENT_LEAVE;

    probity_assert(count > 0);
    if (kind == PROBITY_EVENT_HIT_WITH)
        has_site = words[HEAD_WORDS] >> 32 & PROBITY_HIT_WITH_SITE;
    add_hits(tally, has_site ? (uint32_t)words[HEAD_WORDS] : UINT64_MAX,
             PROBITY_TALLY_EVENT_HITS);
}

void probity_tally_add(struct probity_tally *tally, const uint64_t *words, uint32_t first,
                       uint32_t end)
{
    for (uint32_t at = first, count = 1; at < end; at += count) {
        uint64_t word = __atomic_load_n(&words[at], __ATOMIC_RELAXED);
        uint32_t code = (uint32_t)(word & PROBITY_WORD_CODE_MASK), kind = code & 15;
        count = 1;
        if (code >= PROBITY_WORD_CODE_FIRST) {
            uint32_t hit = code - PROBITY_WORD_CODE_FIRST;
            add_hits(tally, hit % 2 != 0 ? hit / 2 : UINT64_MAX, 1);
            continue;
        }
        uint32_t length = code >> 4 & 255;
        if (word == 0 || length == 0 || length > end - at)
            continue;
        count = length;
        tally->readings += kind == PROBITY_WORD_CPU;
        tally->others += kind == PROBITY_WORD_HIT;
        if (kind == PROBITY_WORD_EVENT)
            add_event(tally, words + at, length);
    }
}
