/* SPDX-License-Identifier: MIT
 *
 * request.c: frames, parses and completes a request. Runs in a worker on bytes that this worker
 * owns. Lines end only with CR LF: if two programs disagree on where a line ends, a client can make
 * one of them see a request that the other does not.
 */
#define _GNU_SOURCE 1
#include "request.h"

#include "response.h"
#include "server.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

static const char *const method_names[] = {"GET", "HEAD", "POST"};

const char *request_method_name(enum method method)
{
    return method_names[method];
}

int request_frame(const char *buffer, size_t used, size_t *ret_head_bytes)
{
    const char *line_end = memchr(buffer, '\n', used);
    const char *head_end = memmem(buffer, used, "\r\n\r\n", 4);

    if (line_end && (line_end == buffer || line_end[-1] != '\r'))
        return 400;
    if ((line_end ? (size_t)(line_end - buffer) : used) > LINE_BYTES_MAX)
        return 414;
    if ((head_end ? (size_t)(head_end - buffer) : used) > HEAD_BYTES_MAX)
        return 431;
    *ret_head_bytes = head_end ? (size_t)(head_end - buffer) + 4 : 0;
    return 0;
}

static int hex_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    digit = (char)(digit | 0x20);
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Takes one character of a target, decoded; -1 for a forbidden one. */
static int target_decode(const char **cursor)
{
    const char *at = *cursor;
    int value = (unsigned char)*at;

    if (value == '%') {
        int high = hex_value(at[1]);
        int low = high < 0 ? -1 : hex_value(at[2]);
        value = low < 0 ? -1 : high * 16 + low;
        at += 2;
    }
    if (value < ' ' || value == 0x7f)
        return -1;
    *cursor = at + 1;
    return value;
}

/* Decodes first and checks the segments then: "%2e%2e" and "a%2f.." must not pass. */
static int target_clean(const char *target, char *path)
{
    size_t length = 0;
    size_t segment = 1; /* where the current one begins, after its '/' */

    path[length++] = '/';
    for (bool more = true; more;) {
        more = *target != '\0';
        int value = more ? target_decode(&target) : '/';
        if (value < 0)
            return 400;
        if (value != '/') {
            path[length++] = (char)value;
            continue;
        }
        if (length - segment == 2 && memcmp(path + segment, "..", 2) == 0)
            return 403;
        if (length - segment == 1 && path[segment] == '.')
            length = segment;
        else if (length > segment && more)
            path[length++] = '/';
        segment = length;
    }
    path[length] = '\0';
    return 0;
}

static int request_set_target(char *target, struct request *request)
{
    /* Clients send the absolute form to proxies; every server must accept it. */
    if (strncasecmp(target, "http://", 7) == 0) {
        target = strchr(target + 7, '/');
        if (!target)
            return 400;
    }
    if (*target != '/')
        return 400;
    char *query = strchr(target, '?');
    if (query) {
        *query = '\0';
        request->query = query + 1;
    }
    request->target = target;
    return target_clean(target, request->path);
}

static int request_set_method(const char *name, struct request *request)
{
    static const char *const refused[] = {"PUT",     "DELETE", "PATCH",
                                          "OPTIONS", "TRACE",  "CONNECT"};

    for (size_t i = 0; i < sizeof(method_names) / sizeof(*method_names); i++) {
        if (strcmp(name, method_names[i]) == 0) {
            request->method = (enum method)i;
            return 0;
        }
    }
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
        if (strcmp(name, refused[i]) == 0)
            return 405;
    }
    return 501;
}

static int request_parse_line(char *line, struct request *request)
{
    char *target = strchr(line, ' ');
    char *version = target ? strchr(target + 1, ' ') : NULL;

    if (!version || target == line || version == target + 1)
        return 400;
    *target++ = '\0';
    *version++ = '\0';
    if (strncmp(version, "HTTP/", 5) != 0 || !isdigit((unsigned char)version[5]) ||
        version[6] != '.' || !isdigit((unsigned char)version[7]) || version[8] != '\0')
        return 400;
    if (version[5] != '1')
        return 505;
    request->keep_alive = version[7] != '0';
    request->has_host = version[7] == '0'; /* optional in 1.0 */
    int status = request_set_method(line, request);
    return status ? status : request_set_target(target, request);
}

/* With a second, different length, two readers could disagree on where the body ends. */
static int request_set_length(const char *value, struct request *request)
{
    size_t length = 0;

    if (*value == '\0')
        return 400;
    for (; isdigit((unsigned char)*value) && length <= BODY_BYTES_MAX; value++)
        length = length * 10 + (size_t)(*value - '0');
    if (length > BODY_BYTES_MAX)
        return 413;
    if (*value != '\0' || (request->has_length && length != request->content_length))
        return 400;
    request->has_length = true;
    request->content_length = length;
    return 0;
}

