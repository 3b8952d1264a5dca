/* SPDX-License-Identifier: MIT
 *
 * test_settings.c: defaults, options and environment: precedence, limits, and which setting an
 * error message names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/settings.h"
#include "spool/layout.h"

static const char *const names[] = {
    "PROBITY_OUT",           "PROBITY_MODE",            "PROBITY_WALL_TIME",
    "PROBITY_CPU_TIME",      "PROBITY_OVERWRITE",       "PROBITY_CHUNK_RECORDS",
    "PROBITY_SPOOL_RECORDS", "PROBITY_SPOOL_BYTES_MAX", "PROBITY_CPU_GAP_NS",
    "PROBITY_CLOCK",         "PROBITY_SPOOL_DIR",       "PROBITY_CPU_BUDGET_PERMILLE",
    "PROBITY_LEVEL",         "PROBITY_PROFILE",         "PROBITY_THREADS",
    "PROBITY_LOG",           "PROBITY_SUMMARY",         "PROBITY_COST",
    "PROBITY_LABEL",         "PROBITY_WRITER",          "PROBITY_ORDER"};

static struct probity_settings settings;
static const char *what;

static int clear(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    return 0;
}

static void defaults(void **state)
{
    (void)state;
    assert_int_equal(probity_settings_read(NULL, &settings, &what), 0);
    assert_string_equal(settings.out, "%n.%p.probity");
    assert_int_equal(settings.mode, PROBITY_MODE_BLOCK);
    assert_true(settings.wall_time && settings.cpu_time && !settings.overwrite);
    assert_false(settings.is_asked_for);
    assert_int_equal(settings.chunk_words, 4096);
    assert_int_equal(settings.segment_chunks, 128);
    assert_int_equal(settings.cpu_gap_ns, 1500);
    assert_int_equal(settings.cpu_budget_permille, 8);
    assert_int_equal(settings.level_functions, -1);
    assert_int_equal(settings.level_parameters, -1);
    assert_false(settings.profile || settings.threads_announced || settings.log[0] != 0);
    assert_int_equal(settings.cost, PROBITY_SETTINGS_COST_LONG);
    assert_int_equal(settings.writing, PROBITY_WRITING_THREAD);
}

static void environment_wins(void **state)
{
    struct probity_options options = {.out = "option",
                                      .mode = PROBITY_MODE_RING,
                                      .cpu_time = PROBITY_OFF,
                                      .chunk_records = 1024,
                                      .cpu_gap_ns = 5000};

    (void)state;
    assert_int_equal(probity_settings_read(&options, &settings, &what), 0);
    assert_string_equal(settings.out, "option");
    assert_int_equal(settings.mode, PROBITY_MODE_RING);
    assert_false(settings.cpu_time);
    setenv("PROBITY_OUT", "environment", 1);
    setenv("PROBITY_MODE", "drop", 1);
    setenv("PROBITY_CPU_TIME", "1", 1);
    setenv("PROBITY_CHUNK_RECORDS", "2048", 1);
    assert_int_equal(probity_settings_read(&options, &settings, &what), 0);
    assert_string_equal(settings.out, "environment");
    assert_int_equal(settings.mode, PROBITY_MODE_DROP);
    assert_true(settings.cpu_time && settings.is_asked_for);
    assert_int_equal(settings.chunk_words, 2048);
    assert_int_equal(settings.cpu_gap_ns, 5000);
}

static void labels(void **state)
{
    struct probity_options options = {.label = "option"};
    char text[PROBITY_LIMIT_NAME + 2];

    (void)state;
    assert_int_equal(probity_settings_read(&options, &settings, &what), 0);
    assert_string_equal(settings.label, "option");
    setenv("PROBITY_LABEL", "environment", 1);
    assert_int_equal(probity_settings_read(&options, &settings, &what), 0);
    assert_string_equal(settings.label, "environment");
    assert_false(settings.is_asked_for);
    /* As in a program compiled before labels existed. */
    unsetenv("PROBITY_LABEL");
    options.struct_bytes = offsetof(struct probity_options, label);
    assert_int_equal(probity_settings_read(&options, &settings, &what), 0);
    assert_string_equal(settings.label, "");
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    options = (struct probity_options){.label = text};
    assert_int_equal(probity_settings_read(&options, &settings, &what), PROBITY_ERROR_ARGUMENT);
    assert_string_equal(what, "options: label");
    options.label = text + 1;
    assert_int_equal(probity_settings_read(&options, &settings, &what), 0);
    assert_int_equal(strlen(settings.label), PROBITY_LIMIT_NAME);
}

