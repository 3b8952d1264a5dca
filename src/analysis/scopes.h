/* SPDX-License-Identifier: MIT
 *
 * scopes.h: turns events into scopes: a stack for each thread, times that exclude callees and
 * pauses, and repairs of scopes left open by longjmp, a kill or a dropped record
 * (doc/trace-format.md, "Scopes"). Depends only on libc and the reader, because the library uses it
 * too. Memory: threads with open scopes or recent records, times the depth of their stacks. Prints
 * nothing.
 */
#ifndef PROBITY_ANALYSIS_SCOPES_H
#define PROBITY_ANALYSIS_SCOPES_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/scope.h"
#include "reader/reader.h"

/* Elements of of_function. All analyses use the first one, except those whose scopes may be shared
 * with one that uses it. */
enum { PROBITY_SCOPES_OF_TREE = 1, PROBITY_SCOPES_OF_COUNT = 2 };

struct probity_scopes_repairs {
    uint64_t unwound, orphans, open, pauses_unmatched, resumes_unmatched;
};

static inline void probity_scopes_repairs_add(struct probity_scopes_repairs *to,
                                              const struct probity_scopes_repairs *from)
{
    to->unwound += from->unwound;
    to->orphans += from->orphans;
    to->open += from->open;
    to->pauses_unmatched += from->pauses_unmatched;
    to->resumes_unmatched += from->resumes_unmatched;
}

/* Callbacks of probity_scopes_put(), each of which may be NULL. Pointers are valid during the call.
 * `event` is the event that caused it; NULL in probity_scopes_finish(). */
struct probity_scopes_listener {
    /* Called when a scope has begun. The event's values are its parameters, unless it is a
     * CHECKPOINT. */
    void (*opened)(void *context, struct probity_scope *scope, const struct probity_event *event);
    /* Called when a scope has ended, the innermost first. If `how` is LEFT, the event's values are
     * the return value. thread_slot identifies the thread. */
    void (*closed)(void *context, const struct probity_scope *scope, enum probity_scope_end how,
                   uint32_t thread_slot, const struct probity_event *event);
    void *context;
};

struct probity_scopes;

/* Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_scopes_open(struct probity_scopes **ret_scopes);

/* Call before the first event to compute recording overhead in the times of scopes, for traces that
 * contain its cost. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_scopes_want_costs(struct probity_scopes *scopes, const struct probity_reader *reader);

/* Call before the first event to count repairs of scopes that begin in [from_ns, to_ns) of
 * CLOCK_REALTIME only, and orphans and unmatched pauses in that range. to_ns 0: no end. */
void probity_scopes_set_range(struct probity_scopes *scopes, uint64_t from_ns, uint64_t to_ns);

/* Returns the number of open scopes that began in the range. */
uint64_t probity_scopes_pending(const struct probity_scopes *scopes);

/* Takes the next event of any kind in time order. Events unrelated to scopes only show that the
 * open scopes of their thread lasted at least until then. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_scopes_put(struct probity_scopes *scopes, const struct probity_event *event,
                       const struct probity_scopes_listener *listener);

/* Closes all open scopes, at the last record of their thread. */
void probity_scopes_finish(struct probity_scopes *scopes,
                           const struct probity_scopes_listener *listener);

/* Returns the innermost open scope of a thread, or NULL. Valid until the next call. */
const struct probity_scope *probity_scopes_top(const struct probity_scopes *scopes,
                                               uint32_t thread_slot);

/* Returns a thread's open scope at this depth, or NULL. Callbacks may use it to find the callers of
 * their scope and change their `user`. Valid until the next call. */
struct probity_scope *probity_scopes_at(const struct probity_scopes *scopes, uint32_t thread_slot,
                                        uint32_t depth);

/* Returns the number of open scopes of a thread. */
uint32_t probity_scopes_depth(const struct probity_scopes *scopes, uint32_t thread_slot);

const struct probity_scopes_repairs *probity_scopes_repairs(const struct probity_scopes *scopes);

void probity_scopes_close(struct probity_scopes *scopes);

#endif
