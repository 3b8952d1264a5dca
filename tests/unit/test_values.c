/* SPDX-License-Identifier: MIT
 *
 * test_values.c: values of every type as text, and malicious bytes instead of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/stream.h"
#include "print/text.h"
#include "print/values.h"

/* Returns the text of one value. The value is copied to an allocation of exactly `bytes`, so that a
 * sanitizer detects any read beyond it. Static: valid until the next call. */
static const char *shown(uint32_t type, const char *source, enum probity_value_style style,
                         const void *bytes, size_t count)
{
    static char text[8192];
    struct probity_format_value value = {type, source};
    struct probity_format format = {1, 1, 1, &value};
    uint8_t *copy = malloc(count);
    struct probity_event event = {.format = &format, .values = copy, .value_bytes = count};
    struct probity_value_view view;

    if (count > 0)
        memcpy(copy, bytes, count);
    struct probity_value_walk walk = probity_value_walk_of(&event);
    assert_int_equal(probity_value_walk_next(&walk, &view), 1);
    *probity_value_put(text, text + sizeof text - 1, &view, style) = '\0';
    assert_int_equal(probity_value_walk_next(&walk, &view), 0);
    free(copy);
    return text;
}

/* Returns the name in a C++ signature. Static: valid until the next call. */
static const char *qualified(const char *signature, const char *name)
{
    static char text[256];
    size_t bytes;
    const char *from = probity_text_qualified(signature, name, &bytes);

    snprintf(text, sizeof text, "%.*s", (int)bytes, from);
    return text;
}

static void names_have_their_classes(void **state)
{
    static const char *const names[][3] = {
        {"int main(int, char**)", "main", "main"},
        {"virtual void Der::f()", "f", "Der::f"},
        {"T Box<T>::get() const [with T = double]", "get", "Box<T>::get"},
        {"Box<T>::~Box() [with T = double]", "~Box", "Box<T>::~Box"},
        {"bool Box<T>::operator<(const Box<T>&) const [with T = int]", "operator<",
         "Box<T>::operator<"},
        {"Box<T>::operator bool() const [with T = int]", "operator bool",
         "Box<T>::operator bool"},
        {"const char *(anonymous namespace)::ff::f(f)", "f", "(anonymous namespace)::ff::f"},
        {"int& {anonymous}::Map<int, char>::at(int)", "at", "{anonymous}::Map<int, char>::at"},
        {"main(int, char**)::<lambda(auto)> [with auto:1 = int]", "operator()",
         "main(int, char**)::<lambda(auto)>"},
        {"auto main()::(anonymous class)::operator()(int) const", "operator()",
         "main()::(anonymous class)::operator()"},
        {"", "plain", "plain"}, {"int other(void)", "plain", "plain"}, {"(", "", ""}};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_string_equal(qualified(names[i][0], names[i][1]), names[i][2]);
}

#define QUOTED(type, ...)                                                                          \
    shown(PROBITY_VALUE_##type, "x", PROBITY_VALUE_QUOTED, (uint8_t[]){__VA_ARGS__},               \
          sizeof((uint8_t[]){__VA_ARGS__}))
#define RAW(type, ...)                                                                             \
    shown(PROBITY_VALUE_##type, "x", PROBITY_VALUE_RAW, (uint8_t[]){__VA_ARGS__},                  \
          sizeof((uint8_t[]){__VA_ARGS__}))
