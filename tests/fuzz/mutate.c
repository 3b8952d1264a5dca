/* SPDX-License-Identifier: MIT
 *
 * mutate.c: mutations that keep a trace's framing; with libFuzzer's own mutations, reading mostly
 * ends at the first length. Blocks are changed inside, repeated, dropped, and copied from other
 * traces. Now and then, the counts of a stream are corrected, so that reading continues after its
 * first error.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/varint.h"
#include "format/block.h"
#include "format/stream.h"
#include "fuzz/target.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t size_max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *left, size_t left_size, const uint8_t *right,
                                 size_t right_size, uint8_t *out, size_t out_max, unsigned seed);

enum { FIRST_BLOCK = 1 + PROBITY_FILE_HEADER_BYTES, BLOCKS_MAX = 256, HEAD_BYTES = 24 };

struct trace {
    uint8_t *bytes;
    size_t size, room;
    size_t at[BLOCKS_MAX + 1]; /* offset of each block, then of their end */
    size_t count;
};

static uint64_t draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static void find_blocks(struct trace *trace)
{
    size_t at = FIRST_BLOCK;

    trace->count = 0;
    while (trace->count < BLOCKS_MAX && trace->size >= at && trace->size - at >= HEAD_BYTES) {
        size_t left = trace->size - at - HEAD_BYTES;
        size_t length = probity_get_u32(trace->bytes + at + 4);
        trace->at[trace->count++] = at;
        at += HEAD_BYTES + (length < left ? length : left);
    }
    trace->at[trace->count] = at;
}

/* Replaces `old` bytes at `at` with `count` bytes, and updates the length of the block. */
static int replace(struct trace *trace, size_t at, size_t old, const uint8_t *bytes, size_t count)
{
    if (trace->size - old + count > trace->room)
        return 0;
    memmove(trace->bytes + at + count, trace->bytes + at + old, trace->size - at - old);
    memcpy(trace->bytes + at, bytes, count);
    trace->size = trace->size - old + count;
    return 1;
}

static void set_length(struct trace *trace, size_t block, size_t payload)
{
    probity_put_u32(trace->bytes + trace->at[block] + 4, (uint32_t)payload);
}

static size_t payload_of(const struct trace *trace, size_t block)
{
    return trace->at[block + 1] - trace->at[block] - HEAD_BYTES;
}

static uint64_t odd_number(uint64_t *state)
{
    static const uint64_t edges[] = {0, 1, 2, 127, 128, 255, 65535, 65536, INT32_MAX, UINT32_MAX,
                                     UINT64_C(1) << 32, INT64_MAX, UINT64_MAX, UINT64_MAX - 1};
    uint64_t edge = edges[draw(state) % (sizeof edges / sizeof *edges)];

    switch (draw(state) % 4) {
    case 0: return edge;
    case 1: return edge + draw(state) % 16;
    case 2: return draw(state) % 64;
    default: return UINT64_C(1) << draw(state) % 64;
    }
}

/* Mutates part of a payload as libFuzzer does, with values seen in comparisons. */
static void change_part(struct trace *trace, size_t block, uint64_t *state)
{
    uint8_t part[256];
    size_t payload = payload_of(trace, block);
    size_t from = draw(state) % (payload + 1), old = payload - from;

    old = old < 64 ? old : 64;
    old = draw(state) % (old + 1);
    memcpy(part, trace->bytes + trace->at[block] + HEAD_BYTES + from, old);
    size_t count = LLVMFuzzerMutate(part, old, sizeof part);
    if (replace(trace, trace->at[block] + HEAD_BYTES + from, old, part, count))
        set_length(trace, block, payload - old + count);
}

/* Changes a fixed field at a multiple of four. */
static void change_field(struct trace *trace, size_t block, uint64_t *state)
{
    size_t payload = payload_of(trace, block), fixed = payload < 160 ? payload : 160;

    if (fixed < 8)
        return;
    uint8_t *at = trace->bytes + trace->at[block] + HEAD_BYTES + draw(state) % (fixed / 4 - 1) * 4;
    uint64_t value = odd_number(state);
    if (draw(state) % 2 == 0)
        value += probity_get_u64(at);
    if (draw(state) % 2 == 0)
        probity_put_u32(at, (uint32_t)value);
    else
        probity_put_u64(at, value);
}

