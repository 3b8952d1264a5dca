/* SPDX-License-Identifier: MIT
 *
 * http.c: requests with libcurl. If its headers are missing, http_without_curl.c replaces this
 * file.
 */
#include "cli/http.h"

#if !defined(PROBITY_WITHOUT_CURL) && __has_include(<curl/curl.h>)

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array_grow.h"
#include "base/os.h"
#include "cli/curl.h"

enum { CONNECT_MS = 10000, BOUNDARY_BYTES = 40, FORM_BYTES = 256, FORM_PIECES = 3 };

/* The body of a form: the part before the file, the file, and the end. */
struct form {
    const char *pieces[FORM_PIECES];
    size_t counts[FORM_PIECES], piece, taken;
    char head[FORM_BYTES], tail[BOUNDARY_BYTES + 16];
};

struct cli_http {
    const struct cli_http_options *options;
    struct cli_curl curl;
    CURL *handle;
    struct curl_slist *plain, *waiting, *forming; /* headers */
    char boundary[BOUNDARY_BYTES]; /* of a form; unpredictable, so that no body contains it */
    uint8_t *bytes;
    size_t count, room;
};

/* Returning a number other than the one passed in aborts the request. */
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

/* Without an empty "Expect:", libcurl's behavior depends on the size of a request. */
static int make_headers(struct cli_http *http)
{
    char type[BOUNDARY_BYTES + 64];
    uint64_t random[2];

    if (probity_os_random(random, sizeof random) != 0)
        return 0;
    snprintf(http->boundary, sizeof http->boundary, "%016" PRIx64 "%016" PRIx64, random[0],
             random[1]);
    snprintf(type, sizeof type, "Content-Type: multipart/form-data; boundary=%s", http->boundary);
    http->plain = http->curl.append(NULL, "Expect:");
    http->waiting = http->curl.append(NULL, "Expect: 100-continue");
    http->forming = http->curl.append(NULL, type);
    return http->plain != NULL && http->waiting != NULL && http->forming != NULL &&
           http->curl.append(http->forming, "Expect: 100-continue") != NULL;
}

static size_t give_form(char *bytes, size_t one, size_t count, void *context)
{
    struct form *form = context;
    size_t given = 0;

    (void)one; /* always 1 */
    while (given < count && form->piece < FORM_PIECES) {
        size_t left = form->counts[form->piece] - form->taken;
        size_t part = left < count - given ? left : count - given;
        memcpy(bytes + given, form->pieces[form->piece] + form->taken, part);
        given += part;
        form->taken += part;
        if (form->taken == form->counts[form->piece]) {
            form->piece++;
            form->taken = 0;
        }
    }
    return given;
}

static void set_form(struct cli_http *http, const struct cli_http_request *request,
                     struct form *ret_form)
{
    int head = snprintf(ret_form->head, sizeof ret_form->head,
                        "--%s\r\nContent-Disposition: form-data; name=\"%s\"; filename=\"%s\""
                        "\r\n\r\n", http->boundary, request->field, request->field);
    int tail = snprintf(ret_form->tail, sizeof ret_form->tail, "\r\n--%s--\r\n", http->boundary);

    ret_form->pieces[0] = ret_form->head;
    ret_form->pieces[1] = request->body;
    ret_form->pieces[2] = ret_form->tail;
    ret_form->counts[0] = (size_t)head;
    ret_form->counts[1] = request->bytes;
    ret_form->counts[2] = (size_t)tail;
    ret_form->piece = ret_form->taken = 0;
    http->curl.set(http->handle, CURLOPT_READFUNCTION, give_form);
    http->curl.set(http->handle, CURLOPT_READDATA, ret_form);
    http->curl.set(http->handle, CURLOPT_HTTPHEADER, http->forming);
    http->curl.set(http->handle, CURLOPT_POSTFIELDS, NULL);
    http->curl.set(http->handle, CURLOPT_POST, 1L);
    http->curl.set(http->handle, CURLOPT_POSTFIELDSIZE_LARGE,
                   (curl_off_t)((size_t)head + request->bytes + (size_t)tail));
}

static void set_body(struct cli_http *http, const struct cli_http_request *request)
{
    http->curl.set(http->handle, CURLOPT_HTTPHEADER,
                   request->waits ? http->waiting : http->plain);
    http->curl.set(http->handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->bytes);
    http->curl.set(http->handle, CURLOPT_POSTFIELDS, request->body);
}

/* Connections are not reused: on a stale connection, libcurl would resend a request that the server
 * may already have executed. */
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
    struct form form;

    http->count = 0;
    *ret_answer = (struct cli_http_answer){0};
    curl->set(http->handle, CURLOPT_EXPECT_100_TIMEOUT_MS, ms);
    curl->set(http->handle, CURLOPT_TIMEOUT_MS, ms);
    curl->set(http->handle, CURLOPT_URL, request->url);
    if (request->field != NULL)
        set_form(http, request, &form);
    else
        set_body(http, request);
    CURLcode code = curl->perform(http->handle);
    if (code != CURLE_OK) {
        ret_answer->failure = code == CURLE_WRITE_ERROR ? "the reply is too large"
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
    if (http->forming != NULL)
        http->curl.free_all(http->forming);
    if (http->handle != NULL)
        http->curl.cleanup(http->handle);
    free(http->bytes);
    free(http);
}

#endif
