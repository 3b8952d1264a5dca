/* SPDX-License-Identifier: MIT
 *
 * gen_adversarial_traces_internal.c: malicious traces with valid checksums: KIND COUNT writes one
 * to standard output. `gen_adversarial_traces_internal list` lists the kinds. Each trace has COUNT
 * items that no program would record, or not in such numbers.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/varint.h"
#include "format/block.h"
#include "format/sites.h"
#include "format/stream.h"

enum { BLOCK_FULL = 1 << 20, BLOCK_ROOM = BLOCK_FULL + 8192 };

static const uint64_t start_tick = 1000000, wall = UINT64_C(1700000000000000000);

struct monster {
    uint8_t *block;
    struct probity_packer packer;
    uint64_t table[PROBITY_STREAM_TABLE];
    struct probity_data data;
    uint64_t serial, records, tick;
};

static void put(const void *bytes, size_t count)
{
    if (fwrite(bytes, 1, count, stdout) != count)
        exit(1);
}

static void put_block(struct monster *monster, uint16_t type, size_t payload_bytes)
{
    probity_block_seal(monster->block, type, monster->serial++, (uint32_t)payload_bytes);
    put(monster->block, PROBITY_BLOCK_HEADER_BYTES + payload_bytes);
}

static uint8_t *payload_of(struct monster *monster)
{
    return monster->block + PROBITY_BLOCK_HEADER_BYTES;
}

static struct probity_anchor anchor_at(uint64_t tick)
{
    uint64_t ns = (tick - start_tick) / 2;

    return (struct probity_anchor){tick, 1000 + ns, 2000 + ns, wall + ns, 40};
}

static void begin_stream(struct monster *monster, uint32_t thread)
{
    uint8_t *stream = payload_of(monster) + PROBITY_DATA_FIXED_BYTES;

    monster->data = (struct probity_data){.thread = thread, .tid = 100 + thread,
                                          .chunk = monster->serial + 1,
                                          .first_tick = monster->tick,
                                          .flags = PROBITY_DATA_CPU_KNOWN,
                                          .rate = UINT64_C(1) << 31};
    monster->packer = probity_packer_start(stream, monster->tick, monster->table);
}

static void end_stream(struct monster *monster)
{
    struct probity_data *data = &monster->data;

    if (data->records == 0)
        return;
    data->end_word = 1;
    data->last_tick = monster->packer.tick;
    monster->records += data->records;
    probity_data_put(payload_of(monster), data);
    put_block(monster, PROBITY_BLOCK_DATA, (size_t)(monster->packer.at - payload_of(monster)));
}

/* Makes room for another record. */
static void next_record(struct monster *monster)
{
    if (monster->packer.at > payload_of(monster) + BLOCK_FULL) {
        end_stream(monster);
        begin_stream(monster, monster->data.thread);
    }
    monster->data.records++;
}

static void hit(struct monster *monster, uint64_t code)
{
    next_record(monster);
    probity_pack_hit(&monster->packer, monster->tick, PROBITY_STREAM_CODE_FIRST + code);
}

static void event(struct monster *monster, uint64_t kind, const void *bytes, size_t length)
{
    next_record(monster);
    monster->data.flags |= PROBITY_DATA_HAS_EVENTS;
    probity_pack_event(&monster->packer, monster->tick, kind, bytes, length);
}

static void sync_block(struct monster *monster, uint16_t type, struct probity_anchor anchor)
{
    struct probity_sync sync = {.anchor = anchor, .watermark = monster->tick,
                                .totals.records = monster->records,
                                .reason = type == PROBITY_BLOCK_END ? PROBITY_END_EXIT : 0};

    probity_sync_put(payload_of(monster), &sync);
    put_block(monster, type, PROBITY_SYNC_BYTES);
}

static void begin(struct monster *monster)
{
    struct probity_info info = {.pid = 77, .parent_pid = 1, .process_start = 5,
                                .clock = PROBITY_CLOCK_TSC, .flags = 3,
                                .rate = UINT64_C(1) << 31, .chunk_words = 512, .gap_ticks = 3000,
                                .anchor = anchor_at(start_tick),
                                .text[PROBITY_TAG_PROGRAM] = {"monster", 7}};
    uint8_t header[PROBITY_FILE_HEADER_BYTES];

    memset(info.session, 7, sizeof info.session);
    memset(info.boot, 9, sizeof info.boot);
    probity_file_header_put(header);
    put(header, sizeof header);
    put_block(monster, PROBITY_BLOCK_INFO, probity_info_put(payload_of(monster), 4096, &info));
    begin_stream(monster, 1);
}