/* Inserts a record, or something like it, anywhere in a stream or among rows. */
static void add_record(struct trace *trace, size_t block, uint64_t *state)
{
    uint8_t record[128 + 64], *at = record;
    size_t payload = payload_of(trace, block), fixed = PROBITY_DATA_FIXED_BYTES;
    uint64_t kind = draw(state) % 20, length = draw(state) % 64;

    if (payload < fixed)
        return;
    at = probity_varint_put(at,
                            (draw(state) % 8 == 0 ? odd_number(state) : draw(state) % 1000) << 1 |
                                 1);
    if (kind == 0) {
        at = probity_varint_put(at, odd_number(state));
    } else {
        at = probity_varint_put(at, kind == 19 ? 1 : PROBITY_STREAM_EVENT);
        at = probity_varint_put(at, kind);
        at = probity_varint_put(at, length);
        for (uint64_t i = 0; i < length && kind != 19; i++)
            *at++ = (uint8_t)(draw(state) % 4 == 0 ? draw(state) : draw(state) % 4);
    }
    size_t from = draw(state) % 2 == 0 ? fixed : fixed + draw(state) % (payload - fixed + 1);
    size_t count = (size_t)(at - record);
    if (replace(trace, trace->at[block] + HEAD_BYTES + from, 0, record, count))
        set_length(trace, block, payload + count);
}

/* Makes a stream's header match its contents up to the first error. */
static void count_stream(struct trace *trace, size_t block)
{
    uint8_t *payload = trace->bytes + trace->at[block] + HEAD_BYTES;
    size_t bytes = payload_of(trace, block);
    struct probity_unpacker unpacker;
    struct probity_record record = {0};
    uint32_t records = 0;

    if (probity_get_u16(payload - HEAD_BYTES + 12) != PROBITY_BLOCK_DATA ||
        bytes < PROBITY_DATA_FIXED_BYTES)
        return;
    probity_unpacker_init(&unpacker, payload + PROBITY_DATA_FIXED_BYTES,
                          bytes - PROBITY_DATA_FIXED_BYTES, probity_get_u64(payload + 32));
    while (probity_unpack(&unpacker, &record) > 0)
        records++;
    probity_put_u32(payload + 24, records);
    probity_put_u64(payload + 40, record.tick);
    size_t whole = (size_t)(unpacker.at - payload);
    if (replace(trace, trace->at[block] + HEAD_BYTES + whole, bytes - whole, payload, 0))
        set_length(trace, block, whole);
}

static void move_blocks(struct trace *trace, size_t block, uint64_t *state)
{
    uint8_t copy[4096];
    size_t bytes = trace->at[block + 1] - trace->at[block];
    size_t other = trace->at[draw(state) % (trace->count + 1)];

    switch (draw(state) % 4) {
    case 0: replace(trace, trace->at[block], bytes, copy, 0); break;
    case 1:
        probity_put_u16(trace->bytes + trace->at[block] + 12, (uint16_t)(draw(state) % 9));
        break;
    default:
        if (bytes > sizeof copy)
            return;
        memcpy(copy, trace->bytes + trace->at[block], bytes);
        replace(trace, other, 0, copy, bytes);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed)
{
    struct trace trace = {.bytes = data, .size = size, .room = size_max};
    uint64_t state = seed;

    if (target_ways == 0)
        return LLVMFuzzerMutate(data, size, size_max);
    find_blocks(&trace);
    if (trace.count == 0 || draw(&state) % 16 == 0)
        return LLVMFuzzerMutate(data, size, size_max);
    if (draw(&state) % 4 == 0)
        data[0] = (uint8_t)(draw(&state) % (draw(&state) % 8 == 0 ? 256 : TARGET_FIX_BELOW));
    if (draw(&state) % 2 == 0) {
        for (uint64_t changes = draw(&state) % 4; changes < 4; changes++)
            trace.size = 1 +
                target_mutate_field(data + 1, trace.size - 1, size_max - 1, TARGET_KINDS,
                                                 draw(&state));
        return trace.size;
    }
    for (uint64_t changes = draw(&state) % 4; changes < 4 && trace.count > 0; changes++) {
        size_t block = draw(&state) % trace.count;
        switch (draw(&state) % 8) {
        case 0: move_blocks(&trace, block, &state); break;
        case 1:
        case 2: change_field(&trace, block, &state); break;
        case 3:
        case 4: add_record(&trace, block, &state); break;
        default: change_part(&trace, block, &state); break;
        }
        find_blocks(&trace);
    }
    for (size_t block = 0; block < trace.count && draw(&state) % 2 == 0; block++) {
        count_stream(&trace, block);
        find_blocks(&trace);
    }
    return trace.size;
}

/* Inserts blocks of one trace among those of another. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *left, size_t left_size, const uint8_t *right,
                                 size_t right_size, uint8_t *out, size_t out_max, unsigned seed)
{
    struct trace trace = {.bytes = out, .size = left_size, .room = out_max};
    struct trace other = {.bytes = (uint8_t *)(uintptr_t)right, .size = right_size};
    uint64_t state = seed;

    if (left_size > out_max || target_ways == 0)
        return 0;
    memcpy(out, left, left_size);
    find_blocks(&trace);
    find_blocks(&other);
    if (trace.count == 0 || other.count == 0)
        return left_size;
    size_t from = draw(&state) % other.count;
    size_t count = 1 + draw(&state) % (other.count - from);
    size_t block = draw(&state) % (trace.count + 1);
    replace(&trace, trace.at[block], 0, right + other.at[from],
            other.at[from + count] - other.at[from]);
    return trace.size;
}
