/* SPDX-License-Identifier: MIT
 *
 * log_write.c: buffers, lines held back, and the temporary file, in which each thread's lines are a
 * chain of links that begin with the offset of the next one, so that memory does not grow with the
 * trace.
 */
#include "log/log_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array_grow.h"
#include "probity.h"

struct link {
    uint64_t next; /* offset in the file + 1; 0 for the last link */
    uint32_t bytes, reserved;
};

enum { LINK_ROOM = LOG_CHAIN_BYTES - sizeof(struct link) };

static void fail(struct log_writer *writer, int error)
{
    if (writer->error != 0)
        return;
    writer->error = error;
    writer->error_number = errno;
}

/* Opens an unnamed file in the user's directory for temporary files. */
static int open_chains(void)
{
    const char *wanted = getenv("TMPDIR");
    const char *directory = wanted != NULL && *wanted != '\0' ? wanted : "/tmp";
    char *path = NULL;

    if (asprintf(&path, "%s/probity-log-XXXXXX", directory) < 0)
        return -1;
    int file = mkostemp(path, O_CLOEXEC);
    if (file >= 0)
        unlink(path);
    free(path);
    return file;
}

int log_writer_init(struct log_writer *writer, int descriptor, int may_wait, int by_thread)
{
    *writer = (struct log_writer){.descriptor = descriptor, .chains = -1};
    writer->buffer = malloc(LOG_BUFFER_BYTES + LOG_LINE_BYTES_MAX);
    writer->built = writer->buffer;
    if (may_wait || by_thread)
        writer->built = malloc(LOG_BUFFER_BYTES + LOG_LINE_BYTES_MAX);
    if (by_thread)
        writer->chains = open_chains();
    writer->buffer_at = writer->buffer;
    writer->at = writer->built;
    writer->end = writer->built + LOG_BUFFER_BYTES;
    if (writer->buffer == NULL || writer->built == NULL || (by_thread && writer->chains < 0)) {
        int error_number = errno;
        int error = by_thread && writer->chains < 0 ? PROBITY_ERROR_OPEN : PROBITY_ERROR_MEMORY;
        log_writer_release(writer);
        errno = error_number;
        return error;
    }
    return 0;
}

void log_writer_release(struct log_writer *writer)
{
    if (writer->built != writer->buffer)
        free(writer->built);
    free(writer->buffer);
    if (writer->chains >= 0)
        close(writer->chains);
    *writer = (struct log_writer){.chains = -1};
}

void log_queue_release(struct log_queue *queue)
{
    free(queue->held_memory);
    free(queue->chained);
    *queue = (struct log_queue){.held = NULL};
}

/* Returns the number of bytes that belong to lines up to the maximum. */
static size_t up_to_maximum(struct log_writer *writer, const char *bytes, size_t count)
{
    const char *at = bytes, *end = bytes + count;

    while (at < end && writer->lines < writer->lines_max) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));
        writer->lines += feed != NULL;
        at = feed != NULL ? feed + 1 : end;
    }
    writer->is_cut |= at < end;
    return (size_t)(at - bytes);
}

/* A pipe may accept less, and signal handlers of the traced program may interrupt. */
static void write_out(struct log_writer *writer, const char *bytes, size_t count)
{
    if (writer->lines_max > 0)
        count = up_to_maximum(writer, bytes, count);
    while (count > 0 && writer->error == 0) {
        ssize_t put = writer->put != NULL ? writer->put(writer->put_context, bytes, count)
                                          : write(writer->descriptor, bytes, count);
        if (put < 0 && errno != EINTR)
            fail(writer, PROBITY_ERROR_WRITE);
        if (put > 0) {
            bytes += put;
            count -= (size_t)put;
            writer->written += (uint64_t)put;
        }
    }
}

static void write_at(struct log_writer *writer, const void *bytes, size_t count, uint64_t place)
{
    const char *from = bytes;

    while (count > 0 && writer->error == 0) {
        ssize_t put = pwrite(writer->chains, from, count, (off_t)place);
        if (put < 0 && errno != EINTR)
            fail(writer, PROBITY_ERROR_SYSTEM);
        if (put > 0) {
            from += put;
            place += (uint64_t)put;
            count -= (size_t)put;
        }
    }
}

void log_writer_flush(struct log_writer *writer)
{
    if (writer->built == writer->buffer) {
        writer->buffer_at = writer->at;
        writer->at = writer->buffer;
    }
    write_out(writer, writer->buffer, (size_t)(writer->buffer_at - writer->buffer));
    writer->buffer_at = writer->buffer;
}

/* ---- Chains ------------------------------------------------------------------------------------
 */