#define NUMBER(type, c_type, number)                                                               \
    shown(PROBITY_VALUE_##type, "x", PROBITY_VALUE_QUOTED, &(c_type){number}, sizeof(c_type))

static void integers_are_decimal(void **state)
{
    (void)state;
    assert_string_equal(QUOTED(BOOL, 0), "false");
    assert_string_equal(QUOTED(BOOL, 7), "true");
    assert_string_equal(QUOTED(I8, 0x80), "-128");
    assert_string_equal(QUOTED(U8, 0xff), "255");
    assert_string_equal(NUMBER(I16, int16_t, -32768), "-32768");
    assert_string_equal(NUMBER(U16, uint16_t, 65535), "65535");
    assert_string_equal(NUMBER(I32, int32_t, INT32_MIN), "-2147483648");
    assert_string_equal(NUMBER(U32, uint32_t, UINT32_MAX), "4294967295");
    assert_string_equal(NUMBER(I64, int64_t, INT64_MIN), "-9223372036854775808");
    assert_string_equal(NUMBER(U64, uint64_t, UINT64_MAX), "18446744073709551615");
    assert_string_equal(QUOTED(I128, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80),
                        "-170141183460469231731687303715884105728");
    assert_string_equal(QUOTED(U128, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
                               255, 255, 255, 255),
                        "340282366920938463463374607431768211455");
    assert_string_equal(NUMBER(POINTER, uint64_t, 0), "NULL");
    assert_string_equal(NUMBER(POINTER, uint64_t, 0x7ffc0012), "0x7ffc0012");
    assert_string_equal(NUMBER(POINTER, uint64_t, UINT64_MAX), "0xffffffffffffffff");
}

static void floating_point_has_the_digits_it_needs(void **state)
{
    (void)state;
    assert_string_equal(NUMBER(FLOAT, float, 0.1f), "0.1");
    assert_string_equal(NUMBER(FLOAT, float, 16777217.0f / 3), "5592405.5");
    assert_string_equal(NUMBER(FLOAT, float, -__builtin_inff()), "-inf");
    assert_string_equal(NUMBER(DOUBLE, double, 0.1), "0.1");
    assert_string_equal(NUMBER(DOUBLE, double, 0.1 + 0.2), "0.30000000000000004");
    assert_string_equal(NUMBER(DOUBLE, double, 3), "3");
    assert_string_equal(NUMBER(DOUBLE, double, -40), "-40");
    assert_string_equal(NUMBER(DOUBLE, double, -0.0), "-0");
    assert_string_equal(NUMBER(DOUBLE, double, 1e300), "1e+300");
    assert_string_equal(NUMBER(DOUBLE, double, __builtin_nan("")), "nan");
    double halves[2] = {0.1, (double)(0.1L - (long double)0.1)};
    assert_string_equal(shown(PROBITY_VALUE_LONG_DOUBLE, "x", PROBITY_VALUE_QUOTED, halves, 16),
                        "0.1");
    double parts[2] = {1.5, -2};
    assert_string_equal(shown(PROBITY_VALUE_COMPLEX, "x", PROBITY_VALUE_RAW, parts, 16), "1.5-2i");
    parts[1] = 0.25;
    assert_string_equal(shown(PROBITY_VALUE_COMPLEX, "x", PROBITY_VALUE_RAW, parts, 16),
                        "1.5+0.25i");
}

static void characters_are_quoted_in_parameters_only(void **state)
{
    (void)state;
    assert_string_equal(QUOTED(CHAR, 'a'), "'a'");
    assert_string_equal(RAW(CHAR, 'a'), "a");
    assert_string_equal(QUOTED(CHAR, '\''), "'\\''");
    assert_string_equal(QUOTED(CHAR, '"'), "'\"'");
    assert_string_equal(QUOTED(CHAR, '\\'), "'\\\\'");
    assert_string_equal(QUOTED(CHAR, 0), "'\\000'");
    assert_string_equal(QUOTED(CHAR, '\n'), "'\\n'");
    assert_string_equal(RAW(CHAR, '\n'), "\\n");
    assert_string_equal(RAW(CHAR, '\t'), "\t");
    assert_string_equal(QUOTED(CHAR, '\t'), "'\\t'");
    assert_string_equal(RAW(CHAR, 0x1b), "\\033");
    assert_string_equal(QUOTED(CHAR, 0xe4), "'\\344'");
    assert_string_equal(NUMBER(WIDE_CHAR, uint32_t, 0x20ac), "'\xe2\x82\xac'");
}

static void strings_are_quoted_and_escaped(void **state)
{
    (void)state;
    assert_string_equal(QUOTED(STRING, 3, 0, 'a', '"', 'b'), "\"a\\\"b\"");
    assert_string_equal(RAW(STRING, 4, 0, 'a', '"', '\\', '\''), "a\"\\'");
    assert_string_equal(QUOTED(STRING, 0, 0), "\"\"");
    assert_string_equal(RAW(TEXT, 2, 0, 'o', 'k'), "ok");
    assert_string_equal(QUOTED(TEXT, 2, 0, 'o', 'k'), "ok");
    assert_string_equal(QUOTED(STRING, 3, 0x80, 'a', 'b', 'c'), "\"abc\"...");
    assert_string_equal(QUOTED(STRING, 0xff, 0xff), "NULL");
    assert_string_equal(QUOTED(STRING, 0xfe, 0xff, 0x10, 0, 0, 0, 0, 0, 0, 0), "unreadable 0x10");
    assert_string_equal(QUOTED(BYTES, 3, 0, 0, 0xab, 0xff), "00 ab ff");
    assert_string_equal(QUOTED(BYTES, 1, 0x80, 7), "07...");
    assert_string_equal(QUOTED(WIDE_STRING, 2, 0, 'a', 0, 0, 0, 0xac, 0x20, 0, 0),
                        "\"a\xe2\x82\xac\"");
}

/* No value can put terminal escapes into a log or turn one line into two. */
static void nothing_leaves_its_line(void **state)
{
    (void)state;
    assert_string_equal(RAW(STRING, 6, 0, '\r', '\n', 0x7f, 0x1b, '[', 0),
                        "\\r\\n\\177\\033[\\000");
    assert_string_equal(RAW(STRING, 2, 0, 0xc2, 0x9b), "\\u009b");
    assert_string_equal(RAW(STRING, 3, 0, 0xe2, 0x80, 0xae), "\\u202e");
    assert_string_equal(RAW(STRING, 3, 0, 0xe2, 0x80, 0xa8), "\\u2028");
    assert_string_equal(RAW(STRING, 4, 0, 0xf3, 0xa0, 0x80, 0x81), "\\U000e0001");
    assert_string_equal(RAW(STRING, 2, 0, 0xc0, 0xaf), "\\300\\257");
    assert_string_equal(RAW(STRING, 3, 0, 0xed, 0xa0, 0x80), "\\355\\240\\200");
    assert_string_equal(RAW(STRING, 2, 0, 0xe2, 0x82), "\\342\\202");
    assert_string_equal(RAW(STRING, 3, 0x80, 'a', 0xe2, 0x82), "a...");
    assert_string_equal(RAW(STRING, 4, 0, 0xf0, 0x9f, 0x98, 0x80), "\xf0\x9f\x98\x80");
    assert_string_equal(RAW(WIDE_STRING, 1, 0, 0xff, 0xff, 0xff, 0xff), "\\Uffffffff");
    assert_string_equal(RAW(WIDE_STRING, 1, 0, 0, 0xd8, 0, 0), "\\ud800");
}

static const char *literal(const char *source)
{
    return shown(PROBITY_VALUE_LITERAL, source, PROBITY_VALUE_RAW, "", 0);
}

static void literals_say_what_they_mean(void **state)
{
    (void)state;
    assert_string_equal(literal("\"plain\""), "plain");
    assert_string_equal(literal("\"a\" \"b\"  \"\""), "ab");
    assert_string_equal(literal("\"\\\"q\\\" \\\\ \\x41\\102\\103\\0\""), "\"q\" \\ ABC\\000");
    assert_string_equal(literal("\"tab\\there\\n\""), "tab\there\\n");
    assert_string_equal(literal("\"\\xe2\\x82\\xac\""), "\xe2\x82\xac");
    assert_string_equal(literal("L\"\\xe9\\u20ac\""), "\xc3\xa9\xe2\x82\xac");
    assert_string_equal(literal("u8\"\xe2\x82\xac\""), "\xe2\x82\xac");
    assert_string_equal(literal("R\"x(a\\n)\" b)x\""), "a\\n)\" b");
    assert_string_equal(literal("R\"x(open"), "R\"x(open");
    assert_string_equal(literal("\"open"), "open");
    assert_string_equal(literal("NAME"), "NAME");
    assert_string_equal(literal("\"a\" NAME"), "\"a\" NAME");
    assert_string_equal(literal("\"\\"), "\\");
    assert_string_equal(literal(""), "");
    assert_string_equal(shown(PROBITY_VALUE_LITERAL, "\"a\\n\"", PROBITY_VALUE_QUOTED, "", 0),
                        "\"a\\n\"");
}

static void long_literals_keep_their_characters_whole(void **state)
{
    char source[2000] = "\"", wanted[2000] = "";
    (void)state;
    for (int i = 0; i < 300; i++) {
        memcpy(source + 1 + 3 * i, "\xe2\x82\xac", 3);
        memcpy(wanted + 3 * i, "\xe2\x82\xac", 3);
    }
    source[901] = '"';
    assert_string_equal(literal(source), wanted);
}

static void values_that_are_cut_are_said_to_be(void **state)
{
    static const struct {
        uint32_t type;
        size_t bytes;
    } fixed[] = {{PROBITY_VALUE_BOOL, 1},     {PROBITY_VALUE_I16, 2},
                 {PROBITY_VALUE_U32, 4},      {PROBITY_VALUE_I64, 8},
                 {PROBITY_VALUE_U128, 16},    {PROBITY_VALUE_FLOAT, 4},
                 {PROBITY_VALUE_DOUBLE, 8},   {PROBITY_VALUE_POINTER, 8},
                 {PROBITY_VALUE_COMPLEX, 16}, {PROBITY_VALUE_WIDE_CHAR, 4}};
    static const uint8_t zeros[16];
    (void)state;
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        for (size_t bytes = 0; bytes < fixed[i].bytes; bytes++)
            assert_string_equal(shown(fixed[i].type, "x", PROBITY_VALUE_QUOTED, zeros, bytes),
                                "(cut)");
    }
    assert_string_equal(QUOTED(STRING, 3, 0, 'a', 'b'), "(cut)");
    assert_string_equal(QUOTED(STRING, 3), "(cut)");
    assert_string_equal(QUOTED(STRING, 0xfd, 0xff, 'a'), "(cut)");
    assert_string_equal(QUOTED(STRING, 0xfe, 0xff, 1, 2, 3, 4, 5, 6, 7), "(cut)");
    assert_string_equal(QUOTED(WIDE_STRING, 2, 0, 'a', 0, 0, 0, 'b', 0, 0), "(cut)");
    assert_string_equal(QUOTED(WIDE_STRING, 0xff, 0x7f, 'a', 0, 0, 0), "(cut)");
    assert_string_equal(shown(0, "x", PROBITY_VALUE_RAW, zeros, 8), "(cut)");
    assert_string_equal(shown(24, "x", PROBITY_VALUE_RAW, zeros, 8), "(cut)");
    assert_string_equal(shown(UINT32_MAX, "x", PROBITY_VALUE_RAW, zeros, 8), "(cut)");
}

