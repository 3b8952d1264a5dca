/* SPDX-License-Identifier: MIT
 *
 * watch.h: conditions that the writer thread compares with the records of a ring (doc/triggers.md):
 * requests, gaps, rates and values. It also counts durations of blocks, waits and requests, for
 * limits that are percentiles. Each record is read once, before its chunk is discarded.
 */
#ifndef PROBITY_WRITER_WATCH_H
#define PROBITY_WRITER_WATCH_H

#include "base/conditions.h"
#include "base/limits.h"
#include "spool/notices.h"
#include "writer/durations.h"
#include "writer/pass.h"

/* Number of periods that a rate counts at a time: 102 s with the shortest period allowed. */
enum { PROBITY_WATCH_PERIODS = 1024, PROBITY_WATCH_NUMBERED = 256, PROBITY_WATCH_STRETCHES = 1024 };

/* Hits of a probe without a gap between them. */
struct probity_watch_stretch {
    uint64_t begin, end;
    uint32_t thread, tid, code; /* of the first hit */
};

/* State of a gap or rate condition. */
struct probity_watch_state {
    uint64_t limit;  /* ticks: of a gap, or the period of a rate */
    uint64_t last;   /* tick of the latest hit; 0: none yet */
    uint64_t period; /* number of the first period that is not evaluated yet */
    uint64_t first_period; /* that of the first hit */
    uint64_t lost_begin, lost_end; /* periods in which hits may not have been counted */
    uint32_t thread, tid, code; /* of the latest hit */
    int is_met;      /* not reported again until it has ended */
    int was_reported;    /* of a value: reported in this pass */
    uint32_t stretches, stretch; /* of a gap: how many; the latest of the chunk, if any */
    uint64_t hits[PROBITY_WATCH_PERIODS]; /* of a rate, by period */
};

struct probity_watch {
    struct probity_notices *notices;
    const struct probity_condition *conditions;
    uint64_t gaps, rates, values, requests; /* sets of conditions */
    uint64_t blocks, waits;          /* those of which durations are counted for a percentile */
    uint64_t unnamed;                /* requests and waits of any name */
    struct probity_durations *durations; /* by condition: of those with a percentile */
    const uint64_t *sites_to;        /* conditions on blocks that a site ends, by its number */
    uint64_t begin;                  /* tick at which periods begin */
    uint64_t horizon;                /* older records have all been read */
    uint64_t pass_horizon;           /* the same, as far as this pass has seen */
    uint64_t now;                    /* tick at which the latest pass began */
    uint64_t patience;               /* ticks after which a probe in progress is skipped */
    uint64_t margin;                 /* ticks: twice the time from the horizon to now */
    /* Sets of conditions, by probe number (modulo) and by site number. */
    uint64_t numbered[PROBITY_WATCH_NUMBERED], sites[PROBITY_LIMIT_SITES];
    struct probity_watch_state state[PROBITY_CONDITIONS_MAX];
    struct probity_watch_stretch stretches[PROBITY_CONDITIONS_MAX][PROBITY_WATCH_STRETCHES];
    struct probity_watch_requests *open; /* NULL: no condition concerns requests */
};

/* Takes all conditions of a recording, and keeps those that are compared here or have a percentile,
 * for which the caller sets durations and sites_to. Returns NULL if out of memory. */
struct probity_watch *probity_watch_open(const struct probity_condition *conditions, uint32_t count,
                                         uint64_t rate, uint64_t begin,
                                         struct probity_notices *notices);
void probity_watch_close(struct probity_watch *watch);

/* Allocates the memory that a condition of this kind needs. Returns 0, or PROBITY_ERROR_MEMORY with
 * nothing changed. In the writer thread, as are the next two. */
int probity_watch_make_room(struct probity_watch *watch, enum probity_condition_kind kind);

/* To be called when the condition with this number, for which there is room, was added, or when its
 * limit has changed. */
void probity_watch_add(struct probity_watch *watch, uint32_t number, uint64_t rate);
void probity_watch_limit(struct probity_watch *watch, uint32_t number, uint64_t limit);

/* To be called when a site is declared that these conditions name. Any thread. */
void probity_watch_site(struct probity_watch *watch, uint32_t number, uint64_t conditions);

/* Whether any of these conditions do. Inline, for programs that have none. */
static inline int probity_watch_names(const struct probity_watch *watch, uint32_t number)
{
    return number < PROBITY_LIMIT_SITES &&
           __atomic_load_n(&watch->sites[number], __ATOMIC_RELAXED) != 0;
}

/* Reads what is new in all chunks, and posts notices. is_last: no thread still records, so even
 * the newest records are evaluated. */
void probity_watch_pass(struct probity_watch *watch, struct probity_pass *pass, int is_last);

/* The same for one chunk, up to `end` words. Returns how many have been read. */
uint32_t probity_watch_chunk(struct probity_watch *watch, struct probity_pass *pass, uint32_t chunk,
                             uint32_t end);

/* The tick at which the next gap or period ends; UINT64_MAX: none. */
uint64_t probity_watch_due(const struct probity_watch *watch);

#endif
