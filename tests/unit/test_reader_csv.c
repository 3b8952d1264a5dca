/* SPDX-License-Identifier: MIT
 *
 * test_reader_csv.c: CSV lines and the digits of their numbers, byte by byte.
 */
#include "test_reader_make.h"

#include <errno.h>
#include <glob.h>

#include "base/parent.h"
#include "exports/csv/csv.h"
#include "print/csv_digits.h"
#include "reader/clockmap.h"

static struct make make;

__extension__ typedef __int128 probity_wide_test;

/* Returns the events as CSV. Static: valid until the next call. */
static const char *csv_of(const struct probity_csv_layout *layout,
                          const struct probity_event *events, size_t count)
{
    static char text[1 << 16];
    struct probity_csv *csv;
    FILE *file = tmpfile();

    assert_non_null(file);
    assert_int_equal(probity_csv_open(fileno(file), layout, &csv), 0);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(probity_csv_put(csv, &events[i]), 0);
    assert_int_equal(probity_csv_flush(csv), 0);
    probity_csv_close(csv);
    ssize_t got = pread(fileno(file), text, sizeof text - 1, 0);
    assert_true(got >= 0);
    text[got] = '\0';
    fclose(file);
    return text;
}

static struct probity_event hit(uint32_t id, uint64_t cpu_ns, uint64_t wall_ns)
{
    return (struct probity_event){.pid = 12,
                                  .tid = 345,
                                  .id = id,
                                  .cpu_ns = cpu_ns,
                                  .wall_ns = wall_ns,
                                  .cpu_known = 1,
                                  .wall_known = 1,
                                  .tick = 99,
                                  .thread = 3};
}

static void a_line_has_seven_numbers(void **state)
{
    struct probity_event events[] = {hit(7, 1999999999, 1700000000000000001),
                                     hit(4294967295u, 2000000000, 1700000000999999999),
                                     hit(0, 12345678901234, 1700000001012345678)};
    (void)state;
    assert_string_equal(csv_of(NULL, events, 3), "12,345,7,1,999999999,1700000000,1\n"
                                                 "12,345,4294967295,2,0,1700000000,999999999\n"
                                                 "12,345,0,12345,678901234,1700000001,12345678\n");
}

static void what_is_not_known_stays_empty(void **state)
{
    struct probity_event events[] = {hit(7, 5, 6), hit(7, 5, 6)};
    (void)state;
    events[0].cpu_known = 0;
    events[1].wall_known = 0;
    assert_string_equal(csv_of(NULL, events, 2), "12,345,7,,,0,6\n12,345,7,0,5,,\n");
}

static void sites_show_their_names_quoted_where_needed(void **state)
{
    static const char *const names[] = {"parse", "a,b", "say \"no\"", "two\nlines"};
    struct probity_event events[6];
    (void)state;
    for (uint32_t i = 0; i < 6; i++) {
        events[i] = hit(i % 5, 1, 1);
        events[i].is_site = 1;
        events[i].name = i % 5 < 4 ? names[i % 5] : NULL;
        events[i].name_bytes = i % 5 < 4 ? strlen(names[i % 5]) : 0;
    }
    assert_string_equal(csv_of(NULL, events, 6),
                        "12,345,parse,0,1,0,1\n12,345,\"a,b\",0,1,0,1\n"
                        "12,345,\"say \"\"no\"\"\",0,1,0,1\n12,345,two\\nlines,0,1,0,1\n"
                        "12,345,site-4,0,1,0,1\n12,345,parse,0,1,0,1\n");
}

static void columns_can_be_chosen(void **state)
{
    struct probity_csv_layout layout = {.header = 1};
    struct probity_event event = hit(7, 1000000002, 3000000004);
    (void)state;
    event.name = "seven";
    event.name_bytes = 5;
    assert_int_equal(
        probity_csv_layout_parse("wall,cpu,probe,name,tick,thread,cpu_ns", &layout, NULL), 0);
    assert_string_equal(csv_of(&layout, &event, 1), "wall,cpu,probe,name,tick,thread,cpu_ns\n"
                                                    "3.000000004,1.000000002,7,seven,99,3,2\n");
}

static void an_unknown_column_is_refused(void **state)
{
    struct probity_csv_layout layout = {.header = 0};
    const char *bad = NULL;
    (void)state;
    assert_int_equal(probity_csv_layout_parse("pid,nonsense,tid", &layout, &bad),
                     PROBITY_ERROR_ARGUMENT);
    assert_string_equal(bad, "nonsense,tid");
    assert_int_equal(probity_csv_layout_parse("", &layout, &bad), PROBITY_ERROR_ARGUMENT);
    assert_int_equal(probity_csv_layout_parse("pid,", &layout, &bad), PROBITY_ERROR_ARGUMENT);
}

