/* SPDX-License-Identifier: MIT
 *
 * test_log.c: the exact log of small generated traces, with and without filters.
 */
#include "test_scopes_make.h"

#include <errno.h>

#include "log/log.h"

static struct make make;

/* Sites: main 10, load 20, proc 30 (deferred), slow 40, deep 50 (level 3). */
enum { MAIN = 10, LOAD = 20, PROC = 30, SLOW = 40, DEEP = 50 };

/* Format 1: argc, name; 2: a result; 3: a message; 4: label and value. */
static const uint8_t formats[][64] = {
    {1, 0, 0, 0, 11, 0, 0, 0, 2, 0, 7, 0, 4, 0, 'a', 'r', 'g', 'c', 17, 0, 4, 0, 'n', 'a', 'm',
     'e'},
    {2, 0, 0, 0, 12, 0, 0, 0, 1, 0, 1, 0, 2, 0, 'o', 'k'},
    {3, 0, 0, 0, 13, 0, 0, 0, 2, 0, 20, 0, 8, 0, '"', 's', 'i', 'z', 'e', ' ', ':', '"', 7, 0, 1, 0,
     'n'},
    {4, 0, 0, 0, 14, 0, 0, 0, 2, 0, 20, 0, 6, 0, '"', 'W', 'M', '_', 'X', '"', 7, 0, 3, 0, 'm', 's',
     'g'},
};
static const uint8_t formats_bytes[] = {26, 16, 27, 27};

static const uint8_t main_values[] = {MAIN, 0,   0,    0,    1,   0,   0,  0,   2,
                                      0,    0,   0,    5,    0,   'a', '"', 27, '\n',
                                      'b'};
static const uint8_t load_result[] = {LOAD, 0, 0, 0, 2, 0, 0, 0, 1};
static const uint8_t size_message[] = {3, 0, 0, 0, 42, 0, 0, 0};

static void start(void)
{
    static const char names[][8] = {"main", "load", "proc", "slow", "deep"};
    uint8_t payload[512];

    make_start(&make);
    for (uint32_t i = 0; i < 5; i++) {
        size_t bytes = make_function(payload, 10 * (i + 1), names[i], i == 2);
        payload[8] = i == 4 ? 3 : 1;
        make_event(&make, 1, MAKE_START, PROBITY_EVENT_FUNCTION, payload, bytes);
    }
    for (size_t i = 0; i < COUNT(formats); i++)
        make_event(&make, 1, MAKE_START, PROBITY_EVENT_FORMAT, formats[i], formats_bytes[i]);
}

/* Returns the log of the generated trace. Static: valid until the next call. */
static const char *log_with(const struct probity_log_options *options)
{
    static char text[1 << 16];
    const char *path = make.path;
    struct probity_reader *reader;
    const struct probity_event *event;
    struct probity_log *log;
    FILE *file = tmpfile();

    assert_non_null(file);
    assert_int_equal(probity_reader_open(&path, 1, NULL, NULL, &reader), 0);
    assert_int_equal(probity_log_open(fileno(file), reader, options, &log), 0);
    while (probity_reader_next(reader, &event) > 0)
        assert_int_equal(probity_log_put(log, event), 0);
    assert_int_equal(probity_log_finish(log), 0);
    probity_log_close(log);
    probity_reader_close(reader);
    unlink(make.path);
    ssize_t got = pread(fileno(file), text, sizeof text - 1, 0);
    assert_true(got >= 0);
    text[got] = '\0';
    fclose(file);
    return text;
}

static const struct probity_log_options plain = {.level_max = PROBITY_LOG_LEVEL_ALL};

static void a_program(void)
{
    start();
    make_items(&make, 1,
               (struct make_item[]){
                   EVENT(2000, PROBITY_EVENT_ENTER, main_values, sizeof main_values),
                   ENTER(4000, LOAD),
                   EVENT(4500, PROBITY_EVENT_MESSAGE, size_message, sizeof size_message),
                   EVENT(6000, PROBITY_EVENT_LEAVE, load_result, sizeof load_result),
                   ENTER(7000, SLOW), ENTER(7100, DEEP), LEAVE(7200, DEEP),
                   LEAVE(1007000, SLOW), LEAVE(1008000, MAIN)},
               9);
    make_finish(&make, "log");
}

