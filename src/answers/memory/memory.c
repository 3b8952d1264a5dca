/* SPDX-License-Identifier: MIT
 *
 * memory.c: keeps the live blocks in a table by address, and their sums in the leaves. A leaf's
 * share of the peak is saved when the leaf first changes after the peak, so the cost of a new peak
 * does not depend on the number of leaves.
 */
#include "answers/memory/memory.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/same_function.h"
#include "analysis/scopes_run.h"
#include "base/array_grow.h"
#include "base/hash.h"
#include "probity.h"
#include "probity_typed.h"

enum { BLOCKS_OF_CHUNK = 1024, CALLS_MAX = 256, CALL_BYTES_MAX = 64, FIRST_WIDTH_NS = 1024 };

struct memory_block {
    struct probity_link link; /* in the table of live blocks or in the list of unused ones */
    struct probity_memory_leaf *leaf; /* NULL: allocated before the range, or not selected */
    uint64_t address, bytes, wall_ns;
    uint32_t trace;
};

struct block_chunk {
    struct block_chunk *next;
    struct memory_block blocks[BLOCKS_OF_CHUNK];
};

struct probity_memory {
    struct probity_memory_options options; /* to_ns: UINT64_MAX without an end */
    struct probity_scopes *scopes;
    struct probity_same_functions functions;
    struct probity_tree_nodes paths;
    struct probity_hashtable blocks, leaves;
    struct block_chunk *chunks;
    struct memory_block *unused;
    struct probity_memory_leaf **list; /* of leaves */
    size_t list_count, list_capacity;
    char *calls[CALLS_MAX]; /* names of calls, each stored once */
    size_t call_count;
    uint64_t peaks; /* number of new peaks so far */
    struct probity_memory_facts facts;
    int error; /* set by a listener, which cannot return errors */
};

/* ---- Call paths --------------------------------------------------------------------------------
 */

/* Stores the node of the scope. Paths beyond the limit end at the nearest caller that has a
 * node. */
static void open_path(struct probity_memory *memory, struct probity_scope *scope,
                      uint32_t thread_slot)
{
    const struct probity_function_key key = {scope->function, scope->trace, scope->number};
    const struct probity_scope *caller =
        scope->depth > 0 ? probity_scopes_at(memory->scopes, thread_slot, scope->depth - 1) : NULL;
    struct probity_tree_node *parent = caller != NULL ? caller->user : &memory->paths.root;

    if (*scope->of_function == NULL)
        *scope->of_function = probity_same_function_at(&memory->functions, &key);
    if (*scope->of_function == NULL || parent == NULL) {
        memory->error = PROBITY_ERROR_MEMORY;
        return;
    }
    if (parent->recent != NULL && parent->recent->function == *scope->of_function) {
        scope->user = parent->recent;
        return;
    }
    struct probity_tree_node *node =
        memory->paths.count < PROBITY_TREE_NODES_MAX
            ? probity_tree_child(&memory->paths, parent, *scope->of_function, NULL)
            : probity_tree_find(&memory->paths, parent, *scope->of_function);
    if (node == NULL && memory->paths.count < PROBITY_TREE_NODES_MAX)
        memory->error = PROBITY_ERROR_MEMORY;
    if (node != NULL)
        parent->recent = node;
    scope->user = node != NULL ? node : parent;
}

static void on_opened(void *context, struct probity_scope *scope, const struct probity_event *event)
{
    open_path(context, scope, event->thread_slot);
}

static const struct probity_tree_node *path_of(const struct probity_memory *memory,
                                               const struct probity_event *event)
{
    const struct probity_scope *top = probity_scopes_top(memory->scopes, event->thread_slot);

    return top != NULL && top->user != NULL ? top->user : &memory->paths.root;
}

/* ---- Leaves ------------------------------------------------------------------------------------
 */

/* Returns the part of the site's name before the colon, or NULL if out of memory. Names beyond the
 * limit are merged. */
