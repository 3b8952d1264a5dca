/* SPDX-License-Identifier: MIT
 *
 * stream.h: the packed stream of records in a DATA block (doc/trace-format.md, "Stream"): packer
 * for the writer, unpacker for the reader. Pure functions on memory.
 */
#ifndef PROBITY_FORMAT_STREAM_H
#define PROBITY_FORMAT_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/varint.h"

enum {
    PROBITY_STREAM_TABLE = 256,
    PROBITY_STREAM_CODE_FIRST = 16, /* smaller codes are not hits */
    PROBITY_STREAM_CPU = 1,
    PROBITY_STREAM_EVENT = 2,
    PROBITY_EVENT_BYTES_MAX = 2040
};

enum probity_event_kind {
    PROBITY_EVENT_HIT = 0, /* only in struct probity_record: a hit, not an event of the format */
    PROBITY_EVENT_THREAD_NAME = 1,
    PROBITY_EVENT_PROBE_NAME = 2,
    PROBITY_EVENT_SITE = 3,
    PROBITY_EVENT_STALL = 4,
    PROBITY_EVENT_FUNCTION = 5,
    PROBITY_EVENT_FORMAT = 6,
    PROBITY_EVENT_ENTER = 7,
    PROBITY_EVENT_LEAVE = 8,
    PROBITY_EVENT_MESSAGE = 9,
    PROBITY_EVENT_PARAMETERS = 10,
    PROBITY_EVENT_CHECKPOINT = 11,
    PROBITY_EVENT_PAUSE = 12,
    PROBITY_EVENT_RESUME = 13,
    PROBITY_EVENT_LEVELS = 14,
    PROBITY_EVENT_PROFILING = 15,
    PROBITY_EVENT_UNWOUND = 16,
    PROBITY_EVENT_HIT_WITH = 17,
    PROBITY_EVENT_HIT_PACKED = 18, /* only in a stream: the unpacker turns it into 17 */
    PROBITY_EVENT_LOST = 19,
    PROBITY_EVENT_PAUSED_BEFORE = 20,
    PROBITY_EVENT_BUDGET = 21,
    PROBITY_EVENT_HIT_PLACED = 22, /* only in a stream, like PROBITY_EVENT_HIT_PACKED */
    PROBITY_EVENT_MAPPING = 23,
    PROBITY_EVENT_THREAD_STATE = 24, /* only in TRACE.sched: doc/sched.md */
    PROBITY_EVENT_SITES_SWITCHED = 25
};

/* The first byte of PROBITY_EVENT_BUDGET. */
enum probity_budget_what {
    PROBITY_BUDGET_WHAT_COUNTED = 1, /* calls of the function are only counted from here on */
    PROBITY_BUDGET_WHAT_EXCEEDED = 2, /* over budget, but no more functions can be restricted to
                                       * counting */
    PROBITY_BUDGET_WHAT_TOTAL = 3,   /* total of the whole run */
    PROBITY_BUDGET_WHAT_REMOVED = 4, /* calls of the function are not even counted from here on */
    PROBITY_BUDGET_WHAT_HITS = 5     /* free locks of the kind, or allocations, are only counted */
};
enum { PROBITY_BUDGET_EVENT_BYTES = 24, PROBITY_BUDGET_UNITS = 1000000 };

struct probity_budget_event {
    uint32_t what;           /* an enum probity_budget_what, or an unknown one */
    uint32_t site;           /* site of the function's enter or of a hit, if it concerns one */
    uint32_t budget, cost;   /* shares of the program's CPU time, in millionths */
    uint64_t calls;          /* calls of the function, or hits, per second until then */
};

/* get: returns 0 or PROBITY_ERROR_DAMAGED. */
void probity_budget_event_put(uint8_t payload[PROBITY_BUDGET_EVENT_BYTES],
                              const struct probity_budget_event *event);
int probity_budget_event_get(const uint8_t *payload, size_t bytes,
                             struct probity_budget_event *ret_event);

/* PROBITY_EVENT_MAPPING: a file that is mapped at [first, end). Texts need not be
 * zero-terminated. */
struct probity_mapping_event {
    uint64_t first, end;
    uint64_t bias; /* address in memory minus the same address as linked */
    const char *path, *build_id; /* build_id: hexadecimal, may be empty */
    size_t path_bytes, build_id_bytes;
};

/* put: returns the size of the payload, or 0 if it does not fit in `room` bytes. get: returns 0,
 * with texts that point into the payload, or PROBITY_ERROR_DAMAGED. */
size_t probity_mapping_event_put(uint8_t *payload, size_t room,
                                 const struct probity_mapping_event *event);
