/* SPDX-License-Identifier: MIT
 *
 * test_sched.c: thread states from the scheduler: the states that kernel events become, the
 * file next to a trace, damage to it, and how intervals are split.
 */
#include "test_reader_make.h"

#include <sys/mman.h>

#include "analysis/thread_states.h"
#include "reader/sched.h"
#include "sched/follow.h"
#include "sched/lives.h"
#include "sched/traces.h"

/* ---- From events to states ---------------------------------------------------------------------
 */

struct state {
    uint64_t tick;
    uint32_t state, cpu, waker;
};

static struct probity_sched_context context;
static struct probity_sched_order losses_of;
static struct probity_sched_loss losses[2];
static struct probity_sched_follow follow;
static struct probity_sched_moments moments;
static const struct probity_clock_moment moment = {.ticks = 1000, .raw_ns = 1000};

static void begin(int has_wakings)
{
    memset(&context, 0, sizeof context);
    memset(&follow, 0, sizeof follow);
    losses_of = (struct probity_sched_order){.losses = losses};
    context.blocks.file = memfd_create("states", MFD_CLOEXEC);
    context.order = &losses_of;
    context.has_wakings = has_wakings;
    assert_true(context.blocks.file >= 0);
    assert_true(probity_sched_moments_use(&moments, &moment, 1, 3, 3));
    moments.is_counter = 1;
    follow.moments = &moments;
    follow.stream.thread = 5;
    follow.stream.tid = 42;
}

static void feed(uint32_t kind, uint64_t time_ns, uint32_t other)
{
    const struct probity_sched_event event = {time_ns, 42, other, kind, 7, 0};

    assert_int_equal(probity_sched_follow_take(&context, &follow, &event), 0);
}

static size_t states_of_block(const struct probity_sched_written *block, struct state *ret_states)
{
    uint8_t bytes[8192];
    struct probity_unpacker unpacker;
    struct probity_record record;
    struct probity_data data;
    struct probity_state_event event;
    size_t count = 0;
    const size_t fixed = PROBITY_BLOCK_HEADER_BYTES + PROBITY_DATA_FIXED_BYTES;

    assert_true(block->bytes <= sizeof bytes);
    assert_int_equal(pread(context.blocks.file, bytes, block->bytes, (off_t)block->offset),
                     block->bytes);
    assert_int_equal(probity_data_get(bytes + PROBITY_BLOCK_HEADER_BYTES,
                                      block->bytes - PROBITY_BLOCK_HEADER_BYTES, &data), 0);
    assert_int_equal(data.records, block->events);
    probity_unpacker_init(&unpacker, bytes + fixed, block->bytes - fixed, data.first_tick);
    while (probity_unpack(&unpacker, &record) > 0) {
        assert_int_equal(record.kind, PROBITY_EVENT_THREAD_STATE);
        assert_int_equal(probity_state_event_get(record.payload, record.payload_bytes, &event), 0);
        ret_states[count++] = (struct state){record.tick, event.state, event.cpu, event.waker};
    }
    assert_int_equal(record.tick, data.last_tick);
    return count;
}

static void expect_states(uint64_t end_ns, const struct state *expected, size_t count)
{
    struct state found[64];
    size_t found_count = 0;

    assert_int_equal(probity_sched_follow_end(&context, &follow, end_ns), 0);
    for (size_t i = 0; i < context.blocks.count; i++)
        found_count += states_of_block(&context.blocks.items[i], found + found_count);
    assert_int_equal(found_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(found[i].tick, expected[i].tick);
        assert_int_equal(found[i].state, expected[i].state);
        assert_int_equal(found[i].cpu, expected[i].cpu);
        assert_int_equal(found[i].waker, expected[i].waker);
    }
    probity_sched_blocks_release(&context.blocks);
}

#define EXPECT(END, ...)                                                                           \
    expect_states(END, (const struct state[]){__VA_ARGS__},                                        \
                  sizeof((const struct state[]){__VA_ARGS__}) / sizeof(struct state))

