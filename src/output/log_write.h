/* SPDX-License-Identifier: MIT
 *
 * log_write.h: where the lines of a log go to. Lines are built at `at`; most logs build them in the
 * buffer that is written out. Only where lines wait, they are built elsewhere and handed on:
 *
 *     built ──► held (by thread, until a scope is long enough) ──► chained (by thread) ──► buffer
 *
 * Errors are kept, and everything goes on: the caller asks once for each event.
 */
#ifndef PROBITY_OUTPUT_LOG_WRITE_H
#define PROBITY_OUTPUT_LOG_WRITE_H

#include <stddef.h>
#include <stdint.h>

enum {
    LOG_BUFFER_BYTES = 256 << 10,
    LOG_LINE_BYTES_MAX = 96 << 10, /* prefix, indentation, a name and a value */
    LOG_HELD_BYTES_MAX = 1 << 20,  /* by thread */
    LOG_CHAIN_BYTES = 8 << 10
};

/* Lines of one thread that wait. Zeroed at first. */
struct log_queue {
    char *held;
    size_t held_bytes, held_room;
    uint64_t held_base; /* bytes that were here before held[0] */
    int is_holding;
    char *chained; /* a link that is not written yet */
    uint32_t chained_bytes;
    uint64_t first_link, last_link; /* places in the file, + 1; 0: none */
};

struct log_writer {
    char *at, *end; /* end: a line of LOG_LINE_BYTES_MAX fits behind it */
    char *built;    /* where lines are built; the buffer itself where none wait */
    char *buffer, *buffer_at;
    int descriptor, chains; /* chains: a temporary file, or -1 */
    uint64_t links;
    uint64_t written; /* bytes that have left the buffer */
    int error, error_number;
};

/* may_wait: lines are held back. by_thread: they are chained. Returns 0, PROBITY_ERROR_MEMORY or
 * PROBITY_ERROR_OPEN. */
int log_writer_init(struct log_writer *writer, int descriptor, int may_wait, int by_thread);

/* Hands on what is built. All of it belongs to the thread of `queue` where lines wait. */
void log_writer_pour(struct log_writer *writer, struct log_queue *queue);

/* Room for a line. */
static inline void log_writer_make_room(struct log_writer *writer, struct log_queue *queue)
{
    if (__builtin_expect(writer->at >= writer->end, 0))
        log_writer_pour(writer, queue);
}

/* Lets go of what is held up to absolute place `to` (held_base + held_bytes: all). */
void log_writer_release_held(struct log_writer *writer, struct log_queue *queue, uint64_t to);

/* Takes back what was held from absolute place `from` on. */
void log_writer_drop_held(struct log_queue *queue, uint64_t from);

/* Moves the chain of one thread to the buffer. */
void log_writer_unchain(struct log_writer *writer, struct log_queue *queue);

/* Writes the buffer out. */
void log_writer_flush(struct log_writer *writer);

void log_queue_release(struct log_queue *queue);
void log_writer_release(struct log_writer *writer);

#endif
