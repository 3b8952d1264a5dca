/* SPDX-License-Identifier: MIT
 *
 * follow.c: reads a trace while its program is writing it. The scan cursor stops at the size that
 * the spool has committed, so that it never reads a partial block. Events in the file that are
 * older than the latest watermark (of the file or of the spool) are returned. The tail of the spool
 * is read only after its program has ended.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/os.h"
#include "probity.h"
#include "reader/file.h"
#include "reader/trace.h"

/* The writer of a trace that a reader follows checks all chunks more often: every HINT_EVERY_NS it
 * is notified to do so for the next HINT_NS, and woken if it sleeps. */
enum { HINT_NS = 2000000000, HINT_EVERY_NS = 500000000 };

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Reopens the spool for writing, except in the program itself, whose lock would be released by
 * closing it, and except for another user's spool, which is read-only. Lines then appear later. */
static void open_hint(struct probity_trace *trace)
{
    const struct probity_spool_header *header = probity_attach_header(&trace->rest.attach);
    char path[32];

    if (header->pid == (uint32_t)getpid() || trace->rest.attach.place.owner != geteuid())
        return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", trace->rest.attach.file);
    trace->hint_file = open(path, O_WRONLY | O_CLOEXEC);
}

static void hint(struct probity_trace *trace)
{
    uint64_t now = now_ns(), until = now + HINT_NS;

    probity_assert(trace->is_followed);
    if (now - trace->hinted_ns < HINT_EVERY_NS)
        return;
    if (trace->hinted_ns == 0)
        open_hint(trace);
    trace->hinted_ns = now;
    if (trace->hint_file < 0)
        return;
    if (pwrite(trace->hint_file, &until, sizeof until,
               offsetof(struct probity_spool_header, followed_ns)) != (ssize_t)sizeof until) {
        close(trace->hint_file);
        trace->hint_file = -1;
        return;
    }
    probity_os_wake_shared(&probity_attach_header(&trace->rest.attach)->wake, 1);
}

/* Drops the late blocks before the scan cursor, which have been returned; the cursor will find the
 * others again. */
static void keep_extras_ahead(struct probity_trace *trace)
{
    struct probity_waiting_list *extras = &trace->extras;
    size_t kept = 0;

    for (size_t i = 0; i < extras->count; i++) {
        int is_in_file = extras->items[i].bytes != 0;
        if (is_in_file && extras->items[i].offset < trace->scan.offset)
            continue;
        extras->items[kept++] = extras->items[i];
    }
    probity_assert(kept <= extras->count);
    extras->count = kept;
}

int probity_trace_conclude(struct probity_trace *trace)
{
    static const struct probity_reader_options options = {.follow = 1};
    struct probity_trace_facts facts = {.path = trace->facts.path, .info = trace->facts.info};

    probity_assert(trace->has_rest);
    if (trace->hint_file >= 0)
        close(trace->hint_file);
    trace->hint_file = -1;
    trace->hinted_ns = 0;
    probity_spool_tail_release(&trace->rest);
    trace->has_rest = trace->is_followed = 0;
    trace->horizon = UINT64_MAX;
    trace->facts = facts;
    trace->extras.count = trace->extras.next = 0;
    trace->late.count = trace->late.next = 0;
    trace->sites.count = 0; /* the prescan finds them again */
    int error = probity_trace_look(trace, &options);
    if (error != 0)
        return error;
    keep_extras_ahead(trace);
    trace->scan.ended = 0;
    trace->scan.size = trace->facts.file_bytes;
    if (trace->facts.state != PROBITY_TRACE_LIVE) {
        trace->is_followed = 0;
        return 0;
    }
    /* Another process is recovering the spool, and holds its lock. */
    if (trace->scan.size > trace->rest.header.committed)
        trace->scan.size = trace->rest.header.committed;
    return PROBITY_READER_WAITS;
}

int probity_trace_follow_on(struct probity_trace *trace)
{
    const struct probity_attach *attach = &trace->rest.attach;
    const struct probity_spool_header *header = probity_attach_header(attach);
    /* Check first whether the program is alive: if not, everything that it wrote is visible
     * afterwards. */
    int is_alive = probity_attach_is_alive(attach);
    uint64_t watermark = __atomic_load_n(&header->watermark, __ATOMIC_ACQUIRE);
    uint64_t committed = __atomic_load_n(&header->committed, __ATOMIC_ACQUIRE);
    int64_t size = probity_range_size(&trace->range);

    probity_assert(trace->is_followed);
    if (size < 0)
        return (int)size;
    committed = committed < (uint64_t)size ? committed : (uint64_t)size;
    if (committed > trace->scan.size) {
        trace->scan.size = trace->facts.file_bytes = committed;
        trace->scan.ended = 0;
        return 0;
    }
    if (!is_alive)
        return probity_trace_conclude(trace);
    /* There may be records after the watermark of the last SYNC, which may be the final one. */
    if (watermark > trace->safe_tick && !trace->is_settled)
        trace->safe_tick = watermark;
    hint(trace);
    return PROBITY_READER_WAITS;
}
