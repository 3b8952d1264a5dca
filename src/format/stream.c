/* SPDX-License-Identifier: MIT
 *
 * stream.c: the rare cases of the packed stream; the common record is inline in stream.h. Pure
 * functions.
 */
#include "format/stream.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "probity_typed.h"

struct probity_packer probity_packer_start(uint8_t *at, uint64_t first_tick, uint64_t *table)
{
    probity_assert(at != NULL && table != NULL);
    memset(table, 0, PROBITY_STREAM_TABLE * sizeof *table);
    return (struct probity_packer){at, first_tick, 0, table};
}

struct probity_packer probity_pack_cpu(struct probity_packer packer, int64_t off)
{
    probity_assert(probity_packer_is_valid(&packer));
    packer.at = probity_varint_put(packer.at, 1); /* no time has passed */
    packer.at = probity_varint_put(packer.at, PROBITY_STREAM_CPU);
    packer.at = probity_varint_put(packer.at, (uint64_t)off << 1 ^ (uint64_t)(off >> 63));
    return packer;
}

void probity_unpacker_init(struct probity_unpacker *unpacker, const uint8_t *stream, size_t bytes,
                           uint64_t first_tick)
{
    probity_assert(stream != NULL || bytes == 0);
    memset(unpacker, 0, sizeof *unpacker);
    unpacker->at = stream;
    unpacker->end = stream + bytes;
    unpacker->tick = first_tick;
}

static const uint8_t *get_event(const uint8_t *at, const uint8_t *end,
                                struct probity_record *ret_record)
{
    uint64_t length = 0;

    at = probity_varint_get(at, end, &ret_record->kind);
    if (at != NULL)
        at = probity_varint_get(at, end, &length);
    if (at == NULL || length > PROBITY_EVENT_BYTES_MAX || length > (size_t)(end - at) ||
        ret_record->kind == PROBITY_EVENT_HIT)
        return NULL;
    ret_record->payload = at;
    ret_record->payload_bytes = (size_t)length;
    probity_assert(at + length <= end);
    return at + length;
}

/* ---- Hits with ids ------------------------------------------------------------------------------
 */

/* Fields of the first number of a packed hit: flags, role, number. */
enum {
    ROLE_SHIFT = 3,
    NUMBER_SHIFT = 6,
    FLAGS = PROBITY_HIT_WITH_SITE | PROBITY_HIT_WITH_CORRELATION | PROBITY_HIT_WITH_OBJECT,
    PLACED_ROLE_SHIFT = 4,
    PLACED_NUMBER_SHIFT = 10,
    PLACED_FLAGS = FLAGS | PROBITY_HIT_WITH_PLACE
};

static uint8_t *id_pack(uint8_t *at, uint64_t *last, const uint8_t *id)
{
    uint64_t value = probity_get_u64(id), change = value - *last;

    *last = value;
    return probity_varint_put(at, change << 1 ^ (uint64_t)((int64_t)change >> 63));
}

static const uint8_t *id_unpack(const uint8_t *at, const uint8_t *end, uint64_t *last)
{
    uint64_t zigzag = 0;

    at = probity_varint_get(at, end, &zigzag);
    if (at != NULL)
        *last += zigzag >> 1 ^ -(zigzag & 1);
    return at;
}

static size_t ids_bytes(uint64_t flags)
{
    return 8 * (((flags & PROBITY_HIT_WITH_CORRELATION) != 0) +
                ((flags & PROBITY_HIT_WITH_OBJECT) != 0) +
                (size_t)((flags & PROBITY_HIT_WITH_PLACE) != 0));
}

uint8_t *probity_ids_pack(struct probity_ids *ids, const uint8_t *payload, size_t bytes,
                          uint8_t *at, uint64_t *ret_kind)
{
    uint64_t flags = bytes >= 8 ? probity_get_u32(payload + 4) : UINT64_MAX;
    uint64_t role = flags >> PROBITY_HIT_WITH_ROLE_SHIFT, number;
    const uint8_t *id = payload + 8;
    struct probity_ids_last *last = &ids->packed;

    probity_assert(payload != NULL);
    if (role >> (PLACED_NUMBER_SHIFT - PLACED_ROLE_SHIFT) != 0 ||
        (flags & 0xff & ~(uint64_t)PLACED_FLAGS) != 0 || bytes != 8 + ids_bytes(flags))
        return NULL;
    flags &= PLACED_FLAGS;
    number = probity_get_u32(payload);
    if (role >> (NUMBER_SHIFT - ROLE_SHIFT) == 0 && (flags & PROBITY_HIT_WITH_PLACE) == 0) {
        *ret_kind = PROBITY_EVENT_HIT_PACKED;
        at = probity_varint_put(at, number << NUMBER_SHIFT | role << ROLE_SHIFT | flags);
    } else {
        *ret_kind = PROBITY_EVENT_HIT_PLACED;
        last = &ids->placed;
        at = probity_varint_put(at,
                                number << PLACED_NUMBER_SHIFT | role << PLACED_ROLE_SHIFT | flags);
    }
    if (flags & PROBITY_HIT_WITH_CORRELATION) {
        at = id_pack(at, &last->correlation, id);
        id += 8;
    }
    if (flags & PROBITY_HIT_WITH_OBJECT) {
        at = id_pack(at, &last->object, id);
        id += 8;
    }
    return flags & PROBITY_HIT_WITH_PLACE ? id_pack(at, &last->place, id) : at;
}

