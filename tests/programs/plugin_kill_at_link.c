/* SPDX-License-Identifier: MIT
 *
 * plugin_kill_at_link.c: for LD_PRELOAD: kills the program just before it links its spool to a
 * name.
 */
#include <signal.h>
#include <unistd.h>

int linkat(int from, const char *name, int to, const char *new_name, int flags)
{
    (void)from;
    (void)name;
    (void)to;
    (void)new_name;
    (void)flags;
    kill(getpid(), SIGKILL);
    return -1;
}