static void a_program_is_shown_as_in_the_article(void **state)
{
    (void)state;
    a_program();
    assert_string_equal(log_with(&plain),
                        "101: int main\n"
                        "101:   argc = 2\n"
                        "101:   name = \"a\\\"\\033\\nb\"\n"
                        "101:   int load\n"
                        "101:     size :42\n"
                        "101:     elapsed:\t1.000 us (self 1.000 us, cpu 1.000 us)\n"
                        "101:   return (true)\n"
                        "101:   int slow\n"
                        "101:     int deep\n"
                        "101:       elapsed:\t50 ns (self 50 ns, cpu 50 ns)\n"
                        "101:     leave;\n"
                        "101:     elapsed:\t500.000 us (self 499.950 us, cpu 500.000 us)\n"
                        "101:   leave;\n"
                        "101:   elapsed:\t503.000 us (self 2.000 us, cpu 503.000 us)\n"
                        "101: leave;\n");
}

static void checkpoints_show_their_scope_and_indent_what_follows(void **state)
{
    uint8_t point[] = {PROC, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0};
    uint8_t again[sizeof point];
    (void)state;
    memcpy(again, point, sizeof point);
    probity_put_u64(point + 8, MAKE_START + 1500);
    start();
    make_items(&make, 1,
               (struct make_item[]){
                   ENTER(1000, MAIN), EVENT(2000, PROBITY_EVENT_CHECKPOINT, point, sizeof point),
                   ENTER(2100, LOAD), LEAVE(2300, LOAD),
                   EVENT(2400, PROBITY_EVENT_CHECKPOINT, again, sizeof again), LEAVE(3500, PROC),
                   LEAVE(4000, MAIN)},
               7);
    make_finish(&make, "log");
    assert_string_equal(log_with(&plain),
                        "101: int main\n"
                        "101:   int proc\n"
                        "101:     WM_X\n"
                        "101:       msg = 6\n"
                        "101:       int load\n"
                        "101:         elapsed:\t100 ns (self 100 ns, cpu 100 ns)\n"
                        "101:       leave;\n"
                        "101:     WM_X\n"
                        "101:       msg = 6\n"
                        "101:     elapsed:\t1.000 us (self 900 ns, cpu 1.000 us)\n"
                        "101:   leave;\n"
                        "101:   elapsed:\t1.500 us (self 500 ns, cpu 1.500 us)\n"
                        "101: leave;\n");
}

static void repaired_scopes_say_so(void **state)
{
    (void)state;
    start();
    make_items(&make, 1,
               (struct make_item[]){ENTER(1000, MAIN), ENTER(2000, LOAD), ENTER(2000, SLOW),
                                    LEAVE(3000, LOAD), ENTER(4000, DEEP)},
               5);
    make_finish(&make, "log");
    assert_string_equal(log_with(&plain),
                        "101: int main\n"
                        "101:   int load\n"
                        "101:     int slow\n"
                        "101:       elapsed:\t0 ns (self 0 ns, cpu 0 ns)\n"
                        "101:     leave; (unwound)\n"
                        "101:     elapsed:\t500 ns (self 500 ns, cpu 500 ns)\n"
                        "101:   leave;\n"
                        "101:   int deep\n"
                        "101:     elapsed:\t0 ns (self 0 ns)\n"
                        "101:   (still open)\n"
                        "101:   elapsed:\t1.500 us (self 1.000 us)\n"
                        "101: (still open)\n");
}

static void filters_show_a_part(void **state)
{
    const char *load = "lo*", *slow = "slow";
    struct probity_log_options options = plain;
    (void)state;
    options.functions = &load;
    options.function_count = 1;
    a_program();
    assert_string_equal(log_with(&options),
                        "101: int load\n"
                        "101:   size :42\n"
                        "101:   elapsed:\t1.000 us (self 1.000 us, cpu 1.000 us)\n"
                        "101: return (true)\n");
    options.functions = &slow;
    options.depth_max = 1;
    a_program();
    assert_string_equal(log_with(&options),
                        "101: int slow\n"
                        "101:   elapsed:\t500.000 us (self 499.950 us, cpu 500.000 us)\n"
                        "101: leave;\n");
    options = plain;
    options.level_max = 2;
    options.from_ns = MAKE_WALL + 3500;
    a_program();
    assert_string_equal(log_with(&options),
                        "101: int slow\n"
                        "101:   elapsed:\t500.000 us (self 499.950 us, cpu 500.000 us)\n"
                        "101: leave;\n");
}

