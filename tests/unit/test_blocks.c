/* SPDX-License-Identifier: MIT
 *
 * test_blocks.c: the spans between probes in a generated trace, with exact output.
 */
#include "test_reader_make.h"

#include "answers/blocks/blocks.h"
#include "answers/blocks/blocks_print.h"

static struct make make;

/* A hit, in ns after the start. off: how long the thread was off the CPU since its previous hit, in
 * ns. */
#define HIT(ns, probe, off) {MAKE_START + 2 * (ns), 2 * (probe), 2 * (off)}

/* Two threads. Spans from 1 to 2: 1000 ns, 3000 ns (500 off-CPU), 2000 ns; from 2 to 1: 100 ns, and
 * in the other thread 5000 ns (4000 off-CPU). */
static void write_trace(const char *name)
{
    static const struct make_hit first[] = {HIT(1000, 1, 0), HIT(2000, 2, 0), HIT(2100, 1, 0),
                                            HIT(5100, 2, 500)};
    static const struct make_hit second[] = {HIT(1500, 2, 0), HIT(6500, 1, 4000),
                                             HIT(8500, 2, 0)};

    make_start(&make);
    make_event(&make, 1, MAKE_START, PROBITY_EVENT_PROBE_NAME, "\2\0\0\0two, too", 12);
    make_data(&make, (struct probity_data){.thread = 1, .cpu_ns = 1000}, first, 4);
    make_data(&make, (struct probity_data){.thread = 2, .cpu_ns = 1000}, second, 3);
    make_sync(&make, PROBITY_BLOCK_END, make_anchor(MAKE_START + 20000), MAKE_START + 20000);
    make_write(&make, name);
}

/* Returns the output for the generated trace. The caller frees it. */
static char *printed(const char *name, uint64_t from_ns, uint64_t to_ns, int is_json)
{
    const char *path = make.path;
    struct probity_blocks *blocks;
    struct probity_reader *reader;
    const struct probity_event *event;
    char *text = NULL;
    size_t bytes;

    write_trace(name);
    assert_int_equal(probity_reader_open(&path, 1, NULL, NULL, &reader), 0);
    const struct probity_blocks_options options = {.from_ns = from_ns, .to_ns = to_ns};
    assert_int_equal(probity_blocks_open(&options, &blocks), 0);
    while (probity_reader_next(reader, &event) > 0)
        assert_int_equal(probity_blocks_put(blocks, event), 0);
    struct probity_blocks_answer answer = {.reader = reader};
    answer.pairs = probity_blocks_sort(blocks, PROBITY_BLOCKS_TOTAL, &answer.count);
    assert_non_null(answer.pairs);
    FILE *stream = open_memstream(&text, &bytes);
    if (is_json)
        assert_int_equal(probity_blocks_json(stream, &answer), 0);
    else
        probity_blocks_csv(stream, &answer);
    fclose(stream);
    probity_blocks_close(blocks);
    probity_reader_close(reader);
    unlink(make.path);
    return text;
}

#define HEAD                                                                                       \
    "from,to,from_name,to_name,calls,probability,wall_ns,cpu_ns,off_cpu_ns,min_ns,mean_ns,"        \
    "p50_ns,p90_ns,p99_ns,max_ns,max_at_ns,max_pid,max_tid,pid,tid,thread,"               \
    "wall_corrected_ns,wall_error_ns,from_is_site,to_is_site\n"

