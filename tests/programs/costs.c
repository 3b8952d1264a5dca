/* SPDX-License-Identifier: MIT
 *
 * costs.c TRACE: what a recording that measures its own cost must leave as it was: errno, the
 * stack of open scopes, the thread's probes. Starts and stops inside of scopes, and in a signal
 * handler that interrupts one. Prints what is wrong; nothing where all is well.
 */
#define FN_INSTRUMENT
#include <FnTrace.h>

#include <errno.h>
#include <signal.h>
#include <string.h>

enum { ROUNDS = 3, DEPTH = 60, ERROR = 77 };

static struct probity_options options = {.overwrite = PROBITY_ON};
static struct probity_scope_frame frames[PROBITY_SCOPE_FRAMES];
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

int main(int argc, char **argv)
{
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