static const char *call_of(struct probity_memory *memory, const struct probity_event *event)
{
    size_t bytes = 0;

    while (bytes < event->name_bytes && bytes < CALL_BYTES_MAX && event->name[bytes] != ':')
        bytes++;
    for (size_t i = 0; i < memory->call_count; i++)
        if (strlen(memory->calls[i]) == bytes &&
            memcmp(memory->calls[i], event->name, bytes) == 0)
            return memory->calls[i];
    if (memory->call_count == CALLS_MAX)
        return memory->calls[CALLS_MAX - 1];
    char *name = bytes > 0 ? strndup(event->name, bytes) : strdup("allocate");
    if (name != NULL)
        memory->calls[memory->call_count++] = name;
    return name;
}

static struct probity_memory_leaf *new_leaf(struct probity_memory *memory,
                                            const struct probity_memory_leaf *like)
{
    void *grown = probity_array_room(memory->list, sizeof *memory->list, memory->list_count,
                                     &memory->list_capacity);
    struct probity_memory_leaf *leaf = grown != NULL ? malloc(sizeof *leaf) : NULL;

    if (grown != NULL)
        memory->list = grown;
    if (leaf == NULL)
        return NULL;
    *leaf = *like;
    if (probity_hashtable_add(&memory->leaves, leaf, like->link.hash) != 0) {
        free(leaf);
        return NULL;
    }
    memory->list[memory->list_count++] = leaf;
    return leaf;
}

/* Returns NULL if out of memory. */
static struct probity_memory_leaf *leaf_at(struct probity_memory *memory,
                                           const struct probity_event *event)
{
    struct probity_memory_leaf like = {.path = path_of(memory, event),
                                       .call = call_of(memory, event),
                                       .trace = event->trace,
                                       .place = event->has_place ? event->place : 0,
                                       .tick = event->tick};

    if (like.call == NULL)
        return NULL;
    like.link.hash = probity_hash((uint64_t)(uintptr_t)like.path ^
                                  probity_hash((uint64_t)(uintptr_t)like.call ^
                                               probity_hash(like.place ^ like.trace)));
    struct probity_memory_leaf *leaf = probity_hashtable_at(&memory->leaves, like.link.hash);
    while (leaf != NULL && (leaf->path != like.path || leaf->call != like.call ||
                            leaf->place != like.place || leaf->trace != like.trace))
        leaf = (struct probity_memory_leaf *)leaf->link.next;
    return leaf != NULL ? leaf : new_leaf(memory, &like);
}

/* Call before the live sums of a leaf change. */
static void keep_peak(const struct probity_memory *memory, struct probity_memory_leaf *leaf)
{
    if (leaf->peaks_seen == memory->peaks)
        return;
    leaf->peaks_seen = memory->peaks;
    leaf->sums.peak_blocks = leaf->sums.live_blocks;
    leaf->sums.peak_bytes = leaf->sums.live_bytes;
}

/* ---- Course of the live bytes ------------------------------------------------------------------
 */

static void halve(struct probity_memory_facts *facts)
{
    for (size_t i = 0; i < PROBITY_MEMORY_MOMENTS / 2; i++)
        facts->most[i] = facts->most[2 * i] > facts->most[2 * i + 1] ? facts->most[2 * i]
                                                                     : facts->most[2 * i + 1];
    facts->moments = (facts->moments + 1) / 2;
    facts->width_ns *= 2;
    memset(&facts->most[facts->moments], 0,
           (PROBITY_MEMORY_MOMENTS - facts->moments) * sizeof facts->most[0]);
}

