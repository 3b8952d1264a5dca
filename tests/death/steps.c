/* SPDX-License-Identifier: MIT
 *
 * steps.c: death, a snapshot, or a signal after each instruction of a path.
 *
 *     death steps kill SCENARIO STRIDE SEED
 *         kills the victim after every STRIDE-th instruction, starting with a random one
 *     death steps look SCENARIO STRIDE SEED
 *         verifies the stopped victim there as if it had died
 *     death steps signal SCENARIO STRIDE SEED
 *         a signal after every STRIDE-th instruction, and one inside its handler; the victim then
 *         runs to its end, and everything must be in the trace
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "death/death.h"
#include "programs/hits.h"

enum { STEPS_MAX = 4000000 };

struct scenario {
    const char *name;
    void (*run)(const struct scenario *scenario);
    uint32_t kinds;
    int is_first;     /* nothing has been recorded yet */
    uint32_t near;    /* words left in the chunk; 0: many */
    int is_of_writer; /* the focus is the writer thread */
    int ends;         /* the victim stops recording without being killed */
    uint32_t within;  /* the inner signal arrives within this many instructions of the handler */
    uint32_t slow_ms;
    struct death_setting setting;
};

static void phase_begins(void)
{
    __atomic_store_n(&death_truth->phase, 1, __ATOMIC_SEQ_CST);
    raise(SIGSTOP);
}

static void phase_ends(void)
{
    __atomic_store_n(&death_truth->phase, 2, __ATOMIC_SEQ_CST);
    raise(SIGSTOP);
}

/* ---- The victim's paths -------------------------------------------------------------------------
 */

static void run_units(const struct scenario *scenario)
{
    (void)scenario;
    phase_begins();
    for (int i = 0; i < 2; i++)
        death_unit(0);
    phase_ends();
}

static void *thread_with_units(void *unused)
{
    (void)unused;
    death_be(1);
    death_unit(1);
    phase_begins();
    death_unit(1);
    return NULL;
}

/* The focus is a thread that exits; the first thread sets phase 2. */
static void run_thread_exit(const struct scenario *scenario)
{
    pthread_t thread;

    (void)scenario;
    hits_need(pthread_create(&thread, NULL, thread_with_units, NULL) == 0, "thread");
    pthread_join(thread, NULL);
    phase_ends();
}

static void *thread_that_waits(void *argument)
{
    uint32_t number = (uint32_t)(uintptr_t)argument;

    death_be(number);
    death_unit(number);
    __atomic_add_fetch(&death_truth->ready, 1, __ATOMIC_SEQ_CST);
    for (;;)
        pause();
    return NULL;
}

/* All chunks are open, so the next thread creates a segment. */
static void run_segment(const struct scenario *scenario)
{
    enum { CHUNKS = 8 };
    pthread_t thread;

    (void)scenario;
    for (uintptr_t i = 1; i <= CHUNKS; i++)
        hits_need(pthread_create(&thread, NULL, thread_that_waits, (void *)i) == 0, "thread");
    while (__atomic_load_n(&death_truth->ready, __ATOMIC_SEQ_CST) < CHUNKS)
        sched_yield();
    phase_begins();
    death_unit(0);
    phase_ends();
}

static void run_fork(const struct scenario *scenario)
{
    int status;

    (void)scenario;
    phase_begins();
    pid_t child = fork();
    if (child == 0) {
        death_be(1);
        death_unit(1);
        death_unit(1);
        phase_ends();
        _exit(0);
    }
    hits_need(waitpid(child, &status, 0) == child, "waitpid");
}

static void run_flush(const struct scenario *scenario)
{
    (void)scenario;
    phase_begins();
    hits_need(probity_flush() == 0, "flush");
    phase_ends();
}

static void run_stop(const struct scenario *scenario)
{
    (void)scenario;
    phase_begins();
    hits_need(probity_stop() == 0, "stop");
    phase_ends();
}

static void run_exit(const struct scenario *scenario)
{
    (void)scenario;
    phase_begins();
    exit(0);
}

/* While another thread has records in its open chunk. */
static void run_exit_beside(const struct scenario *scenario)
{
    pthread_t thread;

    hits_need(pthread_create(&thread, NULL, thread_that_waits, (void *)1) == 0, "thread");
    while (__atomic_load_n(&death_truth->ready, __ATOMIC_SEQ_CST) < 1)
        sched_yield();
    run_exit(scenario);
}

