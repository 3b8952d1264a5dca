/* SPDX-License-Identifier: MIT
 *
 * test_export_ctf.c: decodes the stream of a Common Trace Format directory as its metadata
 * describes it: a trace that contains everything, extreme values, an empty trace.
 */
#include "test_export_make.h"

#include "exports/ctf/ctf_metadata.h"

static uint64_t ctf_number(struct span *from, size_t bytes)
{
    uint64_t value = 0;

    assert_true((size_t)(from->end - from->at) >= bytes);
    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)from->at[i] << 8 * i;
    from->at += bytes;
    return value;
}

static const char *ctf_text(struct span *from)
{
    const uint8_t *end = memchr(from->at, 0, (size_t)(from->end - from->at));

    assert_non_null(end);
    const char *text = text_of((struct span){from->at, end});
    from->at = end + 1;
    return text;
}

static void ctf_values(FILE *out, struct span *from)
{
    for (uint64_t left = ctf_number(from, 2); left > 0; left--) {
        const char *name = ctf_text(from);
        fprintf(out, " %s=%s", name, ctf_text(from));
    }
}

/* Events by number, with the types of their fields: s text; 1, 2, 4, 8 integers of that many bytes;
 * v values. */
static const struct {
    const char *name, *fields;
} ctf_events[] = {{"process", "s"}, {"thread_name", "s"}, {"function", "ss4"}, {"enter", "sv"},
                  {"leave", "s118888v"}, {"hit", "s"}, {"hit_with", "s11888"}, {"message", "s"},
                  {"parameters", "v"}, {"checkpoint", "sv"}, {"pause", ""}, {"resume", ""},
                  {"stall", "8"}, {"profiling", "1"}, {"levels", "11"},
                  {"lost", "8"}, {"state", "s888"}};

/* Returns "101 @1000 enter outer cpu 2000 ...", with the time of the event instead of its time
 * stamp. */
static void ctf_event(FILE *out, struct span *from, uint64_t *stamp)
{
    uint64_t id = ctf_number(from, 1), at = ctf_number(from, 8);

    assert_true(id < COUNT(ctf_events) && at >= *stamp);
    *stamp = at;
    ctf_number(from, 4); /* process */
    int tid = (int)ctf_number(from, 4);
    long long cpu_ns = (long long)ctf_number(from, 8);
    fprintf(out, "%d @%lld %s cpu %lld", tid, (long long)(at - ctf_number(from, 8) - MAKE_WALL),
            ctf_events[id].name, cpu_ns);
    for (const char *field = ctf_events[id].fields; *field != '\0'; field++) {
        if (*field == 's')
            fprintf(out, " %s", ctf_text(from));
        else if (*field == 'v')
            ctf_values(out, from);
        else
            fprintf(out, " %llu", (unsigned long long)ctf_number(from, (size_t)(*field - '0')));
    }
    fputc('\n', out);
}

static char *ctf_stream(const char *directory, size_t *ret_bytes)
{
    char path[300];
    struct stat facts;

    snprintf(path, sizeof path, "%s/stream", directory);
    int file = open(path, O_RDONLY);
    assert_true(file >= 0 && fstat(file, &facts) == 0);
    char *bytes = malloc((size_t)facts.st_size + 1);
    assert_int_equal(read(file, bytes, (size_t)facts.st_size), facts.st_size);
    close(file);
    unlink(path);
    snprintf(path, sizeof path, "%s/metadata", directory);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(directory), 0);
    *ret_bytes = (size_t)facts.st_size;
    return bytes;
}

static void expect_ctf(const char *expected)
{
    char directory[] = "/tmp/test_export.XXXXXX", *text = NULL;
    size_t bytes, count;
    uint64_t stamp = 0;

    assert_non_null(mkdtemp(directory));
    free(export_bytes(&probity_exporter_ctf, &all, directory, NULL, &count));
    char *made = ctf_stream(directory, &count);
    struct span from = {(const uint8_t *)made, (const uint8_t *)made + count};
    FILE *out = open_memstream(&text, &bytes);
    assert_int_equal(ctf_number(&from, 4), 0xc1fc1fc1);
    from.at += 20;
    uint64_t begin = ctf_number(&from, 8), end = ctf_number(&from, 8);
    assert_int_equal(ctf_number(&from, 8), 8 * count);
    assert_int_equal(ctf_number(&from, 8), 8 * count);
    while (from.at < from.end)
        ctf_event(out, &from, &stamp);
    fclose(out);
    assert_true(begin <= end && stamp == end);
    expect_text(text, expected);
    free(made);
    unlink(make.path);
}

