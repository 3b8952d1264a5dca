/* SPDX-License-Identifier: MIT
 *
 * patchable.h: functions that were compiled with -fpatchable-function-entry=5 or more, on AArch64
 * with =1 or more: they begin with no-op instructions, which are replaced, while the program runs,
 * with a call to __fentry__ or, on AArch64, with a branch to a stub. Their addresses are in the
 * section __patchable_function_entries, which is not trusted: bytes are changed only if they are
 * such instructions. One thread at a time.
 */
#ifndef PROBITY_FUNCTIONS_PATCHABLE_H
#define PROBITY_FUNCTIONS_PATCHABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/objects.h"

struct probity_patchable_entry {
    uint8_t *at;      /* the code that is replaced */
    int32_t distance; /* that of the call, or of the branch to the stub */
    uint8_t is_long;  /* one instruction of five bytes, not five of one */
    uint8_t last;     /* its last byte, as the compiler made it */
    uint8_t is_on, is_changing;
};

/* Memory that the entries of one segment call. */
struct probity_patchable_places {
    uint8_t *at;
    size_t bytes;
    uintptr_t first; /* of these entries */
};

enum { PROBITY_PATCHABLE_SEGMENTS_MAX = 8 };

/* The selected entries of one object. */
struct probity_patchable {
    struct probity_patchable_entry *entries; /* NULL: none */
    size_t count, bytes; /* bytes: size of the memory */
    struct probity_patchable_places places[PROBITY_PATCHABLE_SEGMENTS_MAX];
    size_t place_count;
};

/* Finds the selected entries of an object; takes_all: all entries. Changes nothing. Returns the
 * number of its entries, selected or not; 0 if none; or -1 with errno. */
long probity_patchable_take(const struct probity_object *object, const char *path,
                            int takes_all, struct probity_patchable *ret_patchable);

/* Returns whether the object's code is still as this library left it: another one may have been
 * loaded at its address. */
int probity_patchable_is_there(const struct probity_patchable *patchable,
                               const struct probity_object *object);

/* Removes the calls for which is_removed(return address) is true, byte for byte, and inserts all
 * others. Returns 0, or -1 with errno if some could not be changed: each of them is unchanged, and
 * may be changed by another call. */
int probity_patchable_update(struct probity_patchable *patchable,
                             const struct probity_object *object,
                             int (*is_removed)(uintptr_t from));

/* Returns whether the update above would leave or put a call in a function whose ends must be
 * recorded, according to the rules in effect (rules.h). */
int probity_patchable_lacks_ends(const struct probity_patchable *patchable,
                                 int (*is_removed)(uintptr_t from), const char *rules);

/* Call for an object that is no longer loaded, or has no calls. */
void probity_patchable_forget(struct probity_patchable *patchable);

#endif