#define GAP {.cpu_time = 1}
#define NO_GAP {.cpu_time = 0}
#define PROFILED {.profile = 1, .cpu_time = 1}
#define SMALL {.chunk_records = 512, .spool_records = 4096}
static const struct scenario scenarios[] = {
    {"probe", run_units, DEATH_HIT, 0, 0, 0, 0, 600, 0, NO_GAP},
    {"probe_gap", run_units, DEATH_HIT, 0, 0, 0, 0, 600, 0, GAP},
    {"wide", run_units, DEATH_WIDE, 0, 0, 0, 0, 600, 0, NO_GAP},
    {"typed", run_units, DEATH_TYPED, 0, 0, 0, 0, 600, 0, NO_GAP},
    {"typed_gap", run_units, DEATH_TYPED, 0, 0, 0, 0, 600, 0, GAP},
    {"scope", run_units, DEATH_SCOPE, 0, 0, 0, 0, 600, 0, NO_GAP},
    {"scope_gap", run_units, DEATH_SCOPE, 0, 0, 0, 0, 600, 0, GAP},
    {"all", run_units, DEATH_ALL, 0, 0, 0, 0, 600, 0, NO_GAP},
    {"slow", run_units, DEATH_HIT, 0, 0, 0, 0, 45, 1300, NO_GAP},
    {"slow_wide", run_units, DEATH_WIDE, 0, 0, 0, 0, 90, 1300, NO_GAP},
    {"profile", run_units, DEATH_SCOPE | DEATH_PLAIN, 0, 0, 0, 0, 600, 0, PROFILED},
    {"change", run_units, DEATH_HIT, 0, 2, 0, 0, 600, 0, NO_GAP},
    {"change_gap", run_units, DEATH_HIT, 0, 2, 0, 0, 600, 0, GAP},
    {"change_typed", run_units, DEATH_TYPED, 0, 6, 0, 0, 600, 0, NO_GAP},
    {"change_all", run_units, DEATH_ALL, 0, 20, 0, 0, 600, 0, NO_GAP},
    {"first", run_units, DEATH_ALL, 1, 0, 0, 0, 600, 0, NO_GAP},
    {"first_profile", run_units, DEATH_SCOPE | DEATH_PLAIN, 1, 0, 0, 0, 600, 0, PROFILED},
    {"first_gap", run_units, DEATH_ALL, 1, 0, 0, 0, 600, 0, GAP},
    {"segment", run_segment, DEATH_HIT, 1, 0, 0, 0, 600, 0, SMALL},
    {"thread_exit", run_thread_exit, DEATH_ALL, 0, 0, 0, 0, 600, 0, NO_GAP},
    {"thread_exit_profile", run_thread_exit, DEATH_SCOPE, 0, 0, 0, 0, 600, 0, PROFILED},
    {"fork", run_fork, DEATH_ALL, 0, 0, 0, 0, 600, 0, NO_GAP},
    {"drain", run_flush, DEATH_ALL, 0, 20, 1, 0, 600, 0, NO_GAP},
    {"drain_profile", run_flush, DEATH_SCOPE | DEATH_PLAIN, 0, 0, 1, 0, 600, 0, PROFILED},
    {"stop", run_stop, DEATH_ALL, 0, 0, 0, 1, 600, 0, NO_GAP},
    {"stop_writer", run_stop, DEATH_ALL, 0, 20, 1, 1, 600, 0, NO_GAP},
    {"exit", run_exit, DEATH_ALL, 0, 0, 0, 1, 600, 0, NO_GAP},
    {"exit_writer", run_exit_beside, DEATH_ALL, 0, 0, 1, 1, 600, 0, NO_GAP},
    {"exit_profile", run_exit, DEATH_SCOPE | DEATH_PLAIN, 0, 0, 0, 1, 600, 0, PROFILED},
};

static void live(const struct scenario *scenario)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    hits_need(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0, "PTRACE_TRACEME");
    death_be(0);
    death_handle_signals();
    raise(SIGSTOP); /* the tracer sets its options */
    death_start(&scenario->setting);
    if (!scenario->is_first)
        death_unit(0);
    if (scenario->near > 0)
        death_fill_chunk(0, scenario->near);
    scenario->run(scenario);
    exit(0);
}

static void begin(const struct scenario *scenario, struct tracee *ret_tracee)
{
    death_clean();
    memset(death_truth, 0, sizeof *death_truth);
    death_truth->kinds = scenario->kinds;
    death_truth->is_profile = (uint32_t)scenario->setting.profile;
    death_truth->slow_ms = scenario->slow_ms;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        live(scenario);
    tracee_begin(ret_tracee, child);
    if (scenario->is_of_writer)
        tracee_take_thread(ret_tracee, "probity-writer");
}

/* ---- Deaths and looks ---------------------------------------------------------------------------
 */

/* Runs `steps` instructions. Returns whether there were that many. */
static int go(struct tracee *tracee, uint64_t steps)
{
    int signal_number = 0;

    for (uint64_t i = 0; i < steps; i++) {
        enum tracee_stop stop = tracee_step(tracee, signal_number, &signal_number);
        if (stop == TRACEE_PHASE_OVER || stop == TRACEE_GONE)
            return 0;
        signal_number = stop == TRACEE_SIGNAL ? signal_number : 0;
    }
    return 1;
}

