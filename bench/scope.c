/* SPDX-License-Identifier: MIT
 *
 * scope.c [MILLIONS]: function scopes with FnTrace.h: recorded, with values, switched off, counted
 * in profile mode; and typed probes. Every subject is a function that is not inlined and does
 * nothing else; its call is part of the figure, except for messages and typed probes, which call
 * nothing. A scope reads the clock twice, so it is compared with two floors.
 */
#define FN_INSTRUMENT
#include "FnTrace.h"
#include "common.h"
#include "probity_typed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))
/* The compiler must not remove this, and must reload memory after it. */
#define WORK(value) __asm__ volatile("" : "+r"(value) : : "memory")

/* Words that a call uses in a chunk: FN_FUNC; with four parameters and a return value; FN_OUTPUT
 * with two integers; with a string parameter; a typed probe with two ids. */
enum { SCOPE_WORDS = 2, PARAMS_WORDS = 11, OUTPUT_WORDS = 5, TEXT_WORDS = 10, TYPED_WORDS = 6 };

static const char *text_of_16;

/* The minimum number of records in the trace. */
static uint64_t expected_records;

static NOINLINE int call_plain(int value)
{
    WORK(value);
    return value;
}

static NOINLINE int call_scope(int value)
{
    FN_FUNC(int, FN_1);
    WORK(value);
    return value;
}

static NOINLINE int call_params(int value)
{
    int left = value, top = 2, right = 3, bottom = 4;
    WORK(top);
    FN_FUNC_PARAMS(int, value, FN_1, 4, left, top, right, bottom);
    WORK(value);
    return value;
}

static NOINLINE int call_off(int value)
{
    FN_FUNC(int, FN_5);
    WORK(value);
    return value;
}

static NOINLINE int call_entry(int value)
{
    FN_ENTRY(FN_1);
    WORK(value);
    if (value == -1)
        FN_CHECKPOINT("never", FN_1, 0);
    return value;
}

static NOINLINE int call_pointer(int value)
{
    const char *text = text_of_16;
    FN_FUNC_PARAMS(int, FN_VOID, FN_1, 1, text);
    WORK(value);
    return value;
}

static NOINLINE int call_array(int value)
{
    char text[17] = "sixteen bytes...";
    FN_FUNC_PARAMS(int, FN_VOID, FN_1, 1, text);
    WORK(value);
    return value;
}

/* A window that calls `callee`, which makes `records` records. words: how many words of the
 * thread's chunk a call uses; 0 if the chunk may be replaced. */
#define WINDOW(name, callee, records, words)                                                       \
    static __attribute__((aligned(64))) uint64_t name(void *context, uint64_t hits)                \
    {                                                                                              \
        int value = 1;                                                                             \
        (void)context;                                                                             \
        if ((words) > 0)                                                                           \
            bench_need_chunk((hits + 2) * (words));                                                \
        value = callee(callee(value));                                                             \
        expected_records += (hits + 2) * (records);                                                \
        uint64_t first = probity_ticks();                                                          \
        for (uint64_t i = 0; i < hits; i++)                                                        \
            value = callee(value);                                                                 \
        return probity_ticks() - first;                                                            \
    }

WINDOW(plain_window, call_plain, 0, 0)
WINDOW(scope_window, call_scope, 2, 0)
WINDOW(scope_chunk_window, call_scope, 2, SCOPE_WORDS)
WINDOW(params_window, call_params, 2, 0)
WINDOW(params_chunk_window, call_params, 2, PARAMS_WORDS)
WINDOW(off_window, call_off, 0, 0)
WINDOW(entry_window, call_entry, 0, 0)
WINDOW(pointer_window, call_pointer, 2, TEXT_WORDS)
WINDOW(array_window, call_array, 2, TEXT_WORDS)

/* Messages in one scope, so this figure includes no call. */
static uint64_t output_window(void *context, uint64_t hits)
{
    int a = 1, b = 2;

    (void)context;
    bench_need_chunk((hits + 4) * OUTPUT_WORDS);
    FN_FUNC(uint64_t, FN_1);
    FN_OUTPUT("warm ", a, b);
    expected_records += hits + 3;
    uint64_t first = probity_ticks();
    for (uint64_t i = 0; i < hits; i++) {
        WORK(a);
        FN_OUTPUT("sum of ", a, b);
    }
    return probity_ticks() - first;
}