static void wakings_end_blocking(void **unused)
{
    (void)unused;
    begin(1);
    feed(PROBITY_SCHED_BORN, 2000, 41);
    feed(PROBITY_SCHED_IN, 2100, 0);
    feed(PROBITY_SCHED_PREEMPTED, 2200, 0);
    feed(PROBITY_SCHED_WOKEN, 2250, 40); /* it is runnable already */
    feed(PROBITY_SCHED_IN, 2300, 0);
    feed(PROBITY_SCHED_OUT, 2400, 0);
    feed(PROBITY_SCHED_WOKEN, 2500, 43);
    feed(PROBITY_SCHED_WOKEN, 2510, 44); /* reported twice */
    feed(PROBITY_SCHED_IN, 2600, 0);
    feed(PROBITY_SCHED_EXIT, 2700, 0);
    EXPECT(3000, {2000, PROBITY_STATE_RUNNABLE, 0, 41}, {2100, PROBITY_STATE_RUNNING, 7, 0},
           {2200, PROBITY_STATE_RUNNABLE, 0, 0}, {2300, PROBITY_STATE_RUNNING, 7, 0},
           {2400, PROBITY_STATE_BLOCKED, 0, 0}, {2500, PROBITY_STATE_RUNNABLE, 0, 43},
           {2600, PROBITY_STATE_RUNNING, 7, 0}, {2700, PROBITY_STATE_ENDED, 0, 0});
}

/* Woken on its way off the CPU, it was runnable throughout. */
static void a_waking_may_come_early(void **unused)
{
    (void)unused;
    begin(1);
    feed(PROBITY_SCHED_EXEC, 2000, 0);
    feed(PROBITY_SCHED_WOKEN, 2090, 43);
    feed(PROBITY_SCHED_OUT, 2100, 0);
    feed(PROBITY_SCHED_IN, 2200, 0);
    feed(PROBITY_SCHED_OUT, 2300, 0);
    feed(PROBITY_SCHED_WOKEN, 2350, 44);
    feed(PROBITY_SCHED_IN, 2400, 0);
    EXPECT(3000, {2000, PROBITY_STATE_RUNNING, 7, 0}, {2100, PROBITY_STATE_RUNNABLE, 0, 43},
           {2200, PROBITY_STATE_RUNNING, 7, 0}, {2300, PROBITY_STATE_BLOCKED, 0, 0},
           {2350, PROBITY_STATE_RUNNABLE, 0, 44}, {2400, PROBITY_STATE_RUNNING, 7, 0},
           {3000, PROBITY_STATE_UNKNOWN, 0, 0});
}

static void without_wakings_blocking_lasts(void **unused)
{
    (void)unused;
    begin(0);
    feed(PROBITY_SCHED_EXEC, 2000, 0);
    feed(PROBITY_SCHED_OUT, 2100, 0);
    feed(PROBITY_SCHED_IN, 2200, 0);
    feed(PROBITY_SCHED_OUT, 2300, 0);
    EXPECT(3000, {2000, PROBITY_STATE_RUNNING, 7, 0}, {2100, PROBITY_STATE_BLOCKED, 0, 0},
           {2200, PROBITY_STATE_RUNNING, 7, 0}, {2300, PROBITY_STATE_BLOCKED, 0, 0},
           {3000, PROBITY_STATE_UNKNOWN, 0, 0});
}

/* A thread's state is unknown from the beginning of a loss until its next state. */
static void losses_make_states_unknown(void **unused)
{
    (void)unused;
    begin(1);
    feed(PROBITY_SCHED_EXEC, 2000, 0);
    feed(PROBITY_SCHED_OUT, 2100, 0);
    losses[0] = (struct probity_sched_loss){2150, UINT64_MAX};
    losses_of.loss_count = 1;
    feed(PROBITY_SCHED_IN, 2200, 0); /* while it lasts */
    losses[0].until_ns = 2250;
    feed(PROBITY_SCHED_PREEMPTED, 2300, 0);
    feed(PROBITY_SCHED_IN, 2400, 0);
    losses[1] = (struct probity_sched_loss){2350, 2390}; /* over before the latest state */
    losses_of.loss_count = 2;
    feed(PROBITY_SCHED_EXIT, 2500, 0);
    EXPECT(3000, {2000, PROBITY_STATE_RUNNING, 7, 0}, {2100, PROBITY_STATE_BLOCKED, 0, 0},
           {2150, PROBITY_STATE_UNKNOWN, 0, 0}, {2200, PROBITY_STATE_RUNNING, 7, 0},
           {2200, PROBITY_STATE_UNKNOWN, 0, 0}, {2300, PROBITY_STATE_RUNNABLE, 0, 0},
           {2400, PROBITY_STATE_RUNNING, 7, 0}, {2500, PROBITY_STATE_ENDED, 0, 0});
}