static int kill_at_each(const struct scenario *scenario, uint64_t stride)
{
    struct death_tally tally = {0};
    struct tracee tracee;
    uint64_t steps = death_random() % stride, faults = 0;
    int is_over = 0;

    for (; !is_over && faults == 0 && steps < STEPS_MAX; steps += stride) {
        begin(scenario, &tracee);
        is_over = !go(&tracee, steps);
        tracee_kill(&tracee);
        faults = death_verify(&tally, 0);
    }
    if (faults > 0)
        printf("FAILED after instruction %llu\n", (unsigned long long)(steps - stride));
    death_print(scenario->name, &tally);
    return faults > 0;
}

/* The kernel's code for reading clocks starts over if they have advanced in the meantime. With a
 * check after each step they always have, so it would never end. */
static int is_in_kernel_page(const struct tracee *tracee)
{
    enum { BYTES = 16384 };
    uint64_t at = (uint64_t)ptrace(PTRACE_PEEKUSER, tracee->focus,
                                   offsetof(struct user, regs.rip), NULL);

    return at - getauxval(AT_SYSINFO_EHDR) < BYTES;
}

/* Verifies after each instruction, as if it were the last one. */
static int look_at_each(const struct scenario *scenario, uint64_t stride)
{
    struct death_tally tally = {0};
    struct tracee tracee;
    uint64_t faults = 0, first = death_random() % stride;

    death_snapshot_init();
    begin(scenario, &tracee);
    uint64_t steps = first;
    for (int is_there = go(&tracee, first); is_there && faults == 0; steps += stride) {
        faults = is_in_kernel_page(&tracee) ? 0 : death_snapshot_verify(&tally);
        is_there = go(&tracee, stride);
    }
    tracee_kill(&tracee);
    if (faults > 0)
        printf("FAILED after instruction %llu\n", (unsigned long long)(steps - stride));
    printf("%llu instructions; ", (unsigned long long)steps);
    death_print(scenario->name, &tally);
    return faults > 0;
}

/* ---- Signals ------------------------------------------------------------------------------------
 */

/* Continues to the handler's first instruction, or further if the signal is blocked. */
static int interrupt(struct tracee *tracee, int number)
{
    int signal_number = 0;

    if (syscall(SYS_tgkill, tracee->process, tracee->focus, number) != 0)
        return 0;
    enum tracee_stop stop = tracee_step(tracee, 0, &signal_number);
    if (stop == TRACEE_SIGNAL)
        stop = tracee_step(tracee, signal_number, &signal_number);
    return stop == TRACEE_STEP;
}

static int signal_at_each(const struct scenario *scenario, uint64_t stride)
{
    struct death_tally tally = {0};
    struct tracee tracee;
    uint64_t steps = death_random() % stride, faults = 0, handled = 0, nested = 0;
    int is_over = 0;

    for (; !is_over && faults == 0 && steps < STEPS_MAX; steps += stride) {
        begin(scenario, &tracee);
        is_over = !go(&tracee, steps);
        if (!is_over && interrupt(&tracee, SIGUSR1) &&
            go(&tracee, death_random() % scenario->within))
            interrupt(&tracee, SIGUSR2);
        int status = tracee_run_out(&tracee, 0);
        faults = death_verify(&tally, DEATH_EXACT | (scenario->ends ? DEATH_HANDLERS_LATE : 0));
        handled += death_truth->handled;
        nested += death_truth->nested;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            faults++;
        if (faults > 0)
            printf("status %x\n", (unsigned)status);
    }
    if (faults > 0)
        printf("FAILED after instruction %llu\n", (unsigned long long)(steps - stride));
    printf("%llu handlers, %llu inside handlers; ", (unsigned long long)handled,
           (unsigned long long)nested);
    death_print(scenario->name, &tally);
    return faults > 0;
}

int death_steps_main(int argc, char **argv)
{
    const struct sched_param first_of_all = {.sched_priority = 1};
    cpu_set_t one;

    hits_need(argc > 3, "arguments");
    /* On a single core, stopping and continuing need not wake up another core. On a busy machine,
     * each side would wait a hundred times as long as it runs, so this uses real-time priority if
     * permitted. */
    sched_setscheduler(0, SCHED_FIFO, &first_of_all);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    uint64_t stride = hits_argument(argc, argv, 4, 1);
    death_seed(hits_argument(argc, argv, 5, 1));
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        if (strcmp(scenarios[i].name, argv[3]) != 0)
            continue;
        if (strcmp(argv[2], "kill") == 0)
            return kill_at_each(&scenarios[i], stride);
        if (strcmp(argv[2], "look") == 0)
            return look_at_each(&scenarios[i], stride);
        return signal_at_each(&scenarios[i], stride);
    }
    return 2;
}