static uint8_t *put_id(uint8_t *to, uint64_t is_there, uint64_t id)
{
    if (!is_there)
        return to;
    probity_put_u64(to, id);
    return to + 8;
}

/* Unpacks a packed hit with ids. An invalid one is left packed. */
static void unpack_ids(struct probity_unpacker *unpacker, struct probity_record *record)
{
    int is_placed = record->kind == PROBITY_EVENT_HIT_PLACED;
    unsigned role_shift = is_placed ? PLACED_ROLE_SHIFT : ROLE_SHIFT;
    unsigned number_shift = is_placed ? PLACED_NUMBER_SHIFT : NUMBER_SHIFT;
    struct probity_ids_last *last =
        is_placed ? &unpacker->ids.placed : &unpacker->ids.packed, ids = *last;
    const uint8_t *at = record->payload, *end = at + record->payload_bytes;
    uint8_t *to = unpacker->hit_with;
    uint64_t first = 0;

    at = probity_varint_get(at, end, &first);
    uint64_t flags = first & (is_placed ? PLACED_FLAGS : FLAGS);
    if (at != NULL && (flags & PROBITY_HIT_WITH_CORRELATION))
        at = id_unpack(at, end, &ids.correlation);
    if (at != NULL && (flags & PROBITY_HIT_WITH_OBJECT))
        at = id_unpack(at, end, &ids.object);
    if (at != NULL && (flags & PROBITY_HIT_WITH_PLACE))
        at = id_unpack(at, end, &ids.place);
    if (at == NULL || first >> number_shift > UINT32_MAX)
        return;
    probity_assert(at <= end);
    *last = ids;
    uint64_t role = first >> role_shift & ((1u << (number_shift - role_shift)) - 1);
    probity_put_u32(to, (uint32_t)(first >> number_shift));
    probity_put_u32(to + 4, (uint32_t)(flags | role << PROBITY_HIT_WITH_ROLE_SHIFT));
    to = put_id(to + 8, flags & PROBITY_HIT_WITH_CORRELATION, ids.correlation);
    to = put_id(to, flags & PROBITY_HIT_WITH_OBJECT, ids.object);
    to = put_id(to, flags & PROBITY_HIT_WITH_PLACE, ids.place);
    record->kind = PROBITY_EVENT_HIT_WITH;
    record->payload = unpacker->hit_with;
    record->payload_bytes = (size_t)(to - unpacker->hit_with);
    probity_assert(record->payload_bytes <= sizeof unpacker->hit_with);
}

/* ---- Records ------------------------------------------------------------------------------------
 */

/* Unpacks anything except a predicted hit: an unpredicted hit, changes of the CPU time before a
 * record, or an event. */
