/* SPDX-License-Identifier: MIT
 *
 * httpd: a small HTTP/1.1 server, instrumented with Probity at its stages (stages.h). main.c reads
 * the options, creates what the threads share, and then waits for the signal that ends the server.
 *
 * It listens on 127.0.0.1 only: it is an example, without TLS, and not meant for a network.
 */
#define _GNU_SOURCE 1
#include "server.h"
#include "stages.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { EXIT_USAGE = 2, PATH_BYTES_MAX = 4096 };

bool stages_have_ids = true;

struct options {
    const char *root;
    const char *scoreboard;
    unsigned port;
    unsigned threads;
    unsigned idle_seconds;
    bool plants;
};

static const char usage[] =
    "usage: httpd [options]\n"
    "Serves files, and CGI programs below cgi-bin/, on 127.0.0.1 until SIGINT or SIGTERM.\n"
    "  --root DIRECTORY    document root (default: the working directory)\n"
    "  --port NUMBER       port; 0: a free one (default: 8080)\n"
    "  --threads NUMBER    workers, 1 to 256 (default: 4)\n"
    "  --idle SECONDS      close silent connections after 1 to 3600 (default: 5)\n"
    "  --plain-stages      record only stages, not their request, queue and lock\n"
    "  --plant             a request for /stall/KIND/MS delays its worker by MS milliseconds;\n"
    "                      KIND: lock, cpu, fault (of a page), write\n"
    "  --scoreboard FILE   keep the threads' counts in FILE, which survives a kill\n"
    "  --help              show this help\n";

static int fail(const char *what, const char *name)
{
    fprintf(stderr, "httpd: cannot %s '%s': %s\n", what, name, strerror(errno));
    return -1;
}

static int option_number(const char *name, unsigned min, unsigned max, unsigned *ret_number)
{
    char *end;

    errno = 0;
    unsigned long number = strtoul(optarg, &end, 10);
    if (errno || end == optarg || *end || *optarg == '-' || number < min || number > max) {
        fprintf(stderr, "httpd: --%s requires a number from %u to %u, not '%s'\n", name, min, max,
                optarg);
        return -1;
    }
    *ret_number = (unsigned)number;
    return 0;
}

/* Returns 0 to continue, 1 if the help was printed, -1 after reporting an error. */
static int options_read(int argc, char **argv, struct options *ret_options)
{
    static const struct option names[] = {
        {"root", required_argument, NULL, 'r'},    {"port", required_argument, NULL, 'p'},
        {"threads", required_argument, NULL, 't'}, {"idle", required_argument, NULL, 'i'},
        {"plain-stages", no_argument, NULL, 'P'},  {"plant", no_argument, NULL, 'l'},
        {"help", no_argument, NULL, 'h'},          {"scoreboard", required_argument, NULL, 's'},
        {NULL, 0, NULL, 0}};
    struct options options = {.root = ".", .port = 8080, .threads = 4, .idle_seconds = 5};
    int result = 0;
    int option;

    while (result == 0 && (option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (option) {
        case 'r':
            options.root = optarg;
            break;
        case 's':
            options.scoreboard = optarg;
            break;
        case 'P':
            stages_have_ids = false;
            break;
        case 'l':
            options.plants = true;
            break;
        case 'p':
            result = option_number("port", 0, 65535, &options.port);
            break;
        case 't':
            result = option_number("threads", 1, THREADS_MAX, &options.threads);
            break;
        case 'i':
            result = option_number("idle", 1, 3600, &options.idle_seconds);
            break;
        case 'h':
            result = fputs(usage, stdout) < 0 ? -1 : 1;
            break;
        default: /* getopt_long has reported the error */
            result = -1;
        }
    }
    if (result == 0 && optind < argc) {
        fprintf(stderr, "httpd: unexpected argument '%s'; see --help\n", argv[optind]);
        result = -1;
    }
    *ret_options = options;
    return result;
}

/* Returns a listening socket on 127.0.0.1, or -1. *port may be 0 and is set to the port in use. */
static int listening_open(uint16_t *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(*port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t address_bytes = sizeof(address);
    struct timeval send_time_max = {.tv_sec = 10};
    int enabled = 1;
    int socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (socket_ < 0)
        return -1;
    /* Accepted sockets inherit the last two, so no calls are needed for each connection. */
    (void)setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &enabled, sizeof(enabled));
    (void)setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &enabled, sizeof(enabled));
    (void)setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &send_time_max, sizeof(send_time_max));
    if (bind(socket_, (struct sockaddr *)&address, sizeof(address)) == 0 &&
        listen(socket_, SOMAXCONN) == 0 &&
        getsockname(socket_, (struct sockaddr *)&address, &address_bytes) == 0) {
        *port = ntohs(address.sin_port);
        return socket_;
    }
    int error = errno;
    close(socket_);
    errno = error;
    return -1;
}

