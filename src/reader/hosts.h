/* SPDX-License-Identifier: MIT
 *
 * hosts.h: aligns the clocks of traces of several hosts by the messages between them
 * (doc/hosts.md). Only in the tool: a reader inside a traced program reads its own trace.
 */
#ifndef PROBITY_READER_HOSTS_H
#define PROBITY_READER_HOSTS_H

#include <stddef.h>
#include <stdint.h>

#include "reader/reader.h"

struct probity_trace;

enum {
    PROBITY_HOSTS_MAX = 1024,           /* hosts that are aligned */
    PROBITY_HOSTS_MOMENTS_MAX = 1 << 20 /* hits with ids that are stored */
};

struct probity_align_steps {
    /* Reads all traces once, with the same options, and replaces the anchors of the traces' clocks
     * and the times in their facts. There must be at least two hosts. Returns 0 or an error of
     * probity_reader_open() or _next(). */
    int (*align)(struct probity_trace *traces, size_t count,
                 const struct probity_reader_options *options, struct probity_hosts **ret_hosts);
    void (*release)(struct probity_hosts *hosts);
};

/* For struct probity_reader_options. */
extern const struct probity_align_steps probity_align_steps;

#endif
