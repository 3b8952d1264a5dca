/* SPDX-License-Identifier: MIT
 *
 * reader.c: the public interface of the reader: opens traces, determines which of them share a
 * clock, and reports whether they are complete. Runs in the tool, and in the traced program when it
 * writes its CSV file.
 */
#include "reader/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "reader/ahead.h"
#include "reader/hosts.h"
#include "reader/merge.h"
#include "reader/profile.h"
#include "reader/run.h"
#include "reader/trace.h"

struct probity_reader {
    struct probity_merge merge;
    struct probity_trace *traces;
    size_t count;
    struct probity_clockmap *clocks; /* with several traces: one for each */
    int has_window; /* there is a window, and each trace has an index */
    uint64_t window_end_ns;
    int has_waits_window; /* an analysis of waits continues from the state in each index */
    const struct probity_ahead_steps *ahead_steps;
    struct probity_ahead *ahead; /* NULL: no second thread */
    int is_ahead; /* 0: the merge runs in this thread */
    int is_small; /* the traces are too small for a second thread */
    const struct probity_run_steps *run_steps;
    struct probity_runs *runs; /* NULL: none yet */
    struct probity_hosts *hosts; /* NULL: not aligned */
    const struct probity_align_steps *align_steps;
};

/* Traces of one boot share the CPU's counter; others have only wall time in common. */
static int do_share_ticks(const struct probity_trace *left, const struct probity_trace *right)
{
    const struct probity_info *a = &left->facts.info, *b = &right->facts.info;

    return a->clock == b->clock && memcmp(a->boot, b->boot, 16) == 0 &&
           (a->clock == PROBITY_CLOCK_TSC || a->clock == PROBITY_CLOCK_CNTVCT);
}

/* Gives all traces that share their ticks one conversion: with separate anchors their times would
 * differ by a few ns, and wall time would decrease when they alternate. */
static int share_clock(struct probity_reader *reader, size_t first,
                       struct probity_clockmap **sources)
{
    struct probity_trace *traces = reader->traces;
    struct probity_clockmap *clock = &reader->clocks[first];
    size_t count = 0;

    probity_assert(first < reader->count);
    for (size_t i = first; i < reader->count; i++) {
        if (traces[i].clock == &traces[i].own_clock && do_share_ticks(&traces[first], &traces[i]))
            sources[count++] = &traces[i].prescanned;
    }
    if (count < 2)
        return 0;
    clock->nominal_rate = traces[first].own_clock.nominal_rate;
    probity_assert(count <= reader->count);
    int error = probity_clockmap_join(clock, sources, count);
    for (size_t i = reader->count; error == 0 && i-- > first;) {
        if (traces[i].clock == &traces[i].own_clock && do_share_ticks(&traces[first], &traces[i]))
            probity_trace_share_clock(&traces[i], clock);
    }
    return error;
}

/* Whether the prescan's anchors are needed: if a trace is read using its index, or its anchors are
 * aligned, the scan cursor does not find all anchors that are used. */
static int needs_prescanned(const struct probity_reader *reader, const struct probity_trace *trace)
{
    return trace->clock == &trace->own_clock &&
           (trace->index.file >= 0 || reader->align_steps != NULL);
}

static int share_clocks(struct probity_reader *reader)
{
    if (reader->count < 2)
        return 0;
    struct probity_clockmap **sources = calloc(reader->count, sizeof(struct probity_clockmap *));
    int error = 0;

    reader->clocks = calloc(reader->count, sizeof *reader->clocks);
    if (sources == NULL || reader->clocks == NULL)
        error = PROBITY_ERROR_MEMORY;
    for (size_t i = 0; error == 0 && i < reader->count; i++) {
        if (reader->traces[i].clock == &reader->traces[i].own_clock)
            error = share_clock(reader, i, sources);
    }
    for (size_t i = 0; i < reader->count; i++) {
        struct probity_trace *trace = &reader->traces[i];
        if (!needs_prescanned(reader, trace))
            probity_clockmap_release(&trace->prescanned);
    }
    free(sources);
    return error;
}

