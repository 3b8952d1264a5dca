/* SPDX-License-Identifier: MIT
 *
 * test_selection.c: rules that select functions, and the names in C++ symbols.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/selection.h"

/* Returns whether the rules record a function of 100 bytes in the program "server". */
static int takes(const char *rules, const char *symbol)
{
    const struct probity_selection_subject subject = {symbol, "server", 100, 0};

    return probity_selection_takes(rules, &subject);
}

static void rules_choose_functions(void **state)
{
    (void)state;
    assert_true(takes("", "f"));
    assert_true(takes("# none\n\n  ;\n", "f"));
    assert_true(takes("function f", "f"));
    assert_false(takes("function f", "ff"));
    assert_true(takes("function a;function f", "f"));
    assert_false(takes("exclude f", "f"));
    assert_true(takes("exclude f", "g"));
    assert_false(takes("function *\nexclude f # too often", "f"));
    assert_false(takes("exclude f\nfunction f", "f"));
    assert_true(takes("object ser*", "f"));
    assert_false(takes("object lib*", "f"));
    assert_true(takes("object lib*;object server", "f"));
    assert_false(takes("object server;function g", "f"));
    assert_true(takes("min-bytes 100", "f"));
    assert_false(takes("min-bytes 101", "f"));
    assert_true(takes("  function\tf  \r\n", "f"));
    assert_true(takes("function a b", "a b"));
    assert_true(takes("function a#b", "a#b"));
    assert_true(takes("# see f; exclude f\nfunction f # twice; exclude f", "f"));
    assert_false(takes("function g;# and\nexclude f", "f"));
}

static void files_match_from_any_directory_on(void **state)
{
    static const struct {
        const char *pattern, *path;
        int is_match;
    } cases[] = {
        {"a.c", "a.c", 1},           {"a.c", "/x/a.c", 1},          {"a.c", "/x/ba.c", 0},
        {"a.c", "/a.c/b", 0},        {"x/*", "/w/x/y/a.c", 1},      {"x/*.c", "/wx/a.c", 0},
        {"/x/*", "/x/a.c", 1},       {"/x/*", "/w/x/a.c", 0},       {"*.c", "/x/a.c", 1},
        {"*.c", "a.cc", 0},          {"x/a.c", "x/x/a.c", 1},       {"a*b/c", "/a/ab/axb/c", 1},
        {"x", "", 0},                {"x/", "/x/", 1},              {"[a-c].h", "/x/b.h", 1}};
    char rule[64];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(rule, sizeof rule, "function f;file %s", cases[i].pattern);
        assert_true(probity_selection_has_files(rule));
        if (probity_selection_takes_file(rule, cases[i].path) != cases[i].is_match)
            fail_msg("'%s' and '%s': expected %d", cases[i].pattern, cases[i].path,
                     cases[i].is_match);
    }
    assert_false(probity_selection_has_files("function file x"));
    assert_false(probity_selection_takes_file("function a.c", "a.c"));
}

static void a_file_is_one_more_condition(void **state)
{
    struct probity_selection_subject subject = {"f", "server", 100, 0};

    (void)state;
    assert_false(probity_selection_takes("file a.c", &subject));
    subject.is_file = 1;
    assert_true(probity_selection_takes("file a.c", &subject));
    assert_false(probity_selection_takes("file a.c;function g", &subject));
    assert_false(probity_selection_takes("file a.c;exclude f", &subject));
    assert_false(probity_selection_takes("file a.c;object lib*", &subject));
}

static void an_unknown_size_is_no_reason(void **state)
{
    const struct probity_selection_subject subject = {"server+0x10", "server", 0, 0};

    (void)state;
    assert_true(probity_selection_takes("min-bytes 1000", &subject));
}

static void a_line_that_is_no_rule_is_found(void **state)
{
    static const char *const invalid[] = {
        "f", "function", "function ", "exclude # f", "functions f", "min-bytes", "min-bytes x",
        "min-bytes -1", "min-bytes 1 2", "min-bytes 1234567890", "Function f"};

    (void)state;
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
        assert_int_equal(1, probity_selection_check(invalid[i]));
        assert_true(takes(invalid[i], "f"));
    }
    assert_int_equal(0, probity_selection_check("function f;exclude g;file i;object h"));
    assert_int_equal(0, probity_selection_check("min-bytes 8"));
    assert_int_equal(3, probity_selection_check("function f;exclude g\n# x\nbad\n"));
    assert_int_equal(2, probity_selection_check("\nexclude a;bad;exclude b"));
}

static void patterns_match_whole_names(void **state)
{
    static const struct {
        const char *pattern, *name;
        int is_match;
    } cases[] = {
        {"*", "", 1},          {"?", "", 0},         {"?", "a", 1},        {"a*c", "abbbc", 1},
        {"a*c", "ac", 1},      {"a*c", "acb", 0},    {"*a*b*", "xaxbx", 1}, {"*ab", "aab", 1},
        {"*ab", "aabb", 0},    {"a**b", "ab", 1},    {"[a-c]x", "bx", 1},  {"[a-c]x", "dx", 0},
        {"[!a-c]x", "dx", 1},  {"[!a-c]x", "ax", 0}, {"[]]", "]", 1},      {"[a-]", "-", 1},
        {"[abc", "[abc", 1},   {"[abc", "a", 0},     {"a[", "a[", 1},      {"[!]", "[!]", 1},
        {"[z-a]", "m", 0},     {"x*[0-9]", "xa7", 1}, {"A", "a", 0}};
    char rule[64];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(rule, sizeof rule, "function %s", cases[i].pattern);
        if (takes(rule, cases[i].name) != cases[i].is_match)
            fail_msg("'%s' and '%s': expected %d", cases[i].pattern, cases[i].name,
                     cases[i].is_match);
    }
}

