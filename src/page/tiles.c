/* SPDX-License-Identifier: MIT
 *
 * tiles.c: writes tiles, each as a call of a function with a number and a base64 text, so that a
 * page opened as a file can load it as a script; a page from a server reads it as text and never
 * executes it.
 */
#include "page/tiles.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/os.h"
#include "page/view.h"
#include "page/view_stream.h"
#include "probity.h"

enum { HEAD_BYTES = 4 };

void probity_tile_name(char ret_name[PROBITY_TILE_NAME_BYTES], uint32_t number)
{
    snprintf(ret_name, PROBITY_TILE_NAME_BYTES, "tile-%" PRIu32 ".js", number);
}

FILE *probity_tiles_create(int directory, const char *name)
{
    int file = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    FILE *stream = file >= 0 ? fdopen(file, "w") : NULL;

    if (stream == NULL && file >= 0)
        close(file);
    return stream;
}

/* Returns the number of the first file of a level; late spans are also a level. */
static uint32_t first_file(const struct probity_pyramid_grid *grid, unsigned level)
{
    uint32_t number = 0;

    for (unsigned i = 0; i < level; i++)
        number += probity_pyramid_tiles(grid, i);
    return number;
}

/* ---- Writing -----------------------------------------------------------------------------------
 */

static int64_t relative(const struct probity_tiles *tiles, uint64_t at_ns)
{
    return (int64_t)(at_ns - tiles->start_ns);
}

/* Late spans may begin at any time, so their file covers everything. */
static uint64_t from_of(const struct probity_tiles *tiles, const struct probity_pyramid_tile *tile)
{
    const struct probity_pyramid_grid *grid = &tiles->grid;

    return tile->level < grid->levels
               ? grid->from_ns + ((uint64_t)tile->number * grid->tile_ns << 2 * tile->level)
               : grid->from_ns;
}

static void put_object(FILE *stream, const struct probity_tiles *tiles,
                       const struct probity_pyramid_tile *tile, uint32_t file)
{
    const char *between = "";

    fprintf(stream, "{\"id\": \"%s\", \"file\": %" PRIu32 ", \"from_ns\": %" PRId64
            ", \"threads\": [", tiles->id, file, relative(tiles, from_of(tiles, tile)));
    for (size_t i = 0; i < tile->thread_count; i++) {
        if (tile->threads[i] == NULL)
            continue;
        fprintf(stream, "%s\n{\"place\": %zu, ", between, i);
        probity_view_lanes_json(stream, tile->threads[i]);
        fputc('}', stream);
        between = ",";
    }
    fputs("]}", stream);
}

static int put_tile(FILE *stream, const struct probity_tiles *tiles,
                    const struct probity_pyramid_tile *tile, uint32_t file)
{
    uint8_t head[HEAD_BYTES];
    char *text = NULL;
    size_t bytes = 0;
    FILE *json = open_memstream(&text, &bytes);

    if (json == NULL)
        return PROBITY_ERROR_MEMORY;
    put_object(json, tiles, tile, file);
    if (fclose(json) != 0) {
        free(text);
        return PROBITY_ERROR_MEMORY;
    }
    probity_put_u32(head, (uint32_t)bytes);
    fwrite(head, 1, sizeof head, stream);
    fwrite(text, 1, bytes, stream);
    free(text);
    int error = 0;
    for (size_t i = 0; error == 0 && i < tile->thread_count; i++) {
        if (tile->threads[i] != NULL)
            error = probity_view_thread_spans(stream, tile->threads[i], from_of(tiles, tile));
    }
    return error == 0 && ferror(stream) ? PROBITY_ERROR_WRITE : error;
}

static int write_script(FILE *stream, const struct probity_tiles *tiles,
                        const struct probity_pyramid_tile *tile, uint32_t file)
{
    fprintf(stream, "probityTile(%" PRIu32 ",\"", file);
    FILE *packed = probity_view_stream_open(stream);
    int error = packed != NULL ? put_tile(packed, tiles, tile, file) : PROBITY_ERROR_MEMORY;
    if (packed != NULL && fclose(packed) != 0 && error == 0)
        error = PROBITY_ERROR_WRITE;
    fputs("\");\n", stream);
    return error;
}

