/* SPDX-License-Identifier: MIT
 *
 * temporary.h: names for what takes its own name only once it is whole.
 */
#ifndef PROBITY_BASE_TEMPORARY_H
#define PROBITY_BASE_TEMPORARY_H

/* "PATH.0123abcd.tmp" in the folder of a path, with a number that nobody else has: a file of that
 * name is made with O_EXCL. Of a long name the end is left out. malloc'ed; NULL: no memory. */
char *probity_temporary_name(const char *path);

#endif
