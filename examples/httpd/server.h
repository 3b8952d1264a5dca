/* SPDX-License-Identifier: MIT
 *
 * server.h: data shared by all threads of the server, and the limits. Created by main before the
 * threads start and released after they have been joined; in between, only marked fields change.
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
    CONNECTIONS_MAX = 1024,        /* more get 503 */
    THREADS_MAX = 256,
    BODY_BYTES_MAX = 1 << 20,      /* of a request; beyond it: 413 */
    CGI_OUTPUT_BYTES_MAX = 4 << 20, /* of a CGI program, headers included; beyond it: 500 */
    CGI_TIME_MS_MAX = 10000,       /* then the program is killed: 504 */
    TRANSFER_TIME_MS_MAX = 30000,  /* to receive a body or send a response … */
    TRANSFER_BYTES_PER_MS_MIN = 64 /* … plus the time that a file needs at this rate */
};

struct server {
    const char *root_path; /* absolute, without links */
    int root;              /* its descriptor */
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

/* Argument of a thread. */
struct server_thread {
    struct server *server;
    struct scoreboard_slot *slot; /* written only by this thread */
    unsigned number;              /* 0: the listener */
};

/* Creates the epoll set that watches the listening socket and the stop event. Returns 0, or -1
 * with errno set. Call before the threads start. */
int listener_init(struct server *server);

/* The threads' functions; argument is a struct server_thread. Both return NULL. */
void *listener_run(void *argument);
void *worker_run(void *argument);

#endif
