/* SPDX-License-Identifier: MIT
 *
 * watch_gaps.c: joins the hits of one chunk that are not further apart than the limit, so that
 * there are few stretches however many hits there are.
 */
#include "writer/watch_gaps.h"

#include <string.h>

#include "base/assert.h"

void probity_watch_gaps_begin(struct probity_watch *watch)
{
    for (uint64_t set = watch->gaps; set != 0; set &= set - 1)
        watch->state[__builtin_ctzll(set)].stretch = PROBITY_WATCH_STRETCHES;
}

/* In the order of their beginnings; most are. */
static void sort(struct probity_watch_stretch *stretches, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        struct probity_watch_stretch stretch = stretches[i];
        uint32_t at = i;
        for (; at > 0 && (int64_t)(stretch.begin - stretches[at - 1].begin) < 0; at--)
            stretches[at] = stretches[at - 1];
        stretches[at] = stretch;
    }
}

static void follow(struct probity_watch *watch, const struct probity_watch_stretch *stretch,
                   void (*told)(struct probity_watch *, uint32_t, uint64_t))
{
    struct probity_watch_state *state = &watch->state[stretch->condition];
    int64_t apart = (int64_t)(stretch->begin - state->last);

    if (state->last != 0 && !state->is_met && apart > (int64_t)state->limit)
        told(watch, stretch->condition, stretch->begin);
    if (state->last != 0 && (int64_t)(stretch->end - state->last) <= 0)
        return;
    state->is_met = 0;
    state->last = stretch->end;
    state->thread = stretch->thread;
    state->tid = stretch->tid;
    state->code = stretch->code;
}

void probity_watch_gaps_follow(struct probity_watch *watch,
                               void (*told)(struct probity_watch *watch, uint32_t condition,
                                            uint64_t end))
{
    struct probity_watch_stretch *stretches = watch->stretches;
    uint32_t done = 0;

    sort(stretches, watch->stretch_count);
    for (; done < watch->stretch_count && (int64_t)(stretches[done].begin - watch->horizon) < 0;
         done++)
        follow(watch, &stretches[done], told);
    watch->stretch_count -= done;
    memmove(stretches, stretches + done, watch->stretch_count * sizeof *stretches);
}

void probity_watch_gaps_hit(struct probity_watch *watch, uint32_t condition,
                            const struct probity_watch_stretch *hit)
{
    struct probity_watch_state *state = &watch->state[condition];
    struct probity_watch_stretch *stretch = &watch->stretches[state->stretch];

    if (state->stretch < PROBITY_WATCH_STRETCHES &&
        (int64_t)(hit->begin - stretch->end) <= (int64_t)state->limit) {
        if ((int64_t)(hit->end - stretch->end) > 0)
            stretch->end = hit->end;
        return;
    }
    /* Without room for more, the last one covers what comes. */
    if (watch->stretch_count == PROBITY_WATCH_STRETCHES) {
        state->stretch = PROBITY_WATCH_STRETCHES - 1;
        watch->stretches[state->stretch].end = hit->end;
        return;
    }
    state->stretch = watch->stretch_count++;
    watch->stretches[state->stretch] = *hit;
    watch->stretches[state->stretch].condition = condition;
}
