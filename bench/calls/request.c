/* SPDX-License-Identifier: MIT
 *
 * request.c ROOT WINDOWS IN OUT: one thread serves requests for ROOT/page.html over loopback with
 * the same calls to libc as the example web server: 7 for descriptors, 4 locks and a notification.
 * It is its own client, with system calls that no library replaces, so nothing waits. Prints the
 * CPU time of the thread for a request in each window, in ns. Several of these processes take
 * turns, since the machine's speed changes: before each window, each reads a byte from the pipe IN,
 * and after it, it writes one to OUT, the next one's IN.
 */
#define _GNU_SOURCE 1
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { REQUESTS = 100, WARM_UP = 20, LOCKS = 4, BUFFER_BYTES = 8192 };

static pthread_mutex_t locks[LOCKS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                       PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int client, server, root, watcher;

static uint64_t cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void use_lock(int number)
{
    if (pthread_mutex_trylock(&locks[number]) != 0)
        pthread_mutex_lock(&locks[number]);
    pthread_mutex_unlock(&locks[number]);
}

/* Returns the size of the response in bytes. */
static long answer(void)
{
    char buffer[BUFFER_BYTES], date[64];
    struct stat status;
    struct tm calendar;

    recv(server, buffer, sizeof buffer, MSG_DONTWAIT);
    int file = openat(root, "page.html", O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) != 0)
        exit(1);
    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT",
             gmtime_r(&status.st_mtime, &calendar));
    int bytes = snprintf(buffer, sizeof buffer,
                         "HTTP/1.1 200 OK\r\nLast-Modified: %s\r\nContent-Length: %ld\r\n\r\n",
                         date, (long)status.st_size);
    send(server, buffer, (size_t)bytes, MSG_MORE);
    sendfile(server, file, NULL, (size_t)status.st_size);
    close(file);
    return bytes + status.st_size;
}

static void request(void)
{
    static const char text[] = "GET /page.html HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n";
    struct epoll_event event;
    char buffer[BUFFER_BYTES];

    syscall(SYS_sendto, client, text, sizeof text - 1, 0, NULL, 0);
    epoll_wait(watcher, &event, 1, 0);
    use_lock(0);
    use_lock(1);
    pthread_cond_signal(&changed);
    use_lock(2);
    long left = answer();
    use_lock(3);
    event.events = EPOLLIN | EPOLLONESHOT;
    epoll_ctl(watcher, EPOLL_CTL_MOD, server, &event);
    while (left > 0) {
        long got = syscall(SYS_recvfrom, client, buffer, sizeof buffer, 0, NULL, NULL);
        if (got <= 0)
            exit(1);
        left -= got;
    }
}

static void connect_both(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr *any = (struct sockaddr *)&address;
    socklen_t bytes = sizeof address;
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT};
    int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);

    client = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, any, bytes) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, any, &bytes) != 0 || connect(client, any, bytes) != 0)
        exit(1);
    server = accept(listener, NULL, NULL);
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    watcher = epoll_create1(0);
    epoll_ctl(watcher, EPOLL_CTL_ADD, server, &event);
}

/* Returns the CPU time of a request, in ns. */
static uint64_t measure(void)
{
    for (int k = 0; k < WARM_UP; k++)
        request();
    uint64_t since_ns = cpu_ns();
    for (int k = 0; k < REQUESTS; k++)
        request();
    return (cpu_ns() - since_ns) / REQUESTS;
}

int main(int argc, char **argv)
{
    char turn;

    root = argc == 5 ? open(argv[1], O_RDONLY | O_DIRECTORY) : -1;
    if (root < 0)
        return 1;
    /* Each process has both ends, so that opening does not wait for another process. */
    int in = open(argv[3], O_RDWR | O_CLOEXEC), out = open(argv[4], O_RDWR | O_CLOEXEC);
    connect_both();
    for (long windows = strtol(argv[2], NULL, 10); windows > 0; windows--) {
        if (syscall(SYS_read, in, &turn, 1) != 1)
            return 1;
        uint64_t ns = measure();
        if (syscall(SYS_write, out, &turn, 1) != 1)
            return 1;
        printf("%llu\n", (unsigned long long)ns);
    }
    return 0;
}