int probity_mapping_event_get(const uint8_t *payload, size_t bytes,
                              struct probity_mapping_event *ret_event);

/* What a thread is doing, according to the scheduler: the first byte of
 * PROBITY_EVENT_THREAD_STATE. */
enum probity_sched_state {
    PROBITY_STATE_UNKNOWN = 0,
    PROBITY_STATE_RUNNING = 1,  /* on a CPU */
    PROBITY_STATE_RUNNABLE = 2, /* waits for a CPU */
    PROBITY_STATE_BLOCKED = 3,  /* waits for something else */
    PROBITY_STATE_ENDED = 4,
    PROBITY_STATES = 4          /* number of states that take time */
};
enum { PROBITY_STATE_EVENT_BYTES = 8 };

struct probity_state_event {
    uint32_t state; /* an enum probity_sched_state */
    uint32_t cpu;   /* RUNNING */
    uint32_t waker; /* RUNNABLE: thread id, or 0 */
};

/* get: returns 0 or PROBITY_ERROR_DAMAGED; an unknown state is read as UNKNOWN. */
void probity_state_event_put(uint8_t payload[PROBITY_STATE_EVENT_BYTES],
                             const struct probity_state_event *event);
int probity_state_event_get(const uint8_t *payload, size_t bytes,
                            struct probity_state_event *ret_event);

/* Replaces the format of PROBITY_EVENT_LEAVE: an exception left the scope. */
#define PROBITY_FORMAT_RAISED UINT32_C(0xffffffff)

/* Whether later records depend on an event of this kind. */
static inline int probity_event_declares(uint64_t kind)
{
    return kind == PROBITY_EVENT_THREAD_NAME || kind == PROBITY_EVENT_PROBE_NAME ||
           kind == PROBITY_EVENT_SITE || kind == PROBITY_EVENT_FUNCTION ||
           kind == PROBITY_EVENT_FORMAT || kind == PROBITY_EVENT_LEVELS ||
           kind == PROBITY_EVENT_MAPPING || kind == PROBITY_EVENT_SITES_SWITCHED;
}

/* Whether an event is an action of the thread, as opposed to a declaration, a setting, a stall or a
 * loss. A ring keeps declarations that are older than its oldest record. */
static inline int probity_event_is_record(uint32_t kind)
{
    return kind == PROBITY_EVENT_HIT || kind == PROBITY_EVENT_UNWOUND ||
           kind == PROBITY_EVENT_PAUSED_BEFORE ||
           (kind >= PROBITY_EVENT_ENTER && kind <= PROBITY_EVENT_RESUME);
}

/* Flags of PROBITY_EVENT_HIT_WITH. */
enum {
    PROBITY_HIT_WITH_SITE = 1,
    PROBITY_HIT_WITH_CORRELATION = 2,
    PROBITY_HIT_WITH_OBJECT = 4,
    PROBITY_HIT_WITH_PLACE = 8,
    PROBITY_HIT_WITH_ROLE_SHIFT = 8,
    PROBITY_HIT_WITH_ROLE_MAX = 19,
    PROBITY_HIT_WITH_BYTES_MAX = 32
};

/* Types of values, and special lengths (doc/trace-format.md, "Values"). */
enum probity_value_type {
    PROBITY_VALUE_BOOL = 1,
    PROBITY_VALUE_CHAR = 2,
    PROBITY_VALUE_I8 = 3,
    PROBITY_VALUE_U8 = 4,
    PROBITY_VALUE_I16 = 5,
    PROBITY_VALUE_U16 = 6,
    PROBITY_VALUE_I32 = 7,
    PROBITY_VALUE_U32 = 8,
    PROBITY_VALUE_I64 = 9,
    PROBITY_VALUE_U64 = 10,
    PROBITY_VALUE_I128 = 11,
    PROBITY_VALUE_U128 = 12,
    PROBITY_VALUE_FLOAT = 13,
    PROBITY_VALUE_DOUBLE = 14,
    PROBITY_VALUE_LONG_DOUBLE = 15,
    PROBITY_VALUE_POINTER = 16,
    PROBITY_VALUE_STRING = 17,
    PROBITY_VALUE_WIDE_STRING = 18,
    PROBITY_VALUE_BYTES = 19,
    PROBITY_VALUE_LITERAL = 20,
    PROBITY_VALUE_TEXT = 21,
    PROBITY_VALUE_WIDE_CHAR = 22,
    PROBITY_VALUE_COMPLEX = 23
};

enum {
    PROBITY_VALUE_LENGTH_CUT = 0x8000,
    PROBITY_VALUE_LENGTH_NULL = 0xffff,
    PROBITY_VALUE_LENGTH_UNREADABLE = 0xfffe
};

