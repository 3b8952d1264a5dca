/* SPDX-License-Identifier: MIT
 *
 * fuzz_spool.c: a trace's spool as another user might have changed it: a segment with any header,
 * chunks and words, which is read together with the trace, dead and alive, receives a request to
 * change levels, and is recovered into the trace.
 *
 * An input is a byte that selects what to do, the changed bytes of the segment's header, a byte for
 * the number of chunks, and for each chunk the changed bytes of its header and its first words.
 * Magic, session and boot are always valid, because otherwise nothing else would be read.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "format/block.h"
#include "fuzz/target.h"
#include "reader/reader.h"
#include "spool/control.h"
#include "spool/layout.h"
#include "writer/recover.h"

enum { CHUNKS = 4, WORDS = 512, HEADER_FROM = 48, CHUNK_BYTES = 64, TRACE_ROOM = 1 << 16 };
enum { SURVEY = 1, FOLLOW = 2, RECOVER = 4, COVERED = 8, ASK = 16, ALIVE = 32 };

const int target_ways = 0;

struct target {
    char spool[64], trace[64];
    uint8_t *segment, *trace_bytes;
    size_t segment_bytes, trace_size;
    int spool_file, owner_file; /* owner_file: has a running program's lock */
};

struct input {
    const uint8_t *at, *end;
};

static uint8_t take_byte(struct input *input)
{
    return input->at < input->end ? *input->at++ : 0;
}

/* Concurrent fuzzers have different sessions. */
static void make_session(uint8_t session[16])
{
    uint32_t own = (uint32_t)getpid();

    memset(session, 7, 16);
    memcpy(session, &own, sizeof own);
}

/* XORs bytes of the input onto `to`, so that zeros leave it valid. */
static void take_over(struct input *input, uint8_t *to, size_t most)
{
    size_t bytes = (size_t)take_byte(input) * 8;

    bytes = bytes < most ? bytes : most;
    for (size_t i = 0; i < bytes && input->at < input->end; i++)
        to[i] ^= *input->at++;
}

static void make_trace(struct target *target, int is_covered)
{
    struct probity_info info = {.pid = 77, .process_start = 5, .clock = PROBITY_CLOCK_TSC,
                                .flags = 3, .rate = UINT64_C(1) << 31, .chunk_words = WORDS,
                                .anchor = {1000, 1000, 1000, 1700000000000000000, 40},
                                .text[PROBITY_TAG_SPOOL] = {target->spool, strlen(target->spool)}};
    uint8_t *block = target->trace_bytes + PROBITY_FILE_HEADER_BYTES;
    struct probity_data data = {.thread = 1, .tid = 9, .chunk = 1, .end_word = 1, .records = 1,
                                .first_tick = 1100, .last_tick = 1100, .rate = info.rate};

    make_session(info.session);
    memset(info.boot, 9, sizeof info.boot);
    probity_file_header_put(target->trace_bytes);
    size_t bytes = probity_info_put(block + PROBITY_BLOCK_HEADER_BYTES, 4096, &info);
    probity_block_seal(block, PROBITY_BLOCK_INFO, 0, (uint32_t)bytes);
    block += PROBITY_BLOCK_HEADER_BYTES + bytes;
    if (is_covered) {
        uint8_t *payload = block + PROBITY_BLOCK_HEADER_BYTES;
        probity_data_put(payload, &data);
        payload[PROBITY_DATA_FIXED_BYTES] = 1 << 1 | 1;
        payload[PROBITY_DATA_FIXED_BYTES + 1] = 16 << 1 | 1;
        probity_block_seal(block, PROBITY_BLOCK_DATA, 1, PROBITY_DATA_FIXED_BYTES + 2);
        block += PROBITY_BLOCK_HEADER_BYTES + PROBITY_DATA_FIXED_BYTES + 2;
    }
    target->trace_size = (size_t)(block - target->trace_bytes);
    int file = open(target->trace, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 ||
        write(file, target->trace_bytes, target->trace_size) != (ssize_t)target->trace_size)
        abort();
    close(file);
}

static void make_header(struct target *target)
{
    struct probity_spool_header *header = (void *)target->segment;

    memset(header, 0, PROBITY_SPOOL_HEADER_BYTES);
    memcpy(header->magic, PROBITY_SPOOL_MAGIC, sizeof header->magic);
    header->version = PROBITY_SPOOL_VERSION;
    make_session(header->session);
    memset(header->boot, 9, sizeof header->boot);
    header->chunk_words = WORDS;
    header->chunks = CHUNKS;
    header->state = PROBITY_SPOOL_RECORDING;
    header->segments = 1;
    header->locked = 1;
    header->rate = UINT64_C(1) << 31;
}

static void make_segment(struct target *target, struct input *input)
{
    make_header(target);
    /* Does not set the trace's identity, because the spool of another trace is not read. */
    take_over(input, target->segment + HEADER_FROM,
              offsetof(struct probity_spool_header, trace_device) - HEADER_FROM);
    for (uint32_t i = 0; i < CHUNKS; i++) {
        struct probity_chunk_header *chunk = probity_spool_chunk(target->segment, i);
        uint64_t *words = probity_spool_words(target->segment, CHUNKS, WORDS, i);
        *chunk = (struct probity_chunk_header){
            .state = PROBITY_CHUNK_OPEN, .thread = i, .tid = 10 + i, .serial = i + 1,
            .base_tick = 1100, .flags = PROBITY_CHUNK_CPU_KNOWN};
        memset(words, 0, (size_t)WORDS * 8);
        take_over(input, (uint8_t *)chunk, CHUNK_BYTES);
        take_over(input, (uint8_t *)words, (size_t)WORDS * 8);
    }
}

