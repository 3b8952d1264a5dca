/* SPDX-License-Identifier: MIT
 *
 * io.c [NUMBER]: makes I/O and sleep calls, and prints its own count of each. Printing is not
 * counted, since libc writes internally. Checks that errno and results are the same as without the
 * library.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "counts.h"

static void use_files(void)
{
    char bytes[16];
    struct iovec parts[2] = {{bytes, 3}, {bytes + 3, 4}};
    const char *volatile nowhere = NULL;
    const struct iovec *volatile no_parts = NULL;
    int file = CALL(open, "file", O_RDWR | O_CREAT | O_TRUNC, 0600);

    EXPECT(file >= 0);
    EXPECT(CALL(write, file, "0123456789", 10) == 10);
    EXPECT(CALL(pwrite, file, "ab", 2, 4) == 2);
    EXPECT(CALL(pread, file, bytes, 10, 0) == 10 && memcmp(bytes, "0123ab6789", 10) == 0);
    EXPECT(lseek(file, 0, SEEK_SET) == 0);
    EXPECT(CALL(readv, file, parts, 2) == 7);
    EXPECT(CALL(writev, file, parts, 2) == 7);
    EXPECT(CALL(fsync, file) == 0);
    int copy = CALL(dup, file);
    EXPECT(copy > file && CALL(dup2, file, copy) == copy);
    EXPECT(CALL(close, copy) == 0 && CALL(close, file) == 0);
    errno = 0;
    EXPECT(CALL(close, file) == -1 && errno == EBADF);
    EXPECT(CALL(open, "no/such/file", O_RDONLY) == -1 && errno == ENOENT);
    EXPECT(CALL(read, -1, bytes, 1) == -1 && errno == EBADF);
    EXPECT(CALL(open, nowhere, O_RDONLY) == -1 && errno == EFAULT);
    EXPECT(CALL(readv, 0, no_parts, 2) == -1 && errno == EFAULT);
}

static void use_pipe(int times)
{
    int ends[2];
    char byte = 'x';

    EXPECT(CALL(pipe, ends) == 0);
    for (int i = 0; i < times; i++) {
        errno = i;
        EXPECT(CALL(write, ends[1], &byte, 1) == 1);
        EXPECT(CALL(read, ends[0], &byte, 1) == 1 && errno == i);
    }
    struct pollfd polled = {ends[0], POLLIN, 0};
    EXPECT(CALL(poll, &polled, 1, 0) == 0);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    struct timeval none = {0, 0};
    EXPECT(CALL(select, ends[0] + 1, &set, NULL, NULL, &none) == 0);
    int group = CALL(epoll_create1, 0);
    struct epoll_event event = {.events = EPOLLIN};
    EXPECT(CALL(epoll_ctl, group, EPOLL_CTL_ADD, ends[0], &event) == 0);
    EXPECT(CALL(epoll_wait, group, &event, 1, 0) == 0);
    EXPECT(CALL(close, group) == 0 && CALL(close, ends[0]) == 0 && CALL(close, ends[1]) == 0);
}

static void use_sockets(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t bytes = sizeof address;
    char text[8];
    int listener = CALL(socket, AF_INET, SOCK_STREAM, 0);
    int client = CALL(socket, AF_INET, SOCK_STREAM, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT(CALL(bind, listener, (struct sockaddr *)&address, sizeof address) == 0);
    EXPECT(CALL(listen, listener, 4) == 0);
    EXPECT(getsockname(listener, (struct sockaddr *)&address, &bytes) == 0);
    EXPECT(CALL(connect, client, (struct sockaddr *)&address, sizeof address) == 0);
    int server = CALL(accept, listener, NULL, NULL);
    EXPECT(server >= 0);
    EXPECT(CALL(send, client, "hello", 5, 0) == 5);
    EXPECT(CALL(recv, server, text, sizeof text, 0) == 5);
    EXPECT(CALL(shutdown, server, SHUT_RDWR) == 0);
    printf("peer 127.0.0.1:%d\n", ntohs(address.sin_port));
    EXPECT(CALL(close, server) == 0 && CALL(close, client) == 0 && CALL(close, listener) == 0);
}

static void sleep_shortly(void)
{
    struct timespec shortly = {0, 1000};
    struct timeval none = {0, 0};

    EXPECT(CALL(nanosleep, &shortly, NULL) == 0);
    EXPECT(CALL(clock_nanosleep, CLOCK_MONOTONIC, 0, &shortly, NULL) == 0);
    EXPECT(CALL(usleep, 1) == 0);
    EXPECT(CALL(select, 0, NULL, NULL, NULL, &none) == 0);
    EXPECT(CALL(sched_yield) == 0);
}

int main(int argc, char **argv)
{
    use_files();
    use_pipe(argc > 1 ? atoi(argv[1]) : 1000);
    use_sockets();
    sleep_shortly();
    print_counts();
    return 0;
}
