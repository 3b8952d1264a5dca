/* SPDX-License-Identifier: MIT
 *
 * descriptors.c [closefrom | kept]: waits in read() until a timeout: twice for a peer, through
 * copies of the descriptor and after another pair was created; once for that pair; and for a timer,
 * whose descriptor has the number of a file closed by fclose(); and for a peer whose descriptor, a
 * copy made inside libc, has the number of a file closed by close_range() or closefrom(). kept:
 * only for the first peer, after close_range() has closed all descriptors of a thread with a
 * separate table, and has failed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

static void limit(int fd)
{
    const struct timeval most = {0, 5000};

    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most) != 0)
        perror("setsockopt");
}

static void wait_for(int fd)
{
    char byte;

    if (read(fd, &byte, 1) != -1)
        fputs("read: there was something\n", stderr);
}

static int wait_for_timer(void)
{
    const struct itimerspec due = {.it_value = {.tv_nsec = 5000000}};
    FILE *file = fdopen(open("/dev/null", O_RDONLY), "r");
    int number = file != NULL ? fileno(file) : -1;
    uint64_t times;

    if (number < 0 || fclose(file) != 0)
        return 0;
    int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    return timer == number && timerfd_settime(timer, 0, &due, NULL) == 0 &&
           read(timer, &times, sizeof times) == sizeof times;
}

static int wait_for_unknown(const struct sockaddr_in *peer, int is_from)
{
    int file = open("/dev/null", O_RDONLY), last = fcntl(file, F_DUPFD, 60);
    int one = socket(AF_INET, SOCK_DGRAM, 0);

    limit(one);
    if (last != 60 || connect(one, (const struct sockaddr *)peer, sizeof *peer) != 0)
        return 0;
    if (is_from)
        closefrom(60);
    else if (close_range(50, 70, 0) != 0)
        return 0;
    if (read(60, &file, 1) != -1 || syscall(SYS_dup2, one, 60) != 60)
        return 0;
    wait_for(60);
    return 1;
}

/* In a separate table, so that the descriptors of the process remain open. */
static void *close_own(void *context)
{
    int *result = context;

    *result = close_range(0, 1000, 2 /* CLOSE_RANGE_UNSHARE */);
    return NULL;
}

/* As older kernels, and some containers, do. */
static int refuse_close_range(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog filter = {sizeof code / sizeof *code, code};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0 &&
           close_range(0, 1000, 0) == -1 && errno == ENOSYS;
}

static int wait_for_kept(int fd)
{
    pthread_t thread;
    int result = -1;

    if (pthread_create(&thread, NULL, close_own, &result) != 0 ||
        pthread_join(thread, NULL) != 0 || result != 0 || !refuse_close_range())
        return 0;
    wait_for(fd);
    return 1;
}

int main(int argc, char **argv)
{
    const struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons(9),
                                     .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = socket(AF_INET, SOCK_DGRAM, 0), pair[2], ends[2];

    limit(one);
    if (connect(one, (const struct sockaddr *)&peer, sizeof peer) != 0 || dup2(one, 0) != 0)
        return 1;
    if (argc > 1 && strcmp(argv[1], "kept") == 0)
        return !wait_for_kept(one);
    int copy = fcntl(one, F_DUPFD, 40);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 || pipe(ends) != 0)
        return 1;
    wait_for(0);
    wait_for(copy);
    limit(pair[0]);
    wait_for(pair[0]);
    const int is_from = argc > 1 && strcmp(argv[1], "closefrom") == 0;
    return !wait_for_timer() || !wait_for_unknown(&peer, is_from);
}
