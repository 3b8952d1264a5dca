/* SPDX-License-Identifier: MIT
 *
 * fuzz_spool.c: what another user may leave in the spool of a trace: a segment with any header, any
 * chunks and any words, read together with the trace, dead and alive, asked for other levels, and
 * folded into it.
 *
 * An input is one byte that chooses the way, the bytes that differ in the segment's header, a byte
 * that tells how many chunks there are, and for each the bytes that differ in its header and its
 * first words. Magic, session and boot are right: without them nobody looks further.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "format/block.h"
#include "fuzz/door.h"
#include "reader/reader.h"
#include "spool/control.h"
#include "spool/layout.h"
#include "writer/recover.h"

enum { CHUNKS = 4, WORDS = 512, HEADER_FROM = 48, CHUNK_BYTES = 64, TRACE_ROOM = 1 << 16 };
enum { SURVEY = 1, FOLLOW = 2, RECOVER = 4, COVERED = 8, ASK = 16, ALIVE = 32 };

const int door_ways = 0;

struct door {
    char spool[64], trace[64];
    uint8_t *segment, *trace_bytes;
    size_t segment_bytes, trace_size;
    int spool_file, owner_file; /* the latter holds the lock of a program that lives */
};

struct input {
    const uint8_t *at, *end;
};

static uint8_t take_byte(struct input *input)
{
    return input->at < input->end ? *input->at++ : 0;
}

/* What the input has is put over `to`, by XOR: zeroes leave what is sound. */
static void take_over(struct input *input, uint8_t *to, size_t most)
{
    size_t bytes = (size_t)take_byte(input) * 8;

    bytes = bytes < most ? bytes : most;
    for (size_t i = 0; i < bytes && input->at < input->end; i++)
        to[i] ^= *input->at++;
}

static void make_trace(struct door *door, int is_covered)
{
    struct probity_info info = {.pid = 77, .process_start = 5, .clock = PROBITY_CLOCK_TSC,
                                .flags = 3, .rate = UINT64_C(1) << 31, .chunk_words = WORDS,
                                .anchor = {1000, 1000, 1000, 1700000000000000000, 40},
                                .text[PROBITY_TAG_SPOOL] = {door->spool, strlen(door->spool)}};
    uint8_t *block = door->trace_bytes + PROBITY_FILE_HEADER_BYTES;
    struct probity_data data = {.thread = 1, .tid = 9, .chunk = 1, .end_word = 1, .records = 1,
                                .first_tick = 1100, .last_tick = 1100, .rate = info.rate};

    memset(info.session, 7, sizeof info.session);
    memset(info.boot, 9, sizeof info.boot);
    probity_file_header_put(door->trace_bytes);
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
    door->trace_size = (size_t)(block - door->trace_bytes);
    int file = open(door->trace, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || write(file, door->trace_bytes, door->trace_size) != (ssize_t)door->trace_size)
        abort();
    close(file);
}

static void make_header(struct door *door)
{
    struct probity_spool_header *header = (void *)door->segment;

    memset(header, 0, PROBITY_SPOOL_HEADER_BYTES);
    memcpy(header->magic, PROBITY_SPOOL_MAGIC, sizeof header->magic);
    header->version = PROBITY_SPOOL_VERSION;
    memset(header->session, 7, sizeof header->session);
    memset(header->boot, 9, sizeof header->boot);
    header->chunk_words = WORDS;
    header->chunks = CHUNKS;
    header->state = PROBITY_SPOOL_RECORDING;
    header->segments = 1;
    header->locked = 1;
    header->rate = UINT64_C(1) << 31;
}

static void make_segment(struct door *door, struct input *input)
{
    make_header(door);
    take_over(input, door->segment + HEADER_FROM,
              sizeof(struct probity_spool_header) - HEADER_FROM);
    for (uint32_t i = 0; i < CHUNKS; i++) {
        struct probity_chunk_header *chunk = probity_spool_chunk(door->segment, i);
        uint64_t *words = probity_spool_words(door->segment, CHUNKS, WORDS, i);
        *chunk = (struct probity_chunk_header){
            .state = PROBITY_CHUNK_OPEN, .thread = i, .tid = 10 + i, .serial = i + 1,
            .base_tick = 1100, .flags = PROBITY_CHUNK_CPU_KNOWN};
        memset(words, 0, (size_t)WORDS * 8);
        take_over(input, (uint8_t *)chunk, CHUNK_BYTES);
        take_over(input, (uint8_t *)words, (size_t)WORDS * 8);
    }
}

