/* SPDX-License-Identifier: MIT
 *
 * test_pass.c: the writer's passes over chunks whose words are stored by hand: what is in the file
 * after each pass, in which order, and which chunks are released. In every file, no record after a
 * watermark is older than it, unless marked late.
 */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os.h"
#include "base/ticks.h"
#include "format/stream.h"
#include "probity.h"
#include "writer/dumps.h"
#include "writer/pass.h"
#include "writer/ring.h"

enum { CHUNKS = 8, WORDS = 512, FILE_MAX = 1 << 16, RECORDS_MAX = 100, SECOND_NS = 1000000000 };

static struct probity_live live;
static struct probity_pass pass;
static struct probity_thread_state slot;
static size_t segment_bytes;

/* The contents of the file. */
static struct {
    uint64_t watermark, ids[RECORDS_MAX];
    uint32_t kinds[RECORDS_MAX];
    int count, late, syncs;
} found;

static uint64_t now(void)
{
    return probity_clock_ticks(live.clock);
}

/* ---- The owner's side
 * --------------------------------------------------------------------------
 */

static void open_chunk(void)
{
    slot.chunk = probity_pool_take(&live.pool);
    assert_true(slot.chunk != PROBITY_POOL_NONE);
    slot.reading.tick = now();
    probity_live_chunk_prepare(&live, slot.chunk, &slot, 0);
    slot.hot.cursor = (uint64_t)probity_pool_words(&live.pool, slot.chunk);
}

/* Reserves a word, and stores it unless it is 0. Returns its address. */
static uint64_t *put(uint64_t word)
{
    uint64_t *at = (uint64_t *)slot.hot.cursor;

    *at = word;
    slot.hot.cursor += sizeof *at;
    return at;
}

static uint64_t hit(uint32_t id)
{
    return probity_word(now(), PROBITY_WORD_CODE_FIRST + 2 * id);
}

static void put_name(void)
{
    uint64_t name = 0x636261, tick = now();

    put(probity_word(tick, probity_word_special(PROBITY_WORD_EVENT, 4)));
    put(tick);
    put(PROBITY_EVENT_PROBE_NAME | UINT64_C(3) << 16);
    put(name);
}

/* Makes hit 1, a probe in progress, and hit 3. Returns the word in which the probe will store its
 * hit; *ret_inside: that hit. */
static uint64_t *put_around_a_hole(uint64_t *ret_inside)
{
    put(hit(1));
    uint64_t *hole = put(0);
    *ret_inside = hit(2);
    put(hit(3));
    return hole;
}

static uint32_t hand_over(void)
{
    uint32_t chunk = slot.chunk;

    probity_live_chunk_release(&live, &slot);
    return chunk;
}

static uint32_t state_of(uint32_t chunk)
{
    return probity_pool_header(&live.pool, chunk)->state;
}

/* ---- The file ----------------------------------------------------------------------------------
 */

static void take_data(const uint8_t *payload, size_t bytes)
{
    struct probity_unpacker unpacker;
    struct probity_record record;
    struct probity_data data;

    assert_int_equal(probity_data_get(payload, bytes, &data), 0);
    found.late += (data.flags & PROBITY_DATA_LATE) != 0;
    assert_true((data.flags & PROBITY_DATA_LATE) || data.first_tick >= found.watermark);
    probity_unpacker_init(&unpacker, payload + PROBITY_DATA_FIXED_BYTES,
                          bytes - PROBITY_DATA_FIXED_BYTES, data.first_tick);
    while (probity_unpack(&unpacker, &record) > 0) {
        assert_true(found.count < RECORDS_MAX);
        found.kinds[found.count] = record.kind;
        found.ids[found.count++] = record.code / 2;
    }
}

static void read_file(void)
{
    static uint8_t bytes[FILE_MAX];
    ssize_t got = pread(pass.append.descriptor, bytes, sizeof bytes, 0), at = 0;
    struct probity_block_header header;
    struct probity_sync sync;

    memset(&found, 0, sizeof found);
    for (; at < got; at += PROBITY_BLOCK_HEADER_BYTES + (ssize_t)header.payload_bytes) {
        const uint8_t *payload = bytes + at + PROBITY_BLOCK_HEADER_BYTES;
        assert_int_equal(probity_block_header_get(bytes + at, &header), 0);
        assert_true(probity_block_is_whole(bytes + at, &header));
        if (header.type == PROBITY_BLOCK_DATA) {
            take_data(payload, header.payload_bytes);
            continue;
        }
        assert_int_equal(probity_sync_get(payload, header.payload_bytes, &sync), 0);
        assert_true(sync.watermark >= found.watermark);
        found.watermark = sync.watermark;
        found.syncs += header.type == PROBITY_BLOCK_SYNC;
    }
}

