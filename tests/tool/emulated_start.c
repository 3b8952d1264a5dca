/* SPDX-License-Identifier: MIT
 *
 * emulated_start.c: starts the emulator with a program for another machine, in place of which the
 * kernel starts this one (emulated_exec.py). LD_PRELOAD is passed on only to the program, since the
 * emulator cannot load a library for another machine; for the same reason, this program is static.
 * It also makes the program load emulated_madvise.so.
 *
 * Its directory has that library for both machines, the links `emulator` and `root` (the directory
 * of the programs' libraries), and a directory `names` for links to the emulator: it is started
 * through a link with the program's name, so that its main thread has that name. The arguments are
 * the path of the program, the name by which it was started, and its arguments.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FAILED = 127 };

static char own[PATH_MAX], emulator[2 * PATH_MAX], root[2 * PATH_MAX], link_to_it[2 * PATH_MAX];

/* Returns 0, or -1. */
static int find_paths(const char *program)
{
    ssize_t bytes = readlink("/proc/self/exe", own, sizeof own - 1);
    const char *name = strrchr(program, '/');

    if (bytes <= 0)
        return -1;
    own[bytes] = '\0';
    *strrchr(own, '/') = '\0';
    snprintf(emulator, sizeof emulator, "%s/emulator", own);
    snprintf(root, sizeof root, "%s/root", own);
    snprintf(link_to_it, sizeof link_to_it, "%s/names/%s", own, name != NULL ? name + 1 : program);
    return 0;
}

/* Sets the variable with which the emulator changes the program's environment. Programs that this
 * one starts inherit LD_PRELOAD. */
static void set_preload(void)
{
    static const char name[] = "/$LIB/emulated_madvise.so";
    static char setting[4 * PATH_MAX];
    const char *preload = getenv("LD_PRELOAD");
    int has_it = preload != NULL && strstr(preload, name) != NULL;

    snprintf(setting, sizeof setting, "LD_PRELOAD=%s%s%s%s", has_it ? "" : own,
             has_it ? "" : name, preload != NULL && !has_it ? ":" : "",
             preload != NULL ? preload : "");
    setenv("QEMU_SET_ENV", setting, 1);
    unsetenv("LD_PRELOAD");
}

int main(int argc, char **argv)
{
    char **to = calloc((size_t)argc + 4, sizeof *to);

    if (argc < 3 || to == NULL || find_paths(argv[1]) != 0)
        return FAILED;
    int is_named = symlink(emulator, link_to_it) == 0 || access(link_to_it, X_OK) == 0;
    to[0] = is_named ? link_to_it : emulator;
    to[1] = "-L";
    to[2] = root;
    to[3] = "-0";
    to[4] = argv[2];
    to[5] = argv[1];
    memcpy(to + 6, argv + 3, (size_t)(argc - 3) * sizeof *to);
    set_preload();
    execv(to[0], to);
    return FAILED;
}
