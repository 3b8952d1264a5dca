/* SPDX-License-Identifier: MIT
 *
 * index_waits.c: adds to an index the positions of the blocks of TRACE.sched, and the state of
 * locks, waits and descriptors. Reads the trace once more, with all threads in time order, and
 * saves the state of the analysis at some of the marks.
 */
#include "cli/index_waits.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/waits.h"
#include "analysis/waits_state.h"
#include "answers/waits/wait_names.h"
#include "base/bytes.h"
#include "cli/sched.h"
#include "probity.h"
#include "reader/index_write.h"
#include "reader/sched.h"

/* A state is at most this fraction of the bytes of the trace since the previous state. */
enum { STATE_PART = 32 };

struct waits_pass {
    const struct probity_index_marks *marks;
    struct probity_index_writer *writer;
    struct probity_waits *waits;
    struct probity_wait_names names;
    size_t next;          /* next mark */
    uint64_t next_offset; /* no states at marks before this offset */
    int has_more; /* blocks unknown to readers before version 1.5 */
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

/* The state at a mark. */
struct saved {
    uint8_t *waits, *files; /* waits: NULL if there is no state; files: NULL if no file has a
                             * name */
    size_t waits_bytes, files_bytes;
};

/* Returns 1, 0 if there is no exact state for the rest of the trace, or an error. */
static int save(const struct waits_pass *pass, uint64_t tick, struct saved *saved)
{
    if (probity_descriptors_are_closing(&pass->names.descriptors))
        return 1;
    int got = probity_waits_save(pass->waits, tick, &saved->waits, &saved->waits_bytes);

    return got > 0 && saved->waits != NULL
               ? probity_descriptors_save(&pass->names.descriptors, pass->waits, tick,
                                          &saved->files, &saved->files_bytes)
               : got;
}

/* Drops a state that is too long for a block. */
static int emit_saved(struct waits_pass *pass, const struct saved *saved)
{
    if (saved->waits == NULL || saved->waits_bytes > PROBITY_BLOCK_PAYLOAD_MAX ||
        saved->files_bytes > PROBITY_BLOCK_PAYLOAD_MAX)
        return 0;
    int error = emit(pass->writer, PROBITY_INDEX_WAITS, saved->waits, saved->waits_bytes);
    if (error != 0 || saved->files == NULL)
        return error;
    pass->has_more = 1;
    return emit(pass->writer, PROBITY_INDEX_FILES, saved->files, saved->files_bytes);
}

/* Returns the same as save(). */
static int save_at(struct waits_pass *pass, const struct probity_index_mark *mark)
{
    struct saved saved = {.waits = NULL};
    int got = save(pass, mark->last_tick, &saved);
    int error = got > 0 ? emit_saved(pass, &saved) : 0;

    pass->next_offset =
        mark->offset + STATE_PART * (uint64_t)(saved.waits_bytes + saved.files_bytes);
    free(saved.waits);
    free(saved.files);
    return error == 0 ? got : error;
}

/* Saves the states at the marks before an event. Returns the same as above. */
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

/* Returns 1 at the end, 0 if there are no exact states, or an error. */
static int read_all(struct waits_pass *pass, struct probity_reader *reader)
{
    const struct probity_event *event;
    int got;

    while ((got = probity_reader_next(reader, &event)) > 0) {
        int saved = pass_marks(pass, event);
        if (saved <= 0)
            return saved;
        int error = probity_wait_names_put(&pass->names, pass->waits, event);
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
    return emit(pass->writer, pass->has_more ? PROBITY_INDEX_FACTS_MORE : PROBITY_INDEX_FACTS,
                payload, sizeof payload);
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

/* ---- The blocks of TRACE.sched -----------------------------------------------------------------
 */

/* A list of at most this many blocks fits into a block of the index. */
enum { ENTRIES_MAX = 1 << 16 };

static int emit_list(struct waits_pass *pass, const struct probity_sched_file *sched, size_t first)
{
    size_t count = sched->count - first < ENTRIES_MAX ? sched->count - first : ENTRIES_MAX;
    size_t bytes = PROBITY_INDEX_STATES_BYTES + count * PROBITY_INDEX_STATES_ENTRY_BYTES;
    uint8_t *at = probity_index_room(pass->writer, bytes);

    if (at == NULL)
        return PROBITY_ERROR_MEMORY;
    probity_put_u64(at, (uint64_t)probity_range_size(&sched->range));
    probity_put_u32(at + 8, sched->info_checksum);
    probity_put_u32(at + 12, 0);
    at += PROBITY_INDEX_STATES_BYTES;
    for (size_t i = first; i < first + count; i++, at += PROBITY_INDEX_STATES_ENTRY_BYTES) {
        probity_put_u64(at, sched->blocks[i].offset);
        probity_put_u64(at + 8, sched->blocks[i].first_tick);
        probity_put_u32(at + 16, sched->blocks[i].bytes);
        probity_put_u32(at + 20, sched->blocks[i].thread);
    }
    return probity_index_emit(pass->writer, PROBITY_INDEX_STATES, bytes);
}

/* Uses a file only if a reader would use it. */
static int add_list(struct waits_pass *pass, const char *path, const struct probity_range *trace,
                    const struct probity_reader_options *options)
{
    struct probity_sched_file sched;
    struct probity_range range;
    int error = 0;

    if (options->open_sched(options->sched_context, path, trace, &range) < 0)
        return 0;
    int got = probity_sched_file_open(&sched, &range, pass->marks->sum.session);
    if (got <= 0)
        return got;
    pass->has_more = 1;
    for (size_t first = 0; error == 0 && (first == 0 || first < sched.count);
         first += ENTRIES_MAX)
        error = emit_list(pass, &sched, first);
    probity_sched_file_release(&sched);
    return error;
}

/* ---- Both --------------------------------------------------------------------------------------
 */

int cli_index_add_waits(int file, const char *path, const struct probity_range *trace,
                        const struct probity_index_marks *marks,
                        const struct probity_reader_options *options)
{
    struct waits_pass pass = {.marks = marks, .writer = calloc(1, sizeof *pass.writer)};
    struct probity_reader_options reading = *options;

    if (pass.writer == NULL)
        return PROBITY_ERROR_MEMORY;
    pass.writer->file = file;
    pass.writer->serial = marks->serial;
    cli_sched_use(&reading);
    int error = add_list(&pass, path, trace, &reading);
    if (error == 0 && marks->sum.contents & PROBITY_INDEX_HAS_WAITS)
        error = pass_over(&pass, path, &reading);
    if (error == 0)
        error = probity_index_flush(pass.writer);
    probity_wait_names_release(&pass.names);
    free(pass.writer->block);
    free(pass.writer);
    return error;
}
