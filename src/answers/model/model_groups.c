/* SPDX-License-Identifier: MIT
 *
 * model_groups.c: nodes and pairs of thread groups, and the assignment of threads to groups.
 * Threads form a group if their names are equal except for numbers and they share at least half of
 * the probes of the thread with fewer probes. Probes of locks are ignored, because threads of all
 * kinds use the same locks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/model/model_internal.h"
#include "base/array_grow.h"
#include "base/hash.h"
#include "probity.h"

/* ---- While reading hits ------------------------------------------------------------------------
 */

double probity_model_probability(const struct probity_model_block *block)
{
    return (double)block->wall.count / (double)block->from->followed;
}

static int grow_places(struct model_seed *seed, uint32_t place)
{
    struct model_node **places = probity_array_grow(seed->places, sizeof(struct model_node *),
                                                    place, &seed->place_count);

    if (places == NULL)
        return -1;
    seed->places = places;
    return 0;
}

struct model_node *probity_model_node(struct model_seed *seed, const struct probity_probe *probe,
                                      uint32_t role)
{
    if (probe->place >= seed->place_count && grow_places(seed, probe->place) != 0)
        return NULL;
    struct model_node *node = seed->places[probe->place];
    if (node != NULL)
        return node;
    node = calloc(1, sizeof *node);
    if (node == NULL)
        return NULL;
    node->node.probe = probe;
    node->node.role = role;
    node->seed = seed;
    node->next = seed->nodes;
    seed->nodes = node;
    seed->places[probe->place] = node;
    return node;
}

struct model_pair *probity_model_pair(struct model_node *from, struct model_node *to)
{
    uint32_t place = to->node.probe->place;
    uint64_t hash = probity_hash(place);
    struct model_pair *pair = probity_hashtable_at(&from->chains, hash);

    while (pair != NULL && pair->to != to)
        pair = (void *)pair->link.next;
    if (pair == NULL) {
        pair = calloc(1, sizeof *pair);
        if (pair == NULL || probity_hashtable_add(&from->chains, pair, hash) != 0) {
            free(pair);
            return NULL;
        }
        pair->to = to;
        pair->next = from->pairs;
        from->pairs = pair;
    }
    from->recent[place & (MODEL_RECENT - 1)] = pair;
    return pair;
}

/* Turns "worker-12" into "worker-*". */
static char *pattern_of(const char *name)
{
    char *pattern = strdup(name), *to = pattern;

    for (const char *from = name; pattern != NULL && *from != '\0'; from++) {
        if (*from < '0' || *from > '9')
            *to++ = *from;
        else if (to == pattern || to[-1] != '*')
            *to++ = '*';
    }
    if (pattern != NULL)
        *to = '\0';
    return pattern;
}

