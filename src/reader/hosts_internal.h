/* SPDX-License-Identifier: MIT
 *
 * hosts_internal.h: the three parts of aligning hosts: hosts.c (hosts and their clocks),
 * hosts_links.c (from records to bounds) and hosts_place.c (from bounds to offsets).
 */
#ifndef PROBITY_READER_HOSTS_INTERNAL_H
#define PROBITY_READER_HOSTS_INTERNAL_H

#include "reader/align.h"
#include "reader/clockmap.h"
#include "reader/hosts.h"
#include "reader/trace.h"

/* A conversion of ticks, used by one or several traces of a host. */
struct host_clock {
    struct probity_clockmap *map;   /* map of the traces */
    struct probity_clockmap steady; /* a copy without steps */
    uint32_t host;
};

/* A message from one of two hosts to the other, with the times on the clock of each. */
struct host_bound {
    uint64_t left_ns, right_ns;
    uint32_t left, right; /* left < right */
    int is_forward, is_request;
};

struct host_bounds {
    struct host_bound *items;
    size_t count, capacity;
    uint64_t left_out;
};

/* The conversion of a host's time to that of its reference. */
struct host_place {
    struct probity_align_line line; /* host time - reference time - base_ns */
    uint64_t origin_ns;             /* reference time at the beginning of the line */
    uint64_t base_ns;               /* modulo 2^64 */
    int is_placed;
    uint32_t hops;
};

struct hosts {
    struct probity_hosts *hosts;
    struct host_clock *clocks;
    size_t clock_count;
    struct host_clock **of_traces;
    struct host_bounds bounds;
    struct host_place *places; /* by host */
};

/* Reads the traces and finds the bounds. Returns 0 or an error. */
int hosts_find_bounds(struct hosts *hosts, struct probity_trace *traces, size_t count,
                      const struct probity_reader_options *options);

/* Finds the pairs and places the hosts. Returns 0 or PROBITY_ERROR_MEMORY. */
int hosts_place(struct hosts *hosts);

/* Converts a time of a host to reference time. */
uint64_t hosts_to_reference(const struct host_place *place, uint64_t host_ns);

/* Converts a rate, in time per tick, in the same way. */
uint64_t hosts_rate_to_reference(const struct host_place *place, uint64_t rate);

#endif
