/* SPDX-License-Identifier: MIT
 *
 * serve.h: the server of `probity view --serve`: serves one page and windows of its trace, on the
 * loopback interface, at an address with a random token. It writes no files, and opens files only
 * through options.tile. Needs libmicrohttpd, which is loaded when a server is opened.
 */
#ifndef PROBITY_PAGE_SERVE_H
#define PROBITY_PAGE_SERVE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct probity_serve_options {
    const char *page; /* the document */
    size_t page_bytes;
    unsigned port; /* 0: any free port */
    /* Writes the window [from, to), in ns since recording began. Runs in a child process. Returns 0
     * or an error. */
    int (*window)(void *context, uint64_t from_ns, uint64_t to_ns, FILE *stream);
    /* Reads a file of tiles by its number. Returns its text, to be freed, or NULL. May be NULL
     * itself. */
    char *(*tile)(void *context, uint32_t number, size_t *ret_bytes);
    void *context;
};

struct probity_server;

/* Opens a server. The options must stay valid. Returns 0, or -1 with the reason. */
int probity_server_open(const struct probity_serve_options *options,
                        struct probity_server **ret_server, const char **ret_why);

/* Returns the address of the page, valid until close. */
const char *probity_server_address(const struct probity_server *server);

/* Returns an address that may be on a command line, where other users can read it: the first
 * request for it by this user or root is redirected to the address of the page; others are
 * rejected. The text is valid until close. */
const char *probity_server_once_address(const struct probity_server *server);

/* Handles requests until the process ends. Returns -1 if that is no longer possible. */
int probity_server_run(struct probity_server *server);

void probity_server_close(struct probity_server *server);

#endif