/* Whatever the bytes, decoding does not read beyond them, and the text is one safe line. */
static void random_bytes_are_shown_safely(void **state)
{
    struct probity_format_value values[8];
    struct probity_format format = {1, 1, 8, values};
    uint64_t random = 88172645463325252u;
    static char text[1 << 16];
    (void)state;
    for (int round = 0; round < 20000; round++) {
        size_t count = random % 60;
        uint8_t *bytes = malloc(count);
        for (size_t i = 0; i < count + 8; i++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            if (i < count)
                bytes[i] = (uint8_t)(random >> 20) & (i % 3 == 1 ? 0x83 : 0xff);
            else
                values[i - count] = (struct probity_format_value){random % 26, "\"\\x\" \"\\777\""};
        }
        struct probity_event event = {.format = &format, .values = bytes, .value_bytes = count};
        struct probity_value_walk walk = probity_value_walk_of(&event);
        struct probity_value_view view;
        while (probity_value_walk_next(&walk, &view)) {
            enum probity_value_style style = 1 + (random >> 40 & 1);
            char *end = probity_value_put(text, text + sizeof text, &view, style);
            assert_true(end < text + PROBITY_VALUE_TEXT_MAX);
            for (char *at = text; at < end; at++)
                assert_true(((unsigned char)*at >= 0x20 && *at != 0x7f) || *at == '\t');
            /* A smaller buffer receives a prefix of the text. */
            char small[16];
            char *cut = probity_value_put(small, small + sizeof small, &view, style);
            assert_true(cut <= small + sizeof small);
        }
        free(bytes);
    }
}

