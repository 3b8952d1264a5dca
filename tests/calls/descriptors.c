/* SPDX-License-Identifier: MIT
 *
 * descriptors.c: waits in read() until a timeout: twice for a peer, through copies of the
 * descriptor and after another pair was created; once for that pair; and for a timer, whose
 * descriptor has the number of a file closed by fclose().
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
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

int main(void)
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
    return !wait_for_timer();
}
