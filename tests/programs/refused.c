/* SPDX-License-Identifier: MIT
 *
 * refused.c: programs in which calls of the library fail. Each checks that its errno, signal mask,
 * descriptors and output are as they would be without recording. It marks its own system calls, to
 * distinguish them from the library's (tool/fault_inject.h).
 *
 *     refused WAY [HITS]
 *         prints what must be recorded: "PID STREAM HITS" or "FUNCTION CALLS"; exit status 5, or
 *         99 if a check failed
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define FN_INSTRUMENT
#include <FnTrace.h>

#include "probity_typed.h"
#include "programs/hits.h"
#include "tool/fault_inject.h"

enum { DONE = 5, NOTICED = 99, OWN_ERRNO = 111, THREADS = 2, DESCRIPTORS = 64, STEP = 100 };

static uint64_t number;
static char output[4096];
static size_t output_bytes;

static void say(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    output_bytes += (size_t)vsnprintf(output + output_bytes, sizeof output - output_bytes, format,
                                      arguments);
    va_end(arguments);
}

static void expect(uint32_t stream, uint64_t hits)
{
    say("%ld %u %llu\n", (long)getpid(), stream, (unsigned long long)hits);
}

static void need(int condition, const char *what)
{
    if (condition)
        return;
    fault_inject_own_calls(1);
    dprintf(STDOUT_FILENO, "noticed: %s\n", what);
    _exit(NOTICED);
}

/* Makes hits in small steps, checking errno after each. */
static void hit(uint32_t stream, uint64_t first, uint64_t hits)
{
    for (uint64_t done = 0; done < hits; done += STEP) {
        errno = OWN_ERRNO;
        hits_make(stream, first + done, hits - done < STEP ? hits - done : STEP);
        need(errno == OWN_ERRNO, "errno");
    }
}

/* ---- What the program does ---------------------------------------------------------------------
 */

static void *hit_beside(void *argument)
{
    fault_inject_own_calls(0);
    hit((uint32_t)(uintptr_t)argument, 0, number);
    fault_inject_own_calls(1);
    return NULL;
}

static void run_threads(void *(*run)(void *), int count)
{
    pthread_t thread[64];

    fault_inject_own_calls(1);
    for (uintptr_t i = 0; i < (uintptr_t)count; i++)
        need(pthread_create(&thread[i], NULL, run, (void *)(i + 1)) == 0, "thread");
    fault_inject_own_calls(0);
    hit(0, 0, number);
    fault_inject_own_calls(1);
    for (int i = 0; i < count; i++)
        pthread_join(thread[i], NULL);
    fault_inject_own_calls(0);
    for (uint32_t i = 0; i <= (uint32_t)count; i++)
        expect(i, number);
}

static void hits(void)
{
    run_threads(hit_beside, THREADS);
}

/* Starts more threads than a small spool's first segment has chunks. */
static void many(void)
{
    run_threads(hit_beside, 20);
}

static pthread_barrier_t all_have_hit;

static void *hit_and_stay(void *argument)
{
    hit_beside(argument);
    pthread_barrier_wait(&all_have_hit);
    return NULL;
}

/* Same as above, but no thread exits before all have made hits, so each keeps its chunk. */
static void held(void)
{
    pthread_barrier_init(&all_have_hit, NULL, 20);
    run_threads(hit_and_stay, 20);
}

static __attribute__((noinline)) int leaf(int value, const char *text)
{
    int result = value;
    FN_FUNC_PARAMS(int, result, FN_1, 2, value, text);
    result += text[0];
    return result;
}

static __attribute__((noinline)) void branch(int value)
{
    FN_FUNC(FN_VOID, FN_1);
    for (int i = 0; i < 3; i++)
        leaf(value + i, "leaf");
}

static void scopes(void)
{
    for (uint64_t i = 0; i < number; i++) {
        errno = OWN_ERRNO;
        branch((int)i);
        need(errno == OWN_ERRNO, "errno");
    }
    say("branch %llu\nleaf %llu\n", (unsigned long long)number, (unsigned long long)number * 3);
}

/* Passes requests through a queue, with typed probes. */
static void typed(void)
{
    for (uint64_t i = 0; i < number; i++) {
        errno = OWN_ERRNO;
        PROBITY_PROBE_NAMED_WITH("request", i);
        PROBITY_LOCK_HOLD("lock", &number);
        PROBITY_LOCK_RELEASE("lock", &number);
        need(errno == OWN_ERRNO, "errno");
    }
    say("request %llu\nlock %llu\n", (unsigned long long)number, 2 * (unsigned long long)number);
}

/* A mixture of everything, as input for the tool. */
static void mixed(void)
{
    run_threads(hit_beside, THREADS);
    scopes();
    typed();
}

