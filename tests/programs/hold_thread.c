/* SPDX-License-Identifier: MIT
 *
 * hold_thread.c: stops one thread of another process as a debugger does, prints "held", and lets it
 * continue once its input ends. Exit status 3: not permitted.
 *
 *     hold_thread TID
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

int main(int argc, char **argv)
{
    pid_t thread = argc > 1 ? atoi(argv[1]) : 0;
    int status;

    if (ptrace(PTRACE_SEIZE, thread, 0, 0) != 0)
        return 3;
    if (ptrace(PTRACE_INTERRUPT, thread, 0, 0) != 0 || waitpid(thread, &status, __WALL) != thread)
        return 1;
    puts("held");
    fflush(stdout);
    getchar();
    return ptrace(PTRACE_DETACH, thread, 0, 0) != 0;
}
