/* SPDX-License-Identifier: MIT
 *
 * percentiles.c: for a second, runs spans of about 20 µs; then, until FILE exists, slow ones, each
 * after enough normal ones that p99.9 remains that of the normal ones. Slow ones last 200 ms, or
 * twice as long as the longest normal one, which may have been interrupted on a busy machine.
 *
 *     percentiles KIND FILE
 *
 * KIND determines what begins and ends a span: block (probes 4 and 9), named (sites "begin" and
 * "end"), typed (probe 4, with an id, and site "end", with an id), wait (of lock "door") or request
 * (named "job"). Prints the longest normal span in ns.
 */
#include "probity_typed.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char door;
static const char *kind;

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void wait_ns(uint64_t ns)
{
    struct timespec rest = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

    for (uint64_t end = now_ns() + ns; ns < 1000000 && now_ns() < end;)
        continue;
    while (ns >= 1000000 && nanosleep(&rest, &rest) != 0 && errno == EINTR)
        continue;
}

static void stretch(uint64_t number, uint64_t ns)
{
    int is_block = strcmp(kind, "block") == 0, is_named = strcmp(kind, "named") == 0;
    int is_typed = strcmp(kind, "typed") == 0, is_wait = strcmp(kind, "wait") == 0;

    if (is_block)
        PROBITY_PROBE(4);
    else if (is_named)
        PROBITY_PROBE_NAMED("begin");
    else if (is_typed)
        PROBITY_PROBE_WITH(4, number);
    else if (is_wait)
        PROBITY_LOCK_WAIT("door", &door);
    else
        PROBITY_REQUEST_BEGIN("job", number);
    wait_ns(ns);
    if (is_block)
        PROBITY_PROBE(9);
    else if (is_named)
        PROBITY_PROBE_NAMED("end");
    else if (is_typed)
        PROBITY_PROBE_NAMED_WITH("end", number);
    else if (is_wait)
        PROBITY_LOCK_HOLD("door", &door);
    else
        PROBITY_REQUEST_END("job", number);
}

static uint64_t number, longest_ns;

static void usual(void)
{
    uint64_t begin = now_ns();

    stretch(number++, 20000);
    uint64_t ns = now_ns() - begin;
    longest_ns = ns > longest_ns ? ns : longest_ns;
}

int main(int argc, char **argv)
{
    enum { USUAL = 2000, PLANTED_NS = 200000000 };

    if (argc < 3)
        return 2;
    kind = argv[1];
    for (uint64_t end = now_ns() + 1000000000; now_ns() < end;)
        usual();
    for (uint64_t planted = 1; planted == 1 || access(argv[2], F_OK) != 0; planted++) {
        while (number < USUAL * planted)
            usual();
        stretch(number++, 2 * longest_ns > PLANTED_NS ? 2 * longest_ns : PLANTED_NS);
    }
    printf("%llu\n", (unsigned long long)longest_ns);
    return 0;
}
