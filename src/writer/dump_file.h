/* SPDX-License-Identifier: MIT
 *
 * dump_file.h: writes one dump (doc/triggers.md, "What a dump contains") from a list of chunks and
 * the declarations in the recording's trace. Used in the traced program by the writer thread, which
 * must not call malloc(), and in the tool by `probity snapshot`.
 */
#ifndef PROBITY_WRITER_DUMP_FILE_H
#define PROBITY_WRITER_DUMP_FILE_H

#include "base/limits.h"
#include "format/block.h"
#include "format/dump.h"
#include "spool/drain.h"
#include "spool/layout.h"
#include "writer/append.h"

enum { PROBITY_DUMP_NAME_BYTES = 512, PROBITY_DUMP_TRIES = 100000 };

/* The content of a dump. */
struct probity_dump_content {
    int trace;            /* descriptor for reading */
    uint64_t trace_bytes; /* number of bytes to read */
    const struct probity_drain_input *chunks;
    uint32_t chunk_count, chunk_words;
    const struct probity_drain_input *declaring; /* chunks of which only declarations are wanted */
    uint32_t declaring_count;
    const struct probity_spool_anchor *anchors; /* those of the spool, oldest first */
    uint32_t anchor_count;
    struct probity_totals totals; /* except records */
    uint8_t session[16];          /* a new id */
    const struct probity_dump *dump; /* its session id is set from the trace */
    const struct probity_dump_reason *reasons;
    /* Called after each batch; `written` chunks are in the file. Returns 0, or an error that ends
     * the dump. NULL: nothing to do. */
    int (*written)(void *context, uint32_t written);
    /* Called after each chunk that was read. NULL: nothing to do. */
    void (*pause)(void *context);
    void *context;
};

/* A file that is being written and does not have its final name yet. */
struct probity_dump_file {
    int directory;
    int is_unnamed;
    char temporary[40]; /* its name until then, if it has one */
    struct probity_append append;
    uint8_t *memory; /* one mapping: */
    size_t memory_bytes;
    uint8_t *batch, *input; /* blocks gathered; a block of the trace */
    size_t batch_bytes, room;
    struct probity_drain_scratch scratch;
    uint8_t *threads; /* set of threads that have records in it */
    uint64_t serial, records, first_tick;
    uint64_t switched; /* older switches of sites that were copied */
};

/* Creates the file in the directory (a descriptor). Returns 0, PROBITY_ERROR_MEMORY or
 * PROBITY_ERROR_OPEN with errno. unique: for a temporary name. */
int probity_dump_file_open(struct probity_dump_file *ret_file, int directory, uint32_t chunk_words,
                           const uint8_t unique[16]);

/* Writes everything. Returns 0 or an error; file->append.error is the errno of
 * PROBITY_ERROR_WRITE. */
int probity_dump_file_fill(struct probity_dump_file *file,
                           const struct probity_dump_content *content);

/* Gives the file a name, which must be free. Returns 0, PROBITY_ERROR_EXISTS or PROBITY_ERROR_OPEN
 * with errno. */
int probity_dump_file_name(struct probity_dump_file *file, const char *name);

/* Does the same, but replaces an existing file of that name. */
int probity_dump_file_replace(struct probity_dump_file *file, const char *name);

/* Closes the file. An unnamed file is deleted. */
void probity_dump_file_close(struct probity_dump_file *file);

/* Expands %i and %% in the last component of a pattern, in which %n and %p have been expanded.
 * Returns 0, or PROBITY_ERROR_ARGUMENT if the name is too long. */
int probity_dump_name(const char *pattern, uint32_t number,
                      char ret_name[PROBITY_DUMP_NAME_BYTES]);

#endif
