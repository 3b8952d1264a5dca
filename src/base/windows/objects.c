/* SPDX-License-Identifier: MIT
 *
 * windows/objects.c: objects.h. Portable executables contain no notes, so none are listed.
 */
#include "base/objects.h"

#include <windows.h>

int probity_object_executable(struct probity_object *ret_object)
{
    *ret_object = (struct probity_object){"", (uintptr_t)GetModuleHandleW(NULL), NULL, 0};
    return 0;
}

void probity_objects_each(uint64_t *loads, probity_object_take *take, void *context)
{
    (void)loads;
    (void)take;
    (void)context;
}

size_t probity_object_bytes(const struct probity_object *object, const void *at)
{
    (void)object;
    (void)at;
    return 0;
}

void probity_object_notes(const struct probity_object *object, const char *owner, uint32_t type,
                          probity_object_take_note *take, void *context)
{
    (void)object;
    (void)owner;
    (void)type;
    (void)take;
    (void)context;
}
