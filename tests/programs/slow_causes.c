/* SPDX-License-Identifier: MIT
 *
 * slow_causes.c EACH: calls handle(), mostly for some 20 us. Each of the causes below makes EACH
 * calls slow, by 2 to 15 ms. Prints a line for each slow call: its cause, and CLOCK_REALTIME in ns
 * before and after it. Waits for locks, conditions and I/O are recorded only with `probity record
 * --calls`.
 */
#define FN_INSTRUMENT
#include <FnTrace.h>

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

enum cause { LOCK, CONDITION, SLOW_WRITE, SLEEP, DESCHEDULED, BLOCKED, MORE_WORK, MORE_CALLS,
             CAUSES, NONE };
enum { USUAL_BETWEEN = 20, NEIGHBORS = 3, PIPE_BYTES = 256 << 10 };

static const char *const names[CAUSES] = {"lock", "condition", "io", "sleep", "descheduled",
                                          "blocked", "more-work", "more-calls"};

/* Shared with the child processes. */
struct shared {
    atomic_int is_busy;      /* the neighbors use the CPU */
    atomic_uint pause_ns;    /* the reader of the pipe pauses for that long */
};

static struct shared *shared;
static pthread_mutex_t cache = PTHREAD_MUTEX_INITIALIZER, answer = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answered = PTHREAD_COND_INITIALIZER;
static int is_answered;
static atomic_int asked = NONE, is_held;
/* Set when the slow call has reached the delay, which begins only then: if it began earlier, it
 * could be over before a thread that lost the CPU arrives. */
static atomic_int is_at_cache, is_at_answer;
static atomic_uint asked_ns;
static int pipe_ends[2];
static char bytes[PIPE_BYTES];
static volatile unsigned sink;

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Not recorded. */
static void pause_quietly(unsigned ns)
{
    struct timespec time = {.tv_nsec = (long)ns};

    syscall(SYS_nanosleep, &time, NULL);
}

static NOINLINE void step(unsigned work)
{
    FN_FUNC(FN_VOID, FN_1);
    for (unsigned i = 0; i < work; i++)
        sink += i;
}

static NOINLINE void parse(unsigned work, unsigned calls)
{
    FN_FUNC(FN_VOID, FN_1);
    for (unsigned i = 0; i < calls; i++)
        step(work);
}

static NOINLINE void lookup(void)
{
    FN_FUNC(FN_VOID, FN_1);
    atomic_store(&is_at_cache, 1);
    pthread_mutex_lock(&cache);
    step(100);
    pthread_mutex_unlock(&cache);
}

static NOINLINE void ask(void)
{
    FN_FUNC(FN_VOID, FN_1);
    atomic_store(&is_at_answer, 1);
    pthread_mutex_lock(&answer);
    while (!is_answered)
        pthread_cond_wait(&answered, &answer);
    pthread_mutex_unlock(&answer);
}

static NOINLINE void save(size_t count, unsigned pause_ns)
{
    FN_FUNC(FN_VOID, FN_1);
    atomic_store(&shared->pause_ns, pause_ns);
    while (count > 0) {
        ssize_t wrote = write(pipe_ends[1], bytes, count);
        if (wrote <= 0)
            return;
        count -= (size_t)wrote;
    }
}

/* Other processes use the CPU that this thread needs. */
static NOINLINE void compete(unsigned ns)
{
    FN_FUNC(FN_VOID, FN_1);
    uint64_t end_ns = now_ns(CLOCK_MONOTONIC) + ns;
    while (now_ns(CLOCK_MONOTONIC) < end_ns)
        syscall(SYS_sched_yield);
}

static NOINLINE void handle(enum cause cause, unsigned ns)
{
    FN_FUNC(FN_VOID, FN_1);
    parse(cause == MORE_WORK ? ns / 2 : 1000, cause == MORE_CALLS ? ns / 500 : 4);
    lookup();
    ask();
    if (cause == SLOW_WRITE)
        save(sizeof bytes, ns);
    else
        save(64, 0);
    if (cause == SLEEP)
        nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
    if (cause == BLOCKED)
        pause_quietly(ns);
    if (cause == DESCHEDULED)
        compete(ns);
}

/* ---- The others --------------------------------------------------------------------------------
 */

