/* SPDX-License-Identifier: MIT
 *
 * append.h: appends blocks to a trace file, each completely or not at all. For one caller at a
 * time.
 */
#ifndef PROBITY_WRITER_APPEND_H
#define PROBITY_WRITER_APPEND_H

#include <stddef.h>
#include <stdint.h>

struct probity_append {
    int descriptor;
    int error;          /* errno of the last failure */
    uint64_t committed; /* size of the complete blocks in the file */
    int has_links;      /* 1: the file system counts links, and the file had one */
    uint64_t bytes_min; /* minimum size of a trace */
};

/* Appends count bytes. On failure the file is truncated to its previous size. Returns 0 or
 * PROBITY_ERROR_WRITE. Checks a file size limit before the kernel would raise SIGXFSZ, and does not
 * touch a file that another process has removed or emptied (error ENOENT), or truncated (EIO). */
int probity_append_bytes(struct probity_append *append, const void *bytes, size_t count);

#endif
