/* SPDX-License-Identifier: MIT
 *
 * logged.c: three calls, then the end; with an argument, ended with ExitProcess().
 */
#define FN_INSTRUMENT
#include <windows.h>

#include "FnTrace.h"

static void work(void)
{
    FN_FUNC(FN_VOID, FN_1);
}

int main(int count, char **arguments)
{
    (void)arguments;
    for (int i = 0; i < 3; i++)
        work();
    if (count > 1)
        ExitProcess(0);
    return 0;
}
