/* SPDX-License-Identifier: MIT
 *
 * http.c: requests with libcurl. If its headers are missing, http_without_curl.c replaces this
 * file.
 */
#include "cli/http.h"

#if !defined(PROBITY_WITHOUT_CURL) && __has_include(<curl/curl.h>)

#include <stdlib.h>

#include "base/array_grow.h"
#include "cli/curl.h"

enum { CONNECT_MS = 10000 };

struct cli_http {
    const struct cli_http_options *options;
    struct cli_curl curl;
    CURL *handle;
    struct curl_slist *plain, *waiting; /* headers */
    uint8_t *bytes;
    size_t count, room;
};

/* Returning another number than it was given ends the request. */
static size_t take_answer(char *bytes, size_t one, size_t count, void *context)
{
    struct cli_http *http = context;

    (void)one; /* always 1 */
    if (count == 0)
        return 0;
    if (count > CLI_HTTP_ANSWER_MAX - http->count)
        return 0;
    uint8_t *grown = probity_array_fit(http->bytes, 1, http->count + count, &http->room);
    if (grown == NULL)
        return 0;
    http->bytes = grown;
    memcpy(http->bytes + http->count, bytes, count);
    http->count += count;
    return count;
}

/* Without an empty "Expect:", libcurl decides by the size of a request. */
static int make_headers(struct cli_http *http)
{
    http->plain = http->curl.append(NULL, "Expect:");
    http->waiting = http->curl.append(NULL, "Expect: 100-continue");
    return http->plain != NULL && http->waiting != NULL;
}

/* A connection is not used twice: on a stale one, libcurl itself would send a request again, whose
 * first copy the server may have executed. */
static int set_up(struct cli_http *http)
{
    struct cli_curl *curl = &http->curl;
    const struct cli_http_options *options = http->options;

    http->handle = curl->init();
    if (http->handle == NULL || !make_headers(http))
        return 0;
    if (options->user != NULL &&
        (curl->set(http->handle, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC) != CURLE_OK ||
         curl->set(http->handle, CURLOPT_USERNAME, options->user) != CURLE_OK ||
         curl->set(http->handle, CURLOPT_PASSWORD,
                   options->password != NULL ? options->password : "") != CURLE_OK))
        return 0;
    if (options->ca != NULL && (curl->set(http->handle, CURLOPT_CAINFO, options->ca) != CURLE_OK ||
                                curl->set(http->handle, CURLOPT_CAPATH, NULL) != CURLE_OK))
        return 0;
    return curl->set(http->handle, CURLOPT_USERAGENT, "probity") == CURLE_OK &&
           curl->set(http->handle, CURLOPT_FRESH_CONNECT, 1L) == CURLE_OK &&
           curl->set(http->handle, CURLOPT_FORBID_REUSE, 1L) == CURLE_OK &&
           curl->set(http->handle, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           curl->set(http->handle, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS) == CURLE_OK &&
           curl->set(http->handle, CURLOPT_WRITEFUNCTION, take_answer) == CURLE_OK &&
           curl->set(http->handle, CURLOPT_WRITEDATA, http) == CURLE_OK;
}

int cli_http_open(const struct cli_http_options *options, struct cli_http **ret_http,
                  const char **ret_why)
{
    struct cli_http *http = calloc(1, sizeof *http);

    *ret_why = "out of memory";
    if (http == NULL)
        return -1;
    http->options = options;
    if (!cli_curl_load(&http->curl)) {
        const char *why = dlerror();
        *ret_why = why != NULL ? why : "libcurl is too old";
    } else if (set_up(http)) {
        *ret_http = http;
        return 0;
    }
    cli_http_close(http);
    return -1;
}

void cli_http_post(struct cli_http *http, const struct cli_http_request *request,
                   struct cli_http_answer *ret_answer)
{
    struct cli_curl *curl = &http->curl;
    long ms = (long)request->seconds * 1000;

    http->count = 0;
    *ret_answer = (struct cli_http_answer){0};
    curl->set(http->handle, CURLOPT_HTTPHEADER, request->waits ? http->waiting : http->plain);
    curl->set(http->handle, CURLOPT_EXPECT_100_TIMEOUT_MS, ms);
    curl->set(http->handle, CURLOPT_TIMEOUT_MS, ms);
    curl->set(http->handle, CURLOPT_URL, request->url);
    curl->set(http->handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->bytes);
    curl->set(http->handle, CURLOPT_POSTFIELDS, request->body);
    CURLcode code = curl->perform(http->handle);
    if (code != CURLE_OK) {
        ret_answer->failure = code == CURLE_WRITE_ERROR ? "the answer is too large"
                                                        : curl->text(code);
        return;
    }
    curl->get(http->handle, CURLINFO_RESPONSE_CODE, &ret_answer->status);
    ret_answer->bytes = http->bytes;
    ret_answer->count = http->count;
}

void cli_http_close(struct cli_http *http)
{
    if (http->plain != NULL)
        http->curl.free_all(http->plain);
    if (http->waiting != NULL)
        http->curl.free_all(http->waiting);
    if (http->handle != NULL)
        http->curl.cleanup(http->handle);
    free(http->bytes);
    free(http);
}

#endif