/* The hits in the order of the file. */
static void expect_hits(const char *expected)
{
    char text[1000] = "";
    size_t used = 0;

    read_file();
    for (int i = 0; i < found.count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%lu", i > 0 ? " " : "",
                                 (unsigned long)found.ids[i]);
    assert_string_equal(text, expected);
}

/* ---- Passes ------------------------------------------------------------------------------------
 */

static void an_open_chunk_is_written_up_to_its_hole(void **state)
{
    uint64_t inside;

    (void)state;
    open_chunk();
    uint64_t *hole = put_around_a_hole(&inside);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(probity_pass_all(&pass, 0), 0);
        expect_hits("1");
    }
    *hole = inside;
    put(hit(4));
    assert_int_equal(probity_pass_all(&pass, 0), 0);
    expect_hits("1 2 3 4");
    assert_int_equal(state_of(slot.chunk), PROBITY_CHUNK_OPEN);
    assert_int_equal(found.late, 0);
}

/* The words of the hit are padding by now, but it is not yet stored in its new words. */
static void a_hit_on_its_way_to_other_words_holds_the_watermark(void **state)
{
    (void)state;
    open_chunk();
    put(hit(1));
    slot.relocating_tick = now();
    slot.relocations = 1;
    uint64_t on_its_way = hit(2);
    put(probity_word(slot.relocating_tick, probity_word_special(PROBITY_WORD_PAD, 1)));
    while (now() - slot.relocating_tick < SECOND_NS / 1000)
        ;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(probity_pass_all(&pass, 0), 0);
        expect_hits("1");
    }
    put(on_its_way);
    slot.relocations = 2;
    assert_int_equal(probity_pass_all(&pass, 0), 0);
    expect_hits("1 2");
}

static uint32_t wait_too_long_for_a_hole(void)
{
    uint32_t chunk = hand_over();

    assert_int_equal(probity_pass_full(&pass), 0);
    expect_hits("");
    assert_true(probity_pool_private(&live.pool, chunk)->waits_since != 0);
    probity_pool_private(&live.pool, chunk)->waits_since -= 2 * (uint64_t)SECOND_NS;
    assert_int_equal(probity_pass_full(&pass), 0);
    return chunk;
}

static void a_chunk_stays_its_owners_while_that_may_store(void **state)
{
    uint64_t inside;

    (void)state;
    open_chunk();
    uint64_t *hole = put_around_a_hole(&inside);
    uint32_t chunk = wait_too_long_for_a_hole();
    for (int i = 0; i < 3; i++) {
        assert_int_equal(probity_pass_all(&pass, 0), 0);
        expect_hits("1");
        assert_int_equal(state_of(chunk), PROBITY_CHUNK_FULL);
    }
    *hole = inside;
    assert_int_equal(probity_pass_all(&pass, 0), 0);
    expect_hits("1 2 3");
    assert_int_equal(found.late, 1);
    assert_int_equal(state_of(chunk), PROBITY_CHUNK_FREE);
    assert_int_equal(live.pool.free_chunks, CHUNKS);
}

/* A chunk opened before a watermark, with a hole younger than the watermark, is handed over after
 * it. */
static void a_pass_over_full_chunks_leaves_the_watermark(void **state)
{
    uint64_t inside;

    (void)state;
    open_chunk();
    put(hit(5));
    while (probity_ns_of_ticks(now() - slot.reading.tick, live.header->rate) < SECOND_NS / 100)
        ;
    assert_int_equal(probity_pass_all(&pass, 0), 0);
    read_file();
    assert_true(found.watermark > slot.reading.tick);
    uint64_t *hole = put_around_a_hole(&inside);
    hand_over();
    assert_int_equal(probity_pass_full(&pass), 0);
    assert_true(pass.watermark >= found.watermark);
    assert_int_equal(probity_pass_all(&pass, 0), 0);
    expect_hits("5");
    *hole = inside;
    assert_int_equal(probity_pass_all(&pass, 1), 0);
    assert_int_equal(probity_pass_end(&pass, PROBITY_END_STOPPED), 0);
    expect_hits("5 1 2 3");
    assert_int_equal(found.late, 0);
}

/* END replaces the last SYNC, and is written together with the last records. */
static void an_end_needs_no_sync(void **state)
{
    (void)state;
    open_chunk();
    put(hit(1));
    assert_int_equal(probity_pass_all(&pass, 0), 0);
    put(hit(2));
    hand_over();
    assert_int_equal(probity_pass_all(&pass, 1), 0);
    expect_hits("1");
    assert_int_equal(live.header->committed, pass.append.committed);
    assert_int_equal(probity_pass_end(&pass, PROBITY_END_STOPPED), 0);
    expect_hits("1 2");
    assert_int_equal(found.syncs, 1);
    assert_int_equal(live.header->committed, pass.append.committed);
}