int probity_unpack_rare(struct probity_unpacker *unpacker, struct probity_record *ret_record)
{
    const uint8_t *end = unpacker->end;

    probity_assert(probity_unpacker_is_valid(unpacker));
    while (unpacker->at != end) {
        uint64_t delta, zigzag;
        uint64_t code = unpacker->table[probity_stream_slot(unpacker->previous)];
        const uint8_t *at = probity_varint_get(unpacker->at, end, &delta);
        if (at != NULL && (delta & 1))
            at = probity_varint_get(at, end, &code);
        if (at == NULL || (code < PROBITY_STREAM_CODE_FIRST && !(delta & 1)) ||
            __builtin_add_overflow(unpacker->tick, delta >> 1, &unpacker->tick))
            return PROBITY_ERROR_DAMAGED;
        ret_record->tick = unpacker->tick;
        ret_record->off = unpacker->off;
        if (code >= PROBITY_STREAM_CODE_FIRST) {
            if (code - PROBITY_STREAM_CODE_FIRST > PROBITY_STREAM_CODE_MAX)
                return PROBITY_ERROR_DAMAGED;
            unpacker->table[probity_stream_slot(unpacker->previous)] = code;
            unpacker->previous = code;
            unpacker->at = at;
            ret_record->kind = PROBITY_EVENT_HIT;
            ret_record->code = code - PROBITY_STREAM_CODE_FIRST;
            return 1;
        }
        if (code == PROBITY_STREAM_EVENT) {
            at = get_event(at, end, ret_record);
            if (at == NULL)
                return PROBITY_ERROR_DAMAGED;
            unpacker->at = at;
            if (ret_record->kind == PROBITY_EVENT_HIT_PACKED ||
                ret_record->kind == PROBITY_EVENT_HIT_PLACED)
                unpack_ids(unpacker, ret_record);
            return 1;
        }
        at = code == PROBITY_STREAM_CPU ? probity_varint_get(at, end, &zigzag) : NULL;
        if (at == NULL)
            return PROBITY_ERROR_DAMAGED;
        unpacker->off += zigzag >> 1 ^ -(zigzag & 1);
        unpacker->at = at;
    }
    return 0;
}

/* Name of each role, and the suffix of the names of its sites. */
static const char *const roles[PROBITY_HIT_WITH_ROLE_MAX + 1][2] = {
    {"", ""},
    {"lock-wait", ":wait"},
    {"lock-hold", ":hold"},
    {"lock-release", ":release"},
    {"queue-put", ":put"},
    {"queue-get", ":get"},
    {"request-begin", ":begin"},
    {"request-end", ":end"},
    {"condition-wait", ":wait"},
    {"woken", ":woken"},
    {"notify", ":notify"},
    {"lock-made", ":made"},
    {"lock-gone", ":gone"},
    {"allocate", ":allocate"},
    {"free", ":free"},
    {"given-up", ":given-up"},
    {"thread-begin", ":begin"},
    {"thread-end", ":end"},
    {"send", ":send"},
    {"receive", ":receive"}};

const char *probity_role_name(uint32_t role)
{
    return role <= PROBITY_HIT_WITH_ROLE_MAX ? roles[role][0] : "";
}

const char *probity_role_ending(uint32_t role)
{
    return role <= PROBITY_HIT_WITH_ROLE_MAX ? roles[role][1] : "";
}

int probity_role_is_of_work(uint32_t role)
{
    return role == PROBITY_ROLE_NONE ||
           (role >= PROBITY_ROLE_QUEUE_PUT && role <= PROBITY_ROLE_REQUEST_END) ||
           role == PROBITY_ROLE_SEND || role == PROBITY_ROLE_RECEIVE;
}

int probity_role_is_wait(uint32_t before, uint32_t after)
{
    return (before == PROBITY_ROLE_LOCK_WAIT &&
            (after == PROBITY_ROLE_LOCK_HOLD || after == PROBITY_ROLE_GIVEN_UP)) ||
           (before == PROBITY_ROLE_CONDITION_WAIT && after == PROBITY_ROLE_WOKEN);
}

/* Takes the next id if its bit is set and the payload contains it. */
static int take_id(const uint8_t **at, const uint8_t *end, int is_there, uint64_t *ret_id)
{
    *ret_id = 0;
    if (!is_there || end - *at < 8)
        return 0;
    *ret_id = probity_get_u64(*at);
    *at += 8;
    return 1;
}

int probity_hit_with_parse(const uint8_t *payload, size_t bytes, struct probity_hit_with *ret_hit)
{
    const uint8_t *at = payload + 8, *end = payload + bytes;

    if (bytes < 8)
        return 0;
    uint32_t flags = probity_get_u32(payload + 4);
    uint32_t role = flags >> PROBITY_HIT_WITH_ROLE_SHIFT & 0xff;
    ret_hit->code =
        2 * (uint64_t)probity_get_u32(payload) + ((flags & PROBITY_HIT_WITH_SITE) != 0);
    ret_hit->role = role <= PROBITY_HIT_WITH_ROLE_MAX ? role : 0;
    ret_hit->has_correlation = take_id(&at, end, (flags & PROBITY_HIT_WITH_CORRELATION) != 0,
                                       &ret_hit->correlation);
    ret_hit->has_object =
        take_id(&at, end, (flags & PROBITY_HIT_WITH_OBJECT) != 0, &ret_hit->object);
    ret_hit->has_place =
        take_id(&at, end, (flags & PROBITY_HIT_WITH_PLACE) != 0, &ret_hit->place);
    return 1;
}

