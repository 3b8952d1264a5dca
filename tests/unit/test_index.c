/* SPDX-License-Identifier: MIT
 *
 * Parts of an index: where marks may be, which scopes are open; and files that are not indexes.
 * link-flags: -Wl,--wrap=realloc
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "format/sched.h"
#include "probity.h"
#include "reader/index.h"
#include "reader/index_group.h"
#include "reader/index_write.h"
#include "reader/reader.h"
#include "reader/sched.h"
#include "reader/thread_stack.h"
#include "test_reader_make.h"

static void add(struct probity_index_group *group, uint32_t slot, uint64_t first, uint64_t last)
{
    const struct probity_index_group_block block = {
        .slot = slot, .offset = group->count, .data = {.first_tick = first, .last_tick = last}};

    assert_int_equal(probity_index_group_add(group, &block), 0);
}

/* The block of thread 1 with ticks 10 to 20 follows that with ticks 30 to 40. */
static void no_mark_is_between_blocks_out_of_order(void **state)
{
    static const int is_split[] = {0, 1, 1, 0, 0};
    struct probity_index_group group = {0};

    (void)state;
    add(&group, 0, 5, 6);
    add(&group, 1, 30, 40);
    add(&group, 0, 6, 50);
    add(&group, 1, 10, 20);
    add(&group, 1, 40, 41);
    assert_int_equal(probity_index_group_find_splits(&group), 0);
    for (size_t i = 0; i < group.count; i++)
        assert_int_equal(group.blocks[i].is_split, is_split[i]);
    probity_index_group_sort(group.blocks + 1, 3);
    assert_int_equal(group.blocks[1].data.first_tick, 6);
    assert_int_equal(group.blocks[2].data.first_tick, 10);
    assert_int_equal(group.blocks[3].data.first_tick, 30);
    probity_index_group_release(&group);
}

static void a_leave_closes_what_is_above_it(void **state)
{
    struct probity_thread_stack stack = {0};

    (void)state;
    for (uint32_t i = 1; i <= 4; i++) {
        const struct probity_stack_scope scope = {i, 1, 0, i};
        assert_int_equal(probity_thread_stack_enter(&stack, &scope), 0);
    }
    probity_thread_stack_leave(&stack, 9, 1); /* not open */
    probity_thread_stack_leave(&stack, 3, 0); /* another one: not declared */
    assert_int_equal(stack.depth, 4);
    probity_thread_stack_leave(&stack, 3, 1);
    assert_int_equal(stack.depth, 2);
    probity_thread_stack_pause(&stack, 1);
    assert_int_equal(stack.scopes[1].is_paused, 1);
    probity_thread_stack_unwind(&stack, 9);
    assert_int_equal(stack.depth, 0);
    probity_thread_stack_release(&stack);
}

/* An unnamed file with an index of one thread, one mark and a sum. */
static int make_index(struct probity_index_writer *writer, uint64_t usable_tick)
{
    const struct probity_index_state thread = {.thread = 7, .tid = 70, .last_tick = 100};
    const struct probity_index_mark mark = {1000, 3, 100};
    const struct probity_index_sum sum = {.usable_tick = usable_tick, .file_bytes = 5000};

    writer->file = memfd_create("index", MFD_CLOEXEC);
    assert_int_equal(probity_index_begin(writer), 0);
    assert_int_equal(probity_index_emit_state(writer, &thread), 0);
    probity_index_mark_put(probity_index_room(writer, PROBITY_INDEX_MARK_BYTES), &mark);
    assert_int_equal(probity_index_emit(writer, PROBITY_INDEX_MARK, PROBITY_INDEX_MARK_BYTES), 0);
    probity_index_sum_put(probity_index_room(writer, PROBITY_INDEX_SUM_BYTES), &sum);
    assert_int_equal(probity_index_emit(writer, PROBITY_INDEX_SUM, PROBITY_INDEX_SUM_BYTES), 0);
    assert_int_equal(probity_index_flush(writer), 0);
    free(writer->block);
    writer->block = NULL;
    writer->capacity = 0;
    return writer->file;
}

