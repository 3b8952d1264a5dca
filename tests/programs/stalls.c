/* SPDX-License-Identifier: MIT
 *
 * stalls.c: threads that call functions without pause, with slow calls in between.
 *
 *     stalls THREADS PLANTED KIND [MS]
 *
 * KIND: sleep; growing, each 40 ms longer than the one before; lock (another thread holds it); spin
 * (of CPU time); snapshot (requested by the program); signal (USR2); none; dumping: snapshots
 * without pause, until it is killed. Each call of step() hits a probe with the thread's count; each
 * slow call is between probes 7864324 and 7864329.
 *
 * Prints "planted N"; "slow A B": by its own clock, A calls of handle_request() certainly took
 * longer than half of MS, and B may have; "blocks A B": the same for the spans between these
 * probes, since a call may also lose its CPU before or after them; and for each snapshot "at A B
 * ...": each thread's count before it. For signal: whether its handler ran on the alternate
 * stack.
 */
#define FN_INSTRUMENT
#include "FnTrace.h"
#include "probity.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    THREADS_MAX = 15,
    APART = 1 << 19, /* distance between the first ids of two threads */
    BLOCK_BEGINS = THREADS_MAX * APART + 4,
    BLOCK_ENDS = THREADS_MAX * APART + 9
};

struct thread {
    uint32_t id, count;
    char apart[56];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_over, holds, waits, threads;
static uint64_t planted_ms = 20, slow, maybe_slow, slow_blocks, maybe_slow_blocks;
static const char *kind;
static struct thread all[THREADS_MAX];

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void sleep_ms(uint64_t ms)
{
    struct timespec rest = {(time_t)(ms / 1000), (long)(ms % 1000 * 1000000)};

    while (nanosleep(&rest, &rest) != 0 && errno == EINTR)
        continue;
}

static void spin_ns(uint64_t ns)
{
    uint64_t end = now_ns() + ns;

    while (now_ns() < end)
        continue;
}

static __attribute__((noinline)) void step(struct thread *self)
{
    FN_FUNC(void, FN_1);

    PROBITY_PROBE(self->id * APART + self->count);
    __atomic_store_n(&self->count, self->count + 1, __ATOMIC_RELEASE);
}

/* Starts counting the time once the other thread is about to wait, however late that is. */
static void *hold(void *unused)
{
    pthread_mutex_lock(&lock);
    __atomic_store_n(&holds, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&waits, __ATOMIC_ACQUIRE))
        sched_yield();
    sleep_ms(planted_ms);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void wait_for_lock(void)
{
    pthread_t holder;

    __atomic_store_n(&holds, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&waits, 0, __ATOMIC_RELEASE);
    if (pthread_create(&holder, NULL, hold, NULL) != 0)
        return;
    while (!__atomic_load_n(&holds, __ATOMIC_ACQUIRE))
        continue;
    __atomic_store_n(&waits, 1, __ATOMIC_RELEASE);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    pthread_join(holder, NULL);
}

/* Where the handler of the condition must run. */
static void raise_on_alternate_stack(void)
{
    static char memory[256 << 10];
    stack_t alternate = {.ss_sp = memory, .ss_size = sizeof memory}, before;
    size_t untouched = 0;

    memset(memory, 0, sizeof memory);
    if (sigaltstack(&alternate, &before) != 0)
        exit(1);
    raise(SIGUSR2);
    if (sigaltstack(&before, NULL) != 0)
        exit(1);
    while (untouched < sizeof memory && memory[untouched] == 0)
        untouched++;
    printf("alternate stack %s\n", untouched < sizeof memory ? "used" : "not used");
    fflush(stdout);
}

static void ask(void)
{
    printf("at");
    for (int i = 0; i <= threads; i++)
        printf(" %u", (unsigned)__atomic_load_n(&all[i].count, __ATOMIC_ACQUIRE));
    putchar('\n');
    fflush(stdout);
    if (strcmp(kind, "signal") == 0)
        raise_on_alternate_stack();
    else
        probity_snapshot("planted");
}

static void stall(int number)
{
    if (strcmp(kind, "sleep") == 0)
        sleep_ms(planted_ms);
    else if (strcmp(kind, "growing") == 0)
        sleep_ms(planted_ms + 40 * (uint64_t)number);
    else if (strcmp(kind, "lock") == 0)
        wait_for_lock();
    else if (strcmp(kind, "spin") == 0)
        spin_ns(planted_ms * 1000000);
    else if (strcmp(kind, "none") != 0)
        ask();
}

static uint64_t limit_ns(void)
{
    return planted_ms * 1000000 / 2;
}

static __attribute__((noinline)) void pass_block(int planted)
{
    uint64_t before = now_ns();

    PROBITY_PROBE(BLOCK_BEGINS);
    uint64_t begin = now_ns();
    if (planted >= 0)
        stall(planted);
    uint64_t end = now_ns();
    PROBITY_PROBE(BLOCK_ENDS);
    slow_blocks += end - begin > limit_ns();
    maybe_slow_blocks += now_ns() - before > limit_ns();
}

/* Sets *ret_ns to a lower bound of its duration. */
static __attribute__((noinline)) void handle_request(int planted, uint64_t *ret_ns)
{
    FN_FUNC(void, FN_1);
    uint64_t begin = now_ns();

    step(&all[0]);
    pass_block(planted);
    *ret_ns = now_ns() - begin;
}

static void call(int planted)
{
    uint64_t begin = now_ns(), least = 0;

    handle_request(planted, &least);
    slow += least > limit_ns();
    maybe_slow += now_ns() - begin > limit_ns();
}

static void *work(void *argument)
{
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        for (int i = 0; i < 10; i++)
            step(argument);
        spin_ns(50000);
    }
    return NULL;
}

static void run(int planted)
{
    int is_endless = strcmp(kind, "dumping") == 0;

    for (int i = 0; is_endless || i < planted; i++) {
        for (uint64_t end = now_ns() + (is_endless ? 1000000 : 100000000); now_ns() < end;) {
            call(-1);
            spin_ns(20000);
        }
        call(i);
    }
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS_MAX];

    if (argc < 4)
        return 2;
    threads = atoi(argv[1]) < THREADS_MAX ? atoi(argv[1]) : THREADS_MAX - 1;
    kind = argv[3];
    if (argc > 4)
        planted_ms = (uint64_t)atoi(argv[4]);
    for (int i = 0; i <= threads; i++) {
        all[i].id = (uint32_t)i;
        if (i > 0 && pthread_create(&thread[i], NULL, work, &all[i]) != 0)
            return 1;
    }
    run(atoi(argv[2]));
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    for (int i = 1; i <= threads; i++)
        pthread_join(thread[i], NULL);
    printf("planted %s\nslow %llu %llu\nblocks %llu %llu\n", argv[2], (unsigned long long)slow,
           (unsigned long long)maybe_slow, (unsigned long long)slow_blocks,
           (unsigned long long)maybe_slow_blocks);
    return 0;
}