static void use_prescanned_clocks(struct probity_reader *reader)
{
    for (size_t i = 0; i < reader->count; i++) {
        struct probity_trace *trace = &reader->traces[i];
        if (needs_prescanned(reader, trace))
            trace->clock = &trace->prescanned;
    }
}

/* Whether traces of several hosts are to be aligned. */
static int is_of_hosts(const struct probity_reader *reader,
                       const struct probity_reader_options *options)
{
    for (size_t i = 1; options->align != NULL && !options->follow && i < reader->count; i++) {
        if (memcmp(reader->traces[0].facts.info.boot, reader->traces[i].facts.info.boot, 16) != 0)
            return 1;
    }
    return 0;
}

static int is_by_wall(const struct probity_reader *reader)
{
    for (size_t i = 1; i < reader->count; i++) {
        if (!do_share_ticks(&reader->traces[0], &reader->traces[i]))
            return 1;
    }
    return 0;
}

static void prepare_merge(struct probity_reader *reader,
                          const struct probity_reader_options *options)
{
    struct probity_merge *merge = &reader->merge;
    uint64_t file_bytes = 0;

    probity_assert(reader->count > 0);
    merge->traces = reader->traces;
    merge->trace_count = reader->count;
    merge->by_wall = is_by_wall(reader);
    merge->may_stop_early = 1;
    for (size_t i = 0; i < reader->count; i++) {
        reader->traces[i].by_wall = merge->by_wall;
        file_bytes += reader->traces[i].facts.file_bytes;
        if (reader->traces[i].facts.clock_steps > 0 || reader->count > 1)
            merge->may_stop_early = 0;
    }
    merge->progress = options->progress;
    merge->progress_context = options->progress_context;
    reader->window_end_ns = UINT64_MAX;
    reader->is_small = file_bytes < options->ahead_bytes_min;
    if (!reader->is_small && !options->follow)
        reader->ahead_steps = options->ahead;
    reader->is_ahead = reader->ahead_steps != NULL;
    reader->run_steps = options->follow ? NULL : options->runs;
    probity_reader_set_range(reader, options->from_ns, options->to_ns);
}

int probity_reader_open(const char *const *paths, size_t count,
                        const struct probity_reader_options *options, size_t *ret_failed,
                        struct probity_reader **ret_reader)
{
    static const struct probity_reader_options defaults;
    struct probity_reader *reader = calloc(1, sizeof *reader);
    int error = 0;

    if (reader == NULL || count == 0 || count > PROBITY_READER_TRACES_MAX) {
        free(reader);
        return reader == NULL ? PROBITY_ERROR_MEMORY : PROBITY_ERROR_ARGUMENT;
    }
    struct probity_reader_options taken = options != NULL ? *options : defaults;
    taken.one_of_many = count > 1;
    reader->traces = calloc(count, sizeof *reader->traces);
    if (reader->traces == NULL)
        error = PROBITY_ERROR_MEMORY;
    for (size_t i = 0; error == 0 && i < count; i++) {
        error = probity_trace_open(paths[i], (uint32_t)i, &taken, &reader->traces[i]);
        reader->count += error == 0;
        if (error != 0 && ret_failed != NULL)
            *ret_failed = i;
    }
    if (error == 0 && is_of_hosts(reader, &taken))
        reader->align_steps = taken.align;
    if (error == 0)
        error = share_clocks(reader);
    if (error == 0)
        use_prescanned_clocks(reader);
    if (error == 0 && reader->align_steps != NULL)
        error = reader->align_steps->align(reader->traces, count, &taken, &reader->hosts);
    if (error != 0) {
        probity_reader_close(reader);
        return error;
    }
    prepare_merge(reader, &taken);
    *ret_reader = reader;
    return 0;
}

int probity_reader_of_facts(const struct probity_trace_facts *facts, size_t count,
                            struct probity_reader **ret_reader)
{
    struct probity_reader *reader = calloc(1, sizeof *reader);

