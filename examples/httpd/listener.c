/* SPDX-License-Identifier: MIT
 *
 * listener.c: the thread that accepts connections, watches those that wait for a request, queues
 * those that are readable, and closes those that have been idle too long. It neither reads nor
 * writes data of a connection, so that no client can block it.
 */
#define _GNU_SOURCE 1
#include "server.h"
#include "stages.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    TAG_LISTENING = CONNECTIONS_MAX, /* epoll reports a lower index, or one of these */
    TAG_STOP,
    EVENTS_AT_ONCE = 64,
    SWEEP_MS = 500
};

static int listener_watch(struct server *server, int descriptor, uint32_t tag)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = tag};

    return epoll_ctl(server->epoll, EPOLL_CTL_ADD, descriptor, &event);
}

static struct connection *listener_find_free(struct server *server, size_t *next)
{
    for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
        struct connection *connection = &server->connections[(*next + i) % CONNECTIONS_MAX];

        pthread_mutex_lock(&connection->lock);
        bool is_free = connection->state == CONNECTION_FREE;
        pthread_mutex_unlock(&connection->lock);
        if (is_free) {
            *next = (*next + i + 1) % CONNECTIONS_MAX;
            return connection;
        }
    }
    return NULL;
}

static void listener_refuse(int socket, struct scoreboard_slot *slot)
{
    static const char answer[] = "HTTP/1.1 503 Service Unavailable\r\n"
                                 "Content-Length: 0\r\nConnection: close\r\n\r\n";

    /* Best effort: the client receives the reason, or at least sees the connection close. */
    (void)send(socket, answer, sizeof(answer) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    close(socket);
    STAGE_HIT(STAGE_CLOSED);
    scoreboard_count(&slot->closed);
}

/* Accepts pending connections, up to a limit, so that readable ones get their turn in between. */
static void listener_accept(struct server *server, struct scoreboard_slot *slot, size_t *next)
{
    for (int i = 0; i < EVENTS_AT_ONCE; i++) {
        int socket = accept4(server->listening, NULL, NULL, SOCK_CLOEXEC);

        if (socket < 0) {
            /* Out of descriptors: the connection stays pending, and epoll would not wait. */
            if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
                poll(NULL, 0, 10);
            return;
        }
        STAGE_HIT(STAGE_ACCEPTED);
        scoreboard_count(&slot->accepted);
        struct connection *connection = listener_find_free(server, next);
        if (!connection || connection_open(server, connection, socket) < 0)
            listener_refuse(socket, slot);
    }
}

static void listener_queue(struct server *server, struct scoreboard_slot *slot, uint32_t index)
{
    struct connection *connection = &server->connections[index];

    /* Turns are numbered from 1. */
    if (!connection_claim(connection, slot->queued + 1))
        return;
    STAGE_PUT(STAGE_QUEUED, &server->queue, connection->turn);
    scoreboard_count(&slot->queued);
    queue_push(&server->queue, connection);
}

/* Handles one round of events. Returns false when the server must stop. */
static bool listener_turn(struct server *server, struct scoreboard_slot *slot, size_t *next,
                          int wait_ms)
{
    struct epoll_event events[EVENTS_AT_ONCE];
    int count = epoll_wait(server->epoll, events, EVENTS_AT_ONCE, wait_ms);
    bool go_on = true;

    for (int i = 0; i < count; i++) {
        if (events[i].data.u32 == TAG_STOP)
            go_on = false;
        else if (events[i].data.u32 == TAG_LISTENING)
            listener_accept(server, slot, next);
        else
            listener_queue(server, slot, events[i].data.u32);
    }
    return go_on;
}

static void listener_sweep(struct server *server, struct scoreboard_slot *slot, bool all)
{
    int64_t now_ms = clock_now_ms();

    for (size_t i = 0; i < CONNECTIONS_MAX; i++)
        connection_expire(&server->connections[i], all, now_ms, slot);
}

int listener_init(struct server *server)
{
    server->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (server->epoll < 0 || listener_watch(server, server->listening, TAG_LISTENING) < 0)
        return -1;
    return listener_watch(server, server->stop_event, TAG_STOP);
}

void *listener_run(void *argument)
{
    struct server_thread *self = argument;
    struct server *server = self->server;
    int64_t sweep_at_ms = clock_now_ms() + SWEEP_MS;
    size_t next = 0;

    pthread_setname_np(pthread_self(), "listener");
    self->slot->thread_id = (uint64_t)gettid();
    while (listener_turn(server, self->slot, &next, SWEEP_MS)) {
        if (clock_now_ms() < sweep_at_ms)
            continue;
        listener_sweep(server, self->slot, false);
        sweep_at_ms = clock_now_ms() + SWEEP_MS;
    }
    /* The order matters. No new connections; requests that have arrived are still served; once the
     * flag is set, workers close connections instead of returning them; and connections that are
     * idle then have no request. */
    close(server->listening);
    listener_turn(server, self->slot, &next, 0);
    atomic_store(&server->stopping, true);
    listener_sweep(server, self->slot, true);
    queue_close(&server->queue);
    return NULL;
}
