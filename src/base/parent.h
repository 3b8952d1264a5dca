/* SPDX-License-Identifier: MIT
 *
 * parent.h: the directory of a file, as an open descriptor. Names are resolved relative to it from
 * then on, so that renaming or linking directories on the path cannot redirect a later write,
 * rename or unlink (doc/security.md).
 */
#ifndef PROBITY_BASE_PARENT_H
#define PROBITY_BASE_PARENT_H

#include <stdint.h>

/* The trace for a CSV file has the file's name with this suffix. */
#define PROBITY_TRACE_SUFFIX ".probity"

struct probity_parent {
    int directory;    /* O_PATH: for openat() and related calls */
    const char *name; /* name of the file in that directory; points into the given path */
};

/* Opens the directory of path. Returns 0, or -1 with errno if path ends in a slash or its directory
 * cannot be opened. The path must outlive *ret_parent. */
int probity_parent_open(const char *path, struct probity_parent *ret_parent);

/* Opens the directory of the file to which path resolves, following symbolic links. Returns a
 * descriptor as above, or -1. For files that are only read. */
int probity_parent_of_target(const char *path);

/* Whether the name refers to this file, and the file is regular: 1 or 0 (0 for a symbolic link to
 * it). */
int probity_parent_holds(const struct probity_parent *parent, uint64_t device, uint64_t inode);

/* Removes the name if it refers to this file. Returns 0, or -1 with errno; ESTALE if it refers to
 * another file. */
int probity_parent_remove(const struct probity_parent *parent, uint64_t device, uint64_t inode);

void probity_parent_close(struct probity_parent *parent);

#endif
