/* SPDX-License-Identifier: MIT
 *
 * restarted.c: in the second recording of a process, holds the first thread that records while it
 * registers, as if it were preempted there, until another thread has recorded. It is held in
 * pthread_setspecific(), which the library calls to register it.
 *
 *     restarted macros     scopes, messages and a named site, which the first recording declared
 *     restarted profile    the same, for profile mode
 *     restarted calls      calls to libc, for libprobity-calls
 */
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FN_INSTRUMENT
#include <FnTrace.h>

#include "programs/hits.h"

enum { BESIDE = 10 };

enum turn { HELD = 1, FIRST_AGAIN };

static int (*next)(pthread_key_t key, const void *value);
static int turn;
static __thread int is_to_be_held;
static void (*work)(int number);

/* Uses no function that libprobity-calls records. */
static void await(enum turn wanted)
{
    while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) < (int)wanted)
        syscall(SYS_sched_yield);
}

static void begin(enum turn next_turn)
{
    __atomic_store_n(&turn, next_turn, __ATOMIC_RELEASE);
}

int pthread_setspecific(pthread_key_t key, const void *value)
{
    if (is_to_be_held) {
        is_to_be_held = 0;
        begin(HELD);
        await(FIRST_AGAIN);
    }
    if (next == NULL) /* a sanitizer, before main() */
        *(void **)&next = dlsym(RTLD_NEXT, "pthread_setspecific");
    return next(key, value);
}

static __attribute__((noinline)) void worked(int number)
{
    FN_FUNC(FN_VOID, FN_1);
    FN_OUTPUT("number ", number);
    PROBITY_PROBE_NAMED("worked site");
}

static __attribute__((noinline)) void allocated(int number)
{
    void *volatile memory = malloc((size_t)number + 1);

    free(memory);
}

static void *beside(void *unused)
{
    await(HELD);
    for (int i = 0; i < BESIDE; i++)
        work(i);
    return unused;
}

static void start(const char *out)
{
    struct probity_options options = {.out = out};

    hits_need(probity_start(&options) == 0, "start");
}

/* libprobity-calls records the description of the process in the program's first call. */
static void *held(void *unused)
{
    start("second");
    is_to_be_held = 1;
    work(BESIDE);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread[2];

    hits_need(argc == 2, "usage: restarted macros|profile|calls");
    work = strcmp(argv[1], "calls") == 0 ? allocated : worked;
    start("first");
    work(0);
    probity_stop();
    /* Runs before the recording, of which this must not be the first record. */
    hits_need(pthread_create(&thread[1], NULL, beside, NULL) == 0, "thread");
    hits_need(pthread_create(&thread[0], NULL, held, NULL) == 0, "thread");
    pthread_join(thread[1], NULL);
    begin(FIRST_AGAIN);
    pthread_join(thread[0], NULL);
    probity_stop();
    return 0;
}
