/* SPDX-License-Identifier: MIT
 *
 * log_names.h: data of each function for a log, computed once: its signature as safe text, and
 * whether it passes the filters.
 */
#ifndef PROBITY_LOG_LOG_NAMES_H
#define PROBITY_LOG_LOG_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/hashtable.h"
#include "log/log.h"

struct log_name {
    struct probity_link link;
    const struct probity_function *function;
    char *text; /* with color and line feed */
    uint32_t bytes;
    uint8_t is_wanted; /* passes the level filter */
    uint8_t is_named;  /* its name matches a pattern */
};

struct log_names {
    struct probity_hashtable table;
};

/* Looks up a function. Returns NULL if it has not been computed yet. */
static inline const struct log_name *log_names_find(const struct log_names *names,
                                                    const struct probity_function *function)
{
    const struct log_name *name =
        probity_hashtable_at(&names->table, probity_hash((uintptr_t)function));

    while (name != NULL && name->function != function)
        name = (const struct log_name *)name->link.next;
    return name;
}

/* Computes the text of a function that was not found. Returns NULL if out of memory. */
const struct log_name *log_names_make(struct log_names *names,
                                      const struct probity_log_options *options,
                                      const struct probity_function *function);

void log_names_release(struct log_names *names);

#endif
