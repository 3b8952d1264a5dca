/* SPDX-License-Identifier: MIT
 *
 * rest.c: chunks of a spool as blocks in memory. Runs in tools, beside a program that may be
 * storing and recycling chunks at the same time, and takes nothing from it but copies.
 */
#include "reader/rest.h"

#include <stdlib.h>
#include <string.h>

#include "probity.h"

/* Copies the words of a live chunk in ascending order: where a long record's head is seen, its
 * other words were stored before (acquire; pairs with the release of the head in src/runtime/).
 * Trailing zeros are left out. */
static int copy_words(struct probity_attach_chunk *chunk, uint64_t *room, uint64_t **ret_copy)
{
    uint32_t end = 0;

    for (uint32_t i = 0; i < chunk->end; i++) {
        room[i] = __atomic_load_n(&chunk->words[i], __ATOMIC_ACQUIRE);
        end = room[i] != 0 ? i + 1 : end;
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

/* Of a chunk that was written with a hole, only the record that has filled the hole since is new.
 * Returns the word behind it; the hole's own place where it is still empty. */
static uint32_t held_end(const struct probity_attach_chunk *chunk)
{
    if (chunk->drained >= chunk->end)
        return chunk->end;
    uint64_t head = chunk->words[chunk->drained];
    uint32_t words = 1, left = chunk->end - chunk->drained;
    if (head == 0 || (head & 0xf) == PROBITY_WORD_PENDING)
        words = 0;
    if ((head & PROBITY_WORD_CODE_MASK) < PROBITY_WORD_CODE_FIRST && words != 0)
        words = (uint32_t)(head >> 4) & 255;
    return chunk->drained + (words < left ? words : left);
}

/* Takes chunk `index` into the list. A chunk that was freed meanwhile is in the file by now. */
static int take_chunk(struct probity_rest *rest, uint64_t index, uint64_t *room)
{
    struct probity_rest_chunk taken = {0};

    if (!probity_attach_chunk(&rest->attach, index, &taken.chunk))
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
    if (taken.chunk.is_held)
        taken.chunk.end = held_end(&taken.chunk);
    if (taken.first >= taken.chunk.end) {
        free(taken.copy);
        return 0;
    }
    rest->chunks[rest->count++] = taken;
    return 0;
}

static int compare_serials(const void *left, const void *right)
{
    const struct probity_rest_chunk *a = left, *b = right;

    return a->chunk.serial < b->chunk.serial ? -1 : a->chunk.serial > b->chunk.serial;
}

/* The newest anchors, oldest first. The place that comes next may be half written. */
static void take_anchors(struct probity_rest *rest)
{
    const struct probity_spool_header *header = probity_attach_header(&rest->attach);
    struct probity_spool_anchor ring[PROBITY_SPOOL_ANCHORS];
    uint64_t before = __atomic_load_n(&header->anchors, __ATOMIC_ACQUIRE);

    memcpy(ring, header->anchor, sizeof ring);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    uint64_t after = __atomic_load_n(&header->anchors, __ATOMIC_ACQUIRE);
    uint64_t kept = PROBITY_SPOOL_ANCHORS - 1;
    for (uint64_t i = after > kept ? after - kept : 0; i < before; i++) {
        const struct probity_spool_anchor *anchor = &ring[i % PROBITY_SPOOL_ANCHORS];
        rest->anchors[rest->anchor_count++] = (struct probity_anchor){
            anchor->ticks, anchor->raw_ns, anchor->monotonic_ns, anchor->realtime_ns,
            anchor->width_ns};
    }
}

static int take_all(struct probity_rest *rest)
{
    uint32_t chunk_words = rest->attach.chunk_words;
    uint64_t *room = malloc(chunk_words * sizeof *room);
    int error = 0;

    rest->chunks = calloc(rest->attach.chunk_count + 1, sizeof *rest->chunks);
    rest->scratch.entries = malloc(chunk_words * sizeof *rest->scratch.entries);
    rest->scratch.capacity = chunk_words;
    rest->block = malloc(probity_drain_room(chunk_words));
    if (room == NULL || rest->chunks == NULL || rest->scratch.entries == NULL ||
        rest->block == NULL)
        error = PROBITY_ERROR_MEMORY;
    for (uint64_t i = 0; error == 0 && i < rest->attach.chunk_count; i++)
        error = take_chunk(rest, i, room);
    free(room);
    if (error == 0 && rest->count > 1)
        qsort(rest->chunks, rest->count, sizeof *rest->chunks, compare_serials);
    return error;
}

int probity_rest_adopt(const struct probity_attach *attach, const struct probity_info *info,
                       struct probity_rest *ret_rest)
{
    struct probity_rest rest = {.attach = *attach, .is_attached = 1};
    const struct probity_spool_header *header = probity_attach_header(attach);
    int error = 0;

    rest.is_alive = probity_attach_is_alive(attach);
    memcpy(&rest.header, header, sizeof rest.header);
    rest.is_closed = rest.header.state == PROBITY_SPOOL_CLOSED;
    rest.rate = rest.header.rate != 0 ? rest.header.rate : info->rate;
    take_anchors(&rest);
    /* A spool in the making holds nothing; a closed one nothing that the trace has not. */
    if (rest.header.state == PROBITY_SPOOL_RECORDING)
        error = take_all(&rest);
    if (error != 0) {
        rest.is_attached = 0;
        probity_rest_release(&rest);
        return error;
    }
    *ret_rest = rest;
    return 0;
}

int probity_rest_take(const char *path, const struct probity_info *info,
                      struct probity_rest *ret_rest)
{
    struct probity_attach attach;
    int error = probity_attach_open(path, info->session, info->boot, 0, &attach);

    if (error != 0)
        return error;
    error = probity_rest_adopt(&attach, info, ret_rest);
    if (error != 0)
        probity_attach_close(&attach);
    return error;
}

static struct probity_rest_chunk *find_chunk(const struct probity_rest *rest, uint64_t serial)
{
    struct probity_rest_chunk wanted = {.chunk.serial = serial};

    if (rest->count == 0 || serial < rest->chunks[0].chunk.serial ||
        serial > rest->chunks[rest->count - 1].chunk.serial)
        return NULL;
    return bsearch(&wanted, rest->chunks, rest->count, sizeof wanted, compare_serials);
}

/* The block that left a hole in a held chunk goes over it without holding its record: a late block
 * has that. */
static int is_covered(const struct probity_rest_chunk *chunk, const struct probity_data *data)
{
    return data->end_word > chunk->first &&
           (!chunk->chunk.is_held || (data->flags & PROBITY_DATA_LATE) != 0);
}

int probity_rest_overlaps(const struct probity_rest *rest, const struct probity_data *data)
{
    const struct probity_rest_chunk *chunk = find_chunk(rest, data->chunk);

    return chunk != NULL && is_covered(chunk, data);
}

void probity_rest_cover(struct probity_rest *rest, const struct probity_data *data)
{
    struct probity_rest_chunk *chunk = find_chunk(rest, data->chunk);

    if (chunk != NULL && is_covered(chunk, data))
        chunk->first = data->end_word < chunk->chunk.end ? data->end_word : chunk->chunk.end;
}

void probity_rest_pack(struct probity_rest *rest, size_t index, uint64_t block_serial,
                       struct probity_drain_output *ret_output)
{
    const struct probity_rest_chunk *taken = &rest->chunks[index];
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
                                        .is_late = chunk->is_held};

    if (taken->first >= chunk->end) {
        *ret_output = (struct probity_drain_output){0};
        return;
    }
    probity_drain_chunk(&input, &rest->scratch, block_serial, rest->block, ret_output);
}

void probity_rest_release(struct probity_rest *rest)
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
