/* SPDX-License-Identifier: MIT
 *
 * code_segments.h: the segments of an object that have code, and how their protection is changed:
 * what patchable.c, sled_patch.c and scope_sites.c have in common. Code becomes writable without
 * ceasing to be executable, in one call, so that a policy that forbids this leaves everything
 * unchanged.
 */
#ifndef PROBITY_FUNCTIONS_CODE_SEGMENTS_H
#define PROBITY_FUNCTIONS_CODE_SEGMENTS_H

#include <link.h>
#include <stddef.h>
#include <stdint.h>

#include "base/objects.h"

/* Returns whether the bytes are in a segment of the object with readable code, as in its file. */
int probity_code_has(const struct probity_object *object, uintptr_t address, size_t bytes);

/* Returns the protection of a segment in the object's headers. */
int probity_code_protection(const ElfW(Phdr) *segment);

/* Changes the protection of all pages with bytes from `first` to before `end`. Returns 0, or -1
 * with errno. */
int probity_code_protect(uintptr_t first, uintptr_t end, int protection);

/* Makes new memory executable, and no longer writable. Returns 0, or -1 with errno; then it is
 * unmapped. */
int probity_code_finish(uint8_t *made, size_t bytes);

/* Calls update, which returns 0, or -1 with errno, for each segment with code. Returns 0, or -1
 * with errno if one of them could not be updated, or if code must not be changed in this
 * process. */
int probity_code_update(const struct probity_object *object,
                        int (*update)(void *context, const ElfW(Phdr) *segment), void *context);

#endif
