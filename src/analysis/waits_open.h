/* SPDX-License-Identifier: MIT
 *
 * waits_open.h: what threads currently wait for.
 */
#ifndef PROBITY_ANALYSIS_WAITS_OPEN_H
#define PROBITY_ANALYSIS_WAITS_OPEN_H

#include "analysis/waits_parts.h"

/* The kind of a function. Only calls to the C library that may wait have one. */
struct waits_class {
    const char *file;
    int is_call, may_wait;
    enum probity_wait_kind kind;
};

/* Finds the class by comparing texts. */
const struct waits_class *waits_class_find(const struct probity_function *function);

/* Caches the class for each function in each thread. */
static inline const struct waits_class *waits_class_of(const struct probity_scope *scope)
{
    if (__builtin_expect(*scope->of_function == NULL, 0))
        *scope->of_function = (void *)(uintptr_t)waits_class_find(scope->function);
    return *scope->of_function;
}

/* Returns the beginning of the outermost open call to the C library that may become a wait, if the
 * thread has used CPU time since then; UINT64_MAX if there is no such call. */
uint64_t waits_oldest_call_ns(const struct probity_waits *waits, const struct wait_thread *thread);

/* Whether the wait began in the range of the analysis. */
static inline int waits_is_in_range(const struct probity_waits *waits,
                                    const struct open_wait *wait)
{
    return wait->from_ns >= waits->from_ns && (waits->to_ns == 0 || wait->from_ns < waits->to_ns);
}

/* Begins a wait for the object, now or, for a wait of a saved state, earlier. The caller has filled
 * in the description. */
void waits_open_begin(struct probity_waits *waits, struct wait_object *object,
                      struct open_wait *wait);

/* Ends the wait: it is over, or its end is not in the trace. */
void waits_open_end(struct probity_waits *waits, struct open_wait *wait);

#endif
