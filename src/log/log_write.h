/* SPDX-License-Identifier: MIT
 *
 * log_write.h: writes the lines of a log. Lines are built at `at`, usually directly in the output
 * buffer. Only if lines may wait are they built elsewhere and passed on:
 *
 *     built ──► held (by thread, until a scope is long enough) ──► chained (by thread) ──► buffer
 *
 * Errors are stored and processing continues: the caller checks once per event.
 */
#ifndef PROBITY_LOG_LOG_WRITE_H
#define PROBITY_LOG_LOG_WRITE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    LOG_BUFFER_BYTES = 256 << 10,
    LOG_LINE_BYTES_MAX = 96 << 10, /* prefix, indentation, a name and a value */
    LOG_HELD_BYTES_MAX = 1 << 20,  /* per thread */
    LOG_CHAIN_BYTES = 8 << 10
};

/* The waiting lines of a thread. Zeroed at first. */
struct log_queue {
    char *held; /* within held_memory, after held_released bytes */
    size_t held_bytes, held_released, held_room;
    char *held_memory;
    uint64_t held_base; /* bytes that came before held[0] */
    int is_holding;
    char *chained; /* a link that is not yet written */
    uint32_t chained_bytes;
    uint64_t first_link, last_link; /* offsets in the file + 1; 0: none */
};

struct log_writer {
    char *at, *end; /* end: there is room for a line of LOG_LINE_BYTES_MAX after it */
    char *built;    /* where lines are built: the buffer itself if they never wait */
    char *buffer, *buffer_at;
    int descriptor, chains; /* chains: descriptor of the temporary file, or -1 */
    uint64_t links;
    uint64_t written; /* bytes written out of the buffer */
    uint64_t lines_max, lines; /* lines_max 0: no maximum; lines: written, if there is a maximum */
    int is_cut;                /* lines were left out */
    /* Called instead of writing to the descriptor; NULL: write(2). */
    ssize_t (*put)(void *context, const char *bytes, size_t count);
    void *put_context;
    int error, error_number;
};

/* may_wait: lines may be held back. by_thread: lines are chained by thread. Returns 0,
 * PROBITY_ERROR_MEMORY or PROBITY_ERROR_OPEN. */
int log_writer_init(struct log_writer *writer, int descriptor, int may_wait, int by_thread);

/* Passes on the lines just built. If lines may wait, they must all belong to the thread of
 * `queue`. */
void log_writer_pour(struct log_writer *writer, struct log_queue *queue);

/* Makes room for a line. */
static inline void log_writer_make_room(struct log_writer *writer, struct log_queue *queue)
{
    if (__builtin_expect(writer->at >= writer->end, 0))
        log_writer_pour(writer, queue);
}

/* Releases held lines up to the absolute offset `to` (held_base + held_bytes: all). */
void log_writer_release_held(struct log_writer *writer, struct log_queue *queue, uint64_t to);

/* Discards held lines from the absolute offset `from` on. */
void log_writer_drop_held(struct log_queue *queue, uint64_t from);

/* Moves a thread's chain to the buffer. */
void log_writer_unchain(struct log_writer *writer, struct log_queue *queue);

/* Writes out the buffer. */
void log_writer_flush(struct log_writer *writer);

void log_queue_release(struct log_queue *queue);
void log_writer_release(struct log_writer *writer);

#endif
