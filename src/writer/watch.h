/* SPDX-License-Identifier: MIT
 *
 * watch.h: conditions that the writer thread compares with the records of a ring (doc/triggers.md):
 * requests, gaps, rates and values. Also counts durations of spans, waits and requests, for limits
 * that are percentiles. Each record is read once, before its chunk is discarded.
 */
#ifndef PROBITY_WRITER_WATCH_H
#define PROBITY_WRITER_WATCH_H

#include "writer/pass.h"
#include "writer/watch_state.h"

/* Takes all conditions of a recording, and keeps those that are compared here or have a percentile;
 * for the latter, the caller sets durations and sites_to. Returns NULL if out of memory. */
struct probity_watch *probity_watch_open(const struct probity_condition *conditions, uint32_t count,
                                         uint64_t rate, uint64_t begin,
                                         struct probity_notices *notices);
void probity_watch_close(struct probity_watch *watch);

/* Allocates the memory that a condition of this kind needs. Returns 0, or PROBITY_ERROR_MEMORY with
 * nothing changed. In the writer thread, as are the next two. */
int probity_watch_make_room(struct probity_watch *watch, enum probity_condition_kind kind);

/* Call when the condition with this number, for which there is room, was added, or when its limit
 * has changed. */
void probity_watch_add(struct probity_watch *watch, uint32_t number, uint64_t rate);
void probity_watch_limit(struct probity_watch *watch, uint32_t number, uint64_t limit);

/* Call when a site is declared that these conditions name. Any thread. */
void probity_watch_site(struct probity_watch *watch, uint32_t number, uint64_t conditions);

/* Returns whether any of these conditions name the site. Inline, for programs that have no
 * conditions. */
static inline int probity_watch_names(const struct probity_watch *watch, uint32_t number)
{
    return number < PROBITY_LIMIT_SITES &&
           __atomic_load_n(&watch->sites[number], __ATOMIC_RELAXED) != 0;
}

/* Reads the new words of all chunks, and posts notices. is_last: no thread still records, so even
 * the newest records are evaluated. */
void probity_watch_pass(struct probity_watch *watch, struct probity_pass *pass, int is_last);

/* Does the same for one chunk, up to `end` words. Returns how many have been read. */
uint32_t probity_watch_chunk(struct probity_watch *watch, struct probity_pass *pass, uint32_t chunk,
                             uint32_t end);

/* Returns the tick at which the next gap or period ends; UINT64_MAX: none. */
uint64_t probity_watch_due(const struct probity_watch *watch);

#endif