static void begin(struct target *target)
{
    uint8_t session[16];
    int length = snprintf(target->spool, sizeof target->spool, "/dev/shm/.probity-");

    make_session(session);
    for (int i = 0; i < 16; i++)
        length += snprintf(target->spool + length, sizeof target->spool - (size_t)length, "%02x",
                           session[i]);
    snprintf(target->spool + length, sizeof target->spool - (size_t)length, ".0");
    snprintf(target->trace, sizeof target->trace, "/dev/shm/fuzz-spool.%ld.trace", (long)getpid());
    target->segment_bytes = probity_spool_segment_bytes(CHUNKS, WORDS);
    target->trace_bytes = malloc(TRACE_ROOM);
    target->spool_file = open(target->spool, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (target->spool_file < 0 || ftruncate(target->spool_file, (off_t)target->segment_bytes) != 0)
        abort();
    target->segment = mmap(NULL, target->segment_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                           target->spool_file, 0);
    if (target->segment == MAP_FAILED || target->trace_bytes == NULL)
        abort();
}

static void end(struct target *target)
{
    munmap(target->segment, target->segment_bytes);
    close(target->spool_file);
    unlink(target->spool);
    unlink(target->trace);
    free(target->trace_bytes);
}

static int take_profiled(void *context, const struct probity_profiled *profiled)
{
    *(uint64_t *)context += profiled->calls;
    return 0;
}

/* Takes the lock that a recording program holds. */
static void live(struct target *target)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    target->owner_file = open(target->spool, O_RDWR);
    if (target->owner_file < 0 || fcntl(target->owner_file, F_OFD_SETLK, &lock) != 0)
        abort();
}

static void die(struct target *target)
{
    if (target->owner_file >= 0)
        close(target->owner_file);
    target->owner_file = -1;
}

/* Returns the next event. If there is none, pretends first that the writer has written everything,
 * and then that the program is dead. */
static int next(struct target *target, struct probity_reader *reader,
                const struct probity_event **ret_event)
{
    struct probity_spool_header *header = (void *)target->segment;
    int got = probity_reader_next(reader, ret_event);

    if (got != PROBITY_READER_WAITS)
        return got;
    header->committed = target->trace_size;
    got = probity_reader_next(reader, ret_event);
    if (got != PROBITY_READER_WAITS)
        return got;
    die(target);
    header->locked = 1; /* otherwise the reader cannot determine it */
    return probity_reader_next(reader, ret_event);
}

/* A word makes at most one record; a live spool may return the same words again, in any order. */
static void read_all(struct target *target, int way)
{
    struct probity_reader_options options = {.prescan = way & SURVEY,
                                             .follow = (way & FOLLOW) != 0};
    const char *path = target->trace;
    const struct probity_event *event;
    struct probity_reader *reader;
    uint64_t events = 0, calls = 0, before = 0, most = CHUNKS * WORDS + 1;
    const struct probity_spool_header *header = (const void *)target->segment;
    int is_alive = target->owner_file >= 0 || header->locked != 1; /* or may be alive */
    int got;

    if (probity_reader_open(&path, 1, &options, NULL, &reader) != 0)
        return;
    while ((got = next(target, reader, &event)) == 1) {
        if (++events > most * (is_alive ? 2 : 1) || (event->tick < before && !is_alive))
            abort();
        before = event->tick;
    }
    if (got != 0)
        abort();
    probity_reader_profile(reader, 0, take_profiled, &calls);
    probity_reader_close(reader);
}

/* Requests other levels like the tool. The only possible reply is in the header. */
static void ask(const struct target *target)
{
    struct probity_attach attach;
    struct probity_place place;
    uint8_t session[16], boot[16];
    char stem[48];
    int functions = 0, parameters = 0;

    make_session(session);
    memset(boot, 9, sizeof boot);
    snprintf(stem, sizeof stem, "%.*s", (int)strlen(target->spool + 9) - 2, target->spool + 9);
    if (probity_place_make(open("/dev/shm", O_PATH), "/dev/shm", geteuid(), stem, &place) != 1)
        abort();
    if (probity_attach_open(&place, session, boot, 1, &attach) == 0) {
        int error = probity_control_ask(&attach, 1, 2, 0, &functions, &parameters);
        if (error == 0 &&
            (functions < 0 || functions > 255 || parameters < 0 || parameters > 255))
            abort();
        probity_attach_close(&attach);
    }
    probity_place_close(&place);
}

static void ignore(void *context, uint64_t offset, const char *text)
{
    (void)offset;
    (void)text;
    ++*(int *)context;
}

/* Recovers the spool; the trace must be valid afterwards. */
static void recover(const struct target *target)
{
    struct probity_recover_result result;
    struct probity_check_result checked;
    int faults = 0;
    struct probity_check_listener listener = {.report = ignore, .context = &faults};

    if (probity_recover(target->trace, 0, &result) != 0 || !result.has_spool)
        return;
    if (probity_check_file(target->trace, &listener, &checked) != 0 || !checked.has_end)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct target target;
    struct input input = {data, data + size};
    uint8_t way = take_byte(&input);

    if (size < 2)
        return 0;
    begin(&target);
    make_segment(&target, &input);
    make_trace(&target, way & COVERED);
    target.owner_file = -1;
    if (way & ALIVE)
        live(&target);
    read_all(&target, way);
    if (way & ASK)
        ask(&target);
    die(&target);
    if (way & RECOVER)
        recover(&target);
    end(&target);
    return 0;
}