/* Applies the current live bytes to all intervals since the last event. */
static void note_moment(struct probity_memory_facts *facts, uint64_t wall_ns, uint64_t before)
{
    if (facts->moments == 0) {
        facts->start_ns = wall_ns;
        facts->width_ns = FIRST_WIDTH_NS;
        facts->moments = 1;
    }
    uint64_t passed_ns = wall_ns > facts->start_ns ? wall_ns - facts->start_ns : 0;
    while (passed_ns / facts->width_ns >= PROBITY_MEMORY_MOMENTS)
        halve(facts);
    size_t now = (size_t)(passed_ns / facts->width_ns);
    while (facts->moments <= now)
        facts->most[facts->moments++] = before;
    if (facts->sums.live_bytes > facts->most[now])
        facts->most[now] = facts->sums.live_bytes;
}

/* ---- Blocks ------------------------------------------------------------------------------------
 */

static struct memory_block *new_block(struct probity_memory *memory)
{
    if (memory->unused == NULL) {
        struct block_chunk *chunk = malloc(sizeof *chunk);
        if (chunk == NULL)
            return NULL;
        chunk->next = memory->chunks;
        memory->chunks = chunk;
        for (size_t i = 0; i < BLOCKS_OF_CHUNK; i++) {
            chunk->blocks[i].link.next = (struct probity_link *)memory->unused;
            memory->unused = &chunk->blocks[i];
        }
    }
    struct memory_block *block = memory->unused;
    memory->unused = (struct memory_block *)block->link.next;
    return block;
}

static uint64_t hash_of(const struct probity_event *event)
{
    return probity_hash(event->object ^ (uint64_t)event->trace << 56);
}

/* Returns NULL if no such block is live. */
static struct memory_block *find_block(const struct probity_memory *memory,
                                       const struct probity_event *event)
{
    struct memory_block *block = probity_hashtable_at(&memory->blocks, hash_of(event));

    while (block != NULL && (block->address != event->object || block->trace != event->trace))
        block = (struct memory_block *)block->link.next;
    return block;
}

static void end_block(struct probity_memory *memory, struct memory_block *block, uint64_t wall_ns)
{
    struct probity_memory_leaf *leaf = block->leaf;
    struct probity_memory_sums *sums = &memory->facts.sums;

    if (leaf != NULL) {
        uint64_t before = sums->live_bytes;
        uint64_t life_ns = wall_ns > block->wall_ns ? wall_ns - block->wall_ns : 0;
        keep_peak(memory, leaf);
        leaf->sums.frees++;
        leaf->sums.live_blocks--;
        leaf->sums.live_bytes -= block->bytes;
        leaf->sums.lifetime_ns += life_ns;
        sums->frees++;
        sums->live_blocks--;
        sums->live_bytes -= block->bytes;
        sums->lifetime_ns += life_ns;
        note_moment(&memory->facts, wall_ns, before);
    }
    probity_hashtable_remove(&memory->blocks, block);
    block->link.next = (struct probity_link *)memory->unused;
    memory->unused = block;
}

static void add_live(struct probity_memory *memory, struct probity_memory_leaf *leaf,
                     uint64_t bytes, uint64_t wall_ns)
{
    struct probity_memory_sums *sums = &memory->facts.sums;
    uint64_t before = sums->live_bytes;

    keep_peak(memory, leaf);
    leaf->sums.allocations++;
    leaf->sums.bytes += bytes;
    leaf->sums.live_blocks++;
    leaf->sums.live_bytes += bytes;
    sums->allocations++;
    sums->bytes += bytes;
    sums->live_blocks++;
    sums->live_bytes += bytes;
    if (sums->live_bytes > sums->peak_bytes || memory->peaks == 0) {
        memory->peaks++;
        memory->facts.peak_ns = wall_ns;
        sums->peak_bytes = sums->live_bytes;
        sums->peak_blocks = sums->live_blocks;
    }
    note_moment(&memory->facts, wall_ns, before);
}

static int is_wanted(const struct probity_memory *memory, const struct probity_event *event)
{
    const struct probity_memory_options *options = &memory->options;

    return event->wall_ns >= options->from_ns &&
           (options->is_wanted == NULL || options->is_wanted(options->context, event));
}

