/* SPDX-License-Identifier: MIT
 *
 * ticks.c FILE COUNT: calls a function about a thousand times a second, at most COUNT times, until
 * FILE exists; after COUNT calls, waits for FILE. Without arguments: 1,000 calls without a pause.
 * ticks snapshot [stop]: the same calls, then requests a dump, and may stop the recording.
 */
#define FN_INSTRUMENT
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "FnTrace.h"
#include "probity.h"

static int tick(int number)
{
    FN_FUNC(int, FN_2);
    PROBITY_PROBE(1);
    return number + 1;
}

static int snapshot(int must_stop)
{
    for (int number = 0; number < 1000;)
        number = tick(number);
    if (probity_snapshot("at the end") != 0)
        return 1;
    return must_stop && probity_stop() != 0 ? 1 : 0;
}

int main(int count, char **arguments)
{
    if (count > 1 && strcmp(arguments[1], "snapshot") == 0)
        return snapshot(count > 2);
    int number = tick(0), most = count > 2 ? atoi(arguments[2]) : INT_MAX;

    printf("running\n"); /* it records from here on */
    fflush(stdout);
    while (count > 1 ? GetFileAttributesA(arguments[1]) == INVALID_FILE_ATTRIBUTES
                     : number < 1000) {
        if (number < most)
            number = tick(number);
        if (count > 1)
            Sleep(1);
    }
    printf("%d\n", number);
    return 0;
}