static void blocks_are_printed_as_ever(void **state)
{
    char *text = printed("blocks", 0, 0, 0);

    (void)state;
    /* 1 to 2 has the longest total. The p50 of 1000, 2000 and 3000 is in the bucket 2000 to
     * 2007. */
    assert_string_equal(text, HEAD
                        "1,2,,\"two, too\",3,1.000000,6000,5500,500,1000,2000,2004,3000,3000,3000,"
                        "1700000000000002100,77,101,,,,,,0,0\n"
                        "2,1,\"two, too\",,2,1.000000,5100,1100,4000,100,2550,100,5000,5000,5000,"
                        "1700000000000001500,77,102,,,,,,0,0\n");
    free(text);
    text = printed("blocks_json", 0, 0, 1);
    const char *blocks = strstr(text, "\"blocks\"");
    assert_non_null(blocks);
    assert_string_equal(
        blocks, "\"blocks\": [\n"
                "{\"from\": \"1\", \"from_is_site\": false, \"from_name\": null, \"to\": \"2\", "
                "\"to_is_site\": false, \"to_name\": \"two, too\", \"calls\": 3, "
                "\"probability\": 1.000000, \"wall_ns\": 6000, \"cpu_ns\": 5500, "
                "\"off_cpu_ns\": 500, \"min_ns\": 1000, \"mean_ns\": 2000, \"p50_ns\": 2004, "
                "\"p90_ns\": 3000, \"p99_ns\": 3000, \"max_ns\": 3000, "
                "\"max_at_ns\": 1700000000000002100, \"max_pid\": 77, \"max_tid\": 101, "
                "\"wall_corrected_ns\": null, \"wall_error_ns\": null},\n"
                "{\"from\": \"2\", \"from_is_site\": false, \"from_name\": \"two, too\", "
                "\"to\": \"1\", \"to_is_site\": false, \"to_name\": null, \"calls\": 2, "
                "\"probability\": 1.000000, \"wall_ns\": 5100, \"cpu_ns\": 1100, "
                "\"off_cpu_ns\": 4000, \"min_ns\": 100, \"mean_ns\": 2550, \"p50_ns\": 100, "
                "\"p90_ns\": 5000, \"p99_ns\": 5000, \"max_ns\": 5000, "
                "\"max_at_ns\": 1700000000000001500, \"max_pid\": 77, \"max_tid\": 102, "
                "\"wall_corrected_ns\": null, \"wall_error_ns\": null}]}\n");
    free(text);
}

static void hits_outside_the_range_are_none(void **state)
{
    char *text = printed("blocks_range", MAKE_WALL + 2000, MAKE_WALL + 6500, 0);

    (void)state;
    assert_string_equal(text, HEAD
                        "1,2,,\"two, too\",1,1.000000,3000,2500,500,3000,3000,3000,3000,3000,3000,"
                        "1700000000000002100,77,101,,,,,,0,0\n"
                        "2,1,\"two, too\",,1,1.000000,100,100,0,100,100,100,100,100,100,"
                        "1700000000000002000,77,101,,,,,,0,0\n");
    free(text);
}

/* ---- Generated events --------------------------------------------------------------------------
 */

static void put_hit(struct probity_blocks *blocks, uint32_t id, const char *site, uint32_t trace,
                    uint64_t wall_ns)
{
    const struct probity_event event = {
        .kind = PROBITY_EVENT_HIT, .id = id, .is_site = site != NULL, .name = site,
        .name_bytes = site != NULL ? strlen(site) : 0, .trace = trace, .thread_slot = 40 * trace,
        .wall_ns = wall_ns, .wall_known = 1};

    assert_int_equal(probity_blocks_put(blocks, &event), 0);
}

/* Sites with equal names are one probe, wherever they are; a site named 7 is not probe 7. Numbers
 * that share a cache slot are kept apart. */
static void probes_are_numbers_and_names(void **state)
{
    struct probity_blocks *blocks;
    size_t count;

    (void)state;
    assert_int_equal(probity_blocks_open(NULL, &blocks), 0);
    for (uint32_t trace = 0; trace < 2; trace++) {
        put_hit(blocks, 7, NULL, trace, 100);
        put_hit(blocks, 3 + trace, "7", trace, 200);
        put_hit(blocks, 7 + 1024, NULL, trace, 300);
        put_hit(blocks, 7, NULL, trace, 400);
        put_hit(blocks, 5 - trace, "7", trace, 500);
        put_hit(blocks, 1 << 30, NULL, trace, 450); /* the clock was set back */
    }
    const struct probity_blocks_pair *const *pairs =
        probity_blocks_sort(blocks, PROBITY_BLOCKS_NAME, &count);
    static const struct {
        const char *from, *to;
        uint64_t calls, wall_ns, millionths;
    } expected[] = {{"7", "7", 4, 400, 1000000},
                    {"1031", "7", 2, 200, 1000000},
                    {"7", "1031", 2, 200, 500000},
                    {"7", "1073741824", 2, 0, 500000}};
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(pairs[i]->from->text, expected[i].from);
        assert_string_equal(pairs[i]->to->text, expected[i].to);
        assert_int_equal(pairs[i]->calls, expected[i].calls);
        assert_int_equal(pairs[i]->wall_ns, expected[i].wall_ns);
        assert_int_equal(pairs[i]->cpu_calls, 0);
        assert_int_equal(probity_blocks_value(pairs[i], PROBITY_BLOCKS_PROBABILITY),
                         expected[i].millionths);
    }
    assert_true(pairs[0]->to->is_site && !pairs[0]->from->is_site);
    assert_true(pairs[2]->from->is_site);
    probity_blocks_close(blocks);
}

