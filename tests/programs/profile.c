/* SPDX-License-Identifier: MIT
 *
 * profile.c: programs for profile mode, one for each way in which scopes begin and end. Each prints
 * what a report on its trace must contain: "NAME CALLS", or "NAME CALLS SELF_NS" if the time
 * matters.
 *
 *     profile WAY [ARGUMENT]
 */
#define FN_INSTRUMENT
#include <FnTrace.h>

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "programs/profile.h"
#include "programs/shared_memory.h"

static struct profile_truth *truth;
static __thread uint32_t own;

static void returned(int function)
{
    __atomic_fetch_add(&truth->calls[own][function], 1, __ATOMIC_RELAXED);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_RAW, &now); /* like ticks, never slewed */
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static __attribute__((noinline)) void leaf(void)
{
    FN_FUNC(FN_VOID, FN_2);
    __asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void middle(uint32_t leaves)
{
    FN_FUNC(FN_VOID, FN_1);
    for (uint32_t i = 0; i < leaves; i++) {
        leaf();
        returned(PROFILE_LEAF);
    }
}

static __attribute__((noinline)) void recursive(uint32_t depth)
{
    FN_FUNC(FN_VOID, FN_1);
    if (depth == 0)
        return;
    recursive(depth - 1);
    returned(PROFILE_RECURSIVE);
}

static void print_calls(void)
{
    for (int f = 0; f < PROFILE_FUNCTIONS; f++) {
        uint64_t calls = 0;
        for (int t = 0; t < PROFILE_THREADS; t++)
            calls += __atomic_load_n(&truth->calls[t][f], __ATOMIC_RELAXED);
        if (calls > 0)
            printf("%s %llu\n", profile_names[f], (unsigned long long)calls);
    }
    fflush(stdout);
}

/* A random mixture, reproducible from its seed. */
static void mix(uint32_t seed, uint32_t rounds)
{
    unsigned state = seed;

    for (uint32_t i = 0; i < rounds; i++) {
        middle((uint32_t)rand_r(&state) % 4);
        returned(PROFILE_MIDDLE);
        recursive((uint32_t)rand_r(&state) % 5);
        returned(PROFILE_RECURSIVE);
    }
}

static void *mix_thread(void *number)
{
    own = (uint32_t)(uintptr_t)number;
    mix(own, 20000);
    return NULL;
}

static void run_threads(uint32_t count, void *(*body)(void *))
{
    pthread_t threads[PROFILE_THREADS];

    for (uint32_t i = 0; i < count; i++)
        profile_need(pthread_create(&threads[i], NULL, body, (void *)(uintptr_t)i) == 0, "thread");
    for (uint32_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

/* ---- Scopes that end out of order --------------------------------------------------------------
 */

static jmp_buf target;

static __attribute__((noinline)) void jump_from(uint32_t depth)
{
    FN_FUNC(FN_VOID, FN_1);
    if (depth == 0)
        longjmp(target, 1);
    if (depth < 100)
        jump_from(depth - 1);
}

/* Scopes left by a jump are counted once their caller ends. */
static __attribute__((noinline)) void catcher(uint32_t depth)
{
    FN_FUNC(FN_VOID, FN_1);
    if (setjmp(target) == 0)
        jump_from(depth);
    leaf();
    returned(PROFILE_LEAF);
}

static void jumps(void)
{
    for (uint32_t i = 0; i < 1000; i++)
        catcher(i % 10);
    printf("catcher 1000\njump_from 5500\n");
}

static __attribute__((noinline)) void end_here(uint32_t depth)
{
    FN_FUNC(FN_VOID, FN_1);
    if (depth == 0)
        pthread_exit(NULL);
    if (depth < 100)
        end_here(depth - 1);
}

static void *ending_thread(void *unused)
{
    end_here(9);
    return unused;
}

/* Exits without destructors, so only the kernel shows that the thread has ended. */
static void *vanishing_thread(void *unused)
{
    leaf();
    returned(PROFILE_LEAF);
    syscall(SYS_exit, 0);
    return unused;
}

static void ends(void)
{
    pthread_t thread;

    for (uint64_t i = 0; i < 20; i++) {
        run_threads(1, ending_thread);
        profile_need(pthread_create(&thread, NULL, vanishing_thread, NULL) == 0, "thread");
        pthread_detach(thread);
        while (__atomic_load_n(&truth->calls[0][PROFILE_LEAF], __ATOMIC_ACQUIRE) == i)
            usleep(100);
    }
    printf("end_here 200\n");
}

/* ---- Signals -----------------------------------------------------------------------------------
 */

static uint64_t handled;

static __attribute__((noinline)) void handler(int number)
{
    FN_FUNC(FN_VOID, FN_1);
    (void)number;
    leaf();
    returned(PROFILE_LEAF);
    handled++;
}

static void signals(void)
{
    struct itimerval timer = {{0, 50}, {0, 50}}, none = {{0, 0}, {0, 0}};

    signal(SIGALRM, handler);
    setitimer(ITIMER_REAL, &timer, NULL);
    mix(1, 500000);
    setitimer(ITIMER_REAL, &none, NULL);
    signal(SIGALRM, SIG_IGN);
    profile_need(handled > 100, "signals");
    printf("handler %llu\n", (unsigned long long)handled);
}

/* ---- Times -------------------------------------------------------------------------------------
 */

static uint64_t spun_ns[4];

/* Spins for a known time. */
static void spin(int level, uint64_t ns)
{
    uint64_t first = now_ns(), now;

    do
        now = now_ns();
    while (now - first < ns);
    spun_ns[level] += now - first;
}

/* Has self time before and after a nested call. */
static __attribute__((noinline)) void busy(int level)
{
    FN_FUNC(FN_VOID, FN_1);
    spin(level, 2000000);
    if (level == 0)
        return;
    busy(level - 1);
    spin(level, 1000000);
}

static __attribute__((noinline)) void waits(void)
{
    FN_FUNC(FN_VOID, FN_1);
    spin(1, 1000000);
    FN_PAUSE();
    spin(0, 3000000);
    leaf();
    FN_RESUME();
    spin(1, 1000000);
}

static __attribute__((noinline)) void sleeps(void)
{
    FN_FUNC(FN_VOID, FN_1);
    usleep(3000);
}

static __attribute__((noinline)) void calls(void)
{
    FN_FUNC(FN_VOID, FN_1);
    spin(2, 2000000);
    waits();
    spin(2, 2000000);
    sleeps();
}

static void times(void)
{
    for (int i = 0; i < 20; i++)
        busy(3);
    printf("busy 80 %llu\n",
           (unsigned long long)(spun_ns[0] + spun_ns[1] + spun_ns[2] + spun_ns[3]));
    memset(spun_ns, 0, sizeof spun_ns);
    for (int i = 0; i < 20; i++)
        calls();
    printf("waits 20 %llu\ncalls 20 %llu\nleaf 20\nsleeps 20\n", (unsigned long long)spun_ns[1],
           (unsigned long long)spun_ns[2]);
}

/* ---- Many threads, processes, recordings -------------------------------------------------------
 */

static void *short_thread(void *unused)
{
    mix(7, 3);
    return unused;
}

static void churn(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        run_threads(1, short_thread);
}

static __attribute__((noinline)) void forking(void)
{
    FN_FUNC(FN_VOID, FN_1);
    int status;
    pid_t child = fork();

    leaf();
    returned(PROFILE_LEAF);
    profile_need(child >= 0 && (child == 0 || waitpid(child, &status, 0) == child), "fork");
}

/* The counts are sums over all traces; the child's scope of forking() began in the parent. */
static void forks(void)
{
    pid_t self = getpid();

    forking();
    if (getpid() != self) {
        mix(1, 10);
        exit(0);
    }
    mix(1, 10);
    printf("forking 1\n");
}

/* Starts a second recording inside scopes of the first. */
static __attribute__((noinline)) void restarting(void)
{
    FN_FUNC(FN_VOID, FN_1);
    leaf();
    probity_stop();
    leaf();
    profile_need(probity_start(NULL) == 0, "start");
    leaf();
}

static void restarts(void)
{
    restarting();
    leaf();
    printf("leaf 2\n");
}

/* A flush writes a profile, which a later flush replaces. */
static void threads(uint32_t count)
{
    run_threads(count, mix_thread);
    profile_need(probity_flush() == 0, "flush");
    run_threads(count, mix_thread);
}

static void *victim_thread(void *number)
{
    own = (uint32_t)(uintptr_t)number;
    for (;;)
        mix(own, 1000);
    return NULL;
}

/* Live: the printed calls have returned, and more will follow. */
static void live(void)
{
    run_threads(2, mix_thread);
    print_calls();
    printf("path %s\n", probity_trace_path());
    fflush(stdout);
    pause();
}

static void untimed(void)
{
    uint64_t spun = 0;

    for (int i = 0; i < 10; i++) {
        calls();
        spun = spun_ns[2];
        FN_PROFILE(0);
        busy(1);
        calls();
        FN_PROFILE(1);
        spun_ns[2] = spun;
    }
    printf("calls 20 %llu\nwaits 20\nsleeps 20\nleaf 20\nbusy 20\n", (unsigned long long)spun);
}

static void *deep_thread(void *unused)
{
    recursive(70000);
    returned(PROFILE_RECURSIVE);
    leaf();
    returned(PROFILE_LEAF);
    return unused;
}

/* Nests more scopes than can be timed. */
static void deep(void)
{
    enum { STACK_BYTES = 256 << 20 };
    pthread_attr_t attributes;
    pthread_t thread;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    profile_need(pthread_create(&thread, &attributes, deep_thread, NULL) == 0, "thread");
    pthread_join(thread, NULL);
}

static void run(const char *way, const char *argument)
{
    uint32_t count = argument != NULL ? (uint32_t)strtoul(argument, NULL, 10) : 1;

    if (strcmp(way, "threads") == 0)
        threads(count);
    else if (strcmp(way, "victim") == 0)
        run_threads(count, victim_thread);
    else if (strcmp(way, "live") == 0)
        live();
    else if (strcmp(way, "jumps") == 0)
        jumps();
    else if (strcmp(way, "ends") == 0)
        ends();
    else if (strcmp(way, "signals") == 0)
        signals();
    else if (strcmp(way, "times") == 0)
        times();
    else if (strcmp(way, "untimed") == 0)
        untimed();
    else if (strcmp(way, "deep") == 0)
        deep();
    else if (strcmp(way, "churn") == 0)
        churn(count);
    else if (strcmp(way, "forks") == 0)
        forks();
    else
        restarts();
}

int main(int argc, char **argv)
{
    truth = shared_memory(sizeof *truth);
    profile_need(argc > 1 && truth != NULL, "shared memory");
    run(argv[1], argv[2]);
    print_calls();
    return 0;
}
