/* SPDX-License-Identifier: MIT
 *
 * late_thread.c WHERE: holds a thread in a slow path, as if it were preempted there, until the
 * recording has ended without it.
 *
 *     late_thread declares   while it records a site declared in an earlier recording; no recording
 *                            can be started until it is released
 *     late_thread resumes    while it measures its CPU time; released while a recording is started
 *     late_thread attached   the same, but it is released when a line comes from standard input;
 *                            the next recording is started from outside
 *     late_thread changes    while it changes its chunk
 *     late_thread ends       while it declares the very first site; another thread waits to
 *                            declare one, too, until the recording is ending
 *
 * It is held in syscall(), with which the library wakes the writer and, with
 * PROBITY_CLOCK=monotonic, reads the clock for each declaration, because clock_gettime() is
 * replaced; or in mmap(), with which it gets memory for declarations.
 */
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "programs/hits.h"
#include "programs/next_syscall.h"

/* More than a thread needs to register (34), and fewer than for all 32 sites. */
enum { READINGS = 48 };

enum turn { HELD = 1, WAITS, RELEASED, LEFT };

static int turn;
static __thread long held_call; /* the call in which this thread is held, */
static __thread int calls_left; /* after that many calls; 0: it is not held */
static __thread int is_held_in_reading; /* when it reads the clock of its CPU time */
static __thread int is_watched; /* whether to report its next wait */
static __thread int is_held_in_mmap;
static __thread int releases; /* whether its next reading of a clock, or timed wait, releases the
                               * held thread */

static void await(enum turn wanted)
{
    while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) < (int)wanted)
        sched_yield();
}

static void hold(void)
{
    __atomic_store_n(&turn, HELD, __ATOMIC_RELEASE);
    await(RELEASED);
}

static void release(void)
{
    __atomic_store_n(&turn, RELEASED, __ATOMIC_RELEASE);
}

long syscall(long number, ...)
{
    va_list arguments;

    va_start(arguments, number);
    struct syscall_values values = syscall_values_of(arguments);
    va_end(arguments);
    if (is_watched && number == SYS_futex)
        __atomic_store_n(&turn, WAITS, __ATOMIC_RELEASE);
    if (releases && (number == SYS_clock_gettime || (number == SYS_futex && values.at[3] != 0))) {
        releases = 0;
        release();
        await(LEFT);
    }
    if (is_held_in_reading && number == SYS_clock_gettime &&
        values.at[0] == CLOCK_THREAD_CPUTIME_ID) {
        is_held_in_reading = 0;
        hold();
    }
    if (number == held_call && calls_left > 0 && --calls_left == 0)
        hold();
    return next_syscall(number, &values);
}

void *mmap(void *at, size_t bytes, int rights, int flags, int file, off_t offset)
{
    if (is_held_in_mmap) {
        is_held_in_mmap = 0;
        hold();
    }
    return (void *)syscall(SYS_mmap, at, bytes, rights, flags, file, offset);
}

int clock_gettime(clockid_t clock, struct timespec *ret_time)
{
    return (int)syscall(SYS_clock_gettime, clock, ret_time);
}

#define FOUR(N)                                                                                    \
    PROBITY_PROBE_NAMED("a " #N);                                                                  \
    PROBITY_PROBE_NAMED("b " #N);                                                                  \
    PROBITY_PROBE_NAMED("c " #N);                                                                  \
    PROBITY_PROBE_NAMED("d " #N)

static void hit_sites(void)
{
    FOUR(1);
    FOUR(2);
    FOUR(3);
    FOUR(4);
    FOUR(5);
    FOUR(6);
    FOUR(7);
    FOUR(8);
}

static void *late_declaration(void *unused)
{
    held_call = SYS_clock_gettime;
    calls_left = READINGS;
    hit_sites();
    return unused;
}

static void *late_measurement(void *unused)
{
    hit_sites();
    is_held_in_reading = 1;
    while (is_held_in_reading)
        hit_sites();
    __atomic_store_n(&turn, LEFT, __ATOMIC_RELEASE);
    return unused;
}

static void *late_change(void *unused)
{
    held_call = SYS_futex;
    calls_left = 1;
    while (calls_left > 0)
        hit_sites();
    return unused;
}

static void hit_new_site(void)
{
    PROBITY_PROBE_NAMED("new");
}

static void *stop(void *unused)
{
    probity_stop();
    return unused;
}

/* Its hits need no slow path, except to declare the site. */
static void *late_site(void *unused)
{
    PROBITY_PROBE(1);
    is_watched = 1;
    hit_new_site();
    is_watched = 0;
    return unused;
}

static void end_meanwhile(void)
{
    pthread_t thread[2];

    hits_need(pthread_create(&thread[0], NULL, late_site, NULL) == 0, "thread");
    await(WAITS);
    hits_need(pthread_create(&thread[1], NULL, stop, NULL) == 0, "thread");
    while (probity_is_recording())
        sched_yield();
    release();
    pthread_join(thread[0], NULL);
    pthread_join(thread[1], NULL);
}

static void *late_end(void *unused)
{
    PROBITY_PROBE(2);
    is_held_in_mmap = 1;
    hit_sites();
    return unused;
}

static int start(const char *out)
{
    struct probity_options options = {.out = out, .chunk_records = 64, .spool_records = 1024};

    return probity_start(&options);
}

/* The next recording begins only once the held thread has left the last one. */
static void refuse_then_release(void)
{
    hits_need(start("third") == PROBITY_ERROR_STATE, "refusal");
    release();
}

/* Prints a line once the recording has ended without the thread. */
static int await_attaching(void)
{
    pthread_t thread;
    char line[8];

    hits_need(start("first") == 0, "start");
    hits_need(pthread_create(&thread, NULL, late_measurement, NULL) == 0, "thread");
    await(HELD);
    probity_stop();
    puts("late");
    fflush(stdout);
    hits_need(fgets(line, sizeof line, stdin) != NULL, "line");
    release();
    pthread_join(thread, NULL);
    while (fgets(line, sizeof line, stdin) != NULL)
        continue;
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "attached") == 0)
        return await_attaching();
    const char *where = argc == 2 ? argv[1] : "";
    int is_end = strcmp(where, "ends") == 0, is_change = strcmp(where, "changes") == 0;
    int is_resumed = strcmp(where, "resumes") == 0;
    pthread_t thread;

    hits_need(start("first") == 0, "start");
    if (!is_end)
        hit_sites();
    probity_stop();
    hits_need(start("second") == 0, "start");
    hits_need(pthread_create(&thread, NULL,
                             is_end       ? late_end
                             : is_change  ? late_change
                             : is_resumed ? late_measurement
                                          : late_declaration, NULL) == 0, "thread");
    await(HELD);
    if (is_end)
        end_meanwhile();
    else
        probity_stop(); /* after some seconds, without the thread */
    if (is_resumed) {
        releases = 1;
        hits_need(start("third") == 0 && !releases, "start");
    } else if (!is_end) {
        refuse_then_release();
    }
    pthread_join(thread, NULL);
    if (!is_resumed)
        hits_need(start("third") == 0, "start");
    hit_sites();
    if (is_end)
        hit_new_site();
    probity_stop();
    return 0;
}
