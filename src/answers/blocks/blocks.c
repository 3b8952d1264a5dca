/* SPDX-License-Identifier: MIT
 *
 * blocks.c: pairs of hits. Each probe caches the pairs that followed it recently. The hash table is
 * searched only on a miss.
 */
#include "answers/blocks/blocks_internal.h"

#include <stdlib.h>

#include "analysis/request_flow.h"
#include "base/array_grow.h"
#include "base/hash.h"
#include "base/hashtable.h"
#include "probity.h"

/* A probe may be named after its first hits, and the name may change its role. */
void probity_blocks_set_role(const struct probity_blocks *blocks, struct probe_item *item,
                             const struct probity_event *event)
{
    item->has_role = 1;
    item->named = item->probe.name;
    item->role |= blocks->options.role != NULL
                      ? blocks->options.role(blocks->options.context, event)
                      : PROBITY_BLOCKS_BEGINS | PROBITY_BLOCKS_ENDS;
}

/* ---- Pairs -------------------------------------------------------------------------------------
 */

struct pair_item *probity_blocks_pair_at(struct probity_blocks *blocks, struct probe_item *from,
                                         struct probe_item *to,
                                         const struct probity_thread_label *thread)
{
    uint64_t hash = probity_hash((uint64_t)from->probe.place << 32 | to->probe.place);
    hash = thread != NULL ? probity_hash(hash ^ (uintptr_t)thread) : hash;
    struct pair_item *item = probity_hashtable_at(&blocks->pairs, hash);

    while (item != NULL && (item->to != to || item->from != from || item->pair.thread != thread))
        item = (void *)item->link.next;
    if (item != NULL)
        return item;
    size_t slowest = blocks->options.slowest;
    item = calloc(1, sizeof *item);
    if (item != NULL)
        item->pair.slowest = calloc(slowest, sizeof *item->pair.slowest);
    if (item == NULL || item->pair.slowest == NULL ||
        probity_hashtable_add(&blocks->pairs, item, hash) != 0) {
        if (item != NULL)
            free(item->pair.slowest);
        free(item);
        return NULL;
    }
    item->pair.from = &from->probe;
    item->pair.to = &to->probe;
    item->pair.thread = thread;
    item->pair.min_ns = UINT64_MAX;
    item->from = from;
    item->to = to;
    return item;
}

static __attribute__((noinline)) struct pair_item *find_pair(struct probity_blocks *blocks,
                                                             struct probe_item *from,
                                                             struct probe_item *to)
{
    struct pair_item *item = probity_blocks_pair_at(blocks, from, to, NULL);

    if (item != NULL)
        from->recent[to->probe.place & (RECENT - 1)] = item;
    return item;
}

struct followed_item *probity_blocks_followed_at(struct probity_blocks *blocks,
                                                 const struct probe_item *from,
                                                 const struct probity_thread_label *thread)
{
    uint64_t hash = probity_hash(probity_hash(from->probe.place) ^ (uintptr_t)thread);
    struct followed_item *item = probity_hashtable_at(&blocks->followed, hash);

    while (item != NULL && (item->from != from || item->thread != thread))
        item = (void *)item->link.next;
    if (item != NULL)
        return item;
    item = calloc(1, sizeof *item);
    if (item == NULL || probity_hashtable_add(&blocks->followed, item, hash) != 0) {
        free(item);
        return NULL;
    }
    item->from = from;
    item->thread = thread;
    return item;
}

static struct last_hit *grow_last(struct probity_blocks *blocks, uint32_t slot)
{
    struct last_hit *last =
        probity_array_grow(blocks->last, sizeof *last, slot, &blocks->last_count);

    if (last != NULL)
        blocks->last = last;
    return last;
}

/* If CLOCK_REALTIME was set back in between, the block counts as 0. */
static inline uint64_t wall_of(const struct last_hit *last, const struct probity_event *event)
{
    return event->wall_ns > last->wall_ns ? event->wall_ns - last->wall_ns : 0;
}

static inline uint64_t cpu_of(const struct last_hit *last, const struct probity_event *event)
{
    return event->cpu_ns > last->cpu_ns ? event->cpu_ns - last->cpu_ns : 0;
}

