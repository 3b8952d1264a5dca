/* SPDX-License-Identifier: MIT
 *
 * watch_rates.c: the hits of a condition in a ring of periods. A hit beyond the ring's end, which
 * occurs if this thread was delayed for that long, is not counted, and periods with missing hits
 * are not evaluated.
 */
#include "writer/watch_rates.h"

#include "base/assert.h"

static uint64_t period_of(const struct probity_watch *watch,
                          const struct probity_watch_state *state, uint64_t tick)
{
    return (int64_t)(tick - watch->begin) > 0 ? (tick - watch->begin) / state->limit : 0;
}

static uint64_t *hits_of(struct probity_watch_state *state, uint64_t period)
{
    return &state->hits[period % PROBITY_WATCH_PERIODS];
}

int probity_watch_is_beyond(const struct probity_condition *condition, int64_t number)
{
    return condition->is_below ? number < condition->number : number > condition->number;
}

void probity_watch_rates_begin(struct probity_watch *watch, uint32_t condition)
{
    struct probity_watch_state *state = &watch->state[condition];

    if (state->limit != 0)
        state->period = period_of(watch, state, watch->horizon);
}

void probity_watch_rates_hit(struct probity_watch *watch, uint32_t condition, uint64_t tick)
{
    struct probity_watch_state *state = &watch->state[condition];
    uint64_t period = period_of(watch, state, tick);

    if (state->last == 0)
        state->first_period = period;
    if (period < state->period)
        return; /* already evaluated: its probe was in progress for too long */
    if (period - state->period < PROBITY_WATCH_PERIODS) {
        ++*hits_of(state, period);
        return;
    }
    if (state->lost_end <= state->period)
        state->lost_begin = state->period + PROBITY_WATCH_PERIODS;
    state->lost_end = period + 1 > state->lost_end ? period + 1 : state->lost_end;
}

/* is_over: there will be no more hits. */
static void judge(struct probity_watch *watch, uint32_t condition, int is_over,
                  void (*report)(struct probity_watch *, uint32_t,
                                 const struct probity_watch_period *))
{
    struct probity_watch_state *state = &watch->state[condition];
    const struct probity_condition *of = &watch->conditions[condition];
    uint64_t number = state->period;
    struct probity_watch_period period = {.begin = watch->begin + number * state->limit,
                                          .hits = *hits_of(state, number)};

    if (state->last == 0 || (number >= state->lost_begin && number < state->lost_end))
        return;
    int is_met = probity_watch_is_beyond(of, (int64_t)period.hits) &&
                 (!of->is_below || (is_over && number > state->first_period));
    period.end = is_over ? period.begin + state->limit : watch->horizon;
    period.end = period.end > period.begin ? period.end : period.begin;
    if (is_met && !state->is_met)
        report(watch, condition, &period);
    state->is_met = is_met || (state->is_met && !is_over);
}

void probity_watch_rates_judge(struct probity_watch *watch, uint32_t condition,
                               void (*report)(struct probity_watch *, uint32_t,
                                              const struct probity_watch_period *))
{
    struct probity_watch_state *state = &watch->state[condition];
    uint64_t now = period_of(watch, state, watch->horizon);

    probity_assert(state->limit > 0);
    for (uint32_t i = 0; state->period < now && i < PROBITY_WATCH_PERIODS; i++) {
        judge(watch, condition, 1, report);
        *hits_of(state, state->period++) = 0;
    }
    state->period = now > state->period ? now : state->period;
    judge(watch, condition, 0, report);
}
