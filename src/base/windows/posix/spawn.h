/* SPDX-License-Identifier: MIT
 *
 * posix/spawn.h: starts programs; sys/wait.h waits for them. Only in the tool.
 */
#ifndef PROBITY_POSIX_SPAWN_H
#define PROBITY_POSIX_SPAWN_H

#include <stddef.h>
#include <sys/types.h>

/* The standard descriptors that are /dev/null: bit N for descriptor N. */
typedef unsigned posix_spawn_file_actions_t;

static inline int posix_spawn_file_actions_init(posix_spawn_file_actions_t *ret_actions)
{
    *ret_actions = 0;
    return 0;
}

/* Supports only /dev/null. */
static inline int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *actions,
                                                   int descriptor, const char *path, int flags,
                                                   mode_t mode)
{
    (void)path;
    (void)flags;
    (void)mode;
    *actions |= 1u << descriptor;
    return 0;
}

static inline int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *actions)
{
    (void)actions;
    return 0;
}

/* The system searches for the program: ".exe" may be omitted, and the system's directories are
 * searched before those in PATH. It inherits the three standard descriptors and this process's
 * environment (environment is ignored). Its process id is not reused before this process ends. */
int posix_spawnp(pid_t *ret_pid, const char *program, const posix_spawn_file_actions_t *actions,
                 const void *attributes, char *const arguments[], char *const environment[])
    __asm__("probity_posix_spawnp");

#endif
