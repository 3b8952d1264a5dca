/* SPDX-License-Identifier: MIT
 *
 * forking.c: a handler that interrupts a probe at each of its instructions forks. The child returns
 * into the probe, whose reserved words belong to the parent, makes one more hit and exits. Prints
 * the number of instructions, and of children that did not exit normally. Exit status 77: not
 * supported here.
 */
#define FN_INSTRUMENT
#include <FnTrace.h>
#include <sys/wait.h>

#include "probity_typed.h"
#include "programs/hits.h"
#include "programs/stepped.h"

#if STEPPED
enum { STEPS_MAX = 400, KINDS = 4 };

static int is_child, died;

static void handle(void)
{
    int status = 0;
    pid_t child = fork();

    hits_need(child >= 0, "fork");
    if (child == 0) {
        is_child = 1;
        return;
    }
    hits_need(waitpid(child, &status, 0) == child, "waitpid");
    died += status != 0;
}

static __attribute__((noinline)) int scope(int number)
{
    int result = 1;
    FN_FUNC_PARAMS(int, result, FN_1, 1, number);

    result += number;
    return result;
}

/* This function's scope is profiled or recorded, too. */
static __attribute__((noinline)) void unit(int kind)
{
    FN_FUNC(FN_VOID, FN_1);
    switch (kind) {
    case 0: PROBITY_PROBE(1); break;
    case 1: PROBITY_PROBE_WITH(2, 7); break;
    case 2: scope(3); break;
    default: FN_OUTPUT("kind ", kind); break;
    }
}

int main(void)
{
    int instructions = 0;

    for (int kind = 0; kind < KINDS; kind++) {
        unit(kind);
        for (int step = 1; step <= STEPS_MAX; step++) {
            stepped_begin(step, handle);
            unit(kind);
            int has_run = stepped_end();
            if (is_child) {
                unit(kind);
                _exit(0);
            }
            if (!has_run)
                break;
            instructions++;
        }
    }
    printf("%d %d\n", instructions, died);
    return 0;
}
#else
int main(void)
{
    return 77;
}
#endif
