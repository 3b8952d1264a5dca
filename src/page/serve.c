/* SPDX-License-Identifier: MIT
 *
 * serve.c: the server, using libmicrohttpd. One thread handles one request after another. Each
 * window is read by a child process with limits, which inherits the reader, opened but before the
 * first event, so a malicious trace can only crash a child. If the library's header is missing,
 * serve_without_microhttpd.c replaces this file.
 *
 * No address is valid without the token, which other pages and users cannot guess. The header Host
 * must be this server's address, so that a host name that resolves to it does not give access to
 * others.
 *
 * One address, for command lines, which all users can read, has a token that is valid once: it
 * redirects to the real address. Another user could be faster than the browser, so it is valid only
 * on connections of the same user, as determined from /proc/self/net/tcp.
 */
#include "page/serve.h"

#if !defined(PROBITY_WITHOUT_MICROHTTPD) && __has_include(<microhttpd.h>)

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/os.h"

enum {
    TOKEN_BYTES = 16,
    TOKEN_DIGITS = 2 * TOKEN_BYTES,
    CONNECTIONS_MAX = 64,
    CONNECTION_BYTES = 16 << 10, /* for a request's headers */
    IDLE_S = 60,
    CHILD_S = 20, /* CPU time, and time until the reply */
    REPLY_BYTES_MAX = 128 << 20
};

/* Memory of a child, which holds at most PROBITY_WINDOW_SPANS_MAX spans. */
#define CHILD_BYTES (UINT64_C(2) << 30)

/* The parts of libmicrohttpd that are used. */
struct microhttpd {
    void *library;
    struct MHD_Daemon *(*start)(unsigned flags, uint16_t port, MHD_AcceptPolicyCallback accept,
                                void *accept_context, MHD_AccessHandlerCallback handle,
                                void *context, ...);
    __typeof__(MHD_run_wait) *run;
    __typeof__(MHD_stop_daemon) *stop;
    __typeof__(MHD_lookup_connection_value) *value;
    __typeof__(MHD_create_response_from_buffer) *response;
    __typeof__(MHD_add_response_header) *header;
    __typeof__(MHD_queue_response) *queue;
    __typeof__(MHD_destroy_response) *destroy;
    __typeof__(MHD_get_connection_info) *info;
};

struct probity_server {
    const struct probity_serve_options *options;
    struct microhttpd http;
    struct MHD_Daemon *daemon;
    unsigned bound; /* the port */
    char token[TOKEN_DIGITS + 1];
    char once[TOKEN_DIGITS + 1]; /* the token that is valid once; empty: used */
    char address[64 + TOKEN_DIGITS], once_address[64 + TOKEN_DIGITS];
    char hosts[2][32]; /* the two names of this server */
};

/* ---- Windows -----------------------------------------------------------------------------------
 */

static void limit(int what, rlim_t value)
{
    const struct rlimit limits = {value, value};

    setrlimit(what, &limits);
}

static void run_child(const struct probity_serve_options *options, uint64_t from_ns,
                      uint64_t to_ns, int to)
{
    FILE *stream = fdopen(to, "w");

    limit(RLIMIT_CPU, CHILD_S);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    limit(RLIMIT_AS, CHILD_BYTES);
#endif
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_CORE, 0);
    int error = stream != NULL ? options->window(options->context, from_ns, to_ns, stream) : -1;
    if (stream != NULL && fclose(stream) != 0)
        error = -1;
    _exit(error == 0 ? 0 : 1);
}

struct reply {
    char *bytes;
    size_t used, capacity;
};

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* Returns 1 if more was read, 0 at the end, -1 on failure. */
static int read_more(struct reply *reply, int from, int64_t deadline_ms)
{
    struct pollfd waits = {.fd = from, .events = POLLIN};
    int64_t left_ms = deadline_ms - now_ms();

    if (reply->used == reply->capacity) {
        size_t capacity = reply->capacity > 0 ? 2 * reply->capacity : 1 << 18;
        char *bytes = capacity <= REPLY_BYTES_MAX ? realloc(reply->bytes, capacity) : NULL;
        if (bytes == NULL)
            return -1;
        reply->bytes = bytes;
        reply->capacity = capacity;
    }
    if (left_ms <= 0 || poll(&waits, 1, (int)left_ms) < 0)
        return left_ms > 0 && errno == EINTR ? 1 : -1;
    if (waits.revents == 0)
        return -1;
    ssize_t got = read(from, reply->bytes + reply->used, reply->capacity - reply->used);
    if (got < 0)
        return errno == EINTR ? 1 : -1;
    reply->used += (size_t)got;
    return got > 0;
}

