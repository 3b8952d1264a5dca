/* SPDX-License-Identifier: MIT
 *
 * http_without_curl.c: replaces http.c if the tool is built without libcurl's headers or with
 * -DPROBITY_WITHOUT_CURL.
 */
#include "cli/http.h"

#if defined(PROBITY_WITHOUT_CURL) || !__has_include(<curl/curl.h>)

int cli_http_open(const struct cli_http_options *options, struct cli_http **ret_http,
                  const char **ret_why)
{
    (void)options;
    *ret_http = NULL;
    *ret_why = "built without HTTP support (requires the headers of libcurl)";
    return -1;
}

/* Without a connection, these are never called. */

void cli_http_post(struct cli_http *http, const struct cli_http_request *request,
                   struct cli_http_answer *ret_answer)
{
    (void)http;
    (void)request;
    *ret_answer = (struct cli_http_answer){0};
}

void cli_http_close(struct cli_http *http)
{
    (void)http;
}

#endif
