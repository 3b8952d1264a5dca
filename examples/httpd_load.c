/* SPDX-License-Identifier: MIT
 *
 * httpd_load: a load generator for the example web server (httpd/), for machines without wrk. One
 * thread keeps N connections to 127.0.0.1 busy: each sends a GET for the next path as soon as the
 * response to its last request is complete. It ends when its time is up, when it has received the
 * requested number of responses, on SIGINT or SIGTERM, or when no more connections can be made,
 * and then prints its counts. It connects only to loopback, and for at most an hour.
 */
#define _GNU_SOURCE 1
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    EXIT_USAGE = 2,
    CONNECTIONS_MAX = 1024,
    SECONDS_MAX = 3600,
    HEAD_BYTES_MAX = 16384, /* includes the part of the body that the same read returns */
    REQUEST_BYTES_MAX = 1024,
    SCRAP_BYTES = 1 << 16,
    EVENTS_AT_ONCE = 64
};

struct connection {
    int socket; /* -1: abandoned, as no server is listening */
    bool is_in_body;
    uint64_t body_left;
    uint64_t sent_ns; /* the request whose response is awaited */
    size_t head_bytes; /* of head, while it is being read */
    char head[HEAD_BYTES_MAX];
};

struct load {
    uint16_t port;
    char **paths;
    size_t path_count;
    size_t next_path;
    uint64_t connection_count;
    uint64_t seconds;
    uint64_t answers_max;
    uint64_t answers;
    uint64_t errors; /* status other than 2xx, or a response that cannot be parsed */
    size_t alive;    /* connections that are not abandoned */
    int epoll;
    FILE *times; /* or NULL */
    uint64_t epoch_ns; /* to be added to now_ns() for the time since 1970 */
    struct connection *connections;
    char scrap[SCRAP_BYTES];
};

static volatile sig_atomic_t is_interrupted;

static void interrupt(int number)
{
    (void)number;
    is_interrupted = 1;
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The offset to be added to now_ns(). */
static uint64_t since_1970_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec - now_ns();
}

/* ---- One connection ------------------------------------------------------------------------- */

static void watch(struct load *load, struct connection *connection, int operation, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = connection};

    (void)epoll_ctl(load->epoll, operation, connection->socket, &event);
}

static void give_up(struct load *load, struct connection *connection)
{
    if (connection->socket >= 0)
        close(connection->socket);
    connection->socket = -1;
    load->alive--;
}

/* Does not wait: epoll reports when the connection is established or refused. */
static void connect_to_server(struct load *load, struct connection *connection)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(load->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int yes = 1;

    connection->is_in_body = false;
    connection->head_bytes = 0;
    connection->socket = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (connection->socket < 0) {
        give_up(load, connection);
        return;
    }
    setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    int result = connect(connection->socket, (struct sockaddr *)&address, sizeof address);
    if (result != 0 && errno != EINPROGRESS)
        give_up(load, connection);
    else
        watch(load, connection, EPOLL_CTL_ADD, EPOLLOUT);
}

static void connect_again(struct load *load, struct connection *connection)
{
    close(connection->socket);
    connect_to_server(load, connection);
}

/* Returns false if the connection is lost. A request fits into the buffer of an idle socket. */
static bool send_request(struct load *load, struct connection *connection)
{
    char request[REQUEST_BYTES_MAX];
    const char *path = load->paths[load->next_path];
    int bytes = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
                         path);

    load->next_path = (load->next_path + 1) % load->path_count;
    connection->sent_ns = load->times != NULL ? now_ns() : 0;
    return send(connection->socket, request, (size_t)bytes, MSG_NOSIGNAL) == bytes;
}

/* Parses a complete head, followed by a 0. Returns false if it is not understood. */
static bool read_head(struct load *load, struct connection *connection)
{
    static const char field[] = "\r\nContent-Length:";
    char *end = strstr(connection->head, "\r\n\r\n") + 4;
    uint64_t body_read = (uint64_t)(connection->head + connection->head_bytes - end);

    end[-2] = '\0';
    char *length = strcasestr(connection->head, field);
    if (strncmp(connection->head, "HTTP/1.1 ", 9) != 0 || length == NULL)
        return false;
    uint64_t body = strtoull(length + sizeof field - 1, NULL, 10);
    if (body_read > body)
        return false;
    load->errors += connection->head[9] != '2';
    connection->is_in_body = true;
    connection->body_left = body - body_read;
    return true;
}

