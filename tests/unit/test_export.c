/* SPDX-License-Identifier: MIT
 *
 * test_export.c: the exact output of each text format for a small generated trace that contains
 * everything; ranges, values, omissions, empty traces, output errors.
 */
#include "test_export_make.h"

#include <errno.h>

#include <jansson.h>

#include "exports/export_json.h"

/* Returns an exporter's output for the generated trace. Static: valid until the next call. */
static const char *export_with(const struct probity_exporter *exporter,
                               const struct probity_export_options *options,
                               struct probity_export_counts *ret_counts)
{
    static char text[1 << 17];
    size_t bytes;
    char *made = export_bytes(exporter, options, NULL, ret_counts, &bytes);

    assert_true(bytes < sizeof text);
    memcpy(text, made, bytes + 1);
    free(made);
    return text;
}

/* The name of the trace varies. */
static void expect_export(const struct probity_exporter *exporter,
                          const struct probity_export_options *options, const char *expected)
{
    char *text = strdup(export_with(exporter, options, NULL));
    char *path = strstr(text, make.path);

    assert_non_null(text);
    if (path != NULL) {
        memcpy(path, "TRACE", 5);
        memmove(path + 5, path + strlen(make.path), strlen(path + strlen(make.path)) + 1);
    }
    assert_string_equal(text, expected);
    free(text);
}

static void chrome_has_everything(void **state)
{
    (void)state;
    make_all();
    expect_export(&probity_exporter_chrome, &all,
                  "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
                  "{\"ph\":\"M\",\"pid\":77,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name"
                  "\":\"made\"}},\n"
                  "{\"ph\":\"M\",\"pid\":77,\"tid\":101,\"name\":\"thread_name\",\"args\":{\"name"
                  "\":\"a <thread>\"}},\n"
                  "{\"ph\":\"B\",\"pid\":77,\"tid\":101,\"ts\":1.000,\"tts\":2.000,\"cat\":\"func"
                  "tion\",\"name\":\"outer\"},\n"
                  "{\"ph\":\"B\",\"pid\":77,\"tid\":102,\"ts\":1.000,\"tts\":2.000,\"cat\":\"func"
                  "tion\",\"name\":\"<b>\\\"w;\\\\n\\\\377\\\\\"},\n"
                  "{\"ph\":\"i\",\"s\":\"t\",\"pid\":77,\"tid\":101,\"ts\":1.100,\"tts\":2.100,\""
                  "cat\":\"probe\",\"name\":\"pr\\\"obe\"},\n"
                  "{\"ph\":\"i\",\"s\":\"t\",\"pid\":77,\"tid\":101,\"ts\":1.200,\"tts\":2.200,\""
                  "cat\":\"message\",\"name\":\"size :42\"},\n"
                  "{\"ph\":\"i\",\"s\":\"t\",\"pid\":77,\"tid\":103,\"ts\":1.500,\"tts\":2.500,\""
                  "cat\":\"probe\",\"name\":\"site-51\"},\n"
                  "{\"ph\":\"i\",\"s\":\"t\",\"pid\":77,\"tid\":102,\"ts\":2.000,\"tts\":3.000,\""
                  "cat\":\"probe\",\"name\":\"8\"},\n"
                  "{\"ph\":\"B\",\"pid\":77,\"tid\":101,\"ts\":3.000,\"tts\":4.000,\"cat\":\"func"
                  "tion\",\"name\":\"outer\"},\n"
                  "{\"ph\":\"E\",\"pid\":77,\"tid\":101,\"ts\":3.300,\"tts\":4.300},\n"
                  "{\"ph\":\"B\",\"pid\":77,\"tid\":101,\"ts\":2.500,\"tts\":3.500,\"cat\":\"func"
                  "tion\",\"name\":\"late\"},\n"
                  "{\"ph\":\"i\",\"s\":\"t\",\"pid\":77,\"tid\":101,\"ts\":3.500,\"tts\":4.500,\""
                  "cat\":\"checkpoint\",\"name\":\"x\"},\n"
                  "{\"ph\":\"E\",\"pid\":77,\"tid\":101,\"ts\":4.000,\"tts\":5.000},\n"
                  "{\"ph\":\"B\",\"pid\":77,\"tid\":101,\"ts\":4.500,\"tts\":5.500,\"cat\":\"func"
                  "tion\",\"name\":\"<b>\\\"w;\\\\n\\\\377\\\\\",\"args\":{\"n\":-2,\"name\":\"\\"
                  "\"<\\\\\\\"\\\\n\\\\377\\\"\"}},\n"
                  "{\"ph\":\"E\",\"pid\":77,\"tid\":101,\"ts\":4.700,\"tts\":5.700,\"args\":{\"re"
                  "turn\":1.5}},\n"
                  "{\"ph\":\"i\",\"s\":\"t\",\"pid\":77,\"tid\":101,\"ts\":4.750,\"tts\":5.750,\""
                  "cat\":\"probity\",\"name\":\"pause\"},\n"
                  "{\"ph\":\"i\",\"s\":\"t\",\"pid\":77,\"tid\":101,\"ts\":4.850,\"tts\":5.850,\""
                  "cat\":\"probity\",\"name\":\"resume\"},\n"
                  "{\"ph\":\"i\",\"s\":\"t\",\"pid\":77,\"tid\":101,\"ts\":4.900,\""
                  "cat\":\"probity\",\"name\":\"stall\",\"args\":{\"waited_ns\":1000}},\n"
                  "{\"ph\":\"B\",\"pid\":77,\"tid\":101,\"ts\":4.950,\"tts\":5.950,\"cat\":\"func"
                  "tion\",\"name\":\"<b>\\\"w;\\\\n\\\\377\\\\\"},\n"
                  "{\"ph\":\"i\",\"s\":\"t\",\"pid\":77,\"tid\":101,\"ts\":4.975,\"tts\":5.975,\""
                  "cat\":\"probe\",\"name\":\"pr\\\"obe\"},\n"
                  "{\"ph\":\"M\",\"pid\":77,\"tid\":4194405,\"name\":\"thread_name\",\"args\":{"
                  "\"name\":\"blocks of a <thread>\"}},\n"
                  "{\"ph\":\"X\",\"pid\":77,\"tid\":4194405,\"ts\":1.100,\"dur\":3.875,\"tdur\""
                  ":3.875,\"cat\":\"block\",\"name\":\"7 (pr\\\"obe) -> 7 (pr\\\"obe)\"},\n"
                  "{\"ph\":\"E\",\"pid\":77,\"tid\":101,\"ts\":4.975,\"tts\":5.975,\"args\":{\"re"
                  "paired\":\"unwound\"}},\n"
                  "{\"ph\":\"E\",\"pid\":77,\"tid\":101,\"ts\":6.000,\"tts\":7.000},\n"
                  "{\"ph\":\"E\",\"pid\":77,\"tid\":102,\"ts\":2.000,\"tts\":3.000,\"args\":{\"re"
                  "paired\":\"open at the end\"}}\n"
                  "],\"otherData\":{\"creator\":\"probity 0.2.0\",\"start_realtime_ns\":\"1700000"
                  "000000000000\",\"traces\":[\n"
                  "{\"trace\":\"TRACE\",\"pid\":77,\"complete\":true,\"why\":\"closed at exit\"}]"
                  "}}\n");
    unlink(make.path);
}

