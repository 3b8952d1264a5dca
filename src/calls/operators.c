/* SPDX-License-Identifier: MIT
 *
 * operators.c: replacements for C++'s operators new and delete, which call those of the C++ library
 * and record the allocation: calls to malloc() would be recorded with a place in the C++ library,
 * and libraries that replace malloc() do not call it. A program's own operators take precedence
 * over these.
 */
#include "calls/memory.h"

/* Position of the frame of the operator new in progress. If the frame of a later one is above it,
 * nearer to the beginning of the stack, an exception has left the earlier one. */
static __thread uintptr_t new_frame __attribute__((tls_model("initial-exec")));

/* ---- new ---------------------------------------------------------------------------------------
 */

static int is_inside_new(uintptr_t frame)
{
    return probity_calls_new != PROBITY_CALLS_NEW_NONE && frame < new_frame;
}

/* Defines operators to be used until a C++ library is loaded. dlopen() may load one, whose
 * operators these then replace. */
#define NEWS(name, shown, parameters, arguments)                                                   \
    static void *late_##name parameters                                                            \
    {                                                                                              \
        void *found = probity_calls_find_now(#name);                                               \
                                                                                                   \
        if (found == NULL)                                                                         \
            return probity_calls_next.malloc(bytes);                                               \
        probity_calls_next.name = (__typeof__(name) *)(uintptr_t)found;                            \
        return probity_calls_next.name arguments;                                                  \
    }                                                                                              \
    PROBITY_CALLS_ALLOCATES(site_##name, shown);                                                   \
    PROBITY_CALLS_WRAP(PROBITY_CALLS_MEMORY, void *, name, parameters, arguments)                  \
    {                                                                                              \
        const void *place = PROBITY_CALLS_PLACE;                                                   \
        uintptr_t frame = probity_scope_frame_at();                                                \
                                                                                                   \
        if (!probity_calls_are_of_program(place) || is_inside_new(frame))                          \
            return probity_calls_next.name arguments;                                              \
        probity_calls_new = PROBITY_CALLS_NEW_BEGUN;                                               \
        new_frame = frame;                                                                         \
        void *at = probity_calls_next.name arguments;                                              \
        if (probity_calls_new != PROBITY_CALLS_NEW_NONE)                                           \
            probity_calls_allocated(&site_##name, at, bytes, place);                               \
        probity_calls_new = PROBITY_CALLS_NEW_NONE;                                                \
        return at;                                                                                 \
    }

NEWS(_Znwm, "new", (size_t bytes), (bytes))
NEWS(_Znam, "new[]", (size_t bytes), (bytes))
NEWS(_ZnwmRKSt9nothrow_t, "new", (size_t bytes, const void *nothrow), (bytes, nothrow))
NEWS(_ZnamRKSt9nothrow_t, "new[]", (size_t bytes, const void *nothrow), (bytes, nothrow))
NEWS(_ZnwmSt11align_val_t, "new", (size_t bytes, size_t alignment), (bytes, alignment))
NEWS(_ZnamSt11align_val_t, "new[]", (size_t bytes, size_t alignment), (bytes, alignment))
NEWS(_ZnwmSt11align_val_tRKSt9nothrow_t, "new",
     (size_t bytes, size_t alignment, const void *nothrow), (bytes, alignment, nothrow))
NEWS(_ZnamSt11align_val_tRKSt9nothrow_t, "new[]",
     (size_t bytes, size_t alignment, const void *nothrow), (bytes, alignment, nothrow))

/* ---- delete ------------------------------------------------------------------------------------
 */

#define DELETES(name, shown, parameters, arguments)                                                \
    static void late_##name parameters                                                             \
    {                                                                                              \
        void *found = probity_calls_find_now(#name);                                               \
                                                                                                   \
        if (found != NULL)                                                                         \
            probity_calls_next.name = (__typeof__(name) *)(uintptr_t)found;                        \
        if (found != NULL)                                                                         \
            probity_calls_next.name arguments;                                                     \
        else                                                                                       \
            probity_calls_next.free(at);                                                           \
    }                                                                                              \
    PROBITY_CALLS_FREES(site_##name, shown);                                                       \
    PROBITY_CALLS_WRAP_VOID(PROBITY_CALLS_MEMORY, name, parameters, arguments)                     \
    {                                                                                              \
        const void *place = PROBITY_CALLS_PLACE;                                                   \
                                                                                                   \
        if (at == NULL || probity_calls_deleted == at || !probity_calls_are_of_program(place)) {   \
            probity_calls_next.name arguments;                                                     \
            return;                                                                                \
        }                                                                                          \
        probity_calls_freed(&site_##name, at, 0, place);                                           \
        probity_calls_deleted = at;                                                                \
        probity_calls_next.name arguments;                                                         \
        probity_calls_deleted = NULL;                                                              \
    }

DELETES(_ZdlPv, "delete", (void *at), (at))
DELETES(_ZdaPv, "delete[]", (void *at), (at))
DELETES(_ZdlPvm, "delete", (void *at, size_t bytes), (at, bytes))
DELETES(_ZdaPvm, "delete[]", (void *at, size_t bytes), (at, bytes))
DELETES(_ZdlPvRKSt9nothrow_t, "delete", (void *at, const void *nothrow), (at, nothrow))
DELETES(_ZdaPvRKSt9nothrow_t, "delete[]", (void *at, const void *nothrow), (at, nothrow))
DELETES(_ZdlPvSt11align_val_t, "delete", (void *at, size_t alignment), (at, alignment))
DELETES(_ZdaPvSt11align_val_t, "delete[]", (void *at, size_t alignment), (at, alignment))
DELETES(_ZdlPvmSt11align_val_t, "delete", (void *at, size_t bytes, size_t alignment),
        (at, bytes, alignment))
DELETES(_ZdaPvmSt11align_val_t, "delete[]", (void *at, size_t bytes, size_t alignment),
        (at, bytes, alignment))
DELETES(_ZdlPvSt11align_val_tRKSt9nothrow_t, "delete",
        (void *at, size_t alignment, const void *nothrow), (at, alignment, nothrow))
DELETES(_ZdaPvSt11align_val_tRKSt9nothrow_t, "delete[]",
        (void *at, size_t alignment, const void *nothrow), (at, alignment, nothrow))


void probity_calls_operators_prepare(void)
{
#define SET_LATE(name)                                                                             \
    if (probity_calls_next.name == NULL)                                                           \
        probity_calls_next.name = late_##name;
    PROBITY_CALLS_NAMES_NEW(SET_LATE)
    PROBITY_CALLS_NAMES_DELETE(SET_LATE)
#undef SET_LATE
}