/* main and slow are long. load is short, so it is left out with its callees. deep runs inside slow
 * when slow has already exceeded the limit. */
static void short_scopes_are_left_out(void **state)
{
    struct probity_log_options options = plain;
    (void)state;
    options.duration_ns_min = 10000;
    a_program();
    assert_string_equal(log_with(&options),
                        "101: int main\n"
                        "101:   argc = 2\n"
                        "101:   name = \"a\\\"\\033\\nb\"\n"
                        "101:   int slow\n"
                        "101:     elapsed:\t500.000 us (self 499.950 us, cpu 500.000 us)\n"
                        "101:   leave;\n"
                        "101:   elapsed:\t503.000 us (self 2.000 us, cpu 503.000 us)\n"
                        "101: leave;\n");
    options.duration_ns_min = 1000000;
    a_program();
    assert_string_equal(log_with(&options), "");
}

static void two_threads(void)
{
    start();
    make_items(&make, 1, (struct make_item[]){ENTER(1000, MAIN), LEAVE(3000, MAIN)}, 2);
    make_items(&make, 2, (struct make_item[]){ENTER(2000, LOAD), LEAVE(4000, LOAD)}, 2);
    make_finish(&make, "log");
}

static void threads_interleave_by_time_or_follow_each_other(void **state)
{
    struct probity_log_options options = plain;
    (void)state;
    two_threads();
    assert_string_equal(log_with(&options),
                        "101: int main\n"
                        "102: int load\n"
                        "101:   elapsed:\t1.000 us (self 1.000 us, cpu 1.000 us)\n"
                        "101: leave;\n"
                        "102:   elapsed:\t1.000 us (self 1.000 us, cpu 1.000 us)\n"
                        "102: leave;\n");
    options.by_thread = options.has_pids = 1;
    options.time = PROBITY_LOG_TIME_RELATIVE;
    options.start_ns = MAKE_WALL + 1000;
    two_threads();
    assert_string_equal(log_with(&options),
                        "-0.000000500 77/101: int main\n"
                        "0.000000500 77/101:   elapsed:\t1.000 us (self 1.000 us, cpu 1.000 us)\n"
                        "0.000000500 77/101: leave;\n"
                        "0.000000000 77/102: int load\n"
                        "0.000001000 77/102:   elapsed:\t1.000 us (self 1.000 us, cpu 1.000 us)\n"
                        "0.000001000 77/102: leave;\n");
}

static void what_is_not_a_scope_is_a_notice(void **state)
{
    struct probity_log_options options = plain;
    uint64_t stall = 3000;
    (void)state;
    start();
    make_items(&make, 1,
               (struct make_item[]){
                   EVENT(500, PROBITY_EVENT_THREAD_NAME, "w\033", 2), ENTER(1000, MAIN),
                   EVENT(1100, PROBITY_EVENT_LEVELS, "\1\2\3", 3),
                   EVENT(1200, PROBITY_EVENT_PROFILING, "\0", 1), ENTER(1300, LOAD),
                   LEAVE(1400, LOAD), EVENT(1500, PROBITY_EVENT_STALL, &stall, 8),
                   EVENT(1600, PROBITY_EVENT_PAUSE, "", 0),
                   EVENT(1700, PROBITY_EVENT_RESUME, "", 0), {.tick = 1800, .code = 14},
                   EVENT(1900, 99, "?", 1), LEAVE(2000, MAIN)},
               12);
    make_finish(&make, "log");
    options.has_probes = options.has_color = 1;
    assert_string_equal(log_with(&options),
                        "\033[2m101:\033[0m \033[33m[thread w\\033]\033[0m\n"
                        "\033[2m101:\033[0m \033[1mint main\033[0m\n"
                        "\033[2m101:\033[0m   \033[33m[levels: functions 1, parameters 2, "
                        "set by probity level]\033[0m\n"
                        "\033[2m101:\033[0m   \033[33m[profiling off]\033[0m\n"
                        "\033[2m101:\033[0m   \033[1mint load\033[0m\n"
                        "\033[2m101:\033[0m   \033[34mleave;\033[0m\n"
                        "\033[2m101:\033[0m   \033[33m[waited 1.500 us for a free chunk]\033[0m\n"
                        "\033[2m101:\033[0m   pause;\n"
                        "\033[2m101:\033[0m   resume;\n"
                        "\033[2m101:\033[0m   probe 7\n"
                        "\033[2m101:\033[0m   \033[32melapsed:\t500 ns (self 400 ns, cpu 500 ns)"
                        "\033[0m\n"
                        "\033[2m101:\033[0m \033[34mleave;\033[0m\n");
}