/* Initializes the server. Returns 0, or -1 after reporting the reason; exit releases everything. */
static int server_init(const struct options *options, char *root_path, struct server *server)
{
    struct rlimit files;
    char port[32];

    server->idle_ms_max = (int)options->idle_seconds * 1000;
    server->port = (uint16_t)options->port;
    server->plants = options->plants;
    server->root_path = realpath(options->root, root_path);
    server->root = server->root_path
                       ? open(server->root_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                       : -1;
    if (server->root < 0)
        return fail("open the document root", options->root);
    if (scoreboard_init(options->threads + 1, options->scoreboard, &server->scoreboard) < 0)
        return fail("make the scoreboard", options->scoreboard ? options->scoreboard : "memory");
    server->connections = connections_new(CONNECTIONS_MAX);
    if (!server->connections || queue_init(CONNECTIONS_MAX, &server->queue) < 0)
        return fail("allocate", "connections");
    /* The usual soft limit of 1024 descriptors is too low for all connections and their files. */
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    snprintf(port, sizeof(port), "127.0.0.1:%u", options->port);
    server->listening = listening_open(&server->port);
    if (server->listening < 0)
        return fail("listen on", port);
    server->stop_event = eventfd(0, EFD_CLOEXEC);
    if (server->stop_event < 0 || listener_init(server) < 0)
        return fail("watch", port);
    return 0;
}

static void server_release(struct server *server)
{
    close(server->epoll);
    close(server->stop_event);
    close(server->root);
    queue_release(&server->queue);
    connections_free(server->connections, CONNECTIONS_MAX);
    scoreboard_release(&server->scoreboard);
}

/* Starts the listener and the workers. Returns how many threads run: fewer than count if one could
 * not be started, which is reported. */
static unsigned threads_start(struct server *server, struct server_thread *arguments,
                              pthread_t *threads, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        arguments[i] = (struct server_thread){
            .server = server, .slot = &server->scoreboard.slots[i], .number = i};
        void *(*run)(void *) = i == 0 ? listener_run : worker_run;
        errno = pthread_create(&threads[i], NULL, run, &arguments[i]);
        if (errno) {
            fail("start", "thread");
            return i;
        }
    }
    return count;
}

/* Runs the threads until a signal arrives. Returns 0, or -1 after reporting the reason. */
static int server_run(struct server *server, unsigned threads_wanted)
{
    struct server_thread arguments[THREADS_MAX + 1];
    pthread_t threads[THREADS_MAX + 1];
    sigset_t ending;
    uint64_t stop = 1;
    int signal_number;

    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    /* Blocked in all threads created from here on; this one receives them by sigwait. */
    pthread_sigmask(SIG_BLOCK, &ending, NULL);
    unsigned running = threads_start(server, arguments, threads, threads_wanted);
    if (running == threads_wanted) {
        fprintf(stdout, "listening on 127.0.0.1:%u\n", (unsigned)server->port);
        fflush(stdout);
        sigwait(&ending, &signal_number);
    }
    /* From here on, a second signal ends the process at once. */
    pthread_sigmask(SIG_UNBLOCK, &ending, NULL);
    if (write(server->stop_event, &stop, sizeof(stop)) != sizeof(stop))
        return fail("stop", "listener");
    for (unsigned i = 0; i < running; i++)
        pthread_join(threads[i], NULL);
    return running == threads_wanted ? 0 : -1;
}

int main(int argc, char **argv)
{
    char root_path[PATH_BYTES_MAX];
    struct options options;
    struct server server = {.stopping = false};
    int result = options_read(argc, argv, &options);

    if (result != 0)
        return result > 0 ? EXIT_SUCCESS : EXIT_USAGE;
    signal(SIGPIPE, SIG_IGN); /* if a client leaves, only a write to it fails */
    stages_set_names();
    if (server_init(&options, root_path, &server) < 0)
        return EXIT_FAILURE;
    if (server_run(&server, options.threads + 1) < 0)
        return EXIT_FAILURE;
    fprintf(stdout, "requests served: %llu\n",
            (unsigned long long)scoreboard_requests(&server.scoreboard));
    server_release(&server);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
