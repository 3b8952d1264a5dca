/* SPDX-License-Identifier: MIT
 *
 * worker.c: a thread of the pool. It takes a readable connection, serves the complete requests in
 * its buffer, and returns it. So a few workers serve many persistent connections, and a slow client
 * does not occupy a worker. All stages of a request are in worker_serve_request().
 */
#define _GNU_SOURCE 1
#include "plant.h"
#include "response.h"
#include "server.h"
#include "stages.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { STATUS_RUN_CGI = 1 };

static void connection_drop(struct connection *connection, size_t bytes)
{
    connection->used -= bytes;
    memmove(connection->buffer, connection->buffer + bytes, connection->used);
}

/* Parses the head and reads the body. Returns 0 or a status, and in *ret_taken the number of bytes
 * that the request used in the buffer. */
static int worker_understand(struct connection *connection, size_t head_bytes,
                             struct request *request, size_t *ret_taken)
{
    size_t body_bytes = 0;
    int refusal = request_parse(connection->buffer, head_bytes, request);
    int status = 0;

    /* The body of a rejected request must be skipped, too, before the next one. */
    if (!request->framing_lost)
        status = request_read_body(request, connection->socket, connection->buffer + head_bytes,
                                   connection->used - head_bytes, &body_bytes);
    *ret_taken = head_bytes + body_bytes;
    return refusal ? refusal : status;
}

/* Finds the response to the request. Returns the status, or STATUS_RUN_CGI. */
static int worker_resolve(struct server *server, const struct request *request, int status,
                          struct response *response)
{
    FN_FUNC(int, 2);
    bool is_cgi = strncmp(request->path, "/cgi-bin/", 9) == 0;

    if (status == 0 && server->plants &&
        strncmp(request->path, PLANT_PATH, strlen(PLANT_PATH)) == 0)
        return plant_stall(request, response);
    if (status == 0 && !is_cgi)
        return static_file_open(server->root, request, response);
    if (status == 0)
        status = cgi_find(server->root, request);
    response_init(response, status ? status : 200);
    return status ? status : STATUS_RUN_CGI;
}

/* Serves the request at the start of the buffer; with a status other than 0, it has already been
 * rejected. Returns whether the connection can be kept; *ret_linger is how to close it if not. */
static bool worker_serve_request(struct server_thread *self, struct connection *connection,
                                 int status, size_t head_bytes, bool *ret_linger)
{
    FN_FUNC(bool, 1);
    struct server *server = self->server;
    struct request request;
    struct response response;
    size_t taken = 0;

    STAGE_BEGIN(STAGE_READ, connection->turn);
    request_init(&request);
    if (status == 0)
        status = worker_understand(connection, head_bytes, &request, &taken);
    STAGE_HIT(STAGE_PARSED);
    status = worker_resolve(server, &request, status, &response);
    STAGE_HIT(STAGE_RESOLVED);
    if (status == STATUS_RUN_CGI) {
        status = cgi_run(server->root_path, server->port, &request, &response);
        scoreboard_count(&self->slot->cgi_requests);
    }
    bool keep = request.keep_alive && !request.framing_lost && !atomic_load(&server->stopping);
    bool has_body = request.method != METHOD_HEAD && response.length > 0;
    int sent = response_send_header(&response, connection->socket, keep, has_body);
    STAGE_HIT(STAGE_HEADER);
    if (sent == 0 && has_body)
        sent = response_send_body(&response, connection->socket);
    STAGE_HIT(STAGE_BODY);
    /* The client may still be sending, but must receive its response. */
    *ret_linger = request.framing_lost;
    response_release(&response);
    request_release(&request);
    connection_drop(connection, taken);
    STAGE_END(STAGE_DONE, connection->turn);
    scoreboard_count(&self->slot->requests);
    return keep && sent == 0;
}

/* Returns false if the client has closed. */
static bool worker_receive(struct connection *connection)
{
    ssize_t count = recv(connection->socket, connection->buffer + connection->used,
                         BUFFER_BYTES - connection->used, MSG_DONTWAIT);

    if (count > 0)
        connection->used += (size_t)count;
    return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

static void worker_serve_connection(struct server_thread *self, struct connection *connection)
{
    FN_FUNC(void, 1);
    bool linger = false;
    bool keep = worker_receive(connection);

    while (keep) {
        size_t head_bytes = 0;

        /* Some clients send an empty line after a body. */
        while (connection->used >= 2 && memcmp(connection->buffer, "\r\n", 2) == 0)
            connection_drop(connection, 2);
        int status = request_frame(connection->buffer, connection->used, &head_bytes);
        if (status == 0 && head_bytes == 0) {
            connection_hand_back(self->server, connection, self->slot);
            return;
        }
        keep = worker_serve_request(self, connection, status, head_bytes, &linger);
    }
    connection_close(connection, linger, self->slot);
}

void *worker_run(void *argument)
{
    struct server_thread *self = argument;
    struct connection *connection;
    char name[16];

    snprintf(name, sizeof(name), "worker-%u", self->number);
    pthread_setname_np(pthread_self(), name);
    self->slot->thread_id = (uint64_t)gettid();
    while ((connection = queue_pop(&self->server->queue))) {
        STAGE_GET(STAGE_TAKEN, &self->server->queue, connection->turn);
        scoreboard_count(&self->slot->taken);
        worker_serve_connection(self, connection);
    }
    return NULL;
}
