/* SPDX-License-Identifier: MIT
 *
 * trace_look.c: opens the parts of a trace: its file, its spool, its index, its thread states. Runs
 * when the trace is opened, and again when the program that was followed has ended.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/parent.h"
#include "probity.h"
#include "reader/file.h"
#include "reader/trace.h"

/* Takes the trace's spool. Its absence is not an error: its program may have closed the trace, or
 * the trace may be a copy. */
static int take_spool(struct probity_trace *trace)
{
    const struct probity_text *text = &trace->facts.info.text[PROBITY_TAG_SPOOL];
    struct probity_attach_query query;

    if (text->bytes == NULL || text->length == 0 || probity_range_is_member(&trace->range))
        return 0;
    int directory = probity_parent_of_target(trace->path);
    int error = probity_spool_tail_query(trace->range.file, directory, &trace->facts.info, &query);
    uint64_t now = probity_clock_ticks(trace->facts.info.clock);
    if (error == 0)
        error = probity_spool_tail_take(&query, &trace->facts.info, &trace->rest);
    if (directory >= 0)
        close(directory);
    trace->has_rest = error == 0;
    if (error == 0 && trace->rest.is_alive)
        trace->horizon = now;
    return error == PROBITY_ERROR_MEMORY ? error : 0;
}

int probity_trace_measure(struct probity_trace *trace)
{
    struct stat status;
    int64_t size = probity_range_size(&trace->range);

    if (size < 0 || fstat(trace->range.file, &status) != 0)
        return PROBITY_ERROR_READ;
    trace->facts.file_bytes = (uint64_t)size;
    trace->facts.device = status.st_dev;
    trace->facts.inode = status.st_ino;
    trace->facts.owner = status.st_uid;
    return 0;
}

/* Takes the first index that belongs to the trace. Returns 1, 0 if there is none, or an error. */
static int take_index(struct probity_trace *trace, const struct probity_reader_options *options)
{
    int got = 0;

    if (options->open_index == NULL || options->follow || options->prescan || trace->has_rest)
        return 0;
    for (int attempt = 0; got == 0 && attempt < 2; attempt++) {
        int file = options->open_index(options->index_context, trace->path, &trace->range, attempt);
        if (file >= 0)
            got = probity_index_open(&trace->index, file, &trace->range, trace->facts.info.session,
                                     trace->facts.file_bytes);
    }
    return got;
}

int probity_trace_add_sched_blocks(struct probity_trace *trace)
{
    struct probity_waiting_list *extras = &trace->extras;
    int error = 0;

    for (size_t i = 0; error == 0 && i < trace->sched.count; i++) {
        const struct probity_sched_block *block = &trace->sched.blocks[i];
        error = probity_waiting_list_add(
            extras, &(struct probity_waiting){block->first_tick, block->first_tick,
                                              block->offset | PROBITY_WAITING_IN_SCHED,
                                              block->bytes, trace->number});
    }
    if (extras->count > 1)
        qsort(extras->items, extras->count, sizeof *extras->items, probity_waiting_compare);
    return error;
}

static int take_sched(struct probity_trace *trace, const struct probity_reader_options *options)
{
    if (options->open_sched == NULL || options->follow)
        return 0;
    const uint8_t *session = trace->facts.info.session;
    struct probity_range range;
    int got = 0;

    if (options->open_sched(options->sched_context, trace->path, &trace->range, &range) < 0)
        return 0;
    if (trace->index.file >= 0)
        got = probity_sched_file_open_listed(&trace->sched, &range, session, &trace->index);
    if (got < 0)
        close(range.file);
    if (got == 0)
        got = probity_sched_file_open(&trace->sched, &range, session);
    return got > 0 ? probity_trace_add_sched_blocks(trace) : got;
}

/* Limits the scan cursor to what the program has written. Only for a live trace. */
static void follow(struct probity_trace *trace)
{
    struct probity_spool_tail *rest = &trace->rest;

    probity_assert(trace->has_rest && trace->rest.is_alive);
    /* The words currently in the chunks will be in the file. */
    for (size_t i = 0; i < rest->count; i++)
        free(rest->chunks[i].copy);
    rest->count = 0;
    trace->horizon = UINT64_MAX;
    trace->is_followed = 1;
}

int probity_trace_look(struct probity_trace *trace, const struct probity_reader_options *options)
{
    int error = take_spool(trace);

    if (error == 0 && options->follow && trace->has_rest && trace->rest.is_alive)
        follow(trace);
    /* Measured again, because words that the writer had removed from the spool before the scan are
     * in the file by now. */
    if (error == 0)
        error = probity_trace_measure(trace);
    int got = error == 0 ? take_index(trace, options) : error;
    if (got < 0)
        return got;
    error = got > 0 ? probity_trace_prescan_index(trace) : probity_trace_prescan(trace, options);
    return error == 0 ? take_sched(trace, options) : error;
}
