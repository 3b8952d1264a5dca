/* SPDX-License-Identifier: MIT
 *
 * moving_internal.c: because the CPU clock was read, a hit is relocated to other words than those
 * reserved for it, while the thread state also marks an older hit as being relocated. That mark
 * either was left long ago by a jump out of a signal handler and must be cleared, or belongs to a
 * hit in progress and must stay. Prints for both cases whether the mark is set afterwards. Exit
 * status 77: not supported here.
 */
#include "programs/hits.h"
#include "runtime/session.h"
#include "runtime/thread.h"

#if PROBITY_HAS_FAST_PATH
/* Returns whether the mark is set after a hit that is itself relocated. */
static unsigned move_behind(struct probity_thread_state *slot, uint64_t since)
{
    uint64_t begin = probity_ticks();

    /* As in move_hit(), so that the writer sees it. */
    __atomic_store_n(&slot->relocating_tick, since, __ATOMIC_RELEASE);
    __atomic_store_n(&slot->relocations, slot->relocations | 1, __ATOMIC_RELEASE);
    while (probity_ticks() - begin < slot->hot.gap_ticks)
        ;
    slot->credit = UINT32_MAX; /* makes the probe read the clock */
    uint64_t tick = slot->reading.tick;
    PROBITY_PROBE(1);
    hits_need(slot->reading.tick != tick, "a reading");
    return slot->relocations & 1;
}

int main(void)
{
    struct probity_options options = {.out = "moving"};

    hits_need(probity_start(&options) == 0, "start");
    PROBITY_PROBE(1);
    const struct probity_session *session = probity_session_get();
    if (!probity_clock_is_counter(session->live.clock))
        return 77;
    struct probity_thread_state *slot = probity_thread_slot();
    unsigned left = move_behind(slot, probity_ticks() - 2 * session->move_ticks_max);
    unsigned at_work = move_behind(slot, probity_ticks());
    hits_need(probity_stop() == 0, "stop");
    printf("%u %u\n", left, at_work);
    return 0;
}
#else
int main(void)
{
    return 77;
}
#endif