/* Scans an index. Returns what ended the scan. */
static int walk(int file)
{
    struct probity_index_cursor cursor;
    struct probity_index_item item;
    int got = probity_index_start(&cursor, file);

    while (got >= 0 && (got = probity_index_next(&cursor, &item)) > 0)
        continue;
    probity_index_stop(&cursor);
    return got;
}

static void each_damaged_byte_is_found(void **state)
{
    static struct probity_index_writer writer;
    int file = make_index(&writer, UINT64_MAX);
    off_t size = lseek(file, 0, SEEK_END);

    (void)state;
    assert_int_equal(walk(file), 0);
    for (off_t at = 0; at < size; at++) {
        char byte, other;
        if (at == 14 || at == 15) /* the minor version may be higher */
            continue;
        assert_int_equal(pread(file, &byte, 1, at), 1);
        other = (char)(byte ^ 0x10);
        assert_int_equal(pwrite(file, &other, 1, at), 1);
        assert_int_equal(walk(file), PROBITY_ERROR_DAMAGED);
        assert_int_equal(pwrite(file, &byte, 1, at), 1);
    }
    close(file);
}

/* Its declarations are not complete. */
static void an_index_of_an_older_version_is_not_used(void **state)
{
    static struct probity_index_writer writer;
    int file = make_index(&writer, UINT64_MAX);

    (void)state;
    for (char minor = 0; minor <= PROBITY_INDEX_MINOR + 1; minor++) {
        assert_int_equal(pwrite(file, &minor, 1, 14), 1);
        assert_int_equal(walk(file), minor < 5 ? PROBITY_ERROR_DAMAGED : 0);
    }
    close(file);
}

/* Chooses marks with an index that already lists one thread. */
static uint64_t chosen(uint64_t usable_tick, uint64_t before_tick)
{
    static struct probity_index_writer writer;
    struct probity_index_block thread = {.thread = 7};
    struct probity_index index = {.file = make_index(&writer, usable_tick),
                                  .sum = {.usable_tick = usable_tick},
                                  .threads = {&thread, 1, 1}};

    assert_int_equal(probity_index_choose(&index, before_tick), 0);
    assert_int_equal(thread.bytes != 0, index.mark.offset != 0);
    close(index.file);
    return index.mark.offset;
}

static void a_mark_is_chosen_if_it_is_earlier_and_usable(void **state)
{
    (void)state;
    assert_int_equal(chosen(UINT64_MAX, 101), 1000);
    assert_int_equal(chosen(UINT64_MAX, 100), 0);
    assert_int_equal(chosen(99, 101), 0);
}

/* ---- From a trace ------------------------------------------------------------------------------
 */

static int file_of(const struct make *make, const char *name)
{
    int file = memfd_create(name, MFD_CLOEXEC);

    assert_int_equal(write(file, make->bytes, make->used), make->used);
    return file;
}

/* An index with a mark before each block that may have one. */
static int index_of(int trace)
{
    static const struct probity_index_options options = {.every_bytes = 1};
    const struct probity_range range = probity_range_whole(trace);
    int file = memfd_create("index", MFD_CLOEXEC);

    assert_int_equal(probity_index_build(&range, file, &options), 0);
    return file;
}

/* The last state of a thread. */
static struct probity_data state_of(int file, uint32_t thread)
{
    struct probity_data data, found = {.records = UINT32_MAX};
    struct probity_index_cursor cursor;
    struct probity_index_item item;

    assert_int_equal(probity_index_start(&cursor, file), 0);
    while (probity_index_next(&cursor, &item) > 0) {
        if (item.type != PROBITY_BLOCK_DATA)
            continue;
        assert_int_equal(probity_data_get(item.payload, item.payload_bytes, &data), 0);
        found = data.thread == thread ? data : found;
    }
    probity_index_stop(&cursor);
    return found;
}

