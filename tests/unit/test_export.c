/* SPDX-License-Identifier: MIT
 *
 * test_export.c: one small made trace with everything in it, in each format that is text, to the
 * letter; ranges, values, what is left out; empty traces; outputs that fail.
 */
#include "test_scopes_make.h"

#include <errno.h>

#include "output/export.h"

static struct make make;

/* Sites: outer 10, one with a name that is markup, quotes, two lines and no UTF-8 20, deferred 30.
 */
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

static void start(void)
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

/* Thread 1 jumps out of a scope; thread 2 never leaves one; thread 3 has no enter for its leave.
 * At 3.5 us thread 1 tells that late() began at 2.5 us, and so called what is in between. */
static void make_all(void)
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

/* What an exporter writes of the trace that was made. Static: valid until the next call. */
static const char *export_with(const struct probity_exporter *exporter,
                               const struct probity_export_options *options,
                               struct probity_export_counts *ret_counts)
{
    static char text[1 << 17];
    const char *path = make.path;
    struct probity_reader *reader;
    const struct probity_event *event;
    struct probity_export_run *run;
    FILE *file = tmpfile();

    assert_non_null(file);
    assert_int_equal(probity_reader_open(&path, 1, NULL, NULL, &reader), 0);
    const struct probity_export_call call = {exporter, reader, options, fileno(file), NULL};
    assert_int_equal(probity_export_open(&call, &run), 0);
    while (probity_reader_next(reader, &event) > 0)
        assert_int_equal(probity_export_put(run, event), 0);
    assert_int_equal(probity_export_finish(run), 0);
    if (ret_counts != NULL)
        *ret_counts = probity_export_look(run)->counts;
    probity_export_close(run);
    probity_reader_close(reader);
    ssize_t got = pread(fileno(file), text, sizeof text - 1, 0);
    assert_true(got >= 0);
    text[got] = '\0';
    fclose(file);
    return text;
}

static void chrome_has_everything(void **state)
{
    (void)state;
    make_all();
    const char *text = export_with(&probity_exporter_chrome, &all, NULL);
    fputs(text, stderr);
    fputs(export_with(&probity_exporter_speedscope, &all, NULL), stderr);
    fputs(export_with(&probity_exporter_callgrind, &all, NULL), stderr);
    fputs(export_with(&probity_exporter_folded, &all, NULL), stderr);
    fputs(export_with(&probity_exporter_graphviz, &all, NULL), stderr);
    struct probity_export_options o={.graph=1};
    fputs(export_with(&probity_exporter_graphviz, &o, NULL), stderr);
    unlink(make.path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chrome_has_everything),
    };

    return cmocka_run_group_tests_name("export", tests, NULL, NULL);
}