/* Returns 0 with the reply, or -1. */
static int ask_child(const struct probity_serve_options *options, uint64_t from_ns, uint64_t to_ns,
                     struct reply *reply)
{
    int64_t deadline_ms = now_ms() + CHILD_S * 1000;
    int ends[2], status = 0, more = 1;

    if (pipe(ends) != 0)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        run_child(options, from_ns, to_ns, ends[1]);
    }
    close(ends[1]);
    while (child > 0 && more > 0)
        more = read_more(reply, ends[0], deadline_ms);
    close(ends[0]);
    if (child > 0 && more < 0)
        kill(child, SIGKILL);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return child > 0 && more == 0 && status == 0 ? 0 : -1;
}

/* ---- Requests ----------------------------------------------------------------------------------
 */

static enum MHD_Result put_response(const struct probity_server *server,
                                    struct MHD_Connection *connection, unsigned status,
                                    const char *type, struct MHD_Response *response)
{
    static const char *const headers[][2] = {
        {"Cache-Control", "no-store"},
        {"X-Content-Type-Options", "nosniff"},
        {"X-Frame-Options", "DENY"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cross-Origin-Opener-Policy", "same-origin"}};

    if (response == NULL)
        return MHD_NO;
    server->http.header(response, "Content-Type", type);
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        server->http.header(response, headers[i][0], headers[i][1]);
    enum MHD_Result result = server->http.queue(connection, status, response);
    server->http.destroy(response);
    return result;
}

static enum MHD_Result refuse(const struct probity_server *server,
                              struct MHD_Connection *connection, unsigned status)
{
    static const char text[] = "no such page\n";

    return put_response(server, connection, status, "text/plain",
                        server->http.response(sizeof text - 1, (void *)(uintptr_t)text,
                                              MHD_RESPMEM_PERSISTENT));
}

/* Parses decimal digits only. Returns whether it is a number. */
static int take_number(const char *text, uint64_t *ret_number)
{
    uint64_t number = 0;
    size_t count = 0;

    for (; text != NULL && count < 19 && text[count] >= '0' && text[count] <= '9'; count++)
        number = number * 10 + (uint64_t)(text[count] - '0');
    *ret_number = number;
    return count > 0 && text[count] == '\0';
}

static enum MHD_Result put_window(const struct probity_server *server,
                                  struct MHD_Connection *connection)
{
    const char *from = server->http.value(connection, MHD_GET_ARGUMENT_KIND, "from");
    const char *to = server->http.value(connection, MHD_GET_ARGUMENT_KIND, "to");
    struct reply reply = {0};
    uint64_t from_ns, to_ns;

    if (!take_number(from, &from_ns) || !take_number(to, &to_ns) || from_ns >= to_ns)
        return refuse(server, connection, MHD_HTTP_BAD_REQUEST);
    if (ask_child(server->options, from_ns, to_ns, &reply) != 0) {
        free(reply.bytes);
        return refuse(server, connection, MHD_HTTP_INTERNAL_SERVER_ERROR);
    }
    return put_response(server, connection, MHD_HTTP_OK, "application/octet-stream",
                        server->http.response(reply.used, reply.bytes, MHD_RESPMEM_MUST_FREE));
}

/* Parses the number in "tile-12.js". Returns whether it is one. */
static int take_tile(const char *rest, uint32_t *ret_number)
{
    static const char before[] = "tile-", after[] = ".js";
    const char *end = strchr(rest, '.');
    char digits[16];
    uint64_t number;

    if (strncmp(rest, before, sizeof before - 1) != 0 || end == NULL || strcmp(end, after) != 0 ||
        (size_t)(end - rest) - (sizeof before - 1) >= 10)
        return 0;
    snprintf(digits, sizeof digits, "%.*s", (int)((size_t)(end - rest) - (sizeof before - 1)),
             rest + sizeof before - 1);
    int is_number = take_number(digits, &number);
    *ret_number = (uint32_t)number;
    return is_number;
}

/* Sends it as text: a page served from here never executes it. */
static enum MHD_Result put_tile(const struct probity_server *server,
                                struct MHD_Connection *connection, uint32_t number)
{
    size_t bytes = 0;
    char *text = server->options->tile(server->options->context, number, &bytes);

    if (text == NULL)
        return refuse(server, connection, MHD_HTTP_NOT_FOUND);
    return put_response(server, connection, MHD_HTTP_OK, "text/plain",
                        server->http.response(bytes, text, MHD_RESPMEM_MUST_FREE));
}

/* Returns the part after this token, or NULL if the path has no token or a wrong one. Takes the
 * same time for every token. */
static const char *after_token(const char *token, const char *path)
{
    unsigned differs = 0;

    if (token[0] == '\0' || strlen(path) < TOKEN_DIGITS + 2 || path[0] != '/' ||
        path[TOKEN_DIGITS + 1] != '/')
        return NULL;
    for (size_t i = 0; i < TOKEN_DIGITS; i++)
        differs |= (unsigned char)(path[i + 1] ^ token[i]);
    return differs == 0 ? path + TOKEN_DIGITS + 2 : NULL;
}

static int is_own_host(const struct probity_server *server, const char *host)
{
    return host != NULL &&
           (strcmp(host, server->hosts[0]) == 0 || strcmp(host, server->hosts[1]) == 0);
}

/* Whether the other end of a connection is a socket of this user or root. */
static int is_own_peer(const struct probity_server *server, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        server->http.info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr_in *peer = info != NULL ? (const void *)info->client_addr : NULL;
    FILE *sockets = peer != NULL ? fopen("/proc/self/net/tcp", "re") : NULL;
    unsigned at, at_port, to, to_port, user;
    char line[256];
    int is = 0;

    while (sockets != NULL && !is && fgets(line, sizeof line, sockets) != NULL)
        is = sscanf(line, " %*[^:]: %8x:%4x %8x:%4x %*x %*x:%*x %*x:%*x %*x %u", &at, &at_port,
                    &to, &to_port, &user) == 5 &&
             at == peer->sin_addr.s_addr && at_port == ntohs(peer->sin_port) &&
             to == htonl(INADDR_LOOPBACK) && to_port == server->bound &&
             (user == geteuid() || user == 0);
    if (sockets != NULL)
        fclose(sockets);
    return is;
}

/* Requests of other users do not invalidate the token. */
static enum MHD_Result redirect(struct probity_server *server, struct MHD_Connection *connection)
{
    if (!is_own_peer(server, connection))
        return refuse(server, connection, MHD_HTTP_NOT_FOUND);
    struct MHD_Response *response = server->http.response(0, NULL, MHD_RESPMEM_PERSISTENT);
    if (response != NULL)
        server->http.header(response, "Location", server->address);
    server->once[0] = '\0';
    return put_response(server, connection, MHD_HTTP_SEE_OTHER, "text/plain", response);
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_bytes, void **state)
{
    struct probity_server *server = context;
    const char *host = server->http.value(connection, MHD_HEADER_KIND, "Host");
    const char *once = after_token(server->once, path), *rest = after_token(server->token, path);
    uint32_t tile;

    (void)version, (void)upload, (void)upload_bytes, (void)state;
    if (!is_own_host(server, host))
        return refuse(server, connection, MHD_HTTP_FORBIDDEN);
    if (rest == NULL && once == NULL)
        return refuse(server, connection, MHD_HTTP_NOT_FOUND);
    if (strcmp(method, "GET") != 0)
        return refuse(server, connection, MHD_HTTP_METHOD_NOT_ALLOWED);
    if (rest == NULL)
        return *once == '\0' ? redirect(server, connection)
                             : refuse(server, connection, MHD_HTTP_NOT_FOUND);
    if (strcmp(rest, "window") == 0)
        return put_window(server, connection);
    if (server->options->tile != NULL && take_tile(rest, &tile))
        return put_tile(server, connection, tile);
    if (*rest != '\0')
        return refuse(server, connection, MHD_HTTP_NOT_FOUND);
    return put_response(server, connection, MHD_HTTP_OK, "text/html; charset=utf-8",
                        server->http.response(server->options->page_bytes,
                                              (void *)(uintptr_t)server->options->page,
                                              MHD_RESPMEM_PERSISTENT));
}

/* ---- Opening -----------------------------------------------------------------------------------
 */

static int find(struct microhttpd *http, const char *name, void *ret_function)
{
    void *found = dlsym(http->library, name);

    memcpy(ret_function, &found, sizeof found);
    return found != NULL;
}

static int load(struct microhttpd *http)
{
    http->library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
    return http->library != NULL && find(http, "MHD_start_daemon", &http->start) &&
           find(http, "MHD_run_wait", &http->run) && find(http, "MHD_stop_daemon", &http->stop) &&
           find(http, "MHD_lookup_connection_value", &http->value) &&
           find(http, "MHD_create_response_from_buffer", &http->response) &&
           find(http, "MHD_add_response_header", &http->header) &&
           find(http, "MHD_queue_response", &http->queue) &&
           find(http, "MHD_destroy_response", &http->destroy) &&
           find(http, "MHD_get_connection_info", &http->info);
}

static int make_token(char token[TOKEN_DIGITS + 1])
{
    uint8_t bytes[TOKEN_BYTES];

    if (probity_os_random(bytes, sizeof bytes) != 0)
        return -1;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

/* Returns a socket that listens on 127.0.0.1, or -1. */
static int listen_at(unsigned wanted, unsigned *ret_port)
{
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons((uint16_t)wanted),
                                .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t bytes = sizeof place;
    int at = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), yes = 1;

    if (at < 0)
        return -1;
    setsockopt(at, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(at, (struct sockaddr *)&place, sizeof place) != 0 || listen(at, 16) != 0 ||
        getsockname(at, (struct sockaddr *)&place, &bytes) != 0) {
        close(at);
        return -1;
    }
    *ret_port = ntohs(place.sin_port);
    return at;
}

static const char *start(struct probity_server *server)
{
    if (!load(&server->http))
        return "cannot load libmicrohttpd.so.12";
    if (make_token(server->token) != 0 || make_token(server->once) != 0)
        return "the system has no random numbers";
    int at = listen_at(server->options->port, &server->bound);
    if (at < 0)
        return strerror(errno);
    snprintf(server->hosts[0], sizeof server->hosts[0], "127.0.0.1:%u", server->bound);
    snprintf(server->hosts[1], sizeof server->hosts[1], "localhost:%u", server->bound);
    snprintf(server->address, sizeof server->address, "http://%s/%s/", server->hosts[0],
             server->token);
    snprintf(server->once_address, sizeof server->once_address, "http://%s/%s/", server->hosts[0],
             server->once);
    server->daemon = server->http.start(
        MHD_USE_EPOLL, 0, NULL, NULL, handle, server, MHD_OPTION_LISTEN_SOCKET, at,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S, MHD_OPTION_END);
    if (server->daemon != NULL)
        return NULL;
    close(at);
    return "cannot start the server";
}

int probity_server_open(const struct probity_serve_options *options,
                        struct probity_server **ret_server, const char **ret_why)
{
    struct probity_server *server = calloc(1, sizeof *server);

    if (server == NULL) {
        *ret_why = "out of memory";
        return -1;
    }
    server->options = options;
    *ret_why = start(server);
    if (*ret_why != NULL) {
        probity_server_close(server);
        return -1;
    }
    *ret_server = server;
    return 0;
}

const char *probity_server_address(const struct probity_server *server)
{
    return server->address;
}

const char *probity_server_once_address(const struct probity_server *server)
{
    return server->once_address;
}

int probity_server_run(struct probity_server *server)
{
    /* Ignores the signal raised if a connection is closed during the reply. */
    signal(SIGPIPE, SIG_IGN);
    while (server->http.run(server->daemon, -1) == MHD_YES)
        continue;
    return -1;
}

void probity_server_close(struct probity_server *server)
{
    if (server->daemon != NULL)
        server->http.stop(server->daemon);
    if (server->http.library != NULL)
        dlclose(server->http.library);
    free(server);
}

#endif
