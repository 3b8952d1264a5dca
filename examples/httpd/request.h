/* SPDX-License-Identifier: MIT
 *
 * request.h: a client's request. Functions that may reject it return 0 or the HTTP status of the
 * response; every byte of a request is untrusted.
 */
#ifndef HTTPD_REQUEST_H
#define HTTPD_REQUEST_H

#include "connection.h"

#include <stdbool.h>
#include <stddef.h>

enum method { METHOD_GET, METHOD_HEAD, METHOD_POST };

/* Strings point into the connection's buffer, or to a literal; none is NULL. */
struct request {
    enum method method;
    const char *target;             /* as received, without the query */
    const char *query;              /* after the '?', or "" */
    char path[LINE_BYTES_MAX + 2];  /* decoded and normalized: "/a/b", never "..", "." or "//" */
    const char *content_type;
    const char *if_modified_since;
    bool has_host;
    bool has_length;
    bool expects_continue;
    bool keep_alive;
    bool framing_lost; /* where this request ends is unknown: the connection must close */
    size_t content_length;
    char *body; /* content_length bytes, owned; NULL if there is none */
};

/* Checks whether the buffer holds a whole head. Returns 0 and its length, including the blank line,
 * in *ret_head_bytes, which is 0 while more must be read; or a status: 400, 414, 431. */
int request_frame(const char *buffer, size_t used, size_t *ret_head_bytes);

/* Initializes an empty request, for which a response (an error) can be sent, and which can be
 * released. */
void request_init(struct request *request);

/* Parses the head, in place. Returns 0 or a status. */
int request_parse(char *head, size_t head_bytes, struct request *request);

/* Reads the body: first what follows the head in the buffer, then from the socket. *ret_taken is
 * the number of bytes from the buffer. Returns 0 or a status: 408, 413, 500. */
int request_read_body(struct request *request, int socket, const char *buffered,
                      size_t buffered_bytes, size_t *ret_taken);

void request_release(struct request *request);

/* Returns "GET" and so on. */
const char *request_method_name(enum method method);

#endif
