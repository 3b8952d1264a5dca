/* SPDX-License-Identifier: MIT
 *
 * send.c: sends requests with libcurl. If its headers are missing, send_without_curl.c replaces
 * this file.
 */
#include "cli/send.h"

#if !defined(PROBITY_WITHOUT_CURL) && __has_include(<curl/curl.h>)

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cli/curl.h"

enum {
    TRIES_MAX = 6,
    WAIT_MS = 250, /* doubled each time, unless the server specifies a time */
    WAIT_MS_MAX = 30000,
    CONNECT_MS = 10000,
    REQUEST_MS = 60000,
    ANSWER_BYTES = 4096 /* anything after this is ignored */
};

struct cli_sender {
    const struct cli_send_options *options;
    struct cli_curl curl;
    CURL *handle;
    struct curl_slist *headers;
    int descriptor; /* descriptor of a file in memory */
    size_t posted;
    int has_failed;
    char answer[ANSWER_BYTES];
    size_t answer_bytes;
};

/* ---- Opening -----------------------------------------------------------------------------------
 */

static int add_header(struct cli_sender *sender, const char *line)
{
    struct curl_slist *longer = sender->curl.append(sender->headers, line);

    sender->headers = longer != NULL ? longer : sender->headers;
    return longer != NULL;
}

/* Without an empty "Expect:", libcurl waits for the server's consent before each large request. */
static int make_headers(struct cli_sender *sender)
{
    const struct cli_send_options *options = sender->options;
    char line[128];

    snprintf(line, sizeof line, "Content-Type: %s", options->content_type);
    int is_made = add_header(sender, line) && add_header(sender, "Expect:");
    for (size_t i = 0; is_made && i < options->header_count; i++)
        is_made = add_header(sender, options->headers[i]);
    return is_made;
}

/* Drops excess bytes, which are not an error. */
static size_t take_answer(char *bytes, size_t one, size_t count, void *context)
{
    struct cli_sender *sender = context;
    size_t room = sizeof sender->answer - sender->answer_bytes;
    size_t taken = count < room ? count : room;

    (void)one; /* always 1 */
    memcpy(sender->answer + sender->answer_bytes, bytes, taken);
    sender->answer_bytes += taken;
    return count;
}

