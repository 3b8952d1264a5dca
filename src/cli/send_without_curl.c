/* SPDX-License-Identifier: MIT
 *
 * send_without_curl.c: replaces send.c if the tool is built without libcurl's headers or with
 * -DPROBITY_WITHOUT_CURL: every attempt to send fails with a message.
 */
#include "cli/send.h"

#if defined(PROBITY_WITHOUT_CURL) || !__has_include(<curl/curl.h>)

#ifndef PROBITY_WITHOUT_CURL
#pragma message("no <curl/curl.h>: building without `probity export -o http://...`")
#endif

int cli_sender_open(const struct cli_send_options *options, struct cli_sender **ret_sender)
{
    *ret_sender = NULL;
    return cli_fail(options->command, "cannot send to '%s': built without HTTP support (requires "
                    "the headers of libcurl)", options->url);
}

/* Without a sender, these are never called. */

int cli_sender_descriptor(const struct cli_sender *sender)
{
    (void)sender;
    return -1;
}

int cli_sender_post(void *sender)
{
    (void)sender;
    return PROBITY_ERROR_WRITE;
}

size_t cli_sender_posted(const struct cli_sender *sender)
{
    (void)sender;
    return 0;
}

int cli_sender_has_failed(const struct cli_sender *sender)
{
    (void)sender;
    return 1;
}

void cli_sender_close(struct cli_sender *sender)
{
    (void)sender;
}

#endif
