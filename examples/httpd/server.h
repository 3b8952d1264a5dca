/* SPDX-License-Identifier: MIT
 *
 * server.h: what all threads of the server share, and the limits. Made by main before the threads
 * start and released after they are joined; between the two only what is marked changes.
 *
 *     listener ── readable connections ──► queue ──► worker 1 … N
 *        ▲                                              │
 *        └────────── epoll, EPOLLONESHOT ◄──────────────┘  answered; waiting for the next request
 */
#ifndef HTTPD_SERVER_H
#define HTTPD_SERVER_H

#include "connection.h"
#include "queue.h"
#include "scoreboard.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CONNECTIONS_MAX = 1024,        /* further ones get 503 */
    THREADS_MAX = 256,
    BODY_BYTES_MAX = 1 << 20,      /* of a request; beyond it: 413 */
    CGI_OUTPUT_BYTES_MAX = 4 << 20, /* of a CGI program, headers included; beyond it: 500 */
    CGI_TIME_MS_MAX = 10000,       /* then the program is killed: 504 */
    TRANSFER_TIME_MS_MAX = 30000,  /* for a body to arrive or an answer to leave … */
    TRANSFER_BYTES_PER_MS_MIN = 64 /* … and a file has what it needs at this rate besides */
};

struct server {
    const char *root_path; /* absolute, without links */
    int root;              /* descriptor of the same */
    uint16_t port;
    int listening; /* closed by the listener when it stops */
    int epoll;
    int stop_event; /* an eventfd: readable once the server is to stop */
    int idle_ms_max;
    bool plants; /* plant.h */
    atomic_bool stopping; /* set once, by the listener */
    struct queue queue;
    struct connection *connections; /* CONNECTIONS_MAX of them */
    struct scoreboard scoreboard;
};

/* What a thread gets. */
struct server_thread {
    struct server *server;
    struct scoreboard_slot *slot; /* its own */
    unsigned number;              /* 0: the listener */
};

/* Makes the epoll set that watches the listening socket and the stop event. Returns 0, or -1 with
 * errno set. Before the threads start. */
int listener_init(struct server *server);

/* The bodies of the threads; argument is a struct server_thread. Both return NULL. */
void *listener_run(void *argument);
void *worker_run(void *argument);

#endif