/* Sites switched off in one process do not hide hits of another. */
static void only_blocks_of_the_switched_trace_are_cut(void **state)
{
    static const uint8_t off[8] = {0, 0, 0, 0, 9, 0, 0, 0};
    const struct probity_event switched = {
        .kind = PROBITY_EVENT_SITES_SWITCHED, .trace = 1, .thread_slot = 99, .wall_ns = 200,
        .payload = off, .payload_bytes = sizeof off};

    (void)state;
    for (int by_correlation = 0; by_correlation < 2; by_correlation++) {
        const struct probity_blocks_options options = {.by_correlation = by_correlation};
        struct probity_blocks *blocks;
        size_t count;
        assert_int_equal(probity_blocks_open(&options, &blocks), 0);
        for (uint64_t wall_ns = 100; wall_ns <= 300; wall_ns += 200) {
            for (uint32_t trace = 0; trace < 3; trace++) {
                const struct probity_event hit = {
                    .kind = PROBITY_EVENT_HIT, .id = trace, .trace = trace, .thread_slot = trace,
                    .wall_ns = wall_ns, .has_correlation = 1, .correlation = 7};
                assert_int_equal(probity_blocks_put(blocks, &hit), 0);
            }
            assert_int_equal(probity_blocks_put(blocks, &switched), 0);
        }
        const struct probity_blocks_pair *const *pairs =
            probity_blocks_sort(blocks, PROBITY_BLOCKS_NAME, &count);
        assert_int_equal(count, 2);
        assert_string_equal(pairs[0]->from->text, "0");
        assert_string_equal(pairs[1]->from->text, "2");
        probity_blocks_close(blocks);
    }
}

/* Each probe follows every other one: no pair is lost or counted as another. */
static void many_pairs_are_distinguished(void **state)
{
    enum { PROBES = 60 };
    struct probity_blocks *blocks;
    size_t count;

    (void)state;
    assert_int_equal(probity_blocks_open(NULL, &blocks), 0);
    for (uint32_t i = 0; i < 3 * PROBES * PROBES; i++) {
        uint32_t from = i / PROBES % PROBES, to = i % PROBES;
        put_hit(blocks, from * 8, NULL, i, 0);
        put_hit(blocks, to * 8, NULL, i, from * 1000 + to);
    }
    const struct probity_blocks_pair *const *pairs =
        probity_blocks_sort(blocks, PROBITY_BLOCKS_NAME, &count);
    assert_int_equal(count, PROBES * PROBES);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(pairs[i]->from->number, i / PROBES * 8);
        assert_int_equal(pairs[i]->to->number, i % PROBES * 8);
        assert_int_equal(pairs[i]->calls, 3);
        assert_int_equal(pairs[i]->wall_ns, 3 * (i / PROBES * 1000 + i % PROBES));
    }
    probity_blocks_close(blocks);
}

/* As in the output of `probity csv`, a site's name applies from its declaration on, and the name of
 * a numbered probe to all its hits. */
