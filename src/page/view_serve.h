/* SPDX-License-Identifier: MIT
 *
 * view_serve.h: `probity view --serve`: keeps the page in memory, and serves it with windows of its
 * traces. Only for view_command.c.
 */
#ifndef PROBITY_PAGE_VIEW_SERVE_H
#define PROBITY_PAGE_VIEW_SERVE_H

#include "page/serve.h"
#include "page/view.h"
#include "page/view_tiles.h"

struct cli_query;

struct view_served {
    struct cli_query *answer; /* set by the caller, which also sets the port */
    unsigned port;
    struct probity_serve_options options;
    struct probity_server *server;
    char **paths; /* paths of the traces */
    size_t path_count;
    uint64_t longest_ns; /* the page has these spans and longer ones */
    uint64_t start_ns;
    struct probity_reader *reader; /* opened for the children */
    int directory;                 /* with tiles: descriptor of the directory; 0: none */
};

/* Opens the server. Reports errors. Returns an exit status. */
int view_served_open(struct view_served *served);

/* Keeps the page and the data of an answer that the server needs. Returns 0, PROBITY_ERROR_MEMORY
 * or PROBITY_ERROR_WRITE. */
int view_served_keep(struct view_served *served, const struct probity_view_answer *answer);

/* Looks for a directory of tiles that belongs to the traces; if there is one, uses its page, in
 * place of view_served_keep(). If a directory exists but does not belong to them, reports why.
 * Returns an exit status. */
int view_served_find(struct view_served *served, const struct view_tiles *tiles, char **paths,
                     size_t count);

/* Serves until the process ends. show: opens an address that is valid once in a browser, and
 * returns an exit status; may be NULL. Returns an exit status. */
int view_served_run(struct view_served *served, int (*show)(const char *address));

void view_served_release(struct view_served *served);

#endif
