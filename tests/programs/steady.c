/* SPDX-License-Identifier: MIT
 *
 * steady.c: for each number on a line of standard input, does that many rounds of calls, probes and
 * requests, and prints the total number of rounds. "kill": kills itself (SIGKILL); "end": ends.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FN_INSTRUMENT
#include <FnTrace.h>

#include "probity.h"
#include "probity_typed.h"

static void leaf(int n)
{
    FN_FUNC(FN_VOID, FN_1);
    (void)n;
}

static int work(int n)
{
    FN_FUNC(FN_VOID, FN_1);
    PROBITY_REQUEST_BEGIN("job", n);
    PROBITY_PROBE(1);
    leaf(n);
    leaf(n + 1);
    PROBITY_PROBE_NAMED_WITH("half", n);
    PROBITY_PROBE(2);
    PROBITY_REQUEST_END("job", n);
    return n % 7;
}

int main(void)
{
    char line[32];
    int done = 0, sum = 0;

    while (fgets(line, sizeof line, stdin) != NULL && strncmp(line, "end", 3) != 0) {
        if (strncmp(line, "kill", 4) == 0)
            raise(SIGKILL);
        for (int rounds = atoi(line); rounds > 0; rounds--)
            sum += work(++done);
        printf("%d\n", done);
        fflush(stdout);
    }
    return sum < 0;
}
