/* SPDX-License-Identifier: MIT
 *
 * usage.c [--all-cpus] COMMAND ARGUMENTS: runs a command on one CPU, or on all, with output to
 * /dev/null, and prints "WALL_S CPU_S PEAK_KIB".
 */
#include "common.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct rusage usage;
    int status, is_pinned = argc < 2 || strcmp(argv[1], "--all-cpus") != 0;

    argv += !is_pinned;
    if (argc < 2 || argv[1] == NULL)
        return 2;
    double wall_s = bench_wall_s();
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (is_pinned)
            bench_pin(1);
        if (null >= 0 && dup2(null, STDOUT_FILENO) >= 0)
            execvp(argv[1], argv + 1);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0)
        bench_fail(argv[1]);
    wall_s = bench_wall_s() - wall_s;
    printf("%.3f %.3f %ld\n", wall_s,
           (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
               1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec),
           usage.ru_maxrss);
    return 0;
}