/* Truncated, overlong, surrogates, beyond the last code point, and bytes that cannot start a
 * character. */
static void bytes_that_are_no_character_are_escaped(void **state)
{
    static const struct {
        const char *text, *shown;
    } cases[] = {{"a\xff" "b", "a\\377b"},        {"\x80", "\\200"},
                 {"\xc3", "\\303"},               {"\xc0\x80", "\\300\\200"},
                 {"\xed\xa0\x80", "\\355\\240\\200"},
                 {"\xf4\x90\x80\x80", "\\364\\220\\200\\200"},
                 {"\xe2\x82z", "\\342\\202z"},   {"\xc3\xa4", "\xc3\xa4"}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char shown[64];
        const char *end = probity_text_put(shown, shown + sizeof shown, cases[i].text,
                                           strlen(cases[i].text), '"');
        assert_int_equal(end - shown, strlen(cases[i].shown));
        assert_memory_equal(shown, cases[i].shown, strlen(cases[i].shown));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_have_their_classes),
        cmocka_unit_test(integers_are_decimal),
        cmocka_unit_test(floating_point_has_the_digits_it_needs),
        cmocka_unit_test(characters_are_quoted_in_parameters_only),
        cmocka_unit_test(strings_are_quoted_and_escaped),
        cmocka_unit_test(nothing_leaves_its_line),
        cmocka_unit_test(literals_say_what_they_mean),
        cmocka_unit_test(long_literals_keep_their_characters_whole),
        cmocka_unit_test(values_that_are_cut_are_said_to_be),
        cmocka_unit_test(random_bytes_are_shown_safely),
        cmocka_unit_test(bytes_that_are_no_character_are_escaped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
