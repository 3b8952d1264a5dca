/* SPDX-License-Identifier: MIT
 *
 * watch_gaps.c: joins hits of one chunk that are not further apart than the limit, so that the
 * number of stretches stays small.
 */
#include "writer/watch_gaps.h"

#include <string.h>

#include "base/assert.h"

void probity_watch_gaps_begin(struct probity_watch *watch)
{
    for (uint64_t set = watch->gaps; set != 0; set &= set - 1)
        watch->state[__builtin_ctzll(set)].stretch = PROBITY_WATCH_STRETCHES;
}

/* Sorts stretches by their beginning; most are in order already. */
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

/* Joins stretches that have no gap between them, so that no gap is lost. Returns how many are
 * left. */
static uint32_t join(struct probity_watch_stretch *stretches, uint32_t count, uint64_t limit)
{
    uint32_t last = 0;

    probity_assert(count > 0);
    sort(stretches, count);
    for (uint32_t i = 1; i < count; i++) {
        if ((int64_t)(stretches[i].begin - stretches[last].end) > (int64_t)limit) {
            stretches[++last] = stretches[i];
        } else if ((int64_t)(stretches[i].end - stretches[last].end) > 0) {
            uint64_t begin = stretches[last].begin;
            stretches[last] = stretches[i];
            stretches[last].begin = begin;
        }
    }
    return last + 1;
}

static void follow(struct probity_watch *watch, uint32_t condition,
                   const struct probity_watch_stretch *stretch,
                   void (*report)(struct probity_watch *, uint32_t, uint64_t))
{
    struct probity_watch_state *state = &watch->state[condition];
    int64_t apart = (int64_t)(stretch->begin - state->last);

    if (state->last != 0 && !state->is_met && apart > (int64_t)state->limit)
        report(watch, condition, stretch->begin);
    if (state->last != 0 && (int64_t)(stretch->end - state->last) <= 0)
        return;
    state->is_met = 0;
    state->last = stretch->end;
    state->thread = stretch->thread;
    state->tid = stretch->tid;
    state->code = stretch->code;
}

void probity_watch_gaps_follow(struct probity_watch *watch, uint32_t condition,
                               void (*report)(struct probity_watch *watch, uint32_t condition,
                                              uint64_t end))
{
    struct probity_watch_state *state = &watch->state[condition];
    struct probity_watch_stretch *stretches = watch->stretches[condition];
    uint32_t done = 0;

    sort(stretches, state->stretches);
    for (; done < state->stretches && (int64_t)(stretches[done].begin - watch->horizon) < 0; done++)
        follow(watch, condition, &stretches[done], report);
    state->stretches -= done;
    memmove(stretches, stretches + done, state->stretches * sizeof *stretches);
}

/* Adds the hit to the stretches. Without room, extends the last stretch to the hit: a gap may be
 * missed, but no false one is reported. */
static void cover(struct probity_watch_stretch *stretch, const struct probity_watch_stretch *hit)
{
    if ((int64_t)(hit->begin - stretch->begin) < 0)
        stretch->begin = hit->begin;
    if ((int64_t)(hit->end - stretch->end) > 0)
        stretch->end = hit->end;
}

void probity_watch_gaps_hit(struct probity_watch *watch, uint32_t condition,
                            const struct probity_watch_stretch *hit)
{
    struct probity_watch_state *state = &watch->state[condition];
    struct probity_watch_stretch *stretches = watch->stretches[condition];

    if (state->stretch < PROBITY_WATCH_STRETCHES &&
        (int64_t)(hit->begin - stretches[state->stretch].end) <= (int64_t)state->limit) {
        if ((int64_t)(hit->end - stretches[state->stretch].end) > 0)
            stretches[state->stretch].end = hit->end;
        return;
    }
    if (state->stretches == PROBITY_WATCH_STRETCHES)
        state->stretches = join(stretches, state->stretches, state->limit);
    if (state->stretches == PROBITY_WATCH_STRETCHES) {
        state->stretch = PROBITY_WATCH_STRETCHES - 1;
        cover(&stretches[state->stretch], hit);
        return;
    }
    state->stretch = state->stretches++;
    stretches[state->stretch] = *hit;
}