static void speedscope_has_profiles_of_threads(void **state)
{
    (void)state;
    make_all();
    expect_export(&probity_exporter_speedscope, &all,
                  "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter"
                  "\":\"probity 0.2.0\",\"shared\":{\"frames\":[\n"
                  "{\"name\":\"outer\",\"file\":\"made.c\",\"line\":20},\n"
                  "{\"name\":\"<b>\\\"w;\\\\n\\\\377\\\\\",\"file\":\"made.c\",\"line\":30},\n"
                  "{\"name\":\"late\",\"file\":\"made.c\",\"line\":40}\n"
                  "]},\"profiles\":[\n"
                  "{\"type\":\"evented\",\"unit\":\"nanoseconds\",\"events\":[\n"
                  "{\"type\":\"O\",\"frame\":0,\"at\":1000},\n"
                  "{\"type\":\"O\",\"frame\":2,\"at\":2500},\n"
                  "{\"type\":\"O\",\"frame\":0,\"at\":3000},\n"
                  "{\"type\":\"C\",\"frame\":0,\"at\":3300},\n"
                  "{\"type\":\"C\",\"frame\":2,\"at\":4000},\n"
                  "{\"type\":\"O\",\"frame\":1,\"at\":4500},\n"
                  "{\"type\":\"C\",\"frame\":1,\"at\":4700},\n"
                  "{\"type\":\"O\",\"frame\":1,\"at\":4950},\n"
                  "{\"type\":\"C\",\"frame\":1,\"at\":4975},\n"
                  "{\"type\":\"C\",\"frame\":0,\"at\":6000}],\n"
                  "\"name\":\"a <thread> 77/101\",\"startValue\":1000,\"endValue\":6000},\n"
                  "{\"type\":\"evented\",\"unit\":\"nanoseconds\",\"events\":[\n"
                  "{\"type\":\"O\",\"frame\":1,\"at\":1000},\n"
                  "{\"type\":\"C\",\"frame\":1,\"at\":2000}],\n"
                  "\"name\":\"77/102\",\"startValue\":1000,\"endValue\":2000}\n"
                  "]}\n");
    unlink(make.path);
}

