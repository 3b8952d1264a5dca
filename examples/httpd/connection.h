/* SPDX-License-Identifier: MIT
 *
 * connection.h: one client's connection, and which thread may use it.
 *
 *     FREE ──accept──► IDLE ──readable──► BUSY ──closed──► FREE
 *      ▲                │ ▲                │
 *      └──idle, stop────┘ └──answered──────┘
 *
 * The listener owns a connection that is FREE or IDLE; one worker owns it while it is BUSY. The
 * lock is held only for changes of state, and makes "IDLE and watched again" a single step: a
 * listener that closes idle connections never finds one that a worker is still returning.
 */
#ifndef HTTPD_CONNECTION_H
#define HTTPD_CONNECTION_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LINE_BYTES_MAX = 4096, /* of a request line; beyond it: 414 */
    HEAD_BYTES_MAX = 8192, /* of request line and headers; beyond it: 431 */
    BUFFER_BYTES = 16384   /* a head, and data that the client has sent in advance */
};

enum connection_state { CONNECTION_FREE, CONNECTION_IDLE, CONNECTION_BUSY };

struct connection {
    pthread_mutex_t lock;
    enum connection_state state; /* under the lock, as is the next */
    int64_t deadline_ms;         /* when an idle connection is closed */
    int socket;
    uint64_t turn;   /* a new number each time a connection becomes readable */
    bool head_begun; /* part of a request is in the buffer: its deadline is kept */
    size_t used;
    char buffer[BUFFER_BYTES];
};

struct server;
struct scoreboard_slot;

/* Returns an array of count free connections, or NULL. */
struct connection *connections_new(size_t count);
void connections_free(struct connection *connections, size_t count);

/* FREE -> IDLE, watched. Returns 0, or -1 if epoll refuses. Listener only. */
int connection_open(struct server *server, struct connection *connection, int socket);

/* IDLE -> BUSY, with this turn; false if it has been closed in the meantime. Listener only. */
bool connection_claim(struct connection *connection, uint64_t turn);

/* IDLE -> FREE for connections whose time is over, or for all of them. Listener only. */
void connection_expire(struct connection *connection, bool all, int64_t now_ms,
                       struct scoreboard_slot *slot);

/* BUSY -> IDLE, watched again; or closed if the server is stopping. Its worker only. */
void connection_hand_back(struct server *server, struct connection *connection,
                          struct scoreboard_slot *slot);

/* BUSY -> FREE. With linger set, first reads the client's remaining data for a moment: closing with
 * unread input would reset the connection, and the client would lose the response. */
void connection_close(struct connection *connection, bool linger, struct scoreboard_slot *slot);

/* Returns CLOCK_MONOTONIC in milliseconds. */
int64_t clock_now_ms(void);

#endif
