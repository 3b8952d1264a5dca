/* SPDX-License-Identifier: MIT
 *
 * descriptors.c [closefrom]: waits in read() until a timeout: twice for a peer, through copies of
 * the descriptor and after another pair was created; once for that pair; and for a timer, whose
 * descriptor has the number of a file closed by fclose(); and for a peer whose descriptor, a copy
 * made inside libc, has the number of a file closed by close_range() or closefrom().
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
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

int main(int argc, char **argv)
{
    const struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons(9),
                                     .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = socket(AF_INET, SOCK_DGRAM, 0), pair[2], ends[2];

    limit(one);
    if (connect(one, (const struct sockaddr *)&peer, sizeof peer) != 0 || dup2(one, 0) != 0)
        return 1;
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
