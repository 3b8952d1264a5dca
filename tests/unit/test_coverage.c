/* SPDX-License-Identifier: MIT
 *
 * test_coverage.c: lists and hits of generated traces, with exact output; damaged lists.
 */
#include "test_reader_make.h"
#include "test_scopes_make.h"

#include "answers/list/coverage.h"
#include "answers/list/list_print.h"
#include "format/sites.h"

static struct make make;

static struct probity_listed row_of(uint32_t kind, uint32_t line, uint32_t number, const char *name,
                                    const char *within, const char *object)
{
    const char *texts[PROBITY_LISTED_TEXTS] = {name, "made.c", within, "int", object};
    struct probity_listed row = {
        .kind = kind, .level = kind == PROBITY_LISTED_FUNCTION, .line = line, .number = number};

    for (int i = 0; i < PROBITY_LISTED_TEXTS; i++) {
        row.text[i] = texts[i];
        row.length[i] = strlen(texts[i]);
    }
    return row;
}

static void make_list(const struct probity_listed *rows, size_t count, uint32_t left_out)
{
    uint8_t *payload = make_payload(&make), *at = payload + PROBITY_SITES_FIXED_BYTES;

    probity_sites_head_put(payload, (uint32_t)count, left_out);
    for (size_t i = 0; i < count; i++)
        at = probity_sites_row_put(at, &rows[i], i > 0 ? &rows[i - 1] : NULL);
    make_block(&make, PROBITY_BLOCK_SITES, (size_t)(at - payload));
}

static int take_site(void *context, const struct probity_listed_site *site)
{
    return probity_coverage_list(context, site);
}

/* Returns the output for the generated traces. The caller frees it. */
static char *printed(const char *const *paths, size_t count, uint64_t from_ns, int is_json)
{
    struct probity_coverage *coverage;
    struct probity_reader *reader;
    const struct probity_event *event;
    const struct probity_coverage_site **sites;
    struct probity_list_answer answer = {0};
    uint64_t left_out = 0;
    char *text = NULL;
    size_t bytes;

    assert_int_equal(probity_reader_open(paths, count, NULL, NULL, &reader), 0);
    assert_int_equal(probity_coverage_open(from_ns, 0, &coverage), 0);
    while (probity_reader_next(reader, &event) > 0)
        assert_int_equal(probity_coverage_put(coverage, event), 0);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(probity_reader_sites(reader, i, take_site, coverage, &left_out), 0);
        answer.left_out += left_out;
    }
    assert_int_equal(probity_coverage_finish(coverage, &sites, &answer.count), 0);
    probity_coverage_sort(sites, answer.count, PROBITY_COVERAGE_PLACE);
    answer.reader = reader;
    answer.sites = sites;
    answer.total = probity_coverage_total(sites, answer.count);
    FILE *stream = open_memstream(&text, &bytes);
    if (is_json)
        assert_int_equal(probity_list_json(stream, &answer), 0);
    else
        probity_list_csv(stream, &answer);
    fclose(stream);
    probity_coverage_close(coverage);
    probity_reader_close(reader);
    return text;
}

/* Site 0 is "parse" on line 4; sites 2 and 3 are enter and leave of "work", 8 and 9 are those of a
 * function that is in no list; site 20 is never declared. */
static void write_trace(const char *name, uint32_t left_out)
{
    const struct probity_listed rows[] = {
        row_of(PROBITY_LISTED_FUNCTION, 12, 0, "work", "", ""),
        row_of(PROBITY_LISTED_NAMED, 4, 0, "parse", "work", ""),
        row_of(99, 1, 1, "of a later version", "", ""),
        row_of(PROBITY_LISTED_NUMBERED, 6, 7, "", "work", ""),
        row_of(PROBITY_LISTED_NUMBERED, 5, 7, "", "idle", ""),
        row_of(PROBITY_LISTED_FUNCTION, 30, 0, "idle", "", "lib.so")};
    uint8_t site[64];

    probity_put_u32(site, 0);
    probity_put_u32(site + 4, 4);
    uint8_t *end = make_text(make_text(make_text(site + 8, "parse"), "made.c"), "work");
    const struct make_item items[] = {
        EVENT(2, PROBITY_EVENT_SITE, site, (size_t)(end - site)),
        {.tick = 4, .code = 1},
        ENTER(6, 2),
        {.tick = 8, .code = 2 * 7},
        LEAVE(10, 2),
        ENTER(12, 2),
        LEAVE(14, 2),
        {.tick = 16, .code = 1},
        ENTER(18, 8),
        LEAVE(20, 8),
        {.tick = 22, .code = 2 * 20 + 1},
        {.tick = 24, .code = 2 * 8}};

    make_start(&make);
    make_list(rows, 4, 0);
    make_declare(&make, 1, 2, "work", 0);
    make_declare(&make, 1, 8, "unlisted", 0);
    make_event(&make, 1, MAKE_START, PROBITY_EVENT_PROBE_NAME, "\7\0\0\0seven", 9);
    make_items(&make, 1, items, COUNT(items));
    make_list(rows + 4, 2, left_out);
    make_finish(&make, name);
}

