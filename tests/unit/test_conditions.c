/* SPDX-License-Identifier: MIT
 *
 * test_conditions.c: conditions, settings and names of dumps; the block DUMP.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/conditions.h"
#include "format/dump.h"

static struct probity_condition condition;
static struct probity_condition_error error;

static void expect_condition(const char *text, enum probity_condition_kind kind, uint64_t limit_ns,
                             uint32_t percentile, const char *rest)
{
    const char *end;

    assert_true(probity_condition_parse(text, &end, &condition, &error));
    assert_int_equal(condition.kind, kind);
    assert_int_equal(condition.limit_ns, limit_ns);
    assert_int_equal(condition.percentile, percentile);
    assert_string_equal(end, rest);
}

static void expect_error(const char *text, size_t column)
{
    const char *end;

    assert_false(probity_condition_parse(text, &end, &condition, &error));
    assert_int_equal(error.column, column);
    assert_non_null(error.allowed);
}

static void conditions(void **state)
{
    (void)state;
    expect_condition("function handle_* > 20ms", PROBITY_CONDITION_FUNCTION, 20000000, 0, "");
    assert_string_equal(condition.name.name, "handle_*");
    expect_condition(" function \"a; b\">1.5us ;x", PROBITY_CONDITION_FUNCTION, 1500, 0, ";x");
    assert_string_equal(condition.name.name, "a; b");
    assert_int_equal(condition.length, strlen("function \"a; b\">1.5us"));
    expect_condition("function f > p99.9", PROBITY_CONDITION_FUNCTION, 0, 999000, "");
    expect_condition("block 4->9 > 5ms", PROBITY_CONDITION_BLOCK, 5000000, 0, "");
    assert_true(condition.name.is_number && condition.to.is_number);
    assert_int_equal(condition.to.number, 9);
    expect_condition("block begin -> \"the end\" > 5ms", PROBITY_CONDITION_BLOCK, 5000000, 0, "");
    assert_string_equal(condition.name.name, "begin");
    assert_string_equal(condition.to.name, "the end");
    expect_condition("wait > 10ms", PROBITY_CONDITION_WAIT, 10000000, 0, "");
    assert_string_equal(condition.name.name, "");
    expect_condition("wait mutex > 10ms", PROBITY_CONDITION_WAIT, 10000000, 0, "");
    expect_condition("request > 20ms", PROBITY_CONDITION_REQUEST, 20000000, 0, "");
    expect_condition("request job>20ms", PROBITY_CONDITION_REQUEST, 20000000, 0, "");
    assert_string_equal(condition.name.name, "job");
    expect_condition("block 4->9 > p99.9", PROBITY_CONDITION_BLOCK, 0, 999000, "");
    expect_condition("wait > p98;", PROBITY_CONDITION_WAIT, 0, 980000, ";");
    expect_condition("request job > p99.99", PROBITY_CONDITION_REQUEST, 0, 999900, "");
    expect_condition("gap beat > 1s;", PROBITY_CONDITION_GAP, 1000000000, 0, ";");
    expect_condition("rate 7 > 1000/s", PROBITY_CONDITION_RATE, 1000000000, 0, "");
    assert_true(condition.name.is_number && condition.number == 1000 && !condition.is_below);
    expect_condition("rate \"a<b\" < 5 / 10s ; x", PROBITY_CONDITION_RATE, 10000000000, 0, "; x");
    assert_true(condition.number == 5 && condition.is_below);
    expect_condition("value err<-3", PROBITY_CONDITION_VALUE, 0, 0, "");
    assert_true(condition.number == -3 && condition.is_below);
    assert_string_equal(condition.name.name, "err");
    expect_condition("signal USR2", PROBITY_CONDITION_SIGNAL, 0, 0, "");
    assert_int_equal(condition.signal, SIGUSR2);
}

static const char *signal_text(int number)
{
    static char text[32];

    snprintf(text, sizeof text, "signal %d", number);
    return text;
}

/* A handler must not change how the program ends, and sigaction() must accept it. */
static void signals_that_end_a_program_are_refused(void **state)
{
    static const int refused[] = {SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGTRAP, SIGSYS,  SIGABRT,
                                  SIGKILL, SIGSTOP, SIGTERM, SIGINT,  SIGHUP,  SIGQUIT, SIGPIPE,
                                  SIGALRM, SIGPROF, SIGXCPU, SIGTSTP, SIGTTIN, SIGTTOU, 0};
    static const int allowed[] = {SIGUSR1, SIGUSR2, SIGCHLD, SIGCONT, SIGURG, SIGWINCH};

    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        expect_error(signal_text(refused[i]), 8);
    for (int number = 32; number < SIGRTMIN; number++)
        expect_error(signal_text(number), 8);
    expect_error(signal_text(SIGRTMAX + 1), 8);
    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++) {
        expect_condition(signal_text(allowed[i]), PROBITY_CONDITION_SIGNAL, 0, 0, "");
        assert_int_equal(condition.signal, allowed[i]);
    }
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        expect_condition(signal_text(number), PROBITY_CONDITION_SIGNAL, 0, 0, "");
}

