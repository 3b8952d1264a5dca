/* SPDX-License-Identifier: MIT
 *
 * names.h: names of probes, sites and functions that a trace has declared so far.
 */
#ifndef PROBITY_READER_NAMES_H
#define PROBITY_READER_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/hashtable.h"

struct probity_function;

struct probity_name {
    struct probity_link link;
    uint64_t code; /* stream code without its offset */
    char *bytes;  /* owned by the function, if there is one */
    const struct probity_function *function; /* which has the site as enter or leave; NULL: none */
    uint32_t length;
};

enum { PROBITY_NAMES_RECENT = 64 };

struct probity_names {
    struct probity_hashtable table;
    /* Takes ownership of a former name, to be freed once no event refers to it. NULL: it is freed
     * at once. */
    void (*renamed)(void *context, char *name);
    void *context;
    uint64_t changes; /* number of names set so far */
    const struct probity_name *recent[PROBITY_NAMES_RECENT]; /* by code; NULL: none */
};

/* Copies the name of a hit code. A site keeps its first name, a probe gets its latest. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_names_set(struct probity_names *names, uint64_t code, const uint8_t *bytes,
                      size_t length);

/* Makes a site the enter or leave of a function, which must outlive the table. A site that has a
 * name keeps it. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_names_set_function(struct probity_names *names, uint64_t code,
                               const struct probity_function *function);

/* Returns NULL if it has no name. */
const struct probity_name *probity_names_find(const struct probity_names *names, uint64_t code);

/* The same, and caches the result. */
const struct probity_name *probity_names_remember(struct probity_names *names, uint64_t code);

/* The same, fast for codes that occur repeatedly. */
static inline const struct probity_name *probity_names_get(struct probity_names *names,
                                                           uint64_t code)
{
    const struct probity_name *name = names->recent[code % PROBITY_NAMES_RECENT];

    return __builtin_expect(name != NULL && name->code == code, 1)
               ? name
               : probity_names_remember(names, code);
}

/* Updates the names of functions, after probity_function_complete(). */
void probity_names_refresh(struct probity_names *names);

void probity_names_release(struct probity_names *names);

#endif
