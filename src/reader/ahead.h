/* SPDX-License-Identifier: MIT
 *
 * ahead.h: a second thread reads, checks, unpacks and merges blocks into events, while the reader's
 * thread analyzes them. Only in the tool: a reader inside a traced program starts no thread.
 */
#ifndef PROBITY_READER_AHEAD_H
#define PROBITY_READER_AHEAD_H

#include <stddef.h>
#include <stdint.h>

#include "reader/reader.h"

struct probity_ahead;
struct probity_merge;
struct probity_run;

/* Returned by next: from here on, the caller owns the merge again. */
enum { PROBITY_AHEAD_OVER = 3 };

struct probity_ahead_steps {
    /* Starts the thread, which owns the merge until stop. It ends by itself after the first event
     * at until_ns or later (UINT64_MAX: after the last event). Returns 0, or an error, without any
     * effect, if there is no memory or no thread can be created. */
    int (*start)(struct probity_merge *merge, uint64_t until_ns, struct probity_ahead **ret_ahead);
    /* Returns the same as probity_reader_next(), with errno set, or PROBITY_AHEAD_OVER. */
    int (*next)(struct probity_ahead *ahead, const struct probity_event **ret_event);
    /* Takes a run of the next events before end_ns in wall time, as far as they have been read.
     * Returns its length. */
    size_t (*next_run)(struct probity_ahead *ahead, uint64_t end_ns, struct probity_run *ret_run);
    /* Ends the thread. The last event stays valid. */
    void (*stop)(struct probity_ahead *ahead);
    /* Call after stop. */
    void (*release)(struct probity_ahead *ahead);
};

/* For struct probity_reader_options. */
extern const struct probity_ahead_steps probity_ahead_steps;

#endif
