/* SPDX-License-Identifier: MIT
 *
 * loads.c: loads and unloads two libraries alternately, then forks a child that records.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments)
{
    enum { LOADS = 400 };

    for (int i = 0; i < LOADS; i++) {
        void *library = count == 3 ? dlopen(arguments[1 + i % 2], RTLD_NOW) : NULL;
        if (library == NULL || dlclose(library) != 0) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
    }
    pid_t child = fork();
    if (child == 0) {
        usleep(1);
        _exit(0);
    }
    return child < 0 || waitpid(child, NULL, 0) != child;
}