static void await(atomic_int *flag)
{
    while (!atomic_load(flag))
        pause_quietly(20000);
}

static NOINLINE void refill(unsigned ns)
{
    FN_FUNC(FN_VOID, FN_1);
    pthread_mutex_lock(&cache);
    atomic_store(&is_held, 1);
    await(&is_at_cache);
    pause_quietly(ns);
    pthread_mutex_unlock(&cache);
}

static NOINLINE void reply(unsigned ns)
{
    FN_FUNC(FN_VOID, FN_1);
    atomic_store(&is_held, 1);
    await(&is_at_answer);
    pause_quietly(ns);
    pthread_mutex_lock(&answer);
    is_answered = 1;
    pthread_cond_signal(&answered);
    pthread_mutex_unlock(&answer);
}

static void *help(void *unused)
{
    (void)unused;
    pthread_setname_np(pthread_self(), "helper");
    for (int cause; (cause = atomic_load(&asked)) != CAUSES; pause_quietly(100000)) {
        unsigned ns = atomic_load(&asked_ns);
        if (cause != NONE)
            atomic_store(&asked, (int)NONE);
        if (cause == LOCK)
            refill(ns);
        else if (cause == CONDITION)
            reply(ns);
    }
    return NULL;
}

static void be_neighbor(void)
{
    for (;;) {
        while (atomic_load(&shared->is_busy))
            sink++;
        pause_quietly(200000);
    }
}

static void read_pipe(void)
{
    static char into[PIPE_BYTES];

    while (read(pipe_ends[0], into, sizeof into) > 0) {
        unsigned ns = atomic_exchange(&shared->pause_ns, 0);
        if (ns > 0)
            pause_quietly(ns);
    }
    _exit(0);
}

static pid_t start(void (*run)(void))
{
    pid_t child = fork();

    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (run == read_pipe)
            close(pipe_ends[1]);
        run();
    }
    return child;
}

/* ---- Planting ----------------------------------------------------------------------------------
 */

static void prepare(enum cause cause, unsigned ns)
{
    is_answered = cause != CONDITION;
    if (cause == LOCK || cause == CONDITION) {
        atomic_store(&is_held, 0);
        atomic_store(&is_at_cache, 0);
        atomic_store(&is_at_answer, 0);
        atomic_store(&asked_ns, ns);
        atomic_store(&asked, (int)cause);
        await(&is_held);
    }
    if (cause == DESCHEDULED) {
        atomic_store(&shared->is_busy, 1);
        pause_quietly(1000000);
    }
}

static void plant(enum cause cause, unsigned ns)
{
    prepare(cause, ns);
    uint64_t from_ns = now_ns(CLOCK_REALTIME);
    handle(cause, ns);
    uint64_t to_ns = now_ns(CLOCK_REALTIME);
    if (shared->is_busy)
        atomic_store(&shared->is_busy, 0);
    if (cause != NONE)
        printf("%s %ju %ju\n", names[cause], (uintmax_t)from_ns, (uintmax_t)to_ns);
}

int main(int argc, char **argv)
{
    unsigned each = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 0) : 5;
    pid_t children[NEIGHBORS + 1];
    pthread_t helper;
    cpu_set_t one;

    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || pipe(pipe_ends) != 0)
        return 1;
    children[NEIGHBORS] = start(read_pipe);
    close(pipe_ends[0]);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one); /* and of all children */
    for (int i = 0; i < NEIGHBORS; i++)
        children[i] = start(be_neighbor);
    pthread_create(&helper, NULL, help, NULL);
    srand(1);
    for (unsigned i = 0; i < each * CAUSES; i++) {
        for (int usual = 0; usual < USUAL_BETWEEN; usual++)
            plant(NONE, 0);
        plant((enum cause)(i % CAUSES), 2000000 + (unsigned)rand() % 13000000);
    }
    atomic_store(&asked, CAUSES);
    pthread_join(helper, NULL);
    close(pipe_ends[1]);
    for (int i = 0; i < NEIGHBORS; i++)
        kill(children[i], SIGKILL);
    for (int i = 0; i <= NEIGHBORS; i++)
        waitpid(children[i], NULL, 0);
    return 0;
}