static void errors(void **state)
{
    (void)state;
    expect_error("", 1);
    expect_error("functions f > 1ms", 1);
    expect_error("function", 9);
    expect_error("function f", 11);
    expect_error("function f > ", 14);
    expect_error("function f > 0ms", 14);
    expect_error("function f > 5", 15);
    expect_error("function f > p0", 16);
    expect_error("request > p100", 12);
    expect_error("gap beat > 9ms", 12);
    expect_error("gap > 1s", 5);
    expect_error("gap beat > p99", 12);
    assert_string_equal(error.allowed, "a time of 10ms to 24 hours");
    expect_error("rate 7 > 1000", 14);
    expect_error("rate 7 > 1000/", 15);
    expect_error("rate 7 > 1000/x", 15);
    expect_error("rate 7 > 1000/99ms", 15);
    expect_error("rate 7 < 0/s", 11);
    expect_error("rate 7 = 1/s", 8);
    expect_error("value 7 > x", 11);
    expect_error("value 7 > -", 12);
    expect_error("block 4 > 5ms", 9);
    expect_error("wait > pp9", 9);
    expect_error("wait > 5ms please", 12);
    expect_error("signal TERM", 8);
    expect_error("signal 10x", 10);
}

static void settings(void **state)
{
    struct probity_dumps_settings found;

    (void)state;
    probity_dumps_settings_init(&found);
    assert_true(probity_dumps_settings_parse("before=1s,at-most=3/10s,keep=worst:20,limit=2M",
                                             &found, &error));
    assert_int_equal(found.before_ns, 1000000000);
    assert_int_equal(found.at_most, 3);
    assert_int_equal(found.period_ns, UINT64_C(10000000000));
    assert_int_equal(found.keep, PROBITY_DUMPS_KEEP_WORST);
    assert_int_equal(found.kept, 20);
    assert_int_equal(found.limit_bytes, 2 << 20);
    assert_false(probity_dumps_settings_parse("before=1s;after=2s", &found, &error));
    assert_int_equal(error.column, 10);
    assert_false(probity_dumps_settings_parse("keep=worst:0", &found, &error));
    assert_false(probity_dumps_settings_parse("at-most=1/0s", &found, &error));
    assert_int_equal(error.column, 11);
    assert_false(probity_dumps_settings_parse("before=2s,", &found, &error));
    assert_int_equal(error.column, 11);
    assert_false(probity_dumps_settings_parse(",before=2s", &found, &error));
    assert_int_equal(error.column, 1);
    assert_true(probity_dumps_settings_parse("", &found, &error));
    assert_true(probity_dumps_pattern_check("a/%n-%p-%i%%.probity", &error));
    assert_false(probity_dumps_pattern_check("%i/x", &error));
    assert_false(probity_dumps_pattern_check("%i%i", &error));
    assert_false(probity_dumps_pattern_check("%x%i", &error));
    assert_int_equal(error.column, 2);
    assert_false(probity_dumps_pattern_check("plain", &error));
}

static void a_block_holds_its_reasons(void **state)
{
    uint8_t payload[2048];
    const struct probity_dump dump = {.number = 3, .flags = PROBITY_DUMP_WHOLE, .wanted = 5,
                                      .had = 4, .end = 99, .reasons = 2, .more = 1, .left_out = 7};
    const struct probity_dump_reason reasons[] = {
        {.kind = PROBITY_DUMP_FUNCTION, .thread = 1, .tid = 2, .number = 3, .start = 10, .end = 20,
         .limit = 5, .condition = {"function f > 5", 14}, .text = {"f", 1}},
        {.kind = 99, .start = 30, .end = 30}};
    struct probity_dump found;
    struct probity_dump_reason reason;
    size_t at;

    (void)state;
    size_t bytes = probity_dump_put(payload, &dump, reasons);
    assert_int_equal(probity_dump_get(payload, bytes, &found, &at), 0);
    assert_int_equal(found.left_out, 7);
    assert_int_equal(probity_dump_reason_get(payload, bytes, &at, &reason), 0);
    assert_int_equal(reason.limit, 5);
    assert_int_equal(reason.condition.length, 14);
    assert_memory_equal(reason.text.bytes, "f", 1);
    assert_int_equal(probity_dump_reason_get(payload, bytes, &at, &reason), 0);
    assert_int_equal(reason.kind, 99);
    assert_int_equal(at, bytes);
    assert_true(probity_dump_reason_get(payload, bytes, &at, &reason) != 0);
    for (size_t cut = 0; cut < bytes; cut++) {
        int is_whole = probity_dump_get(payload, cut, &found, &at) == 0;
        for (uint32_t i = 0; is_whole && i < 2; i++)
            is_whole = probity_dump_reason_get(payload, cut, &at, &reason) == 0;
        assert_false(is_whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(conditions), cmocka_unit_test(errors),
                                       cmocka_unit_test(settings),
                                       cmocka_unit_test(signals_that_end_a_program_are_refused),
                                       cmocka_unit_test(a_block_holds_its_reasons)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