static void callgrind_has_self_times_and_calls(void **state)
{
    (void)state;
    make_all();
    expect_export(&probity_exporter_callgrind, &all,
                  "# callgrind format\n"
                  "version: 1\n"
                  "creator: probity 0.2.0\n"
                  "cmd: made\n"
                  "positions: line\n"
                  "event: Wall : wall time, ns\n"
                  "event: Cpu : CPU time, ns\n"
                  "events: Wall Cpu\n"
                  "\n"
                  "fl=made.c\n"
                  "fn=(1) <b>\"w;\\n\\377\\\n"
                  "30 1225 1225\n"
                  "\n"
                  "fl=made.c\n"
                  "fn=(2) late\n"
                  "40 1200 1200\n"
                  "cfi=made.c\n"
                  "cfn=(3) outer\n"
                  "calls=1 20\n"
                  "40 300 300\n"
                  "\n"
                  "fl=made.c\n"
                  "fn=(3)\n"
                  "20 3475 3475\n"
                  "cfi=made.c\n"
                  "cfn=(1)\n"
                  "calls=2 30\n"
                  "20 225 225\n"
                  "cfi=made.c\n"
                  "cfn=(2)\n"
                  "calls=1 40\n"
                  "20 1500 1500\n"
                  "\n"
                  "totals: 5900 5900\n");
    unlink(make.path);
}

static void folded_has_paths(void **state)
{
    static const struct probity_export_options calls = {.value = PROBITY_EXPORT_CALLS,
                                                        .by_thread = 1};

    (void)state;
    make_all();
    expect_export(&probity_exporter_folded, &all,
                  "outer 3175\n"
                  "outer;late 1200\n"
                  "outer;late;outer 300\n"
                  "outer;<b>\"w:\\n\\377\\ 225\n"
                  "<b>\"w:\\n\\377\\ 1000\n");
    expect_export(&probity_exporter_folded, &calls,
                  "a <thread>-101;outer 1\n"
                  "a <thread>-101;outer;late 1\n"
                  "a <thread>-101;outer;late;outer 1\n"
                  "a <thread>-101;outer;<b>\"w:\\n\\377\\ 2\n"
                  "thread-102;<b>\"w:\\n\\377\\ 1\n");
    unlink(make.path);
}

static void graphviz_has_calls_or_blocks(void **state)
{
    static const struct probity_export_options blocks = {.graph = PROBITY_EXPORT_BLOCK_GRAPH};

    (void)state;
    make_all();
    expect_export(&probity_exporter_graphviz, &all,
                  "digraph probity {\n"
                  "  node [shape=box, fontname=\"sans-serif\", fontsize=10];\n"
                  "  edge [fontname=\"sans-serif\", fontsize=8, color=\"#00000060\", "
                  "arrowsize=0.7];\n"
                  "  n0 [label=\"outer\\ncalls 2\\ntotal 4.900us, self 3.475us\"];\n"
                  "  n1 [label=\"late\\ncalls 1\\ntotal 1.500us, self 1.200us\"];\n"
                  "  n2 [label=\"<b>\\\"w;\\\\n\\\\377\\\\\\ncalls 3\\ntotal 1.225us, self 1.225u"
                  "s\"];\n"
                  "  n0 -> n1 [label=\"  1x  \\n  1.500us  \", penwidth=5.00];\n"
                  "  n0 -> n2 [label=\"  2x  \\n  225ns  \", penwidth=1.18];\n"
                  "  n1 -> n0 [label=\"  1x  \\n  300ns  \", penwidth=1.40];\n"
                  "}\n");
    expect_export(&probity_exporter_graphviz, &blocks,
                  "digraph probity {\n"
                  "  node [shape=box, fontname=\"sans-serif\", fontsize=10];\n"
                  "  edge [fontname=\"sans-serif\", fontsize=8, color=\"#00000060\", "
                  "arrowsize=0.7];\n"
                  "  n0 [label=\"7\\npr\\\"obe\"];\n"
                  "  n0 -> n0 [label=\"  100.0 %, 1x  \\n  3.875us  \", penwidth=5.00];\n"
                  "}\n");
    unlink(make.path);
}

