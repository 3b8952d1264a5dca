/* SPDX-License-Identifier: MIT
 *
 * scope_sites.h: scopes of FnTrace.h in files that were compiled with PROBITY_PATCHABLE. Such a
 * scope begins and ends with a no-op instruction. Replacing its first byte while the program runs
 * turns it into a call or, at the enter of a scope with values, a jump:
 *
 *     a9 DISTANCE    test $DISTANCE, %eax
 *     e8 DISTANCE    call to the code in probity_stubs, which jumps to a hook in sites_x86_64.S
 *     e9 DISTANCE    jump to the code in probity_stubs, which jumps back into the function, to
 *                    where the values are evaluated and probity_scope_enter_values_hook is called
 *
 * Storing one byte is atomic, so a thread executes one or the other. The addresses are in the
 * section probity_sites, which is not trusted: a byte is changed only if it belongs to such an
 * instruction.
 */
#ifndef PROBITY_FUNCTIONS_SCOPE_SITES_H
#define PROBITY_FUNCTIONS_SCOPE_SITES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/objects.h"
#include "base/pairs.h"
#include "probity_scope.h"

/* The sites of one object. */
struct probity_scope_sites {
    const uint8_t *table; /* the section; NULL: none */
    size_t count;
    int is_on;
};

/* Finds the sites of an object. Changes nothing. */
void probity_scope_sites_take(const struct probity_object *object, const char *path,
                              struct probity_scope_sites *ret_sites);

/* Returns whether the sites are still in memory as this library left them: another object may have
 * been loaded there. */
int probity_scope_sites_are_there(const struct probity_scope_sites *sites,
                                  const struct probity_object *object);

/* Patches all sites, or restores them. One thread at a time. Returns 0, or -1 with errno if some
 * could not be changed. */
int probity_scope_sites_change(struct probity_scope_sites *sites,
                               const struct probity_object *object, int is_on);

/* In this process: number of scopes, and of objects that have them. */
struct probity_scope_sites_found {
    uint32_t scopes, objects;
};
extern struct probity_scope_sites_found probity_scope_sites_found
    __attribute__((visibility("hidden")));

/* Chooses the value of is_open for scopes entered from now on. Call before sites are patched, so
 * that no scope entered earlier counts as open. */
void probity_scope_sites_renew(void);

/* Returns whether this or another copy of the library has patched sites before. */
int probity_scope_sites_are_calls(void);

/* Called by the hooks, without vector registers. frame: as in probity_scope_enter_frame(); back:
 * return address of the site. */
void probity_site_enter(struct probity_scope_here *scope, struct probity_site_function *function,
                        uintptr_t frame, const uint8_t *back)
    __attribute__((visibility("hidden")));
void probity_site_leave(struct probity_scope_here *scope) __attribute__((visibility("hidden")));

/* Records the leave of a closed scope, with the value. */
void probity_site_leave_value(const struct probity_scope_here *scope)
    __attribute__((visibility("hidden")));

/* Returns the code in probity_stubs of an enter that returns to `back`, and the note, whose
 * distance is stored before that code. The second byte of a note is the level. */
static inline const uint8_t *probity_site_stub(const uint8_t *back)
{
    int32_t distance;

    memcpy(&distance, back - sizeof distance, sizeof distance);
    return back + distance;
}

static inline const uint8_t *probity_site_note(const uint8_t *back)
{
    const uint8_t *at = probity_site_stub(back) - sizeof(int32_t);
    int32_t distance;

    memcpy(&distance, at, sizeof distance);
    return at + distance;
}

/* Handles all unusual cases. */
void probity_site_enter_unusual(struct probity_scope_here *scope, uintptr_t frame,
                                const uint8_t *back)
    __attribute__((visibility("hidden")));

/* For scopes in one frame: pairs of instructions that are not known to be in different
 * functions. */
extern struct probity_pairs probity_site_pairs __attribute__((visibility("hidden")));

extern PROBITY_API uint64_t probity_scope_epoch;
PROBITY_API void probity_scope_site_enter_hook(void);
PROBITY_API void probity_scope_site_leave_hook(void);
PROBITY_API void probity_scope_sites_loaded(void);

#endif