/* Declarations are not records: thread 1 has one after its latest hit, and thread 2 has only
 * declarations. */
static void a_state_ends_with_the_latest_record(void **state)
{
    static const uint8_t name[] = {5, 0, 0, 0, 'n', 'a', 'm', 'e'};
    static struct make make;

    (void)state;
    make_start(&make);
    make_data(&make, (struct probity_data){.thread = 1},
              (struct make_hit[]){{MAKE_START + 100, 2, 0}, {MAKE_START + 200, 2, 0}}, 2);
    make_event(&make, 1, MAKE_START + 300, PROBITY_EVENT_PROBE_NAME, name, sizeof name);
    make_event(&make, 2, MAKE_START + 400, PROBITY_EVENT_PROBE_NAME, name, sizeof name);
    make_sync(&make, PROBITY_BLOCK_END, make_anchor(MAKE_START + 1000), MAKE_START + 1000);
    int trace = file_of(&make, "trace"), file = index_of(trace);
    assert_int_equal(state_of(file, 1).records, 1);
    assert_int_equal(state_of(file, 1).last_tick, MAKE_START + 200);
    assert_int_equal(state_of(file, 2).records, 0);
    close(trace);
    close(file);
}

static int open_index(void *context, const char *path, const struct probity_range *trace,
                      int attempt)
{
    int trace_file = open(path, O_RDONLY | O_CLOEXEC), file = -1;

    (void)trace;
    if (attempt == 0 && *(int *)context)
        file = index_of(trace_file);
    close(trace_file);
    return file;
}

/* Returns the slot of a thread if a window is read that begins at from_ns. */
static uint32_t slot_of(const char *path, int has_index, uint64_t from_ns, uint32_t thread)
{
    const struct probity_reader_options options = {.open_index = open_index,
                                                   .index_context = &has_index};
    const struct probity_event *event;
    struct probity_reader *reader;
    uint32_t slot = UINT32_MAX;

    assert_int_equal(probity_reader_open(&path, 1, &options, NULL, &reader), 0);
    assert_int_equal(probity_reader_set_window(reader, from_ns, UINT64_MAX), 0);
    while (probity_reader_next(reader, &event) > 0) {
        if (event->thread == thread)
            slot = event->thread_slot;
    }
    probity_reader_close(reader);
    return slot;
}

/* Thread 2 begins before thread 1, but its block follows a mark, because a block is written when it
 * is full. */
static void threads_have_the_same_slots_as_without_an_index(void **state)
{
    static struct make make;

    (void)state;
    make_start(&make);
    make_data(&make, (struct probity_data){.thread = 1},
              (struct make_hit[]){{MAKE_START + 200, 2, 0}, {MAKE_START + 220, 2, 0}}, 2);
    make_data(&make, (struct probity_data){.thread = 2},
              (struct make_hit[]){{MAKE_START + 100, 2, 0}, {MAKE_START + 400, 2, 0}}, 2);
    make_data(&make, (struct probity_data){.thread = 1},
              (struct make_hit[]){{MAKE_START + 500, 2, 0}, {MAKE_START + 600, 2, 0}}, 2);
    make_sync(&make, PROBITY_BLOCK_END, make_anchor(MAKE_START + 1000), MAKE_START + 1000);
    make_write(&make, "slots");
    for (uint64_t tick = 150; tick < 600; tick += 150) {
        uint64_t from_ns = MAKE_WALL + tick / 2;
        for (int has_index = 0; has_index < 2; has_index++) {
            assert_int_equal(slot_of(make.path, has_index, from_ns, 1), 1);
            assert_int_equal(slot_of(make.path, has_index, from_ns, 2), 0);
        }
    }
    unlink(make.path);
}