/* This one includes no call, either. */
static uint64_t typed_window(void *context, uint64_t hits)
{
    uint64_t item = 1;

    bench_need_chunk((hits + 2) * TYPED_WORDS);
    PROBITY_QUEUE_PUT("bench", context, item);
    expected_records += hits + 1;
    uint64_t first = probity_ticks();
    for (uint64_t i = 0; i < hits; i++) {
        WORK(item);
        PROBITY_QUEUE_PUT("bench", context, item);
    }
    return probity_ticks() - first;
}

static void rows(const char *what, const struct bench_subject *subject,
                 const struct bench_subject *floor, double floors, const char *target)
{
    char text[128];

    snprintf(text, sizeof text, "%s, min", what);
    bench_row(text, subject->min_ns, "ns", "");
    snprintf(text, sizeof text, "%s, median", what);
    bench_row(text, subject->median_ns, "ns", "");
    const char *over = floors > 1 ? "2 floors" : "floor";
    snprintf(text, sizeof text, "%s / %s, min", what, over);
    bench_row(text, subject->min_ns / (floors * floor->min_ns), "x", target);
    snprintf(text, sizeof text, "%s / %s, median", what, over);
    bench_row(text, subject->median_ns / (floors * floor->median_ns), "x", target);
}

static void added(const char *what, const struct bench_subject *subject,
                  const struct bench_subject *base, const char *target)
{
    char text[128];

    snprintf(text, sizeof text, "%s, min", what);
    bench_row(text, subject->min_ns - base->min_ns, "ns", target);
    snprintf(text, sizeof text, "%s, median", what);
    bench_row(text, subject->median_ns - base->median_ns, "ns", target);
}

/* Nothing is recorded yet. */
static void bench_not_recording(void)
{
    struct bench_subject subjects[] = {{plain_window, NULL, 0, 0}, {scope_window, NULL, 0, 0}};

    if (probity_is_recording()) {
        errno = EINVAL;
        bench_fail("PROBITY_OUT is set");
    }
    bench_interleave(subjects, 2, 10000, 3000);
    added("FN_FUNC while nothing is recorded adds", &subjects[1], &subjects[0], "<= 1");
}

static void bench_chunk(void)
{
    enum { HITS = 300, WINDOWS = 10000 };
    struct bench_subject s[] = {{bench_floor_window, NULL, 0, 0},
                                {plain_window, NULL, 0, 0},
                                {scope_chunk_window, NULL, 0, 0},
                                {params_chunk_window, NULL, 0, 0},
                                {output_window, NULL, 0, 0},
                                {typed_window, NULL, 0, 0}};

    bench_interleave(s, 6, HITS, WINDOWS);
    bench_row("floor, min", s[0].min_ns, "ns", "");
    bench_row("floor, median", s[0].median_ns, "ns", "");
    bench_row("the call alone, median", s[1].median_ns, "ns", "");
    rows("FN_FUNC", &s[2], &s[0], 2, "<= 1.25");
    rows("with return value, 4 ints", &s[3], &s[0], 2, "<= 1.6");
    rows("FN_OUTPUT, literal, 2 ints", &s[4], &s[0], 1, "<= 2");
    rows("typed probe, 2 ids", &s[5], &s[0], 1, "");
}

static void bench_texts(void)
{
    static const char literal[] = "sixteen bytes...";
    enum { HITS = 300, WINDOWS = 3000 };
    struct bench_subject s[] = {{scope_chunk_window, NULL, 0, 0}, {pointer_window, NULL, 0, 0}};
    struct bench_subject array[] = {{scope_chunk_window, NULL, 0, 0}, {array_window, NULL, 0, 0}};
    char *heap = strdup(literal);

    if (heap == NULL)
        bench_fail("strdup");
    text_of_16 = heap;
    bench_interleave(s, 2, HITS, WINDOWS);
    added("16 bytes on the heap add", &s[1], &s[0], "");
    text_of_16 = literal;
    bench_interleave(s, 2, HITS, WINDOWS);
    added("16 bytes of a literal add", &s[1], &s[0], "");
    bench_interleave(array, 2, HITS, WINDOWS);
    added("16 bytes of an array add", &array[1], &array[0], "");
    free(heap);
}

