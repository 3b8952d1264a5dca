/* SPDX-License-Identifier: MIT
 *
 * arena.h: memory that is never freed. No lock, so that a forked child or a signal handler never
 * waits for one.
 */
#ifndef PROBITY_FUNCTIONS_ARENA_H
#define PROBITY_FUNCTIONS_ARENA_H

#include <stddef.h>

/* Returns zeroed memory, aligned to 16 bytes, or NULL if out of memory. Any thread,
 * async-signal-safe; preserves errno. */
void *probity_arena_take(size_t bytes);

/* Returns zeroed pages; only pages that are written to take memory. Otherwise the same. */
void *probity_arena_map(size_t bytes);
void probity_arena_unmap(void *at, size_t bytes);

#endif
