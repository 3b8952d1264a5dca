/* SPDX-License-Identifier: MIT
 *
 * posix/limits.h: limits of paths.
 */
#ifndef PROBITY_POSIX_LIMITS_H
#define PROBITY_POSIX_LIMITS_H

#include_next <limits.h>

#undef PATH_MAX
#define PATH_MAX 4096
#undef NAME_MAX
#define NAME_MAX 255

#endif