static void lost_declarations_are_reported(void **state)
{
    static const uint8_t enter[] = {10, 0, 0, 0, 9, 0, 0, 0, 1, 2, 3};
    (void)state;
    make_start(&make);
    make_items(&make, 1,
               (struct make_item[]){EVENT(1000, PROBITY_EVENT_ENTER, enter, sizeof enter),
                                    EVENT(2000, PROBITY_EVENT_LEAVE, enter, sizeof enter)},
               2);
    make_finish(&make, "log");
    assert_string_equal(log_with(&plain),
                        "101: site-10\n"
                        "101:   (3 bytes of values; their format was lost)\n"
                        "101:   elapsed:\t500 ns (self 500 ns, cpu 500 ns)\n"
                        "101: return (?)\n");
}

/* ---- Without a trace: many lines ---------------------------------------------------------------
 */

static const struct probity_function made = {.number = 10, .name = "made", .file = "made.c",
                                             .signature = "", .returns = "", .object = ""};

static struct probity_event scope_event(uint32_t kind, uint32_t slot, uint64_t ns)
{
    return (struct probity_event){.tick = ns, .wall_ns = ns, .tid = 100 + slot, .pid = 7,
                                  .thread = slot, .thread_slot = slot, .kind = kind, .id = 10,
                                  .function = &made};
}

/* Counts the lines of a log of `calls` calls in each of three threads. If the threads run one after
 * another, checks that each thread's lines are together. */
static void put_many(const struct probity_log_options *options, int calls, int deep,
                     struct probity_log_counts *ret_counts, char **ret_text)
{
    struct probity_log *log;
    FILE *file = tmpfile();
    uint64_t now = 1000;

    assert_int_equal(probity_log_open(fileno(file), NULL, options, &log), 0);
    for (int call = 0; call < 2 * calls; call++) {
        for (uint32_t slot = 0; slot < 3; slot++) {
            int is_leave = deep ? call >= calls : call % 2;
            struct probity_event event = scope_event(
                is_leave ? PROBITY_EVENT_LEAVE : PROBITY_EVENT_ENTER, slot, now += 10);
            assert_int_equal(probity_log_put(log, &event), 0);
        }
    }
    assert_int_equal(probity_log_finish(log), 0);
    *ret_counts = probity_log_counts(log);
    probity_log_close(log);
    off_t bytes = lseek(fileno(file), 0, SEEK_END);
    *ret_text = calloc(1, (size_t)bytes + 1);
    assert_int_equal(pread(fileno(file), *ret_text, (size_t)bytes, 0), bytes);
    fclose(file);
}

static void many_lines_stay_with_their_thread(void **state)
{
    struct probity_log_options options = plain;
    struct probity_log_counts counts;
    char *text;
    uint64_t lines = 0;
    int last = 100;
    (void)state;
    options.by_thread = 1;
    put_many(&options, 20000, 0, &counts, &text);
    assert_int_equal(counts.lines, 3 * 3 * 20000);
    for (char *at = text; *at != '\0'; at = strchr(at, '\n') + 1, lines++) {
        int tid = atoi(at);
        assert_true(tid == last || tid == last + 1);
        last = tid;
    }
    assert_int_equal(lines, counts.lines);
    free(text);
}

/* Scopes nested deeper than the number of lines that can be held back: the lines beyond it are
 * printed, and are those at the beginning of a log of all scopes. */
