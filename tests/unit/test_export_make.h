/* SPDX-License-Identifier: MIT
 *
 * test_export_make.h: a small generated trace that contains everything, and an exporter's output
 * for a trace.
 */
#ifndef TESTS_UNIT_TEST_EXPORT_MAKE_H
#define TESTS_UNIT_TEST_EXPORT_MAKE_H

#include "test_scopes_make.h"

#include "exports/export.h"

static struct make make;

/* Sites: outer 10; 20 has a name with markup, quotes, two lines and invalid UTF-8; 30 is
 * deferred. */
enum { OUTER = 10, WILD = 20, LATE = 30 };

/* Format 1: n, name; 2: a result; 3: a message; 4: a label. */
static const uint8_t formats[][64] = {
    {1, 0, 0, 0, 11, 0, 0, 0, 2, 0, 7, 0, 1, 0, 'n', 17, 0, 4, 0, 'n', 'a', 'm', 'e'},
    {2, 0, 0, 0, 12, 0, 0, 0, 1, 0, 14, 0, 1, 0, 'r'},
    {3, 0, 0, 0, 13, 0, 0, 0, 2, 0, 20, 0, 8, 0, '"', 's', 'i', 'z', 'e', ' ', ':', '"', 7, 0, 1, 0,
     'n'},
    {4, 0, 0, 0, 14, 0, 0, 0, 1, 0, 20, 0, 3, 0, '"', 'x', '"'}};
static const uint8_t formats_bytes[] = {23, 15, 27, 17};

static const uint8_t wild_values[] = {WILD, 0, 0, 0, 1, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff,
                                      4, 0, '<', '"', '\n', 0xff};
static const uint8_t wild_result[] = {WILD, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f};
static const uint8_t size_message[] = {3, 0, 0, 0, 42, 0, 0, 0};
static const uint8_t stall[] = {0xd0, 7, 0, 0, 0, 0, 0, 0};

static const struct probity_export_options all;

static inline void start(void)
{
    uint8_t payload[512];
    size_t bytes;

    make_start(&make);
    make_declare(&make, 1, OUTER, "outer", 0);
    bytes = make_function(payload, WILD, "<b>\"w;\n\xff\\", 0);
    make_event(&make, 1, MAKE_START, PROBITY_EVENT_FUNCTION, payload, bytes);
    make_declare(&make, 1, LATE, "late", 1);
    for (size_t i = 0; i < COUNT(formats); i++)
        make_event(&make, 1, MAKE_START, PROBITY_EVENT_FORMAT, formats[i], formats_bytes[i]);
}

/* Thread 1 jumps out of a scope, thread 2 never leaves one, and thread 3 has a leave without an
 * enter. At 3.5 us, thread 1 records that late() began at 2.5 us, so late() made the calls in
 * between. */
static inline void make_all(void)
{
    uint8_t late[20] = {LATE, 0, 0, 0, 4};

    start();
    probity_put_u64(late + 8, MAKE_START + 5000);
    make_items(&make, 1,
               (struct make_item[]){
                   EVENT(0, PROBITY_EVENT_THREAD_NAME, "a <thread>", 10),
                   EVENT(0, PROBITY_EVENT_PROBE_NAME, "\7\0\0\0pr\"obe", 10),
                   ENTER(2000, OUTER), {.tick = 2200, .code = 14},
                   EVENT(2400, PROBITY_EVENT_MESSAGE, size_message, sizeof size_message),
                   ENTER(6000, OUTER), LEAVE(6600, OUTER),
                   EVENT(7000, PROBITY_EVENT_CHECKPOINT, late, 16), LEAVE(8000, LATE),
                   EVENT(9000, PROBITY_EVENT_ENTER, wild_values, sizeof wild_values),
                   EVENT(9400, PROBITY_EVENT_LEAVE, wild_result, sizeof wild_result),
                   EVENT(9500, PROBITY_EVENT_PAUSE, "", 0),
                   EVENT(9700, PROBITY_EVENT_RESUME, "", 0),
                   EVENT(9800, PROBITY_EVENT_STALL, stall, sizeof stall),
                   ENTER(9900, WILD), {.tick = 9950, .code = 14}, LEAVE(12000, OUTER)},
               17);
    make_items(&make, 2, (struct make_item[]){ENTER(2001, WILD), {.tick = 4001, .code = 16}}, 2);
    make_items(&make, 3, (struct make_item[]){LEAVE(3000, 50)}, 1);
    make_finish(&make, "export");
}

/* Returns all bytes that an exporter writes for the generated trace, malloc'ed and zero-terminated.
 * If it exports a directory, it writes to `path`, and the text is empty. */
static inline char *export_bytes(const struct probity_exporter *exporter,
                                 const struct probity_export_options *options, const char *path,
                                 struct probity_export_counts *ret_counts, size_t *ret_bytes)
{
    const char *trace = make.path;
    struct probity_reader *reader;
    const struct probity_event *event;
    struct probity_export_run *run;
    FILE *file = tmpfile();

