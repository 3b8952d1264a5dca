/* SPDX-License-Identifier: MIT
 *
 * storm.c: threads under several signals at once, from their timers and from each other, with
 * nested handlers on small signal stacks; handlers that jump out.
 *
 *     death storm MILLISECONDS SEED    no record may be missing when the program has ended
 *     death jump MILLISECONDS SEED     only records abandoned by a jump may be missing
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "death/death.h"
#include "programs/hits.h"

enum { THREADS = 3, ROUNDS_OF_JUMPS = 3 };

static uint64_t stop_at_ns;
static uint32_t ready;
static pid_t tids[THREADS];
static __thread sigjmp_buf *landing;

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static timer_t timer_for_me(int number)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number};
    timer_t timer;

    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    hits_need(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "timer_create");
    return timer;
}

/* Periodically, or once if every_ns is 0. */
static void interrupt_me(timer_t timer, uint64_t in_ns, uint64_t every_ns)
{
    struct itimerspec when = {{0, (long)every_ns}, {0, (long)in_ns}};

    timer_settime(timer, 0, &when, NULL);
}

/* If signals arrive faster than they are handled, handlers nest until they overflow any stack. This
 * one is small, and the page below it must not be touched. */
static void use_small_stack(void)
{
    enum { PAGE = 4096, ROOM = 32 * PAGE };
    size_t bytes = (getauxval(AT_MINSIGSTKSZ) + ROOM + PAGE - 1) / PAGE * PAGE;
    char *at =
        mmap(NULL, PAGE + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = {.ss_sp = at + PAGE, .ss_size = bytes};

    hits_need(at != MAP_FAILED && mprotect(at, PAGE, PROT_NONE) == 0 &&
                  sigaltstack(&stack, NULL) == 0, "sigaltstack");
}

static void block_all(void)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
}

/* Has timers for this thread, and sends signals to the other threads. */
static void *in_storm(void *argument)
{
    uint32_t number = (uint32_t)(uintptr_t)argument, turn = number;

    use_small_stack();
    death_be(number);
    tids[number] = (pid_t)syscall(SYS_gettid);
    __atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) < THREADS)
        sched_yield();
    timer_t timers[] = {timer_for_me(SIGUSR1), timer_for_me(SIGUSR2)};
    while (now_ns() < stop_at_ns) {
        /* Not periodic, because on a busy machine handlers would nest until they overflow any
         * stack. */
        interrupt_me(timers[0], 1 + turn * 7919 % 30000, 0);
        interrupt_me(timers[1], 1 + turn * 6151 % 30000, 0);
        for (int i = 0; i < 20; i++)
            death_unit(number);
        syscall(SYS_tgkill, getpid(), tids[turn % THREADS], turn % 2 ? SIGUSR1 : SIGUSR2);
        turn++;
    }
    block_all();
    /* No thread may send a signal to one that has exited. */
    __atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) < 2 * THREADS)
        sched_yield();
    return NULL;
}

/* Records at its level, then jumps out of everything that it has interrupted. */
static void on_jump(int number)
{
    (void)number;
    death_unit_in_handler();
    siglongjmp(*landing, 1);
}

static void *in_jumps(void *argument)
{
    uint32_t number = (uint32_t)(uintptr_t)argument;
    sigjmp_buf here;

    landing = &here;
    death_be(number);
    if (sigsetjmp(here, 1) == 0)
        interrupt_me(timer_for_me(SIGRTMIN), 200000, 200000);
    death_land();
    while (now_ns() < stop_at_ns)
        death_unit(number);
    block_all();
    return NULL;
}

static void live(void *(*run)(void *), const struct death_setting *setting)
{
    pthread_t thread[THREADS];

    death_start(setting);
    for (uintptr_t i = 0; i < THREADS; i++)
        hits_need(pthread_create(&thread[i], NULL, run, (void *)i) == 0, "thread");
    for (uint32_t i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    exit(0);
}

/* Runs a program once. Returns the number of errors. */
static uint64_t one(void *(*run)(void *), uint32_t kinds, uint64_t ms, int flags,
                    struct death_tally *tally)
{
    const struct death_setting setting = {.spool_records = 65536,
                                          .cpu_time = (flags & DEATH_JUMPS) == 0,
                                          .profile = kinds == DEATH_SCOPE};
    int status;

    death_clean();
    memset(death_truth, 0, sizeof *death_truth);
    death_truth->kinds = kinds;
    death_truth->is_profile = (uint32_t)setting.profile;
    stop_at_ns = now_ns() + ms * 1000000;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        live(run, &setting);
    hits_need(waitpid(child, &status, 0) == child, "waitpid");
    uint64_t faults = death_verify(tally, DEATH_EXACT | flags);
    if (status != 0) {
        fprintf(stderr, "the program ended with status %x\n", (unsigned)status);
        tally->unclean++;
    }
    return faults + (status != 0);
}

int death_storm_main(int argc, char **argv)
{
    struct death_tally tally = {0};
    uint64_t ms = hits_argument(argc, argv, 2, 200), faults = 0;
    int is_jump = strcmp(argv[1], "jump") == 0;

    death_seed(hits_argument(argc, argv, 3, 1));
    death_handle_signals();
    signal(SIGRTMIN, on_jump);
    if (is_jump) {
        for (int i = 0; i < ROUNDS_OF_JUMPS; i++)
            faults += one(in_jumps, 1u << i, ms, DEATH_JUMPS, &tally);
        printf("%llu jumps out of a probe; ", (unsigned long long)tally.jumped);
    } else {
        faults += one(in_storm, DEATH_ALL, ms, 0, &tally);
        faults += one(in_storm, DEATH_HIT, ms, 0, &tally);
        faults += one(in_storm, DEATH_SCOPE, ms, 0, &tally);
        printf("%llu signals; ", (unsigned long long)tally.signals);
    }
    death_print(argv[1], &tally);
    return faults > 0;
}
