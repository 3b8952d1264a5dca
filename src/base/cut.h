/* SPDX-License-Identifier: MIT
 *
 * cut.h: a file that is cut while it is mapped. Its pages behind the cut are SIGBUS to whoever
 * looks at them. The tool, which has a handler, gets zeroes in their place, and tells; in a
 * program's process the handler is the program's, and nobody watches.
 */
#ifndef PROBITY_BASE_CUT_H
#define PROBITY_BASE_CUT_H

#include <stddef.h>

/* A mapping that is watched. Belongs to the caller, and stays in place until it is removed. */
struct probity_cut_watch {
    struct probity_cut_watch *next;
    const char *path;
    char *at;
    size_t bytes;
    int is_cut;
};

/* In cli_cut.c, and so in the tool alone. */
void probity_cut_add(struct probity_cut_watch *watch) __attribute__((weak));
void probity_cut_remove(struct probity_cut_watch *watch) __attribute__((weak));

static inline void probity_cut_begin(struct probity_cut_watch *watch, const char *path, void *at,
                                     size_t bytes)
{
    *watch = (struct probity_cut_watch){NULL, path, at, bytes, 0};
    if (probity_cut_add != NULL)
        probity_cut_add(watch);
}

static inline void probity_cut_end(struct probity_cut_watch *watch)
{
    if (probity_cut_remove != NULL)
        probity_cut_remove(watch);
}

#endif
