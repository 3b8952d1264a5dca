/* SPDX-License-Identifier: MIT
 *
 * forks.c: overwrites its name in the list of arguments, as servers do; creates a thread, even in a
 * forked child, which prints its process id; then gives a vfork child a different standard input,
 * and waits for its own, a socket, until a timeout.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static void *begin(void *argument)
{
    return argument;
}

static int run_thread(void)
{
    pthread_t thread;

    return pthread_create(&thread, NULL, begin, NULL) == 0 && pthread_join(thread, NULL) == 0;
}

int main(int argc, char **argv)
{
    const struct timeval most = {0, 5000};
    int pair[2], ends[2], is_right = argc == 1 && run_thread();
    char byte;

    memset(argv[0], '/', strlen(argv[0]));
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 || pipe(ends) != 0 ||
        dup2(pair[0], 0) != 0 || setsockopt(0, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most) != 0)
        return 1;
    pid_t child = vfork();
    if (child == 0) {
        dup2(ends[0], 0);
        execl("/bin/true", "true", (char *)0);
        _exit(1);
    }
    is_right = is_right && waitpid(child, NULL, 0) == child && read(0, &byte, 1) == -1;
    child = fork();
    if (child == 0) {
        printf("%ld\n", (long)getpid());
        fflush(stdout);
        _exit(!run_thread());
    }
    return !is_right || waitpid(child, NULL, 0) != child;
}