/* A range contains the calls that begin in it, to their ends, but not those that began earlier;
 * names are kept. */
static void a_range_has_what_begins_in_it(void **state)
{
    static const struct probity_export_options part = {.from_ns = MAKE_WALL + 4400,
                                                       .to_ns = MAKE_WALL + 4900};

    (void)state;
    make_all();
    const char *text = export_with(&probity_exporter_chrome, &part, NULL);
    assert_non_null(strstr(text, "\"thread_name\""));
    assert_null(strstr(text, "outer"));
    assert_null(strstr(text, "stall"));
    assert_non_null(strstr(text, "\"ts\":4.500"));
    assert_non_null(strstr(text, "\"resume\""));
    expect_export(&probity_exporter_folded, &part, "outer;<b>\"w:\\n\\377\\ 200\n");
    unlink(make.path);
}

static void what_has_no_place_is_counted(void **state)
{
    static const struct probity_export_options blocks = {.graph = PROBITY_EXPORT_BLOCK_GRAPH};
    struct probity_export_counts counts;

    (void)state;
    make_all();
    export_with(&probity_exporter_chrome, &all, &counts);
    assert_int_equal(counts.scopes, 6);
    assert_int_equal(counts.hits, 4);
    assert_int_equal(counts.events, 2);
    for (size_t i = 0; i < COUNT(counts.left_out); i++)
        assert_int_equal(counts.left_out[i], 0);
    export_with(&probity_exporter_speedscope, &all, &counts);
    assert_int_equal(counts.left_out[0], 0);
    assert_int_equal(counts.left_out[1], 4);
    assert_int_equal(counts.left_out[2], 2);
    export_with(&probity_exporter_graphviz, &all, &counts);
    assert_int_equal(counts.left_out[1], 4);
    export_with(&probity_exporter_graphviz, &blocks, &counts);
    assert_int_equal(counts.left_out[0], 5); /* enters, which a deferred scope lacks */
    assert_int_equal(counts.left_out[1], 0);
    unlink(make.path);
}

static const struct probity_exporter *const streams[] = {
    &probity_exporter_chrome, &probity_exporter_speedscope, &probity_exporter_callgrind,
    &probity_exporter_folded, &probity_exporter_graphviz};

static void an_empty_trace_has_the_frame_of_its_format(void **state)
{
    static const char *const expected[] = {"process_name", "\"no calls\"", "totals: 0 0\n", "",
                                           "digraph"};

    (void)state;
    make_start(&make);
    make_finish(&make, "export");
    for (size_t i = 0; i < COUNT(streams); i++)
        assert_non_null(strstr(export_with(streams[i], &all, NULL), expected[i]));
    unlink(make.path);
}

static void a_full_disk_is_an_error(void **state)
{
    const char *path = make.path;
    int full = open("/dev/full", O_WRONLY);

    (void)state;
    assert_true(full >= 0);
    make_all();
    for (size_t i = 0; i < COUNT(streams); i++) {
        struct probity_export_run *run;
        struct probity_reader *reader;
        const struct probity_event *event;
        assert_int_equal(probity_reader_open(&path, 1, NULL, NULL, &reader), 0);
        const struct probity_export_call call = {.exporter = streams[i], .reader = reader,
                                                 .options = &all, .descriptor = full};
        assert_int_equal(probity_export_open(&call, &run), 0);
        while (probity_reader_next(reader, &event) > 0)
            assert_int_equal(probity_export_put(run, event), 0);
        errno = 0;
        assert_int_equal(probity_export_finish(run), PROBITY_ERROR_WRITE);
        assert_int_equal(errno, ENOSPC);
        probity_export_close(run);
        probity_reader_close(reader);
    }
    close(full);
    unlink(make.path);
}

