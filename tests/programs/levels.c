/* SPDX-License-Identifier: MIT
 *
 * levels.c: levels set by the program, the environment and the tool, as scopes see them.
 *
 *     levels api                what the functions return and change, recording or not
 *     levels show               the levels before, during and after recording
 *     levels wait F [COUNT]     two threads probe until the level of functions is F, COUNT times;
 *                               prints "begun", and "arrived" and "left" when the level changes
 *     levels flight COUNT       two threads set levels while two others probe
 *     levels fork               a child sets levels for itself
 *     levels announced          one of two threads is announced
 *     levels default            the levels of one translation unit, as set by constructors
 */
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probity_scope.h"
#include "programs/hits.h"

static uint64_t number;
static int wanted_level, is_over;

static int in_force(void)
{
    return __atomic_load_n(&probity_scope_level, __ATOMIC_RELAXED);
}

static int parameters_in_force(void)
{
    return __atomic_load_n(&probity_scope_param_level, __ATOMIC_RELAXED);
}

/* Checks the levels that are set, and the ones that scopes see. */
static void need(int functions, int parameters, int is_recording, const char *what)
{
    int f = -2, p = -2;

    probity_level_get(&f, &p);
    if (f != functions || p != parameters || in_force() != (is_recording ? f : -1) ||
        parameters_in_force() != (is_recording ? p : -1)) {
        fprintf(stderr, "%s: levels %d, %d, in force %d, %d\n", what, f, p, in_force(),
                parameters_in_force());
        exit(98);
    }
}

static void need_result(int expected, int result, const char *what)
{
    if (expected == result)
        return;
    fprintf(stderr, "%s: expected %d, got %d\n", what, expected, result);
    exit(98);
}

static void api_refused(int is_recording)
{
    need_result(PROBITY_ERROR_ARGUMENT, probity_level_set(6, 5), "6, 5");
    need_result(PROBITY_ERROR_ARGUMENT, probity_level_set(5, 6), "5, 6");
    need_result(PROBITY_ERROR_ARGUMENT, probity_level_set(-2, 0), "-2, 0");
    need_result(PROBITY_ERROR_ARGUMENT, probity_level_set(0, -2), "0, -2");
    need(5, 5, is_recording, "misuse changes nothing");
}

static void api_accepted(int is_recording)
{
    need_result(0, probity_level_set(-1, -1), "-1, -1");
    need(5, 5, is_recording, "nothing changed");
    need_result(0, probity_level_set(0, 0), "0, 0");
    need(0, 0, is_recording, "least");
    need_result(0, probity_level_set(3, 1), "3, 1");
    need(3, 3, is_recording, "parameters raised");
    need_result(0, probity_level_set(-1, 4), "-1, 4");
    need(3, 4, is_recording, "functions left");
    need_result(0, probity_level_set(2, -1), "2, -1");
    need(2, 4, is_recording, "parameters left");
    probity_level_default(5, 5);
    need(2, 4, is_recording, "a unit's default comes too late");
}

static void api(void)
{
    struct probity_options options = {.struct_bytes = sizeof options, .out = "trace"};

    api_refused(0);
    need_result(0, probity_start(&options), "start");
    api_refused(1);
    PROBITY_PROBE(1);
    api_accepted(1);
    PROBITY_PROBE(2);
    need_result(0, probity_stop(), "stop");
    need(2, 4, 0, "kept over a stop");
    options.out = "second";
    need_result(0, probity_level_set(1, 2), "between two recordings");
    need_result(0, probity_start(&options), "second start");
    need(1, 2, 1, "in force again");
    PROBITY_PROBE(3);
    need_result(0, probity_stop(), "second stop");
}

static void show(void)
{
    int functions, parameters;

    probity_level_get(&functions, &parameters);
    printf("%d %d in force %d %d\n", functions, parameters, in_force(), parameters_in_force());
    PROBITY_PROBE(1);
    probity_stop();
    printf("in force %d %d\n", in_force(), parameters_in_force());
}

