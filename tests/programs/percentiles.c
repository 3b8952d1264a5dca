/* SPDX-License-Identifier: MIT
 *
 * percentiles.c: usual stretches of some 20 µs for two seconds, and then planted ones of 200 ms,
 * each before 300 usual ones.
 *
 *     percentiles KIND PLANTED
 *
 * KIND is what begins and ends a stretch: block (probes 4 and 9), named (sites "begin" and "end"),
 * typed (probe 4, with an id, and site "end", with an id), wait (of lock "door") or request
 * (named "job").
 */
#include "probity_typed.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
    struct timespec rest = {0, (long)ns};

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

int main(int argc, char **argv)
{
    uint64_t number = 0;

    if (argc < 3)
        return 2;
    kind = argv[1];
    /* Limits are known a second after there have been 1,000. */
    for (uint64_t end = now_ns() + 2300000000; now_ns() < end;)
        stretch(number++, 20000);
    for (int planted = atoi(argv[2]); planted > 0; planted--) {
        stretch(number++, 200000000);
        for (int i = 0; i < 300; i++)
            stretch(number++, 20000);
    }
    return 0;
}
