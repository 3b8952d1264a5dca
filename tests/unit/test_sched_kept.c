/* SPDX-License-Identifier: MIT
 *
 * test_sched_kept.c: what is kept of discarded events: each thread's latest state, in order of
 * time, before the events that still exist.
 */
#include "test_reader_make.h"

#include <sys/mman.h>

#include "sched/kept.h"
#include "sched/order.h"

static struct probity_sched_spilled event_at(uint64_t time_ns, uint32_t kind, uint32_t tid,
                                             uint32_t other)
{
    return (struct probity_sched_spilled){time_ns << 4 | kind, tid, other};
}

static void discard_some(struct probity_sched_kept *kept)
{
    const struct probity_sched_spilled later[] = {
        event_at(500, PROBITY_SCHED_IN, 42, 0), event_at(600, PROBITY_SCHED_EXIT, 43, 0),
        event_at(700, PROBITY_SCHED_OUT, 42, 0), event_at(800, PROBITY_SCHED_WOKEN, 42, 9),
        event_at(850, PROBITY_SCHED_BORN, 46, 42)};
    const struct probity_sched_spilled earlier[] = {
        event_at(300, PROBITY_SCHED_IN, 42, 0), event_at(350, PROBITY_SCHED_IN, 43, 0),
        event_at(400, PROBITY_SCHED_PREEMPTED, 44, 0),
        event_at(420, PROBITY_SCHED_IN, 45, 0), event_at(430, PROBITY_SCHED_EXIT, 45, 0)};

    assert_int_equal(probity_sched_kept_discard(kept, 3, later, 5), 0);
    assert_int_equal(probity_sched_kept_discard(kept, 1, earlier, 5), 0);
}

static void the_latest_state_is_kept(void **unused)
{
    struct probity_sched_kept kept = {.until_ns = 0}, copy;
    uint32_t count = 0;

    (void)unused;
    discard_some(&kept);
    assert_int_equal(kept.until_ns, 850);
    assert_int_equal(kept.threads.items, 5);
    probity_sched_kept_forget(&kept, 600);
    assert_int_equal(kept.threads.items, 4); /* 43 ended at 600 */
    probity_sched_kept_forget(&kept, 601);
    assert_int_equal(kept.threads.items, 3);
    assert_int_equal(probity_sched_kept_copy(&kept, &copy), 0);
    probity_sched_kept_release(&kept);
    struct probity_sched_spilled *events = probity_sched_kept_events(&copy, &count);
    assert_int_equal(count, 3);
    assert_int_equal(events[0].tid, 44);
    assert_int_equal(events[0].time_kind, 400 << 4 | PROBITY_SCHED_PREEMPTED);
    assert_int_equal(events[0].other, 1);
    assert_int_equal(events[1].tid, 42);
    assert_int_equal(events[1].time_kind, 700 << 4 | PROBITY_SCHED_OUT);
    assert_int_equal(events[1].other, 3);
    assert_int_equal(events[2].tid, 46);
    free(events);
    probity_sched_kept_release(&copy);
}

static void a_loss_ends_what_is_known(void **unused)
{
    struct probity_sched_kept kept = {.until_ns = 0};
    const struct probity_sched_spilled loss = event_at(450, PROBITY_SCHED_LOST, 3, 0);
    const struct probity_sched_spilled older = event_at(440, PROBITY_SCHED_IN, 47, 0);
    uint32_t count = 0;

    (void)unused;
    discard_some(&kept);
    assert_int_equal(probity_sched_kept_discard(&kept, 0, &loss, 1), 0);
    assert_int_equal(probity_sched_kept_discard(&kept, 2, &older, 1), 0);
    struct probity_sched_spilled *events = probity_sched_kept_events(&kept, &count);
    assert_int_equal(count, 2);
    assert_int_equal(events[0].tid, 42);
    assert_int_equal(events[1].tid, 46);
    assert_int_equal(kept.lost, 3);
    free(events);
    probity_sched_kept_release(&kept);
}

/* Two rings; chunks are at other positions in the file than in the list. */
static void kept_events_come_first(void **unused)
{
    struct probity_sched_chunk chunks[] = {{0, 2, 6, 1, 1000, 1100}, {1, 1, 7, 0, 1050, 1050}};
    struct probity_clock_moment anchor = {.ticks = 1, .raw_ns = 100};
    struct probity_sched_taken taken = {
        .spill = memfd_create("spill", MFD_CLOEXEC), .chunks = chunks, .chunk_count = 2,
        .anchors = &anchor, .anchor_count = 1, .end_ns = 1090};
    const struct probity_sched_spilled first[] = {event_at(1000, PROBITY_SCHED_LOST, 5, 0),
                                                  event_at(1100, PROBITY_SCHED_IN, 44, 0)};
    const struct probity_sched_spilled second = event_at(1050, PROBITY_SCHED_IN, 42, 0);
    const struct { uint64_t time_ns; uint32_t tid, kind, cpu; } expected[] = {
        {400, 44, PROBITY_SCHED_PREEMPTED, 1}, {700, 42, PROBITY_SCHED_OUT, 3},
        {850, 46, PROBITY_SCHED_BORN, 3}, {1050, 42, PROBITY_SCHED_IN, 7}};
    struct probity_sched_order order;
    struct probity_sched_event event;

    (void)unused;
    discard_some(&taken.kept);
    assert_int_equal(pwrite(taken.spill, first, sizeof first, PROBITY_SCHED_CHUNK_BYTES),
                     sizeof first);
    assert_int_equal(pwrite(taken.spill, &second, sizeof second, 0), sizeof second);
    assert_int_equal(probity_sched_order_open(&order, &taken), 0);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_int_equal(probity_sched_order_next(&order, &event), 1);
        assert_int_equal(event.time_ns, expected[i].time_ns);
        assert_int_equal(event.tid, expected[i].tid);
        assert_int_equal(event.kind, expected[i].kind);
        assert_int_equal(event.cpu, expected[i].cpu);
    }
    assert_int_equal(probity_sched_order_next(&order, &event), 0); /* the end is before it */
    assert_int_equal(order.loss_count, 1);
    assert_int_equal(order.losses[0].from_ns, 850); /* nothing earlier is known to be complete */
    assert_int_equal(order.losses[0].until_ns, 1000);
    probity_sched_order_close(&order);
    probity_sched_kept_release(&taken.kept);
    close(taken.spill);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_latest_state_is_kept),
        cmocka_unit_test(a_loss_ends_what_is_known),
        cmocka_unit_test(kept_events_come_first),
    };

    return cmocka_run_group_tests_name("sched_kept", tests, NULL, NULL);
}
