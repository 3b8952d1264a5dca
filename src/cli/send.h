/* SPDX-License-Identifier: MIT
 *
 * send.h: requests to a server over HTTP, one after the other.
 */
#ifndef PROBITY_CLI_SEND_H
#define PROBITY_CLI_SEND_H

#include <stddef.h>

#include "cli/cli.h"

struct cli_sender;

struct cli_send_options {
    const struct cli_command *command;
    const char *url;          /* http: or https: */
    const char *content_type; /* of the requests and their answers */
    char *const *headers;     /* lines of the user's own */
    size_t header_count;
    /* Looks at the answer of a request that was taken. Returns 0, or -1 behind a word on what it
     * tells of a failure. */
    int (*judge)(const struct cli_command *command, const char *url, const char *answer,
                 size_t bytes);
};

/* Whether an output is none of the file system. */
int cli_is_url(const char *path);

/* Tells what fails. Returns an exit status. The options must stay. */
int cli_sender_open(const struct cli_send_options *options, struct cli_sender **ret_sender);

/* Requests are written to it. */
int cli_sender_descriptor(const struct cli_sender *sender);

/* Sends what was written since. A server that is busy is asked again, for a while. Returns 0, or
 * PROBITY_ERROR_WRITE when it has told why. */
int cli_sender_post(void *sender);

size_t cli_sender_posted(const struct cli_sender *sender);
int cli_sender_has_failed(const struct cli_sender *sender);
void cli_sender_close(struct cli_sender *sender);

#endif
