/* SPDX-License-Identifier: MIT
 *
 * temporary.h: files that get their names only when complete. Until then they are unnamed if the
 * file system supports that, so that a killed process leaves nothing behind; otherwise they have a
 * temporary name.
 */
#ifndef PROBITY_BASE_TEMPORARY_H
#define PROBITY_BASE_TEMPORARY_H

/* directory: a descriptor, or AT_FDCWD; relative paths are resolved relative to it. */

/* Returns "PATH.0123abcd.tmp", in the directory of PATH, with a random number, for a file created
 * with O_EXCL. A long name is truncated. malloc'ed; NULL if out of memory. */
char *probity_temporary_name(const char *path);

/* Creates an unnamed file, for reading and writing, in the directory of the file `path`; it is
 * deleted when its descriptor is closed. path is modified during the call, and restored. Returns -1
 * if that is unsupported, or if the file could not be named later. */
int probity_temporary_unnamed(int directory, char *path, unsigned mode);

/* The same for a caller that need not name the file: does not check whether that would work. */
int probity_temporary_unnamed_only(int directory, char *path, unsigned mode);

/* Gives the file a name that must not be in use. Returns 0, or -1 with errno set. */
int probity_temporary_link(int unnamed, int directory, const char *path);

/* Creates a file that gets its name later: unnamed (*ret_is_unnamed), or as `name`, which must not
 * be in use. Returns a descriptor, or -1 with errno set. */
int probity_temporary_open(int directory, char *name, int *ret_is_unnamed);

/* Names an unnamed file, by copying it if a system call filter forbids links. Returns 0, or -1 with
 * errno set, leaving no file with that name. */
int probity_temporary_keep(int unnamed, int directory, const char *name);

#endif
