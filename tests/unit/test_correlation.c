/* SPDX-License-Identifier: MIT
 *
 * test_correlation.c: correlation ids as W3C `traceparent` headers, and headers of other tracers:
 * the examples of the specification, and one of them with each byte changed or missing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probity_correlation.h"

static const char example[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/* The text ends at the end of its memory, so that a sanitizer detects reads beyond it. */
static int parse(const char *text, size_t length, uint64_t *ret_id)
{
    char *copy = malloc(length + 1);

    memcpy(copy, text, length);
    copy[length] = '\0';
    int status = probity_correlation_from_text(copy, ret_id);
    free(copy);
    return status;
}

static void there_and_back(void **state)
{
    static const uint64_t ids[] = {1, 15, 16, UINT64_C(0x8000000000000000), UINT64_MAX,
                                   UINT64_C(0x0123456789abcdef)};
    char text[PROBITY_CORRELATION_TEXT_BYTES];
    uint64_t got;

    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        assert_int_equal(probity_correlation_to_text(ids[i], text), 0);
        assert_int_equal(strlen(text), PROBITY_CORRELATION_TEXT_BYTES - 1);
        assert_int_equal(parse(text, strlen(text), &got), 0);
        assert_true(got == ids[i]);
    }
    assert_string_equal(text, "00-00000000000000000123456789abcdef-0123456789abcdef-01");
    assert_int_equal(probity_correlation_to_text(0, text), -1);
    assert_string_equal(text, "");
}

static void other_tracers(void **state)
{
    uint64_t got = 0;

    (void)state;
    assert_int_equal(parse(example, strlen(example), &got), 0);
    assert_true(got == UINT64_C(0xa3ce929d0e0e4736));
    /* A later version may have more fields. */
    const char *later = "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what";
    assert_int_equal(parse(later, strlen(later), &got), 0);
    const char *high = "00-4bf92f3577b34da60000000000000000-00f067aa0ba902b7-00";
    assert_int_equal(parse(high, strlen(high), &got), 0);
    assert_true(got == UINT64_C(0x4bf92f3577b34da6));
}

static void refused(void **state)
{
    static const char *const texts[] = {
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what",
        "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.what",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 "};
    uint64_t got = 7;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(parse(texts[i], strlen(texts[i]), &got), -1);
    for (size_t length = 0; length < strlen(example); length++) {
        char changed[sizeof example];
        assert_int_equal(parse(example, length, &got), -1);
        memcpy(changed, example, sizeof example);
        changed[length] = 'g';
        assert_int_equal(parse(changed, strlen(changed), &got), -1);
    }
    assert_true(got == 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(other_tracers),
        cmocka_unit_test(refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