    assert_non_null(file);
    assert_int_equal(probity_reader_open(&trace, 1, NULL, NULL, &reader), 0);
    const struct probity_export_call call = {.exporter = exporter, .reader = reader,
                                             .options = options, .descriptor = fileno(file),
                                             .path = path};
    assert_int_equal(probity_export_open(&call, &run), 0);
    while (probity_reader_next(reader, &event) > 0)
        assert_int_equal(probity_export_put(run, event), 0);
    assert_int_equal(probity_export_finish(run), 0);
    if (ret_counts != NULL)
        *ret_counts = probity_export_look(run)->counts;
    probity_export_close(run);
    probity_reader_close(reader);
    *ret_bytes = (size_t)lseek(fileno(file), 0, SEEK_END);
    char *bytes = calloc(*ret_bytes + 1, 1);
    assert_non_null(bytes);
    assert_int_equal(pread(fileno(file), bytes, *ret_bytes, 0), *ret_bytes);
    fclose(file);
    return bytes;
}

enum { LONG_NAME = 1900, EXTREME = 60 };

/* ---- Extreme values ----------------------------------------------------------------------------
 */

/* Format 9: the largest and smallest numbers, an infinity, and text in invalid UTF-8. */
static const uint8_t extremes_format[] = {
    9, 0, 0, 0, 11, 0, 0, 0, 6, 0, 9, 0, 3, 0, 'm', 'i', 'n', 9, 0, 3, 0, 'm', 'a', 'x', 10, 0, 3,
    0, 'a', 'l', 'l', 16, 0, 3, 0, 'p', 't', 'r', 14, 0, 3, 0, 'i', 'n', 'f', 17, 0, 2, 0, 0xff,
    0xc3};

static inline size_t put_extremes(uint8_t *at)
{
    static const uint64_t numbers[] = {UINT64_C(1) << 63, INT64_MAX, UINT64_MAX, UINT64_MAX,
                                       UINT64_C(0x7ff0000000000000)};

    probity_put_u32(at, EXTREME);
    probity_put_u32(at + 4, 9);
    for (size_t i = 0; i < COUNT(numbers); i++)
        probity_put_u64(at + 8 + 8 * i, numbers[i]);
    memcpy(at + 48, "\2\0\xfe\xed", 4);
    return 52;
}

static char long_name[LONG_NAME + 1];

/* One thread, with a name in invalid UTF-8, never leaves a function with a long name and those
 * values, and makes a hit whose ids are all ones. The program's path has 10,000 bytes. */
static inline void make_extremes(void)
{
    static char path[10000];
    uint8_t declaration[2040], values[64], ids[24] = {7};
    struct probity_info info = make_info(NULL);

    memset(long_name, 'n', LONG_NAME);
    memcpy(long_name, "f\xff", 2);
    memset(path, 'p', sizeof path);
    info.text[PROBITY_TAG_PROGRAM] = (struct probity_text){path, sizeof path};
    probity_file_header_put(make.bytes);
    make.used = PROBITY_FILE_HEADER_BYTES;
    make.serial = make.records = 0;
    make_block(&make, PROBITY_BLOCK_INFO, probity_info_put(make_payload(&make), 20000, &info));
    make_event(&make, 1, MAKE_START, PROBITY_EVENT_FUNCTION, declaration,
               make_function(declaration, EXTREME, long_name, 0));
    make_event(&make, 1, MAKE_START, PROBITY_EVENT_FORMAT, extremes_format,
               sizeof extremes_format);
    size_t bytes = put_extremes(values);
    probity_put_u32(ids + 4, PROBITY_HIT_WITH_CORRELATION | PROBITY_HIT_WITH_OBJECT);
    memset(ids + 8, 0xff, 16);
    make_items(&make, 1,
               (struct make_item[]){
                   EVENT(2, PROBITY_EVENT_THREAD_NAME, "\xc3(\xfe", 3),
                   EVENT(4, PROBITY_EVENT_ENTER, values, bytes),
                   EVENT(6, PROBITY_EVENT_HIT_WITH, ids, sizeof ids),
                   EVENT(8, PROBITY_EVENT_LEVELS, "\5\3\1", 3),
                   EVENT(10, PROBITY_EVENT_PROFILING, "\0", 1),
                   EVENT(12, PROBITY_EVENT_LOST, "\7\0\0\0\0\0\0", 8)},
               6);
    make_finish(&make, "extremes");
}

static inline void make_nothing(void)
{
    make_start(&make);
    make_finish(&make, "nothing");
}

/* Compares and frees the decoded text, in which more than 40 equal letters in a row are shortened,
 * as in "n*1898". */
static inline void expect_text(char *text, const char *expected)
{
    char *to = text;

    for (const char *from = text; *from != '\0';) {
        size_t run = strspn(from, (char[]){*from, '\0'});
        if (run > 40)
            to += snprintf(to, run, "%c*%zu", *from, run);
        else
            to = (char *)memmove(to, from, run) + run;
        from += run;
    }
    *to = '\0';
    assert_string_equal(text, expected);
    free(text);
}

/* ---- Bytes -------------------------------------------------------------------------------------
 */

struct span {
    const uint8_t *at, *end;
};

static inline const char *text_of(struct span content)
{
    static char texts[4][16384];
    static unsigned turn;
    char *text = texts[turn++ % 4];
    size_t count = (size_t)(content.end - content.at);

    assert_true(count < sizeof texts[0]);
    if (count > 0)
        memcpy(text, content.at, count);
    text[count] = '\0';
    return text;
}

#endif