/* The kinds of a thread's events after the window [150, 300), one letter each. */
static void kinds_after(const char *path, int has_index, uint32_t thread, char *ret_kinds)
{
    const struct probity_reader_options options = {.open_index = open_index,
                                                   .index_context = &has_index};
    const uint64_t to_ns = MAKE_WALL + 150;
    const struct probity_event *event;
    struct probity_reader *reader;
    int is_past = 0;

    assert_int_equal(probity_reader_open(&path, 1, &options, NULL, &reader), 0);
    assert_int_equal(probity_reader_set_window(reader, MAKE_WALL + 75, to_ns), 0);
    while (probity_reader_next(reader, &event) > 0) {
        if (event->wall_ns >= to_ns && event->thread == thread)
            *ret_kinds++ = event->kind == PROBITY_EVENT_LOST ? 'L' : 'H';
        if (event->wall_ns >= to_ns && !is_past)
            assert_int_equal(probity_reader_next_only(reader), 0);
        is_past = event->wall_ns >= to_ns;
    }
    *ret_kinds = '\0';
    probity_reader_close(reader);
}

/* Scopes that are open at the end of a window end with the loss, not with the next record. */
static void a_loss_before_the_next_record_is_returned(void **state)
{
    static const uint8_t count[8] = {3};
    static struct make make;
    char kinds[8];

    (void)state;
    make_start(&make);
    make_data(&make, (struct probity_data){.thread = 1},
              (struct make_hit[]){{MAKE_START + 100, 2, 0}, {MAKE_START + 200, 2, 0}}, 2);
    make_data(&make, (struct probity_data){.thread = 2},
              (struct make_hit[]){{MAKE_START + 210, 2, 0}, {MAKE_START + 400, 2, 0}}, 2);
    make_event(&make, 1, MAKE_START + 500, PROBITY_EVENT_LOST, count, sizeof count);
    make_data(&make, (struct probity_data){.thread = 1},
              (struct make_hit[]){{MAKE_START + 510, 2, 0}, {MAKE_START + 600, 2, 0}}, 2);
    make_event(&make, 1, MAKE_START + 610, PROBITY_EVENT_LOST, count, sizeof count);
    make_sync(&make, PROBITY_BLOCK_END, make_anchor(MAKE_START + 1000), MAKE_START + 1000);
    make_write(&make, "lost");
    kinds_after(make.path, 0, 1, kinds);
    assert_string_equal(kinds, "LHHL");
    kinds_after(make.path, 1, 1, kinds);
    assert_string_equal(kinds, "LH");
    unlink(make.path);
}

/* ---- Thread states -----------------------------------------------------------------------------
 */

/* Creates TRACE.sched with one block, which has no states; the file ends at `end` or after the
 * block. Returns a descriptor. */
static int make_sched(off_t end, struct probity_sched_block *ret_block)
{
    static struct make make;
    struct probity_sched_info info = {.blocks = 1};
    const struct probity_data data = {.thread = 1, .tid = 101, .first_tick = MAKE_START + 310,
                                      .last_tick = MAKE_START + 310, .rate = MAKE_RATE};

    make.serial = 0;
    make.used = PROBITY_SCHED_HEADER_BYTES;
    probity_sched_header_put(make.bytes);
    memcpy(info.session, make_info(NULL).session, sizeof info.session);
    probity_sched_info_put(make_payload(&make), &info);
    make_block(&make, PROBITY_SCHED_INFO, PROBITY_SCHED_INFO_BYTES);
    *ret_block = (struct probity_sched_block){
        make.used, data.first_tick, PROBITY_BLOCK_HEADER_BYTES + PROBITY_DATA_FIXED_BYTES, 1};
    probity_data_put(make_payload(&make), &data);
    make_block(&make, PROBITY_BLOCK_DATA, PROBITY_DATA_FIXED_BYTES);
    int file = file_of(&make, "sched");
    if (end > (off_t)make.used)
        assert_int_equal(ftruncate(file, end), 0);
    return file;
}

