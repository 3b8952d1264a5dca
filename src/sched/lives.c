/* SPDX-License-Identifier: MIT
 *
 * lives.c: matches events and thread ids to lives.
 */
#include "sched/lives.h"

#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "base/assert.h"
#include "probity.h"

static int begin_life(struct probity_sched_lives *lives, const struct probity_sched_event *event,
                      uint64_t born_ns)
{
    void *items =
        probity_array_room(lives->items, sizeof *lives->items, lives->count, &lives->capacity);

    if (items == NULL)
        return PROBITY_ERROR_MEMORY;
    lives->items = items;
    if (event->tid >= lives->latest_count) {
        uint32_t *latest = probity_array_grow(lives->latest, sizeof *lives->latest, event->tid,
                                              &lives->latest_count);
        if (latest == NULL)
            return PROBITY_ERROR_MEMORY;
        lives->latest = latest;
    }
    uint32_t *latest = &lives->latest[event->tid];
    if (lives->next == lives->count)
        lives->items[lives->count++] = (struct probity_sched_life){
            born_ns, UINT64_MAX, event->tid, *latest, UINT32_MAX, 0, NULL};
    probity_assert(lives->items[lives->next].tid == event->tid);
    *latest = (uint32_t)++lives->next;
    return 0;
}

/* Returns the time of creation. A thread first seen after a loss was created during the loss. */
static uint64_t birth_of(const struct probity_sched_lives *lives,
                         const struct probity_sched_event *event, int is_lossy)
{
    uint32_t before = event->tid < lives->latest_count ? lives->latest[event->tid] : 0;

    if (!is_lossy || event->kind == PROBITY_SCHED_BORN)
        return event->time_ns;
    return before != 0 ? lives->items[before - 1].ended_ns : 0;
}

int probity_sched_lives_take(struct probity_sched_lives *lives,
                             const struct probity_sched_event *event, int is_lossy,
                             size_t *ret_index)
{
    uint32_t latest = event->tid < lives->latest_count ? lives->latest[event->tid] : 0;
    struct probity_sched_life *life = latest != 0 ? &lives->items[latest - 1] : NULL;
    int is_alive = life != NULL && event->time_ns <= life->ended_ns;
    int may_begin = event->kind != PROBITY_SCHED_WOKEN && event->kind != PROBITY_SCHED_EXIT;

    if (event->tid == 0 || (!is_alive && !may_begin))
        return 0;
    if (is_alive && event->kind == PROBITY_SCHED_BORN) {
        if (life->ended_ns == UINT64_MAX)
            life->ended_ns = event->time_ns; /* the event of its end was lost */
        is_alive = 0;
    }
    if (!is_alive) {
        int error = begin_life(lives, event, birth_of(lives, event, is_lossy));
        if (error != 0)
            return error;
    }
    *ret_index = lives->latest[event->tid] - 1;
    if (event->kind == PROBITY_SCHED_EXIT)
        lives->items[*ret_index].ended_ns = event->time_ns;
    return 1;
}

void probity_sched_lives_rewind(struct probity_sched_lives *lives)
{
    lives->next = 0;
    if (lives->latest_count > 0)
        memset(lives->latest, 0, lives->latest_count * sizeof *lives->latest);
}

size_t probity_sched_lives_find(const struct probity_sched_lives *lives, uint32_t tid,
                                uint64_t raw_ns, uint64_t slack_ns)
{
    uint32_t at = tid < lives->latest_count ? lives->latest[tid] : 0;

    for (; at != 0; at = lives->items[at - 1].before) {
        const struct probity_sched_life *life = &lives->items[at - 1];
        int is_before_end =
            life->ended_ns == UINT64_MAX || raw_ns <= life->ended_ns + slack_ns;
        if (life->born_ns <= raw_ns + slack_ns)
            return is_before_end ? at - (size_t)1 : SIZE_MAX;
    }
    return SIZE_MAX;
}

void probity_sched_lives_release(struct probity_sched_lives *lives)
{
    free(lives->items);
    free(lives->latest);
    *lives = (struct probity_sched_lives){.items = NULL};
}