/* Inserts a block among the slowest, in order. Of equal blocks, the earlier stays first. */
static __attribute__((noinline)) int keep_instance(struct probity_blocks *blocks,
                                                   struct probity_blocks_pair *pair,
                                                   const struct last_hit *last,
                                                   const struct probity_event *event,
                                                   uint64_t value_ns)
{
    const struct probity_thread_label *thread = probity_thread_table_at(&blocks->threads, event);
    struct probity_blocks_instance *slowest = pair->slowest;
    size_t place = pair->slowest_count;

    if (thread == NULL)
        return PROBITY_ERROR_MEMORY;
    if (place < blocks->options.slowest)
        pair->slowest_count++;
    else
        place--;
    for (; place > 0 && slowest[place - 1].value_ns < value_ns; place--)
        slowest[place] = slowest[place - 1];
    slowest[place] = (struct probity_blocks_instance){
        thread, last->wall_ns, wall_of(last, event), cpu_of(last, event), value_ns,
        event->cpu_known && last->is_cpu_known, event->tick};
    return 0;
}

static inline int add_block(struct probity_blocks *blocks, struct probity_blocks_pair *pair,
                            const struct last_hit *last, const struct probity_event *event)
{
    uint64_t wall_ns = wall_of(last, event), cpu_ns = cpu_of(last, event), value_ns = wall_ns;
    int is_cpu_known = event->cpu_known && last->is_cpu_known;

    pair->calls++;
    pair->wall_ns += wall_ns;
    if (is_cpu_known) {
        pair->cpu_calls++;
        pair->cpu_ns += cpu_ns;
        pair->cpu_wall_ns += wall_ns;
    }
    if (__builtin_expect(blocks->options.measure != PROBITY_BLOCKS_MEASURE_WALL, 0)) {
        if (!is_cpu_known)
            return 0;
        int is_cpu = blocks->options.measure == PROBITY_BLOCKS_MEASURE_CPU;
        value_ns = is_cpu ? cpu_ns : wall_ns > cpu_ns ? wall_ns - cpu_ns : 0;
    }
    pair->sum_ns += value_ns;
    pair->min_ns = value_ns < pair->min_ns ? value_ns : pair->min_ns;
    if (value_ns > pair->max_ns)
        pair->max_ns = value_ns;
    if (__builtin_expect(pair->slowest_count < blocks->options.slowest ||
                             value_ns > pair->slowest[pair->slowest_count - 1].value_ns, 0) &&
        keep_instance(blocks, pair, last, event, value_ns) != 0)
        return PROBITY_ERROR_MEMORY;
    return probity_histogram_add(&pair->durations, value_ns);
}

static __attribute__((noinline)) int add_to_thread(struct probity_blocks *blocks,
                                                   struct pair_item *all,
                                                   const struct last_hit *last,
                                                   const struct probity_event *event)
{
    const struct probity_thread_label *thread = probity_thread_table_at(&blocks->threads, event);
    struct pair_item *item =
        thread != NULL ? probity_blocks_pair_at(blocks, all->from, all->to, thread) : NULL;

    if (item == NULL)
        return PROBITY_ERROR_MEMORY;
    if (item->pair.calls == 0)
        probity_blocks_add_row(all, item);
    return add_block(blocks, &item->pair, last, event);
}

/* Counts a hit that ends a block or begins a new one and follows a hit of `from`. */
static inline int count_followed(struct probity_blocks *blocks, struct probe_item *from,
                                 const struct probity_event *event)
{
    from->followed++;
    if (__builtin_expect(!blocks->options.by_thread, 1))
        return 0;
    const struct probity_thread_label *thread = probity_thread_table_at(&blocks->threads, event);
    struct followed_item *item =
        thread != NULL ? probity_blocks_followed_at(blocks, from, thread) : NULL;
    if (item == NULL)
        return PROBITY_ERROR_MEMORY;
    item->count++;
    return 0;
}

static inline int end_block(struct probity_blocks *blocks, const struct last_hit *last,
                            struct probe_item *to, const struct probity_event *event)
{
    struct probe_item *from = last->probe;
    struct pair_item *item = from->recent[to->probe.place & (RECENT - 1)];

    if (__builtin_expect(item == NULL || item->to != to, 0))
        item = find_pair(blocks, from, to);
    if (item == NULL)
        return PROBITY_ERROR_MEMORY;
    blocks->pair_count += item->pair.calls == 0;
    int error = add_block(blocks, &item->pair, last, event);
    if (__builtin_expect(blocks->options.by_thread, 0) && error == 0)
        error = add_to_thread(blocks, item, last, event);
    return error;
}

