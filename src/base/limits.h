/* SPDX-License-Identifier: MIT
 *
 * limits.h: all limits of the runtime, with reasons. Reaching a limit is counted and reported in
 * the trace.
 */
#ifndef PROBITY_BASE_LIMITS_H
#define PROBITY_BASE_LIMITS_H

enum {
    /* Threads alive at the same time: their states are in one reserved range, 128 bytes each, with
     * pages allocated on demand. */
    PROBITY_LIMIT_THREADS = 32768,
    /* Paths are kept in fixed arrays, because no memory may be allocated when they are needed. */
    PROBITY_LIMIT_PATH = 4096,
    PROBITY_LIMIT_NAME = 255,
    /* Signatures of templates are long; two of this length, and three names, fit into an event. */
    PROBITY_LIMIT_SIGNATURE = 600,
    /* Maximum number of named sites, functions (two each) and formats in a process. Their
     * descriptors are kept for forked children. */
    PROBITY_LIMIT_SITES = 65536,
    /* Sites and functions listed in a trace, hit or not, of all libraries together: about 16 MiB,
     * in memory and in each trace. Also the limit on libraries that have any. */
    PROBITY_LIMIT_LISTED = 262144,
    PROBITY_LIMIT_LISTED_OBJECTS = 4096,
    /* Maximum number of segments in a spool: a chunk's number plus one must fit in 32 bits, next to
     * a tag against ABA. */
    PROBITY_LIMIT_SEGMENTS = 1024,
    /* Packed bytes gathered before one write: large enough to amortize the call, small enough to
     * stay in cache. */
    PROBITY_LIMIT_BATCH_BYTES = 256 * 1024
};

#endif
