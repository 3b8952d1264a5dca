/* SPDX-License-Identifier: MIT
 *
 * control.c: control functions and modes: start, stop and flush in every order, options, the modes
 * drop and ring, names, ids.
 *
 *     control HOW [NUMBER]
 */
#include <sys/prctl.h>
#include <unistd.h>

#include "programs/hits.h"

static uint64_t number;

static void need_result(int expected, int result, const char *what)
{
    if (expected == result)
        return;
    fprintf(stderr, "%s: expected %d, found %d (%s)\n", what, expected, result,
            probity_error_text(result));
    exit(98);
}

/* Each recording has a trace of stream = round. Nothing is recorded in between. */
static void restart(void)
{
    struct probity_options options = {.struct_bytes = sizeof options, .out = "trace"};

    for (uint32_t round = 0; round < number; round++) {
        hits_make(999, 0, 10);
        need_result(0, probity_is_recording(), "is_recording");
        need_result(0, probity_start(&options), "start");
        need_result(PROBITY_ERROR_STATE, probity_start(&options), "second start");
        need_result(1, probity_is_recording(), "is_recording");
        hits_make(round, 0, 1000);
        need_result(0, probity_flush(), "flush");
        hits_make(round, 1000, 1000);
        need_result(0, probity_stop(), "stop");
        need_result(PROBITY_ERROR_STATE, probity_stop(), "second stop");
        need_result(PROBITY_ERROR_STATE, probity_flush(), "flush");
        hits_expect(getpid(), round, 2000);
    }
}

static int is_over;

static void *record(void *argument)
{
    uint32_t stream = (uint32_t)(uintptr_t)argument;
    uint64_t made = 0;

    while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
        hits_make(stream, made, 1000);
        made += 1000;
    }
    hits_expect(getpid(), stream, made);
    return NULL;
}

static pthread_t start_recording(uint32_t stream)
{
    pthread_t thread;
    int result = pthread_create(&thread, NULL, record, (void *)(uintptr_t)stream);

    hits_need(result == 0, "thread");
    return thread;
}

/* Flushes while two threads record at full speed: no hit is lost or duplicated. */
static void flush_beside(void)
{
    pthread_t thread[2];

    for (uint32_t i = 0; i < 2; i++)
        thread[i] = start_recording(i + 1);
    for (uint32_t i = 0; i < number; i++) {
        PROBITY_PROBE(hits_id(0, i));
        need_result(0, probity_flush(), "flush");
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    for (uint32_t i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    hits_expect(getpid(), 0, number);
}

/* Starts and stops while two threads keep probing; each trace has the beginning and the end of its
 * streams. */
static void restart_beside(void)
{
    struct probity_options options = {.out = "trace"};
    pthread_t thread[2];

    for (uint32_t i = 0; i < 2; i++)
        thread[i] = start_recording(i + 1);
    for (uint32_t round = 0; round < number; round++) {
        need_result(0, probity_start(&options), "start");
        for (int i = 0; i < 20000; i++)
            __asm__ volatile("");
        need_result(0, probity_stop(), "stop");
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    for (uint32_t i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
}

/* Makes many recordings under default names. */
static void restart_unnamed(void)
{
    for (uint64_t i = 0; i < number; i++) {
        need_result(0, probity_start(NULL), "start");
        hits_make(0, 10 * i, 10);
        need_result(0, probity_stop(), "stop");
    }
    hits_expect(getpid(), 0, 10 * number);
}

/* Makes the given number of hits without a pause. */
static void fast(void)
{
    hits_make(0, 0, number);
    hits_expect(getpid(), 0, number);
}

/* The newest hits before a flush must be in the trace. */
static void ring(void)
{
    hits_make(0, 0, number);
    need_result(0, probity_flush(), "flush");
    hits_make(1, 0, 10);
    need_result(0, probity_flush(), "flush");
}

static void ids(void)
{
    static const uint32_t borders[] = {0, 1, PROBITY_SHORT_ID_MAX - 1, PROBITY_SHORT_ID_MAX,
                                       PROBITY_SHORT_ID_MAX + 1, 0x7fffffff, 0x80000000u,
                                       0xffffffffu};

    for (size_t i = 0; i < sizeof borders / sizeof *borders; i++) {
        PROBITY_PROBE(borders[i]);
        printf("%u\n", borders[i]);
    }
    for (uint32_t i = 0; i < number; i++) { /* spread over all 32 bits */
        PROBITY_PROBE(i * 2654435761u);
        printf("%u\n", i * 2654435761u);
    }
}

static void *record_named(void *argument)
{
    probity_thread_set_name("named by itself");
    for (uint64_t i = 0; i < number; i++) {
        PROBITY_PROBE_NAMED("first");
        PROBITY_PROBE_NAMED("second, with a comma");
        PROBITY_PROBE(42);
    }
    return argument;
}

static void names(void)
{
    pthread_t thread[4];

    need_result(0, probity_probe_set_name(42, "the answer"), "probe_set_name");
    need_result(PROBITY_ERROR_ARGUMENT, probity_probe_set_name(42, NULL), "probe_set_name");
    need_result(PROBITY_ERROR_ARGUMENT, probity_thread_set_name(NULL), "thread_set_name");
    for (uint32_t i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, record_named, NULL);
    for (uint32_t i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
}

/* Sets by options everything that the environment can set. */
static void options(void)
{
    struct probity_options all = {.struct_bytes = sizeof all,
                                  .out = "%n-%p-%%.probity",
                                  .mode = PROBITY_MODE_BLOCK,
                                  .cpu_time = PROBITY_OFF,
                                  .chunk_records = 512,
                                  .spool_records = 8192,
                                  .spool_bytes_max = 1 << 20,
                                  .cpu_gap_ns = 1000,
                                  .cpu_budget_permille = 10};
    struct probity_options wrong = all;

    wrong.chunk_records = 3;
    need_result(PROBITY_ERROR_ARGUMENT, probity_start(&wrong), "chunk_records 3");
    need_result(0, probity_start(&all), "start");
    hits_make(0, 0, number);
    hits_expect(getpid(), 0, number);
    printf("%s\n", strrchr(probity_trace_path(), '/') + 1);
}

/* Prevents the program from reading the time stamp counter: the tool's own cost would interfere. */
static void without_counter(void)
{
    hits_need(prctl(PR_SET_TSC, PR_TSC_SIGSEGV) == 0, "PR_SET_TSC");
    need_result(0, probity_start(&(struct probity_options){.out = "trace"}), "start");
    fast();
    need_result(0, probity_stop(), "stop");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {{"restart", restart}, {"flush_beside", flush_beside}, {"fast", fast},
                {"restart_unnamed", restart_unnamed},
                {"ring", ring},       {"ids", ids},                   {"names", names},
                {"options", options}, {"without_counter", without_counter},
                {"restart_beside", restart_beside}};

    number = hits_argument(argc, argv, 2, 100);
    for (size_t i = 0; i < sizeof ways / sizeof *ways && argc > 1; i++) {
        if (strcmp(argv[1], ways[i].name) == 0) {
            ways[i].run();
            return 0;
        }
    }
    return 2;
}