#define HEAD                                                                                       \
    "kind,number,name,signature,file,line,within,object,level,places,listed,hits,counted,"         \
    "are_least\n"

static void hits_meet_what_is_listed(void **state)
{
    write_trace("coverage", 3);
    const char *paths[] = {make.path};
    char *text = printed(paths, 1, 0, 0);

    (void)state;
    assert_string_equal(text, HEAD
                        "site,,parse,,made.c,4,work,,,1,1,2,0,0\n"
                        "probe,7,seven,,made.c,5,idle,,,2,1,1,0,0\n"
                        "function,,work,,made.c,12,,,1,1,1,2,0,0\n"
                        "function,,unlisted,,made.c,18,,,1,1,0,1,0,0\n"
                        "function,,idle,,made.c,30,,lib.so,1,1,1,0,0,0\n"
                        "site,,site-20,,,,,,,1,0,1,0,0\n"
                        "probe,8,,,,,,,,0,0,1,0,0\n");
    free(text);
    text = printed(paths, 1, 0, 1);
    assert_non_null(strstr(text, "\"total\": {\"sites\": 4, \"hit\": 3, \"percent\": 75.0, "
                                 "\"hit_not_listed\": 3, \"left_out\": 3, "));
    free(text);
    unlink(make.path);
}

/* Another trace of the same program adds hits, but no sites. */
static void traces_of_a_program_are_one(void **state)
{
    char first[sizeof make.path];

    (void)state;
    write_trace("coverage_one", 0);
    memcpy(first, make.path, sizeof first);
    write_trace("coverage_two", 0);
    const char *paths[] = {first, make.path};
    char *text = printed(paths, 2, 0, 0);
    assert_non_null(strstr(text, "\nprobe,7,seven,,made.c,5,idle,,,2,1,2,0,0\n"));
    assert_non_null(strstr(text, "\nfunction,,work,,made.c,12,,,1,1,1,4,0,0\n"));
    assert_non_null(strstr(text, "\nfunction,,idle,,made.c,30,,lib.so,1,1,1,0,0,0\n"));
    free(text);
    unlink(first);
    unlink(make.path);
}

/* A declaration counts wherever it is in the trace; a hit counts only within the range. */
static void hits_outside_the_range_do_not_count(void **state)
{
    write_trace("coverage_range", 0);
    const char *paths[] = {make.path};
    char *text = printed(paths, 1, MAKE_WALL + 6, 0);

    (void)state;
    assert_non_null(strstr(text, "\nsite,,parse,,made.c,4,work,,,1,1,1,0,0\n"));
    assert_non_null(strstr(text, "\nfunction,,work,,made.c,12,,,1,1,1,1,0,0\n"));
    assert_non_null(strstr(text, "\nprobe,7,,,made.c,5,idle,,,2,1,0,0,0\n"));
    free(text);
    unlink(make.path);
}

/* Hits are missing only if the site was off in the range. */
static void sites_off_outside_the_range_are_complete(void **state)
{
    static const uint8_t off[8] = {0}, on[8] = {1};
    uint8_t site[64];

    (void)state;
    probity_put_u32(site, 0);
    probity_put_u32(site + 4, 4);
    uint8_t *end = make_text(make_text(make_text(site + 8, "parse"), "made.c"), "work");
    const struct make_item items[] = {EVENT(2, PROBITY_EVENT_SITE, site, (size_t)(end - site)),
                                      EVENT(4, PROBITY_EVENT_SITES_SWITCHED, off, sizeof off),
                                      EVENT(8, PROBITY_EVENT_SITES_SWITCHED, on, sizeof on),
                                      {.tick = 20, .code = 1}};
    make_start(&make);
    make_items(&make, 1, items, COUNT(items));
    make_finish(&make, "coverage_off");
    const char *paths[] = {make.path};
    for (uint64_t from_ns = 3; from_ns <= 5; from_ns++) {
        char *text = printed(paths, 1, MAKE_WALL + from_ns, 1);
        const char *expected = from_ns < 4 ? "\"are_least\": true" : "\"are_least\": false";
        assert_non_null(strstr(text, "\"parse\""));
        assert_non_null(strstr(text, expected));
        free(text);
    }
    unlink(make.path);
}