/* ---- Declarations ------------------------------------------------------------------------------
 */

static void put_text(uint8_t **at, const char *text)
{
    size_t length = strlen(text);

    probity_put_u16(*at, (uint16_t)length);
    memcpy(*at + 2, text, length);
    *at += 2 + length;
}

static void declare_site(struct monster *monster, uint32_t number, const char *name)
{
    uint8_t bytes[300], *at = bytes + 8;

    probity_put_u32(bytes, number);
    probity_put_u32(bytes + 4, 1);
    put_text(&at, name);
    put_text(&at, "m.c");
    put_text(&at, "f");
    event(monster, PROBITY_EVENT_SITE, bytes, (size_t)(at - bytes));
}

static void declare_function(struct monster *monster, uint32_t number, const char *name)
{
    uint8_t bytes[300] = {0}, *at = bytes + 12;

    probity_put_u32(bytes, number);
    probity_put_u32(bytes + 4, 1);
    put_text(&at, name);
    put_text(&at, "m.c");
    put_text(&at, "");
    put_text(&at, "");
    put_text(&at, "");
    event(monster, PROBITY_EVENT_FUNCTION, bytes, (size_t)(at - bytes));
}

static const char *name_of(char room[32], uint64_t number)
{
    snprintf(room, 32, "n%" PRIu64, number);
    return room;
}

/* Numbers that a multiplicative hash without a secret would put next to each other in a table for
 * `count` numbers. `factor` and `add` turn numbers into keys. */
static uint32_t colliding(uint32_t after, uint64_t count, uint32_t factor, uint32_t add)
{
    uint64_t capacity = 64, near;

    while (capacity < 2 * count)
        capacity *= 2;
    near = 4 + (count * capacity >> 29);
    do
        after++;
    while (((factor * (uint64_t)after + add) * UINT64_C(0x9e3779b97f4a7c15) >> 32 &
            (capacity - 1)) >= near);
    return after;
}

/* ---- Kinds -------------------------------------------------------------------------------------
 */

static void hits(struct monster *monster, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++, monster->tick += 10)
        hit(monster, 2 * (i % 3));
}

/* Every probe and every pair of probes occurs once. */
static void probes(struct monster *monster, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++, monster->tick += 10)
        hit(monster, 2 * i);
}

static void equal_times(struct monster *monster, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        hit(monster, 2 * (i % 100));
}

static void sites(struct monster *monster, uint64_t count)
{
    char name[32];

    for (uint64_t i = 0; i < count; i++, monster->tick += 10) {
        declare_site(monster, (uint32_t)i, name_of(name, i));
        hit(monster, 2 * i + 1);
    }
}

static void sites_colliding(struct monster *monster, uint64_t count)
{
    uint32_t number = 0;

    for (uint64_t i = 0; i < count; i++, monster->tick += 10) {
        number = colliding(number, count, 2, 2);
        declare_site(monster, number, "n");
        hit(monster, 2 * (uint64_t)number + 1);
    }
}

static void names(struct monster *monster, uint64_t count)
{
    uint8_t bytes[2004];

    memset(bytes, 'n', sizeof bytes);
    for (uint64_t i = 0; i < count; i++, monster->tick += 10) {
        probity_put_u32(bytes, (uint32_t)i);
        event(monster, PROBITY_EVENT_PROBE_NAME, bytes, i % 8 == 0 ? sizeof bytes : 20);
        hit(monster, 2 * i);
    }
}

static void functions(struct monster *monster, uint64_t count)
{
    char name[32];

    for (uint64_t i = 0; i < count; i++, monster->tick += 10) {
        declare_function(monster, (uint32_t)(2 * i), name_of(name, i));
        hit(monster, 4 * i + 1);
        monster->tick += 5;
        hit(monster, 4 * i + 3);
    }
}

/* Functions with equal names and locations, which differ only in their numbers. */
static void functions_alike(struct monster *monster, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++, monster->tick += 10) {
        declare_function(monster, (uint32_t)(2 * i), "alike");
        hit(monster, 4 * i + 1);
    }
}

