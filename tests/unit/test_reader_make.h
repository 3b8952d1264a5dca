/* SPDX-License-Identifier: MIT
 *
 * test_reader_make.h: generates small traces and spools for tests of the reader, block by block.
 */
#ifndef TESTS_UNIT_TEST_READER_MAKE_H
#define TESTS_UNIT_TEST_READER_MAKE_H

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/block.h"
#include "format/stream.h"
#include "probity.h"
#include "spool/layout.h"

#define MAKE_RATE (UINT64_C(1) << 31) /* half a nanosecond per tick */
#define MAKE_START UINT64_C(1000000)  /* tick of the first anchor */
#define MAKE_WALL UINT64_C(1700000000000000000)

struct make {
    char path[256];
    uint8_t bytes[1 << 18];
    size_t used;
    uint64_t serial;
    uint64_t records, dropped; /* dropped: the number for END */
};

struct make_hit {
    uint64_t tick, code; /* code: 2 * probe, or 2 * site + 1 */
    int64_t off;         /* how many ticks the thread was off the CPU before this hit */
};

static inline struct probity_anchor make_anchor(uint64_t tick)
{
    uint64_t ns = (tick - MAKE_START) / 2;

    return (struct probity_anchor){tick, 1000 + ns, 2000 + ns, MAKE_WALL + ns, 40};
}

static inline void make_block(struct make *make, uint16_t type, size_t payload_bytes)
{
    probity_block_seal(make->bytes + make->used, type, make->serial++, (uint32_t)payload_bytes);
    make->used += PROBITY_BLOCK_HEADER_BYTES + payload_bytes;
}

static inline uint8_t *make_payload(struct make *make)
{
    return make->bytes + make->used + PROBITY_BLOCK_HEADER_BYTES;
}

static inline struct probity_info make_info(const char *spool)
{
    struct probity_info info = {.pid = 77, .parent_pid = 1, .process_start = 5,
                                .clock = PROBITY_CLOCK_TSC, .flags = 3, .rate = MAKE_RATE,
                                .chunk_words = 512, .gap_ticks = 3000};

    uint32_t own = (uint32_t)getpid(); /* one spool per test process */

    memset(info.session, 7, sizeof info.session);
    memcpy(info.session + 1, &own, sizeof own);
    memset(info.boot, 9, sizeof info.boot);
    info.anchor = make_anchor(MAKE_START);
    info.text[PROBITY_TAG_PROGRAM] = (struct probity_text){"made", 4};
    if (spool != NULL)
        info.text[PROBITY_TAG_SPOOL] = (struct probity_text){spool, strlen(spool)};
    return info;
}

static inline void make_start_with(struct make *make, const struct probity_info *info)
{
    probity_file_header_put(make->bytes);
    make->used = PROBITY_FILE_HEADER_BYTES;
    make->serial = make->records = make->dropped = 0;
    make_block(make, PROBITY_BLOCK_INFO, probity_info_put(make_payload(make), 4096, info));
}

static inline void make_start(struct make *make)
{
    struct probity_info info = make_info(NULL);

    make_start_with(make, &info);
}

/* A DATA block of hits. flags are added to CPU_KNOWN; words are [first_word, first_word +
 * count). */
static inline void make_data(struct make *make, struct probity_data data,
                             const struct make_hit *hits, size_t count)
{
    uint64_t table[PROBITY_STREAM_TABLE];
    uint8_t *payload = make_payload(make);
    struct probity_packer packer =
        probity_packer_start(payload + PROBITY_DATA_FIXED_BYTES, hits[0].tick, table);

    for (size_t i = 0; i < count; i++) {
        if (hits[i].off != 0)
            packer = probity_pack_cpu(packer, hits[i].off);
        probity_pack_hit(&packer, hits[i].tick, PROBITY_STREAM_CODE_FIRST + hits[i].code);
    }
    data.tid = data.tid != 0 ? data.tid : 100 + data.thread;
    data.chunk = data.chunk != 0 ? data.chunk : make->serial;
    data.end_word = data.first_word + (uint32_t)count;
    data.records = (uint32_t)count;
    data.flags |= PROBITY_DATA_CPU_KNOWN;
    data.first_tick = hits[0].tick;
    data.last_tick = hits[count - 1].tick;
    data.rate = MAKE_RATE;
    probity_data_put(payload, &data);
    make->records += count;
    make_block(make, PROBITY_BLOCK_DATA, (size_t)(packer.at - payload));
}

/* A DATA block with one event. */
static inline void make_event(struct make *make, uint32_t thread, uint64_t tick, uint64_t kind,
                              const void *bytes, size_t length)
{
    uint64_t table[PROBITY_STREAM_TABLE];
    uint8_t *payload = make_payload(make);
    struct probity_packer packer =
        probity_packer_start(payload + PROBITY_DATA_FIXED_BYTES, tick, table);

    probity_pack_event(&packer, tick, kind, bytes, length);
    probity_data_put(payload, &(struct probity_data){
                                  .thread = thread, .tid = 100 + thread, .chunk = make->serial,
                                  .end_word = 3, .records = 1, .flags = PROBITY_DATA_HAS_EVENTS,
                                  .first_tick = tick, .last_tick = tick, .rate = MAKE_RATE});
    make->records++;
    make_block(make, PROBITY_BLOCK_DATA, (size_t)(packer.at - payload));
}