/* Whatever bytes a host name has, the metadata contains only C escapes. */
static void ctf_metadata_has_no_escape_of_its_own(void **state)
{
    static const char host[] = "a\"b\\c\xe2\x80\xae\xff\033\t\xc3\xa9";
    struct probity_info info = make_info(NULL);
    char *text = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&text, &bytes);

    (void)state;
    info.text[PROBITY_TAG_HOST] = (struct probity_text){host, sizeof host - 1};
    ctf_metadata_put(stream, &info);
    fclose(stream);
    assert_non_null(strstr(
        text, "hostname = \"a\\\"b\\\\c\\\\u202e\\\\377\\\\033\\011\\303\\251\";\n"));
    free(text);
}

static void ctf_has_everything(void **state)
{
    (void)state;
    make_all();
    expect_ctf("77 @0 process cpu -1 made\n"
               "101 @0 function cpu -1 outer made.c 20\n"
               "101 @0 function cpu -1 <b>\"w;\\n\\377\\ made.c 30\n"
               "101 @0 function cpu -1 late made.c 40\n"
               "101 @0 thread_name cpu -1 a <thread>\n"
               "101 @1000 enter cpu 2000 outer\n"
               "102 @1000 enter cpu 2000 <b>\"w;\\n\\377\\\n"
               "101 @1100 hit cpu 2100 pr\"obe\n"
               "101 @1200 message cpu 2200 size :42\n"
               "103 @1500 hit cpu 2500 site-51\n"
               "102 @2000 hit cpu 3000 8\n"
               "101 @3000 enter cpu 4000 outer\n"
               "101 @3300 leave cpu 4300 outer 1 0 300 300 300 300\n"
               "101 @2500 enter cpu 3500 late\n"
               "101 @3500 checkpoint cpu 4500 x\n"
               "101 @4000 leave cpu 5000 late 1 0 1500 1200 1500 1200\n"
               "101 @4500 enter cpu 5500 <b>\"w;\\n\\377\\ n=-2 name=\"<\\\"\\n\\377\"\n"
               "101 @4700 leave cpu 5700 <b>\"w;\\n\\377\\ 1 0 200 200 200 200 r=1.5\n"
               "101 @4750 pause cpu 5750\n"
               "101 @4850 resume cpu 5850\n"
               "101 @4900 stall cpu -1 1000\n"
               "101 @4950 enter cpu 5950 <b>\"w;\\n\\377\\\n"
               "101 @4975 hit cpu 5975 pr\"obe\n"
               "101 @4975 leave cpu 5975 <b>\"w;\\n\\377\\ 2 0 25 25 25 25\n"
               "101 @6000 leave cpu 7000 outer 1 0 5000 3175 5000 3175\n"
               "102 @2000 leave cpu 3000 <b>\"w;\\n\\377\\ 3 0 1000 1000 1000 1000\n");
}

static void ctf_has_what_is_at_the_ends(void **state)
{
    (void)state;
    make_extremes();
    expect_ctf("77 @0 process cpu -1 p*10000\n"
               "101 @0 function cpu -1 f\\377n*1898 made.c 70\n"
               "101 @1 thread_name cpu -1 \\303(\\376\n"
               "101 @2 enter cpu 1002 f\\377n*1898 min=-9223372036854775808 "
               "max=9223372036854775807 all=18446744073709551615 ptr=0xffffffffffffffff "
               "inf=inf \\377\\303=\"\\376\\355\"\n"
               "101 @3 hit_with cpu 1003 7 0 3 18446744073709551615 18446744073709551615 0\n"
               "101 @4 levels cpu -1 5 3\n"
               "101 @5 profiling cpu -1 0\n"
               "101 @5 leave cpu 1003 f\\377n*1898 2 0 3 3 1 1\n"
               "101 @6 lost cpu -1 7\n");
}

static void ctf_has_a_process_of_nothing(void **state)
{
    (void)state;
    make_nothing();
    expect_ctf("77 @0 process cpu -1 made\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ctf_has_everything),
        cmocka_unit_test(ctf_metadata_has_no_escape_of_its_own),
        cmocka_unit_test(ctf_has_what_is_at_the_ends),
        cmocka_unit_test(ctf_has_a_process_of_nothing),
    };

    return cmocka_run_group_tests_name("export_ctf", tests, NULL, NULL);
}
