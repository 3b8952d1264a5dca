/* SPDX-License-Identifier: MIT
 *
 * why_dump.h: the call or block for which a dump was made.
 */
#ifndef PROBITY_ANSWERS_WHY_WHY_DUMP_H
#define PROBITY_ANSWERS_WHY_WHY_DUMP_H

#include "reader/reader.h"

/* All zero: none. The texts live as long as the facts. */
struct probity_why_dump {
    struct probity_dump_reason reason; /* of kind function or block */
    uint64_t within_tick;              /* the call or block is open at this tick */
    uint64_t limit_ns;                 /* in force; 0: none */
};

/* Finds the reason that exceeded its limit most. Returns 1, or 0 if the trace is not a dump caused
 * by a function or block. */
int probity_why_dump_find(const struct probity_trace_facts *facts,
                          struct probity_why_dump *ret_dump);

/* What a dump was made for if it has no such reason, and which command shows it. */
struct probity_why_dump_other {
    const char *what, *command;
};

/* Describes the first reason of a dump. Returns 1, or 0 if the trace is not a dump. */
int probity_why_dump_other(const struct probity_trace_facts *facts,
                           struct probity_why_dump_other *ret_other);

/* Whether a function is the one that was slow: 1 or 0. */
int probity_why_dump_is_function(const struct probity_why_dump *dump,
                                 const struct probity_function *function);

/* Whether a hit begins (bit 1) and ends (bit 2) the block. */
unsigned probity_why_dump_marks(const struct probity_why_dump *dump,
                                const struct probity_event *event);

#endif
