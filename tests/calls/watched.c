/* SPDX-License-Identifier: MIT
 *
 * watched.c: functions with macros that call libc: 1,000 reads, a read of nothing that fails, a
 * sleep of 60 ms, and a forked child, which also calls them.
 */
#define FN_INSTRUMENT
#include "FnTrace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { READS = 1000 };

static int zero;

__attribute__((noinline)) static void inner(void)
{
    FN_FUNC(void, FN_1);
    char byte = 1;

    if (read(zero, &byte, 1) != 1 || byte != 0)
        puts("failed: read");
}

__attribute__((noinline)) static void outer(void)
{
    FN_FUNC(void, FN_1);
    char byte;

    for (int i = 0; i < READS; i++)
        inner();
    errno = 0;
    if (read(-1, &byte, 1) != -1 || errno != EBADF)
        puts("failed: read of nothing");
}

__attribute__((noinline)) static void rest(void)
{
    FN_FUNC(void, FN_1);
    struct timespec left = {0, 60000000};

    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

__attribute__((noinline)) static void split(void)
{
    FN_FUNC(void, FN_1);
    pid_t child = fork();

    inner();
    if (child == 0)
        _exit(0);
    if (child < 0 || waitpid(child, NULL, 0) != child)
        puts("failed: fork");
}

int main(void)
{
    zero = open("/dev/zero", O_RDONLY);
    outer();
    rest();
    split();
    return 0;
}
