/* SPDX-License-Identifier: MIT
 *
 * http.h: requests to a server over HTTP, one at a time, and their whole answers. Nothing is
 * repeated and nothing reported: the caller knows whether a request may be sent twice.
 */
#ifndef PROBITY_CLI_HTTP_H
#define PROBITY_CLI_HTTP_H

#include <stddef.h>
#include <stdint.h>

struct cli_http;

struct cli_http_options {
    const char *user, *password; /* NULL: none */
    const char *ca; /* file with certificates that a server's must lead to; NULL: the system's */
};

struct cli_http_request {
    const char *url; /* with its query */
    const void *body;
    size_t bytes;
    int waits;      /* 1: send no body before the server has agreed to take it */
    const char *field; /* send the body as a file in this field of a form; NULL: as it is */
    uint32_t seconds; /* for the whole request */
};

struct cli_http_answer {
    long status;        /* 0: there was no answer */
    const char *failure; /* if there was none, why */
    const uint8_t *bytes; /* valid until the next request */
    size_t count;
};

enum { CLI_HTTP_ANSWER_MAX = 256 * 1024 * 1024 };

/* The options must stay valid. Returns 0, or -1 with the cause in *ret_why. */
int cli_http_open(const struct cli_http_options *options, struct cli_http **ret_http,
                  const char **ret_why);

void cli_http_post(struct cli_http *http, const struct cli_http_request *request,
                   struct cli_http_answer *ret_answer);

void cli_http_close(struct cli_http *http);

#endif