/* The state at the beginning of a window is the last one before it. */
static void a_window_begins_with_a_state(void **unused)
{
    (void)unused;
    begin(1);
    context.from_ns = 2500;
    feed(PROBITY_SCHED_IN, 2100, 0);
    feed(PROBITY_SCHED_OUT, 2200, 0);
    feed(PROBITY_SCHED_WOKEN, 2600, 43);
    feed(PROBITY_SCHED_IN, 2700, 0);
    EXPECT(3000, {2500, PROBITY_STATE_BLOCKED, 0, 0}, {2600, PROBITY_STATE_RUNNABLE, 0, 43},
           {2700, PROBITY_STATE_RUNNING, 7, 0}, {3000, PROBITY_STATE_UNKNOWN, 0, 0});
    begin(1);
    context.from_ns = 2500;
    feed(PROBITY_SCHED_IN, 2100, 0);
    feed(PROBITY_SCHED_EXIT, 2200, 0);
    assert_int_equal(probity_sched_follow_end(&context, &follow, 3000), 0);
    assert_int_equal(context.blocks.count, 0);
    probity_sched_blocks_release(&context.blocks);
}

static void thread_ids_are_reused(void **unused)
{
    static const struct probity_sched_event events[] = {
        {1000, 9, 1, PROBITY_SCHED_BORN, 0, 0}, {1100, 9, 0, PROBITY_SCHED_IN, 0, 0},
        {1200, 9, 0, PROBITY_SCHED_EXIT, 0, 0}, {1300, 9, 3, PROBITY_SCHED_WOKEN, 0, 0},
        {5000000, 9, 1, PROBITY_SCHED_BORN, 0, 0}, {6000000, 9, 0, PROBITY_SCHED_OUT, 0, 0}};
    static const size_t expected[] = {0, 0, 0, SIZE_MAX, 1, 1};
    struct probity_sched_lives lives = {.items = NULL};

    (void)unused;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
            size_t index = SIZE_MAX;
            int got = probity_sched_lives_take(&lives, &events[i], 0, &index);
            assert_int_equal(got, expected[i] != SIZE_MAX);
            assert_int_equal(index, expected[i]);
        }
        assert_int_equal(lives.count, 2);
        assert_int_equal(probity_sched_lives_find(&lives, 9, 1150, 10), 0);
        assert_int_equal(probity_sched_lives_find(&lives, 9, 4999995, 10), 1);
        assert_int_equal(probity_sched_lives_find(&lives, 9, 3000000, 10), SIZE_MAX);
        assert_int_equal(probity_sched_lives_find(&lives, 10, 1150, 10), SIZE_MAX);
        probity_sched_lives_rewind(&lives);
    }
    probity_sched_lives_release(&lives);
}

/* ---- The file ----------------------------------------------------------------------------------
 */

static char path[64], sched_path[80];

/* Many states of two threads, in several blocks. */
static size_t write_file(uint8_t *bytes, size_t room)
{
    const struct probity_state_event event = {.state = PROBITY_STATE_RUNNING, .cpu = 1};
    struct probity_sched_trace trace = {.path = path, .session = {1, 2, 3}};
    struct probity_sched_info info = {.flags = PROBITY_SCHED_WAKINGS_STOPPED, .lost = 3,
                                      .wakings_until = 7, .paused_ns = 1 << 20, .pauses = 5};
    struct probity_sched_stream streams[2] = {{.thread = 1, .tid = 11}, {.thread = 2, .tid = 12}};

    snprintf(path, sizeof path, "/tmp/probity-test-sched.%ld", (long)getpid());
    snprintf(sched_path, sizeof sched_path, "%s.sched", path);
    begin(1);
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(probity_sched_blocks_put(&context.blocks, &streams[i % 2],
                                                  5000 + 100000 * i, &event), 0);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(probity_sched_blocks_end(&context.blocks, &streams[i]), 0);
    assert_int_equal(probity_sched_trace_write(&trace, 0, &context.blocks, &info), 0);
    probity_sched_blocks_release(&context.blocks);
    int file = open(sched_path, O_RDONLY | O_CLOEXEC);
    ssize_t got = read(file, bytes, room);
    assert_true(got > 0 && (size_t)got < room);
    close(file);
    unlink(sched_path);
    return (size_t)got;
}

