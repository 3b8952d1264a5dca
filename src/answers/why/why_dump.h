/* SPDX-License-Identifier: MIT
 *
 * why_dump.h: the call or block for which a dump was made.
 */
#ifndef PROBITY_ANSWERS_WHY_WHY_DUMP_H
#define PROBITY_ANSWERS_WHY_WHY_DUMP_H

#include "reader/reader.h"

/* All zero means none. Texts live as long as the facts. */
struct probity_why_dump {
    struct probity_dump_reason reason; /* of kind function or block */
    uint64_t within_tick;              /* the call or block is open at this tick */
    uint64_t limit_ns;                 /* limit in force; 0: none */
};

/* Finds the reason that exceeded its limit most. Returns 1, or 0 if the trace is not a dump caused
 * by a function or block. */
int probity_why_dump_find(const struct probity_trace_facts *facts,
                          struct probity_why_dump *ret_dump);

/* The reason for a dump that has no such reason, and the command that shows it. */
struct probity_why_dump_other {
    const char *what, *command;
};

/* Describes the first reason of a dump. Returns 1, or 0 if the trace is not a dump. */
int probity_why_dump_other(const struct probity_trace_facts *facts,
                           struct probity_why_dump_other *ret_other);

/* Whether a function is the slow one: 1 or 0. */
int probity_why_dump_is_function(const struct probity_why_dump *dump,
                                 const struct probity_function *function);

/* Returns 1 if a hit begins the block, 2 if it ends it, 3 for both, or 0. */
unsigned probity_why_dump_marks(const struct probity_why_dump *dump,
                                const struct probity_event *event);

#endif
