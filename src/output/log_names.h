/* SPDX-License-Identifier: MIT
 *
 * log_names.h: what a log prints for each function, made once: its signature as safe text, and
 * whether the filters want it.
 */
#ifndef PROBITY_OUTPUT_LOG_NAMES_H
#define PROBITY_OUTPUT_LOG_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/scatter.h"
#include "output/log.h"

struct log_name {
    const struct probity_function *function;
    char *text; /* with colour, and the end of the line */
    uint32_t bytes;
    uint8_t is_wanted; /* its level is */
    uint8_t is_named;  /* a pattern names it */
};

struct log_names {
    struct log_name *places; /* a hash table with open addressing; at most half full */
    size_t count, capacity;  /* capacity: a power of two, or 0 */
};

/* Where a function is, or would be; only of a table that is not empty. */
static inline struct log_name *log_names_place(const struct log_names *names,
                                               const struct probity_function *function)
{
    size_t mask = names->capacity - 1;
    size_t place = (size_t)probity_scatter((uintptr_t)function);

    for (place &= mask; names->places[place].function != NULL; place = (place + 1) & mask) {
        if (names->places[place].function == function)
            break;
    }
    return &names->places[place];
}

/* Looks up, without making. NULL where it was not made yet. */
static inline const struct log_name *log_names_find(const struct log_names *names,
                                                    const struct probity_function *function)
{
    if (names->capacity == 0)
        return NULL;
    const struct log_name *name = log_names_place(names, function);
    return name->function != NULL ? name : NULL;
}

/* Makes what is not there yet. NULL without memory. Valid until the next is made. */
const struct log_name *log_names_make(struct log_names *names,
                                      const struct probity_log_options *options,
                                      const struct probity_function *function);

void log_names_release(struct log_names *names);

#endif