/* Creates an index that lists this block of this file. */
static int index_with_states(int trace, int sched, const struct probity_sched_block *block)
{
    static struct probity_index_writer writer;
    struct probity_index_marks marks = {.items = NULL};
    const struct probity_index_options options = {.every_bytes = 1, .marks = &marks};
    const struct probity_range range = probity_range_whole(trace);
    uint8_t header[PROBITY_BLOCK_HEADER_BYTES];

    writer = (struct probity_index_writer){.file = memfd_create("index", MFD_CLOEXEC)};
    assert_int_equal(probity_index_build(&range, writer.file, &options), 0);
    writer.serial = marks.serial;
    assert_int_equal(pread(sched, header, sizeof header, PROBITY_SCHED_HEADER_BYTES),
                     sizeof header);
    uint8_t *at = probity_index_room(&writer, PROBITY_INDEX_STATES_BYTES +
                                                  PROBITY_INDEX_STATES_ENTRY_BYTES);
    probity_put_u64(at, (uint64_t)lseek(sched, 0, SEEK_END));
    memcpy(at + 8, header + 8, 4); /* the checksum */
    probity_put_u32(at + 12, 0);
    probity_put_u64(at + 16, block->offset);
    probity_put_u64(at + 24, block->first_tick);
    probity_put_u32(at + 32, block->bytes);
    probity_put_u32(at + 36, block->thread);
    assert_int_equal(probity_index_emit(&writer, PROBITY_INDEX_STATES,
                                        PROBITY_INDEX_STATES_BYTES +
                                            PROBITY_INDEX_STATES_ENTRY_BYTES), 0);
    assert_int_equal(probity_index_flush(&writer), 0);
    free(writer.block);
    free(marks.items);
    return writer.file;
}

static void make_two_blocks(struct make *make)
{
    make_start(make);
    for (uint64_t tick = MAKE_START + 100; tick <= MAKE_START + 300; tick += 200) {
        make_data(make, (struct probity_data){.thread = 1},
                  (struct make_hit[]){{tick, 2, 0}, {tick + 20, 2, 0}}, 2);
    }
    make_sync(make, PROBITY_BLOCK_END, make_anchor(MAKE_START + 1000), MAKE_START + 1000);
}

/* Returns whether an index may list a block of this size if the file is large enough. */
static int is_listed(uint32_t bytes)
{
    static struct make make;
    struct probity_sched_file opened;
    struct probity_sched_block block;
    struct probity_index index;

    make_two_blocks(&make);
    int trace = file_of(&make, "trace"), sched = make_sched(64 << 20, &block);
    block.bytes = bytes;
    const struct probity_range range = probity_range_whole(trace);
    const struct probity_range states = probity_range_whole(sched);
    const struct probity_info info = make_info(NULL);
    assert_int_equal(probity_index_open(&index, index_with_states(trace, sched, &block), &range,
                                        info.session, make.used), 1);
    int got = probity_sched_file_open_listed(&opened, &states, info.session, &index);
    if (got == 1)
        probity_sched_file_release(&opened);
    else
        close(sched);
    probity_index_release(&index);
    close(trace);
    return got;
}

/* A reader allocates as much as the list requires. */
static void a_listed_block_is_not_longer_than_any_other(void **state)
{
    const uint32_t most = PROBITY_BLOCK_HEADER_BYTES + PROBITY_BLOCK_PAYLOAD_MAX;

    (void)state;
    assert_int_equal(is_listed(most), 1);
    assert_int_equal(is_listed(most + 1), 0);
    assert_int_equal(is_listed(PROBITY_BLOCK_HEADER_BYTES + PROBITY_DATA_FIXED_BYTES), 1);
    assert_int_equal(is_listed(PROBITY_BLOCK_HEADER_BYTES + PROBITY_DATA_FIXED_BYTES - 1), 0);
}

/* What the callbacks of a reader open. */
struct opened {
    int has_index;
    struct probity_sched_block block;
};

static int open_states(void *context, const char *path, const struct probity_range *trace,
                       struct probity_range *ret_range)
{
    struct opened *opened = context;

