/* SPDX-License-Identifier: MIT
 *
 * bounded.c: runs a command with limits on CPU time and memory, and prints how much of each it
 * used.
 *
 *     bounded CPU_SECONDS MEMORY_MIB COMMAND [ARGUMENT]...
 *
 * The last line on stderr is "STATUS CPU_MS PEAK_KIB", with the status as in the shell: 128 + N if
 * signal N ended the command. The command's stdout is discarded, but not its stderr.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void limit(int what, rlim_t most)
{
    struct rlimit limits = {most, what == RLIMIT_CPU ? most + 1 : most};

    if (setrlimit(what, &limits) != 0) {
        perror("setrlimit");
        exit(126);
    }
}

static long long ms_of(struct timeval time)
{
    return (long long)time.tv_sec * 1000 + time.tv_usec / 1000;
}

int main(int argc, char **argv)
{
    struct rusage usage;
    int status;

    if (argc < 4)
        return 2;
    pid_t child = fork();
    if (child == 0) {
        limit(RLIMIT_CPU, strtoul(argv[1], NULL, 10));
        limit(RLIMIT_AS, (rlim_t)strtoul(argv[2], NULL, 10) << 20);
        limit(RLIMIT_CORE, 0);
        dup2(open("/dev/null", O_WRONLY), 1);
        execvp(argv[3], argv + 3);
        perror(argv[3]);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child) {
        perror("bounded");
        return 1;
    }
    fprintf(stderr, "%d %lld %ld\n",
            WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            ms_of(usage.ru_utime) + ms_of(usage.ru_stime), usage.ru_maxrss);
    return 0;
}
