/* SPDX-License-Identifier: MIT
 *
 * snapshot.c: copies the chunks of a live spool, then the declarations in the trace, and writes
 * both as a dump. Spool and trace are untrusted.
 */
#include "writer/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/os.h"
#include "base/parent.h"
#include "base/ticks.h"
#include "probity.h"
#include "reader/file.h"
#include "reader/scan.h"
#include "reader/spool_tail.h"
#include "writer/dump_file.h"

struct snapshot {
    const struct probity_snapshot_wanted *wanted;
    struct probity_snapshot_result *result;
    int trace;
    uint8_t *info_bytes;
    struct probity_info info;
    struct probity_spool_tail ring;
    int has_ring;
    uint64_t began; /* tick: the copy contains everything that was stored before */
    struct probity_drain_input *inputs;
    struct probity_spool_anchor anchors[PROBITY_SPOOL_ANCHORS];
    struct probity_parent parent; /* of the dump */
    char pattern[PROBITY_DUMP_NAME_BYTES];
};

static int take_info(struct snapshot *snapshot)
{
    struct probity_scan scan;
    struct probity_scan_item item;
    int64_t size = probity_file_size(snapshot->trace);
    int got = size < 0 ? (int)size : probity_scan_init(&scan, snapshot->trace, (uint64_t)size, 0);

    if (got != 0)
        return got;
    got = probity_scan_next(&scan, &item);
    if (got >= 0)
        got = got > 0 && item.kind == PROBITY_SCAN_BLOCK &&
                      item.header.type == PROBITY_BLOCK_INFO
                  ? 0
                  : PROBITY_ERROR_DAMAGED;
    if (got == 0) {
        size_t bytes = item.header.payload_bytes;
        snapshot->info_bytes = malloc(bytes + 1);
        got = snapshot->info_bytes != NULL ? 0 : PROBITY_ERROR_MEMORY;
        if (got == 0) {
            memcpy(snapshot->info_bytes, item.payload, bytes);
            got = probity_info_get(snapshot->info_bytes, bytes, &snapshot->info);
        }
    }
    probity_scan_release(&scan);
    return got;
}

/* Copies the ring. */
static int take_ring(struct snapshot *snapshot)
{
    enum { RING = 2 }; /* value in INFO */
    struct probity_snapshot_result *result = snapshot->result;
    struct probity_attach_query query;
    int directory = probity_parent_of_target(snapshot->wanted->trace);

    result->pid = snapshot->info.pid;
    result->mode = snapshot->info.mode;
    if (snapshot->info.mode != RING) {
        if (directory >= 0)
            close(directory);
        return PROBITY_ERROR_STATE;
    }
    snapshot->began = probity_clock_ticks(snapshot->info.clock);
    int error = probity_spool_tail_query(snapshot->trace, directory, &snapshot->info, &query);
    if (error == 0)
        error = probity_spool_tail_take(&query, &snapshot->info, &snapshot->ring);
    if (directory >= 0)
        close(directory);
    snapshot->has_ring = error == 0;
    result->is_dead = error == PROBITY_ERROR_OPEN || (error == 0 && !snapshot->ring.is_alive) ||
                      (error == 0 && snapshot->ring.is_closed);
    return result->is_dead ? PROBITY_ERROR_STATE : error;
}

static void pause_copy(void *context)
{
    (void)context;
    probity_os_yield();
}

static int make_inputs(struct snapshot *snapshot, struct probity_dump_content *ret_content)
{
    const struct probity_spool_tail *ring = &snapshot->ring;

    snapshot->inputs = calloc(ring->count + 1, sizeof *snapshot->inputs);
    if (snapshot->inputs == NULL || ring->count > UINT32_MAX)
        return PROBITY_ERROR_MEMORY;
    for (size_t i = 0; i < ring->count; i++) {
        const struct probity_attach_chunk *chunk = &ring->chunks[i].chunk;
        snapshot->inputs[i] = (struct probity_drain_input){
            .words = chunk->words, .end = chunk->end, .thread = chunk->thread, .tid = chunk->tid,
            .chunk = chunk->serial, .base_tick = chunk->base_tick, .cpu_ns = chunk->cpu_ns,
            .rate = ring->rate, .cpu_known = chunk->cpu_known,
            .stop_at_hole = chunk->state == PROBITY_CHUNK_OPEN};
    }
    for (size_t i = 0; i < ring->anchor_count; i++)
        snapshot->anchors[i] = (struct probity_spool_anchor){
            ring->anchors[i].ticks, ring->anchors[i].raw_ns, ring->anchors[i].monotonic_ns,
            ring->anchors[i].realtime_ns, ring->anchors[i].width_ns, 0};
    ret_content->chunks = snapshot->inputs;
    ret_content->pause = pause_copy;
    ret_content->chunk_count = (uint32_t)ring->count;
    ret_content->chunk_words = ring->attach.chunk_words;
    ret_content->anchors = snapshot->anchors;
    ret_content->anchor_count = (uint32_t)ring->anchor_count;
    return 0;
}

/* Collects the rest. By now, the declarations of discarded chunks are in the file. */
static void take_facts(struct snapshot *snapshot, struct probity_dump_content *ret_content)
{
    const struct probity_spool_header *header = probity_attach_header(&snapshot->ring.attach);
    int64_t size = probity_file_size(snapshot->trace);

    ret_content->trace = snapshot->trace;
    ret_content->trace_bytes = size > 0 ? (uint64_t)size : 0;
    ret_content->totals = (struct probity_totals){
        0, header->dropped_full, header->dropped_memory, header->dropped_write, header->stalls,
        header->stall_ticks, header->unmeasured_ticks_max, (uint32_t)header->threads};
    probity_os_random(ret_content->session, sizeof ret_content->session);
}

