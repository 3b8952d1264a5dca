/* SPDX-License-Identifier: MIT
 *
 * activity.c: samples a live spool. The spool does not count records, and the cursors of threads
 * are private, so a sample consists of the serial and the number of used words of each chunk:
 *
 *     serial as before      the words that were added
 *     another serial        the rest of the old chunk, and the words of the new one
 *     serials never seen    chunks that were filled and drained in between: whole ones
 *
 * The number of records is estimated from the words and the mean length of the records in the open
 * chunks. All input is untrusted: it affects only the number shown.
 */
#include "reader/activity.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/os.h"
#include "probity.h"
#include "reader/file.h"
#include "reader/scan.h"
#include "reader/spools.h"
#include "spool/control.h"

struct chunk_sample {
    uint64_t serial; /* 0: free */
    uint32_t words;
};

struct sample {
    uint64_t at_ns; /* CLOCK_MONOTONIC; 0: no sample yet */
    struct chunk_sample *chunks;
    uint64_t serial_max;
    uint64_t calls; /* number of calls counted in cells */
};

struct probity_activity {
    struct probity_attach attach;
    struct probity_spools_entry trace; /* its path, device and inode */
    struct probity_activity_facts facts;
    struct sample before, now;
    uint64_t words, records; /* in the open chunks of the latest sample */
    char label[256];
};

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- The trace's INFO --------------------------------------------------------------------------
 */

static void take_info(struct probity_activity *activity, const struct probity_info *info)
{
    const struct probity_text *label = &info->text[PROBITY_TAG_LABEL];

    activity->facts.begin_ns = info->anchor.realtime_ns;
    activity->facts.mode = info->mode < PROBITY_MODE_RING ? info->mode + PROBITY_MODE_BLOCK : 0;
    activity->facts.is_profile = (info->flags & PROBITY_INFO_PROFILE) != 0;
    if (label->bytes != NULL && label->length < sizeof activity->label) {
        memcpy(activity->label, label->bytes, label->length);
        activity->label[label->length] = 0;
        activity->facts.label = activity->label;
    }
}

static void read_info(struct probity_activity *activity, int file, uint64_t bytes)
{
    const struct probity_spool_header *header = probity_attach_header(&activity->attach);
    struct probity_scan scan;
    struct probity_scan_item item;
    struct probity_info info;

    if (probity_scan_init(&scan, file, bytes, 1) == 0 && probity_scan_next(&scan, &item) > 0 &&
        item.kind == PROBITY_SCAN_BLOCK && item.header.type == PROBITY_BLOCK_INFO &&
        probity_info_get(item.payload, item.header.payload_bytes, &info) == 0 &&
        memcmp(info.session, header->session, sizeof info.session) == 0)
        take_info(activity, &info);
    probity_scan_release(&scan);
}

/* Reads the facts of the trace. They stay unknown without a trace, or if the file is a different
 * one. */
static void look_at_trace(struct probity_activity *activity)
{
    struct stat status;
    int found = probity_spools_find_trace(&activity->attach, &activity->trace);

    if (found < 0)
        activity->trace.trace_path = NULL;
    if (found != PROBITY_SPOOLS_FOUND)
        return;
    activity->facts.trace_path = activity->trace.trace_path;
    int file = probity_os_open_regular(AT_FDCWD, activity->trace.trace_path, O_RDONLY | O_NOFOLLOW);
    int64_t bytes = file >= 0 ? probity_file_size(file) : -1;
    if (bytes > 0 && fstat(file, &status) == 0 && status.st_dev == activity->trace.device &&
        status.st_ino == activity->trace.inode)
        read_info(activity, file, (uint64_t)bytes);
    if (file >= 0)
        close(file);
}

int probity_activity_open(const struct probity_spools *spools,
                          const struct probity_spools_entry *entry,
                          struct probity_activity **ret_activity)
{
    const char *path = spools->directories[entry->directory];
    struct probity_activity *activity = calloc(1, sizeof *activity);
    struct probity_place place = {.directory = -1};
    int directory = activity != NULL ? probity_place_open_directory(path, entry->owner) : -1;

    if (directory < 0) {
        free(activity);
        return activity == NULL ? PROBITY_ERROR_MEMORY : PROBITY_ERROR_STATE;
    }
    int result = probity_place_make(directory, path, entry->owner, entry->stem, &place);
    if (result == 1)
        result = probity_attach_open(&place, entry->session, entry->boot, 0, &activity->attach);
    if (result != 0) {
        probity_place_close(&place);
        free(activity);
        return result == PROBITY_ERROR_OPEN ? PROBITY_ERROR_STATE : result;
    }
    size_t room = (size_t)activity->attach.chunk_count;
    activity->before.chunks = calloc(room, sizeof *activity->before.chunks);
    activity->now.chunks = calloc(room, sizeof *activity->now.chunks);
    if (activity->before.chunks == NULL || activity->now.chunks == NULL) {
        probity_activity_close(activity);
        return PROBITY_ERROR_MEMORY;
    }
    look_at_trace(activity);
    *ret_activity = activity;
    return 0;
}

/* ---- Samples -----------------------------------------------------------------------------------
 */

static uint64_t word_at(const struct probity_attach_chunk *chunk, uint32_t at)
{
    return __atomic_load_n(&chunk->words[at], __ATOMIC_RELAXED);
}