/* The program starts and stops recordings. If a start fails, nothing is recorded. */
static void control(void)
{
    uint64_t recorded = 0, at = 0;

    for (int round = 0; round < 3; round++) {
        static const char *const names[] = {"trace.0", "trace.1", "trace.2"};
        errno = OWN_ERRNO;
        int is_on = probity_start(&(struct probity_options){.out = names[round]}) == 0;
        need(errno == OWN_ERRNO, "errno of start");
        hit(0, at, number);
        probity_probe_set_name(7, "seven");
        need(errno == OWN_ERRNO, "errno of a name");
        probity_flush();
        need(errno == OWN_ERRNO, "errno of flush");
        hit(0, at + number, number);
        at += 2 * number;
        recorded += is_on ? 2 * number : 0;
        probity_stop();
        need(errno == OWN_ERRNO, "errno of stop");
    }
    expect(0, recorded);
}

static void ring(void)
{
    hit(0, 0, number);
    probity_flush();
    expect(0, number);
}

/* Forks a child, which has its own trace and ends by exit() or _exit(). */
static void child(void)
{
    int status = 0;

    hit(0, 0, number);
    expect(0, number);
    fault_inject_own_calls(1);
    pid_t made = fork();
    need(made >= 0, "fork");
    fault_inject_own_calls(0);
    if (made == 0) {
        hit(1, 0, number);
        _exit(DONE);
    }
    fault_inject_own_calls(1);
    waitpid(made, &status, 0);
    fault_inject_own_calls(0);
    need(WIFEXITED(status) && WEXITSTATUS(status) == DONE, "child's status");
    say("%ld 1 %llu\n", (long)made, (unsigned long long)number);
}

/* Each step starts when a byte is read from stdin, and a line reports its end. In between, the test
 * changes the program's files. The first step precedes any hit. */
static void steps(void)
{
    uint64_t at = 0;
    char byte;

    for (;;) {
        fault_inject_own_calls(1);
        dprintf(STDOUT_FILENO, "at %llu\n", (unsigned long long)at);
        ssize_t got = read(STDIN_FILENO, &byte, 1);
        fault_inject_own_calls(0);
        if (got != 1)
            break;
        hit(0, at, number);
        at += number;
        probity_flush();
    }
    expect(0, at);
}

/* Newer architectures have no such call without a directory argument. */
#ifndef SYS_unlink
#define SYS_unlink SYS_unlinkat
#endif

/* Runs under a filter that kills the program for any call not listed in probity(3). */
static void filter(void)
{
    static const int allowed[] = {
        SYS_clock_gettime, SYS_close, SYS_exit, SYS_exit_group, SYS_fcntl, SYS_fstat, SYS_ftruncate,
        SYS_futex, SYS_getpid, SYS_gettid, SYS_madvise, SYS_membarrier, SYS_mmap, SYS_munmap,
        SYS_newfstatat, SYS_prctl, SYS_prlimit64, SYS_pwrite64, SYS_rt_sigprocmask, SYS_tgkill,
        SYS_unlink, SYS_write};
    enum { COUNT = sizeof allowed / sizeof *allowed };
    struct sock_filter code[2 * COUNT + 2];
    struct sock_fprog program = {sizeof code / sizeof *code, code};

    code[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
    for (int i = 0; i < COUNT; i++) {
        code[2 * i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                       (uint32_t)allowed[i], 0, 1);
        code[2 * i + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    code[2 * COUNT + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    hit(0, 0, number);
    need(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no new privileges");
    need(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0,
         "filter");
    hit(0, number, number);
    probity_flush();
    hit(0, 2 * number, number);
    expect(0, 3 * number);
}

/* Checks which descriptors are open and which signals are blocked. */
static void look_around(void)
{
    sigset_t held;

    fault_inject_own_calls(1);
    need(sigprocmask(SIG_BLOCK, NULL, &held) == 0, "sigprocmask");
    for (int i = 1; i < NSIG; i++)
        need(sigismember(&held, i) != 1, "a signal is blocked");
    /* It inherits only the three standard descriptors from fault_inject. */
    for (int i = STDERR_FILENO + 1; i < DESCRIPTORS && getenv("REFUSED") != NULL; i++)
        need(fcntl(i, F_GETFD) < 0, "a descriptor is open");
    need(write(STDOUT_FILENO, output, output_bytes) == (ssize_t)output_bytes, "output");
    fault_inject_own_calls(0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {{"hits", hits},   {"many", many},       {"held", held},   {"scopes", scopes},
                {"typed", typed}, {"mixed", mixed},     {"control", control}, {"ring", ring},
                {"child", child}, {"steps", steps},     {"filter", filter}};

    number = hits_argument(argc, argv, 2, 2000);
    for (size_t i = 0; i < sizeof ways / sizeof *ways && argc > 1; i++) {
        if (strcmp(argv[1], ways[i].name) != 0)
            continue;
        ways[i].run();
        look_around();
        return DONE;
    }
    return 2;
}