/* An inline function is in two libraries: the listed site counts as hit, whichever library declares
 * it. */
static void an_inline_function_is_found_in_another_library(void **state)
{
    struct probity_coverage *coverage;
    const struct probity_coverage_site **sites;
    struct probity_function function = {.number = 5, .line = 9, .name = "f", .file = "f.h",
                                        .signature = "int f()", .returns = "int", .object = "a.so"};
    struct probity_listed_site listed = {.kind = PROBITY_LISTED_FUNCTION, .line = 9, .name = "f",
                                         .file = "f.h", .within = "", .signature = "int f()",
                                         .returns = "int", .object = "b.so"};
    struct probity_event event = {.kind = PROBITY_EVENT_ENTER, .id = 5, .is_site = 1,
                                  .function = &function};
    size_t count;

    (void)state;
    assert_int_equal(probity_coverage_open(0, 0, &coverage), 0);
    assert_int_equal(probity_coverage_put(coverage, &event), 0);
    assert_int_equal(probity_coverage_list(coverage, &listed), 0);
    assert_int_equal(probity_coverage_finish(coverage, &sites, &count), 0);
    assert_int_equal(count, 1);
    assert_string_equal(sites[0]->object, "b.so");
    assert_int_equal(sites[0]->hits, 1);
    /* If both libraries list it, only the site of the library that declared it is hit. */
    listed.object = "a.so";
    probity_coverage_close(coverage);
    assert_int_equal(probity_coverage_open(0, 0, &coverage), 0);
    assert_int_equal(probity_coverage_list(coverage, &listed), 0);
    listed.object = "b.so";
    assert_int_equal(probity_coverage_list(coverage, &listed), 0);
    assert_int_equal(probity_coverage_put(coverage, &event), 0);
    assert_int_equal(probity_coverage_finish(coverage, &sites, &count), 0);
    probity_coverage_sort(sites, count, PROBITY_COVERAGE_PLACE);
    assert_int_equal(count, 2);
    assert_int_equal(sites[0]->hits, 1);
    assert_int_equal(sites[1]->hits, 0);
    probity_coverage_close(coverage);
}

/* Two traces with more numbers than a table holds initially. */
static void many_numbers_are_distinguished(void **state)
{
    enum { NUMBERS = 5000 };
    struct probity_coverage *coverage;
    const struct probity_coverage_site **sites;
    struct probity_event event = {.kind = PROBITY_EVENT_HIT};
    size_t count;

    (void)state;
    assert_int_equal(probity_coverage_open(0, 0, &coverage), 0);
    for (uint32_t i = 0; i < 3 * NUMBERS; i++) {
        event.id = i % NUMBERS * 100;
        event.trace = i & 1;
        assert_int_equal(probity_coverage_put(coverage, &event), 0);
    }
    assert_int_equal(probity_coverage_finish(coverage, &sites, &count), 0);
    probity_coverage_sort(sites, count, PROBITY_COVERAGE_NAME);
    assert_int_equal(count, NUMBERS);
    for (uint32_t i = 0; i < NUMBERS; i++) {
        assert_int_equal(sites[i]->number, i * 100);
        assert_int_equal(sites[i]->hits, 3);
    }
    probity_coverage_close(coverage);
}

static int count_site(void *context, const struct probity_listed_site *site)
{
    uint64_t *texts = context;

    texts[0]++;
    texts[1] += strlen(site->name);
    return 0;
}

/* Short rows that repeat a long text cause more work than their size suggests, so both are
 * limited. */
