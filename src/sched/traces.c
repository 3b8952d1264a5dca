/* SPDX-License-Identifier: MIT
 *
 * traces.c: finds the threads of a trace, and writes TRACE.sched under a random temporary name,
 * which must be free; the file then replaces that of an earlier recording. Links are not followed.
 */
#include "sched/traces.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array_grow.h"
#include "base/assert.h"
#include "base/temporary.h"
#include "format/dump.h"
#include "probity.h"
#include "reader/file.h"
#include "reader/scan.h"
#include "reader/threads.h"
#include "sched/files.h"

#define SLACK_NS UINT64_C(1000000) /* thread ids are not reused within this time */

/* ---- Threads -----------------------------------------------------------------------------------
 */

struct threads {
    struct probity_threads_seen seen;
    uint64_t *first_ticks; /* by slot; 0: none */
    uint32_t count;
    int is_dump;
    uint64_t from_tick, until_tick; /* those of all records, and of the window of a dump */
};

/* Whether a record is a declaration. In a dump, earlier declarations have the tick of its first
 * record. */
static int is_declaration(const struct threads *threads, const struct probity_data *data)
{
    return threads->is_dump && (data->flags & PROBITY_DATA_HAS_EVENTS) != 0 &&
           data->first_tick == data->last_tick;
}

static int take_data(struct threads *threads, const struct probity_scan_item *item)
{
    struct probity_data data;
    uint32_t slot;

    if (probity_data_get(item->payload, item->header.payload_bytes, &data) != 0)
        return 0;
    if (data.first_tick < threads->from_tick || threads->from_tick == 0)
        threads->from_tick = data.first_tick;
    if (data.last_tick > threads->until_tick)
        threads->until_tick = data.last_tick;
    if (is_declaration(threads, &data))
        return 0;
    int error = probity_threads_slot(&threads->seen, 0, data.thread, data.tid, &slot);
    if (error != 0)
        return PROBITY_ERROR_MEMORY;
    if (slot >= threads->count) {
        uint64_t *ticks = probity_array_grow(threads->first_ticks, sizeof *ticks, slot,
                                             &threads->count);
        if (ticks == NULL)
            return PROBITY_ERROR_MEMORY;
        threads->first_ticks = ticks;
    }
    if (threads->first_ticks[slot] == 0 || data.first_tick < threads->first_ticks[slot])
        threads->first_ticks[slot] = data.first_tick;
    return 0;
}

static void match(struct probity_sched_trace *trace, uint32_t number,
                  const struct threads *threads, struct probity_sched_lives *lives)
{
    for (size_t slot = 0; slot < threads->seen.count; slot++) {
        const struct probity_thread_seen *seen = &threads->seen.seen[slot];
        uint64_t raw_ns = probity_sched_moments_raw(&trace->moments, threads->first_ticks[slot]);
        size_t index = probity_sched_lives_find(lives, seen->tid, raw_ns, SLACK_NS);
        if (index == SIZE_MAX || lives->items[index].trace != UINT32_MAX)
            continue;
        lives->items[index].trace = number;
        lives->items[index].thread = seen->thread;
        trace->has_threads = 1;
    }
}

static void take_dump(struct threads *threads, const struct probity_scan_item *item)
{
    struct probity_dump dump;
    size_t offset;

    if (probity_dump_get(item->payload, item->header.payload_bytes, &dump, &offset) != 0)
        return;
    threads->is_dump = 1;
    if (dump.end > threads->until_tick)
        threads->until_tick = dump.end;
}

/* Returns 0 with the trace's clock, or an error. */
static int take_blocks(struct probity_sched_trace *trace, struct probity_scan *scan,
                       struct threads *threads, uint32_t *ret_kind)
{
    struct probity_scan_item item;
    struct probity_info info;
    int got;

    *ret_kind = 0;
    while ((got = probity_scan_next(scan, &item)) > 0) {
        if (item.kind != PROBITY_SCAN_BLOCK)
            continue;
        if (item.header.type == PROBITY_BLOCK_INFO && *ret_kind == 0 &&
            probity_info_get(item.payload, item.header.payload_bytes, &info) == 0) {
            memcpy(trace->session, info.session, sizeof trace->session);
            *ret_kind = info.clock;
        }
        if (item.header.type == PROBITY_BLOCK_DUMP)
            take_dump(threads, &item);
        got = item.header.type == PROBITY_BLOCK_DATA ? take_data(threads, &item) : 0;
        if (got != 0)
            return got;
    }
    return got;
}

/* Sets is_used. Returns 0 or PROBITY_ERROR_MEMORY. */
static int read_trace(struct probity_sched_trace *trace, struct threads *threads,
                      const struct probity_clock_moment *moments, size_t moment_count,
                      uint32_t clock)
{
    struct probity_scan scan;
    struct stat status;
    uint32_t kind = 0;
    int file;

    if (probity_file_open(trace->path, &file) != 0)
        return 0;
    int error = fstat(file, &status) != 0 || status.st_uid != geteuid()
                    ? PROBITY_ERROR_OPEN
                    : probity_scan_init(&scan, file, (uint64_t)status.st_size, 0);
    if (error == 0) {
        error = take_blocks(trace, &scan, threads, &kind);
        probity_scan_release(&scan);
    }
    trace->is_used = error == 0 && kind != 0 &&
                     probity_sched_moments_use(&trace->moments, moments, moment_count, clock, kind);
    close(file);
    return error == PROBITY_ERROR_MEMORY ? error : 0;
}

static void release_threads(struct threads *threads)
{
    probity_threads_release(&threads->seen);
    free(threads->first_ticks);
}

