/* SPDX-License-Identifier: MIT
 *
 * cancelled.c: threads that are cancelled while they wait in calls of libc. If the calls do not act
 * on it as without the library, the program fails. The cancellation handlers make calls, too.
 * Prints the number of threads.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(is_right) check(is_right, #is_right)
static void check(int is_right, const char *what)
{
    if (is_right)
        return;
    fprintf(stderr, "cancelled: %s\n", what);
    exit(1);
}

static int empty[2], full[2], sockets[2], listening, epoll, handled;
static pid_t waiter, child;
static char byte, bytes[4096];

static void in_read(void) { (void)!read(empty[0], &byte, 1); }
static void in_readv(void)
{
    const struct iovec one = {&byte, 1};
    (void)!readv(empty[0], &one, 1);
}
static void in_write(void) { (void)!write(full[1], bytes, sizeof bytes); }
static void in_recv(void) { recv(sockets[0], &byte, 1, 0); }
static void in_recvmsg(void)
{
    struct iovec one = {&byte, 1};
    struct msghdr message = {.msg_iov = &one, .msg_iovlen = 1};
    recvmsg(sockets[0], &message, 0);
}
static void in_accept(void) { accept(listening, NULL, NULL); }
static void in_poll(void)
{
    struct pollfd one = {.fd = empty[0], .events = POLLIN};
    poll(&one, 1, -1);
}
static void in_select(void)
{
    fd_set set;
    FD_ZERO(&set);
    FD_SET(empty[0], &set);
    select(empty[0] + 1, &set, NULL, NULL, NULL);
}
static void in_epoll(void)
{
    struct epoll_event event;
    epoll_wait(epoll, &event, 1, -1);
}
static void in_nanosleep(void)
{
    const struct timespec hour = {3600, 0};
    nanosleep(&hour, NULL);
}
static void in_clock_nanosleep(void)
{
    const struct timespec hour = {3600, 0};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &hour, NULL);
}
static void in_sleep(void) { sleep(3600); }
static void in_usleep(void) { usleep(999999999); }
static void in_waitpid(void) { waitpid(child, NULL, 0); }
static void in_open(void) { open("fifo", O_RDONLY); }

static void handle(void *unused)
{
    (void)unused;
    errno = EXDEV;
    CHECK(write(-1, "x", 1) == -1 && errno == EBADF);
    CHECK(close(dup(empty[0])) == 0);
    handled++;
}

static void *run(void *call)
{
    __atomic_store_n(&waiter, gettid(), __ATOMIC_RELEASE);
    pthread_cleanup_push(handle, NULL);
    for (;;)
        (*(void (*const *)(void))call)();
    pthread_cleanup_pop(1);
    return NULL;
}

static void until_it_sleeps(void)
{
    char path[64], line[512] = "";

    while (__atomic_load_n(&waiter, __ATOMIC_ACQUIRE) == 0)
        sched_yield();
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)waiter);
    while (strrchr(line, ')') == NULL || strrchr(line, ')')[2] != 'S') {
        FILE *file = fopen(path, "r");
        CHECK(file != NULL && fgets(line, sizeof line, file) != NULL);
        fclose(file);
    }
}

static void prepare(void)
{
    const struct sockaddr any = {.sa_family = AF_UNIX};

    CHECK(pipe(empty) == 0 && pipe2(full, O_NONBLOCK) == 0);
    while (write(full[1], bytes, sizeof bytes) > 0)
        continue;
    CHECK(fcntl(full[1], F_SETFL, 0) == 0);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
    listening = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(bind(listening, &any, sizeof any.sa_family) == 0 && listen(listening, 1) == 0);
    CHECK((epoll = epoll_create1(0)) >= 0);
    child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
}

int main(void)
{
    static void (*const calls[])(void) = {
        in_read,   in_readv, in_write,     in_recv,            in_recvmsg, in_accept,  in_poll,
        in_select, in_epoll, in_nanosleep, in_clock_nanosleep, in_sleep,   in_usleep, in_waitpid,
        in_open};
    enum { COUNT = sizeof calls / sizeof *calls, ROUNDS = 3 };

    prepare();
    for (int i = 0; i < ROUNDS * COUNT; i++) {
        pthread_t thread;
        void *result;
        waiter = 0;
        CHECK(pthread_create(&thread, NULL, run, (void *)(uintptr_t)&calls[i % COUNT]) == 0);
        until_it_sleeps();
        CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0);
        CHECK(result == PTHREAD_CANCELED && handled == i + 1);
    }
    kill(child, SIGKILL);
    CHECK(waitpid(child, NULL, 0) == child);
    printf("%d\n", handled);
    return 0;
}