static void open_scopes(struct monster *monster, uint64_t count)
{
    declare_function(monster, 0, "open");
    for (uint64_t i = 0; i < count; i++, monster->tick += 10)
        hit(monster, 1);
}

static void recursion(struct monster *monster, uint64_t count)
{
    open_scopes(monster, count);
    for (uint64_t i = 0; i < count; i++, monster->tick += 10)
        hit(monster, 3);
}

/* Deeply nested scopes of two functions, neither of which is innermost when it is left. */
static void crossed_scopes(struct monster *monster, uint64_t count)
{
    declare_function(monster, 0, "left");
    declare_function(monster, 2, "right");
    for (uint64_t i = 0; i < count; i++, monster->tick += 10)
        hit(monster, 1);
    for (uint64_t i = 0; i < count; i++, monster->tick += 10) {
        hit(monster, 5);
        hit(monster, 7);
        hit(monster, 7); /* a leave without an enter, which is searched for in all open scopes */
    }
}

static void checkpoints(struct monster *monster, uint64_t count)
{
    uint8_t bytes[16] = {0};

    declare_function(monster, 0, "deferred");
    probity_put_u64(bytes + 8, start_tick);
    for (uint64_t i = 0; i < count; i++, monster->tick += 10) {
        hit(monster, 1);
        event(monster, PROBITY_EVENT_CHECKPOINT, bytes, sizeof bytes);
    }
}

static void unwinds(struct monster *monster, uint64_t count)
{
    static const uint8_t all[4] = {255, 255, 255, 255};

    declare_function(monster, 0, "unwound");
    for (uint64_t i = 0; i < count; i++, monster->tick += 10) {
        hit(monster, 1);
        event(monster, PROBITY_EVENT_UNWOUND, all, sizeof all);
        event(monster, PROBITY_EVENT_PAUSE, "", 0);
    }
}

static void with_ids(struct monster *monster, uint64_t count, uint32_t role_of_even,
                     uint32_t role_of_odd)
{
    uint8_t bytes[24];

    for (uint64_t i = 0; i < count; i++, monster->tick += 10) {
        probity_put_u32(bytes, 1);
        probity_put_u32(bytes + 4, 6 | (i % 2 == 0 ? role_of_even : role_of_odd) << 8);
        probity_put_u64(bytes + 8, i * UINT64_C(0x9e3779b97f4a7c15));
        probity_put_u64(bytes + 16, i);
        event(monster, PROBITY_EVENT_HIT_WITH, bytes, sizeof bytes);
    }
}

static void locks(struct monster *monster, uint64_t count)
{
    with_ids(monster, count, 1, 2);
}

static void queues(struct monster *monster, uint64_t count)
{
    with_ids(monster, count, 4, 4);
}

static void requests(struct monster *monster, uint64_t count)
{
    with_ids(monster, count, 6, 0);
}

static void many_threads(struct monster *monster, uint64_t count, int is_colliding)
{
    uint32_t number = 0;

    for (uint64_t i = 0; i < count; i++, monster->tick += 10) {
        end_stream(monster);
        number = is_colliding ? colliding(number, count, 1, 0) : number + 1;
        begin_stream(monster, number);
        hit(monster, 2);
    }
}

static void threads(struct monster *monster, uint64_t count)
{
    many_threads(monster, count, 0);
}

static void threads_calling(struct monster *monster, uint64_t count)
{
    declare_function(monster, 0, "called");
    for (uint64_t i = 0; i < count; i++, monster->tick += 10) {
        end_stream(monster);
        begin_stream(monster, (uint32_t)i + 1);
        hit(monster, 1);
        hit(monster, 3);
    }
}

static void threads_colliding(struct monster *monster, uint64_t count)
{
    many_threads(monster, count, 1);
}

/* Each block is older than the one before, and all are older than the watermark. */
static void backwards(struct monster *monster, uint64_t count)
{
    uint64_t end = start_tick + 10 * count;

    monster->tick = end;
    sync_block(monster, PROBITY_BLOCK_SYNC, anchor_at(end));
    for (uint64_t i = 0; i < count; i++) {
        monster->tick -= 10;
        begin_stream(monster, 1);
        hit(monster, 2);
        end_stream(monster);
    }
    monster->data.records = 0;
    monster->tick = end;
}

