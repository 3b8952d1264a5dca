/* SPDX-License-Identifier: MIT
 *
 * plugin_kill_at_rename.c: for LD_PRELOAD: kills the program just before it renames a file.
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static int die(void)
{
    kill(getpid(), SIGKILL);
    return -1;
}

int rename(const char *name, const char *new_name)
{
    (void)name;
    (void)new_name;
    return die();
}

int renameat2(int from, const char *name, int to, const char *new_name, unsigned flags)
{
    (void)from;
    (void)name;
    (void)to;
    (void)new_name;
    (void)flags;
    return die();
}
