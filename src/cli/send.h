/* SPDX-License-Identifier: MIT
 *
 * send.h: sends requests to a server over HTTP, one at a time.
 */
#ifndef PROBITY_CLI_SEND_H
#define PROBITY_CLI_SEND_H

#include <stddef.h>

#include "cli/cli.h"

struct cli_sender;

struct cli_send_options {
    const struct cli_command *command;
    const char *url;          /* http: or https: */
    const char *content_type; /* of requests and replies */
    char *const *headers;     /* header lines, given by the user */
    size_t header_count;
    /* Examines the reply to an accepted request. Returns 0, or -1 after reporting a failure. */
    int (*judge)(const struct cli_command *command, const char *url, const char *answer,
                 size_t bytes);
};

/* Reports errors. Returns an exit status. The options must stay valid. */
int cli_sender_open(const struct cli_send_options *options, struct cli_sender **ret_sender);

/* The file descriptor to which requests are written. */
int cli_sender_descriptor(const struct cli_sender *sender);

/* Sends what was written since the last call, and retries for a while if the server is busy.
 * Returns 0, or PROBITY_ERROR_WRITE after reporting why. */
int cli_sender_post(void *sender);

size_t cli_sender_posted(const struct cli_sender *sender);
int cli_sender_has_failed(const struct cli_sender *sender);
void cli_sender_close(struct cli_sender *sender);

#endif
