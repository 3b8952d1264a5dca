/* SPDX-License-Identifier: MIT
 *
 * sites.c: reads rows of SITES blocks, one at a time, and zero-terminates their texts. The checksum
 * of each block is verified here, like that of a DATA block when it is opened.
 */
#include "reader/sites.h"

#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "base/assert.h"
#include "format/sites.h"
#include "reader/file.h"
#include "reader/trace.h"

int probity_sites_places_add(struct probity_sites_places *places,
                             const struct probity_scan_item *item)
{
    probity_assert(item->kind == PROBITY_SCAN_BLOCK);
    void *items =
        probity_array_room(places->items, sizeof *places->items, places->count, &places->capacity);
    if (items == NULL)
        return PROBITY_ERROR_MEMORY;
    places->items = items;
    probity_assert(places->count < places->capacity);
    places->items[places->count++] = (struct probity_sites_place){item->offset, item->bytes};
    return 0;
}

void probity_sites_places_release(struct probity_sites_places *places)
{
    free(places->items);
    *places = (struct probity_sites_places){0};
}

struct reading {
    struct probity_trace *trace;
    probity_sites_take *take;
    void *context;
    uint64_t listed, left_out;
    char *texts; /* texts of one row, each zero-terminated */
    size_t capacity;
};

static int reserve(struct reading *reading, const struct probity_listed *row)
{
    size_t bytes = PROBITY_LISTED_TEXTS;

    for (int i = 0; i < PROBITY_LISTED_TEXTS; i++)
        bytes += row->length[i];
    char *texts = probity_array_fit(reading->texts, 1, bytes, &reading->capacity);
    if (texts == NULL)
        return PROBITY_ERROR_MEMORY;
    reading->texts = texts;
    return 0;
}

/* Takes a row. No program lists more rows than the limit: further ones are damage, and only
 * counted. */
static int take_row(struct reading *reading, const struct probity_listed *row)
{
    const char *text[PROBITY_LISTED_TEXTS];

    if (++reading->listed > PROBITY_LIMIT_LISTED)
        return 0;
    int error = reserve(reading, row);
    char *at = reading->texts;

    if (error != 0 || row->kind < PROBITY_LISTED_NAMED || row->kind > PROBITY_LISTED_FUNCTION)
        return error;
    for (int i = 0; i < PROBITY_LISTED_TEXTS; i++) {
        if (row->length[i] > 0)
            memcpy(at, row->text[i], row->length[i]);
        at[row->length[i]] = '\0';
        text[i] = at;
        at += row->length[i] + 1;
    }
    probity_assert(at <= reading->texts + reading->capacity);
    const struct probity_listed_site site = {
        .trace = reading->trace->number,
        .kind = row->kind,
        .line = row->line,
        .number = row->number,
        .level = row->level,
        .is_cxx = (row->flags & PROBITY_LISTED_CXX) != 0,
        .is_deferred = (row->flags & PROBITY_LISTED_DEFERRED) != 0,
        .name = text[PROBITY_LISTED_NAME],
        .file = text[PROBITY_LISTED_FILE],
        .within = row->kind == PROBITY_LISTED_FUNCTION ? "" : text[PROBITY_LISTED_WITHIN],
        .signature = row->kind == PROBITY_LISTED_FUNCTION ? text[PROBITY_LISTED_WITHIN] : "",
        .returns = text[PROBITY_LISTED_RETURNS],
        .object = text[PROBITY_LISTED_OBJECT]};
    return reading->take(reading->context, &site);
}

/* Reads the rows, up to the first invalid one. */
static int read_rows(struct reading *reading, const uint8_t *payload, size_t bytes)
{
    const uint8_t *at = payload + PROBITY_SITES_FIXED_BYTES, *end = payload + bytes;
    struct probity_listed row = {0};
    uint32_t rows, left_out;
    int error = 0;

    if (probity_sites_head_get(payload, bytes, &rows, &left_out) != 0)
        return 0;
    reading->left_out = left_out;
    for (uint32_t i = 0; error == 0 && at != NULL && i < rows; i++) {
        at = probity_sites_row_get(at, end, &row);
        error = at != NULL ? take_row(reading, &row) : 0;
    }
    return error;
}

static int read_block(struct reading *reading, const struct probity_sites_place *place)
{
    uint8_t *block = malloc(place->bytes);
    struct probity_block_header header;
    int error = 0;

    probity_assert(place->bytes >= PROBITY_BLOCK_HEADER_BYTES);
    if (block == NULL)
        return PROBITY_ERROR_MEMORY;
    ssize_t got = probity_range_read(&reading->trace->range, block, place->bytes, place->offset);
    if (got < 0)
        error = (int)got;
    else if ((size_t)got < place->bytes || probity_block_header_get(block, &header) != 0 ||
             header.payload_bytes + (size_t)PROBITY_BLOCK_HEADER_BYTES != place->bytes ||
             !probity_block_is_whole(block, &header))
        probity_trace_note_damage(reading->trace, place->offset, place->bytes);
    else
        error = read_rows(reading, block + PROBITY_BLOCK_HEADER_BYTES, header.payload_bytes);
    free(block);
    return error;
}

int probity_sites_read(struct probity_trace *trace, probity_sites_take *take, void *context,
                       uint64_t *ret_left_out)
{
    struct reading reading = {.trace = trace, .take = take, .context = context};
    int error = 0;

    for (size_t i = 0; error == 0 && i < trace->sites.count; i++)
        error = read_block(&reading, &trace->sites.items[i]);
    free(reading.texts);
    if (error == 0)
        *ret_left_out = reading.left_out + (reading.listed > PROBITY_LIMIT_LISTED
                                                ? reading.listed - PROBITY_LIMIT_LISTED
                                                : 0);
    return error;
}