/* Determines the file's directory and pattern; without a directory, the current one. */
static int take_names(struct snapshot *snapshot)
{
    const char *pattern = snapshot->wanted->pattern;

    if (probity_parent_open(pattern, &snapshot->parent) != 0)
        return PROBITY_ERROR_OPEN;
    if (strlen(snapshot->parent.name) >= sizeof snapshot->pattern)
        return PROBITY_ERROR_ARGUMENT;
    memcpy(snapshot->pattern, snapshot->parent.name, strlen(snapshot->parent.name) + 1);
    return 0;
}

/* Returns whether a file may be replaced: it must be regular, and not a trace that is being
 * recorded, whose records would be lost. */
static int may_replace(const struct snapshot *snapshot, const char *name)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int file = probity_os_open_regular(snapshot->parent.directory, name, O_RDONLY | O_NOFOLLOW);

    if (file < 0)
        return errno == ENOENT;
    int may = fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
    close(file);
    return may;
}

static int name_file(struct snapshot *snapshot, struct probity_dump_file *file)
{
    char name[PROBITY_DUMP_NAME_BYTES];
    int is_numbered = strstr(snapshot->pattern, "%i") != NULL, result = PROBITY_ERROR_EXISTS;

    for (uint32_t number = 1; result == PROBITY_ERROR_EXISTS && number < PROBITY_DUMP_TRIES;
         number++) {
        if (probity_dump_name(snapshot->pattern, number, name) != 0)
            return PROBITY_ERROR_ARGUMENT;
        int replaces = !is_numbered && snapshot->wanted->replaces;
        snapshot->result->is_in_use = replaces && !may_replace(snapshot, name);
        if (!snapshot->result->is_in_use)
            result = replaces ? probity_dump_file_replace(file, name)
                              : probity_dump_file_name(file, name);
        if (!is_numbered)
            break;
    }
    snprintf(snapshot->result->name, sizeof snapshot->result->name, "%.*s%s",
             (int)(snapshot->parent.name - snapshot->wanted->pattern), snapshot->wanted->pattern,
             name);
    return result;
}

static int write_file(struct snapshot *snapshot, struct probity_dump_content *content)
{
    struct probity_dump_file file;
    int error = probity_dump_file_open(&file, snapshot->parent.directory, content->chunk_words,
                                       content->session);

    if (error != 0) {
        snapshot->result->system_error = errno;
        return error;
    }
    error = probity_dump_file_fill(&file, content);
    snapshot->result->system_error = file.append.error;
    if (error == 0) {
        error = name_file(snapshot, &file);
        snapshot->result->system_error = error == PROBITY_ERROR_OPEN ? errno : 0;
    }
    snapshot->result->records = file.records;
    snapshot->result->bytes = file.append.committed;
    probity_dump_file_close(&file);
    return error;
}

static int write_dump(struct snapshot *snapshot)
{
    const struct probity_spool_header *header = probity_attach_header(&snapshot->ring.attach);
    const char *text = snapshot->wanted->reason != NULL ? snapshot->wanted->reason : "";
    uint64_t complete_from = __atomic_load_n(&header->complete_from, __ATOMIC_ACQUIRE);
    uint64_t first = snapshot->info.anchor.ticks, now = snapshot->began;
    struct probity_dump dump = {.flags = PROBITY_DUMP_WHOLE, .reasons = 1,
                                .had = complete_from > first ? complete_from : first};
    struct probity_dump_reason reason = {
        .kind = PROBITY_DUMP_COMMAND, .thread = (uint32_t)PROBITY_DUMP_NONE,
        .number = (uint32_t)PROBITY_DUMP_NONE, .from = (uint32_t)PROBITY_DUMP_NONE,
        .start = now, .end = now, .text = {text, strlen(text)}};
    struct probity_dump_content content = {.dump = &dump, .reasons = &reason};

    dump.wanted = dump.had; /* as much as is available */
    dump.end = now > dump.had ? now : dump.had;
    snapshot->result->window_ns = probity_ns_of_ticks(dump.end - dump.had, snapshot->ring.rate);
    int error = make_inputs(snapshot, &content);
    if (error != 0)
        return error;
    take_facts(snapshot, &content);
    error = take_names(snapshot);
    if (error == PROBITY_ERROR_OPEN)
        snapshot->result->system_error = errno;
    return error == 0 ? write_file(snapshot, &content) : error;
}

int probity_snapshot_write(const struct probity_snapshot_wanted *wanted,
                           struct probity_snapshot_result *ret_result)
{
    struct snapshot snapshot = {.wanted = wanted, .result = ret_result, .parent = {-1, NULL}};

    memset(ret_result, 0, sizeof *ret_result);
    int error = probity_file_open(wanted->trace, &snapshot.trace);
    if (error != 0)
        return error == PROBITY_ERROR_OPEN ? PROBITY_ERROR_READ : error;
    error = take_info(&snapshot);
    if (error == 0)
        error = take_ring(&snapshot);
    if (error == 0)
        error = write_dump(&snapshot);
    if (snapshot.parent.directory >= 0)
        probity_parent_close(&snapshot.parent);
    if (snapshot.has_ring)
        probity_spool_tail_release(&snapshot.ring);
    free(snapshot.inputs);
    free(snapshot.info_bytes);
    close(snapshot.trace);
    return error;
}
