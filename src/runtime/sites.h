/* SPDX-License-Identifier: MIT
 *
 * sites.h: what is compiled into the process, hit or not, gathered from the notes of its executable
 * and libraries (doc/trace-format.md, "SITES"). Found once and kept for the process's life, ready
 * to be written: also for a forked child, which must not ask the dynamic linker, and for sites of a
 * library that is unloaded later.
 */
#ifndef PROBITY_RUNTIME_SITES_H
#define PROBITY_RUNTIME_SITES_H

#include "format/sites.h"

/* The process as it is loaded: only here, and not in a forked child, are libraries looked for. */
void probity_sites_at_load(void);

/* Lists what has been loaded since the last call; next to nothing where nothing was. has_linker: 1
 * where the dynamic linker may be asked: in a thread of the program that holds no lock of ours, not
 * in a signal handler; 0: the executable only. Where another thread is at it, or in a forked child,
 * what is listed already has to do. */
void probity_sites_find(int has_linker);

/* The first part of the list that comes behind `part` (NULL: of all), or NULL. Its block has no
 * header yet. Never changes but for that; the next one may come at any time. */
struct probity_sites_part *probity_sites_next(const struct probity_sites_part *part);

#endif
