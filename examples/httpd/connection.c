/* SPDX-License-Identifier: MIT
 *
 * connection.c: the changes of a connection's state. Called by listener and workers; neither waits
 * for the network here, except in the bounded linger of connection_close().
 */
#define _GNU_SOURCE 1
#include "connection.h"

#include "server.h"
#include "stages.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { LINGER_MS_MAX = 500 };

int64_t clock_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct connection *connections_new(size_t count)
{
    /* calloc: buffers of unused connections take no memory. */
    struct connection *connections = calloc(count, sizeof(*connections));

    for (size_t i = 0; connections && i < count; i++) {
        pthread_mutex_init(&connections[i].lock, NULL);
        connections[i].socket = -1;
    }
    return connections;
}

void connections_free(struct connection *connections, size_t count)
{
    for (size_t i = 0; i < count; i++)
        pthread_mutex_destroy(&connections[i].lock);
    free(connections);
}

static int connection_watch(struct server *server, struct connection *connection, int operation)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLONESHOT,
                                .data.u32 = (uint32_t)(connection - server->connections)};

    return epoll_ctl(server->epoll, operation, connection->socket, &event);
}

/* Call with the lock held. */
static void connection_end(struct connection *connection, struct scoreboard_slot *slot)
{
    close(connection->socket);
    connection->socket = -1;
    connection->state = CONNECTION_FREE;
    STAGE_HIT(STAGE_CLOSED);
    scoreboard_count(&slot->closed);
}

int connection_open(struct server *server, struct connection *connection, int socket)
{
    pthread_mutex_lock(&connection->lock);
    connection->socket = socket;
    connection->state = CONNECTION_IDLE;
    connection->used = 0;
    connection->head_begun = false;
    connection->deadline_ms = clock_now_ms() + server->idle_ms_max;
    int result = connection_watch(server, connection, EPOLL_CTL_ADD);
    if (result < 0)
        connection->state = CONNECTION_FREE;
    pthread_mutex_unlock(&connection->lock);
    return result;
}

bool connection_claim(struct connection *connection, uint64_t turn)
{
    pthread_mutex_lock(&connection->lock);
    bool claimed = connection->state == CONNECTION_IDLE;
    if (claimed) {
        connection->state = CONNECTION_BUSY;
        connection->turn = turn;
    }
    pthread_mutex_unlock(&connection->lock);
    return claimed;
}

void connection_expire(struct connection *connection, bool all, int64_t now_ms,
                       struct scoreboard_slot *slot)
{
    pthread_mutex_lock(&connection->lock);
    if (connection->state == CONNECTION_IDLE && (all || now_ms >= connection->deadline_ms))
        connection_end(connection, slot);
    pthread_mutex_unlock(&connection->lock);
}

void connection_hand_back(struct server *server, struct connection *connection,
                          struct scoreboard_slot *slot)
{
    bool head_begun = connection->used > 0;

    pthread_mutex_lock(&connection->lock);
    /* A head that arrives in pieces has one idle period in total, not one for each piece. */
    if (!head_begun || !connection->head_begun)
        connection->deadline_ms = clock_now_ms() + server->idle_ms_max;
    connection->head_begun = head_begun;
    connection->state = CONNECTION_IDLE;
    /* Read under the lock: the listener sets it before it closes idle connections. */
    if (atomic_load(&server->stopping) || connection_watch(server, connection, EPOLL_CTL_MOD) < 0)
        connection_end(connection, slot);
    pthread_mutex_unlock(&connection->lock);
}

static void connection_linger(int socket)
{
    int64_t end_ms = clock_now_ms() + LINGER_MS_MAX;
    char scrap[4096];

    shutdown(socket, SHUT_WR);
    for (;;) {
        int64_t left_ms = end_ms - clock_now_ms();
        struct pollfd input = {.fd = socket, .events = POLLIN};

        if (left_ms <= 0 || poll(&input, 1, (int)left_ms) <= 0)
            return;
        if (recv(socket, scrap, sizeof(scrap), MSG_DONTWAIT) <= 0)
            return;
    }
}

void connection_close(struct connection *connection, bool linger, struct scoreboard_slot *slot)
{
    if (linger)
        connection_linger(connection->socket);
    pthread_mutex_lock(&connection->lock);
    connection_end(connection, slot);
    pthread_mutex_unlock(&connection->lock);
}