static int allocate(struct probity_memory *memory, const struct probity_event *event)
{
    int is_shown = is_wanted(memory, event);
    uint64_t bytes = event->has_correlation ? event->correlation : 0;
    struct probity_memory_leaf *leaf = is_shown ? leaf_at(memory, event) : NULL;

    if (is_shown && leaf == NULL)
        return PROBITY_ERROR_MEMORY;
    if (event->object == 0) {
        if (leaf != NULL) {
            leaf->sums.failed++;
            memory->facts.sums.failed++;
        }
        return 0;
    }
    struct memory_block *block = find_block(memory, event);
    if (block != NULL) {
        memory->facts.reused += block->leaf != NULL;
        end_block(memory, block, event->wall_ns);
    }
    block = new_block(memory);
    if (block == NULL)
        return PROBITY_ERROR_MEMORY;
    block->leaf = leaf;
    block->address = event->object;
    block->bytes = bytes;
    block->wall_ns = event->wall_ns;
    block->trace = event->trace;
    if (probity_hashtable_add(&memory->blocks, block, hash_of(event)) != 0)
        return PROBITY_ERROR_MEMORY;
    if (leaf != NULL)
        add_live(memory, leaf, bytes, event->wall_ns);
    return 0;
}

/* Handles munmap() of the beginning of a mapping. */
static void shorten_block(struct probity_memory *memory, struct memory_block *block,
                          const struct probity_event *event)
{
    struct probity_memory_sums *sums = &memory->facts.sums;
    uint64_t before = sums->live_bytes;

    probity_hashtable_remove(&memory->blocks, block);
    block->address += event->correlation;
    block->bytes -= event->correlation;
    struct probity_event rest = *event;
    rest.object = block->address;
    /* This cannot fail, because the table does not shrink. */
    (void)probity_hashtable_add(&memory->blocks, block, hash_of(&rest));
    if (block->leaf == NULL)
        return;
    keep_peak(memory, block->leaf);
    block->leaf->sums.live_bytes -= event->correlation;
    sums->live_bytes -= event->correlation;
    note_moment(&memory->facts, event->wall_ns, before);
}

static void end_at(struct probity_memory *memory, const struct probity_event *event)
{
    struct memory_block *block = find_block(memory, event);

    if (block != NULL && event->has_correlation && event->correlation > 0 &&
        event->correlation < block->bytes)
        shorten_block(memory, block, event);
    else if (block != NULL)
        end_block(memory, block, event->wall_ns);
    else if (memory->options.from_ns == 0)
        memory->facts.unknown_frees++;
}

/* ---- Events ------------------------------------------------------------------------------------
 */

/* From here on, it is unknown which blocks are live. */
static void take_budget(struct probity_memory *memory, const struct probity_event *event)
{
    static const char allocate[] = ":allocate", end[] = ":free";
    struct probity_budget_event budget;

    if (probity_budget_event_get(event->payload, event->payload_bytes, &budget) != 0 ||
        budget.what != PROBITY_BUDGET_WHAT_HITS || event->name == NULL ||
        (memmem(event->name, event->name_bytes, allocate, sizeof allocate - 1) == NULL &&
         memmem(event->name, event->name_bytes, end, sizeof end - 1) == NULL))
        return;
    memory->facts.counted_ns = memory->options.to_ns = event->wall_ns;
}

int probity_memory_put(struct probity_memory *memory, const struct probity_event *event)
{
    const struct probity_scopes_listener listener = {.opened = on_opened, .context = memory};

    if (event->wall_ns >= memory->options.to_ns)
        return 0;
    int error = probity_scopes_put(memory->scopes, event, &listener);
    if (error == 0)
        error = memory->error;
    if (event->kind == PROBITY_EVENT_BUDGET)
        take_budget(memory, event);
    if (error != 0 || !event->has_object)
        return error;
    if (event->role == PROBITY_ROLE_ALLOCATE)
        return allocate(memory, event);
    if (event->role == PROBITY_ROLE_FREE && event->object != 0)
        end_at(memory, event);
    return 0;
}

