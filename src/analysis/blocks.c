/* SPDX-License-Identifier: MIT
 *
 * blocks.c: pairs of hits. A hit finds its probe in a cache by its number, and the pair in what
 * followed the previous probe lately; tables are looked into where these have it not.
 */
#include "analysis/blocks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probity.h"

/* Powers of two. */
enum { CACHE_PLACES = 1024, RECENT = 64, PROBE_CHAINS = 1 << 12, PAIR_CHAINS = 1 << 16 };

struct pair_item {
    struct probity_blocks_pair pair;
    struct probe_item *to;
    struct pair_item *next; /* of its chain */
};

struct probe_item {
    struct probity_blocks_probe probe;
    uint32_t place; /* probes are counted as they come */
    struct pair_item *recent[RECENT]; /* pairs from here, by place of the second probe */
    struct probe_item *next;          /* of its chain */
    char *name;                       /* that of `probe` */
    char text[];
};

/* A number within a trace, and the probe that it means: sites of one name are one. */
struct number_item {
    uint64_t key;
    struct probe_item *probe;
    struct number_item *next;
};

struct last_hit {
    struct probe_item *probe; /* NULL: none yet */
    uint64_t wall_ns, cpu_ns;
    uint32_t is_cpu_known;
};

struct probity_blocks {
    uint64_t from_ns, to_ns;
    struct last_hit *last; /* by thread slot */
    uint32_t last_count, probe_count;
    size_t pair_count;
    const struct probity_blocks_pair **sorted;
    struct {
        uint64_t key;
        struct probe_item *probe;
    } cache[CACHE_PLACES];
    struct number_item *numbers[PROBE_CHAINS];
    struct probe_item *probes[PROBE_CHAINS];
    struct pair_item *pairs[PAIR_CHAINS];
};

/* ---- Probes ------------------------------------------------------------------------------------
 */

/* FNV-1a (Fowler, Noll, Vo). */
static uint32_t hash_text(const char *text, size_t bytes)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash ^ hash >> 16;
}

static struct probe_item *make_probe(struct probity_blocks *blocks,
                                     const struct probity_event *event, const char *text,
                                     size_t bytes)
{
    struct probe_item *item = calloc(1, sizeof *item + bytes + 1);

    if (item == NULL)
        return NULL;
    memcpy(item->text, text, bytes);
    item->probe = (struct probity_blocks_probe){.text = item->text, .number = event->id,
                                                .is_site = event->is_site};
    item->place = blocks->probe_count++;
    return item;
}

/* A name may come later than hits. */
static __attribute__((noinline)) int set_name(struct probe_item *item,
                                              const struct probity_event *event)
{
    item->name = strndup(event->name, event->name_bytes);
    item->probe.name = item->name;
    return item->name != NULL ? 0 : PROBITY_ERROR_MEMORY;
}

static struct probe_item *probe_by_text(struct probity_blocks *blocks,
                                        const struct probity_event *event)
{
    char number[24];
    const char *text = event->name;
    size_t bytes = event->name_bytes;

    if (!event->is_site || text == NULL) {
        bytes = (size_t)snprintf(number, sizeof number, "%s%" PRIu32,
                                 event->is_site ? "site-" : "", event->id);
        text = number;
    }
    struct probe_item **chain = &blocks->probes[hash_text(text, bytes) & (PROBE_CHAINS - 1)];
    struct probe_item *item = *chain;
    while (item != NULL && (item->probe.is_site != event->is_site ||
                            strncmp(item->text, text, bytes) != 0 || item->text[bytes] != '\0'))
        item = item->next;
    if (item != NULL)
        return item;
    item = make_probe(blocks, event, text, bytes);
    if (item != NULL) {
        item->next = *chain;
        *chain = item;
    }
    return item;
}

static __attribute__((noinline)) struct probe_item *probe_by_number(
    struct probity_blocks *blocks, const struct probity_event *event, uint64_t key)
{
    struct number_item **chain = &blocks->numbers[(key ^ key >> 33) & (PROBE_CHAINS - 1)];
    struct number_item *item = *chain;

    while (item != NULL && item->key != key)
        item = item->next;
    if (item != NULL)
        return item->probe;
    item = malloc(sizeof *item);
    struct probe_item *probe = item != NULL ? probe_by_text(blocks, event) : NULL;
    if (probe == NULL) {
        free(item);
        return NULL;
    }
    *item = (struct number_item){key, probe, *chain};
    *chain = item;
    return probe;
}

/* Sites of different traces share numbers, so their key holds the trace; a site and a probe of the
 * same number should not drive each other out, so they have different places. The declaration of a
 * site without a name may still come. */
