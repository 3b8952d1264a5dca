/* SPDX-License-Identifier: MIT
 *
 * posix/fnmatch.h: matches a name with a pattern of *, ? and [].
 */
#ifndef PROBITY_POSIX_FNMATCH_H
#define PROBITY_POSIX_FNMATCH_H

/* Returns 0 if it matches. flags: 0. */
int fnmatch(const char *pattern, const char *text, int flags) __asm__("probity_posix_fnmatch");

#endif