static inline void opened_in_run(void *context, struct probity_scope *scope,
                                 const struct probity_run *run, size_t at)
{
    (void)at;
    open_path(context, scope, run->event->thread_slot);
}

static inline void left_in_run(void *context, const struct probity_scope *scope,
                               const struct probity_run *run, size_t at)
{
    (void)context;
    (void)scope;
    (void)run;
    (void)at;
}

/* The events of a run have no objects, so only their call paths matter. */
int probity_memory_put_run(struct probity_memory *memory, const struct probity_run *run)
{
    const struct probity_scopes_run_steps steps = {
        {.opened = on_opened, .context = memory}, opened_in_run, left_in_run, NULL};
    int error = 0, is_before = 1;

    for (size_t i = 0; i < run->count; i++)
        is_before &= run->events[i].wall_ns < memory->options.to_ns;
    if (!is_before) {
        for (size_t i = 0; error == 0 && i < run->count; i++)
            error = probity_memory_put(memory, probity_run_event_at(run, i));
        return error;
    }
    error = probity_scopes_put_run(memory->scopes, run, steps);
    return error != 0 ? error : memory->error;
}

void probity_memory_finish(struct probity_memory *memory)
{
    for (size_t i = 0; i < memory->list_count; i++)
        keep_peak(memory, memory->list[i]);
}

const struct probity_memory_facts *probity_memory_facts(const struct probity_memory *memory)
{
    return &memory->facts;
}

struct probity_memory_leaf *const *probity_memory_leaves(const struct probity_memory *memory,
                                                         size_t *ret_count)
{
    *ret_count = memory->list_count;
    return memory->list;
}

const struct probity_scopes_repairs *probity_memory_repairs(const struct probity_memory *memory)
{
    return probity_scopes_repairs(memory->scopes);
}

void probity_memory_sums_add(struct probity_memory_sums *to, const struct probity_memory_sums *from)
{
    to->allocations += from->allocations;
    to->bytes += from->bytes;
    to->frees += from->frees;
    to->live_blocks += from->live_blocks;
    to->live_bytes += from->live_bytes;
    to->peak_blocks += from->peak_blocks;
    to->peak_bytes += from->peak_bytes;
    to->failed += from->failed;
    to->lifetime_ns += from->lifetime_ns;
}

int probity_memory_open(const struct probity_memory_options *options,
                        struct probity_memory **ret_memory)
{
    struct probity_memory *memory = calloc(1, sizeof *memory);

    if (memory == NULL || probity_scopes_open(&memory->scopes) != 0) {
        free(memory);
        return PROBITY_ERROR_MEMORY;
    }
    memory->functions.item_bytes = sizeof(struct probity_same_function);
    probity_scopes_set_range(memory->scopes, options->from_ns, options->to_ns);
    memory->options = *options;
    if (options->to_ns == 0)
        memory->options.to_ns = UINT64_MAX;
    *ret_memory = memory;
    return 0;
}

void probity_memory_close(struct probity_memory *memory)
{
    while (memory->chunks != NULL) {
        struct block_chunk *next = memory->chunks->next;
        free(memory->chunks);
        memory->chunks = next;
    }
    for (size_t i = 0; i < memory->list_count; i++)
        free(memory->list[i]);
    for (size_t i = 0; i < memory->call_count; i++)
        free(memory->calls[i]);
    free(memory->list);
    probity_hashtable_release(&memory->blocks);
    probity_hashtable_release(&memory->leaves);
    probity_tree_nodes_release(&memory->paths);
    probity_same_functions_release(&memory->functions);
    probity_scopes_close(memory->scopes);
    free(memory);
}
