/* SPDX-License-Identifier: MIT
 *
 * http.h: requests to a server over HTTP, one at a time, with whole replies. Neither retries nor
 * reports errors: whether a request may be sent twice depends on the request, so the caller
 * decides.
 */
#ifndef PROBITY_CLI_HTTP_H
#define PROBITY_CLI_HTTP_H

#include <stddef.h>
#include <stdint.h>

struct cli_http;

struct cli_http_options {
    const char *user, *password; /* NULL: none */
    const char *ca; /* file with the trusted certificates; NULL: the system's */
};

struct cli_http_request {
    const char *url; /* with its query */
    const void *body;
    size_t bytes;
    int waits;      /* 1: sends the body only after the server has accepted the headers */
    const char *field; /* send the body as a file in this field of a form; NULL: unchanged */
    uint32_t seconds; /* time limit for the whole request */
};

struct cli_http_answer {
    long status;        /* 0: no reply */
    const char *failure; /* if there was no reply, the reason */
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
