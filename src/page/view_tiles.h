/* SPDX-License-Identifier: MIT
 *
 * view_tiles.h: `probity view --tiles`: a directory with the page, its tiles and data for a server
 * (doc/tiles.md). Only for view_command.c.
 */
#ifndef PROBITY_PAGE_VIEW_TILES_H
#define PROBITY_PAGE_VIEW_TILES_H

#include "page/tiles.h"
#include "page/view.h"

struct cli_query;

struct view_tiles {
    const char *path;         /* --tiles; NULL: none */
    struct cli_query *answer; /* set by the caller, which also sets force and the thread ids as
                               * given */
    int force;
    const char *tids;
    size_t bases; /* number of --diff options */
    struct probity_pyramid_grid grid;
    struct probity_reader *reader; /* reader of the additional pass; may own names */
    struct probity_tiles tiles;
    char **files; /* names of all files that the directory may have, NULL after the last */
    char **paths; /* paths of the traces */
    size_t path_count;
};

/* Returns the number of additional passes over the traces; 0 without a directory. */
unsigned view_tiles_passes(const struct view_tiles *tiles);

/* Plans the levels; call after the timeline is finished and before it is refined. */
void view_tiles_plan(struct view_tiles *tiles, const struct probity_timeline *timeline,
                     const struct probity_reader *reader);

/* Reads the traces once more and writes the directory. timeline: that of the answer. Reports
 * errors. Returns an exit status. */
int view_tiles_write(struct view_tiles *tiles, struct probity_timeline *timeline,
                     struct probity_view_answer *answer);

/* Data for a server from a directory that was written earlier. */
struct view_tiles_found {
    uint64_t start_ns, longest_ns;
    char *page; /* with PROBITY_VIEW_WINDOWS inserted; to be freed */
    size_t page_bytes;
};

/* Whether an open directory belongs to these traces and options. Returns 1, or 0 with the
 * reason. */
int view_tiles_find(const struct view_tiles *tiles, const struct probity_reader *reader,
                    int directory, struct view_tiles_found *ret_found, const char **ret_why);

/* Opens a regular file that is in a directory and owned by the user or root. Returns a descriptor
 * or -1. */
int view_tiles_open_file(int directory, const char *name);

/* Reads such a file. Returns its contents with a zero appended, to be freed, or NULL. */
char *view_tiles_read(int directory, const char *name, uint64_t bytes_max, size_t *ret_bytes);

/* Writes the name of a trace's index in the directory. */
void view_tiles_index_name(char ret_name[PROBITY_TILE_NAME_BYTES], size_t trace);

void view_tiles_release(struct view_tiles *tiles);

#endif
