/* SPDX-License-Identifier: MIT
 *
 * posix/sys/types.h: types of POSIX.
 */
#ifndef PROBITY_POSIX_SYS_TYPES_H
#define PROBITY_POSIX_SYS_TYPES_H

#include_next <sys/types.h>
#include <stdint.h>

#undef SEEK_SET
#undef SEEK_CUR
#undef SEEK_END
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define SEEK_DATA 3 /* fails */

typedef int64_t off_t;
typedef unsigned mode_t;
typedef int pid_t;
typedef unsigned uid_t;

#endif