/* The id of each hit is the level that its thread saw. */
static void *probe_until_requested(void *argument)
{
    static const struct timespec a_moment = {0, 1000000};
    uint64_t count = 0;

    while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
        PROBITY_PROBE((uint32_t)in_force());
        if (++count % 64 == 0)
            nanosleep(&a_moment, NULL);
    }
    return argument;
}

static void wait_for_levels(void)
{
    static const struct timespec a_moment = {0, 1000000};
    pthread_t thread[2];

    PROBITY_PROBE(1000);
    puts("begun");
    fflush(stdout);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, probe_until_requested, NULL);
    for (uint64_t i = 0; i < number; i++) {
        while (in_force() != wanted_level)
            nanosleep(&a_moment, NULL);
        puts("arrived");
        fflush(stdout);
        while (i + 1 < number && in_force() == wanted_level)
            nanosleep(&a_moment, NULL);
        puts("left");
        fflush(stdout);
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
}

static void *set_levels(void *argument)
{
    int first = argument != NULL;

    for (uint64_t i = 0; i < number; i++)
        need_result(0, probity_level_set((int)((i + first) % 6), -1), "set in flight");
    return NULL;
}

/* At the end, scopes see the level that was set last. */
static void flight(void)
{
    pthread_t reader[2], setter[2];
    int functions, parameters;

    PROBITY_PROBE(1);
    for (int i = 0; i < 2; i++) {
        pthread_create(&reader[i], NULL, probe_until_requested, NULL);
        pthread_create(&setter[i], NULL, set_levels, i ? &number : NULL);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(setter[i], NULL);
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 2; i++)
        pthread_join(reader[i], NULL);
    probity_level_get(&functions, &parameters);
    need(functions, parameters, 1, "after the flight");
    printf("%llu\n", 2 * (unsigned long long)number);
}

static void child_records(void)
{
    int status = 0;

    PROBITY_PROBE(1);
    need_result(0, probity_level_set(3, 4), "set");
    pid_t child = fork();
    if (child == 0) {
        need(3, 4, 1, "inherited");
        PROBITY_PROBE(2);
        need_result(0, probity_level_set(1, 1), "set in the child");
        need(1, 1, 1, "the child's");
        exit(0);
    }
    hits_need(child > 0 && waitpid(child, &status, 0) == child && status == 0, "child");
    need(3, 4, 1, "the parent's");
    probity_stop();
    child = fork();
    if (child == 0) {
        PROBITY_PROBE(3);
        need(3, 4, 0, "the child of a program that stopped");
        exit(0);
    }
    hits_need(child > 0 && waitpid(child, &status, 0) == child && status == 0, "second child");
}

static void *probe_announced(void *argument)
{
    if (argument != NULL)
        probity_thread_announce();
    for (uint64_t i = 0; i < number; i++)
        PROBITY_PROBE(argument != NULL);
    return NULL;
}

static void announced(void)
{
    pthread_t thread[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, probe_announced, i ? &number : NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
}

static void unit_default(void)
{
    probity_level_default(4, 2);
    probity_level_default(2, 3);
    show();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {{"api", api},       {"show", show},           {"wait", wait_for_levels},
                {"flight", flight}, {"fork", child_records}, {"announced", announced},
                {"default", unit_default}};

    int is_wait = argc > 1 && strcmp(argv[1], "wait") == 0;
    wanted_level = (int)hits_argument(argc, argv, 2, 5);
    number = is_wait ? hits_argument(argc, argv, 3, 1) : hits_argument(argc, argv, 2, 100);
    for (size_t i = 0; i < sizeof ways / sizeof *ways && argc > 1; i++) {
        if (strcmp(argv[1], ways[i].name) == 0) {
            ways[i].run();
            return 0;
        }
    }
    return 2;
}
