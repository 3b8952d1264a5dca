/* SPDX-License-Identifier: MIT
 *
 * blocks_join.c: adds sums of blocks from a database, or from the events of other threads of the
 * same traces.
 */
#include <string.h>

#include "answers/blocks/blocks_internal.h"
#include "probity.h"

static int add_sums(struct probity_blocks_pair *to, const struct probity_blocks_pair *sums)
{
    to->calls += sums->calls;
    to->wall_ns += sums->wall_ns;
    to->cpu_calls += sums->cpu_calls;
    to->cpu_ns += sums->cpu_ns;
    to->cpu_wall_ns += sums->cpu_wall_ns;
    to->sum_ns += sums->sum_ns;
    to->min_ns = sums->min_ns < to->min_ns ? sums->min_ns : to->min_ns;
    to->max_ns = sums->max_ns > to->max_ns ? sums->max_ns : to->max_ns;
    return probity_histogram_merge(&to->durations, &sums->durations);
}

static int add_thread_sums(struct probity_blocks *blocks, struct pair_item *all,
                           const struct probity_blocks_pair *sums)
{
    struct pair_item *item = probity_blocks_pair_at(blocks, all->from, all->to, sums->thread);
    struct followed_item *followed =
        item != NULL ? probity_blocks_followed_at(blocks, all->from, sums->thread) : NULL;

    if (followed == NULL)
        return PROBITY_ERROR_MEMORY;
    if (item->pair.calls == 0)
        probity_blocks_add_row(all, item);
    followed->count += sums->calls;
    return add_sums(&item->pair, sums);
}

static struct pair_item *pair_of(struct probity_blocks *blocks, const struct probity_event *from,
                                 const struct probity_event *to)
{
    struct probe_item *of_from = probity_blocks_probe(blocks, from);
    struct probe_item *of_to = of_from != NULL ? probity_blocks_probe(blocks, to) : NULL;

    return of_to != NULL ? probity_blocks_pair_at(blocks, of_from, of_to, NULL) : NULL;
}

int probity_blocks_add(struct probity_blocks *blocks, const struct probity_event *from,
                       const struct probity_event *to, const struct probity_blocks_pair *sums)
{
    struct pair_item *item = pair_of(blocks, from, to);

    if (item == NULL)
        return PROBITY_ERROR_MEMORY;
    if (sums->calls == 0)
        return 0;
    blocks->pair_count += item->pair.calls == 0;
    item->from->followed += sums->calls;
    int error = add_sums(&item->pair, sums);
    return error == 0 && sums->thread != NULL ? add_thread_sums(blocks, item, sums) : error;
}

int probity_blocks_add_instance(struct probity_blocks *blocks, const struct probity_event *from,
                                const struct probity_event *to,
                                const struct probity_blocks_instance *instance)
{
    struct pair_item *item = pair_of(blocks, from, to);

    if (item == NULL)
        return PROBITY_ERROR_MEMORY;
    if (item->pair.slowest_count < blocks->options.slowest)
        item->pair.slowest[item->pair.slowest_count++] = *instance;
    return 0;
}

/* ---- Parts -------------------------------------------------------------------------------------
 */

static struct probe_item *same_probe(struct probity_blocks *blocks, const struct probe_item *item)
{
    return (void *)probity_probes_same(&blocks->probes, &item->probe);
}

/* Whether block a is listed before b: it took longer or, if equal, ended earlier. */
static int is_before(const struct probity_blocks_instance *a,
                     const struct probity_blocks_instance *b)
{
    uint64_t a_end_ns = a->at_ns + a->wall_ns, b_end_ns = b->at_ns + b->wall_ns;

    if (a->value_ns != b->value_ns)
        return a->value_ns > b->value_ns;
    if (a->thread->trace != b->thread->trace)
        return a_end_ns != b_end_ns ? a_end_ns < b_end_ns : a->thread->trace < b->thread->trace;
    if (a->end_tick != b->end_tick)
        return a->end_tick < b->end_tick;
    return a->thread->thread < b->thread->thread;
}

/* Keeps the `most` slowest of both. */
static void join_slowest(struct probity_blocks_pair *to, const struct probity_blocks_pair *from,
                         size_t most)
{
    for (size_t i = 0; i < from->slowest_count; i++) {
        const struct probity_blocks_instance *added = &from->slowest[i];
        size_t place = to->slowest_count;
        while (place > 0 && is_before(added, &to->slowest[place - 1]))
            place--;
        if (place == most)
            return;
        size_t moved = to->slowest_count - place - (to->slowest_count == most);
        memmove(&to->slowest[place + 1], &to->slowest[place], moved * sizeof *added);
        to->slowest[place] = *added;
        to->slowest_count += to->slowest_count < most;
    }
}

static int join_sums(const struct probity_blocks *blocks, struct probity_blocks_pair *to,
                     const struct probity_blocks_pair *from)
{
    join_slowest(to, from, blocks->options.slowest);
    return add_sums(to, from);
}

static int join_pair(struct probity_blocks *blocks, const struct pair_item *item)
{
    struct probe_item *from = same_probe(blocks, item->from);
    struct probe_item *to = from != NULL ? same_probe(blocks, item->to) : NULL;
    struct pair_item *all = to != NULL ? probity_blocks_pair_at(blocks, from, to, NULL) : NULL;

    if (all == NULL)
        return PROBITY_ERROR_MEMORY;
    if (item->pair.thread == NULL) {
        blocks->pair_count += all->pair.calls == 0;
        return join_sums(blocks, &all->pair, &item->pair);
    }
    struct pair_item *row = probity_blocks_pair_at(blocks, from, to, item->pair.thread);
    if (row == NULL)
        return PROBITY_ERROR_MEMORY;
    probity_blocks_add_row(all, row);
    return join_sums(blocks, &row->pair, &item->pair);
}

int probity_blocks_join(struct probity_blocks *blocks, const struct probity_blocks *part)
{
    const void *item = NULL;

    while ((item = probity_hashtable_next(&part->pairs, item)) != NULL) {
        if (join_pair(blocks, item) != 0)
            return PROBITY_ERROR_MEMORY;
    }
    while ((item = probity_hashtable_next(&part->probes.probes, item)) != NULL) {
        const struct probe_item *probe = item;
        struct probe_item *same = same_probe(blocks, probe);
        if (same == NULL)
            return PROBITY_ERROR_MEMORY;
        same->followed += probe->followed;
    }
    while ((item = probity_hashtable_next(&part->followed, item)) != NULL) {
        const struct followed_item *followed = item;
        struct probe_item *from = same_probe(blocks, (const void *)followed->from);
        struct followed_item *same =
            from != NULL ? probity_blocks_followed_at(blocks, from, followed->thread) : NULL;
        if (same == NULL)
            return PROBITY_ERROR_MEMORY;
        same->count += followed->count;
    }
    return 0;
}

int probity_blocks_are_joinable(const struct probity_blocks *left,
                                const struct probity_blocks *right)
{
    const struct probity_probe *probe = NULL;

    while ((probe = probity_hashtable_next(&left->probes.probes, probe)) != NULL) {
        const struct probity_probe *other = probity_probes_like(&right->probes, probe);
        if (other != NULL && probe->name != NULL && other->name != NULL &&
            strcmp(probe->name, other->name) != 0)
            return 0;
    }
    return 1;
}