static int open_bytes(const uint8_t *bytes, size_t count, struct probity_sched_file *ret_sched)
{
    static const uint8_t session[16] = {1, 2, 3};
    int file = memfd_create("sched", MFD_CLOEXEC);

    assert_int_equal(write(file, bytes, count), count);
    const struct probity_range range = probity_range_whole(file);
    return probity_sched_file_open(ret_sched, &range, session);
}

static void a_whole_file_is_read(void **unused)
{
    static uint8_t bytes[1 << 16];
    struct probity_sched_file sched;
    size_t count = write_file(bytes, sizeof bytes), at_first = 0;

    (void)unused;
    assert_int_equal(open_bytes(bytes, count, &sched), 1);
    assert_int_equal(sched.info.events, 1000);
    assert_int_equal(sched.info.lost, 3);
    assert_int_equal(sched.info.flags, PROBITY_SCHED_WAKINGS_STOPPED);
    assert_int_equal(sched.info.wakings_until, 7);
    assert_int_equal(sched.info.paused_ns, 1 << 20);
    assert_int_equal(sched.info.pauses, 5);
    assert_true(sched.count >= 4 && sched.count == sched.info.blocks);
    for (size_t i = 1; i < sched.count; i++)
        assert_true(sched.blocks[i - 1].first_tick <= sched.blocks[i].first_tick);
    uint64_t middle = sched.blocks[sched.count / 2].first_tick;
    probity_sched_file_start_at(&sched, middle);
    for (size_t i = 0; i < sched.count; i++)
        at_first += sched.blocks[i].first_tick <= middle;
    assert_int_equal(at_first, 2); /* the last block of each thread */
    probity_sched_file_release(&sched);
}

/* As in a file of version 1.0. */
static void the_head_may_be_shorter(void **unused)
{
    struct probity_sched_info before = {.events = 9, .wakings_until = 7, .pauses = 5}, info;
    uint8_t payload[PROBITY_SCHED_INFO_BYTES];

    (void)unused;
    probity_sched_info_put(payload, &before);
    assert_int_equal(probity_sched_info_get(payload, PROBITY_SCHED_INFO_BYTES_LEAST, &info), 0);
    assert_int_equal(info.events, 9);
    assert_int_equal(info.wakings_until, 0);
    assert_int_equal(info.pauses, 0);
    assert_int_equal(probity_sched_info_get(payload, PROBITY_SCHED_INFO_BYTES_LEAST - 1, &info),
                     PROBITY_ERROR_DAMAGED);
}

/* Each bit but those of the minor version. */
static void a_wrong_file_is_ignored(void **unused)
{
    static uint8_t bytes[1 << 16];
    struct probity_sched_file sched;
    size_t count = write_file(bytes, sizeof bytes);

    (void)unused;
    for (size_t i = 0; i < count; i += i < 300 ? 1 : 13) {
        if (i == 14 || i == 15)
            continue;
        bytes[i] ^= (uint8_t)(1u << i % 8);
        assert_int_equal(open_bytes(bytes, count, &sched), 0);
        bytes[i] ^= (uint8_t)(1u << i % 8);
        assert_int_equal(open_bytes(bytes, i, &sched), 0);
    }
    bytes[count] = 0;
    assert_int_equal(open_bytes(bytes, count + 1, &sched), 0);
}

/* Valid checksums, but a hit in place of a state, or a wrong number of them. */
static void a_file_has_nothing_but_states(void **unused)
{
    static uint8_t bytes[1 << 16];
    struct probity_sched_file sched;
    struct probity_block_header header;
    size_t count = write_file(bytes, sizeof bytes);
    size_t second = PROBITY_SCHED_HEADER_BYTES + PROBITY_BLOCK_HEADER_BYTES +
                    PROBITY_SCHED_INFO_BYTES;
    uint8_t *stream = bytes + second + PROBITY_BLOCK_HEADER_BYTES + PROBITY_DATA_FIXED_BYTES;

    (void)unused;
    assert_int_equal(probity_block_header_get(bytes + second, &header), 0);
    assert_int_equal(stream[2], PROBITY_EVENT_THREAD_STATE << 1 | 1);
    stream[2] = PROBITY_EVENT_PROBE_NAME << 1 | 1;
    probity_block_seal(bytes + second, PROBITY_BLOCK_DATA, 1, header.payload_bytes);
    assert_int_equal(open_bytes(bytes, count, &sched), 0);
    stream[2] = PROBITY_EVENT_THREAD_STATE << 1 | 1;
    bytes[second + PROBITY_BLOCK_HEADER_BYTES + 24] ^= 1; /* number of records */
    probity_block_seal(bytes + second, PROBITY_BLOCK_DATA, 1, header.payload_bytes);
    assert_int_equal(open_bytes(bytes, count, &sched), 0);
    bytes[second + PROBITY_BLOCK_HEADER_BYTES + 24] ^= 1;
    probity_block_seal(bytes + second, PROBITY_BLOCK_DATA, 1, header.payload_bytes);
    assert_int_equal(open_bytes(bytes, count, &sched), 1);
    probity_sched_file_release(&sched);
}

