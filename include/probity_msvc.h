/* SPDX-License-Identifier: MIT
 *
 * probity_msvc.h: the parts of probity.h for MSVC and compatible compilers (clang-cl), without
 * statement expressions, attributes and assembly. Used only by probity.h.
 *
 * Such programs use libprobity.dll. A probe is inline, as with gcc, but reserves its word with a
 * locked instruction, since no intrinsic adds to memory in one instruction without a lock.
 */
#include <stdint.h>

#if defined(PROBITY_MSVC) && !defined(PROBITY_MSVC_H)
#define PROBITY_MSVC_H

#include <intrin.h>

#define PROBITY_API __declspec(dllimport)
#define PROBITY_INLINE static __forceinline
#define PROBITY_COLD

#ifdef __cplusplus
#define PROBITY_MSVC_CAST(type, expression) reinterpret_cast<type>(expression)
#define PROBITY_LOAD(type, at) (*static_cast<const volatile type *>(at))
#else
#define PROBITY_MSVC_CAST(type, expression) ((type)(expression))
#define PROBITY_LOAD(type, at) (*(const volatile type *)(at))
#endif
#define PROBITY_EXPECT(value, expected) (value)
/* x86 makes stores visible in program order; only the compiler must be kept from reordering
 * them. */
#define PROBITY_PUBLISH(at, word) (_ReadWriteBarrier(), (void)(*(at) = (word)))

/* Adds a number and returns the previous value. */
#define PROBITY_ADD(at, number)                                                                    \
    PROBITY_CAST(uint64_t, _InterlockedExchangeAdd64(                                              \
                               PROBITY_MSVC_CAST(volatile __int64 *, at),                          \
                               PROBITY_CAST(__int64, number)))

/* The pointer at this offset in the thread environment block. */
#ifdef _M_X64
#define PROBITY_OF_THREAD(type, offset)                                                            \
    PROBITY_MSVC_CAST(type *, __readgsqword(PROBITY_CAST(unsigned long, offset)))
#else
#define PROBITY_OF_THREAD(type, offset) PROBITY_CAST(type *, NULL)
#endif

#endif
