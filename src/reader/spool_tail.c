/* SPDX-License-Identifier: MIT
 *
 * spool_tail.c: presents chunks of a spool as blocks in memory. Runs in the tool, possibly while a
 * program stores to the chunks and recycles them, and uses only copies of them.
 */
#include "reader/spool_tail.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array_grow.h"
#include "base/assert.h"
#include "probity.h"

static uint64_t load(const struct probity_attach_chunk *chunk, uint32_t at)
{
    return __atomic_load_n(&chunk->words[at], __ATOMIC_ACQUIRE);
}

/* Returns the number of words according to the head of a record, pending or not; 1 if the head is
 * invalid.
 */
static uint32_t words_of(uint64_t head, uint32_t left)
{
    uint32_t words = (uint32_t)(head >> 4) & 255;

    return (head & PROBITY_WORD_CODE_MASK) >= PROBITY_WORD_CODE_FIRST || words == 0 || words > left
               ? 1
               : words;
}

/* Returns the next head after zero words, or the end of the chunk. Records may be stored there
 * concurrently: a nonzero word may then be inside a record, so its head is searched for again. */
static uint32_t next_head(const struct probity_attach_chunk *chunk, uint32_t first)
{
    uint32_t at = first, again = first;

    probity_assert(first <= chunk->end);
    while (at < chunk->end && load(chunk, at) == 0)
        at++;
    while (again < at && load(chunk, again) == 0)
        again++;
    probity_assert(again >= first && again <= chunk->end);
    return again;
}

/* Copies the complete records of a live chunk. If a head is visible, the other words of its record
 * were stored before (acquire; pairs with the release of the head in src/runtime/). */
static int copy_words(struct probity_attach_chunk *chunk, uint64_t *room, uint64_t **ret_copy)
{
    uint32_t end = 0;

    memset(room, 0, chunk->end * sizeof *room);
    for (uint32_t at = next_head(chunk, 0); at < chunk->end; at = next_head(chunk, end)) {
        uint64_t head = load(chunk, at);
        uint32_t words = words_of(head, chunk->end - at);
        room[at] = head;
        /* Only the head of a pending record is read. */
        for (uint32_t i = 1; i < words && (head & 15) != PROBITY_WORD_PENDING; i++)
            room[at + i] = load(chunk, at + i);
        end = at + words;
        probity_assert(end <= chunk->end);
    }
    uint64_t *copy = malloc((end > 0 ? end : 1) * sizeof *copy);
    if (copy == NULL)
        return PROBITY_ERROR_MEMORY;
    memcpy(copy, room, end * sizeof *copy);
    chunk->end = end;
    chunk->words = copy;
    *ret_copy = copy;
    return 0;
}

/* Adds chunk `index` to the list. If a chunk was freed in the meantime, it is in the file by
 * now. */
static int take_chunk(struct probity_spool_tail *rest, uint64_t index, uint64_t *room)
{
    struct probity_spool_tail_chunk taken = {.index = index};

    if (!probity_attach_chunk(&rest->attach, index, &taken.chunk) ||
        taken.chunk.serial > rest->newest)
        return 0;
    struct probity_attach_chunk before = taken.chunk;
    if (rest->is_alive) {
        int error = copy_words(&taken.chunk, room, &taken.copy);
        if (error != 0)
            return error;
        if (!probity_attach_chunk_stands(&rest->attach, index, &before)) {
            free(taken.copy);
            return 0;
        }
    }
    taken.first = taken.chunk.drained;
    if (taken.first >= taken.chunk.end) {
        free(taken.copy);
        return 0;
    }
    probity_assert(rest->count < rest->capacity);
    probity_assert(taken.first < taken.chunk.end);
    rest->chunks[rest->count++] = taken;
    return 0;
}

static int compare_serials(const void *left, const void *right)
{
    const struct probity_spool_tail_chunk *a = left, *b = right;

    return a->chunk.serial < b->chunk.serial ? -1 : a->chunk.serial > b->chunk.serial;
}

