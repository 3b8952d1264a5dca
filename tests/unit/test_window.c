/* SPDX-License-Identifier: MIT
 *
 * test_window.c: times, sizes and rings in the notations that users write.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/window.h"

static void expect_time(const char *text, uint64_t ns, const char *rest)
{
    const char *end;
    uint64_t found = 0;

    assert_true(probity_window_time(text, &end, &found));
    assert_int_equal(found, ns);
    assert_string_equal(end, rest);
}

static void times(void **state)
{
    const char *end;
    uint64_t found = 7;

    (void)state;
    expect_time("20ms", 20000000, "");
    expect_time("1.5s", 1500000000, "");
    expect_time("2min", UINT64_C(120000000000), "");
    expect_time("3us,", 3000, ",");
    expect_time("0.001ms", 1000, "");
    assert_false(probity_window_time("20", &end, &found));
    assert_string_equal(end, "");
    assert_false(probity_window_time("20parsec", &end, &found));
    assert_string_equal(end, "parsec");
    assert_false(probity_window_time("99999999999999999999s", &end, &found));
    assert_false(probity_window_time("", &end, &found));
    assert_int_equal(found, 7);
}

static void rings(void **state)
{
    static const char *const invalid[] = {"",   "30",  "30s,",    "30s;64M", "64M,30s", "2G",
                                          "0s", "25h", "1500min", ",64M",    "30s,5K",  "-1s"};
    uint64_t ns = 1, bytes = 1;

    (void)state;
    assert_true(probity_window_ring("30s", &ns, &bytes));
    assert_int_equal(ns, UINT64_C(30000000000));
    assert_int_equal(bytes, 0);
    assert_true(probity_window_ring("64M", &ns, &bytes));
    assert_int_equal(ns, 0);
    assert_int_equal(bytes, 64 << 20);
    assert_true(probity_window_ring("1.5s,2MiB", &ns, &bytes));
    assert_int_equal(ns, 1500000000);
    assert_int_equal(bytes, 2 << 20);
    for (size_t i = 0; i < sizeof invalid / sizeof invalid[0]; i++)
        assert_false(probity_window_ring(invalid[i], &ns, &bytes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(times), cmocka_unit_test(rings)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