/* Reads what is available. Returns false if the connection ended or sent something invalid. */
static bool read_some(struct load *load, struct connection *connection)
{
    char *to = connection->is_in_body ? load->scrap : connection->head + connection->head_bytes;
    size_t room = connection->is_in_body ? sizeof load->scrap
                                         : sizeof connection->head - 1 - connection->head_bytes;
    ssize_t bytes = recv(connection->socket, to, room, 0);

    if (bytes < 0)
        return errno == EAGAIN || errno == EINTR;
    if (bytes == 0)
        return false;
    if (connection->is_in_body) {
        bool is_sound = (uint64_t)bytes <= connection->body_left;
        load->errors += !is_sound;
        connection->body_left -= is_sound ? (uint64_t)bytes : 0;
        return is_sound;
    }
    connection->head_bytes += (size_t)bytes;
    connection->head[connection->head_bytes] = '\0';
    if (strstr(connection->head, "\r\n\r\n") != NULL ? read_head(load, connection)
                                                     : connection->head_bytes < HEAD_BYTES_MAX - 1)
        return true;
    load->errors++;
    return false;
}

static void handle_input(struct load *load, struct connection *connection)
{
    if (!read_some(load, connection)) {
        connect_again(load, connection);
        return;
    }
    if (!connection->is_in_body || connection->body_left > 0)
        return;
    load->answers++;
    if (load->times != NULL)
        fprintf(load->times, "%llu %llu\n",
                (unsigned long long)(load->epoch_ns + connection->sent_ns),
                (unsigned long long)(now_ns() - connection->sent_ns));
    connection->is_in_body = false;
    connection->head_bytes = 0;
    if (!send_request(load, connection))
        connect_again(load, connection);
}

static void handle_event(struct load *load, const struct epoll_event *event)
{
    struct connection *connection = event->data.ptr;
    int error = 0;
    socklen_t size = sizeof error;

    if ((event->events & EPOLLOUT) == 0) {
        handle_input(load, connection);
        return;
    }
    getsockopt(connection->socket, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0 || !send_request(load, connection))
        give_up(load, connection);
    else
        watch(load, connection, EPOLL_CTL_MOD, EPOLLIN);
}

/* ---- All connections ------------------------------------------------------------------------ */

/* Returns the reason why the load ended. */
static const char *run(struct load *load, const sigset_t *waiting, uint64_t end_ns)
{
    struct epoll_event events[EVENTS_AT_ONCE];

    for (size_t i = 0; i < load->connection_count; i++)
        connect_to_server(load, &load->connections[i]);
    for (;;) {
        uint64_t now = now_ns();
        if (is_interrupted)
            return "interrupted";
        if (load->answers >= load->answers_max)
            return "requests answered";
        if (now >= end_ns)
            return "time is up";
        if (load->alive == 0)
            return "nobody listens";
        int wait_ms = (int)((end_ns - now) / 1000000) + 1;
        int count = epoll_pwait(load->epoll, events, EVENTS_AT_ONCE, wait_ms, waiting);
        for (int i = 0; i < count && load->answers < load->answers_max; i++)
            handle_event(load, &events[i]);
    }
}