/* All blocks are open at the same time. */
static void overlapping(struct monster *monster, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        monster->tick = start_tick;
        begin_stream(monster, 1);
        hit(monster, 2);
        monster->tick += UINT64_C(1) << 40;
        hit(monster, 2);
        end_stream(monster);
    }
    monster->data.records = 0;
}

static void anchors(struct monster *monster, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        monster->tick += 100;
        struct probity_anchor anchor = anchor_at(monster->tick);
        anchor.realtime_ns += i % 2 * 1000000000; /* the clock is set each time */
        sync_block(monster, PROBITY_BLOCK_SYNC, anchor);
    }
}

static void long_spans(struct monster *monster, uint64_t count)
{
    declare_function(monster, 0, "long");
    for (uint64_t i = 0; i < count; i++) {
        hit(monster, 1);
        monster->tick = i == 0 ? INT64_MAX : monster->tick + 10;
        hit(monster, 3);
        hit(monster, 2);
    }
}

static void small_blocks(struct monster *monster, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        payload_of(monster)[0] = (uint8_t)i;
        put_block(monster, 77, 1);
    }
}

/* Blocks with a false length of 16 MiB, each followed by a small valid one. */
static void false_lengths(struct monster *monster, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        uint8_t head[PROBITY_BLOCK_HEADER_BYTES] = "PBLK";
        probity_put_u32(head + 4, PROBITY_BLOCK_PAYLOAD_MAX);
        probity_put_u16(head + 12, 77);
        probity_put_u64(head + 16, monster->serial);
        put(head, sizeof head);
        put_block(monster, 77, 1);
    }
    memset(payload_of(monster), 0, BLOCK_FULL);
    for (int i = 0; i < 17; i++)
        put(payload_of(monster), BLOCK_FULL);
}

static void listed(struct monster *monster, uint64_t count)
{
    uint32_t left = 0;

    for (uint64_t i = 0; i < count; i++) {
        uint8_t row[64], *end = row, *at = payload_of(monster) + PROBITY_SITES_FIXED_BYTES;
        memset(payload_of(monster), 0, PROBITY_SITES_FIXED_BYTES);
        for (left = 0; left < 30000 && i < count; left++, i++) {
            const uint64_t numbers[] = {2, 0, 0, 1, i, 1, 1, 1, 1, 1};
            end = row;
            for (size_t field = 0; field < sizeof numbers / sizeof *numbers; field++)
                end = probity_varint_put(end, numbers[field]);
            at = probity_varint_put(at, (uint64_t)(end - row));
            memcpy(at, row, (size_t)(end - row));
            at += end - row;
        }
        probity_put_u32(payload_of(monster), left);
        put_block(monster, PROBITY_BLOCK_SITES, (size_t)(at - payload_of(monster)));
    }
}

static const struct {
    const char *name;
    void (*make)(struct monster *monster, uint64_t count);
} kinds[] = {{"hits", hits},
             {"probes", probes},
             {"equal_times", equal_times},
             {"sites", sites},
             {"sites_colliding", sites_colliding},
             {"names", names},
             {"functions", functions},
             {"functions_alike", functions_alike},
             {"open_scopes", open_scopes},
             {"recursion", recursion},
             {"crossed_scopes", crossed_scopes},
             {"checkpoints", checkpoints},
             {"unwinds", unwinds},
             {"locks", locks},
             {"queues", queues},
             {"requests", requests},
             {"threads", threads},
             {"threads_calling", threads_calling},
             {"threads_colliding", threads_colliding},
             {"backwards", backwards},
             {"overlapping", overlapping},
             {"anchors", anchors},
             {"long_spans", long_spans},
             {"small_blocks", small_blocks},
             {"false_lengths", false_lengths},
             {"listed", listed}};

int main(int argc, char **argv)
{
    struct monster monster = {.block = malloc(BLOCK_ROOM + BLOCK_ROOM), .tick = start_tick};
    uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 0) : 1000;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (argc > 1 && strcmp(argv[1], "list") == 0) {
            puts(kinds[i].name);
        } else if (argc > 1 && strcmp(argv[1], kinds[i].name) == 0) {
            begin(&monster);
            kinds[i].make(&monster, count);
            end_stream(&monster);
            sync_block(&monster, PROBITY_BLOCK_END, anchor_at(monster.tick + 1));
        }
    }
    free(monster.block);
    return fflush(stdout) != 0 || argc < 2;
}
