/* SPDX-License-Identifier: MIT
 *
 * temporary.h: files that get their name only once they are whole: without any until then where
 * the file system can, so that a process which is killed leaves nothing; else under another name.
 */
#ifndef PROBITY_BASE_TEMPORARY_H
#define PROBITY_BASE_TEMPORARY_H

/* "PATH.0123abcd.tmp" in the folder of a path, with a number that nobody else has: a file of that
 * name is made with O_EXCL. Of a long name the end is left out. malloc'ed; NULL: no memory. */
char *probity_temporary_name(const char *path);

/* A new file without a name, for reading and writing, in the folder that `path` names a file of; it
 * is gone when its descriptor is closed. path is cut meanwhile, and whole again afterwards. -1
 * where there is no such thing, or no way to name it later. */
int probity_temporary_unnamed(char *path, unsigned mode);

/* Gives it a name that must be free. Returns 0, or -1 with errno. */
int probity_temporary_link(int unnamed, const char *path);

/* A new file for what is to take its name later: without one, *ret_is_unnamed, or `name`, which
 * must be free. Returns a descriptor, or -1 with errno. */
int probity_temporary_open(char *name, int *ret_is_unnamed);

/* Gives an unnamed one its name, by a copy where a filter of system calls forbids links. Returns 0,
 * or -1 with errno: then there is nothing of that name. */
int probity_temporary_keep(int unnamed, const char *name);

#endif