static inline struct probe_item *probe_of(struct probity_blocks *blocks,
                                          const struct probity_event *event)
{
    uint64_t key = (uint64_t)event->id + 1;
    size_t place = event->id & (CACHE_PLACES - 1);

    if (event->is_site) {
        key |= (uint64_t)(event->trace + 1) << 33;
        place ^= CACHE_PLACES / 2;
        if (__builtin_expect(event->name == NULL, 0))
            return probe_by_text(blocks, event);
    }
    if (__builtin_expect(blocks->cache[place].key == key, 1))
        return blocks->cache[place].probe;
    struct probe_item *probe = probe_by_number(blocks, event, key);
    if (probe != NULL) {
        blocks->cache[place].key = key;
        blocks->cache[place].probe = probe;
    }
    return probe;
}

/* ---- Pairs -------------------------------------------------------------------------------------
 */

static __attribute__((noinline)) struct pair_item *find_pair(struct probity_blocks *blocks,
                                                             struct probe_item *from,
                                                             struct probe_item *to)
{
    uint32_t hash = (from->place * 2654435761u) ^ (to->place * 2246822519u);
    struct pair_item **chain = &blocks->pairs[(hash ^ hash >> 16) & (PAIR_CHAINS - 1)];
    struct pair_item *item = *chain;

    while (item != NULL && (item->to != to || item->pair.from != &from->probe))
        item = item->next;
    if (item == NULL) {
        item = calloc(1, sizeof *item);
        if (item == NULL)
            return NULL;
        item->pair.from = &from->probe;
        item->pair.to = &to->probe;
        item->pair.min_ns = UINT64_MAX;
        item->to = to;
        item->next = *chain;
        *chain = item;
        blocks->pair_count++;
    }
    from->recent[to->place & (RECENT - 1)] = item;
    return item;
}

static struct last_hit *grow_last(struct probity_blocks *blocks, uint32_t slot)
{
    size_t count = 2 * ((size_t)slot + 16);
    struct last_hit *last =
        count <= UINT32_MAX ? realloc(blocks->last, count * sizeof *last) : NULL;

    if (last == NULL)
        return NULL;
    memset(last + blocks->last_count, 0, (count - blocks->last_count) * sizeof *last);
    blocks->last = last;
    blocks->last_count = (uint32_t)count;
    return last;
}

/* CLOCK_REALTIME may have been set back in between: such a block takes no time. */
static inline int add_block(struct probity_blocks_pair *pair, const struct last_hit *last,
                            const struct probity_event *event)
{
    uint64_t wall_ns = event->wall_ns > last->wall_ns ? event->wall_ns - last->wall_ns : 0;

    pair->calls++;
    pair->wall_ns += wall_ns;
    if (wall_ns < pair->min_ns)
        pair->min_ns = wall_ns;
    if (wall_ns >= pair->max_ns && (wall_ns > pair->max_ns || pair->calls == 1)) {
        pair->max_ns = wall_ns;
        pair->max_at_ns = last->wall_ns;
        pair->max_pid = event->pid;
        pair->max_tid = event->tid;
    }
    if (event->cpu_known && last->is_cpu_known) {
        pair->cpu_calls++;
        pair->cpu_ns += event->cpu_ns > last->cpu_ns ? event->cpu_ns - last->cpu_ns : 0;
        pair->cpu_wall_ns += wall_ns;
    }
    return probity_fine_add(&pair->durations, wall_ns);
}

int probity_blocks_put(struct probity_blocks *blocks, const struct probity_event *event)
{
    if (event->kind != PROBITY_EVENT_HIT || event->wall_ns < blocks->from_ns ||
        event->wall_ns >= blocks->to_ns)
        return 0;
    if (__builtin_expect(event->thread_slot >= blocks->last_count, 0) &&
        grow_last(blocks, event->thread_slot) == NULL)
        return PROBITY_ERROR_MEMORY;
    struct last_hit *last = &blocks->last[event->thread_slot];
    struct probe_item *from = last->probe, *to = probe_of(blocks, event);
    if (to == NULL)
        return PROBITY_ERROR_MEMORY;
    int error = 0;
    if (__builtin_expect(!event->is_site && event->name != NULL && to->name == NULL, 0))
        error = set_name(to, event);
    if (__builtin_expect(from != NULL && error == 0, 1)) {
        struct pair_item *item = from->recent[to->place & (RECENT - 1)];
        if (__builtin_expect(item == NULL || item->to != to, 0))
            item = find_pair(blocks, from, to);
        if (item == NULL)
            return PROBITY_ERROR_MEMORY;
        from->probe.followed++;
        error = add_block(&item->pair, last, event);
    }
    *last = (struct last_hit){to, event->wall_ns, event->cpu_ns, event->cpu_known != 0};
    return error;
}

/* ---- Values and order --------------------------------------------------------------------------
 */

static const char *const key_names[PROBITY_BLOCKS_KEYS] = {
    "total", "calls", "probability", "cpu", "off-cpu", "min",
    "mean",  "p50",   "p90",         "p99", "max",     "name"};