/* Code of a hit, without PROBITY_STREAM_CODE_FIRST: twice a 32-bit number, plus one for a site. */
#define PROBITY_STREAM_CODE_MAX ((UINT64_C(1) << 33) - 1)

static inline unsigned probity_stream_slot(uint64_t code)
{
    return (uint32_t)code * 2654435761u >> 24;
}

/* Packs records. The caller guarantees room: 2 * (9 + 8) bytes for a hit, 3 * 17 for CPU, 4 * 17
 * + length for an event. Passed by value if not inlined, so that the hot loop keeps it in
 * registers. */
struct probity_packer {
    uint8_t *at;
    uint64_t tick;     /* tick of the previous record */
    uint64_t previous; /* code of the previous hit */
    uint64_t *table;   /* PROBITY_STREAM_TABLE codes */
};

/* Whether the packer's next code can be predicted from the table. */
static inline int probity_packer_is_valid(const struct probity_packer *packer)
{
    return packer->at != NULL && packer->table != NULL &&
           (packer->previous == 0 || packer->previous >= PROBITY_STREAM_CODE_FIRST);
}

/* Starts a stream at `at`; clears the table, which the caller owns. */
struct probity_packer probity_packer_start(uint8_t *at, uint64_t first_tick, uint64_t *table);

/* Packs a hit with its stream code (16 + 2 * probe, or 16 + 2 * site + 1) at tick, which is not
 * earlier than the previous record. */
static inline void probity_pack_hit(struct probity_packer *packer, uint64_t tick, uint64_t code)
{
    uint64_t *expected = &packer->table[probity_stream_slot(packer->previous)];
    uint64_t delta = tick - packer->tick;

    packer->tick = tick;
    packer->previous = code;
    if (__builtin_expect(*expected == code, 1)) {
        packer->at = probity_varint_put(packer->at, delta << 1);
        return;
    }
    packer->at = probity_varint_put(packer->at, delta << 1 | 1);
    packer->at = probity_varint_put(packer->at, code);
    *expected = code;
}

/* Packs a change: the thread was off the CPU for `off` more ticks (may be negative). */
struct probity_packer probity_pack_cpu(struct probity_packer packer, int64_t off);

/* Packs an event without its payload: the caller stores `length` bytes at packer->at. */
static inline void probity_pack_event_head(struct probity_packer *packer, uint64_t tick,
                                           uint64_t kind, size_t length)
{
    uint8_t *at = probity_varint_put(packer->at, (tick - packer->tick) << 1 | 1);

    packer->tick = tick;
    if (__builtin_expect((kind | length) < 128, 1)) { /* each number has one byte */
        probity_put_u32(at, (uint32_t)(PROBITY_STREAM_EVENT | kind << 8 | length << 16) << 1 |
                                0x010101);
        packer->at = at + 3;
        return;
    }
    at = probity_varint_put(at, PROBITY_STREAM_EVENT);
    at = probity_varint_put(at, kind);
    packer->at = probity_varint_put(at, length);
}

static inline void probity_pack_event(struct probity_packer *packer, uint64_t tick, uint64_t kind,
                                      const void *payload, size_t length)
{
    probity_pack_event_head(packer, tick, kind, length);
    memcpy(packer->at, payload, length);
    packer->at += length;
}

/* One record of a stream. */
struct probity_record {
    uint64_t tick;
    uint64_t off;     /* d in the format: ticks off the CPU since first tick; signed, modulo 2^64 */
    uint64_t kind;    /* an enum probity_event_kind; unknown kinds are passed through */
    uint64_t code;    /* hits: 2 * probe number, or 2 * site number + 1 */
    const uint8_t *payload; /* payload of an event; points into the stream or the unpacker */
    size_t payload_bytes;
};

/* A hit with ids, decoded from its payload. */
struct probity_hit_with {
    uint64_t code; /* as in struct probity_record */
    uint32_t role;
    int has_correlation, has_object, has_place;
    uint64_t correlation, object, place; /* 0: none */
};

/* Returns "lock-wait", ...; "" for 0. Never NULL. */
const char *probity_role_name(uint32_t role);

/* Returns the ending of the name of a typed site: ":wait", ...; "" for 0. Never NULL. */
const char *probity_role_ending(uint32_t role);

/* Whether the correlation id of a hit in this role identifies a piece of work: 1 or 0. */
int probity_role_is_of_work(uint32_t role);

/* Whether a wait lasts from a hit in the first role to one in the second: 1 or 0. */
int probity_role_is_wait(uint32_t before, uint32_t after);

/* Returns 1, or 0 with *ret_hit unchanged if the payload is too short. */
int probity_hit_with_parse(const uint8_t *payload, size_t bytes, struct probity_hit_with *ret_hit);