    if (reader == NULL || (reader->traces = calloc(count, sizeof *reader->traces)) == NULL) {
        free(reader);
        return PROBITY_ERROR_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        struct probity_trace *trace = &reader->traces[i];
        trace->range.file = trace->hint_file = trace->index.file = trace->sched.range.file = -1;
        trace->facts = facts[i];
        trace->facts.is_remote = 1;
    }
    reader->count = count;
    *ret_reader = reader;
    return 0;
}

void probity_reader_set_range(struct probity_reader *reader, uint64_t from_ns, uint64_t to_ns)
{
    reader->merge.from_ns = from_ns;
    reader->merge.to_ns = to_ns != 0 || from_ns == 0 ? to_ns : UINT64_MAX - 2000000000;
}

static void stop_ahead(struct probity_reader *reader)
{
    int error_number = errno;

    if (reader->is_ahead && reader->ahead != NULL)
        reader->ahead_steps->stop(reader->ahead);
    reader->is_ahead = 0;
    errno = error_number;
}

/* Steps the merge in this thread if there is no second one. */
static __attribute__((noinline)) int
next_ahead(struct probity_reader *reader, const struct probity_event **ret_event)
{
    int got = 0;

    probity_assert(reader->ahead_steps != NULL);
    if (reader->ahead == NULL)
        got = reader->ahead_steps->start(&reader->merge, reader->window_end_ns, &reader->ahead);
    if (got == 0)
        got = reader->ahead_steps->next(reader->ahead, ret_event);
    if (got == 1)
        return 1;
    int is_over = reader->ahead == NULL || got == PROBITY_AHEAD_OVER;
    stop_ahead(reader);
    return is_over ? probity_merge_next(&reader->merge, ret_event) : got;
}

int probity_reader_next(struct probity_reader *reader, const struct probity_event **ret_event)
{
    if (reader->is_ahead)
        return next_ahead(reader, ret_event);
    return probity_merge_next(&reader->merge, ret_event);
}

size_t probity_reader_next_run(struct probity_reader *reader, uint64_t end_ns,
                               struct probity_run *ret_run)
{
    if (reader->run_steps == NULL)
        return 0;
    if (!reader->is_ahead)
        return reader->run_steps->next(&reader->merge, &reader->runs, end_ns, ret_run);
    return reader->ahead != NULL
               ? reader->ahead_steps->next_run(reader->ahead, end_ns, ret_run) : 0;
}

