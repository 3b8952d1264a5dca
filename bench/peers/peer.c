/* SPDX-License-Identifier: MIT
 *
 * peer.c NAME [probity]: calls peer_scope() in windows that alternate with the floor, and prints
 * the rows of one peer, whose tools run.sh starts and stops. With "probity", records a trace and
 * removes it.
 */
#include "common.h"
#include "peer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static uint64_t scope_window(void *context, uint64_t hits)
{
    uint64_t value = 0;

    (void)context;
    peer_scope(value);
    uint64_t first = probity_ticks();
    for (uint64_t i = 0; i < hits; i++)
        value = peer_scope(value);
    return probity_ticks() - first;
}

static void row(const char *peer, const char *what, double value, const char *unit)
{
    char text[128];

    snprintf(text, sizeof text, "%s: %s", peer, what);
    bench_row(text, value, unit, "");
}

int main(int argc, char **argv)
{
    enum { HITS = 1000, WINDOWS = 300 };
    struct bench_subject subjects[] = {{bench_floor_window, NULL, 0, 0},
                                       {scope_window, NULL, 0, 0}};
    const struct bench_subject *floor = &subjects[0], *scope = &subjects[1];
    int records = argc > 2 && strcmp(argv[2], "probity") == 0;
    struct bench_trace trace;

    if (argc < 2) {
        fprintf(stderr, "usage: peer NAME [probity]\n");
        return 2;
    }
    program_invocation_short_name = (char[]){"peers"};
    if (records)
        bench_start(NULL);
    bench_pin(0);
    scope_window(NULL, HITS);
    bench_interleave(subjects, 2, HITS, WINDOWS);
    if (records)
        bench_stop(0, &trace);
    row(argv[1], "scope, min", scope->min_ns, "ns");
    row(argv[1], "scope, median", scope->median_ns, "ns");
    row(argv[1], "scope / 2 floors, min", scope->min_ns / (2 * floor->min_ns), "x");
    row(argv[1], "scope / 2 floors, median", scope->median_ns / (2 * floor->median_ns), "x");
    return 0;
}
