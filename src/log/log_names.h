/* SPDX-License-Identifier: MIT
 *
 * log_names.h: what a log needs to know of each function, computed once: its signature as safe
 * text, and whether it passes the filters.
 */
#ifndef PROBITY_LOG_LOG_NAMES_H
#define PROBITY_LOG_LOG_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "log/log.h"

struct log_name {
    const struct probity_function *function;
    char *text; /* with color and line feed */
    uint32_t bytes;
    uint8_t is_wanted; /* passes the level filter */
    uint8_t is_named;  /* matches a pattern */
};

struct log_names {
    struct log_name *places; /* open addressing, at most half full */
    size_t count, capacity;  /* capacity: a power of two, or 0 */
};

/* The entry for a function, used or free; the table must not be empty. */
static inline struct log_name *log_names_place(const struct log_names *names,
                                               const struct probity_function *function)
{
    size_t mask = names->capacity - 1;
    size_t place = (size_t)probity_hash((uintptr_t)function);

    for (place &= mask; names->places[place].function != NULL; place = (place + 1) & mask) {
        if (names->places[place].function == function)
            break;
    }
    return &names->places[place];
}

/* Looks up a function. NULL if it has not been computed yet. */
static inline const struct log_name *log_names_find(const struct log_names *names,
                                                    const struct probity_function *function)
{
    if (names->capacity == 0)
        return NULL;
    const struct log_name *name = log_names_place(names, function);
    return name->function != NULL ? name : NULL;
}

/* Looks up a function, computing its text if necessary. NULL if out of memory. Valid until the next
 * call that computes one. */
const struct log_name *log_names_make(struct log_names *names,
                                      const struct probity_log_options *options,
                                      const struct probity_function *function);

void log_names_release(struct log_names *names);

#endif