static void what_is_held_back_is_bounded(void **state)
{
    struct probity_log_options options = plain;
    struct probity_log_counts counts;
    uint64_t lines = 0;
    char *text, *all;
    (void)state;
    options.by_thread = 1;
    put_many(&options, 60000, 1, &counts, &all);
    options.duration_ns_min = UINT64_C(1000000000000);
    put_many(&options, 20, 1, &counts, &text);
    assert_string_equal(text, "");
    assert_int_equal(counts.held_shown, 0);
    free(text);
    put_many(&options, 60000, 1, &counts, &text);
    assert_true(counts.held_shown > 0);
    assert_true(strlen(text) > 0);
    assert_int_equal(text[strlen(text) - 1], '\n');
    for (size_t at = 0; text[at] == all[at] && text[at] != '\0'; at++)
        lines += text[at] == '\n';
    assert_int_equal(lines, counts.held_shown / 3);
    free(text);
    free(all);
}

/* Events of every kind, with any bytes and in any order: each line is whole and safe to print. */
static void random_events_are_shown_safely(void **state)
{
    static uint8_t bytes[64][48];
    struct make_item items[64];
    uint64_t random = 88172645463325252u;
    struct probity_log_options options = plain;
    (void)state;
    for (int round = 0; round < 400; round++) {
        start();
        for (int i = 0; i < 64; i++) {
            for (size_t at = 0; at < sizeof bytes[i]; at++) {
                random ^= random << 13, random ^= random >> 7, random ^= random << 17;
                bytes[i][at] = random % 3 ? (uint8_t)(random >> 20) : 0;
            }
            bytes[i][0] = (uint8_t)(random % 3 ? 10 * (random % 6) : random % 5);
            memset(bytes[i] + 1, 0, 3);
            bytes[i][4] = (uint8_t)(random >> 30) % 6;
            memset(bytes[i] + 5, 0, 3);
            items[i] = (struct make_item){.tick = 1000 + 20 * (uint64_t)i, .kind = random % 18,
                                          .code = (random >> 8) % 110, .payload = bytes[i],
                                          .bytes = (random >> 16) % 49};
        }
        make_items(&make, 1 + (uint32_t)round % 2, items, 64);
        make_finish(&make, "log");
        options.by_thread = round & 1;
        options.duration_ns_min = round & 2 ? 100 : 0;
        options.has_probes = round & 4;
        options.depth_max = round & 8 ? 3 : 0;
        const char *text = log_with(&options);
        for (const char *at = text; *at != '\0'; at++)
            assert_true((unsigned char)*at >= 0x20 || *at == '\t' || *at == '\n');
        assert_true(*text == '\0' || text[strlen(text) - 1] == '\n');
    }
}

static void a_full_disk_is_an_error(void **state)
{
    struct probity_event event = scope_event(PROBITY_EVENT_ENTER, 0, 5);
    struct probity_log *log;
    int file = open("/dev/full", O_WRONLY);
    (void)state;
    assert_int_equal(probity_log_open(file, NULL, &plain, &log), 0);
    assert_int_equal(probity_log_put(log, &event), 0);
    assert_int_equal(probity_log_flush(log), PROBITY_ERROR_WRITE);
    assert_int_equal(errno, ENOSPC);
    assert_int_equal(probity_log_finish(log), PROBITY_ERROR_WRITE);
    probity_log_close(log);
    close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_is_shown_as_in_the_article),
        cmocka_unit_test(checkpoints_show_their_scope_and_indent_what_follows),
        cmocka_unit_test(repaired_scopes_say_so),
        cmocka_unit_test(filters_show_a_part),
        cmocka_unit_test(short_scopes_are_left_out),
        cmocka_unit_test(threads_interleave_by_time_or_follow_each_other),
        cmocka_unit_test(what_is_not_a_scope_is_a_notice),
        cmocka_unit_test(lost_declarations_are_reported),
        cmocka_unit_test(many_lines_stay_with_their_thread),
        cmocka_unit_test(what_is_held_back_is_bounded),
        cmocka_unit_test(random_events_are_shown_safely),
        cmocka_unit_test(a_full_disk_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