int probity_sched_trace_open(struct probity_sched_trace *trace, uint32_t number,
                             const struct probity_clock_moment *moments, size_t moment_count,
                             uint32_t clock, struct probity_sched_lives *lives)
{
    struct threads threads = {.first_ticks = NULL};
    int error = read_trace(trace, &threads, moments, moment_count, clock);

    if (trace->is_used)
        match(trace, number, &threads, lives);
    release_threads(&threads);
    return error;
}

int probity_sched_trace_window(const char *path, const struct probity_clock_moment *moments,
                               size_t moment_count, uint32_t clock, uint64_t *ret_from_ns,
                               uint64_t *ret_until_ns)
{
    struct probity_sched_trace trace = {.path = path};
    struct threads threads = {.first_ticks = NULL};
    int error = read_trace(&trace, &threads, moments, moment_count, clock);
    int is_dump = error == 0 && trace.is_used && threads.is_dump && threads.from_tick != 0;

    if (is_dump) {
        *ret_from_ns = probity_sched_moments_raw(&trace.moments, threads.from_tick);
        *ret_until_ns = probity_sched_moments_raw(&trace.moments, threads.until_tick);
    }
    release_threads(&threads);
    return is_dump;
}

/* ---- The file ----------------------------------------------------------------------------------
 */

struct output {
    int file;
    uint64_t at, serial;
    uint8_t *bytes; /* has room for a block */
};

static int put_block(struct output *output, uint16_t type, uint32_t payload_bytes)
{
    size_t bytes = PROBITY_BLOCK_HEADER_BYTES + (size_t)payload_bytes;

    probity_block_seal(output->bytes, type, output->serial++, payload_bytes);
    if (probity_sched_write_all(output->file, output->bytes, bytes, output->at) != 0)
        return PROBITY_ERROR_WRITE;
    output->at += bytes;
    return 0;
}

static int put_head(struct output *output, const struct probity_sched_info *info)
{
    probity_sched_header_put(output->bytes);
    if (probity_sched_write_all(output->file, output->bytes, PROBITY_SCHED_HEADER_BYTES, 0) != 0)
        return PROBITY_ERROR_WRITE;
    output->at = PROBITY_SCHED_HEADER_BYTES;
    probity_sched_info_put(output->bytes + PROBITY_BLOCK_HEADER_BYTES, info);
    return put_block(output, PROBITY_SCHED_INFO, PROBITY_SCHED_INFO_BYTES);
}

static int put_blocks(struct output *output, uint32_t number,
                      const struct probity_sched_blocks *blocks)
{
    int error = 0;

    for (size_t i = 0; error == 0 && i < blocks->count; i++) {
        const struct probity_sched_written *block = &blocks->items[i];
        if (block->trace != number)
            continue;
        probity_assert(block->bytes > PROBITY_BLOCK_HEADER_BYTES);
        if (pread(blocks->file, output->bytes, block->bytes, (off_t)block->offset) !=
            (ssize_t)block->bytes)
            return PROBITY_ERROR_READ;
        error = put_block(output, PROBITY_BLOCK_DATA, block->bytes - PROBITY_BLOCK_HEADER_BYTES);
    }
    return error;
}

static void count_blocks(const struct probity_sched_blocks *blocks, uint32_t number,
                         struct probity_sched_info *info, uint32_t *ret_longest)
{
    *ret_longest = PROBITY_BLOCK_HEADER_BYTES + PROBITY_SCHED_INFO_BYTES;
    info->blocks = info->events = 0;
    for (size_t i = 0; i < blocks->count; i++) {
        const struct probity_sched_written *block = &blocks->items[i];
        if (block->trace != number)
            continue;
        info->blocks++;
        info->events += block->events;
        *ret_longest = block->bytes > *ret_longest ? block->bytes : *ret_longest;
    }
}

/* Writes the file under its temporary name, and renames it. */
static int write_as(const char *temporary, const char *name, struct output *output,
                    uint32_t number, const struct probity_sched_blocks *blocks,
                    const struct probity_sched_info *info)
{
    output->file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (output->file < 0)
        return PROBITY_ERROR_WRITE;
    int error = put_head(output, info);
    if (error == 0)
        error = put_blocks(output, number, blocks);
    int error_number = errno;
    if (close(output->file) != 0 && error == 0) {
        error = PROBITY_ERROR_WRITE;
        error_number = errno;
    }
    if (error == 0 && rename(temporary, name) != 0) {
        error = PROBITY_ERROR_WRITE;
        error_number = errno;
    }
    if (error != 0)
        unlink(temporary);
    errno = error_number;
    return error;
}

int probity_sched_trace_write(const struct probity_sched_trace *trace, uint32_t number,
                              const struct probity_sched_blocks *blocks,
                              struct probity_sched_info *info)
{
    struct output output = {.file = -1};
    char *name = NULL, *temporary = NULL;
    uint32_t longest;

    memcpy(info->session, trace->session, sizeof info->session);
    info->error_ns = trace->moments.error_ns;
    count_blocks(blocks, number, info, &longest);
    output.bytes = calloc(1, longest);
    if (asprintf(&name, "%s" PROBITY_SCHED_SUFFIX, trace->path) < 0)
        name = NULL;
    if (name != NULL)
        temporary = probity_temporary_name(name);
    int error = output.bytes == NULL || temporary == NULL
                    ? PROBITY_ERROR_MEMORY
                    : write_as(temporary, name, &output, number, blocks, info);
    free(output.bytes);
    free(temporary);
    free(name);
    return error;
}
