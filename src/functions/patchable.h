/* SPDX-License-Identifier: MIT
 *
 * patchable.h: functions that were compiled with -fpatchable-function-entry=5 or more: they begin
 * with no-op instructions, which are replaced with a call to __fentry__ while the program runs.
 * Their addresses are in the section __patchable_function_entries, which is not trusted: bytes are
 * changed only if they are such instructions. One thread at a time.
 */
#ifndef PROBITY_FUNCTIONS_PATCHABLE_H
#define PROBITY_FUNCTIONS_PATCHABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/objects.h"

enum { PROBITY_PATCHABLE_BYTES = 5 };

struct probity_patchable_entry {
    uint8_t *at;      /* PROBITY_PATCHABLE_BYTES of code */
    int32_t distance; /* of the call */
    uint8_t is_long;  /* one instruction of five bytes, not five of one */
    uint8_t last;     /* its last byte, as the compiler made it */
    uint8_t is_on, is_changing;
};

/* Those of one object that are selected. */
struct probity_patchable {
    struct probity_patchable_entry *entries; /* NULL: none */
    size_t count, bytes; /* bytes: of the memory */
};

/* Replaces the selected entries of an object with calls; takes_all: all entries. Returns the number
 * of entries that it has, selected or not; 0 if none; or -1: errno says why its code cannot be
 * changed. */
long probity_patchable_take(const struct probity_object *object, const char *path,
                            int takes_all, struct probity_patchable *ret_patchable);

/* Whether the object still has the calls: another one may have been loaded at its address. */
int probity_patchable_is_there(const struct probity_patchable *patchable,
                               const struct probity_object *object);

/* Removes the calls for which are_removed(return address) is true, and restores the others. */
void probity_patchable_update(struct probity_patchable *patchable,
                              const struct probity_object *object,
                              int (*is_removed)(uintptr_t from));

void probity_patchable_forget(struct probity_patchable *patchable);

#endif