/* Takes the latest anchors, oldest first. The next entry may be partially written. */
static void take_anchors(struct probity_spool_tail *rest)
{
    const struct probity_spool_header *header = probity_attach_header(&rest->attach);
    struct probity_spool_anchor ring[PROBITY_SPOOL_ANCHORS];
    uint64_t before = __atomic_load_n(&header->anchors, __ATOMIC_ACQUIRE);

    memcpy(ring, header->anchor, sizeof ring);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    uint64_t after = __atomic_load_n(&header->anchors, __ATOMIC_ACQUIRE);
    uint64_t kept = PROBITY_SPOOL_ANCHORS - 1;
    /* The program never decreases this number. */
    after = after > before ? after : before;
    for (uint64_t i = after > kept ? after - kept : 0; i < before; i++) {
        const struct probity_spool_anchor *anchor = &ring[i % PROBITY_SPOOL_ANCHORS];
        probity_assert(rest->anchor_count < sizeof rest->anchors / sizeof *rest->anchors);
        rest->anchors[rest->anchor_count++] = (struct probity_anchor){
            anchor->ticks, anchor->raw_ns, anchor->monotonic_ns, anchor->realtime_ns,
            anchor->width_ns};
    }
}

/* Finds the latest chunk that is open before the first one is copied. A chunk that a thread opens
 * after its previous one was copied is left out, because records between the two would be
 * missing. */
static void find_newest(struct probity_spool_tail *rest)
{
    struct probity_attach_chunk chunk;

    rest->newest = rest->is_alive ? 0 : UINT64_MAX;
    for (uint64_t i = 0; rest->is_alive && i < rest->attach.chunk_count; i++) {
        if (probity_attach_chunk(&rest->attach, i, &chunk) && chunk.serial > rest->newest)
            rest->newest = chunk.serial;
    }
}

static int take_all(struct probity_spool_tail *rest)
{
    uint32_t chunk_words = rest->attach.chunk_words;
    uint64_t *room = malloc(chunk_words * sizeof *room);
    int error = 0;

    rest->capacity = rest->attach.chunk_count + 1;
    rest->chunks = calloc(rest->capacity, sizeof *rest->chunks);
    rest->scratch.entries = malloc(chunk_words * sizeof *rest->scratch.entries);
    rest->scratch.capacity = chunk_words;
    rest->block = malloc(probity_drain_room(chunk_words));
    if (room == NULL || rest->chunks == NULL || rest->scratch.entries == NULL ||
        rest->block == NULL)
        error = PROBITY_ERROR_MEMORY;
    find_newest(rest);
    for (uint64_t i = 0; error == 0 && i < rest->attach.chunk_count; i++)
        error = take_chunk(rest, i, room);
    free(room);
    if (error == 0 && rest->count > 1)
        qsort(rest->chunks, rest->count, sizeof *rest->chunks, compare_serials);
    return error;
}

int probity_spool_tail_adopt(const struct probity_attach *attach, const struct probity_info *info,
                             struct probity_spool_tail *ret_rest)
{
    struct probity_spool_tail rest = {.attach = *attach, .is_attached = 1};
    const struct probity_spool_header *header = probity_attach_header(attach);
    int error = 0;

    probity_assert(probity_attach_is_valid(attach));
    rest.is_alive = probity_attach_is_alive(attach);
    memcpy(&rest.header, header, sizeof rest.header);
    rest.is_closed = rest.header.state == PROBITY_SPOOL_CLOSED;
    rest.rate = rest.header.rate != 0 ? rest.header.rate : info->rate;
    take_anchors(&rest);
    /* A spool that is being created is empty, and everything in a closed spool is in the trace. */
    if (rest.header.state == PROBITY_SPOOL_RECORDING || rest.header.state == PROBITY_SPOOL_LEFT)
        error = take_all(&rest);
    if (error != 0) {
        rest.is_attached = 0;
        probity_spool_tail_release(&rest);
        return error;
    }
    *ret_rest = rest;
    return 0;
}

int probity_spool_tail_query(int trace_file, int directory, const struct probity_info *info,
                             struct probity_attach_query *ret_query)
{
    const struct probity_text *named = &info->text[PROBITY_TAG_SPOOL];
    struct stat status;

    if (fstat(trace_file, &status) != 0)
        return PROBITY_ERROR_READ;
    *ret_query = (struct probity_attach_query){
        .place = {.session = info->session,
                  .owner = status.st_uid,
                  .trace_directory = directory,
                  .named = named->bytes,
                  .named_length = named->length},
        .boot = info->boot,
        .trace_device = status.st_dev,
        .trace_inode = status.st_ino};
    return 0;
}

int probity_spool_tail_take(const struct probity_attach_query *query,
                            const struct probity_info *info, struct probity_spool_tail *ret_rest)
{
    struct probity_attach attach;
    int error = probity_attach_find(query, NULL, &attach);

    if (error != 0)
        return error;
    error = probity_spool_tail_adopt(&attach, info, ret_rest);
    if (error != 0)
        probity_attach_close(&attach);
    return error;
}

/* Returns the index of the chunk's first entry in the list; the length of the list if there is
 * none. */
