/* SPDX-License-Identifier: MIT
 *
 * test_dump_file.c: what a dump copies from the trace if the writer has discarded a chunk that the
 * dump had copied.
 */
#include "test_reader_make.h"

#include "reader/reader.h"
#include "writer/dump_file.h"

enum { WORDS = 512, HITS = 40, CHUNK = 1 };

static struct make make;

static void print_fault(void *context, uint64_t offset, const char *text)
{
    (void)context;
    print_error("byte %llu: %s\n", (unsigned long long)offset, text);
}

static void count_pause(void *context)
{
    ++*(int *)context;
}

/* The trace has the declarations of the chunk, which the dump also contains in full. */
static void discarded_chunk_is_not_twice(void **state)
{
    static uint64_t words[WORDS];
    struct probity_dump dump = {.flags = PROBITY_DUMP_WHOLE, .wanted = MAKE_START,
                                .had = MAKE_START, .end = MAKE_START + 1000, .reasons = 1};
    struct probity_dump_reason reason = {.kind = PROBITY_DUMP_COMMAND, .thread = UINT32_MAX,
                                         .number = UINT32_MAX};
    const struct probity_spool_anchor anchor = {MAKE_START + 1000, 1500, 2500, MAKE_WALL + 500, 40,
                                                0};
    struct probity_drain_input chunk = {.words = words, .end = HITS, .tid = 100, .chunk = CHUNK,
                                        .base_tick = MAKE_START, .rate = MAKE_RATE,
                                        .cpu_known = 1};
    const struct probity_check_listener listener = {.report = print_fault};
    struct probity_dump_file file;
    struct probity_check_result result;
    int pauses = 0;

    (void)state;
    make_start(&make);
    assert_int_equal(make.serial, CHUNK); /* make_event() uses it as the chunk */
    make_event(&make, 0, MAKE_START, PROBITY_EVENT_THREAD_NAME, "main", 4);
    make_write(&make, "dumped");
    for (int i = 0; i < HITS; i++)
        words[i] = probity_word(MAKE_START + 10 * (uint64_t)i, PROBITY_WORD_CODE_FIRST + 2);
    int trace = open(make.path, O_RDONLY);
    assert_true(trace >= 0);
    struct probity_dump_content content = {.trace = trace, .trace_bytes = make.used,
                                           .chunks = &chunk, .chunk_count = 1,
                                           .chunk_words = WORDS, .anchors = &anchor,
                                           .anchor_count = 1, .dump = &dump,
                                           .declaring = &chunk, .declaring_count = 1,
                                           .pause = count_pause, .context = &pauses,
                                           .reasons = &reason, .session = {1}};
    char *slash = strrchr(make.path, '/');
    *slash = '\0';
    int directory = open(make.path, O_RDONLY | O_DIRECTORY);
    *slash = '/';
    assert_true(directory >= 0);
    unlink(make.path);
    assert_int_equal(probity_dump_file_open(&file, directory, WORDS, content.session), 0);
    assert_int_equal(probity_dump_file_fill(&file, &content), 0);
    assert_int_equal(probity_dump_file_name(&file, slash + 1), 0);
    probity_dump_file_close(&file);
    assert_int_equal(pauses, 2); /* after the older chunk, and after the one in the window */
    assert_int_equal(probity_check_file(make.path, &listener, &result), 0);
    assert_int_equal(result.faults, 0);
    assert_int_equal(result.records, HITS + 1);
    unlink(make.path);
    close(directory);
    close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(discarded_chunk_is_not_twice)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