static inline void make_sync(struct make *make, uint16_t type, struct probity_anchor anchor,
                             uint64_t watermark)
{
    struct probity_sync sync = {.anchor = anchor, .watermark = watermark,
                                .totals = {.records = make->records,
                                           .dropped_memory = make->dropped},
                                .reason = type == PROBITY_BLOCK_END ? PROBITY_END_EXIT : 0};

    probity_sync_put(make_payload(make), &sync);
    make_block(make, type, PROBITY_SYNC_BYTES);
}

/* Writes `used` bytes to a new file in the test directory. */
static inline void make_write(struct make *make, const char *name)
{
    const char *directory = getenv("TMPDIR");

    snprintf(make->path, sizeof make->path, "%s/%s.%ld", directory != NULL ? directory : "/tmp",
             name, (long)getpid());
    int file = open(make->path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, make->bytes, make->used), make->used);
    close(file);
}

/* ---- Spools ------------------------------------------------------------------------------------
 */

enum { MAKE_CHUNKS = 4, MAKE_WORDS = 512 };

struct make_spool {
    char path[256];
    size_t bytes;
    void *memory; /* written by make_spool_write() */
};

/* A spool in state recording, without a lock, whose process does not exist: dead. It is in the same
 * directory as the traces of make_write(). */
static inline void make_spool_start(struct make_spool *spool)
{
    const char *directory = getenv("TMPDIR");
    struct probity_info info = make_info(NULL);
    int length = snprintf(spool->path, sizeof spool->path, "%s/.probity-",
                          directory != NULL ? directory : "/tmp");

    for (int i = 0; i < 16; i++)
        length += snprintf(spool->path + length, sizeof spool->path - (size_t)length, "%02x",
                           info.session[i]);
    snprintf(spool->path + length, sizeof spool->path - (size_t)length, ".0");
    spool->bytes = probity_spool_segment_bytes(MAKE_CHUNKS, MAKE_WORDS);
    spool->memory = calloc(1, spool->bytes);
    assert_non_null(spool->memory);
    struct probity_spool_header *header = spool->memory;
    memcpy(header->magic, PROBITY_SPOOL_MAGIC, sizeof header->magic);
    header->version = PROBITY_SPOOL_VERSION;
    memcpy(header->session, info.session, 16);
    memcpy(header->boot, info.boot, 16);
    header->pid = 0x7ffffff0;
    header->process_start = 5;
    header->chunk_words = MAKE_WORDS;
    header->chunks = MAKE_CHUNKS;
    header->state = PROBITY_SPOOL_RECORDING;
    header->segments = 1;
    header->locked = 1;
    header->rate = MAKE_RATE;
}

/* A trace with a spool: chunk 1 of thread 1, words 0 and 1 (ids 0 and 1), and a watermark. */
static inline void make_drained(struct make *make, struct make_spool *spool, const char *name)
{
    make_spool_start(spool);
    struct probity_info info = make_info(spool->path);
    make_start_with(make, &info);
    make_data(make, (struct probity_data){.thread = 1, .tid = 101, .chunk = 1},
              (struct make_hit[]){{1000100, 0, 0}, {1000200, 2, 0}}, 2);
    make_sync(make, PROBITY_BLOCK_SYNC, make_anchor(1000300), 1000250);
    make_write(make, name);
}

static inline struct probity_spool_header *make_spool_header(struct make_spool *spool)
{
    return spool->memory;
}

/* Opens chunk `index` with hits of probes first_id + i at base_tick + i * step. */
static inline struct probity_chunk_header *make_chunk(struct make_spool *spool, uint32_t index,
                                                      uint64_t serial, uint64_t base_tick,
                                                      uint64_t step, uint32_t first_id,
                                                      uint32_t count)
{
    struct probity_chunk_header *chunk = probity_spool_chunk(spool->memory, index);
    uint64_t *words = probity_spool_words(spool->memory, MAKE_CHUNKS, MAKE_WORDS, index);

    *chunk = (struct probity_chunk_header){.state = PROBITY_CHUNK_OPEN,
                                           .thread = index + 1,
                                           .tid = 101 + index,
                                           .serial = serial,
                                           .base_tick = base_tick,
                                           .flags = PROBITY_CHUNK_CPU_KNOWN};
    for (uint32_t i = 0; i < count; i++)
        words[i] = probity_word(base_tick + i * step, PROBITY_WORD_CODE_FIRST + 2 * (first_id + i));
    return chunk;
}

static inline void make_spool_write(struct make_spool *spool)
{
    int file = open(spool->path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true(file >= 0);
    assert_int_equal(write(file, spool->memory, spool->bytes), spool->bytes);
    close(file);
}

/* Locks the spool as a running program (F_WRLCK) or a recovering tool (F_RDLCK) would. Closing the
 * descriptor releases the lock. */
static inline int make_spool_hold(const struct make_spool *spool, short type)
{
    struct flock lock = {.l_type = type,
                         .l_whence = SEEK_SET,
                         .l_start = PROBITY_SPOOL_LOCK_PROGRAM,
                         .l_len = 1};
    int file = open(spool->path, O_RDWR);

    assert_true(file >= 0);
    assert_int_equal(fcntl(file, F_OFD_SETLK, &lock), 0);
    return file;
}

static inline void make_spool_release(struct make_spool *spool)
{
    unlink(spool->path);
    free(spool->memory);
}

#endif
