/* SPDX-License-Identifier: MIT
 *
 * posix/errno.h: glibc's variable with the name of the program, without its directory and without
 * .exe.
 */
#ifndef PROBITY_POSIX_ERRNO_H
#define PROBITY_POSIX_ERRNO_H

#include_next <errno.h>

#ifndef ESTALE
#define ESTALE 116
#endif

#define program_invocation_short_name probity_posix_program_name()
const char *probity_posix_program_name(void);

#endif
