/* SPDX-License-Identifier: MIT
 *
 * tiles.h: the tiles of a page, as files next to it (doc/tiles.md). Needs libz.
 */
#ifndef PROBITY_PAGE_TILES_H
#define PROBITY_PAGE_TILES_H

#include <stdint.h>
#include <stdio.h>

#include "answers/timeline/timeline_pyramid.h"

/* Maximum size of one tile's file. */
#define PROBITY_TILE_BYTES_MAX (UINT64_C(64) << 20)

enum { PROBITY_TILES_ID_BYTES = 33, PROBITY_TILE_NAME_BYTES = 24 };

struct probity_tiles {
    struct probity_pyramid_grid grid;
    uint64_t start_ns;                /* when recording began */
    int directory;                    /* descriptor of the directory */
    char id[PROBITY_TILES_ID_BYTES];  /* hexadecimal digits, in the page and in each tile */
    uint32_t *spans;                  /* number of spans in each file; 0: there is no file */
    uint32_t file_count;              /* number of files of all levels, then one of late spans */
    uint64_t bytes;                   /* size of all files */
    struct probity_pyramid *pyramid;
};

/* Prepares tiles to be written to a directory, which stays open. again: the same as for
 * probity_pyramid_open(). Returns 0 or PROBITY_ERROR_MEMORY, or PROBITY_ERROR_OPEN if the system
 * has no random numbers. */
int probity_tiles_open(struct probity_tiles *tiles, struct probity_timeline *again,
                       const struct probity_pyramid_grid *grid, uint64_t start_ns, int directory);

/* Takes the next event. Returns 0, PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE with errno set; so
 * does finish, after which the JSON can be written. */
int probity_tiles_put(struct probity_tiles *tiles, const struct probity_event *event);
int probity_tiles_finish(struct probity_tiles *tiles);

/* Writes the member `tiles` of the page's data, preceded by a comma. */
void probity_tiles_json(FILE *stream, const struct probity_tiles *tiles);

void probity_tiles_close(struct probity_tiles *tiles);

/* Writes the name of a file of tiles, by its number. */
void probity_tile_name(char ret_name[PROBITY_TILE_NAME_BYTES], uint32_t number);

/* Creates a file in a directory, where it must not exist. Returns a stream, or NULL with errno
 * set. */
FILE *probity_tiles_create(int directory, const char *name);

#endif
