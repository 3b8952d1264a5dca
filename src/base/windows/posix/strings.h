/* SPDX-License-Identifier: MIT
 *
 * posix/strings.h: compares without regard to case.
 */
#ifndef PROBITY_POSIX_STRINGS_H
#define PROBITY_POSIX_STRINGS_H

#include <stddef.h>

int strcasecmp(const char *one, const char *other) __asm__("_stricmp");
int strncasecmp(const char *one, const char *other, size_t most) __asm__("_strnicmp");

#endif