static void order(void **state)
{
    struct probity_options options = {.strict_order = PROBITY_ON};

    (void)state;
    assert_int_equal(probity_settings_read(NULL, &settings, &what), 0);
    assert_false(settings.is_ordered);
    assert_int_equal(probity_settings_read(&options, &settings, &what), 0);
    assert_true(settings.is_ordered);
    setenv("PROBITY_ORDER", "relaxed", 1);
    assert_int_equal(probity_settings_read(&options, &settings, &what), 0);
    assert_false(settings.is_ordered);
    setenv("PROBITY_ORDER", "strict", 1);
    assert_int_equal(probity_settings_read(NULL, &settings, &what), 0);
    assert_true(settings.is_ordered);
    unsetenv("PROBITY_ORDER");
}

/* An empty variable is the same as an unset one. */
static void empty_is_unset(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        setenv(names[i], "", 1);
    assert_int_equal(probity_settings_read(NULL, &settings, &what), 0);
    assert_int_equal(settings.chunk_words, 4096);
    assert_false(settings.is_asked_for);
}

static void refused_text(void **state)
{
    static const char *const bad[][2] = {
        {"PROBITY_MODE", "Block"},         {"PROBITY_WALL_TIME", "2"},
        {"PROBITY_CPU_TIME", "on"},        {"PROBITY_OVERWRITE", "01"},
        {"PROBITY_CHUNK_RECORDS", "0x10"}, {"PROBITY_CHUNK_RECORDS", "-1"},
        {"PROBITY_CHUNK_RECORDS", " 512"}, {"PROBITY_SPOOL_RECORDS", "1e6"},
        {"PROBITY_CPU_GAP_NS", "1500ns"},  {"PROBITY_CLOCK", "tsc"},
        {"PROBITY_SPOOL_BYTES_MAX", "99999999999999999999999999"},
        {"PROBITY_LEVEL", "6"},            {"PROBITY_LEVEL", "-1"},
        {"PROBITY_LEVEL", "2,"},           {"PROBITY_LEVEL", ",2"},
        {"PROBITY_LEVEL", "2,6"},          {"PROBITY_LEVEL", "2,3,4"},
        {"PROBITY_LEVEL", "2 3"},          {"PROBITY_LEVEL", "05"},
        {"PROBITY_PROFILE", "yes"},        {"PROBITY_THREADS", "some"},
        {"PROBITY_COST", "no"},            {"PROBITY_ORDER", "1"}};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv(bad[i][0], bad[i][1], 1);
        assert_int_equal(probity_settings_read(NULL, &settings, &what), PROBITY_ERROR_ARGUMENT);
        assert_string_equal(what, bad[i][0]);
        unsetenv(bad[i][0]);
    }
}

/* The last value accepted, and the first one rejected. */
static void borders(void **state)
{
    static const struct {
        const char *name, *good, *bad;
    } border[] = {{"PROBITY_CHUNK_RECORDS", "64", "63"},
                  {"PROBITY_CHUNK_RECORDS", "65536", "65537"},
                  {"PROBITY_SPOOL_RECORDS", "32768", "32767"},
                  {"PROBITY_SPOOL_RECORDS", "67108864", "134217729"},
                  {"PROBITY_CPU_GAP_NS", "200", "199"},
                  {"PROBITY_CPU_GAP_NS", "1000000", "1000001"},
                  {"PROBITY_CPU_BUDGET_PERMILLE", "1", "0"},
                  {"PROBITY_CPU_BUDGET_PERMILLE", "1000", "1001"},
                  {"PROBITY_SPOOL_BYTES_MAX", "4194304", "4194303"}};

    (void)state;
    for (size_t i = 0; i < sizeof border / sizeof *border; i++) {
        setenv(border[i].name, border[i].good, 1);
        assert_int_equal(probity_settings_read(NULL, &settings, &what), 0);
        setenv(border[i].name, border[i].bad, 1);
        assert_int_equal(probity_settings_read(NULL, &settings, &what), PROBITY_ERROR_ARGUMENT);
        assert_string_equal(what, border[i].name);
        unsetenv(border[i].name);
    }
}

