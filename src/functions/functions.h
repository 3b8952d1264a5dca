/* SPDX-License-Identifier: MIT
 *
 * functions.h: the descriptor of a function known only by its address. Its name comes from
 * the symbol table of the file that it was loaded from.
 */
#ifndef PROBITY_FUNCTIONS_FUNCTIONS_H
#define PROBITY_FUNCTIONS_FUNCTIONS_H

#include <stdint.h>

#include "base/objects.h"
#include "probity_scope.h"

/* The level of functions that have no macro: recorded unless `probity level` or PROBITY_LEVEL
 * lowers it. */
enum { PROBITY_FUNCTIONS_LEVEL = 5 };

/* The descriptor of all functions that PROBITY_SELECT excludes. */
extern struct probity_site_function probity_function_left_out;

struct probity_entry {
    uintptr_t address; /* that of a function, or inside one; 0: free */
    struct probity_site_function *function;
};

/* A hash table with open addressing; NULL before the first call. */
enum { PROBITY_ENTRIES = 1 << 18 };
extern struct probity_entry *probity_entries;

static inline uint32_t probity_entry_place(uintptr_t address)
{
    return (uint32_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 46);
}

/* Returns the descriptor if it is in the first place for this address; otherwise NULL, although it
 * may be in another place. */
static inline struct probity_site_function *probity_function_at_once(uintptr_t address)
{
    struct probity_entry *all = __atomic_load_n(&probity_entries, __ATOMIC_ACQUIRE);

    if (__builtin_expect(all == NULL, 0))
        return NULL;
    struct probity_entry *entry = &all[probity_entry_place(address)];
    return __atomic_load_n(&entry->address, __ATOMIC_RELAXED) == address
               ? __atomic_load_n(&entry->function, __ATOMIC_ACQUIRE)
               : NULL;
}

/* Returns the descriptor. It is made at the first call, which takes microseconds, or milliseconds
 * if it is the first of its object. NULL if out of memory, or if this was called from within
 * itself. Any thread, async-signal-safe; preserves errno. */
struct probity_site_function *probity_function_find(uintptr_t address);

/* Makes this the descriptor of an address that the program does not call. Returns 0, or -1 if
 * the table is full. */
int probity_function_put(uintptr_t address, struct probity_site_function *function);

/* Returns whether PROBITY_SELECT has rules. */
int probity_functions_are_selected(void);

/* Does the same for an address in the function: the return address of its call of __fentry__. */
struct probity_site_function *probity_function_find_inside(uintptr_t address);

/* Replaces the rules of PROBITY_SELECT: every function is selected again when it is next found.
 * Returns whether they differ from the previous ones, or -1: out of memory. One thread at a
 * time. */
int probity_functions_select(const char *rules);

/* Call when libraries may have been unloaded: discards their functions. Any thread. */
void probity_functions_unloaded(void);

/* Returns whether the code of an object calls __return__ (returns.c). Without
 * -minstrument-return=call a function calls only __fentry__, and its end is unknown. Reads
 * relocations; reads code only in an object into which this library is linked. Any thread,
 * async-signal-safe. */
int probity_object_calls_return(const struct probity_object *object);

#endif