/* ---- Splitting ---------------------------------------------------------------------------------
 */

static void put_state(struct probity_thread_states *states, uint64_t wall_ns, uint32_t state)
{
    uint8_t payload[PROBITY_STATE_EVENT_BYTES];
    struct probity_event event = {.kind = PROBITY_EVENT_THREAD_STATE, .wall_ns = wall_ns,
                                  .thread_slot = 3, .payload = payload,
                                  .payload_bytes = sizeof payload};

    probity_state_event_put(payload, &(struct probity_state_event){.state = state, .cpu = 2});
    assert_int_equal(probity_thread_states_put(states, &event), 0);
}

static void intervals_are_split(void **unused)
{
    struct probity_thread_states *states;
    struct probity_thread_split before, after, split;
    struct probity_thread_period period;

    (void)unused;
    assert_int_equal(probity_thread_states_open(1, &states), 0);
    assert_false(probity_thread_states_has(states, 3));
    put_state(states, 1000, PROBITY_STATE_RUNNING);
    probity_thread_states_at(states, 3, 1010, &before);
    put_state(states, 1100, PROBITY_STATE_BLOCKED);
    put_state(states, 1250, PROBITY_STATE_RUNNABLE);
    put_state(states, 1260, PROBITY_STATE_RUNNING);
    put_state(states, 1200, PROBITY_STATE_BLOCKED); /* the clock was set back */
    put_state(states, 1300, PROBITY_STATE_ENDED);
    probity_thread_states_at(states, 3, 1330, &after);
    split = probity_thread_split_less(&after, &before);
    assert_true(probity_thread_states_has(states, 3));
    assert_int_equal(split.ns[PROBITY_STATE_RUNNING], 90);
    assert_int_equal(split.ns[PROBITY_STATE_BLOCKED], 150 + 40);
    assert_int_equal(split.ns[PROBITY_STATE_RUNNABLE], 10);
    assert_int_equal(split.ns[PROBITY_STATE_UNKNOWN], 30);
    probity_thread_states_split(states, 3, 1010, 1330, &before);
    assert_memory_equal(&before, &split, sizeof split);
    probity_thread_states_split(states, 3, 900, 1050, &split);
    assert_int_equal(split.ns[PROBITY_STATE_UNKNOWN], 100);
    assert_int_equal(split.ns[PROBITY_STATE_RUNNING], 50);
    probity_thread_states_split(states, 99, 900, 1050, &split);
    assert_int_equal(split.ns[PROBITY_STATE_UNKNOWN], 150);
    probity_thread_states_find(states, 3, 1099, &period);
    assert_int_equal(period.state, PROBITY_STATE_RUNNING);
    assert_int_equal(period.cpu, 2);
    assert_int_equal(period.from_ns, 1000);
    assert_int_equal(period.to_ns, 1100);
    probity_thread_states_find(states, 3, 999, &period);
    assert_int_equal(period.state, PROBITY_STATE_UNKNOWN);
    assert_int_equal(period.to_ns, 1000);
    probity_thread_states_close(states);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wakings_end_blocking),
        cmocka_unit_test(a_waking_may_come_early),
        cmocka_unit_test(without_wakings_blocking_lasts),
        cmocka_unit_test(losses_make_states_unknown),
        cmocka_unit_test(a_window_begins_with_a_state),
        cmocka_unit_test(thread_ids_are_reused),
        cmocka_unit_test(a_whole_file_is_read),
        cmocka_unit_test(the_head_may_be_shorter),
        cmocka_unit_test(a_wrong_file_is_ignored),
        cmocka_unit_test(a_file_has_nothing_but_states),
        cmocka_unit_test(intervals_are_split),
    };

    return cmocka_run_group_tests_name("sched", tests, NULL, NULL);
}