/* Returns the number of used words: words are stored in order, apart from a few holes. */
static uint32_t words_in_use(const struct probity_attach_chunk *chunk)
{
    uint32_t low = 0, high = chunk->end;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (word_at(chunk, middle) != 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Counts records, for their mean length. */
static void count_records(struct probity_activity *activity,
                          const struct probity_attach_chunk *chunk, uint32_t end)
{
    for (uint32_t at = 0; at < end;) {
        uint64_t word = word_at(chunk, at);
        uint32_t code = (uint32_t)(word & PROBITY_WORD_CODE_MASK);
        uint32_t words = code < PROBITY_WORD_CODE_FIRST ? code >> 4 & 255 : 1;
        uint32_t kind = code < PROBITY_WORD_CODE_FIRST ? code & 15 : PROBITY_WORD_HIT;

        at += words > 0 ? words : 1;
        activity->records += kind == PROBITY_WORD_HIT || kind == PROBITY_WORD_EVENT;
    }
    activity->words += end;
}

static void sample_chunk(struct probity_activity *activity, uint64_t index)
{
    struct chunk_sample *sample = &activity->now.chunks[index];
    struct probity_attach_chunk chunk;
    struct probity_cells cells;

    *sample = (struct chunk_sample){0, 0};
    if (probity_attach_chunk(&activity->attach, index, &chunk)) {
        sample->words = chunk.state == PROBITY_CHUNK_OPEN ? words_in_use(&chunk) : chunk.end;
        if (chunk.state == PROBITY_CHUNK_OPEN)
            count_records(activity, &chunk, sample->words);
        sample->serial =
            probity_attach_chunk_stands(&activity->attach, index, &chunk) ? chunk.serial : 0;
    } else if (probity_attach_cells(&activity->attach, index, &cells)) {
        activity->facts.chunks_used++;
        for (uint32_t i = 0; i < cells.count; i++)
            activity->now.calls +=
                __atomic_load_n(&cells.cells[i].calls, __ATOMIC_RELAXED) +
                __atomic_load_n(&cells.cells[i].untimed, __ATOMIC_RELAXED);
    }
    if (sample->serial == 0)
        return;
    activity->facts.chunks_used++;
    if (sample->serial > activity->now.serial_max)
        activity->now.serial_max = sample->serial;
}

/* Returns the current mode, which `probity level --set mode=...` may have changed. */
static uint32_t mode_now(const struct probity_activity *activity)
{
    const struct probity_spool_header *header = probity_attach_header(&activity->attach);
    uint32_t mode = probity_control_mode(__atomic_load_n(&header->levels, __ATOMIC_RELAXED));

    return mode != 0 ? mode : activity->facts.mode;
}

void probity_activity_sample(struct probity_activity *activity)
{
    const struct probity_spool_header *header = probity_attach_header(&activity->attach);
    struct probity_activity_facts *facts = &activity->facts;
    struct sample oldest = activity->before;

    activity->before = activity->now;
    activity->now = (struct sample){.at_ns = now_ns(), .chunks = oldest.chunks};
    activity->words = activity->records = 0;
    facts->chunks_used = 0;
    facts->chunks = activity->attach.chunk_count;
    for (uint64_t i = 0; i < activity->attach.chunk_count; i++)
        sample_chunk(activity, i);
    facts->mode = mode_now(activity);
    facts->threads = __atomic_load_n(&header->threads, __ATOMIC_RELAXED);
    facts->stalls = __atomic_load_n(&header->stalls, __ATOMIC_RELAXED);
    facts->dropped = __atomic_load_n(&header->dropped_full, __ATOMIC_RELAXED) +
                     __atomic_load_n(&header->dropped_memory, __ATOMIC_RELAXED) +
                     __atomic_load_n(&header->dropped_write, __ATOMIC_RELAXED);
    facts->has_failed = __atomic_load_n(&header->failed, __ATOMIC_RELAXED) != 0;
}

/* Returns the number of words stored between the two samples. */
static uint64_t words_added(const struct probity_activity *activity)
{
    uint32_t chunk_words = activity->attach.chunk_words;
    uint64_t words = 0, seen = 0;

    for (uint64_t i = 0; i < activity->attach.chunk_count; i++) {
        const struct chunk_sample *old = &activity->before.chunks[i];
        const struct chunk_sample *new = &activity->now.chunks[i];
        if (new->serial == old->serial) {
            words += new->words > old->words ? new->words - old->words : 0;
            continue;
        }
        words += new->words;
        words += old->serial != 0 && old->words < chunk_words ? chunk_words - old->words : 0;
        seen += new->serial > activity->before.serial_max;
    }
    uint64_t begun = activity->now.serial_max > activity->before.serial_max
                         ? activity->now.serial_max - activity->before.serial_max
                         : 0;
    return words + (begun > seen ? begun - seen : 0) * chunk_words;
}

double probity_activity_rate(const struct probity_activity *activity)
{
    uint64_t ns = activity->now.at_ns - activity->before.at_ns;
    double per_word = activity->words > 0
                          ? (double)activity->records / (double)activity->words
                          : 1;

    if (activity->before.at_ns == 0 || ns == 0)
        return -1;
    if (activity->facts.is_profile)
        return activity->now.calls >= activity->before.calls
                   ? (double)(activity->now.calls - activity->before.calls) * 1e9 / (double)ns
                   : 0;
    return (double)words_added(activity) * per_word * 1e9 / (double)ns;
}

const struct probity_activity_facts *probity_activity_facts(
    const struct probity_activity *activity)
{
    return &activity->facts;
}

void probity_activity_close(struct probity_activity *activity)
{
    probity_attach_close(&activity->attach);
    free(activity->trace.trace_path);
    free(activity->before.chunks);
    free(activity->now.chunks);
    free(activity);
}