static void *send_id(void *ret_id)
{
    *(uint32_t *)ret_id = probity_os_thread_id();
    return NULL;
}

static void a_chunk_of_the_dead_is_freed(void **state)
{
    uint32_t own = slot.tid;
    uint64_t inside;
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, send_id, &slot.tid), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    while (probity_os_thread_exists(live.pid, slot.tid))
        ;
    open_chunk();
    put_around_a_hole(&inside);
    slot.in_use = 0;
    uint32_t chunk = wait_too_long_for_a_hole();
    assert_int_equal(probity_pass_all(&pass, 0), 0);
    expect_hits("1 3");
    assert_int_equal(state_of(chunk), PROBITY_CHUNK_FREE);
    slot.tid = own;
}

static void nothing_is_freed_that_could_not_be_written(void **state)
{
    int file = pass.append.descriptor;

    (void)state;
    open_chunk();
    put(hit(1));
    uint32_t chunk = hand_over();
    pass.append.descriptor = open("/dev/full", O_WRONLY);
    assert_int_equal(probity_pass_full(&pass), PROBITY_ERROR_WRITE);
    assert_int_equal(probity_pool_header(&live.pool, chunk)->drained, 0);
    assert_int_equal(state_of(chunk), PROBITY_CHUNK_FULL);
    assert_int_equal(live.header->committed, 0);
    close(pass.append.descriptor);
    pass.append.descriptor = file;
}

/* ---- Rings -------------------------------------------------------------------------------------
 */

/* Fills all chunks of the pool, each with a name and a hit; the oldest may have a probe in
 * progress. Returns the oldest. */
static uint32_t fill_ring(int has_hole)
{
    uint32_t oldest = PROBITY_POOL_NONE;

    for (uint32_t i = 0; i < CHUNKS; i++) {
        open_chunk();
        put_name();
        put(hit(i));
        if (i == 0 && has_hole)
            put(0);
        uint32_t chunk = hand_over();
        oldest = i == 0 ? chunk : oldest;
    }
    return oldest;
}

static void a_ring_keeps_the_newest_and_all_names(void **state)
{
    (void)state;
    uint32_t oldest = fill_ring(0);
    assert_int_equal(probity_ring_forget(&pass), 0);
    assert_int_equal(state_of(oldest), PROBITY_CHUNK_FREE);
    assert_int_equal(live.pool.free_chunks, CHUNKS / 4);
    read_file();
    assert_int_equal(found.count, CHUNKS / 4);
    for (int i = 0; i < found.count; i++)
        assert_int_equal(found.kinds[i], PROBITY_EVENT_PROBE_NAME);
    assert_int_equal(probity_pass_all(&pass, 1), 0);
    assert_int_equal(probity_pass_end(&pass, PROBITY_END_STOPPED), 0);
    read_file();
    assert_int_equal(found.count, CHUNKS / 4 + 2 * (CHUNKS - CHUNKS / 4));
    for (int i = CHUNKS / 4, id = CHUNKS / 4; i < found.count; i += 2)
        assert_int_equal(found.ids[i + 1], id++);
}

static void a_ring_keeps_a_chunk_while_its_owner_may_store(void **state)
{
    (void)state;
    uint32_t oldest = fill_ring(1);
    assert_int_equal(probity_ring_forget(&pass), 0);
    assert_int_equal(state_of(oldest), PROBITY_CHUNK_FULL);
    /* Other chunks were freed instead, and no thread waits for it. */
    assert_int_equal(live.pool.free_chunks, CHUNKS / 4);
    assert_int_equal(live.pool.open_chunks, 1);
    assert_int_equal(probity_ring_forget(&pass), 0);
    assert_int_equal(live.pool.open_chunks, 1);
}

static void a_ring_takes_the_chunk_of_a_thread_that_died_in_a_probe(void **state)
{
    (void)state;
    uint32_t oldest = fill_ring(1);
    probity_pool_header(&live.pool, oldest)->tid = UINT32_MAX / 2;
    assert_int_equal(probity_ring_forget(&pass), 0);
    assert_int_equal(state_of(oldest), PROBITY_CHUNK_FREE);
    read_file();
    assert_int_equal(found.kinds[0], PROBITY_EVENT_PROBE_NAME);
}