/* last: the hit that may have begun a block; replaced with the next one that does. */
static inline int put_hit(struct probity_blocks *blocks, struct last_hit *last,
                          const struct probity_event *event)
{
    struct probe_item *to = probity_blocks_probe(blocks, event);
    int error = 0;

    if (to == NULL)
        return PROBITY_ERROR_MEMORY;
    if (__builtin_expect(last->probe != NULL && to->role != 0, 1))
        error = count_followed(blocks, last->probe, event);
    int ends = (to->role & PROBITY_BLOCKS_ENDS) != 0;
    if (__builtin_expect(last->probe != NULL && ends && error == 0, 1)) {
        error = end_block(blocks, last, to, event);
        last->probe = NULL;
    }
    if (__builtin_expect(to->role & PROBITY_BLOCKS_BEGINS, 1))
        *last = (struct last_hit){to, event->wall_ns, event->cpu_ns, event->cpu_known != 0,
                                  event->thread_slot, event->trace};
    return error;
}

/* CPU time is known only between hits of the same thread. */
static __attribute__((noinline)) int put_step(struct probity_blocks *blocks,
                                              const struct probity_event *event)
{
    struct probity_inflight_item *open;
    int error = probity_request_flow_find(&blocks->ways, event, &open);

    if (error != 0 || open == NULL)
        return error;
    struct last_hit last = {open->owner, open->wall_ns, open->cpu_ns,
                            open->is_cpu_known && open->thread_slot == event->thread_slot,
                            UINT32_MAX, event->trace};
    error = put_hit(blocks, &last, event);
    open->owner = last.probe;
    if (last.thread_slot != UINT32_MAX) {
        open->wall_ns = last.wall_ns;
        open->cpu_ns = last.cpu_ns;
        open->is_cpu_known = last.is_cpu_known;
        open->thread_slot = last.thread_slot;
    }
    probity_request_flow_step(&blocks->ways, event, open);
    return error;
}

/* Discards open blocks of this trace, because hits may be missing before this time or after it. */
static void cut_blocks(struct probity_blocks *blocks, uint32_t trace)
{
    for (uint32_t slot = 0; slot < blocks->last_count; slot++) {
        if (blocks->last[slot].trace == trace)
            blocks->last[slot].probe = NULL;
    }
    probity_inflight_forget(&blocks->ways, trace);
}

/* A block does not span lost records, nor the time at which sites were switched. */
static int put_other(struct probity_blocks *blocks, const struct probity_event *event)
{
    if (event->kind == PROBITY_EVENT_THREAD_NAME)
        return probity_thread_table_name(&blocks->threads, event);
    if (event->kind == PROBITY_EVENT_SITES_SWITCHED)
        cut_blocks(blocks, event->trace);
    if (event->kind == PROBITY_EVENT_LOST && event->thread_slot < blocks->last_count)
        blocks->last[event->thread_slot].probe = NULL;
    return 0;
}

int probity_blocks_put(struct probity_blocks *blocks, const struct probity_event *event)
{
    if (__builtin_expect(event->kind != PROBITY_EVENT_HIT, 0))
        return put_other(blocks, event);
    if (event->wall_ns < blocks->options.from_ns ||
        event->wall_ns >= blocks->options.to_ns)
        return 0;
    if (__builtin_expect(blocks->options.by_correlation, 0))
        return put_step(blocks, event);
    if (__builtin_expect(event->thread_slot >= blocks->last_count, 0) &&
        grow_last(blocks, event->thread_slot) == NULL)
        return PROBITY_ERROR_MEMORY;
    return put_hit(blocks, &blocks->last[event->thread_slot], event);
}

uint64_t probity_blocks_forgotten(const struct probity_blocks *blocks)
{
    return blocks->ways.forgotten;
}

/* ---- Sorting ------------------------------------------------------------------------------------
 */

struct sort_item {
    uint64_t rank;
    const struct probity_blocks_pair *pair;
};