static int request_set_header(const char *name, const char *value, struct request *request)
{
    if (strcasecmp(name, "Content-Length") == 0)
        return request_set_length(value, request);
    if (strcasecmp(name, "Transfer-Encoding") == 0)
        return 501;
    if (strcasecmp(name, "Host") == 0)
        request->has_host = true;
    else if (strcasecmp(name, "Content-Type") == 0)
        request->content_type = value;
    else if (strcasecmp(name, "If-Modified-Since") == 0)
        request->if_modified_since = value;
    else if (strcasecmp(name, "Expect") == 0)
        request->expects_continue = strcasecmp(value, "100-continue") == 0;
    else if (strcasecmp(name, "Connection") == 0 && strcasestr(value, "close"))
        request->keep_alive = false;
    else if (strcasecmp(name, "Connection") == 0 && strcasestr(value, "keep-alive"))
        request->keep_alive = true;
    return 0;
}

static int request_parse_header(char *line, struct request *request)
{
    char *colon = strchr(line, ':');

    /* No blank before the name (a folded line) or after it: both are used to smuggle requests. */
    if (!colon || colon == line || strcspn(line, " \t") < (size_t)(colon - line))
        return 400;
    *colon = '\0';
    char *value = colon + 1 + strspn(colon + 1, " \t");
    size_t length = strlen(value);
    while (length > 0 && (value[length - 1] == ' ' || value[length - 1] == '\t'))
        value[--length] = '\0';
    return request_set_header(line, value, request);
}

/* Terminates the line at *cursor with a zero and moves to the next; NULL at the blank line, or if
 * a line does not end with CR LF. */
static char *head_next_line(char **cursor)
{
    char *line = *cursor;
    char *end = strchr(line, '\n');

    if (!end || end == line || end[-1] != '\r' || memchr(line, '\r', (size_t)(end - line - 1)))
        return NULL;
    end[-1] = '\0';
    *cursor = end + 1;
    return line;
}

void request_init(struct request *request)
{
    *request = (struct request){.target = "/",
                                .query = "",
                                .path = "/",
                                .content_type = "",
                                .if_modified_since = "",
                                .framing_lost = true};
}

int request_parse(char *head, size_t head_bytes, struct request *request)
{
    char *cursor = head;

    head[head_bytes - 2] = '\0'; /* the blank line becomes the end of the string */
    char *line = memchr(head, '\0', head_bytes - 2) ? NULL : head_next_line(&cursor);
    int refusal = line ? request_parse_line(line, request) : 400;
    if (refusal == 400 || refusal == 505)
        return refusal;
    /* If a method or path is rejected, the framing is intact: the headers determine where the
     * request ends, and the connection can be kept. */
    while (*cursor != '\0') {
        line = head_next_line(&cursor);
        int status = line ? request_parse_header(line, request) : 400;
        if (status)
            return status;
    }
    if (!request->has_host)
        return 400;
    request->framing_lost = false;
    return refusal;
}

static int socket_read_until(int socket, char *data, size_t bytes, int64_t end_ms)
{
    while (bytes > 0) {
        struct pollfd input = {.fd = socket, .events = POLLIN};
        int64_t left_ms = end_ms - clock_now_ms();
        if (left_ms <= 0 || poll(&input, 1, (int)left_ms) == 0)
            return 408;
        ssize_t count = recv(socket, data, bytes, MSG_DONTWAIT);
        if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR))
            return 408; /* the client has closed; nobody will read the response */
        if (count > 0) {
            data += count;
            bytes -= (size_t)count;
        }
    }
    return 0;
}

int request_read_body(struct request *request, int socket, const char *buffered,
                      size_t buffered_bytes, size_t *ret_taken)
{
    size_t taken = buffered_bytes < request->content_length ? buffered_bytes
                                                            : request->content_length;

    *ret_taken = taken;
    if (request->content_length == 0)
        return 0;
    request->framing_lost = true; /* until it has been read completely */
    request->body = malloc(request->content_length);
    if (!request->body)
        return 500;
    memcpy(request->body, buffered, taken);
    if (request->expects_continue && taken < request->content_length)
        (void)socket_send(socket, "HTTP/1.1 100 Continue\r\n\r\n", 25, 0);
    int status = socket_read_until(socket, request->body + taken, request->content_length - taken,
                                   clock_now_ms() + TRANSFER_TIME_MS_MAX);
    request->framing_lost = status != 0;
    return status;
}

void request_release(struct request *request)
{
    free(request->body);
    request->body = NULL;
}