static void write_link(struct log_writer *writer, struct log_queue *queue)
{
    uint64_t place = writer->links * LOG_CHAIN_BYTES, named = place + 1;
    struct link head = {0, queue->chained_bytes, 0};

    memcpy(queue->chained, &head, sizeof head);
    write_at(writer, queue->chained, sizeof head + queue->chained_bytes, place);
    if (queue->last_link != 0)
        write_at(writer, &named, sizeof named, queue->last_link - 1);
    else
        queue->first_link = named;
    queue->last_link = named;
    writer->links++;
    queue->chained_bytes = 0;
}

static void chain(struct log_writer *writer, struct log_queue *queue, const char *bytes,
                  size_t count)
{
    if (queue->chained == NULL)
        queue->chained = malloc(LOG_CHAIN_BYTES);
    if (queue->chained == NULL) {
        fail(writer, PROBITY_ERROR_MEMORY);
        return;
    }
    while (count > 0) {
        size_t room = LINK_ROOM - queue->chained_bytes, part = count < room ? count : room;
        memcpy(queue->chained + sizeof(struct link) + queue->chained_bytes, bytes, part);
        queue->chained_bytes += (uint32_t)part;
        bytes += part;
        count -= part;
        if (queue->chained_bytes == LINK_ROOM)
            write_link(writer, queue);
    }
}

static void put_in_buffer(struct log_writer *writer, const char *bytes, size_t count)
{
    if ((size_t)(writer->buffer + LOG_BUFFER_BYTES - writer->buffer_at) < count)
        log_writer_flush(writer);
    if (count > LOG_BUFFER_BYTES) {
        write_out(writer, bytes, count);
        return;
    }
    memcpy(writer->buffer_at, bytes, count);
    writer->buffer_at += count;
}

void log_writer_unchain(struct log_writer *writer, struct log_queue *queue)
{
    char link[LOG_CHAIN_BYTES];
    struct link head;
    uint64_t named = queue->first_link;

    while (named != 0 && writer->error == 0) {
        ssize_t got = pread(writer->chains, link, sizeof link, (off_t)(named - 1));
        if (got < 0 && errno == EINTR)
            continue;
        memcpy(&head, link, sizeof head);
        if (got < (ssize_t)sizeof head || head.bytes > (size_t)got - sizeof head) {
            errno = got < 0 ? errno : EIO;
            fail(writer, PROBITY_ERROR_SYSTEM);
            break;
        }
        put_in_buffer(writer, link + sizeof head, head.bytes);
        named = head.next;
    }
    if (queue->chained != NULL)
        put_in_buffer(writer, queue->chained + sizeof head, queue->chained_bytes);
    free(queue->chained);
    queue->chained = NULL;
    queue->first_link = queue->last_link = 0;
    queue->chained_bytes = 0;
}

/* ---- Lines that are held back ------------------------------------------------------------------
 */

static void hand_on(struct log_writer *writer, struct log_queue *queue, const char *bytes,
                    size_t count)
{
    if (writer->chains >= 0)
        chain(writer, queue, bytes, count);
    else
        put_in_buffer(writer, bytes, count);
}

/* The memory of released lines is reused once it is at least as large as that of the lines still
 * held, so that at most one byte is moved for each byte released. */
static void hold(struct log_writer *writer, struct log_queue *queue, const char *bytes,
                 size_t count)
{
    if (queue->held_released > 0 && queue->held_released >= queue->held_bytes) {
        memmove(queue->held_memory, queue->held, queue->held_bytes);
        queue->held = queue->held_memory;
        queue->held_released = 0;
    }
    char *memory = probity_array_fit(queue->held_memory, 1,
                                     queue->held_released + queue->held_bytes + count + 1,
                                     &queue->held_room);

    if (memory == NULL) {
        fail(writer, PROBITY_ERROR_MEMORY);
        return;
    }
    queue->held_memory = memory;
    queue->held = memory + queue->held_released;
    memcpy(queue->held + queue->held_bytes, bytes, count);
    queue->held_bytes += count;
}

void log_writer_pour(struct log_writer *writer, struct log_queue *queue)
{
    size_t count = (size_t)(writer->at - writer->built);

    if (writer->built == writer->buffer) {
        log_writer_flush(writer);
        return;
    }
    writer->at = writer->built;
    if (queue->is_holding)
        hold(writer, queue, writer->built, count);
    else
        hand_on(writer, queue, writer->built, count);
}

void log_writer_release_held(struct log_writer *writer, struct log_queue *queue, uint64_t to)
{
    size_t count = (size_t)(to - queue->held_base);

    if (count == 0)
        return;
    hand_on(writer, queue, queue->held, count);
    queue->held += count;
    queue->held_released += count;
    queue->held_bytes -= count;
    queue->held_base = to;
}

void log_writer_drop_held(struct log_queue *queue, uint64_t from)
{
    queue->held_bytes = (size_t)(from - queue->held_base);
}