/* Rounded up to a power of two; at least a page and eight chunks, at most the total allowed. */
static void sizes(void **state)
{
    (void)state;
    for (uint32_t records = 64; records <= 65536; records += 61) {
        struct probity_options options = {.chunk_records = records};
        assert_int_equal(probity_settings_read(&options, &settings, &what), 0);
        assert_true(settings.chunk_words >= records && settings.chunk_words >= 512);
        assert_true(settings.chunk_words < 2 * records || settings.chunk_words == 512);
        assert_int_equal(settings.chunk_words & (settings.chunk_words - 1), 0);
        assert_true(settings.segment_chunks >= 8);
        assert_true(settings.segments_max >= 1 && settings.segments_max <= PROBITY_LIMIT_SEGMENTS);
    }
}

static void scopes(void **state)
{
    struct probity_options options = {
        .profile = PROBITY_ON, .threads_announced = PROBITY_ON, .log = "option",
        .summary = "sum"};

    (void)state;
    assert_int_equal(probity_settings_read(&options, &settings, &what), 0);
    assert_true(settings.profile && settings.threads_announced);
    assert_string_equal(settings.log, "option");
    assert_string_equal(settings.summary, "sum");
    assert_false(settings.is_asked_for);
    setenv("PROBITY_SUMMARY", "%n.txt", 1);
    setenv("PROBITY_PROFILE", "0", 1);
    setenv("PROBITY_COST", "1", 1);
    assert_int_equal(probity_settings_read(&options, &settings, &what), 0);
    assert_int_equal(settings.cost, PROBITY_SETTINGS_COST_BOTH);
    setenv("PROBITY_COST", "0", 1);
    setenv("PROBITY_THREADS", "all", 1);
    setenv("PROBITY_LOG", "stderr", 1);
    setenv("PROBITY_LEVEL", "3", 1);
    assert_int_equal(probity_settings_read(&options, &settings, &what), 0);
    assert_false(settings.profile || settings.threads_announced || settings.cost);
    assert_string_equal(settings.log, "stderr");
    assert_string_equal(settings.summary, "%n.txt");
    assert_true(settings.is_asked_for && settings.is_for_text);
    assert_int_equal(settings.level_functions, 3);
    assert_int_equal(settings.level_parameters, -1);
    setenv("PROBITY_LEVEL", "0,5", 1);
    setenv("PROBITY_THREADS", "announced", 1);
    assert_int_equal(probity_settings_read(NULL, &settings, &what), 0);
    assert_int_equal(settings.level_functions, 0);
    assert_int_equal(settings.level_parameters, 5);
    assert_true(settings.threads_announced);
}

/* A program compiled with fewer options has a shorter struct; nothing after it is read. */
static void older_struct(void **state)
{
    struct probity_options options = {.struct_bytes = offsetof(struct probity_options, profile),
                                      .cpu_budget_permille = 9,
                                      .profile = 77,
                                      .threads_announced = 77};

    (void)state;
    assert_int_equal(probity_settings_read(&options, &settings, &what), 0);
    assert_int_equal(settings.cpu_budget_permille, 9);
    assert_false(settings.profile || settings.threads_announced);
    options.struct_bytes -= 8;
    assert_int_equal(probity_settings_read(&options, &settings, &what), PROBITY_ERROR_ARGUMENT);
    assert_string_equal(what, "options: struct_bytes");
    options.struct_bytes = sizeof options + 8;
    assert_int_equal(probity_settings_read(&options, &settings, &what), PROBITY_ERROR_ARGUMENT);
}

