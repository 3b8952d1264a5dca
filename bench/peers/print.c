/* SPDX-License-Identifier: MIT
 *
 * print.c: a scope printed by hand: a line with the time at each end, to stderr, which is
 * unbuffered and goes to a file on disk.
 */
#include "peer.h"

#include <stdio.h>
#include <time.h>

static void print_line(const char *what)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    fprintf(stderr, "%ld.%09ld %s %s\n", (long)now.tv_sec, now.tv_nsec, what, "peer_scope");
}

uint64_t peer_scope(uint64_t value)
{
    print_line("enter");
    PEER_WORK(value);
    print_line("leave");
    return value;
}