/* Names and lines much longer than the buffer. */
static void long_names_pass_through_the_buffer(void **state)
{
    static char name[700000];
    struct probity_event event = hit(1, 1, 1);
    struct probity_csv *csv;
    FILE *file = tmpfile();
    (void)state;
    memset(name, 'x', sizeof name);
    event.is_site = 1;
    event.name = name;
    event.name_bytes = sizeof name;
    assert_int_equal(probity_csv_open(fileno(file), NULL, &csv), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(probity_csv_put(csv, &event), 0);
    assert_int_equal(probity_csv_flush(csv), 0);
    probity_csv_close(csv);
    assert_int_equal(lseek(fileno(file), 0, SEEK_END),
                     3 * (sizeof name + strlen("12,345,,0,1,0,1\n")));
    fclose(file);
}

static void a_full_disk_is_an_error(void **state)
{
    struct probity_event event = hit(1, 1, 1);
    struct probity_csv *csv;
    int file = open("/dev/full", O_WRONLY);
    (void)state;
    assert_int_equal(probity_csv_open(file, NULL, &csv), 0);
    assert_int_equal(probity_csv_put(csv, &event), 0);
    assert_int_equal(probity_csv_flush(csv), PROBITY_ERROR_WRITE);
    assert_int_equal(errno, ENOSPC);
    probity_csv_close(csv);
    close(file);
}

/* Writes the CSV next to the trace. */
static int csv_write_of(const struct stat *trace, const char *csv,
                        char ret_why[PROBITY_CSV_WHY_BYTES])
{
    struct probity_csv_job job = {.trace_path = make.path,
                                  .csv_name = strrchr(csv, '/') + 1,
                                  .device = trace->st_dev,
                                  .inode = trace->st_ino};
    struct probity_parent parent;

    assert_int_equal(probity_parent_open(make.path, &parent), 0);
    job.directory = parent.directory;
    int error = probity_csv_write_file(&job, ret_why);
    probity_parent_close(&parent);
    return error;
}

static int csv_write(const char *csv, char ret_why[PROBITY_CSV_WHY_BYTES])
{
    struct stat status;

    assert_int_equal(stat(make.path, &status), 0);
    return csv_write_of(&status, csv, ret_why);
}

static void a_trace_becomes_a_file_whole_or_not_at_all(void **state)
{
    char csv[300], temporary[310], note[320], text[200] = "", why[PROBITY_CSV_WHY_BYTES];
    glob_t left;
    (void)state;
    make_start(&make);
    make_data(&make, (struct probity_data){.thread = 1, .cpu_ns = 50},
              (struct make_hit[]){{1000100, 2, 0}, {1000300, 6, 0}}, 2);
    make_sync(&make, PROBITY_BLOCK_END, make_anchor(1003000), 1003000);
    make_write(&make, "whole");
    snprintf(csv, sizeof csv, "%s.csv", make.path);
    snprintf(temporary, sizeof temporary, "%s.tmp", csv);
    int own = open(temporary, O_WRONLY | O_CREAT | O_EXCL, 0600); /* a user's file */
    assert_true(own >= 0 && write(own, "mine", 4) == 4 && close(own) == 0);
    assert_int_equal(csv_write(csv, why), 0);
    int file = open(csv, O_RDONLY);
    assert_true(read(file, text, sizeof text - 1) > 0);
    close(file);
    assert_string_equal(text, "77,101,1,0,50,1700000000,50\n77,101,3,0,150,1700000000,150\n");
    unlink(csv);
    make.used -= 10;
    make_write(&make, "whole");
    snprintf(note, sizeof note, "%s.incomplete", csv);
    assert_int_equal(access(note, F_OK), -1);
    assert_int_equal(csv_write(csv, why), PROBITY_ERROR_DAMAGED);
    assert_int_equal(access(csv, F_OK), 0);
    file = open(note, O_RDONLY);
    ssize_t bytes = read(file, text, sizeof text - 1);
    close(file);
    assert_true(bytes > 1 && text[bytes - 1] == '\n');
    text[bytes - 1] = '\0';
    assert_string_equal(text, why);
    assert_non_null(strstr(why, "not a complete block"));
    unlink(note);
    unlink(csv);
    make.used = 3;
    make_write(&make, "whole");
    assert_int_equal(csv_write(csv, why), PROBITY_ERROR_FORMAT);
    assert_int_equal(access(csv, F_OK), -1);
    own = open(temporary, O_RDONLY);
    assert_int_equal(read(own, text, sizeof text), 4);
    close(own);
    unlink(temporary);
    snprintf(temporary, sizeof temporary, "%s.*.tmp", csv);
    assert_int_equal(glob(temporary, 0, NULL, &left), GLOB_NOMATCH);
    unlink(make.path);
}

/* Any user with write access to the directory can replace the trace before it is reopened. */
static void a_file_that_took_the_name_of_the_trace_becomes_no_csv(void **state)
{
    char csv[300], why[PROBITY_CSV_WHY_BYTES];
    struct stat trace;
    (void)state;
    make_start(&make);
    make_sync(&make, PROBITY_BLOCK_END, make_anchor(1003000), 1003000);
    make_write(&make, "exchanged");
    snprintf(csv, sizeof csv, "%s.csv", make.path);
    assert_int_equal(stat(make.path, &trace), 0);
    trace.st_ino++;
    errno = 0;
    assert_int_equal(csv_write_of(&trace, csv, why), PROBITY_ERROR_OPEN);
    assert_int_equal(errno, ESTALE);
    assert_int_equal(access(csv, F_OK), -1);
    trace.st_ino--;
    assert_int_equal(csv_write_of(&trace, csv, why), 0);
    unlink(csv);
    unlink(make.path);
}

static void digits_are_those_of_printf(void **state)
{
    char expected[32], got[64];
    uint64_t random = 88172645463325252u;
    (void)state;
    for (uint32_t i = 0; i < 300000; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        uint64_t value = i < 100000 ? i : random >> random % 64;
        *probity_digits_put(got, value) = '\0';
        snprintf(expected, sizeof expected, "%llu", (unsigned long long)value);
        assert_string_equal(got, expected);
        uint32_t nano = i < 20000 ? i * 49999 : (uint32_t)(value % 1000000000);
        *probity_digits_put_nano(got, nano) = '\0';
        snprintf(expected, sizeof expected, "%u", nano);
        assert_string_equal(got, expected);
    }
    *probity_digits_put(got, UINT64_MAX) = '\0';
    assert_string_equal(got, "18446744073709551615");
}

/* Times between anchors equal those of a 128-bit division. */
static void lines_are_rounded_down_exactly(void **state)
{
    struct probity_clockmap map = {.nominal_rate = MAKE_RATE};
    struct probity_anchor a = {5000000, 0, 1000, 1700000000000000000, 0}, b = a;
    uint64_t random = 88172645463325252u;
    (void)state;
    b.ticks += 2596145000;
    b.monotonic_ns += 1000000007;
    b.realtime_ns += 1000000019;
    assert_int_equal(probity_clockmap_add(&map, &a), 0);
    assert_int_equal(probity_clockmap_wall(&map, a.ticks - 3), a.realtime_ns - 2);
    assert_int_equal(probity_clockmap_wall(&map, a.ticks + 3), a.realtime_ns + 1);
    assert_int_equal(probity_clockmap_add(&map, &b), 0);
    for (int i = 0; i < 200000; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        int64_t ticks = (int64_t)(random >> 31) - (1 << 20);
        probity_wide_test product = (probity_wide_test)ticks * 1000000019;
        int64_t ns = (int64_t)(product / 2596145000 - (product < 0 && product % 2596145000 != 0));
        assert_int_equal(probity_clockmap_wall(&map, a.ticks + (uint64_t)ticks),
                         a.realtime_ns + (uint64_t)ns);
    }
    probity_clockmap_release(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_has_seven_numbers),
        cmocka_unit_test(what_is_not_known_stays_empty),
        cmocka_unit_test(sites_show_their_names_quoted_where_needed),
        cmocka_unit_test(columns_can_be_chosen),
        cmocka_unit_test(an_unknown_column_is_refused),
        cmocka_unit_test(long_names_pass_through_the_buffer),
        cmocka_unit_test(a_full_disk_is_an_error),
        cmocka_unit_test(a_trace_becomes_a_file_whole_or_not_at_all),
        cmocka_unit_test(a_file_that_took_the_name_of_the_trace_becomes_no_csv),
        cmocka_unit_test(digits_are_those_of_printf),
        cmocka_unit_test(lines_are_rounded_down_exactly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
