/* SPDX-License-Identifier: MIT
 *
 * costs.c TRACE [modes]: a recording that measures its own cost must not change errno, the stack of
 * open scopes or the thread's probes. Starts and stops inside scopes, and in a signal handler that
 * interrupts one. With `modes`: starts after a recording in profile mode (TRACE), and in a child
 * forked during one (TRACE.child). Prints the errors, if any.
 */
#define FN_INSTRUMENT
#include <FnTrace.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 3, DEPTH = 60, ERROR = 77, HANGS_SECONDS = 60 };

static struct probity_options options = {.overwrite = PROBITY_ON};
static struct probity_scope_place frames[PROBITY_SCOPE_FRAMES + 1];
static uint32_t depth;

static void need(int condition, const char *what)
{
    if (!condition)
        printf("%s\n", what);
}

static void remember(void)
{
    memcpy(frames, probity_scope_frame, sizeof frames);
    depth = probity_scope_depth;
    errno = ERROR;
}

static void compare(const char *when)
{
    need(errno == ERROR, "errno has changed");
    need(probity_scope_depth == depth, "the depth of scopes has changed");
    need(memcmp(frames, probity_scope_frame, sizeof frames) == 0, "a frame has changed");
    if (errno != ERROR)
        printf("%s\n", when);
    errno = 0;
}

static void stop_and_start(void)
{
    remember();
    need(probity_stop() == 0, "cannot stop");
    compare("stop");
    remember();
    need(probity_start(&options) == 0, "cannot start");
    compare("start");
    PROBITY_PROBE(5);
}

static void on_signal(int number)
{
    (void)number;
    remember();
    need(probity_stop() == 0, "cannot stop in a handler");
    compare("stop in a handler");
}

static __attribute__((noinline)) void deep(int left)
{
    FN_FUNC(FN_VOID, FN_1);
    PROBITY_PROBE(1);
    if (left > 0)
        deep(left - 1);
    else
        for (int i = 0; i < ROUNDS; i++)
            stop_and_start();
    PROBITY_PROBE(2);
}

static void start_once(const char *out, int profile)
{
    options.out = out;
    options.profile = profile;
    need(probity_start(&options) == 0, "cannot start");
    deep(0);
}

/* deep() itself stops recording and starts it again. */
static int change_modes(const char *out)
{
    char of_child[4096];
    int status = 0;

    snprintf(of_child, sizeof of_child, "%s.child", out);
    start_once(out, PROBITY_ON);
    pid_t child = fork();
    if (child == 0) {
        alarm(HANGS_SECONDS);
        start_once(of_child, PROBITY_OFF);
        exit(0);
    }
    need(waitpid(child, &status, 0) == child && status == 0, "the child's status is not 0");
    need(probity_stop() == 0, "cannot stop");
    start_once(out, PROBITY_OFF);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 2)
        return change_modes(argv[1]);
    options.out = argc > 1 ? argv[1] : "trace";
    need(probity_start(&options) == 0, "cannot start");
    deep(0);
    deep(DEPTH);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    return 0;
}
