/* SPDX-License-Identifier: MIT
 *
 * test_chunks.c: the chunk headers of a recording against the words in the chunks. While a reader
 * waits for words of a chunk, the watermark stays at the base tick in the header, so the words must
 * not be older. Uses a ring, in which the writer does not touch full chunks.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "own_recording.h"
#include "reader/spool_tail.h"
#include "runtime/session.h"
#include "spool/attach.h"
#include "spool/drain.h"

enum { CHUNK_WORDS = 512, HITS = 6000 };

/* Waits for a gap after the last hit, so that the next hit reads the CPU clock and is relocated to
 * follow the reading. */
static void hit_behind_a_gap(uint64_t gap_ticks)
{
    uint64_t last = probity_ticks();

    while (probity_ticks() - last < gap_ticks)
        ;
    probity_probe(7);
}

/* The payload of the INFO block begins with session and boot, and contains the spool's path among
 * its texts. */
static void attach_own(struct probity_attach *ret_attach)
{
    static uint8_t bytes[16384];
    struct probity_info info;
    struct probity_block_header header;
    struct probity_attach_query query;
    int file = open(trace_path, O_RDONLY);
    ssize_t got = pread(file, bytes, sizeof bytes, PROBITY_FILE_HEADER_BYTES);

    assert_true(got > PROBITY_BLOCK_HEADER_BYTES);
    assert_int_equal(probity_block_header_get(bytes, &header), 0);
    assert_int_equal(probity_info_get(bytes + PROBITY_BLOCK_HEADER_BYTES, header.payload_bytes,
                                      &info), 0);
    assert_int_equal(probity_spool_tail_query(file, -1, &info, &query), 0);
    close(file);
    assert_int_equal(probity_attach_find(&query, NULL, ret_attach), 0);
}

static struct probity_data drain(const struct probity_attach *attach,
                                 const struct probity_attach_chunk *chunk, uint32_t *ret_records)
{
    static struct probity_drain_entry entries[CHUNK_WORDS];
    static uint8_t block[CHUNK_WORDS * PROBITY_DRAIN_RECORD_BYTES + 4096];
    struct probity_drain_scratch scratch = {entries, CHUNK_WORDS};
    const struct probity_drain_input input = {.words = chunk->words,
                                              .end = chunk->end,
                                              .base_tick = chunk->base_tick,
                                              .cpu_ns = chunk->cpu_ns,
                                              .rate = probity_attach_header(attach)->rate,
                                              .cpu_known = chunk->cpu_known};
    struct probity_drain_output output;
    struct probity_data data = {.records = 0};

    probity_drain_chunk(&input, &scratch, 0, block, &output);
    if (output.records > 0)
        assert_int_equal(probity_data_get(block + PROBITY_BLOCK_HEADER_BYTES,
                                          output.block_bytes - PROBITY_BLOCK_HEADER_BYTES, &data),
                         0);
    *ret_records = output.records;
    return data;
}

static void no_record_is_older_than_its_chunk(void **state)
{
    struct probity_attach attach;
    uint32_t records = 0, hits = 0, chunks = 0;
    /* A wasted reading must be worth up to 16 times the cost that the recording has measured. */
    uint64_t gap_ticks = 32 * probity_session_get()->cpu_cost_ticks;

    (void)state;
    attach_own(&attach);
    for (int i = 0; i < HITS; i++)
        hit_behind_a_gap(gap_ticks);
    for (uint64_t i = 0; i < attach.chunk_count; i++) {
        struct probity_attach_chunk chunk;
        if (!probity_attach_chunk(&attach, i, &chunk))
            continue;
        struct probity_data data = drain(&attach, &chunk, &records);
        if (records == 0)
            continue;
        assert_true(chunk.base_tick <= data.first_tick);
        assert_true((int64_t)chunk.cpu_ns >= 0);
        /* Until the first hit's CPU record, the CPU time is only in the chunk header. */
        assert_true(data.cpu_ns >= chunk.cpu_ns);
        hits += records;
        chunks++;
    }
    /* With a few words per chunk, some chunks are replaced during a relocation. */
    assert_true(chunks > HITS * 4 / CHUNK_WORDS / 2);
    assert_true(hits > HITS / 2);
    probity_attach_close(&attach);
}

static int set_up(void **state)
{
    struct probity_options options = {.mode = PROBITY_MODE_RING,
                                      .chunk_records = CHUNK_WORDS,
                                      .spool_records = 128 * CHUNK_WORDS,
                                      .cpu_gap_ns = 1000,
                                      .cpu_budget_permille = 1000,
                                      .cost = PROBITY_OFF};

    (void)state;
    return start_recording(options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_record_is_older_than_its_chunk, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