static int write_tile(void *context, const struct probity_pyramid_tile *tile)
{
    struct probity_tiles *tiles = context;
    uint32_t file = first_file(&tiles->grid, tile->level) +
                    (tile->level < tiles->grid.levels ? tile->number : 0);
    char name[PROBITY_TILE_NAME_BYTES];

    probity_tile_name(name, file);
    FILE *stream = probity_tiles_create(tiles->directory, name);
    if (stream == NULL)
        return PROBITY_ERROR_WRITE;
    int error = write_script(stream, tiles, tile, file);
    long bytes = ftell(stream);
    if (fclose(stream) != 0 && error == 0)
        error = PROBITY_ERROR_WRITE;
    tiles->bytes += bytes > 0 ? (uint64_t)bytes : 0;
    tiles->spans[file] = (uint32_t)tile->spans;
    return error;
}

int probity_tiles_put(struct probity_tiles *tiles, const struct probity_event *event)
{
    return probity_pyramid_put(tiles->pyramid, event);
}

int probity_tiles_finish(struct probity_tiles *tiles)
{
    return probity_pyramid_finish(tiles->pyramid);
}

/* ---- The page's data ---------------------------------------------------------------------------
 */

static void put_level(FILE *stream, const struct probity_tiles *tiles, unsigned level)
{
    const struct probity_pyramid_grid *grid = &tiles->grid;
    uint32_t file = first_file(grid, level), count = probity_pyramid_tiles(grid, level);

    fprintf(stream, "{\"unit_ns\": %" PRIu64 ", \"tile_ns\": %" PRIu64 ", \"file\": %" PRIu32
            ", \"spans\": [", grid->unit_ns << 2 * level, grid->tile_ns << 2 * level, file);
    for (uint32_t i = 0; i < count; i++)
        fprintf(stream, "%s%" PRIu32, i > 0 ? "," : "", tiles->spans[file + i]);
    fputs("]}", stream);
}

void probity_tiles_json(FILE *stream, const struct probity_tiles *tiles)
{
    uint32_t late = tiles->file_count - 1;

    fprintf(stream, ",\n\"tiles\": {\"id\": \"%s\", \"from_ns\": %" PRId64 ", \"late\": %" PRId64
            ", \"lost\": %" PRIu64 ", \"levels\": [", tiles->id,
            relative(tiles, tiles->grid.from_ns), tiles->spans[late] > 0 ? (int64_t)late : -1,
            tiles->pyramid != NULL ? probity_pyramid_lost(tiles->pyramid) : 0);
    for (unsigned i = 0; i < tiles->grid.levels; i++) {
        fputs(i > 0 ? ",\n" : "\n", stream);
        put_level(stream, tiles, i);
    }
    fputs("]}", stream);
}

/* ---- Opening -----------------------------------------------------------------------------------
 */

static int make_id(char id[PROBITY_TILES_ID_BYTES])
{
    uint8_t bytes[PROBITY_TILES_ID_BYTES / 2];

    if (probity_os_random(bytes, sizeof bytes) != 0)
        return PROBITY_ERROR_OPEN;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(id + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

int probity_tiles_open(struct probity_tiles *tiles, struct probity_timeline *again,
                       const struct probity_pyramid_grid *grid, uint64_t start_ns, int directory)
{
    *tiles = (struct probity_tiles){.grid = *grid, .start_ns = start_ns, .directory = directory,
                                    .file_count = first_file(grid, grid->levels) + 1};
    int error = make_id(tiles->id);

    if (error != 0)
        return error;
    tiles->spans = calloc(tiles->file_count, sizeof *tiles->spans);
    if (tiles->spans == NULL)
        return PROBITY_ERROR_MEMORY;
    return grid->levels > 0 ? probity_pyramid_open(again, grid, write_tile, tiles,
                                                   &tiles->pyramid) : 0;
}

void probity_tiles_close(struct probity_tiles *tiles)
{
    if (tiles->pyramid != NULL)
        probity_pyramid_close(tiles->pyramid);
    free(tiles->spans);
    *tiles = (struct probity_tiles){.directory = -1};
}
