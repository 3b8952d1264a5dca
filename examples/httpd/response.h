/* SPDX-License-Identifier: MIT
 *
 * response.h: a response, and how it is sent. A response is complete before its first byte is
 * sent, so its length is always known.
 */
#ifndef HTTPD_RESPONSE_H
#define HTTPD_RESPONSE_H

#include "request.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { FIELDS_BYTES = 2048 };

struct response {
    int status;
    const char *content_type; /* NULL: none is sent */
    char fields[FIELDS_BYTES]; /* further header lines, each with CR LF */
    size_t fields_bytes;
    off_t length; /* of the body, even if it is not sent (HEAD) */
    int file;     /* the body: an open file, owned, else -1 … */
    char *memory; /* … else memory, owned, from body on; NULL: the short text of an error */
    const char *body;
    char text[128]; /* room for that text */
};

/* Returns an empty response with this status; from 300 on, except 304, with the text of an
 * error. */
void response_init(struct response *response, int status);
void response_release(struct response *response);

/* Adds a header line. Returns 0, or -1 if it does not fit or would end the header early. */
int response_add_field(struct response *response, const char *name, const char *value);

/* Both return 0, or -1 if the client is gone or too slow: the connection must then be closed.
 * has_body: more follows at once, so the header may wait for it. */
int response_send_header(const struct response *response, int socket, bool keep_alive,
                         bool has_body);
int response_send_body(const struct response *response, int socket);

/* Sends all bytes, with the flags of send(2). Returns 0 or -1. */
int socket_send(int socket, const char *data, size_t bytes, int flags);

/* The two that make responses; each returns the response's status. static_file.c, cgi.c. */
int static_file_open(int root, const struct request *request, struct response *response);

/* Returns 0 if the path names a program that may run, else 403 or 404. */
int cgi_find(int root, const struct request *request);
int cgi_run(const char *root_path, uint16_t port, const struct request *request,
            struct response *response);

#endif
