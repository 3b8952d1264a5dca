/* SPDX-License-Identifier: MIT
 *
 * top_internal.h: declarations for top.c, top_feed.c and top_profile.c.
 */
#ifndef PROBITY_ANSWERS_TOP_TOP_INTERNAL_H
#define PROBITY_ANSWERS_TOP_TOP_INTERNAL_H

#include "answers/top/top.h"

struct probity_wait_symbols probity_top_symbols(const struct probity_top *top);
int probity_top_has_locks(const struct probity_top *top);

/* Returns the row of a lock, or of all locks beyond PROBITY_TOP_LOCKS_MAX; NULL if out of
 * memory. */
struct probity_top_row *probity_top_row_of_lock(struct probity_top *top, uint32_t pid,
                                                const char *name);

/* Finds or adds a row. name is not zero-terminated; place may be NULL. Returns NULL if out of
 * memory. */
struct probity_top_row *probity_top_row_at(struct probity_top *top, enum probity_top_view view,
                                           uint32_t pid, const char *name, size_t name_bytes,
                                           const char *place);

/* The same for a function; NULL: its declaration was lost. */
struct probity_top_row *probity_top_row_of(struct probity_top *top,
                                           const struct probity_function *function);

/* The functions of a trace in profile mode, with their counts at the last reading. All zero means
 * empty. */
struct probity_top_profile {
    struct probity_top *top;
    struct probity_hashtable items;
    int has_cpu, was_read;
    int is_first; /* no earlier reading to compute the interval from */
};

int probity_top_profile_read(struct probity_top_profile *profile,
                             const struct probity_reader *reader);
void probity_top_profile_release(struct probity_top_profile *profile);

#endif
