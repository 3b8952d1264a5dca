/* SPDX-License-Identifier: MIT
 *
 * test_reader.c: the reader's results for traces in every state, block by block.
 */
#include "test_reader_make.h"

#include "reader/reader.h"

static struct make make, other;

static struct probity_reader *open_one(const char *path)
{
    struct probity_reader *reader = NULL;

    assert_int_equal(probity_reader_open(&path, 1, NULL, NULL, &reader), 0);
    return reader;
}

/* Returns the next hit, skipping events. NULL at the end. */
static const struct probity_event *next_hit(struct probity_reader *reader)
{
    const struct probity_event *event;
    int got;

    while ((got = probity_reader_next(reader, &event)) > 0) {
        if (event->kind == PROBITY_EVENT_HIT)
            return event;
    }
    assert_int_equal(got, 0);
    return NULL;
}

static void expect_ids(struct probity_reader *reader, const uint32_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct probity_event *event = next_hit(reader);
        assert_non_null(event);
        assert_int_equal(event->id, ids[i]);
    }
    assert_null(next_hit(reader));
}

#define EXPECT_IDS(reader, ...) \
    expect_ids(reader, (const uint32_t[]){__VA_ARGS__}, \
               sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void two_threads_come_in_time_order(void **state)
{
    (void)state;
    make_start(&make);
    make_data(&make, (struct probity_data){.thread = 1},
              (struct make_hit[]){{1000100, 2, 0}, {1000300, 6, 0}, {1000500, 10, 0}}, 3);
    make_data(&make, (struct probity_data){.thread = 2},
              (struct make_hit[]){{1000200, 4, 0}, {1000400, 8, 0}}, 2);
    make_sync(&make, PROBITY_BLOCK_SYNC, make_anchor(1001000), 1000900);
    make_data(&make, (struct probity_data){.thread = 1}, (struct make_hit[]){{1002000, 12, 0}}, 1);
    make_sync(&make, PROBITY_BLOCK_END, make_anchor(1003000), 1003000);
    make_write(&make, "two");
    struct probity_reader *reader = open_one(make.path);
    const struct probity_trace_facts *facts = probity_reader_facts(reader, 0);

    assert_int_equal(facts->state, PROBITY_TRACE_CLOSED);
    assert_int_equal(facts->records, 6);
    assert_int_equal(facts->threads, 2);
    assert_int_equal(facts->first_wall_ns, MAKE_WALL + 50);
    assert_int_equal(facts->last_wall_ns, MAKE_WALL + 1000);
    EXPECT_IDS(reader, 1, 2, 3, 4, 5, 6);
    probity_reader_close(reader);
    unlink(make.path);
}

static void equal_ticks_keep_the_order_of_threads(void **state)
{
    (void)state;
    make_start(&make);
    make_data(&make, (struct probity_data){.thread = 2},
              (struct make_hit[]){{1000100, 4, 0}, {1000100, 6, 0}}, 2);
    make_data(&make, (struct probity_data){.thread = 1},
              (struct make_hit[]){{1000100, 0, 0}, {1000100, 2, 0}}, 2);
    make_sync(&make, PROBITY_BLOCK_END, make_anchor(1003000), 1003000);
    make_write(&make, "ties");
    struct probity_reader *reader = open_one(make.path);

    EXPECT_IDS(reader, 0, 1, 2, 3);
    probity_reader_close(reader);
    unlink(make.path);
}

/* A thread's block begins with the last tick of its previous block. */
static void equal_ticks_of_one_thread_keep_the_order_of_blocks(void **state)
{
    (void)state;
    make_start(&make);
    for (uint32_t i = 0; i < 6; i++)
        make_data(&make, (struct probity_data){.thread = 1},
                  (struct make_hit[]){{1000100, 4 * i, 0}, {1000100, 4 * i + 2, 0}}, 2);
    make_sync(&make, PROBITY_BLOCK_END, make_anchor(1003000), 1003000);
    make_write(&make, "blocks");
    struct probity_reader *reader = open_one(make.path);

    EXPECT_IDS(reader, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
    probity_reader_close(reader);
    unlink(make.path);
}

/* Each hit is in a random thread; ids ascend with time. */
static void many_threads_interleave_in_time_order(void **state)
{
    enum { THREADS = 9, HITS = 900 };
    static struct make_hit hits[THREADS][HITS];
    size_t counts[THREADS] = {0};
    uint32_t random = 12345, expected = 0;
    const struct probity_event *event;
    (void)state;
    for (uint32_t i = 0; i < HITS; i++) {
        random = random * 1664525 + 1013904223;
        uint32_t thread = (random >> 16) % THREADS;
        hits[thread][counts[thread]++] = (struct make_hit){1000100 + 3 * i, 2 * i, 0};
    }
    make_start(&make);
    for (uint32_t i = 0; i < THREADS; i++)
        make_data(&make, (struct probity_data){.thread = i}, hits[i], counts[i]);
    make_sync(&make, PROBITY_BLOCK_END, make_anchor(1100000), 1100000);
    make_write(&make, "interleaved");
    struct probity_reader *reader = open_one(make.path);

    while ((event = next_hit(reader)) != NULL)
        assert_int_equal(event->id, expected++);
    assert_int_equal(expected, HITS);
    probity_reader_close(reader);
    unlink(make.path);
}

static void late_blocks_come_in_time_order(void **state)
{
    (void)state;
    make_start(&make);
    make_data(&make, (struct probity_data){.thread = 1},
              (struct make_hit[]){{1000100, 0, 0}, {1000300, 4, 0}}, 2);
    make_sync(&make, PROBITY_BLOCK_SYNC, make_anchor(1001000), 1000900);
    make_data(&make, (struct probity_data){.thread = 1, .flags = PROBITY_DATA_LATE},
              (struct make_hit[]){{1000200, 2, 0}}, 1);
    make_data(&make, (struct probity_data){.thread = 1}, (struct make_hit[]){{1002000, 6, 0}}, 1);
    make_sync(&make, PROBITY_BLOCK_END, make_anchor(1003000), 1003000);
    make_write(&make, "late");
    struct probity_reader *reader = open_one(make.path);

    assert_int_equal(probity_reader_facts(reader, 0)->late_blocks, 1);
    EXPECT_IDS(reader, 0, 1, 2, 3);
    probity_reader_close(reader);
    unlink(make.path);
}

static void cpu_time_follows_the_stream_and_never_steps_back(void **state)
{
    static const uint64_t expected[] = {5000, 5100, 5100, 5150, 5150};
    (void)state;
    make_start(&make);
    /* Off the CPU for 200 of 400 ticks, then for longer than the elapsed time. */
    make_data(
        &make, (struct probity_data){.thread = 1, .cpu_ns = 5000},
        (struct make_hit[]){{1000000, 0, 0}, {1000400, 2, 200}, {1000500, 4, 200}, {1000700, 6, 0}},
        4);
    make_data(&make, (struct probity_data){.thread = 1, .cpu_ns = 4000},
              (struct make_hit[]){{1001000, 8, 0}}, 1);
    make_sync(&make, PROBITY_BLOCK_END, make_anchor(1003000), 1003000);
    make_write(&make, "cpu");
    struct probity_reader *reader = open_one(make.path);

    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct probity_event *event = next_hit(reader);
        assert_true(event->cpu_known);
        assert_int_equal(event->cpu_ns, expected[i]);
    }
    probity_reader_close(reader);
    unlink(make.path);
}

static void wall_time_goes_from_anchor_to_anchor(void **state)
{
    struct probity_anchor set = make_anchor(1002000);
    (void)state;
    set.realtime_ns += 3600000000000; /* the clock was set forward by an hour */
    make_start(&make);
    make_data(
        &make, (struct probity_data){.thread = 1},
        (struct make_hit[]){
            {1000500, 0, 0}, {1001001, 2, 0}, {1001999, 4, 0}, {1002000, 6, 0}, {1002500, 8, 0}},
        5);
    make_sync(&make, PROBITY_BLOCK_SYNC, make_anchor(1001000), 1000400);
    make_sync(&make, PROBITY_BLOCK_END, set, 1003000);
    make_write(&make, "wall");
    struct probity_reader *reader = open_one(make.path);

    assert_int_equal(probity_reader_facts(reader, 0)->clock_steps, 1);
    assert_int_equal(next_hit(reader)->wall_ns, MAKE_WALL + 250);
    assert_int_equal(next_hit(reader)->wall_ns, MAKE_WALL + 500);
    assert_int_equal(next_hit(reader)->wall_ns, MAKE_WALL + 999);
    assert_int_equal(next_hit(reader)->wall_ns, MAKE_WALL + 3600000000000 + 1000);
    assert_int_equal(next_hit(reader)->wall_ns, MAKE_WALL + 3600000000000 + 1250);
    probity_reader_close(reader);
    unlink(make.path);
}

static size_t put_site(uint8_t *at, uint32_t number, const char *name)
{
    size_t length = strlen(name);

    probity_put_u32(at, number);
    probity_put_u32(at + 4, 12);
    probity_put_u16(at + 8, (uint16_t)length);
    memcpy(at + 10, name, length);
    memset(at + 10 + length, 0, 4);
    return 14 + length;
}

static void names_are_in_force_from_their_declaration_on(void **state)
{
    uint8_t site[64], probe[16] = {3, 0, 0, 0, 't', 'w', 'o'};
    (void)state;
    make_start(&make);
    make_data(
        &make, (struct probity_data){.thread = 1},
        (struct make_hit[]){{1000100, 2 * 4 + 1, 0}, {1000300, 2 * 4 + 1, 0}, {1000400, 2 * 3, 0},
                            {1000500, 2 * 4 + 1, 0}, {1000600, 2 * 3, 0}},
        5);
    make_event(&make, 2, 1000200, PROBITY_EVENT_SITE, site, put_site(site, 4, "parse"));
    make_event(&make, 2, 1000350, PROBITY_EVENT_PROBE_NAME, probe, 7);
    /* A probe can be renamed; a site keeps the name already returned. */
    memcpy(probe + 4, "new", 3);
    make_event(&make, 2, 1000450, PROBITY_EVENT_PROBE_NAME, probe, 7);
    make_event(&make, 2, 1000460, PROBITY_EVENT_SITE, site, put_site(site, 4, "other"));
    make_sync(&make, PROBITY_BLOCK_END, make_anchor(1003000), 1003000);
    make_write(&make, "names");
    struct probity_reader *reader = open_one(make.path);
    const struct probity_event *event = next_hit(reader);

    assert_true(event->is_site);
    assert_null(event->name);
    event = next_hit(reader);
    assert_int_equal(event->id, 4);
    assert_string_equal(event->name, "parse");
    const char *name = event->name;
    event = next_hit(reader);
    assert_false(event->is_site);
    assert_string_equal(event->name, "two");
    assert_ptr_equal(next_hit(reader)->name, name);
    assert_string_equal(name, "parse");
    assert_string_equal(next_hit(reader)->name, "new");
    probity_reader_close(reader);
    unlink(make.path);
}

static void a_time_range_takes_from_and_leaves_to(void **state)
{
    struct probity_reader_options options = {.from_ns = MAKE_WALL + 100, .to_ns = MAKE_WALL + 200};
    const char *path = make.path;
    struct probity_reader *reader;
    (void)state;
    make_start(&make);
    make_data(
        &make, (struct probity_data){.thread = 1},
        (struct make_hit[]){{1000198, 0, 0}, {1000200, 2, 0}, {1000399, 4, 0}, {1000400, 6, 0}}, 4);
    make_sync(&make, PROBITY_BLOCK_END, make_anchor(1003000), 1003000);
    make_write(&make, "range");
    assert_int_equal(probity_reader_open(&path, 1, &options, NULL, &reader), 0);
    EXPECT_IDS(reader, 1, 2);
    probity_reader_close(reader);
    unlink(make.path);
}

/* A SYNC block is younger than its watermark: records in between may follow it. */
static void what_is_behind_the_watermark_waits_for_what_is_older(void **state)
{
    const char *path = make.path;
    struct probity_reader *reader;
    (void)state;
    make_start(&make);
    make_data(&make, (struct probity_data){.thread = 1},
              (struct make_hit[]){{1000100, 0, 0}, {1000500, 6, 0}}, 2);
    make_sync(&make, PROBITY_BLOCK_SYNC, make_anchor(1000900), 1000200);
    make_data(&make, (struct probity_data){.thread = 2},
              (struct make_hit[]){{1000300, 2, 0}, {1000400, 4, 0}}, 2);
    make_sync(&make, PROBITY_BLOCK_END, make_anchor(1003000), 1003000);
    make_write(&make, "watermark");
    assert_int_equal(probity_reader_open(&path, 1, NULL, NULL, &reader), 0);
    EXPECT_IDS(reader, 0, 1, 2, 3);
    probity_reader_close(reader);
    unlink(make.path);
}

static void make_pair(const uint8_t boot[16], uint64_t shift_ns)
{
    struct probity_info info = make_info(NULL);
    struct probity_anchor end = make_anchor(1003000);

    make_start(&make);
    make_data(&make, (struct probity_data){.thread = 1},
              (struct make_hit[]){{1000100, 0, 0}, {1000300, 4, 0}}, 2);
    make_sync(&make, PROBITY_BLOCK_END, end, 1003000);
    make_write(&make, "first");
    memcpy(info.boot, boot, 16);
    info.anchor.realtime_ns += shift_ns;
    end.realtime_ns += shift_ns;
    make_start_with(&other, &info);
    make_data(&other, (struct probity_data){.thread = 1},
              (struct make_hit[]){{1000200, 2, 0}, {1000400, 6, 0}}, 2);
    make_sync(&other, PROBITY_BLOCK_END, end, 1003000);
    make_write(&other, "second");
}

static void traces_of_one_boot_merge_by_ticks_others_by_wall_time(void **state)
{
    const struct probity_info info = make_info(NULL);
    const char *paths[] = {make.path, other.path};
    struct probity_reader *reader;
    (void)state;
    make_pair(info.boot, 1000000); /* same boot: the later wall clock is ignored */
    assert_int_equal(probity_reader_open(paths, 2, NULL, NULL, &reader), 0);
    EXPECT_IDS(reader, 0, 1, 2, 3);
    probity_reader_close(reader);
    make_pair((const uint8_t[16]){1}, (uint64_t)0 - 1000);
    assert_int_equal(probity_reader_open(paths, 2, NULL, NULL, &reader), 0);
    EXPECT_IDS(reader, 1, 3, 0, 2);
    probity_reader_close(reader);
    unlink(make.path);
    unlink(other.path);
}

/* The second trace's anchors lag those of the first, within the error of two readings. */
static void wall_time_does_not_step_back_between_traces(void **state)
{
    const struct probity_info info = make_info(NULL);
    const char *paths[] = {make.path, other.path};
    const struct probity_event *event;
    struct probity_reader *reader;
    uint64_t before_ns = 0, first_ns = 0;
    (void)state;
    make_pair(info.boot, (uint64_t)0 - 140);
    assert_int_equal(probity_reader_open(paths, 2, NULL, NULL, &reader), 0);
    while (probity_reader_next(reader, &event) > 0) {
        assert_true(event->wall_ns >= before_ns);
        before_ns = event->wall_ns;
        first_ns = first_ns != 0 ? first_ns : event->wall_ns;
    }
    assert_int_equal(probity_reader_facts(reader, 0)->first_wall_ns, first_ns);
    assert_int_equal(probity_reader_facts(reader, 1)->last_wall_ns, before_ns);
    probity_reader_close(reader);
    unlink(make.path);
    unlink(other.path);
}

/* Early records may be written late, so their times depend on the anchors before and after them,
 * even if only the first time is requested, without a merge. */
static void first_time_is_that_of_the_merge(void **state)
{
    const struct probity_event *event;
    const char *path = make.path;
    struct probity_reader *reader;

    (void)state;
    for (int has_later = 0; has_later < 2; has_later++) {
        struct probity_anchor bent = make_anchor(1002000), behind = make_anchor(1004000);
        bent.realtime_ns += 100;
        behind.realtime_ns += 100;
        make_start(&make);
        if (has_later)
            make_data(&make, (struct probity_data){.thread = 1},
                      &(struct make_hit){1003500, 2, 0}, 1);
        make_sync(&make, PROBITY_BLOCK_SYNC, bent, 1000500);
        make_sync(&make, PROBITY_BLOCK_SYNC, behind, 1000500);
        make_data(&make, (struct probity_data){.thread = 0}, &(struct make_hit){1001000, 4, 0}, 1);
        make_sync(&make, PROBITY_BLOCK_END, make_anchor(1006000), 1006000);
        make_write(&make, "late");
        assert_int_equal(probity_reader_open(&path, 1, NULL, NULL, &reader), 0);
        assert_int_equal(probity_reader_next(reader, &event), 1);
        assert_int_equal(event->wall_ns, MAKE_WALL + 550);
        assert_int_equal(probity_reader_facts(reader, 0)->first_wall_ns, event->wall_ns);
        probity_reader_close(reader);
        unlink(make.path);
    }
}

static void what_is_no_trace_is_refused(void **state)
{
    const char *path = make.path;
    struct probity_reader *reader = NULL;
    (void)state;
    make_start(&make);
    make.used = 0;
    make_write(&make, "refused");
    assert_int_equal(probity_reader_open(&path, 1, NULL, NULL, &reader), PROBITY_ERROR_FORMAT);
    make.used = PROBITY_FILE_HEADER_BYTES;
    make_write(&make, "refused");
    assert_int_equal(probity_reader_open(&path, 1, NULL, NULL, &reader), PROBITY_ERROR_DAMAGED);
    make.bytes[12] = 2;
    make_write(&make, "refused");
    assert_int_equal(probity_reader_open(&path, 1, NULL, NULL, &reader), PROBITY_ERROR_VERSION);
    make.bytes[0] = 'x';
    make_write(&make, "refused");
    assert_int_equal(probity_reader_open(&path, 1, NULL, NULL, &reader), PROBITY_ERROR_FORMAT);
    unlink(make.path);
    assert_int_equal(probity_reader_open(&path, 1, NULL, NULL, &reader), PROBITY_ERROR_OPEN);
}

static void without_end_and_spool_a_trace_is_not_complete(void **state)
{
    char why[128];
    (void)state;
    make_start(&make);
    make_data(&make, (struct probity_data){.thread = 1}, (struct make_hit[]){{1000100, 2, 0}}, 1);
    make_write(&make, "unfinished");
    struct probity_reader *reader = open_one(make.path);

    assert_int_equal(probity_reader_facts(reader, 0)->state, PROBITY_TRACE_UNFINISHED);
    assert_int_equal(probity_trace_is_complete(probity_reader_facts(reader, 0), why, sizeof why),
                     0);
    assert_non_null(strstr(why, "no END block"));
    EXPECT_IDS(reader, 1);
    probity_reader_close(reader);
    unlink(make.path);
}

/* Many more blocks than may be open at once, with records that do not interleave. */
static void many_blocks_pass_through(void **state)
{
    uint32_t expected = 0;
    (void)state;
    make_start(&make);
    for (uint32_t i = 0; i < 200; i++) {
        struct make_hit hits[2] = {{1000000 + 10 * i, 4 * i, 0}, {1000005 + 10 * i, 4 * i + 2, 0}};
        make_data(&make, (struct probity_data){.thread = i % 7}, hits, 2);
        if (i % 3 == 0)
            make_sync(&make, PROBITY_BLOCK_SYNC, make_anchor(1000006 + 10 * i), 1000006 + 10 * i);
    }
    make_sync(&make, PROBITY_BLOCK_END, make_anchor(1100000), 1100000);
    make_write(&make, "many");
    struct probity_reader *reader = open_one(make.path);
    const struct probity_event *event;

    while ((event = next_hit(reader)) != NULL)
        assert_int_equal(event->id, expected++);
    assert_int_equal(expected, 400);
    probity_reader_close(reader);
    unlink(make.path);
}

/* The events that the progress of a pass has reached. */
struct reached {
    uint64_t done, total, step_max;
};

static void note_progress(void *context, uint64_t done, uint64_t total)
{
    struct reached *reached = context;

    assert_true(done >= reached->done && done <= total);
    if (done - reached->done > reached->step_max)
        reached->step_max = done - reached->done;
    reached->done = done;
    reached->total = total;
}

/* The progress is that of the blocks read, even if the scan finds a SYNC only after all of them. */
static void progress_advances_between_two_syncs(void **state)
{
    enum { BLOCKS = 256 };
    struct reached reached = {0, 0, 0};
    const struct probity_reader_options options = {.progress = note_progress,
                                                   .progress_context = &reached};
    struct probity_reader *reader = NULL;

    (void)state;
    make_start(&make);
    for (uint64_t i = 0; i < BLOCKS; i++)
        make_data(&make, (struct probity_data){.thread = 1},
                  (struct make_hit[]){{1000100 + i, 2, 0}}, 1);
    make_sync(&make, PROBITY_BLOCK_END, make_anchor(1003000), 1003000);
    make_write(&make, "progress");
    const char *path = make.path;
    assert_int_equal(probity_reader_open(&path, 1, &options, NULL, &reader), 0);

    reached = (struct reached){0, 0, 0};
    for (uint64_t i = 0; i < BLOCKS; i++)
        assert_non_null(next_hit(reader));
    assert_null(next_hit(reader));
    assert_int_equal(reached.done, reached.total);
    assert_int_equal(reached.total, make.used);
    assert_true(reached.step_max < make.used / 10);
    probity_reader_close(reader);
    unlink(make.path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_threads_come_in_time_order),
        cmocka_unit_test(equal_ticks_keep_the_order_of_threads),
        cmocka_unit_test(equal_ticks_of_one_thread_keep_the_order_of_blocks),
        cmocka_unit_test(many_threads_interleave_in_time_order),
        cmocka_unit_test(late_blocks_come_in_time_order),
        cmocka_unit_test(cpu_time_follows_the_stream_and_never_steps_back),
        cmocka_unit_test(wall_time_goes_from_anchor_to_anchor),
        cmocka_unit_test(names_are_in_force_from_their_declaration_on),
        cmocka_unit_test(a_time_range_takes_from_and_leaves_to),
        cmocka_unit_test(what_is_behind_the_watermark_waits_for_what_is_older),
        cmocka_unit_test(traces_of_one_boot_merge_by_ticks_others_by_wall_time),
        cmocka_unit_test(wall_time_does_not_step_back_between_traces),
        cmocka_unit_test(first_time_is_that_of_the_merge),
        cmocka_unit_test(what_is_no_trace_is_refused),
        cmocka_unit_test(without_end_and_spool_a_trace_is_not_complete),
        cmocka_unit_test(many_blocks_pass_through),
        cmocka_unit_test(progress_advances_between_two_syncs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