static void a_ring_makes_room_although_a_dump_needs_the_oldest(void **state)
{
    (void)state;
    uint32_t oldest = fill_ring(0);
    for (uint32_t i = 0; i < CHUNKS / 2; i++)
        probity_pool_private(&live.pool, i)->is_pinned = 1;
    assert_int_equal(probity_ring_forget(&pass), 0);
    assert_int_equal(state_of(oldest), PROBITY_CHUNK_FULL);
    assert_int_equal(live.pool.free_chunks, CHUNKS / 4);
}

/* The writer thread loses its CPU after it has taken the notices. Meanwhile the oldest chunk
 * becomes older than the ring's window, and a notice arrives whose dump needs this chunk. */
static void a_ring_keeps_what_a_notice_not_yet_taken_needs(void **state)
{
    static struct probity_dumps dumps;
    struct probity_notice notice = {.kind = PROBITY_DUMP_PROGRAM,
                                    .condition = PROBITY_NOTICE_NO_CONDITION};

    (void)state;
    memset(&dumps, 0, sizeof dumps);
    open_chunk();
    put(hit(1));
    uint32_t oldest = hand_over();
    uint64_t handed_over = probity_pool_header(&live.pool, oldest)->handed_over;
    probity_dumps_calls.take(&dumps, &pass, 0);
    notice.start = notice.end = now();
    dumps.before = notice.start - handed_over + 1;
    assert_int_equal(probity_notices_post(&dumps.notices, &notice), 1);
    /* Long enough for the notices taken above, however late that was. */
    live.ring_ticks = 2 * dumps.before;
    while (now() - handed_over <= live.ring_ticks)
        ;
    assert_int_equal(probity_ring_forget(&pass), 0);
    assert_int_equal(state_of(oldest), PROBITY_CHUNK_FULL);
    assert_int_equal(live.header->complete_from, 0);
    probity_dumps_calls.take(&dumps, &pass, 0);
    assert_int_equal(dumps.windows, 1);
    assert_int_equal(probity_ring_forget(&pass), 0);
    assert_int_equal(state_of(oldest), PROBITY_CHUNK_FULL);
    /* Once the dump is written, and no other notice has arrived, the chunk is no longer needed. */
    dumps.windows = 0;
    probity_dumps_calls.take(&dumps, &pass, 0);
    assert_int_equal(probity_ring_forget(&pass), 0);
    assert_int_equal(state_of(oldest), PROBITY_CHUNK_FREE);
    assert_int_equal(live.header->complete_from, handed_over);
}

static int set_up(void **state)
{
    (void)state;
    memset(&live, 0, sizeof live);
    memset(&slot, 0, sizeof slot);
    segment_bytes = probity_spool_segment_bytes(CHUNKS, WORDS);
    live.header = mmap(NULL, segment_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                       -1, 0);
    if (live.header == MAP_FAILED)
        return -1;
    live.header->rate = UINT64_C(1) << 32;
    live.clock = probity_clock_choose(1, 0);
    live.pid = (uint32_t)getpid();
    probity_clock_moment(live.clock, live.header->rate, 1, &live.first);
    live.pool.chunks_per_segment = CHUNKS;
    live.pool.chunk_words = WORDS;
    slot.tid = probity_os_thread_id();
    slot.chunk = PROBITY_POOL_NONE;
    slot.in_use = 1;
    live.slot = &slot;
    live.slots = 1;
    pass.append = (struct probity_append){.descriptor = memfd_create("trace", MFD_CLOEXEC)};
    return pass.append.descriptor < 0 || probity_pool_add(&live.pool, live.header, CHUNKS) != 0 ||
           probity_pass_init(&pass, &live) != 0;
}

static int tear_down(void **state)
{
    (void)state;
    close(pass.append.descriptor);
    probity_pass_release(&pass);
    munmap(live.pool.segment[0].chunk, CHUNKS * sizeof(struct probity_pool_chunk));
    return munmap(live.header, segment_bytes);
}

#define WITH_FILE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILE(an_open_chunk_is_written_up_to_its_hole),
        WITH_FILE(a_hit_on_its_way_to_other_words_holds_the_watermark),
        WITH_FILE(a_chunk_stays_its_owners_while_that_may_store),
        WITH_FILE(a_pass_over_full_chunks_leaves_the_watermark),
        WITH_FILE(an_end_needs_no_sync),
        WITH_FILE(a_chunk_of_the_dead_is_freed),
        WITH_FILE(nothing_is_freed_that_could_not_be_written),
        WITH_FILE(a_ring_keeps_the_newest_and_all_names),
        WITH_FILE(a_ring_keeps_a_chunk_while_its_owner_may_store),
        WITH_FILE(a_ring_takes_the_chunk_of_a_thread_that_died_in_a_probe),
        WITH_FILE(a_ring_makes_room_although_a_dump_needs_the_oldest),
        WITH_FILE(a_ring_keeps_what_a_notice_not_yet_taken_needs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