static int set_up(struct cli_sender *sender)
{
    struct cli_curl *curl = &sender->curl;

    sender->handle = curl->init();
    sender->descriptor = memfd_create("probity", MFD_CLOEXEC);
    if (sender->handle == NULL || sender->descriptor < 0 || !make_headers(sender))
        return 0;
    return curl->set(sender->handle, CURLOPT_URL, sender->options->url) == CURLE_OK &&
           curl->set(sender->handle, CURLOPT_HTTPHEADER, sender->headers) == CURLE_OK &&
           curl->set(sender->handle, CURLOPT_USERAGENT, "probity") == CURLE_OK &&
           curl->set(sender->handle, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           curl->set(sender->handle, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS) == CURLE_OK &&
           curl->set(sender->handle, CURLOPT_TIMEOUT_MS, (long)REQUEST_MS) == CURLE_OK &&
           curl->set(sender->handle, CURLOPT_WRITEFUNCTION, take_answer) == CURLE_OK &&
           curl->set(sender->handle, CURLOPT_WRITEDATA, sender) == CURLE_OK;
}

int cli_sender_open(const struct cli_send_options *options, struct cli_sender **ret_sender)
{
    struct cli_sender *sender = calloc(1, sizeof *sender);

    if (sender == NULL)
        return cli_fail(options->command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    sender->options = options;
    sender->descriptor = -1;
    int is_loaded = cli_curl_load(&sender->curl);
    if (is_loaded && set_up(sender)) {
        *ret_sender = sender;
        return CLI_OK;
    }
    const char *why = is_loaded ? probity_error_text(PROBITY_ERROR_MEMORY) : dlerror();
    cli_fail(options->command, "cannot send to '%s': %s", options->url,
             why != NULL ? why : "libcurl is too old");
    cli_sender_close(sender);
    return CLI_FAILURE;
}

/* ---- Sending -----------------------------------------------------------------------------------
 */

/* Prints the server's reply on one line, safe for a terminal. */
static void fail_answer(struct cli_sender *sender, long status)
{
    char text[200];
    size_t used = 0;

    for (; used < sender->answer_bytes && used < sizeof text - 1; used++) {
        unsigned char byte = (unsigned char)sender->answer[used];
        if (byte == '\n' || byte == '\r')
            break;
        text[used] = byte >= ' ' && byte < 0x7f ? (char)byte : '?';
    }
    text[used] = '\0';
    cli_fail(sender->options->command, "'%s' returned status %ld%s%s; it accepted %zu requests "
             "before",
             sender->options->url, status, used > 0 ? ": " : "", text, sender->posted);
}

/* Statuses for which the protocol requires a retry. */
static int is_busy(long status)
{
    return status == 429 || status == 502 || status == 503 || status == 504;
}

static void wait_ms(uint64_t ms)
{
    struct timespec left = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};

    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

/* If the first request cannot connect, the URL is probably wrong; later, the server may become
 * reachable again. */
static int try_to_post(struct cli_sender *sender, const void *bytes, size_t count)
{
    struct cli_curl *curl = &sender->curl;
    uint64_t wait = WAIT_MS;

    curl->set(sender->handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
    curl->set(sender->handle, CURLOPT_POSTFIELDS, bytes);
    for (int tries = 1;; tries++, wait *= 2) {
        long status = 0;
        curl_off_t asked = 0;
        sender->answer_bytes = 0;
        CURLcode code = curl->perform(sender->handle);
        curl->get(sender->handle, CURLINFO_RESPONSE_CODE, &status);
        curl->get(sender->handle, CURLINFO_RETRY_AFTER, &asked);
        if (code == CURLE_OK && status >= 200 && status < 300)
            return sender->options->judge(sender->options->command, sender->options->url,
                                          sender->answer, sender->answer_bytes);
        int is_to_repeat = code == CURLE_OK ? is_busy(status) : sender->posted > 0;
        uint64_t pause = asked > 0 ? (uint64_t)asked * 1000 : wait;
        if (!is_to_repeat || tries == TRIES_MAX || pause > WAIT_MS_MAX) {
            if (code == CURLE_OK)
                fail_answer(sender, status);
            else
                cli_fail(sender->options->command, "cannot send to '%s': %s",
                         sender->options->url, curl->text(code));
            return -1;
        }
        wait_ms(pause);
    }
}

int cli_sender_post(void *context)
{
    struct cli_sender *sender = context;
    off_t bytes = lseek(sender->descriptor, 0, SEEK_END);
    void *request = bytes > 0 ? mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED,
                                     sender->descriptor, 0)
                              : MAP_FAILED;

    if (request == MAP_FAILED) {
        cli_fail(sender->options->command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
        sender->has_failed = 1;
        return PROBITY_ERROR_WRITE;
    }
    sender->has_failed = try_to_post(sender, request, (size_t)bytes) != 0;
    munmap(request, (size_t)bytes);
    if (sender->has_failed || ftruncate(sender->descriptor, 0) != 0)
        return PROBITY_ERROR_WRITE;
    lseek(sender->descriptor, 0, SEEK_SET);
    sender->posted++;
    return 0;
}

int cli_sender_descriptor(const struct cli_sender *sender)
{
    return sender->descriptor;
}

size_t cli_sender_posted(const struct cli_sender *sender)
{
    return sender->posted;
}

int cli_sender_has_failed(const struct cli_sender *sender)
{
    return sender->has_failed;
}

void cli_sender_close(struct cli_sender *sender)
{
    if (sender->headers != NULL)
        sender->curl.free_all(sender->headers);
    if (sender->handle != NULL)
        sender->curl.cleanup(sender->handle);
    if (sender->descriptor >= 0)
        close(sender->descriptor);
    free(sender);
}

#endif
