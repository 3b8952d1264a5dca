/* SPDX-License-Identifier: MIT
 *
 * arguments.c: prints its arguments and a setting, passes a probe and ends with a status. Usage:
 * arguments STATUS [ARGUMENT]..., where STATUS may be "access": an access violation.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "probity.h"

int main(int count, char **arguments)
{
    static int *volatile nowhere;
    const char *label = getenv("PROBITY_LABEL");

    SetErrorMode(SEM_NOGPFAULTERRORBOX | SEM_FAILCRITICALERRORS);
    PROBITY_PROBE(1);
    for (int i = 1; i < count; i++)
        printf("[%s]\n", arguments[i]);
    printf("label %s, error output %s\n", label != NULL ? label : "none",
           GetStdHandle(STD_ERROR_HANDLE) != NULL ? "yes" : "no");
    fflush(stdout);
    fprintf(stderr, "to stderr\n");
    PROBITY_PROBE(2);
    if (count > 1 && strcmp(arguments[1], "access") == 0)
        *nowhere = 1;
    return count > 1 ? atoi(arguments[1]) : 0;
}