static void names_may_come_late(void **state)
{
    struct probity_event event = {.kind = PROBITY_EVENT_HIT, .id = 4, .is_site = 1};
    struct probity_blocks *blocks;
    size_t count;

    (void)state;
    assert_int_equal(probity_blocks_open(NULL, &blocks), 0);
    assert_int_equal(probity_blocks_put(blocks, &event), 0);
    event.name = "parse";
    event.name_bytes = 5;
    assert_int_equal(probity_blocks_put(blocks, &event), 0);
    event = (struct probity_event){.kind = PROBITY_EVENT_HIT, .id = 9};
    assert_int_equal(probity_blocks_put(blocks, &event), 0);
    event.name = "nine, and more";
    event.name_bytes = 4;
    assert_int_equal(probity_blocks_put(blocks, &event), 0);
    const struct probity_blocks_pair *const *pairs =
        probity_blocks_sort(blocks, PROBITY_BLOCKS_NAME, &count);
    assert_int_equal(count, 3);
    assert_string_equal(pairs[0]->from->name, "nine");
    assert_string_equal(pairs[0]->to->text, "9");
    assert_string_equal(pairs[1]->from->text, "parse");
    assert_string_equal(pairs[2]->from->text, "site-4");
    assert_string_equal(pairs[2]->to->text, "parse");
    probity_blocks_close(blocks);
}

/* The longest spans, longest first; equal ones in the order in which they occurred. */
static void the_slowest_are_the_slowest(void **state)
{
    static const uint64_t lengths[] = {5, 1, 4, 9, 2, 9}, expected[] = {9, 9, 5, 4};
    const struct probity_blocks_options options = {.slowest = 4};
    struct probity_blocks *blocks;
    uint64_t at_ns = 1000;
    size_t count;

    (void)state;
    assert_int_equal(probity_blocks_open(&options, &blocks), 0);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        put_hit(blocks, 1, NULL, 0, at_ns += 100);
        put_hit(blocks, 2, NULL, 0, at_ns += lengths[i]);
    }
    const struct probity_blocks_pair *const *pairs =
        probity_blocks_sort(blocks, PROBITY_BLOCKS_NAME, &count);
    assert_int_equal(count, 2);
    assert_int_equal(pairs[0]->slowest_count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pairs[0]->slowest[i].value_ns, expected[i]);
    assert_true(pairs[0]->slowest[0].at_ns < pairs[0]->slowest[1].at_ns);
    probity_blocks_close(blocks);
}

/* One request: within the first thread, to another thread, and within that thread. */
static void between_two_threads_there_is_no_cpu_time(void **state)
{
    static const struct {
        uint32_t slot;
        uint64_t wall_ns, cpu_ns;
    } steps[] = {{0, 1000, 50}, {0, 1100, 90}, {1, 1300, 7000}, {1, 1700, 7300}};
    const struct probity_blocks_options options = {.by_correlation = 1};
    struct probity_blocks *blocks;
    size_t count;

    (void)state;
    assert_int_equal(probity_blocks_open(&options, &blocks), 0);
    for (uint32_t i = 0; i < 4; i++) {
        const struct probity_event event = {
            .kind = PROBITY_EVENT_HIT, .id = i + 1, .thread_slot = steps[i].slot,
            .thread = steps[i].slot, .tid = 100 + steps[i].slot, .wall_ns = steps[i].wall_ns,
            .cpu_ns = steps[i].cpu_ns, .wall_known = 1, .cpu_known = 1,
            .has_correlation = 1, .correlation = 77};
        assert_int_equal(probity_blocks_put(blocks, &event), 0);
    }
    const struct probity_blocks_pair *const *pairs =
        probity_blocks_sort(blocks, PROBITY_BLOCKS_NAME, &count);
    assert_int_equal(count, 3);
    static const uint64_t wall_ns[] = {100, 200, 400}, cpu_ns[] = {40, 0, 300};
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(pairs[i]->calls, 1);
        assert_int_equal(pairs[i]->wall_ns, wall_ns[i]);
        assert_int_equal(pairs[i]->cpu_calls, i != 1);
        assert_int_equal(pairs[i]->cpu_ns, cpu_ns[i]);
    }
    probity_blocks_close(blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_printed_as_ever),
        cmocka_unit_test(hits_outside_the_range_are_none),
        cmocka_unit_test(probes_are_numbers_and_names),
        cmocka_unit_test(only_blocks_of_the_switched_trace_are_cut),
        cmocka_unit_test(many_pairs_are_distinguished),
        cmocka_unit_test(names_may_come_late),
        cmocka_unit_test(the_slowest_are_the_slowest),
        cmocka_unit_test(between_two_threads_there_is_no_cpu_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