enum probity_blocks_key probity_blocks_key_parse(const char *name)
{
    int key = 0;

    while (key < PROBITY_BLOCKS_KEYS && strcmp(name, key_names[key]) != 0)
        key++;
    return (enum probity_blocks_key)key;
}

static uint64_t quantile_of(const struct probity_blocks_pair *pair, unsigned per_mille)
{
    return probity_fine_quantile(&pair->durations, per_mille, pair->min_ns, pair->max_ns);
}

uint64_t probity_blocks_value(const struct probity_blocks_pair *pair, enum probity_blocks_key key)
{
    switch (key) {
    case PROBITY_BLOCKS_TOTAL: return pair->wall_ns;
    case PROBITY_BLOCKS_CALLS: return pair->calls;
    case PROBITY_BLOCKS_PROBABILITY:
        return (uint64_t)(1e6 * (double)pair->calls / (double)pair->from->followed + 0.5);
    case PROBITY_BLOCKS_CPU: return pair->cpu_ns;
    case PROBITY_BLOCKS_OFF:
        return pair->cpu_wall_ns > pair->cpu_ns ? pair->cpu_wall_ns - pair->cpu_ns : 0;
    case PROBITY_BLOCKS_MIN: return pair->min_ns;
    case PROBITY_BLOCKS_MEAN: return pair->wall_ns / pair->calls;
    case PROBITY_BLOCKS_P50: return quantile_of(pair, 500);
    case PROBITY_BLOCKS_P90: return quantile_of(pair, 900);
    case PROBITY_BLOCKS_P99: return quantile_of(pair, 990);
    case PROBITY_BLOCKS_MAX: return pair->max_ns;
    default: return 0;
    }
}

struct sort_item {
    uint64_t rank;
    const struct probity_blocks_pair *pair;
};

static int compare_probes(const struct probity_blocks_probe *a,
                          const struct probity_blocks_probe *b)
{
    if (a->is_site || b->is_site)
        return a->is_site != b->is_site ? a->is_site - b->is_site : strcmp(a->text, b->text);
    return a->number < b->number ? -1 : a->number > b->number;
}

static int compare_items(const void *left, const void *right)
{
    const struct sort_item *a = left, *b = right;

    if (a->rank != b->rank)
        return a->rank > b->rank ? -1 : 1;
    int order = compare_probes(a->pair->from, b->pair->from);
    return order != 0 ? order : compare_probes(a->pair->to, b->pair->to);
}

const struct probity_blocks_pair *const *probity_blocks_sort(struct probity_blocks *blocks,
                                                             enum probity_blocks_key key,
                                                             size_t *ret_count)
{
    struct sort_item *items = calloc(blocks->pair_count + 1, sizeof *items);
    size_t count = 0;

    free(blocks->sorted);
    blocks->sorted = calloc(blocks->pair_count + 1, sizeof *blocks->sorted);
    if (items == NULL || blocks->sorted == NULL) {
        free(items);
        return NULL;
    }
    for (size_t chain = 0; chain < PAIR_CHAINS; chain++) {
        for (struct pair_item *item = blocks->pairs[chain]; item != NULL; item = item->next)
            items[count++] =
                (struct sort_item){probity_blocks_value(&item->pair, key), &item->pair};
    }
    qsort(items, count, sizeof *items, compare_items);
    for (size_t i = 0; i < count; i++)
        blocks->sorted[i] = items[i].pair;
    free(items);
    *ret_count = count;
    return blocks->sorted;
}

int probity_blocks_open(uint64_t from_ns, uint64_t to_ns, struct probity_blocks **ret_blocks)
{
    struct probity_blocks *blocks = calloc(1, sizeof *blocks);

    if (blocks == NULL)
        return PROBITY_ERROR_MEMORY;
    blocks->from_ns = from_ns;
    blocks->to_ns = to_ns > 0 ? to_ns : UINT64_MAX;
    *ret_blocks = blocks;
    return 0;
}

static void free_pairs(struct pair_item *item)
{
    while (item != NULL) {
        struct pair_item *next = item->next;
        probity_fine_release(&item->pair.durations);
        free(item);
        item = next;
    }
}

static void free_probes(struct probe_item *probe, struct number_item *number)
{
    while (probe != NULL) {
        struct probe_item *next = probe->next;
        free(probe->name);
        free(probe);
        probe = next;
    }
    while (number != NULL) {
        struct number_item *next = number->next;
        free(number);
        number = next;
    }
}

void probity_blocks_close(struct probity_blocks *blocks)
{
    for (size_t chain = 0; chain < PAIR_CHAINS; chain++)
        free_pairs(blocks->pairs[chain]);
    for (size_t chain = 0; chain < PROBE_CHAINS; chain++)
        free_probes(blocks->probes[chain], blocks->numbers[chain]);
    free(blocks->sorted);
    free(blocks->last);
    free(blocks);
}
