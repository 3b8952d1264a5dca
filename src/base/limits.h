/* SPDX-License-Identifier: MIT
 *
 * limits.h: every limit of the runtime, with its reason. Reaching one is counted and written into
 * the trace.
 */
#ifndef PROBITY_BASE_LIMITS_H
#define PROBITY_BASE_LIMITS_H

enum {
    /* Threads alive at once: their state is one reserved range of 128 bytes each, touched as
     * needed. */
    PROBITY_LIMIT_THREADS = 32768,
    /* Paths are held in fixed arrays, because nothing may be allocated when they are needed. */
    PROBITY_LIMIT_PATH = 4096,
    PROBITY_LIMIT_NAME = 255,
    /* Signatures of templates are long; two of this, and three names, fit into an event. */
    PROBITY_LIMIT_SIGNATURE = 600,
    /* Named sites and, two for each, functions in a process; and formats. Their
     * descriptors are kept for forked children. */
    PROBITY_LIMIT_SITES = 65536,
    /* Sites and functions that a trace lists whether hit or not, of all libraries together: some
     * 16 MiB, in memory and in each trace. And libraries that have any. */
    PROBITY_LIMIT_LISTED = 262144,
    PROBITY_LIMIT_LISTED_OBJECTS = 4096,
    /* Chunks in one spool: 32 bits hold their number plus one beside a tag against reuse. */
    PROBITY_LIMIT_SEGMENTS = 1024,
    /* Packed bytes gathered before one write: large enough to hide the call, small enough to stay
     * in cache. */
    PROBITY_LIMIT_BATCH_BYTES = 256 * 1024
};

#endif