/* ---- Budget ------------------------------------------------------------------------------------
 */

void probity_budget_event_put(uint8_t payload[PROBITY_BUDGET_EVENT_BYTES],
                              const struct probity_budget_event *event)
{
    probity_assert(event->what != 0);
    probity_put_u32(payload, event->what);
    probity_put_u32(payload + 4, event->site);
    probity_put_u32(payload + 8, event->budget);
    probity_put_u32(payload + 12, event->cost);
    probity_put_u64(payload + 16, event->calls);
}

int probity_budget_event_get(const uint8_t *payload, size_t bytes,
                             struct probity_budget_event *ret_event)
{
    if (bytes < PROBITY_BUDGET_EVENT_BYTES)
        return PROBITY_ERROR_DAMAGED;
    *ret_event = (struct probity_budget_event){.what = probity_get_u32(payload),
                                               .site = probity_get_u32(payload + 4),
                                               .budget = probity_get_u32(payload + 8),
                                               .cost = probity_get_u32(payload + 12),
                                               .calls = probity_get_u64(payload + 16)};
    return 0;
}

/* ---- Mappings ----------------------------------------------------------------------------------
 */

enum { MAPPING_FIXED_BYTES = 24 };

static uint8_t *put_text(uint8_t *at, const char *text, size_t bytes)
{
    probity_put_u16(at, (uint16_t)bytes);
    memcpy(at + 2, text, bytes);
    return at + 2 + bytes;
}

size_t probity_mapping_event_put(uint8_t *payload, size_t room,
                                 const struct probity_mapping_event *event)
{
    if (event->path_bytes > UINT16_MAX || event->build_id_bytes > UINT16_MAX ||
        room < MAPPING_FIXED_BYTES + 4 + event->path_bytes + event->build_id_bytes)
        return 0;
    probity_put_u64(payload, event->first);
    probity_put_u64(payload + 8, event->end);
    probity_put_u64(payload + 16, event->bias);
    uint8_t *at = put_text(payload + MAPPING_FIXED_BYTES, event->path, event->path_bytes);
    return (size_t)(put_text(at, event->build_id, event->build_id_bytes) - payload);
}

/* Returns the address after a text, or NULL if the payload is too short. */
static const uint8_t *get_text(const uint8_t *at, const uint8_t *end, const char **ret_text,
                               size_t *ret_bytes)
{
    if (end - at < 2 || end - at - 2 < probity_get_u16(at))
        return NULL;
    *ret_text = (const char *)at + 2;
    *ret_bytes = probity_get_u16(at);
    return at + 2 + *ret_bytes;
}

int probity_mapping_event_get(const uint8_t *payload, size_t bytes,
                              struct probity_mapping_event *ret_event)
{
    struct probity_mapping_event event;
    const uint8_t *end = payload + bytes;

    if (bytes < MAPPING_FIXED_BYTES)
        return PROBITY_ERROR_DAMAGED;
    event.first = probity_get_u64(payload);
    event.end = probity_get_u64(payload + 8);
    event.bias = probity_get_u64(payload + 16);
    const uint8_t *at = get_text(payload + MAPPING_FIXED_BYTES, end, &event.path,
                                 &event.path_bytes);
    if (at == NULL || get_text(at, end, &event.build_id, &event.build_id_bytes) == NULL)
        return PROBITY_ERROR_DAMAGED;
    *ret_event = event;
    return 0;
}

/* ---- Thread states ----------------------------------------------------------------------------
 */

void probity_state_event_put(uint8_t payload[PROBITY_STATE_EVENT_BYTES],
                             const struct probity_state_event *event)
{
    probity_assert(event->state <= PROBITY_STATE_ENDED);
    probity_put_u32(payload, event->state | event->cpu << 16);
    probity_put_u32(payload + 4, event->waker);
}

int probity_state_event_get(const uint8_t *payload, size_t bytes,
                            struct probity_state_event *ret_event)
{
    if (bytes < PROBITY_STATE_EVENT_BYTES)
        return PROBITY_ERROR_DAMAGED;
    *ret_event = (struct probity_state_event){.state = payload[0],
                                              .cpu = probity_get_u16(payload + 2),
                                              .waker = probity_get_u32(payload + 4)};
    if (ret_event->state > PROBITY_STATE_ENDED)
        ret_event->state = PROBITY_STATE_UNKNOWN;
    return 0;
}
