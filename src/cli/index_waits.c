/* SPDX-License-Identifier: MIT
 *
 * index_waits.c: adds the state of locks and waits to an index: reads the trace once more, with all
 * threads in order of time, and saves the state of the analysis at some of the marks.
 */
#include "cli/index_waits.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/waits.h"
#include "base/bytes.h"
#include "reader/index_write.h"

/* A state takes at most this part of the bytes of the trace since the state before it. */
enum { STATE_PART = 32, IO_LENGTH = 7 };

struct waits_pass {
    const struct probity_index_marks *marks;
    struct probity_index_writer *writer;
    struct probity_waits *waits;
    size_t next;          /* mark */
    uint64_t next_offset; /* no state before a mark there */
};

static int take_none(void *context, const struct probity_wait *wait,
                     const struct probity_event *event)
{
    (void)context;
    (void)wait;
    (void)event;
    return 0;
}

static int emit(struct probity_index_writer *writer, uint16_t type, const uint8_t *bytes,
                size_t count)
{
    uint8_t *payload = probity_index_room(writer, count);

    if (payload == NULL)
        return PROBITY_ERROR_MEMORY;
    memcpy(payload, bytes, count);
    return probity_index_emit(writer, type, count);
}

/* Returns 1, 0 if the rest of the trace has no exact state, or an error. */
static int save_at(struct waits_pass *pass, const struct probity_index_mark *mark)
{
    uint8_t *bytes;
    size_t count;
    int got = probity_waits_save(pass->waits, mark->last_tick, &bytes, &count);

    if (got <= 0)
        return got;
    int error = count <= PROBITY_BLOCK_PAYLOAD_MAX
                    ? emit(pass->writer, PROBITY_INDEX_WAITS, bytes, count)
                    : 0;
    free(bytes);
    pass->next_offset = mark->offset + STATE_PART * (uint64_t)count;
    return error == 0 ? 1 : error;
}

/* Saves the states at the marks before an event. Returns as above. */
static int pass_marks(struct waits_pass *pass, const struct probity_event *event)
{
    const struct probity_index_marks *marks = pass->marks;
    int got = 1;

    for (; got > 0 && pass->next < marks->count && marks->items[pass->next].last_tick < event->tick;
         pass->next++) {
        const struct probity_index_mark *mark = &marks->items[pass->next];
        int is_last = pass->next + 1 == marks->count || mark[1].last_tick > mark->last_tick;
        if (is_last && mark->last_tick <= marks->sum.usable_tick &&
            mark->offset >= pass->next_offset)
            got = save_at(pass, mark);
    }
    return got;
}

/* The names of files and peers, which calls for input and output refer to, are not in the state. */
static int is_io(const struct probity_event *event)
{
    return event->kind == PROBITY_EVENT_ENTER && event->function != NULL &&
           strncmp(event->function->recorded_file, "libc/io", IO_LENGTH) == 0;
}

/* Returns 1 at the end, 0 if there are no exact states, or an error. */
static int read_all(struct waits_pass *pass, struct probity_reader *reader)
{
    const struct probity_event *event;
    int got;

    while ((got = probity_reader_next(reader, &event)) > 0) {
        if (is_io(event))
            return 0;
        int saved = event->kind != PROBITY_EVENT_THREAD_STATE ? pass_marks(pass, event) : 1;
        if (saved <= 0)
            return saved;
        int error = probity_waits_put(pass->waits, event);
        if (error != 0)
            return error;
    }
    return got < 0 ? got : 1;
}

static int emit_facts(struct waits_pass *pass)
{
    uint8_t payload[PROBITY_INDEX_FACTS_BYTES];
    const struct probity_waits_facts facts = probity_waits_facts(pass->waits);

    probity_put_u64(payload, facts.lost);
    probity_put_u64(payload + 8, facts.orphans);
    probity_put_u64(payload + 16, facts.ambiguous);
    probity_put_u64(payload + 24, facts.holds_forgotten);
    probity_put_u64(payload + 32, probity_waits_objects_most(pass->waits));
    return emit(pass->writer, PROBITY_INDEX_FACTS, payload, sizeof payload);
}

static int add_states(struct waits_pass *pass, struct probity_reader *reader)
{
    int got = read_all(pass, reader);

    return got > 0 ? emit_facts(pass) : got;
}

static int pass_over(struct waits_pass *pass, const char *path,
                     const struct probity_reader_options *options)
{
    struct probity_reader *reader;
    int error = probity_reader_open(&path, 1, options, NULL, &reader);

    if (error != 0)
        return error;
    error = probity_waits_open(take_none, NULL, &pass->waits);
    if (error == 0) {
        error = add_states(pass, reader);
        probity_waits_close(pass->waits);
    }
    probity_reader_close(reader);
    return error;
}

int cli_index_add_waits(int file, const char *path, const struct probity_index_marks *marks,
                        const struct probity_reader_options *options)
{
    struct waits_pass pass = {.marks = marks, .writer = calloc(1, sizeof *pass.writer)};

    if (pass.writer == NULL)
        return PROBITY_ERROR_MEMORY;
    pass.writer->file = file;
    pass.writer->serial = marks->serial;
    int error = pass_over(&pass, path, options);
    if (error == 0)
        error = probity_index_flush(pass.writer);
    free(pass.writer->block);
    free(pass.writer);
    return error;
}
