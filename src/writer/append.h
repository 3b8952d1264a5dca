/* SPDX-License-Identifier: MIT
 *
 * append.h: blocks onto the end of a trace file, each whole or not at all. One user at a time.
 */
#ifndef PROBITY_WRITER_APPEND_H
#define PROBITY_WRITER_APPEND_H

#include <stddef.h>
#include <stdint.h>

struct probity_append {
    int descriptor;
    int error;          /* the system's number for the last failure */
    uint64_t committed; /* bytes of whole blocks in the file */
    int has_links;      /* 1: its file system counts names, and it had one */
    uint64_t bytes_min; /* without its first so many bytes the file is no trace */
};

/* Appends count bytes. On failure the file is cut back to what it was. Returns 0 or
 * PROBITY_ERROR_WRITE. A file size limit is seen before the kernel would raise SIGXFSZ, and a file
 * that others have removed or emptied (error ENOENT), or cut (EIO), is left alone. */
int probity_append_bytes(struct probity_append *append, const void *bytes, size_t count);

#endif
