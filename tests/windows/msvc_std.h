/* SPDX-License-Identifier: MIT
 *
 * msvc_std.h: for clang in its mode for MSVC, the standard headers of gcc and mingw-w64, since
 * those of MSVC are not free. They are included as by gcc; the code after them is compiled as by
 * MSVC again.
 */
#ifndef MSVC_STD_H
#define MSVC_STD_H

#undef _MSC_VER
#undef __GNUC__
#undef __GNUC_MINOR__
#define __GNUC__ 12
#define __GNUC_MINOR__ 2
#define __MINGW32__ 1
#define __GCC_ATOMIC_TEST_AND_SET_TRUEVAL 1
#define __GCC_ATOMIC_POINTER_LOCK_FREE 2
#define __STRICT_ANSI__ 1
#ifdef __cplusplus
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#if __cplusplus >= 201703L
#include <optional>
#include <string_view>
#include <variant>
#endif
#include <map>
#include <vector>
#endif
#include <errno.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>
#undef __GNUC__
#undef __GNUC_MINOR__
#undef __MINGW32__
#undef __STRICT_ANSI__
#define _MSC_VER 1929
#undef __forceinline
#undef __int64
/* Which mingw-w64 declares differently. */
#define _setjmp msvc_setjmp
#include <intrin.h>
#undef _setjmp

#endif
