/* SPDX-License-Identifier: MIT
 *
 * test_follow.c: follows a trace that this program writes by hand. Each record returned is in the
 * file, is counted, and is older than all that may follow. Once the program is dead, the remaining
 * records are read from the spool.
 */
#include "test_reader_make.h"

#include "reader/reader.h"

static struct make make;
static struct make_spool spool;
static struct probity_reader *reader;
static int program = -1; /* holds the lock of the program that writes */

/* Unlike make_spool_write, does not replace the file, because a reader has mapped it. */
static void change_spool(void)
{
    int file = open(spool.path, O_WRONLY);

    assert_int_equal(pwrite(file, spool.memory, spool.bytes, 0), spool.bytes);
    close(file);
}

static void write_and_account(size_t bytes, size_t accounted)
{
    size_t used = make.used;

    make.used = bytes;
    make_write(&make, "followed");
    make.used = used;
    make_spool_header(&spool)->committed = accounted;
    change_spool();
}

/* Reads all hits until the reader waits or ends. */
static void expect_hits(int expected_end, uint32_t first, uint32_t count)
{
    const struct probity_event *event;
    uint32_t seen = 0;
    int got;

    while ((got = probity_reader_next(reader, &event)) > 0 && got != PROBITY_READER_WAITS)
        assert_int_equal(event->id, first + seen++);
    assert_int_equal(got, expected_end);
    assert_int_equal(seen, count);
    assert_false(probity_trace_is_damaged(probity_reader_facts(reader, 0)));
}

/* Trace: chunk 1, hits 0 and 1, followed by a watermark. Spool: chunk 1 with hits 0 to 3. */
static int set_up(void **state)
{
    const struct probity_reader_options options = {.follow = 1};
    const char *path = make.path;

    (void)state;
    make_drained(&make, &spool, "followed");
    make_chunk(&spool, 0, 1, 1000100, 100, 0, 4)->drained = 2;
    make_spool_header(&spool)->committed = make.used;
    make_spool_write(&spool);
    program = make_spool_hold(&spool, F_WRLCK);
    int error = probity_reader_open(&path, 1, &options, NULL, &reader);
    if (error == 0)
        expect_hits(PROBITY_READER_WAITS, 0, 2);
    return error;
}

static int tear_down(void **state)
{
    (void)state;
    probity_reader_close(reader);
    if (program >= 0)
        close(program);
    make_spool_release(&spool);
    return unlink(make.path);
}

static void add_hits(void)
{
    make_data(&make,
              (struct probity_data){.thread = 1, .tid = 101, .chunk = 1, .first_word = 2},
              (struct make_hit[]){{1000300, 4, 0}, {1000400, 6, 0}}, 2);
}

static void what_is_not_accounted_for_is_not_looked_at(void **state)
{
    size_t before = make.used;

    (void)state;
    add_hits();
    make_sync(&make, PROBITY_BLOCK_SYNC, make_anchor(1000500), 1000450);
    for (size_t bytes = before; bytes < make.used; bytes += 5) {
        write_and_account(bytes, before);
        expect_hits(PROBITY_READER_WAITS, 2, 0);
    }
    write_and_account(make.used, before);
    expect_hits(PROBITY_READER_WAITS, 2, 0);
    write_and_account(make.used, make.used);
    expect_hits(PROBITY_READER_WAITS, 2, 2);
}

static void a_hit_waits_for_what_may_come_before_it(void **state)
{
    (void)state;
    add_hits();
    write_and_account(make.used, make.used);
    expect_hits(PROBITY_READER_WAITS, 2, 0);
    make_spool_header(&spool)->watermark = 1000350;
    change_spool();
    expect_hits(PROBITY_READER_WAITS, 2, 1);
    make_spool_header(&spool)->watermark = 1000450;
    change_spool();
    expect_hits(PROBITY_READER_WAITS, 3, 1);
}

static void of_the_dead_all_is_shown_once(void **state)
{
    (void)state;
    add_hits();
    make_chunk(&spool, 1, 2, 1000500, 100, 4, 3);
    write_and_account(make.used, make.used);
    change_spool();
    close(program);
    program = -1;
    expect_hits(0, 2, 5);
    expect_hits(0, 7, 0);
}

#define FOLLOWED(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLLOWED(what_is_not_accounted_for_is_not_looked_at),
        FOLLOWED(a_hit_waits_for_what_may_come_before_it),
        FOLLOWED(of_the_dead_all_is_shown_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
