/* SPDX-License-Identifier: MIT
 *
 * posix/spawn.h: starting programs, which is not available.
 */
#ifndef PROBITY_POSIX_SPAWN_H
#define PROBITY_POSIX_SPAWN_H

#include <errno.h>
#include <sys/types.h>

typedef int posix_spawn_file_actions_t;

static inline int posix_spawn_file_actions_init(posix_spawn_file_actions_t *ret_actions)
{
    *ret_actions = 0;
    return 0;
}

static inline int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *actions,
                                                   int descriptor, const char *path, int flags,
                                                   mode_t mode)
{
    (void)actions;
    (void)descriptor;
    (void)path;
    (void)flags;
    (void)mode;
    return 0;
}

static inline int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *actions)
{
    (void)actions;
    return 0;
}

static inline int posix_spawnp(pid_t *ret_pid, const char *program,
                               const posix_spawn_file_actions_t *actions, const void *attributes,
                               char *const arguments[], char *const environment[])
{
    (void)ret_pid;
    (void)program;
    (void)actions;
    (void)attributes;
    (void)arguments;
    (void)environment;
    return ENOSYS;
}

#endif