    (void)path;
    (void)trace;
    *ret_range = probity_range_whole(make_sched(0, &opened->block));
    return 0;
}

static int open_index_of_states(void *context, const char *path,
                                const struct probity_range *trace, int attempt)
{
    struct opened *opened = context;

    (void)path;
    if (attempt > 0 || !opened->has_index)
        return -1;
    int sched = make_sched(0, &opened->block);
    int file = index_with_states(trace->file, sched, &opened->block);
    close(sched);
    return file;
}

static void a_block_of_no_states_is_not_damage(void **state)
{
    struct opened opened = {.has_index = 0};
    const struct probity_reader_options options = {
        .open_index = open_index_of_states, .index_context = &opened,
        .open_sched = open_states, .sched_context = &opened};
    static struct make make;
    const struct probity_event *event;
    const char *path = make.path;
    struct probity_reader *reader;

    (void)state;
    make_two_blocks(&make);
    make_write(&make, "states");
    for (; opened.has_index < 2; opened.has_index++) {
        assert_int_equal(probity_reader_open(&path, 1, &options, NULL, &reader), 0);
        assert_int_equal(probity_reader_set_window(reader, MAKE_WALL + 150, UINT64_MAX), 0);
        while (probity_reader_next(reader, &event) > 0)
            continue;
        assert_non_null(probity_reader_facts(reader, 0)->sched);
        assert_int_equal(probity_reader_facts(reader, 0)->sched_damages, 0);
        probity_reader_close(reader);
    }
    unlink(make.path);
}

/* ---- Out of memory -----------------------------------------------------------------------------
 */

void *__real_realloc(void *memory, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);

static unsigned reallocs_left = UINT_MAX; /* number that succeed */

void *__wrap_realloc(void *memory, size_t bytes)
{
    if (reallocs_left == 0)
        return NULL;
    reallocs_left--;
    return __real_realloc(memory, bytes);
}

/* A closed trace of 40 threads. */
static int make_trace(void)
{
    static struct make make;

    make_start(&make);
    for (uint32_t thread = 0; thread < 40; thread++) {
        const struct make_hit hit = {MAKE_START + 100 + thread, 2, 0};
        make_data(&make, (struct probity_data){.thread = thread}, &hit, 1);
    }
    make_sync(&make, PROBITY_BLOCK_END, make_anchor(MAKE_START + 1000), MAKE_START + 1000);
    return file_of(&make, "trace");
}

/* Lets each array that must grow fail to do so once. */
static void no_memory_is_an_error(void **state)
{
    static const struct probity_index_options options;
    int trace = make_trace(), file = memfd_create("index", MFD_CLOEXEC), error = -1;
    const struct probity_range range = probity_range_whole(trace);
    unsigned failed = 0;

    (void)state;
    for (; error != 0 && failed < 100; failed++) {
        reallocs_left = failed;
        error = probity_index_build(&range, file, &options);
        reallocs_left = UINT_MAX;
        assert_true(error == 0 || error == PROBITY_ERROR_MEMORY);
    }
    assert_int_equal(error, 0);
    assert_true(failed > 5);
    close(trace);
    close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_mark_is_between_blocks_out_of_order),
        cmocka_unit_test(a_leave_closes_what_is_above_it),
        cmocka_unit_test(each_damaged_byte_is_found),
        cmocka_unit_test(an_index_of_an_older_version_is_not_used),
        cmocka_unit_test(a_mark_is_chosen_if_it_is_earlier_and_usable),
        cmocka_unit_test(a_state_ends_with_the_latest_record),
        cmocka_unit_test(threads_have_the_same_slots_as_without_an_index),
        cmocka_unit_test(a_loss_before_the_next_record_is_returned),
        cmocka_unit_test(a_listed_block_is_not_longer_than_any_other),
        cmocka_unit_test(a_block_of_no_states_is_not_damage),
        cmocka_unit_test(no_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