static int compare_items(const void *left, const void *right)
{
    const struct sort_item *a = left, *b = right;

    if (a->rank != b->rank)
        return a->rank > b->rank ? -1 : 1;
    int order = probity_probes_compare(a->pair->from, b->pair->from);
    order = order != 0 ? order : probity_probes_compare(a->pair->to, b->pair->to);
    if (order != 0 || a->pair->thread == NULL || b->pair->thread == NULL)
        return order;
    const struct probity_thread_label *of_a = a->pair->thread, *of_b = b->pair->thread;
    if (of_a->trace != of_b->trace)
        return of_a->trace < of_b->trace ? -1 : 1;
    return of_a->thread < of_b->thread ? -1 : of_a->thread > of_b->thread;
}

/* Returns a new array with the sorted pairs, and frees `items`. Returns NULL if out of memory. */
static const struct probity_blocks_pair **sorted_of(struct sort_item *items, size_t count)
{
    const struct probity_blocks_pair **sorted = calloc(count + 1, sizeof *sorted);

    if (sorted != NULL && count > 1)
        qsort(items, count, sizeof *items, compare_items);
    for (size_t i = 0; sorted != NULL && i < count; i++)
        sorted[i] = items[i].pair;
    free(items);
    return sorted;
}

/* Sorts the rows by thread of a pair. */
static int sort_rows(struct probity_blocks *blocks, struct pair_item *item,
                     enum probity_blocks_key key)
{
    struct sort_item *items = item->rows > 0 ? calloc(item->rows, sizeof *items) : NULL;
    size_t count = 0;

    item->pair.followed = item->from->followed;
    if (item->rows == 0)
        return 0;
    for (struct pair_item *row = item->first; items != NULL && row != NULL; row = row->other) {
        const struct followed_item *followed =
            probity_blocks_followed_at(blocks, row->from, row->pair.thread);
        row->pair.followed = followed != NULL ? followed->count : row->pair.calls;
        items[count++] = (struct sort_item){probity_blocks_value(&row->pair, key), &row->pair};
    }
    free((void *)item->pair.rows);
    item->pair.rows = items != NULL ? sorted_of(items, count) : NULL;
    item->pair.row_count = item->pair.rows != NULL ? count : 0;
    return item->pair.rows != NULL ? 0 : PROBITY_ERROR_MEMORY;
}

const struct probity_blocks_pair *const *probity_blocks_sort(struct probity_blocks *blocks,
                                                             enum probity_blocks_key key,
                                                             size_t *ret_count)
{
    struct sort_item *items = calloc(blocks->pair_count + 1, sizeof *items);
    size_t count = 0;
    int error = items != NULL ? 0 : PROBITY_ERROR_MEMORY;

    struct pair_item *item = NULL;
    while (error == 0 && (item = probity_hashtable_next(&blocks->pairs, item)) != NULL) {
        if (item->pair.thread != NULL)
            continue;
        error = sort_rows(blocks, item, key);
        items[count++] = (struct sort_item){probity_blocks_value(&item->pair, key), &item->pair};
    }
    free(blocks->sorted);
    blocks->sorted = NULL;
    if (error != 0) {
        free(items);
        return NULL;
    }
    blocks->sorted = sorted_of(items, count);
    *ret_count = count;
    return blocks->sorted;
}

int probity_blocks_open(const struct probity_blocks_options *options,
                        struct probity_blocks **ret_blocks)
{
    struct probity_blocks *blocks = calloc(1, sizeof *blocks);

    if (blocks == NULL)
        return PROBITY_ERROR_MEMORY;
    blocks->probes.item_bytes = sizeof(struct probe_item);
    if (options != NULL)
        blocks->options = *options;
    if (blocks->options.to_ns == 0)
        blocks->options.to_ns = UINT64_MAX;
    if (blocks->options.slowest == 0)
        blocks->options.slowest = 1;
    *ret_blocks = blocks;
    return 0;
}

static void free_pair(struct pair_item *item)
{
    probity_histogram_release(&item->pair.durations);
    free((void *)item->pair.rows);
    free(item->pair.slowest);
    free(item);
}

void probity_blocks_close(struct probity_blocks *blocks)
{
    struct pair_item *item;
    void *followed;

    while ((item = probity_hashtable_take(&blocks->pairs)) != NULL)
        free_pair(item);
    while ((followed = probity_hashtable_take(&blocks->followed)) != NULL)
        free(followed);
    probity_probes_release(&blocks->probes);
    probity_inflight_release(&blocks->ways);
    probity_thread_table_release(&blocks->threads);
    free(blocks->sorted);
    free(blocks->last);
    free(blocks);
}
