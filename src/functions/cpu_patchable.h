/* SPDX-License-Identifier: MIT
 *
 * cpu_patchable.h: the part of patchable.c that depends on the processor: the instructions of an
 * entry, their replacement, and its destination. Only if PROBITY_CPU_HAS_SLEDS is 1.
 */
#ifndef PROBITY_FUNCTIONS_CPU_PATCHABLE_H
#define PROBITY_FUNCTIONS_CPU_PATCHABLE_H

#include "base/cpu.h"
#include "functions/patchable.h"

/* Number of bytes that are replaced; a call, or the hook, gets the address after them. */
enum { PROBITY_PATCHABLE_BYTES = PROBITY_CPU_HAS_FENTRY ? 5 : 4 };

/* The entries in one segment. */
struct probity_patchable_range {
    uintptr_t first, last; /* first > last: none */
    int protection;        /* protection of the segment */
    size_t count;
    int has_short;    /* x86-64: entries of five nops */
    int32_t distance; /* distance of their calls */
    uintptr_t place;  /* called by all others */
};

static inline int probity_patchable_is_in(const struct probity_patchable_range *range,
                                          const struct probity_patchable_entry *entry)
{
    return (uintptr_t)entry->at >= range->first && (uintptr_t)entry->at <= range->last;
}

/* Returns 0 if the code at the address, which is readable, is not that of a patchable entry. */
int probity_cpu_patchable_examine(uintptr_t address, struct probity_patchable_entry *ret_entry);

/* Returns whether the code is still as this library left it; it is not if the object was unloaded
 * and another one loaded there. */
int probity_cpu_patchable_is_as_left(const struct probity_patchable_entry *entry);

/* Maps and fills the memory that the entries of the range lead to, and stores their distances. The
 * memory is writable and not executable yet. Returns NULL if there is none. */
uint8_t *probity_cpu_patchable_make_places(struct probity_patchable_range *range,
                                           struct probity_patchable *patchable,
                                           size_t *ret_bytes);

/* Switches the entries that are marked as changing, while threads execute their code, which must be
 * writable. */
void probity_cpu_patchable_change(struct probity_patchable *patchable);

#endif
