/* SPDX-License-Identifier: MIT
 *
 * test_drops.c: the times at which records were dropped, taken from SYNC blocks, and the line that
 * shows them in a timeline.
 */
#include "test_scopes_make.h"

#include "answers/timeline/timeline.h"
#include "answers/timeline/timeline_text.h"
#include "reader/drops.h"

static struct make make;

static void see(struct probity_drops *drops, uint64_t at_ns, uint64_t dropped)
{
    const struct probity_totals totals = {.dropped_full = dropped / 2,
                                          .dropped_memory = dropped - dropped / 2};

    assert_int_equal(probity_drops_see(drops, at_ns, &totals), 0);
}

static void expect_drop(const struct probity_trace_drop *drop, uint64_t from_ns, uint64_t to_ns,
                        uint64_t records)
{
    assert_int_equal(drop->from_ns, from_ns);
    assert_int_equal(drop->to_ns, to_ns);
    assert_int_equal(drop->records, records);
}

static void drops_lie_between_two_counts(void **state)
{
    struct probity_drops drops = {0};

    (void)state;
    probity_drops_begin(&drops, 100);
    see(&drops, 200, 0);
    see(&drops, 300, 5);
    see(&drops, 400, 6); /* continues */
    see(&drops, 500, 6);
    see(&drops, 600, 4); /* a wrong count */
    see(&drops, 700, 6);
    see(&drops, 650, 7); /* the clock was set back */
    see(&drops, 800, UINT64_MAX);
    assert_int_equal(drops.count, 2);
    expect_drop(&drops.items[0], 200, 400, 6);
    expect_drop(&drops.items[1], 700, 800, UINT64_MAX - 6);
    probity_drops_begin(&drops, 1000);
    see(&drops, 1000, 1);
    assert_int_equal(drops.count, 1);
    expect_drop(&drops.items[0], 1000, 1000, 1);
    probity_drops_release(&drops);
}

/* If there are many intervals, the closest ones are merged, and all records are still counted. */
static void memory_is_bounded(void **state)
{
    enum { MANY = 5000, NEAR = 10, FAR = 1000 };
    struct probity_drops drops = {0};
    uint64_t at_ns = 1, records = 0;

    (void)state;
    probity_drops_begin(&drops, at_ns);
    for (uint64_t i = 1; i <= MANY; i++) {
        see(&drops, at_ns += i % 10 == 0 ? FAR : NEAR, i - 1);
        see(&drops, at_ns += 1, i);
        assert_true(drops.count <= PROBITY_DROPS_MAX);
    }
    for (size_t i = 0; i < drops.count; i++) {
        records += drops.items[i].records;
        assert_true(i == 0 || drops.items[i].from_ns > drops.items[i - 1].to_ns);
    }
    assert_int_equal(records, MANY);
    assert_int_equal(drops.count, PROBITY_DROPS_MAX);
    /* All 500 large gaps still exist. */
    size_t far = 0;
    for (size_t i = 1; i < drops.count; i++)
        far += drops.items[i].from_ns - drops.items[i - 1].to_ns >= FAR;
    assert_int_equal(far, MANY / 10);
    probity_drops_release(&drops);
}

/* A SYNC block `ticks` after the start; two ticks are a nanosecond. */
static void sync_at(uint64_t ticks, uint64_t dropped)
{
    struct probity_sync sync = {.anchor = make_anchor(MAKE_START + ticks),
                                .watermark = MAKE_START + ticks,
                                .totals = {.records = make.records, .dropped_full = dropped}};

    probity_sync_put(make_payload(&make), &sync);
    make_block(&make, PROBITY_BLOCK_SYNC, PROBITY_SYNC_BYTES);
}

static char *picture(int has_color)
{
    const char *path = make.path;
    struct probity_timeline *timeline;
    const struct probity_event *event;
    struct probity_timeline_answer answer = {.columns = 36, .has_color = has_color};
    struct probity_reader *reader;
    char *text = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&text, &bytes);

    assert_int_equal(probity_reader_open(&path, 1, NULL, NULL, &reader), 0);
    assert_int_equal(probity_timeline_open(NULL, &timeline), 0);
    while (probity_reader_next(reader, &event) > 0)
        assert_int_equal(probity_timeline_put(timeline, event), 0);
    assert_int_equal(probity_timeline_finish(timeline), 0);
    answer.reader = reader;
    answer.timeline = timeline;
    assert_int_equal(probity_timeline_text(stream, &answer), 0);
    fclose(stream);
    probity_timeline_close(timeline);
    probity_reader_close(reader);
    return text;
}

/* Ten columns of 1 us; drops between 2 and 4 us, and in the last column. */
static void a_time_line_shows_when(void **state)
{
    (void)state;
    make_start(&make);
    make_declare(&make, 1, 10, "a", 0);
    make_items(&make, 1, (struct make_item[]){ENTER(0, 10), LEAVE(4000, 10)}, 2);
    sync_at(4400, 0);
    make_items(&make, 1, (struct make_item[]){ENTER(5000, 10)}, 1);
    sync_at(7600, 9);
    make_items(&make, 1, (struct make_item[]){LEAVE(20000, 10)}, 1);
    sync_at(19000, 9);
    make_write(&make, "drops");
    char *text = picture(0);
    const char *line = strstr(text, "\ndropped");
    assert_non_null(line);
    assert_memory_equal(line, "\ndropped                77   !!      \n", 38);
    assert_non_null(strstr(text, "! records were dropped"));
    free(text);
    sync_at(20000, 10);
    make_write(&make, "drops");
    text = picture(1);
    line = strstr(text, "\ndropped");
    assert_non_null(line);
    assert_memory_equal(line, "\ndropped                77 \033[1;31m  !!     !\033[0m\n", 49);
    /* The thread is always on the CPU, so every column is green. */
    assert_non_null(strstr(text, "\033[32mA\033[0m"));
    assert_null(strstr(text, "\033[33ma"));
    free(text);
    unlink(make.path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drops_lie_between_two_counts),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(a_time_line_shows_when),
    };

    return cmocka_run_group_tests_name("drops", tests, NULL, NULL);
}
