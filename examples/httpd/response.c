/* SPDX-License-Identifier: MIT
 *
 * response.c: builds a response and sends it. Runs in a worker, which waits here for slow
 * clients, but never longer than TRANSFER_TIME_MS_MAX.
 */
#define _GNU_SOURCE 1
#include "response.h"

#include "server.h"
#include "stages.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const struct {
    int status;
    const char *text;
} reasons[] = {
    {200, "OK"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
};

/* Clients show this text to users, but evaluate only the number. */
static const char *status_reason(int status)
{
    for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++) {
        if (reasons[i].status == status)
            return reasons[i].text;
    }
    return "Status"; /* one that a CGI program chose */
}

void response_init(struct response *response, int status)
{
    response->status = status;
    response->content_type = NULL;
    response->fields_bytes = 0;
    response->length = 0;
    response->file = -1;
    response->memory = NULL;
    response->body = response->text;
    if (status >= 300 && status != 304) {
        response->content_type = "text/plain; charset=utf-8";
        response->length = snprintf(response->text, sizeof(response->text), "%d %s\n", status,
                                    status_reason(status));
    }
    if (status == 405)
        (void)response_add_field(response, "Allow", "GET, HEAD");
}

void response_release(struct response *response)
{
    if (response->file >= 0)
        close(response->file);
    free(response->memory);
    response->file = -1;
    response->memory = NULL;
}

int response_add_field(struct response *response, const char *name, const char *value)
{
    size_t room = sizeof(response->fields) - response->fields_bytes;

    /* With a line break in a value, the author of the value could add header lines. */
    if (strpbrk(name, "\r\n") || strpbrk(value, "\r\n"))
        return -1;
    int length =
        snprintf(response->fields + response->fields_bytes, room, "%s: %s\r\n", name, value);
    if (length < 0 || (size_t)length >= room)
        return -1;
    response->fields_bytes += (size_t)length;
    return 0;
}

/* Waits until the socket takes more. Returns 0, or -1 if the time is up. */
static int socket_wait_writable(int socket, int64_t end_ms)
{
    struct pollfd output = {.fd = socket, .events = POLLOUT};
    int64_t left_ms = end_ms - clock_now_ms();

    return left_ms > 0 && poll(&output, 1, (int)left_ms) != 0 ? 0 : -1;
}

int socket_send(int socket, const char *data, size_t bytes, int flags)
{
    int64_t end_ms = 0; /* the clock is read only before a wait */

    while (bytes > 0) {
        ssize_t sent = send(socket, data, bytes, flags | MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            return -1;
        if (sent > 0) {
            data += sent;
            bytes -= (size_t)sent;
            continue;
        }
        end_ms = end_ms ? end_ms : clock_now_ms() + TRANSFER_TIME_MS_MAX;
        if (socket_wait_writable(socket, end_ms) < 0)
            return -1;
    }
    return 0;
}

/* sendfile(2) has no flag that prevents waiting: the socket's timeout (main.c) ends a call that
 * makes no progress, and the deadline ends a transfer that is too slow. */
static int socket_send_file(int socket, int file, off_t length)
{
    int64_t end_ms = clock_now_ms() + TRANSFER_TIME_MS_MAX + length / TRANSFER_BYTES_PER_MS_MIN;
    off_t offset = 0;

    while (offset < length) {
        ssize_t sent = sendfile(socket, file, &offset, (size_t)(length - offset));
        if (sent == 0 || (sent < 0 && errno != EINTR))
            return -1; /* 0: the file is now shorter than its announced length */
        if (offset < length && clock_now_ms() >= end_ms)
            return -1;
    }
    return 0;
}

int response_send_header(const struct response *response, int socket, bool keep_alive,
                         bool has_body)
{
    FN_FUNC(int, 2);
    char header[FIELDS_BYTES + 512];
    char date[64];
    time_t now = time(NULL);
    struct tm calendar;

    strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&now, &calendar));
    int length = snprintf(header, sizeof(header),
                          "HTTP/1.1 %d %s\r\nDate: %s\r\nConnection: %s\r\n", response->status,
                          status_reason(response->status), date,
                          keep_alive ? "keep-alive" : "close");
    /* 304 has neither body nor length. */
    if (response->status != 304)
        length += snprintf(header + length, sizeof(header) - (size_t)length,
                           "Content-Length: %lld\r\n", (long long)response->length);
    if (response->content_type)
        length += snprintf(header + length, sizeof(header) - (size_t)length,
                           "Content-Type: %s\r\n", response->content_type);
    length += snprintf(header + length, sizeof(header) - (size_t)length, "%.*s\r\n",
                       (int)response->fields_bytes, response->fields);
    /* MSG_MORE: header and body are sent in one packet if they fit. */
    return socket_send(socket, header, (size_t)length, has_body ? MSG_MORE : 0);
}

int response_send_body(const struct response *response, int socket)
{
    if (response->file >= 0)
        return socket_send_file(socket, response->file, response->length);
    return socket_send(socket, response->body, (size_t)response->length, 0);
}