static void repeated_texts_have_an_end(void **state)
{
    enum { MORE = 2, ROWS = PROBITY_LIMIT_LISTED + MORE, LONG = PROBITY_LISTED_TEXT_MAX };
    static char name[LONG + 1];
    static uint8_t payload[16 + LONG + 32 + 20 * ROWS];
    uint64_t texts[2] = {0, 0}, left_out = 0;
    const char *paths[] = {make.path};
    struct probity_reader *reader;

    (void)state;
    for (size_t length = LONG; length <= LONG + 1; length++) {
        memset(name, 'x', length);
        struct probity_listed row = row_of(1, 1, 0, "", "", ""), none = {0};
        row.text[PROBITY_LISTED_NAME] = name;
        row.length[PROBITY_LISTED_NAME] = length;
        const uint8_t *end = probity_sites_row_put(payload, &row, NULL);
        assert_ptr_equal(probity_sites_row_get(payload, end, &none), length == LONG ? end : NULL);
    }
    struct probity_listed row = row_of(1, 1, 0, "name", "", "");
    uint8_t *at = payload + PROBITY_BLOCK_HEADER_BYTES + PROBITY_SITES_FIXED_BYTES;
    probity_sites_head_put(payload + PROBITY_BLOCK_HEADER_BYTES, ROWS, 5);
    for (uint32_t i = 0; i < ROWS; i++)
        at = probity_sites_row_put(at, &row, i > 0 ? &row : NULL);
    make_start(&make);
    probity_block_seal(payload, PROBITY_BLOCK_SITES, make.serial++,
                       (uint32_t)(at - payload - PROBITY_BLOCK_HEADER_BYTES));
    make_write(&make, "coverage_many");
    int file = open(make.path, O_WRONLY | O_APPEND);
    assert_int_equal(write(file, payload, (size_t)(at - payload)), at - payload);
    close(file);
    assert_int_equal(probity_reader_open(paths, 1, NULL, NULL, &reader), 0);
    assert_int_equal(probity_reader_sites(reader, 0, count_site, texts, &left_out), 0);
    assert_int_equal(texts[0], PROBITY_LIMIT_LISTED);
    assert_int_equal(texts[1], 4 * (uint64_t)PROBITY_LIMIT_LISTED);
    assert_int_equal(left_out, 5 + MORE);
    probity_reader_close(reader);
    unlink(make.path);
}

/* However a block is truncated or changed, no row extends beyond it. */
static void rows_stay_in_their_block(void **state)
{
    enum { ROOM = 2 * PROBITY_SITES_ROW_BYTES_MAX };
    const struct probity_listed first = row_of(1, 70000, 0, "a name", "within", "lib.so");
    const struct probity_listed second = row_of(2, 2, UINT32_MAX, "", "within", "lib.so");
    uint8_t *bytes = malloc(ROOM);
    struct probity_listed row = {0};

    (void)state;
    assert_non_null(bytes);
    uint8_t *middle = probity_sites_row_put(bytes, &first, NULL);
    const uint8_t *end = probity_sites_row_put(middle, &second, &first);
    assert_ptr_equal(probity_sites_row_get(bytes, end, &row), middle);
    assert_int_equal(row.line, 70000);
    assert_ptr_equal(probity_sites_row_get(middle, end, &row), end);
    assert_int_equal(row.number, UINT32_MAX);
    assert_int_equal(row.length[PROBITY_LISTED_NAME], 0);
    assert_int_equal(row.length[PROBITY_LISTED_OBJECT], 6);
    assert_memory_equal(row.text[PROBITY_LISTED_OBJECT], "lib.so", 6);
    for (size_t length = 0; length < (size_t)(middle - bytes); length++) {
        uint8_t *cut = malloc(length + 1);
        assert_non_null(cut);
        memcpy(cut, bytes, length);
        row = (struct probity_listed){0};
        assert_null(probity_sites_row_get(cut, cut + length, &row));
        free(cut);
    }
    for (size_t at = 0; at < (size_t)(middle - bytes); at++) {
        for (int bit = 0; bit < 8; bit++) {
            bytes[at] ^= (uint8_t)(1 << bit);
            row = (struct probity_listed){0};
            const uint8_t *got = probity_sites_row_get(bytes, middle, &row);
            for (int i = 0; got != NULL && i < PROBITY_LISTED_TEXTS; i++)
                assert_true(row.length[i] == 0 ||
                            (const uint8_t *)row.text[i] + row.length[i] <= got);
            bytes[at] ^= (uint8_t)(1 << bit);
        }
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hits_meet_what_is_listed),
        cmocka_unit_test(traces_of_a_program_are_one),
        cmocka_unit_test(hits_outside_the_range_do_not_count),
        cmocka_unit_test(sites_off_outside_the_range_are_complete),
        cmocka_unit_test(an_inline_function_is_found_in_another_library),
        cmocka_unit_test(many_numbers_are_distinguished),
        cmocka_unit_test(rows_stay_in_their_block),
        cmocka_unit_test(repeated_texts_have_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