static void wrong_options(void **state)
{
    struct probity_options options = {.struct_bytes = 3};
    char *path = malloc(PROBITY_LIMIT_PATH + 10);

    (void)state;
    assert_int_equal(probity_settings_read(&options, &settings, &what), PROBITY_ERROR_ARGUMENT);
    options = (struct probity_options){.mode = 4};
    assert_int_equal(probity_settings_read(&options, &settings, &what), PROBITY_ERROR_ARGUMENT);
    memset(path, 'x', PROBITY_LIMIT_PATH + 9);
    path[PROBITY_LIMIT_PATH + 9] = 0;
    options = (struct probity_options){.out = path};
    assert_int_equal(probity_settings_read(&options, &settings, &what), PROBITY_ERROR_ARGUMENT);
    setenv("PROBITY_SPOOL_DIR", path, 1);
    assert_int_equal(probity_settings_read(NULL, &settings, &what), PROBITY_ERROR_ARGUMENT);
    assert_string_equal(what, "PROBITY_SPOOL_DIR");
    unsetenv("PROBITY_SPOOL_DIR");
    setenv("PROBITY_LOG", path, 1);
    assert_int_equal(probity_settings_read(NULL, &settings, &what), PROBITY_ERROR_ARGUMENT);
    assert_string_equal(what, "PROBITY_LOG");
    free(path);
}

/* A directory with a '%' in its name, which a template must double. */
static void directory_is_kept(void **state)
{
    char directory[] = "/tmp/probity-100%-XXXXXX", expected[128];

    (void)state;
    assert_non_null(mkdtemp(directory));
    assert_int_equal(chdir(directory), 0);
    memset(&settings, 0, sizeof settings);
    snprintf(settings.out, sizeof settings.out, "%s", "%n.%%");
    snprintf(settings.spool_directory, sizeof settings.spool_directory, "spool");
    snprintf(settings.log, sizeof settings.log, "stderr");
    snprintf(settings.summary, sizeof settings.summary, "/there");
    probity_settings_keep_directory(&settings);
    snprintf(expected, sizeof expected, "/tmp/probity-100%%%%%s/%%n.%%%%", directory + 17);
    assert_string_equal(settings.out, expected);
    snprintf(expected, sizeof expected, "%s/spool", directory);
    assert_string_equal(settings.spool_directory, expected);
    assert_string_equal(settings.log, "stderr");
    assert_string_equal(settings.summary, "/there");
    assert_int_equal(chdir("/"), 0);
    rmdir(directory);
    /* With "/" as the directory; a path that would become too long is not changed. */
    memset(settings.out, 'x', sizeof settings.out - 1);
    probity_settings_keep_directory(&settings);
    assert_int_equal(settings.out[0], 'x');
    assert_int_equal(strlen(settings.out), sizeof settings.out - 1);
}

/* Texts that are empty on both sides are not changed; texts that became empty are cleared. */
static void copied(void **state)
{
    static struct probity_settings copy, empty;
    size_t room = sizeof copy.log;

    (void)state;
    memset(&settings, 0, sizeof settings);
    snprintf(settings.out, sizeof settings.out, "out");
    snprintf(settings.when, sizeof settings.when, "when");
    memset(copy.log + 1, 'x', room - 2); /* of no text */
    probity_settings_copy(&copy, &settings);
    assert_string_equal(copy.out, "out");
    assert_string_equal(copy.when, "when");
    assert_int_equal(copy.log[0], 0);
    snprintf(settings.log, room, "log");
    settings.when[0] = 0;
    probity_settings_copy(&copy, &settings);
    assert_string_equal(copy.log, "log");
    assert_string_equal(copy.when, "");
    probity_settings_copy(&copy, &copy);
    assert_string_equal(copy.log, "log");
    probity_settings_copy(&copy, &empty);
    assert_true(copy.out[0] == 0 && copy.log[0] == 0 && copy.when[0] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(defaults, clear),
        cmocka_unit_test_setup(environment_wins, clear),
        cmocka_unit_test_setup(labels, clear),
        cmocka_unit_test_setup(order, clear),
        cmocka_unit_test_setup(empty_is_unset, clear),
        cmocka_unit_test_setup(refused_text, clear),
        cmocka_unit_test_setup(borders, clear),
        cmocka_unit_test_setup(sizes, clear),
        cmocka_unit_test_setup(scopes, clear),
        cmocka_unit_test_setup(older_struct, clear),
        cmocka_unit_test_setup(wrong_options, clear),
        cmocka_unit_test(directory_is_kept),
        cmocka_unit_test(copied),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
