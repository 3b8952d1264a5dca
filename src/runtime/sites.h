/* SPDX-License-Identifier: MIT
 *
 * sites.h: the sites compiled into the process, hit or not, collected from the notes of its
 * executable and libraries (doc/trace-format.md, "SITES"). Found once and kept for the life of the
 * process in the form in which they are written: a forked child must not call the dynamic linker,
 * and a library may be unloaded.
 */
#ifndef PROBITY_RUNTIME_SITES_H
#define PROBITY_RUNTIME_SITES_H

#include "format/sites.h"

/* Call at load time, in the process whose libraries are to be searched; a forked child's are not
 * searched. */
void probity_sites_at_load(void);

/* Lists the objects loaded since the last call; almost free if there are none. has_linker: 1 if the
 * dynamic linker may be called: in a thread of the program that holds none of our locks, not in a
 * signal handler; 0: lists the executable only. If another thread is searching, or in a forked
 * child, the existing list is used. */
void probity_sites_find(int has_linker);

/* Returns the first part of the list after `part` (NULL: of all), or NULL. Its block has no header
 * yet. The part is otherwise immutable; another one may be added at any time. */
struct probity_sites_part *probity_sites_next(const struct probity_sites_part *part);

#endif