/* Returns the first tick that is not earlier than from_ns. */
static uint64_t tick_at(struct probity_trace *trace, uint64_t from_ns)
{
    uint64_t low = trace->index.sum.first_tick, high = trace->index.sum.last_tick + 1;

    probity_assert(trace->index.file >= 0);
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (probity_clockmap_wall(trace->clock, middle) < from_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int probity_reader_set_window(struct probity_reader *reader, uint64_t from_ns, uint64_t to_ns)
{
    int error = 0;

    for (size_t i = 0; i < reader->count; i++) {
        if (reader->traces[i].index.file < 0 || reader->traces[i].facts.clock_steps > 0)
            return 0;
    }
    reader->has_window = 1;
    reader->window_end_ns = to_ns;
    for (size_t i = 0; error == 0 && i < reader->count; i++) {
        struct probity_trace *trace = &reader->traces[i];
        error = probity_index_choose(&trace->index, tick_at(trace, from_ns));
    }
    if (error == 0)
        error = probity_merge_number_threads(&reader->merge);
    for (size_t i = 0; error == 0 && i < reader->count; i++)
        error = probity_trace_start_at_mark(&reader->traces[i], &reader->merge.queue);
    return error;
}

/* Whether the index of each trace has this bit. */
static int have_contents(const struct probity_reader *reader, uint32_t bit)
{
    const uint32_t bits = PROBITY_INDEX_CONTENTS_KNOWN | bit;

    for (size_t i = 0; i < reader->count; i++) {
        const struct probity_index *index = &reader->traces[i].index;
        if (index->file < 0 || (index->sum.contents & bits) != bits)
            return 0;
    }
    return 1;
}

static int may_wait(const struct probity_index *index)
{
    return index->file < 0 ||
           (index->sum.contents & (PROBITY_INDEX_CONTENTS_KNOWN | PROBITY_INDEX_HAS_WAITS)) !=
               PROBITY_INDEX_CONTENTS_KNOWN;
}

/* Whether the thread states are those of the index: its states of waits depend on them. */
static int has_same_states(const struct probity_trace *trace)
{
    return trace->sched.range.file >= 0 ? trace->sched.is_of_index
                                        : trace->index.states_count == 0;
}

/* Whether the states of all traces can be used together. The times in each are those of its trace
 * alone. Several traces share a clock, so their ticks are needed. */
static int have_waits(const struct probity_reader *reader, uint64_t objects_max)
{
    uint64_t left = objects_max;

    for (size_t i = 0; i < reader->count; i++) {
        const struct probity_trace *trace = &reader->traces[i];
        const struct probity_index *index = &trace->index;
        if (index->file < 0 || trace->facts.clock_steps > 0)
            return 0;
        if (!may_wait(index))
            continue;
        if (!has_same_states(trace))
            return 0;
        if (reader->count == 1)
            continue;
        if (!index->has_facts || index->objects_most > left)
            return 0;
        left -= index->objects_most;
    }
    return 1;
}

/* Returns 1, 0 if the trace has waits but no states, or an error. */
static int choose_waits(struct probity_trace *trace, uint64_t from_ns, int is_past_needed)
{
    uint64_t tick = tick_at(trace, from_ns);

    if (may_wait(&trace->index))
        return probity_index_choose_waits(&trace->index, tick, is_past_needed);
    int error = probity_index_choose(&trace->index, tick);
    return error == 0 ? 1 : error;
}

int probity_reader_set_waits_window(struct probity_reader *reader, uint64_t from_ns,
                                    uint64_t to_ns, int is_past_needed, uint64_t objects_max)
{
    int got = have_waits(reader, objects_max);

    for (size_t i = 0; got > 0 && i < reader->count; i++)
        got = choose_waits(&reader->traces[i], from_ns, is_past_needed);
    if (got <= 0)
        return got;
    int error = probity_merge_number_threads(&reader->merge);
    for (size_t i = 0; error == 0 && i < reader->count; i++) {
        reader->traces[i].state_clock = *reader->traces[i].clock;
        error = probity_trace_start_at_mark(&reader->traces[i], &reader->merge.queue);
    }
    if (error != 0)
        return error;
    reader->has_window = 1;
    reader->window_end_ns = to_ns;
    reader->has_waits_window = 1;
    return 1;
}

const struct probity_index *probity_reader_waits_index(const struct probity_reader *reader,
                                                       size_t trace)
{
    const struct probity_index *index = &reader->traces[trace].index;

    return reader->has_waits_window && may_wait(index) ? index : NULL;
}

uint64_t probity_reader_wall_ns(const struct probity_reader *reader, size_t trace, uint64_t tick)
{
    return probity_clockmap_wall(&reader->traces[trace].state_clock, tick);
}

int probity_reader_do_calls_match(const struct probity_reader *reader)
{
    return have_contents(reader, PROBITY_INDEX_CALLS_MATCH);
}

int probity_reader_may_have_requests(const struct probity_reader *reader)
{
    return !have_contents(reader, PROBITY_INDEX_NO_REQUESTS);
}

int probity_reader_index(const struct probity_reader *reader, size_t trace)
{
    return reader->traces[trace].index.file;
}

int probity_reader_may_wait(const struct probity_reader *reader)
{
    for (size_t i = 0; i < reader->count; i++) {
        if (may_wait(&reader->traces[i].index))
            return 1;
    }
    return 0;
}

int probity_reader_has_window(const struct probity_reader *reader)
{
    return reader->has_window;
}

int probity_reader_read_alone(struct probity_reader *reader)
{
    int was_ahead = reader->is_ahead;

    probity_assert(reader->ahead == NULL);
    reader->is_ahead = 0;
    return was_ahead;
}

int probity_reader_skip_rest(struct probity_reader *reader)
{
    if (!reader->has_window)
        return 0;
    stop_ahead(reader); /* the thread ended at the end of the window */
    return probity_merge_skip_rest(&reader->merge);
}

int probity_reader_next_only(struct probity_reader *reader)
{
    if (!reader->has_window)
        return 0;
    stop_ahead(reader);
    probity_merge_next_only(&reader->merge);
    return 0;
}

int probity_reader_divide(struct probity_reader *reader)
{
    return reader->has_window || reader->is_small
               ? 0
               : probity_lanes_divide(reader->traces, reader->count);
}

void probity_reader_set_lane(struct probity_reader *reader, uint32_t lane)
{
    probity_assert(reader->ahead == NULL);
    reader->is_ahead = 0;
    for (size_t i = 0; i < reader->count; i++)
        reader->traces[i].lane = lane;
}

/* Both readers have the facts that depend on events, because both read all such events. */
static int do_lanes_match(const struct probity_trace *left, const struct probity_trace *right)
{
    const struct probity_trace_facts *a = &left->facts, *b = &right->facts;

    return a->device == b->device && a->inode == b->inode && a->file_bytes == b->file_bytes &&
           a->records == b->records && a->first_tick == b->first_tick &&
           a->last_tick == b->last_tick && !left->has_unmarked_events &&
           !right->has_unmarked_events && a->damages == 0 && b->damages == 0;
}

int probity_reader_lanes_match(const struct probity_reader *left,
                               const struct probity_reader *right)
{
    for (size_t i = 0; i < left->count; i++) {
        if (!do_lanes_match(&left->traces[i], &right->traces[i]))
            return 0;
    }
    return left->count == right->count;
}

int probity_reader_has_tid(const struct probity_reader *reader, uint64_t tid)
{
    for (size_t i = 0; i < reader->count; i++) {
        const struct probity_index_blocks *threads = &reader->traces[i].index.threads;
        for (size_t j = 0; j < threads->count; j++) {
            if (threads->items[j].tid == tid)
                return 1;
        }
    }
    return 0;
}

size_t probity_reader_traces(const struct probity_reader *reader)
{
    return reader->count;
}

uint64_t probity_reader_start_ns(const struct probity_reader *reader)
{
    uint64_t start_ns = UINT64_MAX;

    for (size_t i = 0; i < probity_reader_traces(reader); i++) {
        uint64_t trace_ns = probity_reader_facts(reader, i)->info.anchor.realtime_ns;
        start_ns = trace_ns < start_ns ? trace_ns : start_ns;
    }
    return start_ns;
}

const struct probity_hosts *probity_reader_hosts(const struct probity_reader *reader)
{
    return reader->hosts;
}

const struct probity_trace_facts *probity_reader_facts(const struct probity_reader *reader,
                                                       size_t trace)
{
    probity_assert(trace < reader->count);
    return &reader->traces[trace].facts;
}

void probity_reader_close(struct probity_reader *reader)
{
    stop_ahead(reader);
    if (reader->ahead != NULL)
        reader->ahead_steps->release(reader->ahead);
    if (reader->runs != NULL)
        reader->run_steps->release(reader->runs);
    probity_merge_release(&reader->merge);
    for (size_t i = 0; i < reader->count; i++)
        probity_trace_release(&reader->traces[i]);
    for (size_t i = 0; reader->clocks != NULL && i < reader->count; i++)
        probity_clockmap_release(&reader->clocks[i]);
    if (reader->hosts != NULL)
        reader->align_steps->release(reader->hosts);
    free(reader->clocks);
    free(reader->traces);
    free(reader);
}

int probity_reader_profile(const struct probity_reader *reader, size_t trace,
                           probity_profile_take *take, void *context)
{
    probity_assert(trace < reader->count);
    return probity_profile_read(&reader->traces[trace], take, context);
}

int probity_reader_sites(const struct probity_reader *reader, size_t trace,
                         probity_sites_take *take, void *context, uint64_t *ret_left_out)
{
    probity_assert(trace < reader->count);
    return probity_sites_read(&reader->traces[trace], take, context, ret_left_out);
}

/* Describes why the recording failed. The cause is unknown if another version of the tool recovered
 * the trace. */
static void describe_failure(const struct probity_trace_facts *facts, char *ret_why, size_t bytes)
{
    const char *cause = facts->failed_errno != 0 ? strerror(facts->failed_errno) : "cause unknown";

    snprintf(ret_why, bytes, "recording stopped after a write error (%s) at %.3f s", cause,
             (double)facts->failed_after_ns / 1e9);
}

/* Reports damage and loss, worst first. Returns whether there is any. */
static int describe_loss(const struct probity_trace_facts *facts, char *ret_why, size_t bytes)
{
    const struct probity_totals *totals = &facts->totals;
    uint64_t dropped = probity_totals_dropped(totals);

    if (facts->is_partial)
        snprintf(ret_why, bytes, "not all of it was sent; run `probity ship` again");
    else if (facts->damages > 0)
        snprintf(ret_why, bytes, "damaged in %" PRIu64 " place(s), first at byte %" PRIu64 "; %"
                 PRIu64 " bytes skipped", facts->damages, facts->damage_offset,
                 facts->damaged_bytes);
    else if (facts->is_short)
        snprintf(ret_why, bytes, "shorter than its program wrote: copied while recording");
    else if (facts->cut_bytes > 0)
        snprintf(ret_why, bytes, "truncated: the last %" PRIu64 " bytes are not a complete block",
                 facts->cut_bytes);
    else if (facts->has_failed)
        describe_failure(facts, ret_why, bytes);
    else if (facts->totals_records_missing > 0)
        snprintf(ret_why, bytes, "%" PRIu64 " records that were written are missing from the file",
                 facts->totals_records_missing);
    else if (facts->state == PROBITY_TRACE_UNFINISHED)
        snprintf(ret_why, bytes, "no END block and no spool on this machine; the last records may "
                 "be missing");
    else if (dropped > 0 && facts->dump == NULL)
        snprintf(ret_why, bytes, "%" PRIu64 " records dropped: %" PRIu64 " no free chunk, %" PRIu64
                 " memory or limit, %" PRIu64 " not writable", dropped, totals->dropped_full,
                 totals->dropped_memory, totals->dropped_write);
    else
        return 0;
    return 1;
}

/* Describes a dump. It is complete if its window is, whatever was dropped before. */
static int describe_dump(const struct probity_trace_facts *facts, char *ret_why, size_t bytes)
{
    struct probity_dump dump = {.flags = 0};
    size_t at;

    probity_dump_get(facts->dump, facts->dump_bytes, &dump, &at);
    uint64_t had = dump.end > dump.had ? dump.end - dump.had : 0;
    uint64_t wanted = dump.end > dump.wanted ? dump.end - dump.wanted : 0;
    if (dump.flags & PROBITY_DUMP_WHOLE)
        snprintf(ret_why, bytes, "a dump: all threads' records of its last %.3f s",
                 (double)probity_trace_ns_of_ticks(facts, had) / 1e9);
    else
        snprintf(ret_why, bytes, "a dump: the ring held the last %.3f s of the %.3f s requested",
                 (double)probity_trace_ns_of_ticks(facts, had) / 1e9,
                 (double)probity_trace_ns_of_ticks(facts, wanted) / 1e9);
    return (dump.flags & PROBITY_DUMP_WHOLE) != 0;
}

int probity_trace_is_complete(const struct probity_trace_facts *facts, char *ret_why, size_t bytes)
{
    static const char *const reasons[] = {"closed", "closed by the program", "closed at exit",
                                          "recovered from the spool", "recovered"};

    if (describe_loss(facts, ret_why, bytes))
        return 0;
    if (facts->dump != NULL)
        return describe_dump(facts, ret_why, bytes);
    if (facts->info.mode == 2)
        snprintf(ret_why, bytes, "ring mode: only the newest records are kept; none of them is "
                 "missing");
    else if (facts->state == PROBITY_TRACE_LIVE)
        snprintf(ret_why, bytes, "still recording; complete up to now");
    else if (facts->state == PROBITY_TRACE_KILLED)
        snprintf(ret_why, bytes, "the program died; the last records were read from its spool");
    else
        snprintf(ret_why, bytes, "%s", reasons[facts->end_reason <= 4 ? facts->end_reason : 0]);
    return 1;
}
