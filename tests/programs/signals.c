/* SPDX-License-Identifier: MIT
 *
 * signals.c: nested handlers that probe at a high rate, inside probes and inside the chunk changes
 * that they cause; handlers that jump out.
 *
 *     signals HOW [MILLISECONDS [THREADS]]
 *
 * However short the time and however loaded the machine, each thread records at least a few hits of
 * each kind.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "programs/hits.h"

enum { THREADS_MAX = 8, HANDLER_STREAM = 10, NESTED_STREAM = 20, BURST = 5000 };
enum { HITS_LEAST = 20000, HANDLED_LEAST = 100, JUMPS_LEAST = 10 };

/* The counts of each thread. Handlers number their hits with a single instruction, so that nested
 * ones never use a number twice. */
struct worker {
    uint64_t hits, handled, nested, jumps;
    sigjmp_buf start;
};

static struct worker workers[THREADS_MAX];
static __thread uint32_t self;
static int errno_was_changed;
static uint64_t stop_at_ns, burst = 3;
static long every_ns = 50000;

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int is_time_over(void)
{
    return now_ns() >= stop_at_ns;
}

/* Handlers change their counts concurrently. */
static uint64_t so_far(const uint64_t *counter)
{
    return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static void make_in_handler(uint32_t stream, uint64_t *counter, uint64_t count)
{
    enum { OWN = 1234 };
    int before = errno;

    errno = OWN;
    for (uint64_t i = 0; i < count; i++)
        PROBITY_PROBE(hits_id(stream + self, __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED)));
    if (errno != OWN)
        errno_was_changed = 1;
    errno = before;
}

static void on_timer(int signal)
{
    (void)signal;
    make_in_handler(HANDLER_STREAM, &workers[self].handled, burst);
}

static void on_nested(int signal)
{
    (void)signal;
    make_in_handler(NESTED_STREAM, &workers[self].nested, 1);
}

static void on_jump(int signal)
{
    (void)signal;
    make_in_handler(HANDLER_STREAM, &workers[self].handled, 1);
    siglongjmp(workers[self].start, 1);
}

static void handle(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_flags = flags};

    action.sa_handler = handler;
    sigaction(number, &action, NULL);
}

/* A timer that interrupts just this thread. */
static void interrupt_me(int number, long period_ns)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number};
    struct itimerspec every = {{0, period_ns}, {0, period_ns}};
    timer_t timer;

    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    hits_need(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "timer_create");
    timer_settime(timer, 0, &every, NULL);
}

static void block_all(void)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
}

/* Probes in a tight loop, while two timers interrupt it with handlers that nest. */
static void *record(void *argument)
{
    struct worker *mine = &workers[self = (uint32_t)(uintptr_t)argument];

    interrupt_me(SIGUSR1, every_ns);
    interrupt_me(SIGUSR2, every_ns * 3 / 4);
    while (!is_time_over() || mine->hits < HITS_LEAST ||
           so_far(&mine->handled) < HANDLED_LEAST || so_far(&mine->nested) < HANDLED_LEAST) {
        hits_make(self, mine->hits, 1000);
        mine->hits += 1000;
    }
    block_all();
    return NULL;
}

/* Probes until a handler jumps out of the code that it interrupted, possibly the record path. */
static void *record_and_jump(void *argument)
{
    struct worker *mine = &workers[self = (uint32_t)(uintptr_t)argument];

    sigsetjmp(mine->start, 1);
    if (mine->jumps++ == 0)
        interrupt_me(SIGUSR1, 300000);
    while (!is_time_over() || mine->jumps < JUMPS_LEAST) {
        for (int i = 0; i < 1000; i++) {
            PROBITY_PROBE(hits_id(self, mine->hits));
            __atomic_store_n(&mine->hits, mine->hits + 1, __ATOMIC_RELAXED);
        }
    }
    block_all();
    /* The last jump may have come before its hit was counted. */
    PROBITY_PROBE(hits_id(self, mine->hits));
    mine->hits++;
    return NULL;
}

static void run_threads(void *(*run)(void *), uint32_t threads)
{
    pthread_t thread[THREADS_MAX];

    for (uint32_t i = 0; i < threads; i++)
        hits_need(!pthread_create(&thread[i], NULL, run, (void *)(uintptr_t)i), "thread");
    for (uint32_t i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    for (uint32_t i = 0; i < threads; i++) {
        hits_expect(getpid(), i, workers[i].hits);
        hits_expect(getpid(), HANDLER_STREAM + i, workers[i].handled);
        hits_expect(getpid(), NESTED_STREAM + i, workers[i].nested);
    }
}

/* Makes the very first probe in a handler, called by a process timer, in any thread. */
static void first_in_handler(void)
{
    struct itimerval every = {{0, 200}, {0, 200}};

    setitimer(ITIMER_REAL, &every, NULL);
    while (!is_time_over() || so_far(&workers[0].handled) == 0)
        pause();
    block_all();
    hits_expect(getpid(), HANDLER_STREAM, workers[0].handled);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    uint32_t threads = (uint32_t)hits_argument(argc, argv, 3, 1);

    stop_at_ns = now_ns() + hits_argument(argc, argv, 2, 500) * 1000000;
    handle(SIGUSR1, on_timer, SA_RESTART);
    handle(SIGUSR2, on_nested, SA_RESTART);
    handle(SIGALRM, on_timer, 0);
    if (strcmp(how, "storm") == 0) {
        run_threads(record, threads);
    } else if (strcmp(how, "burst") == 0) {
        burst = BURST;
        every_ns = 1000000;
        run_threads(record, threads);
    } else if (strcmp(how, "first") == 0) {
        first_in_handler();
    } else if (strcmp(how, "jump") == 0) {
        handle(SIGUSR1, on_jump, 0);
        run_threads(record_and_jump, threads);
        fprintf(stderr, "%llu jumps\n", (unsigned long long)workers[0].jumps);
    } else {
        return 2;
    }
    return errno_was_changed ? 3 : 0;
}