/* Ids of the last packed hit of each kind in a stream; 0 at its start. Kind 22 has separate ids, so
 * that a reader that skips kind 22 can decode kind 18. */
struct probity_ids {
    struct probity_ids_last {
        uint64_t correlation, object, place;
    } packed, placed; /* PROBITY_EVENT_HIT_PACKED, PROBITY_EVENT_HIT_PLACED */
};

enum { PROBITY_IDS_ROOM = 40 };

/* Packs the payload of a hit with ids into at most PROBITY_IDS_ROOM bytes. Returns the end of the
 * output, and its kind. If the payload does not have the usual form, returns NULL and changes
 * nothing. */
uint8_t *probity_ids_pack(struct probity_ids *ids, const uint8_t *payload, size_t bytes,
                          uint8_t *at, uint64_t *ret_kind);

struct probity_unpacker {
    const uint8_t *at, *end;
    uint64_t tick, off, previous;
    struct probity_ids ids;
    uint8_t hit_with[PROBITY_HIT_WITH_BYTES_MAX]; /* payload of the last hit with ids, unpacked */
    uint64_t table[PROBITY_STREAM_TABLE];
};

void probity_unpacker_init(struct probity_unpacker *unpacker, const uint8_t *stream, size_t bytes,
                           uint64_t first_tick);

/* Whether the rest of the stream is a valid range, and the expected code is that of a hit. */
static inline int probity_unpacker_is_valid(const struct probity_unpacker *unpacker)
{
    uint64_t code = unpacker->table[probity_stream_slot(unpacker->previous)];

    return unpacker->at <= unpacker->end && (code == 0 || code >= PROBITY_STREAM_CODE_FIRST);
}

/* Unpacks the next record. Returns 1, 0 at the end of the stream, or PROBITY_ERROR_DAMAGED. */
int probity_unpack_rare(struct probity_unpacker *unpacker, struct probity_record *ret_record);

/* Takes a hit that ends at `at`. Returns 1. */
static inline int probity_unpack_hit(struct probity_unpacker *unpacker, const uint8_t *at,
                                     uint64_t code, uint64_t tick,
                                     struct probity_record *ret_record)
{
    unpacker->at = at;
    unpacker->previous = code;
    unpacker->tick = tick;
    ret_record->tick = tick;
    ret_record->off = unpacker->off;
    ret_record->kind = PROBITY_EVENT_HIT;
    ret_record->code = code - PROBITY_STREAM_CODE_FIRST;
    return 1;
}

/* Unpacks a hit with the predicted code, if not near the end of the stream. Returns whether there
 * was one. */
static inline int probity_unpack_expected(struct probity_unpacker *unpacker,
                                          struct probity_record *ret_record)
{
    const uint8_t *at = unpacker->at;
    uint64_t code = unpacker->table[probity_stream_slot(unpacker->previous)];
    uint64_t delta, tick;

    if (__builtin_expect(unpacker->end - at < PROBITY_VARINT_BYTES_MAX ||
                             code < PROBITY_STREAM_CODE_FIRST, 0))
        return 0;
    at = probity_varint_get_short(at, &delta);
    if (__builtin_expect(at == NULL || (delta & 1) ||
                             __builtin_add_overflow(unpacker->tick, delta >> 1, &tick), 0))
        return 0;
    return probity_unpack_hit(unpacker, at, code, tick, ret_record);
}

/* The same for a hit whose code is stored in the stream. */
static inline int probity_unpack_coded(struct probity_unpacker *unpacker,
                                       struct probity_record *ret_record)
{
    const uint8_t *at = unpacker->at;
    uint64_t delta, code, tick;

    if (__builtin_expect(unpacker->end - at < 2 * PROBITY_VARINT_BYTES_MAX, 0))
        return 0;
    at = probity_varint_get_short(at, &delta);
    if (__builtin_expect(at == NULL || !(delta & 1), 0))
        return 0;
    at = probity_varint_get_short(at, &code);
    if (__builtin_expect(at == NULL ||
                             code - PROBITY_STREAM_CODE_FIRST > PROBITY_STREAM_CODE_MAX ||
                             __builtin_add_overflow(unpacker->tick, delta >> 1, &tick), 0))
        return 0;
    unpacker->table[probity_stream_slot(unpacker->previous)] = code;
    return probity_unpack_hit(unpacker, at, code, tick, ret_record);
}

static inline int probity_unpack(struct probity_unpacker *unpacker,
                                 struct probity_record *ret_record)
{
    return __builtin_expect(probity_unpack_expected(unpacker, ret_record), 1)
               ? 1
               : probity_unpack_rare(unpacker, ret_record);
}

#endif
