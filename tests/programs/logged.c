/* SPDX-License-Identifier: MIT
 *
 * logged.c [steps [STEPS] | kill]: a few instrumented functions for the test of `probity log`, with
 * types known only from DWARF and a deferred scope. With "steps", makes and prints a step every 50
 * ms until stdin has a line or ends. With "kill", is killed in the third of several nested calls.
 */
#define FN_INSTRUMENT
#include "FnTrace.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct rect {
    int left, top;
};

typedef int (*compare)(const void *, const void *);

static int set_rect(struct rect *rect, int left, int top, const char *const names[2], compare order)
{
    int ret = 0;
    FN_FUNC_PARAMS(int, ret, FN_1, 3, left, top, names[0]);
    rect->left = left;
    rect->top = top;
    FN_OUTPUT("moved to ", left, ", ", top);
    ret = order == NULL ? left + top : 0;
    return ret;
}

static void dispatch(int message, const char *text)
{
    FN_ENTRY(FN_1);
    if (message == 2)
        FN_CHECKPOINT("WM_CREATE", FN_1, 2, message, text);
}

static void nest(unsigned depth)
{
    FN_FUNC(FN_VOID, FN_2);
    if (depth == 0)
        raise(SIGKILL);
    else
        nest(depth - 1);
}

/* Returns whether stdin has a line, or ends, within 50 ms. */
static int is_end_requested(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

    return poll(&input, 1, 50) != 0;
}

static void step(int number)
{
    FN_FUNC_ARGS(FN_VOID, FN_VOID, FN_1, number);
    printf("%d\n", number);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const char *const names[2] = {"first", "second"};
    struct rect rect;
    int ret = 0;
    FN_FUNC_PARAMS(int, ret, FN_1, 1, argc);

    if (argc == 2 && strcmp(argv[1], "steps") == 0) {
        for (int i = 0; !is_end_requested(); i++)
            step(i);
    } else if (argc == 3 && strcmp(argv[1], "steps") == 0) {
        for (int i = 0; i < atoi(argv[2]); i++) {
            step(i);
            usleep(50000);
        }
    } else {
        set_rect(&rect, 3, 4, names, NULL);
        for (int i = 0; i < 4; i++)
            dispatch(i, "two\nlines");
    }
    if (argc == 2 && strcmp(argv[1], "kill") == 0)
        nest(3);
    return ret;
}