/* Matching takes time proportional to the length of the pattern times that of the name. */
static void many_stars_take_no_longer(void **state)
{
    char rule[512], name[4096];
    char *end = rule + snprintf(rule, sizeof rule, "function ");

    (void)state;
    for (int i = 0; i < 200; i++, end += 2)
        memcpy(end, "a*", 2);
    memcpy(end, "b", sizeof "b");
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_false(takes(rule, name));
}

static void symbols_hold_names_of_cxx(void **state)
{
    static const struct {
        const char *symbol, *name;
    } cases[] = {
        {"_Z4callv", "call"},
        {"_ZL4callv", "call"},
        {"_ZN5shape3box4areaEv", "shape::box::area"},
        {"_ZNK5shape3box4areaEv", "shape::box::area"},
        {"_ZN5shape3boxC1Ei", "shape::box::box"},
        {"_ZN5shape3boxD0Ev", "shape::box::~box"},
        {"_ZN5shape12_GLOBAL__N_17checkedEi", "shape::(anonymous namespace)::checked"},
        {"_ZN5shape5twiceIiEET_S1_", "shape::twice"},
        {"_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector::push_back"},
        {"_ZSt4sortIPiEvT_S1_", "std::sort"},
        {"_ZNSt3mapISsiSt4lessISsESaISt4pairIKSsiEEE5clearEv", "std::map::clear"},
        {"_ZN3fooILi3ELb1EE3barEv", "foo::bar"},
        {"_ZN3fooIPFviEE3barEv", "foo::bar"},
        {"_ZN1aIN1b1cEE1dEv", "a::d"},
        {"main", NULL},
        {"_Z", NULL},
        {"_ZN", NULL},
        {"_ZNE", NULL},
        {"_ZN5shap", NULL},
        {"_ZN99999shapeEv", NULL},
        {"_ZN0Ev", NULL},
        {"_ZNC1Ev", NULL},
        {"_ZN1aB", "a::?"},
        {"_ZN1aI", "a::?"},
        {"_ZN1aIS", "a::?"},
        {"_ZN1aIT", "a::?"},
        {"_ZN1aIL", "a::?"},
        {"_ZN1aILi", "a::?"},
        {"_ZN1aIL_", "a::?"},
        {"_ZN1aILN", "a::?"},
        {"_ZN1aILS", "a::?"},
        {"_ZN1aIL1", "a::?"},
        {"_ZNK5shape3box4nameB5cxx11Ev", "shape::box::name"},
        {"_ZN5shape1aB5cxx11B2v2Ev", "shape::a"},
        {"_Z2kdILN5shape4kindE1EEvv", "kd"},
        {"_ZN5shape2kdILNS_4kindE1EEEvv", "shape::kd"},
        {"_ZN5shape2fpIL_Z2idiEEEiv", "shape::fp"},
        {"_ZN6holderIA3_iE3getEv", "holder::get"},
        {"_ZN6holderIDnE3getEv", "holder::get"},
        {"_ZNSaIcE8allocateEm", "std::allocator::allocate"},
        {"_ZNSaIcEC1Ev", "std::allocator::allocator"},
        {"_ZNSs6appendEv", "std::string::append"},
        {"_ZN1aILN1bILN1cE1EEE1EE1dEv", "a::d"},
        {"_ZN1aILNLNLNLNLNLNLNLNLNLNEEEE", "a::?"},
        {"_ZNK5shape3boxltERKS0_", "shape::box::?"},
        {"_ZN5shape3boxcvbEv", "shape::box::?"},
        {"_ZN1aIXadL_Z1bEEE1cEv", "a::?"},
        {"_ZZN5shape3box3lamEvENKUlvE_clEv", "shape::box::lam::?"},
        {"_ZZ4mainENKUlvE_clEv", "main::?"},
        {"_ZltRKN5shape3boxES2_", NULL},
        {"_ZThn16_N1a1bEv", NULL},
        {"_ZZ", NULL},
        {"_ZZN", NULL}};
    char name[64];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int is_known = probity_selection_cxx_name(cases[i].symbol, name, sizeof name);
        assert_int_equal(cases[i].name != NULL, is_known);
        if (is_known)
            assert_string_equal(cases[i].name, name);
    }
    assert_true(takes("function shape::box::*", "_ZN5shape3box4areaEv"));
    assert_false(takes("exclude shape::*", "_ZN5shape3box4areaEv"));
    assert_true(takes("function _ZN5shape3box4areaEv", "_ZN5shape3box4areaEv"));
}

static void what_does_not_fit_is_not_understood(void **state)
{
    static const char whole[] = "shape::box::area";
    char name[64];

    (void)state;
    for (size_t room = 1; room < sizeof name; room++) {
        memset(name, 'x', sizeof name);
        int is_known = probity_selection_cxx_name("_ZN5shape3box4areaEv", name, room);
        assert_int_equal('x', name[room]);
        if (room >= sizeof whole)
            assert_string_equal(name, whole);
        else if (is_known)
            assert_string_equal(strrchr(name, ':'), ":?");
        assert_true(is_known || room < sizeof whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_choose_functions),
        cmocka_unit_test(files_match_from_any_directory_on),
        cmocka_unit_test(a_file_is_one_more_condition),
        cmocka_unit_test(an_unknown_size_is_no_reason),
        cmocka_unit_test(a_line_that_is_no_rule_is_found),
        cmocka_unit_test(patterns_match_whole_names),
        cmocka_unit_test(many_stars_take_no_longer),
        cmocka_unit_test(symbols_hold_names_of_cxx),
        cmocka_unit_test(what_does_not_fit_is_not_understood)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