static int is_pattern(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static struct model_seed *make_seed(struct probity_model *model, char *pattern, char *name,
                                    const struct probity_probe *first)
{
    struct model_seed *seed = calloc(1, sizeof *seed);

    if (seed == NULL)
        return NULL;
    seed->pattern = pattern;
    seed->name = name;
    seed->first = first;
    seed->next = model->seeds;
    model->seeds = seed;
    model->seed_count++;
    return seed;
}

/* Returns the seed of all threads beyond the limit on pairs of name and first probe. */
static struct model_seed *rest_of(struct probity_model *model)
{
    model->result.threads_left_out++;
    if (model->rest == NULL)
        model->rest = make_seed(model, NULL, NULL, NULL);
    return model->rest;
}

struct model_seed *probity_model_seed(struct probity_model *model, struct model_thread *thread,
                                      const struct probity_probe *first)
{
    char *name = thread->name, *pattern = name != NULL ? pattern_of(name) : NULL;
    struct model_seed *seed = model->seeds;

    thread->name = NULL;
    if (name != NULL && pattern == NULL) {
        free(name);
        return NULL;
    }
    while (seed != NULL && (seed->first != first || !is_pattern(seed->pattern, pattern)))
        seed = seed->next;
    if (seed == NULL && model->seed_count < PROBITY_MODEL_SEEDS_MAX) {
        seed = make_seed(model, pattern, name, first);
        if (seed != NULL)
            return seed;
    } else if (seed == NULL) {
        seed = rest_of(model);
    } else if (name != NULL) {
        seed->is_pattern |= strcmp(name, seed->name) != 0;
    }
    free(name);
    free(pattern);
    return seed;
}

/* ---- Merging -----------------------------------------------------------------------------------
 */

static int is_of_lock(uint32_t role)
{
    return role >= PROBITY_ROLE_LOCK_WAIT && role <= PROBITY_ROLE_LOCK_RELEASE;
}

static uint32_t probes_of(const struct model_seed *seed)
{
    uint32_t count = 0;

    for (const struct model_node *node = seed->nodes; node != NULL; node = node->next)
        count += !is_of_lock(node->node.role);
    return count;
}

static uint32_t common_probes(const struct model_seed *a, const struct model_seed *b)
{
    uint32_t count = 0;

    for (const struct model_node *node = a->nodes; node != NULL; node = node->next) {
        uint32_t place = node->node.probe->place;
        count += !is_of_lock(node->node.role) && place < b->place_count &&
                 b->places[place] != NULL;
    }
    return count;
}

/* A thread that only took locks cannot be distinguished from other threads with its name. */
static int is_alike(const struct model_seed *a, const struct model_seed *b)
{
    uint32_t few = probes_of(a), others = probes_of(b);

    few = few < others ? few : others;
    return is_pattern(a->pattern, b->pattern) && 2 * common_probes(a, b) >= few;
}

static int join_pairs(struct model_node *into, struct model_node *node, struct model_seed *seed)
{
    int error = 0;

    for (struct model_pair *pair = node->pairs; error == 0 && pair != NULL; pair = pair->next) {
        struct model_node *to =
            probity_model_node(seed, pair->to->node.probe, pair->to->node.role);
        struct model_pair *target = to != NULL ? probity_model_pair(into, to) : NULL;
        if (target == NULL)
            return PROBITY_ERROR_MEMORY;
        error = probity_duration_stats_merge(&target->block.wall, &pair->block.wall);
        if (error == 0)
            error = probity_duration_stats_merge(&target->block.cpu, &pair->block.cpu);
        if (error == 0)
            error = probity_duration_stats_merge(&target->block.off, &pair->block.off);
    }
    return error;
}

/* Merges `from` into `seed`. */
static int join_seeds(struct model_seed *seed, struct model_seed *from)
{
    int error = 0;

    for (struct model_node *node = from->nodes; error == 0 && node != NULL; node = node->next) {
        struct model_node *into = probity_model_node(seed, node->node.probe, node->node.role);
        if (into == NULL)
            return PROBITY_ERROR_MEMORY;
        into->node.hits += node->node.hits;
        into->node.followed += node->node.followed;
        into->node.starts += node->node.starts;
        into->node.ends += node->node.ends;
        node->into = into;
        error = join_pairs(into, node, seed);
    }
    if (error == 0)
        error = probity_model_join_demands(&seed->group, &from->group);
    seed->group.threads += from->group.threads;
    seed->group.lifetime_ns += from->group.lifetime_ns;
    seed->group.cpu_known_ns += from->group.cpu_known_ns;
    if (from->name != NULL)
        seed->is_pattern |= from->is_pattern || strcmp(from->name, seed->name) != 0;
    from->is_joined = 1;
    return error;
}

/* Returns 1 if any seeds were merged, 0 if not, or PROBITY_ERROR_MEMORY. */
static int join_all_with(struct model_seed *a)
{
    int has_joined = 0;

    for (struct model_seed *b = a->next; b != NULL; b = b->next) {
        if (b->is_joined || !is_alike(a, b))
            continue;
        if (join_seeds(a, b) != 0)
            return PROBITY_ERROR_MEMORY;
        has_joined = 1;
    }
    return has_joined;
}

/* Repeats until nothing changes, because merging gives a seed more probes. */
static int join_alike(struct probity_model *model)
{
    int has_changed = 1;

    while (has_changed) {
        has_changed = 0;
        for (struct model_seed *seed = model->seeds; seed != NULL; seed = seed->next) {
            int result = seed->is_joined ? 0 : join_all_with(seed);
            if (result < 0)
                return result;
            has_changed |= result;
        }
    }
    return 0;
}

/* ---- Lists -------------------------------------------------------------------------------------
 */

static int compare_nodes(const void *left, const void *right)
{
    const struct probity_model_node *a = *(struct probity_model_node *const *)left;
    const struct probity_model_node *b = *(struct probity_model_node *const *)right;

    return probity_probes_compare(a->probe, b->probe);
}

static int compare_blocks(const void *left, const void *right)
{
    const struct probity_model_block *a = *(struct probity_model_block *const *)left;
    const struct probity_model_block *b = *(struct probity_model_block *const *)right;
    uint32_t from = a->from->number, to = a->to->number;

    if (from != b->from->number)
        return from < b->from->number ? -1 : 1;
    return to < b->to->number ? -1 : to > b->to->number;
}

/* Sorts by hits, most first. Equal groups keep their order, which is in `number`. */
static int compare_groups(const void *left, const void *right)
{
    const struct probity_model_group *a = *(struct probity_model_group *const *)left;
    const struct probity_model_group *b = *(struct probity_model_group *const *)right;

    if (a->hits != b->hits)
        return a->hits > b->hits ? -1 : 1;
    int order = strcmp(a->name != NULL ? a->name : "", b->name != NULL ? b->name : "");
    order = order != 0 ? order : compare_nodes(&a->nodes[0], &b->nodes[0]);
    return order != 0 ? order : a->number < b->number ? -1 : a->number > b->number;
}

static void list_block(struct model_seed *seed, struct model_pair *pair,
                       const struct model_node *from)
{
    struct probity_model_block *block = &pair->block;

    block->from = &from->node;
    block->to = &pair->to->node;
    seed->group.wall_ns += block->wall.total_ns;
    seed->group.cpu_ns += block->cpu.total_ns;
    seed->block_list[seed->group.block_count++] = block;
}

static int list_seed(struct model_seed *seed)
{
    struct probity_model_group *group = &seed->group;
    size_t nodes = 0, pairs = 0;

    for (const struct model_node *node = seed->nodes; node != NULL; node = node->next) {
        nodes++;
        for (const struct model_pair *pair = node->pairs; pair != NULL; pair = pair->next)
            pairs++;
    }
    seed->node_list = calloc(nodes + 1, sizeof *seed->node_list);
    seed->block_list = calloc(pairs + 1, sizeof *seed->block_list);
    if (seed->node_list == NULL || seed->block_list == NULL)
        return PROBITY_ERROR_MEMORY;
    for (struct model_node *node = seed->nodes; node != NULL; node = node->next) {
        node->node.group = group;
        group->hits += node->node.hits;
        seed->node_list[group->node_count++] = &node->node;
        for (struct model_pair *pair = node->pairs; pair != NULL; pair = pair->next)
            list_block(seed, pair, node);
    }
    qsort(seed->node_list, nodes, sizeof *seed->node_list, compare_nodes);
    for (uint32_t i = 0; i < nodes; i++)
        seed->node_list[i]->number = i;
    qsort(seed->block_list, pairs, sizeof *seed->block_list, compare_blocks);
    group->nodes = seed->node_list;
    group->blocks = seed->block_list;
    group->name = seed->is_pattern ? seed->pattern : seed->name;
    return 0;
}

/* Requires blocks sorted by row. */
static double row_error_of(const struct probity_model_group *group)
{
    double worst = 0, sum = 0;

    for (size_t i = 0; i < group->block_count; i++) {
        const struct probity_model_block *block = group->blocks[i];
        sum += probity_model_probability(block);
        if (i + 1 < group->block_count && group->blocks[i + 1]->from == block->from)
            continue;
        double error = sum > 1 ? sum - 1 : 1 - sum;
        worst = error > worst ? error : worst;
        sum = 0;
    }
    return worst;
}

int probity_model_finish_groups(struct probity_model *model)
{
    struct probity_model_result *result = &model->result;
    int error = join_alike(model);

    model->group_list = calloc((size_t)model->seed_count + 1, sizeof *model->group_list);
    if (model->group_list == NULL)
        return PROBITY_ERROR_MEMORY;
    for (struct model_seed *seed = model->seeds; error == 0 && seed != NULL; seed = seed->next) {
        if (seed->is_joined)
            continue;
        error = list_seed(seed);
        seed->group.number = (uint32_t)result->group_count;
        model->group_list[result->group_count++] = &seed->group;
    }
    if (error != 0)
        return error;
    qsort(model->group_list, result->group_count, sizeof *model->group_list, compare_groups);
    for (uint32_t i = 0; i < result->group_count; i++) {
        double row_error = row_error_of(model->group_list[i]);
        model->group_list[i]->number = i;
        result->row_error = row_error > result->row_error ? row_error : result->row_error;
    }
    result->groups = model->group_list;
    return 0;
}

static void free_node(struct model_node *node)
{
    for (struct model_pair *pair = node->pairs, *next; pair != NULL; pair = next) {
        next = pair->next;
        probity_duration_stats_release(&pair->block.wall);
        probity_duration_stats_release(&pair->block.cpu);
        probity_duration_stats_release(&pair->block.off);
        free(pair);
    }
    free(node->chains.first);
    free(node);
}

void probity_model_free_groups(struct probity_model *model)
{
    while (model->seeds != NULL) {
        struct model_seed *seed = model->seeds;
        model->seeds = seed->next;
        for (struct model_node *node = seed->nodes, *next; node != NULL; node = next) {
            next = node->next;
            free_node(node);
        }
        probity_model_free_demands(&seed->group);
        free(seed->pattern);
        free(seed->name);
        free(seed->places);
        free(seed->node_list);
        free(seed->block_list);
        free(seed);
    }
    free(model->group_list);
}
