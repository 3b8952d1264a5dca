/* SPDX-License-Identifier: MIT
 *
 * watch_state.h: the state of the conditions that watch.h compares: watch_gaps.c and watch_rates.c
 * each use a part of it. In the writer thread, unless watch.h states otherwise.
 */
#ifndef PROBITY_WRITER_WATCH_STATE_H
#define PROBITY_WRITER_WATCH_STATE_H

#include "base/conditions.h"
#include "base/limits.h"
#include "spool/notices.h"
#include "writer/durations.h"

/* Number of periods that a rate counts at a time: 102 s with the shortest period allowed. */
enum { PROBITY_WATCH_PERIODS = 1024, PROBITY_WATCH_NUMBERED = 256, PROBITY_WATCH_STRETCHES = 1024 };

/* Hits of a probe without a gap between them. */
struct probity_watch_stretch {
    uint64_t begin, end;
    uint32_t thread, tid, code; /* those of the first hit */
};

/* State of a gap or rate condition. */
struct probity_watch_state {
    uint64_t limit;  /* ticks: the gap, or the period of a rate */
    uint64_t last;   /* tick of the latest hit; 0: none yet */
    uint64_t period; /* number of the first period that is not evaluated yet */
    uint64_t first_period; /* that of the first hit */
    uint64_t lost_begin, lost_end; /* periods in which hits may not have been counted */
    uint32_t thread, tid, code; /* those of the latest hit */
    int is_met;      /* not reported again until it has ended */
    int was_reported;    /* only a value: reported in this pass */
    uint32_t stretches, stretch; /* only a gap: how many; the chunk's latest, if any */
    uint64_t hits[PROBITY_WATCH_PERIODS]; /* only a rate: hits by period */
};

struct probity_watch {
    struct probity_notices *notices;
    const struct probity_condition *conditions;
    uint64_t gaps, rates, values, requests; /* sets of conditions */
    uint64_t blocks, waits;          /* those whose durations are counted for a percentile */
    uint64_t unnamed;                /* requests and waits of any name */
    struct probity_durations *durations; /* by condition: for those with a percentile */
    const uint64_t *sites_to;        /* by number of a site: conditions on spans that it ends */
    uint64_t begin;                  /* tick at which periods begin */
    uint64_t horizon;                /* all older records have been read */
    uint64_t pass_horizon;           /* the same, as far as this pass has read */
    uint64_t now;                    /* tick at which the latest pass began */
    uint64_t patience;               /* ticks after which a probe in progress is skipped */
    uint64_t margin;                 /* ticks: twice the time from the horizon to now */
    /* Sets of conditions, by probe number (modulo) and by site number. */
    uint64_t numbered[PROBITY_WATCH_NUMBERED], sites[PROBITY_LIMIT_SITES];
    struct probity_watch_state state[PROBITY_CONDITIONS_MAX];
    struct probity_watch_stretch stretches[PROBITY_CONDITIONS_MAX][PROBITY_WATCH_STRETCHES];
    struct probity_watch_requests *open; /* NULL: no condition concerns requests */
};

#endif
