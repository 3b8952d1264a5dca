/* SPDX-License-Identifier: MIT
 *
 * moving_internal.c: a hit that goes to other words than those reserved for it, since the CPU clock
 * was read, while the slot says that an older one does so: one that a jump out of a signal handler
 * has left long ago, which must not stay for ever, and one at work, which must. Prints for each
 * whether a move is told afterwards. Exits with 77 where it cannot.
 */
#include "programs/hits.h"
#include "runtime/session.h"
#include "runtime/thread.h"

#if PROBITY_HAS_FAST_PATH
/* Returns whether a move is told after a hit that is moved itself. */
static unsigned move_behind(struct probity_slot *slot, uint64_t since)
{
    uint64_t begin = probity_ticks();

    /* As move_hit() does, since the writer looks. */
    __atomic_store_n(&slot->moving_tick, since, __ATOMIC_RELEASE);
    __atomic_store_n(&slot->moves, slot->moves | 1, __ATOMIC_RELEASE);
    while (probity_ticks() - begin < slot->hot.gap_ticks)
        ;
    slot->credit = UINT32_MAX; /* so that the clock is read */
    uint64_t tick = slot->reading.tick;
    PROBITY_PROBE(1);
    hits_need(slot->reading.tick != tick, "a reading");
    return slot->moves & 1;
}

int main(void)
{
    struct probity_options options = {.out = "moving"};

    hits_need(probity_start(&options) == 0, "start");
    PROBITY_PROBE(1);
    const struct probity_session *session = probity_session_get();
    if (!probity_clock_is_counter(session->live.clock))
        return 77;
    struct probity_slot *slot = probity_thread_slot();
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