static void begin(struct door *door)
{
    snprintf(door->spool, sizeof door->spool, "/dev/shm/fuzz-spool.%ld.0", (long)getpid());
    snprintf(door->trace, sizeof door->trace, "/dev/shm/fuzz-spool.%ld.trace", (long)getpid());
    door->segment_bytes = probity_spool_segment_bytes(CHUNKS, WORDS);
    door->trace_bytes = malloc(TRACE_ROOM);
    door->spool_file = open(door->spool, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (door->spool_file < 0 || ftruncate(door->spool_file, (off_t)door->segment_bytes) != 0)
        abort();
    door->segment = mmap(NULL, door->segment_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                         door->spool_file, 0);
    if (door->segment == MAP_FAILED || door->trace_bytes == NULL)
        abort();
}

static void end(struct door *door)
{
    munmap(door->segment, door->segment_bytes);
    close(door->spool_file);
    unlink(door->spool);
    unlink(door->trace);
    free(door->trace_bytes);
}

static int take_profiled(void *context, const struct probity_profiled *profiled)
{
    *(uint64_t *)context += profiled->calls;
    return 0;
}

/* What a program holds while it records. */
static void live(struct door *door)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    door->owner_file = open(door->spool, O_RDWR);
    if (door->owner_file < 0 || fcntl(door->owner_file, F_OFD_SETLK, &lock) != 0)
        abort();
}

static void die(struct door *door)
{
    if (door->owner_file >= 0)
        close(door->owner_file);
    door->owner_file = -1;
}

/* The next event, where nothing is new but for what the writer says that it has written, and then
 * that it is dead. */
static int next(struct door *door, struct probity_reader *reader,
                const struct probity_event **ret_event)
{
    struct probity_spool_header *header = (void *)door->segment;
    int got = probity_reader_next(reader, ret_event);

    if (got != PROBITY_READER_WAITS)
        return got;
    header->committed = door->trace_size;
    got = probity_reader_next(reader, ret_event);
    if (got != PROBITY_READER_WAITS)
        return got;
    die(door);
    return probity_reader_next(reader, ret_event);
}

/* A word makes one record at most; what lives may tell them again, in any order. */
static void read_all(struct door *door, int way)
{
    struct probity_reader_options options = {.survey = way & SURVEY, .follow = (way & FOLLOW) != 0};
    const char *path = door->trace;
    const struct probity_event *event;
    struct probity_reader *reader;
    uint64_t events = 0, calls = 0, before = 0, most = CHUNKS * WORDS + 1;
    int is_alive = door->owner_file >= 0;
    int got;

    if (probity_reader_open(&path, 1, &options, NULL, &reader) != 0)
        return;
    while ((got = next(door, reader, &event)) == 1) {
        if (++events > most * (is_alive ? 2 : 1) || (event->tick < before && !is_alive))
            abort();
        before = event->tick;
    }
    if (got != 0)
        abort();
    probity_reader_profile(reader, 0, take_profiled, &calls);
    probity_reader_close(reader);
}

/* The tool's half of a request for other levels. Nobody answers, but for what the header says. */
static void ask(const struct door *door)
{
    struct probity_attach attach;
    uint8_t session[16], boot[16];
    int functions = 0, parameters = 0;

    memset(session, 7, sizeof session);
    memset(boot, 9, sizeof boot);
    if (probity_attach_open(door->spool, session, boot, 1, &attach) != 0)
        return;
    int error = probity_control_ask(&attach, 1, 2, 0, &functions, &parameters);
    if (error == 0 && (functions < 0 || functions > 255 || parameters < 0 || parameters > 255))
        abort();
    probity_attach_close(&attach);
}

static void ignore(void *context, uint64_t offset, const char *text)
{
    (void)offset;
    (void)text;
    ++*(int *)context;
}

/* What is folded into the trace must be a sound trace. */
static void fold(const struct door *door)
{
    struct probity_recover_result result;
    struct probity_check_result checked;
    int faults = 0;
    struct probity_check_listener listener = {.report = ignore, .context = &faults};

    if (probity_recover(door->trace, &result) != 0 || !result.has_spool)
        return;
    if (probity_check_file(door->trace, &listener, &checked) != 0 || !checked.has_end)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct door door;
    struct input input = {data, data + size};
    uint8_t way = take_byte(&input);

    if (size < 2)
        return 0;
    begin(&door);
    make_segment(&door, &input);
    make_trace(&door, way & COVERED);
    door.owner_file = -1;
    if (way & ALIVE)
        live(&door);
    read_all(&door, way);
    if (way & ASK)
        ask(&door);
    die(&door);
    if (way & RECOVER)
        fold(&door);
    end(&door);
    return 0;
}