/* Signals are delivered only while the loop waits. */
static void catch_signals(sigset_t *ret_waiting)
{
    struct sigaction action = {.sa_handler = interrupt};
    sigset_t blocked;

    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_BLOCK, &blocked, ret_waiting);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static int load_server(struct load *load)
{
    sigset_t waiting;

    load->epoll = epoll_create1(EPOLL_CLOEXEC);
    load->connections = calloc(load->connection_count, sizeof *load->connections);
    if (load->epoll < 0 || load->connections == NULL) {
        perror("httpd_load");
        return EXIT_FAILURE;
    }
    load->alive = load->connection_count;
    catch_signals(&waiting);
    uint64_t begin_ns = now_ns();
    const char *end = run(load, &waiting, begin_ns + load->seconds * 1000000000);
    double seconds = (double)(now_ns() - begin_ns) / 1e9;
    printf("answers: %llu\nerrors: %llu\nseconds: %.3f\nanswers per second: %.0f\nend: %s\n",
           (unsigned long long)load->answers, (unsigned long long)load->errors, seconds,
           (double)load->answers / seconds, end);
    free(load->connections);
    close(load->epoll);
    if (load->times != NULL && (ferror(load->times) | fclose(load->times)) != 0) {
        fprintf(stderr, "httpd_load: cannot write the times\n");
        return EXIT_FAILURE;
    }
    return load->answers > 0 && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- Options -------------------------------------------------------------------------------- */

static const char usage[] =
    "usage: httpd_load [options] PORT PATH...\n"
    "Sends GET requests for the paths in turn to 127.0.0.1:PORT.\n"
    "  --connections NUMBER  that are kept busy, 1 to 1024 (default: 32)\n"
    "  --seconds NUMBER      end after 1 to 3600 (default: 5)\n"
    "  --requests NUMBER     end earlier, after this number of answers (default: no limit)\n"
    "  --times FILE          write a line for each answer: when its request was sent, in ns since\n"
    "                        1970, and how many ns later the answer was complete\n"
    "  --help                show this help\n";

static bool number_of(const char *text, uint64_t min, uint64_t max, uint64_t *ret_number)
{
    char *end;

    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || number < min || number > max) {
        fprintf(stderr, "httpd_load: '%s' is not a number from %llu to %llu\n", text,
                (unsigned long long)min, (unsigned long long)max);
        return false;
    }
    *ret_number = number;
    return true;
}

static bool open_times(const char *name, struct load *load)
{
    load->epoch_ns = since_1970_ns();
    load->times = fopen(name, "we");
    if (load->times == NULL)
        fprintf(stderr, "httpd_load: cannot write '%s': %s\n", name, strerror(errno));
    return load->times != NULL;
}

static bool are_paths(char **paths, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (paths[i][0] != '/' || strpbrk(paths[i], " \r\n") != NULL ||
            strlen(paths[i]) > REQUEST_BYTES_MAX / 2) {
            fprintf(stderr, "httpd_load: '%s' is not the path of a URL\n", paths[i]);
            return false;
        }
    }
    return count > 0;
}

/* Returns -1, or the status to exit with. */
static int read_options(int argc, char **argv, struct load *load)
{
    static const struct option options[] = {{"connections", required_argument, NULL, 'c'},
                                            {"seconds", required_argument, NULL, 's'},
                                            {"requests", required_argument, NULL, 'r'},
                                            {"times", required_argument, NULL, 't'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    uint64_t port = 0;
    bool is_fine = true;
    int option;

    while (is_fine && (option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            return EXIT_SUCCESS;
        }
        is_fine = (option == 'c' &&
                   number_of(optarg, 1, CONNECTIONS_MAX, &load->connection_count)) ||
                  (option == 's' && number_of(optarg, 1, SECONDS_MAX, &load->seconds)) ||
                  (option == 'r' && number_of(optarg, 1, UINT64_MAX, &load->answers_max)) ||
                  (option == 't' && open_times(optarg, load));
    }
    if (!is_fine || argc - optind < 2 || !number_of(argv[optind], 1, UINT16_MAX, &port) ||
        !are_paths(argv + optind + 1, (size_t)(argc - optind - 1))) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    load->port = (uint16_t)port;
    load->paths = argv + optind + 1;
    load->path_count = (size_t)(argc - optind - 1);
    return -1;
}

int main(int argc, char **argv)
{
    static struct load load = {.connection_count = 32, .seconds = 5, .answers_max = UINT64_MAX};
    int status = read_options(argc, argv, &load);

    return status >= 0 ? status : load_server(&load);
}