static size_t find_chunk(const struct probity_spool_tail *rest, uint64_t serial)
{
    size_t low = 0, high = rest->count;

    probity_assert(rest->count <= rest->capacity);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rest->chunks[middle].chunk.serial < serial)
            low = middle + 1;
        else
            high = middle;
    }
    return low < rest->count && rest->chunks[low].chunk.serial == serial ? low : rest->count;
}

/* Determines the range of the chunk's words that a block contains. */
static void covered_words(const struct probity_spool_tail_chunk *chunk,
                          const struct probity_data *data, uint32_t *ret_first, uint32_t *ret_end)
{
    *ret_first = data->first_word > chunk->first ? data->first_word : chunk->first;
    *ret_end = data->end_word < chunk->chunk.end ? data->end_word : chunk->chunk.end;
}

int probity_spool_tail_overlaps(const struct probity_spool_tail *rest,
                                const struct probity_data *data)
{
    uint32_t first, end;

    for (size_t i = find_chunk(rest, data->chunk);
         i < rest->count && rest->chunks[i].chunk.serial == data->chunk; i++) {
        covered_words(&rest->chunks[i], data, &first, &end);
        if (first < end)
            return 1;
    }
    return 0;
}

/* Makes the words after the block a separate entry, which shares the memory. */
static int split(struct probity_spool_tail *rest, size_t index, uint32_t first)
{
    probity_assert(index < rest->count);
    void *chunks =
        probity_array_room(rest->chunks, sizeof *rest->chunks, rest->count, &rest->capacity);
    if (chunks == NULL)
        return PROBITY_ERROR_MEMORY;
    rest->chunks = chunks;
    probity_assert(rest->count < rest->capacity);
    struct probity_spool_tail_chunk *at = &rest->chunks[index];
    memmove(at + 1, at, (rest->count++ - index) * sizeof *at);
    at[1].copy = NULL;
    at[1].first = first;
    return 0;
}

/* Keeps the words before the block. If they are written later, they are late. */
static int cover(struct probity_spool_tail *rest, size_t index, uint32_t first, uint32_t end)
{
    int error = end < rest->chunks[index].chunk.end ? split(rest, index, end) : 0;
    struct probity_spool_tail_chunk *chunk = &rest->chunks[index];
    probity_assert(first > chunk->first && first < end);

    if (error != 0)
        return error;
    chunk->chunk.end = first;
    chunk->chunk.is_held = 1;
    return 0;
}

int probity_spool_tail_cover(struct probity_spool_tail *rest, const struct probity_data *data)
{
    uint32_t first, end;
    int error = 0;

    for (size_t i = find_chunk(rest, data->chunk);
         error == 0 && i < rest->count && rest->chunks[i].chunk.serial == data->chunk; i++) {
        struct probity_spool_tail_chunk *chunk = &rest->chunks[i];
        covered_words(chunk, data, &first, &end);
        if (first >= end)
            continue;
        if (first == chunk->first)
            chunk->first = end;
        else
            error = cover(rest, i, first, end);
    }
    return error;
}

void probity_spool_tail_pack(struct probity_spool_tail *rest, size_t index, uint64_t block_serial,
                             struct probity_drain_output *ret_output)
{
    const struct probity_spool_tail_chunk *taken = &rest->chunks[index];
    const struct probity_attach_chunk *chunk = &taken->chunk;
    struct probity_drain_input input = {.words = chunk->words,
                                        .end = chunk->end,
                                        .first = taken->first,
                                        .thread = chunk->thread,
                                        .tid = chunk->tid,
                                        .chunk = chunk->serial,
                                        .base_tick = chunk->base_tick,
                                        .cpu_ns = chunk->cpu_ns,
                                        .rate = rest->rate,
                                        .cpu_known = chunk->cpu_known,
                                        .is_late = chunk->is_held,
                                        .stop_at_hole = rest->stop_at_hole};

    probity_assert(index < rest->count);
    if (taken->first >= chunk->end) {
        *ret_output = (struct probity_drain_output){0};
        return;
    }
    probity_drain_chunk(&input, &rest->scratch, block_serial, rest->block, ret_output);
}

void probity_spool_tail_release(struct probity_spool_tail *rest)
{
    for (size_t i = 0; i < rest->count; i++)
        free(rest->chunks[i].copy);
    free(rest->chunks);
    free(rest->scratch.entries);
    free(rest->block);
    if (rest->is_attached)
        probity_attach_close(&rest->attach);
    memset(rest, 0, sizeof *rest);
}