/* Scopes that do not record while others do. */
static void bench_silent(void)
{
    struct bench_subject s[] = {{bench_floor_window, NULL, 0, 0},
                                {plain_window, NULL, 0, 0},
                                {off_window, NULL, 0, 0},
                                {entry_window, NULL, 0, 0}};
    int functions, parameters;

    probity_level_get(&functions, &parameters);
    FN_INSTRUMENT_LEVEL(FN_1, FN_1);
    bench_interleave(s, 4, 1000, 5000);
    FN_INSTRUMENT_LEVEL(functions, parameters);
    added("switched off by its level adds", &s[2], &s[1], "<= 1");
    added("FN_ENTRY, no checkpoint, adds", &s[3], &s[1], "");
}

static void bench_long(void)
{
    enum { HITS = 16384, WINDOWS = 500 };
    struct bench_subject scope[] = {{bench_floor_window, NULL, 0, 0}, {scope_window, NULL, 0, 0}};
    struct bench_subject params[] = {{bench_floor_window, NULL, 0, 0}, {params_window, NULL, 0, 0}};

    /* One after the other, because the writer's remaining work for one would slow down the next. */
    bench_interleave(scope, 2, HITS, WINDOWS);
    bench_row("FN_FUNC, many chunks / 2 floors, median",
              scope[1].median_ns / (2 * scope[0].median_ns), "x", "<= 1.25");
    bench_interleave(params, 2, HITS, WINDOWS);
    bench_row("the same with 4 ints / 2 floors, median",
              params[1].median_ns / (2 * params[0].median_ns), "x", "");
}

/* Scopes without a pause until the last one is in the file, then the floor. */
static void bench_sustained(const char *what, bench_window *window, uint64_t hits)
{
    struct bench_subject floor = {bench_floor_window, NULL, 0, 0};
    char text[128];

    if (probity_flush() != 0)
        bench_fail("flush");
    double wall_s = bench_wall_s(), others_s = bench_process_cpu_s() - bench_thread_cpu_s();
    window(NULL, hits);
    if (probity_flush() != 0)
        bench_fail("flush");
    double ns = (bench_wall_s() - wall_s) * 1e9 / (double)hits;
    others_s = bench_process_cpu_s() - bench_thread_cpu_s() - others_s;
    bench_interleave(&floor, 1, 10000, 300);
    snprintf(text, sizeof text, "%s, sustained / 2 floors", what);
    bench_row(text, ns / (2 * floor.median_ns), "x", "");
    snprintf(text, sizeof text, "%s, sustained, CPU of the writer", what);
    bench_row(text, others_s * 1e9 / (double)hits, "ns", "");
}

static void bench_profile(void)
{
    struct bench_subject s[] = {{bench_floor_window, NULL, 0, 0}, {scope_window, NULL, 0, 0}};
    struct bench_trace small, large;

    if (setenv("PROBITY_PROFILE", "1", 1) != 0)
        bench_fail("setenv");
    bench_start(NULL);
    scope_window(NULL, 1000);
    bench_stop(0, &small);
    bench_start(NULL);
    bench_pin(0);
    bench_interleave(s, 2, 1000, 10000);
    bench_stop(0, &large);
    unsetenv("PROBITY_PROFILE");
    rows("profile mode, FN_FUNC", &s[1], &s[0], 2, "<= 1.4");
    bench_row("profile: trace of 1e7 scopes less of 1e3",
              (double)large.bytes - (double)small.bytes, "bytes", "<= 4096");
}

int main(int argc, char **argv)
{
    uint64_t millions = argc > 1 ? strtoull(argv[1], NULL, 10) : 64;
    struct bench_trace trace;

    bench_not_recording();
    bench_start(NULL);
    bench_pin(0);
    expected_records = 0;
    scope_window(NULL, 10);
    bench_chunk();
    bench_texts();
    bench_silent();
    bench_long();
    bench_sustained("FN_FUNC", scope_window, millions * 1000000);
    bench_sustained("with return value, 4 ints", params_window, millions * 1000000 / 4);
    bench_stop(0, &trace);
    bench_row("records dropped", (double)trace.dropped, "", "= 0");
    bench_row("records missing in the trace",
              trace.records < expected_records ? (double)(expected_records - trace.records) : 0, "",
              "= 0");
    bench_profile();
    return 0;
}