/* Many calls precede the deferred scope: those already written are not moved. */
static void late_scopes_find_the_lines_that_are_left(void **state)
{
    static struct make_item items[2 + 2 * 300 + 3];
    uint8_t late[20] = {LATE, 0, 0, 0, 4};
    size_t count = 0;

    (void)state;
    start();
    probity_put_u64(late + 8, MAKE_START + 50);
    for (uint64_t i = 0; i < 300; i++) {
        items[count++] = (struct make_item)ENTER(100 + 20 * i, OUTER);
        items[count++] = (struct make_item)LEAVE(110 + 20 * i, OUTER);
    }
    items[count++] = (struct make_item)EVENT(8000, PROBITY_EVENT_CHECKPOINT, late, 16);
    items[count++] = (struct make_item)LEAVE(9000, LATE);
    make_items(&make, 1, items, count);
    make_finish(&make, "export");
    const char *text = export_with(&probity_exporter_speedscope, &all, NULL);
    const char *begin = strstr(text, "{\"type\":\"O\",\"frame\":1");
    size_t before = 0, behind = 0;
    assert_non_null(begin);
    for (const char *at = text; (at = strstr(at, "{\"type\":\"O\",\"frame\":0")) != NULL; at++) {
        before += at < begin;
        behind += at > begin;
    }
    assert_int_equal(before, 300 - 256);
    assert_int_equal(behind, 256);
    /* The times of the next call, and of the end of the previous one. */
    assert_non_null(strstr(text, "\"at\":485},\n{\"type\":\"O\",\"frame\":1,\"at\":485},\n"
                                 "{\"type\":\"O\",\"frame\":0,\"at\":490}"));
    unlink(make.path);
}

/* A call that a deferred scope made in its first nanosecond comes after it. */
static void late_scopes_stand_in_front_of_their_first_call(void **state)
{
    uint8_t late[20] = {LATE, 0, 0, 0, 4};

    (void)state;
    start();
    probity_put_u64(late + 8, MAKE_START + 3000);
    make_items(&make, 1,
               (struct make_item[]){ENTER(2000, OUTER), LEAVE(3000, OUTER), ENTER(3001, WILD),
                                    LEAVE(3001, WILD), ENTER(3100, OUTER), LEAVE(3200, OUTER),
                                    EVENT(4000, PROBITY_EVENT_CHECKPOINT, late, 16),
                                    LEAVE(5000, LATE)},
               8);
    make_finish(&make, "export");
    const char *text = export_with(&probity_exporter_chrome, &all, NULL);
    const char *before = strstr(text, "\"ph\":\"E\",\"pid\":77,\"tid\":101,\"ts\":1.500");
    const char *begin = strstr(text, "\"name\":\"late\""), *call = strstr(text, "\"name\":\"<b>");
    assert_true(before != NULL && begin != NULL && call != NULL);
    assert_true(before < begin && begin < call);
    unlink(make.path);
}

/* Whatever the buffer size, the result is a prefix of the text and a valid JSON string in UTF-8. */
static void a_text_is_cut_where_a_character_ends(void **state)
{
    static const char text[] = "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x8c\x8d\"\\z\xc3\xbc\xe2\x82\xac"
                               "\xf0\x9f\x8c\x8d\xf0\x9f\x8c\x8d\xc3\xa4\xc3\xa4\xe2\x82\xac!";
    size_t longest = 0;

    (void)state;
    for (size_t room = 10; room < 100; room++) {
        char json[128];
        char *end = export_json_text(json, json + room, text, sizeof text - 1);
        assert_true(end <= json + room);
        json_t *value = json_loadb(json, (size_t)(end - json), JSON_DECODE_ANY, NULL);
        assert_non_null(value);
        assert_memory_equal(json_string_value(value), text, json_string_length(value));
        assert_true(json_string_length(value) >= longest);
        longest = json_string_length(value);
        json_decref(value);
    }
    assert_int_equal(longest, sizeof text - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chrome_has_everything),
        cmocka_unit_test(speedscope_has_profiles_of_threads),
        cmocka_unit_test(callgrind_has_self_times_and_calls),
        cmocka_unit_test(folded_has_paths),
        cmocka_unit_test(graphviz_has_calls_or_blocks),
        cmocka_unit_test(a_range_has_what_begins_in_it),
        cmocka_unit_test(what_has_no_place_is_counted),
        cmocka_unit_test(an_empty_trace_has_the_frame_of_its_format),
        cmocka_unit_test(a_full_disk_is_an_error),
        cmocka_unit_test(late_scopes_find_the_lines_that_are_left),
        cmocka_unit_test(late_scopes_stand_in_front_of_their_first_call),
        cmocka_unit_test(a_text_is_cut_where_a_character_ends),
    };

    return cmocka_run_group_tests_name("export", tests, NULL, NULL);
}
