/* SPDX-License-Identifier: MIT
 *
 * mutate_fields.c: mutations of the fields that doc/trace-format.md defines, in traces and in
 * indexes. A payload is split into tokens: integers, varints, lengths and the bytes that they
 * count. A token is changed in a way that suits its kind, or swapped with a neighbor (min and max,
 * count and sum); whole rows, records and strings are repeated, dropped and moved. Then, in most
 * cases, the lengths around the change and counts of rows are corrected; the target corrects
 * checksums (fix_checksums.c).
 *
 * Other mutations rarely make only dependent fields inconsistent: a changed byte in the middle of a
 * varint usually breaks the row around it.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/varint.h"
#include "format/block.h"
#include "fuzz/target.h"
#include "reader/index.h"

enum { HEAD = PROBITY_BLOCK_HEADER_BYTES, TOKENS_MAX = 4096, KINDS = TARGET_KINDS };

enum kind { FIXED, VARINT, BYTES };

/* A FIXED of 1, 2, 4 or 8 bytes, a VARINT, or BYTES. If `holds`, the token is the length of the
 * data after it, up to the token `end`; its value is `bias` more than the number of bytes. */
struct token {
    size_t at, size;
    int parent; /* the length that covers this token; -1: only the block's */
    int holds, end;
    uint8_t kind, bias;
};

struct payload {
    uint8_t *bytes; /* of the block, with its header */
    size_t at, size, room;
    int count, parent;
    struct token token[TOKENS_MAX];
};

static uint64_t draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* ---- Parsing ----------------------------------------------------------------------------------
 */

static struct token *add(struct payload *payload, enum kind kind, size_t size)
{
    static struct token none;

    if (payload->count == TOKENS_MAX || size > payload->size - payload->at) {
        payload->at = payload->size; /* the rest is not parsed */
        none = (struct token){.parent = -1};
        return &none;
    }
    struct token *token = &payload->token[payload->count++];
    *token = (struct token){.at = payload->at, .size = size, .parent = payload->parent,
                            .kind = (uint8_t)kind};
    payload->at += size;
    return token;
}

static uint64_t fixed_get(const uint8_t *at, size_t size)
{
    uint64_t value = 0;

    for (size_t i = 0; i < size && i < 8; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

static uint64_t value_of(const struct payload *payload, const struct token *token)
{
    uint64_t value = 0;

    if (token->kind == FIXED)
        return fixed_get(payload->bytes + token->at, token->size);
    if (token->kind == VARINT)
        probity_varint_get(payload->bytes + token->at, payload->bytes + token->at + token->size,
                           &value);
    return value;
}

static uint64_t varint(struct payload *payload)
{
    uint64_t value = 0;
    const uint8_t *at = payload->bytes + payload->at;
    const uint8_t *end = probity_varint_get(at, payload->bytes + payload->size, &value);

    add(payload, VARINT, end != NULL ? (size_t)(end - at) : payload->size + 1);
    return value;
}

/* Begins the data that the last token counts. Returns where it ends. */
static size_t enter(struct payload *payload, uint64_t value, int bias)
{
    size_t left = payload->size - payload->at;
    uint64_t bytes = value >= (uint64_t)bias ? value - (uint64_t)bias : 0;

    if (payload->count == 0)
        return payload->at;
    payload->parent = payload->count - 1;
    payload->token[payload->parent].holds = 1;
    payload->token[payload->parent].bias = (uint8_t)bias;
    return payload->at + (bytes < left ? (size_t)bytes : left);
}

static void leave(struct payload *payload, size_t end, int outer)
{
    if (payload->at < end)
        add(payload, BYTES, end - payload->at);
    if (payload->parent >= 0)
        payload->token[payload->parent].end = payload->count;
    payload->parent = outer;
}

/* Fields by letters: 1 2 4 8 integers of that many bytes, n varint, s string with u16 length. */
static void fields(struct payload *payload, const char *layout, size_t end)
{
    for (; *layout != '\0' && payload->at < end; layout++) {
        int outer = payload->parent;
        if (*layout == 'n') {
            varint(payload);
        } else if (*layout == 's') {
            const struct token *length = add(payload, FIXED, 2);
            size_t text = enter(payload, value_of(payload, length) & 0x7fff, 0);
            leave(payload, text, outer);
        } else {
            add(payload, FIXED, (size_t)(*layout - '0'));
        }
    }
}

/* Layouts of events by kind; whatever follows is bytes. */
static const char *const events[] = {"", "", "4", "44sss", "8", "441122sssss",
                                     "44212s12s12s12s", "442s2s", "4484", "42s4", "42s4", "4482s",
                                     "", "", "111", "1", "4", "4488", "nnn", "8"};

static void stream(struct payload *payload)
{
    while (payload->at < payload->size) {
        uint64_t code = (varint(payload) & 1) != 0 ? varint(payload) : 16;
        if (code == 1)
            varint(payload);
        if (code != 2)
            continue;
        uint64_t kind = varint(payload);
        uint64_t length = varint(payload);
        size_t end = enter(payload, length, 0);
        if (kind < sizeof events / sizeof *events)
            fields(payload, events[kind], end);
        leave(payload, end, -1);
    }
}

static void rows(struct payload *payload, int has_texts)
{
    while (payload->at < payload->size) {
        uint64_t length = varint(payload);
        size_t end = enter(payload, length, 0);
        int row = payload->parent;
        for (int i = 0; payload->at < end; i++) {
            uint64_t value = varint(payload);
            if (has_texts && i >= 5)
                leave(payload, enter(payload, value, 1), row);
        }
        leave(payload, end, -1);
    }
}

static void take_apart(struct payload *payload, uint16_t type)
{
    static const char anchor[] = "888844";

    payload->at = HEAD;
    payload->count = 0;
    payload->parent = -1;
    switch (type) {
    case PROBITY_BLOCK_INFO:
        fields(payload, "88884484488", payload->size);
        fields(payload, anchor, payload->size);
        fields(payload, "44844", payload->size);
        while (payload->at < payload->size)
            fields(payload, "2s", payload->size);
        break;
    case PROBITY_BLOCK_DATA:
    case PROBITY_INDEX_DECLARED:
        fields(payload, "4484444888844", payload->size);
        stream(payload);
        break;
    case PROBITY_BLOCK_SYNC:
    case PROBITY_BLOCK_END:
        fields(payload, anchor, payload->size);
        fields(payload, "8888888844", payload->size);
        break;
    case PROBITY_BLOCK_PROFILE:
    case PROBITY_BLOCK_SITES:
        fields(payload, type == PROBITY_BLOCK_PROFILE ? "444488" : "448", payload->size);
        rows(payload, type == PROBITY_BLOCK_SITES);
        break;
    case PROBITY_INDEX_MARK:
        fields(payload, "888", payload->size);
        break;
    case PROBITY_INDEX_PLACE:
        fields(payload, "8844", payload->size);
        break;
    case PROBITY_INDEX_SUM:
        fields(payload, "88888888888844", payload->size);
        break;
    case PROBITY_INDEX_WAITS:
    case PROBITY_INDEX_FILES:
        fields(payload, type == PROBITY_INDEX_WAITS ? "888" : "8", payload->size);
        while (payload->at < payload->size)
            varint(payload);
        break;
    case PROBITY_INDEX_STATES:
        fields(payload, "844", payload->size);
        while (payload->at < payload->size)
            fields(payload, "8844", payload->size);
        break;
    case PROBITY_INDEX_FACTS:
    case PROBITY_INDEX_FACTS_MORE:
        fields(payload, "88888", payload->size);
        break;
    default:
        while (payload->at < payload->size)
            add(payload, FIXED, 4);
    }
}

/* ---- Mutations ------------------------------------------------------------------------------- */

/* Replaces `old` bytes with `count` bytes. Tokens are stale afterwards, so only one edit is
 * possible. */
static int splice(struct payload *payload, size_t at, size_t old, const uint8_t *bytes,
                  size_t count)
{
    if (payload->size - old + count > payload->room)
        return 0;
    memmove(payload->bytes + at + count, payload->bytes + at + old, payload->size - at - old);
    memcpy(payload->bytes + at, bytes, count);
    payload->size = payload->size - old + count;
    return 1;
}

static size_t encode(const struct token *token, uint64_t value, uint8_t bytes[16])
{
    if (token->kind == VARINT)
        return (size_t)(probity_varint_put(bytes, value) - bytes);
    for (size_t i = 0; i < token->size && i < 8; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
    return token->size;
}

/* Adds `more` to the lengths around a change, from the innermost outwards. */
static void relength(struct payload *payload, int parent, int64_t more)
{
    uint8_t bytes[16];

    while (parent >= 0) {
        const struct token *length = &payload->token[parent];
        uint64_t value = value_of(payload, length) + (uint64_t)more;
        size_t count = encode(length, value, bytes);
        if (!splice(payload, length->at, length->size, bytes, count))
            return;
        more += (int64_t)count - (int64_t)length->size;
        parent = length->parent;
    }
}

static void edit(struct payload *payload, const struct token *token, size_t old,
                 const uint8_t *bytes, size_t count, uint64_t *state)
{
    int is_relengthened = draw(state) % 16 != 0;

    if (splice(payload, token->at, old, bytes, count) && is_relengthened)
        relength(payload, token->parent, (int64_t)count - (int64_t)old);
}

static uint64_t odd_value(uint64_t value, uint64_t *state)
{
    static const uint64_t edges[] = {0, 1, 2, 15, 16, 255, 65535, INT32_MAX, UINT32_MAX,
                                     INT64_MAX, UINT64_MAX};

    switch (draw(state) % 6) {
    case 0: return edges[draw(state) % (sizeof edges / sizeof *edges)];
    case 1: return value + 1 + draw(state) % 16;
    case 2: return value - 1 - draw(state) % 16;
    case 3: return value << draw(state) % 64;
    case 4: return value >> draw(state) % 64;
    default: return value ^ UINT64_C(1) << draw(state) % 64;
    }
}

/* Swaps two nearby fields, which may depend on each other. */
static void swap_values(struct payload *payload, int first, uint64_t *state)
{
    uint8_t left[16], right[16];
    int second = first + 1 + (int)(draw(state) % 4);

    if (second >= payload->count)
        return;
    const struct token a = payload->token[first], b = payload->token[second];
    if (a.kind == BYTES || b.kind == BYTES || a.holds || b.holds)
        return;
    size_t count = encode(&a, value_of(payload, &b), left);
    size_t other = encode(&b, value_of(payload, &a), right);
    if (a.parent != b.parent || other + count > 32)
        return;
    /* Writes the later field first, so that the other does not move. */
    if (splice(payload, b.at, b.size, right, other) &&
        splice(payload, a.at, a.size, left, count))
        relength(payload, a.parent, (int64_t)(count + other) - (int64_t)(a.size + b.size));
}

static void change_value(struct payload *payload, const struct token *token, uint64_t value,
                         uint64_t *state)
{
    uint8_t bytes[16];

    edit(payload, token, token->size, bytes, encode(token, value, bytes), state);
}

static void change_bytes(struct payload *payload, const struct token *token, uint64_t *state)
{
    uint8_t bytes[64];
    size_t old = token->size < 32 ? token->size : 32, count = draw(state) % 64;

    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)(draw(state) % 2 == 0 ? draw(state) : payload->bytes[token->at]);
    edit(payload, token, old, bytes, count, state);
}

/* Drops a row, an event or a string with its length, or repeats it here or elsewhere. */
static void move_element(struct payload *payload, const struct token *token, uint64_t *state)
{
    uint8_t copy[4096];
    const struct token *end =
        token->end > 0 && token->end < payload->count ? &payload->token[token->end] : NULL;
    size_t size = (end != NULL ? end->at : payload->size) - token->at;

    if (size > sizeof copy)
        return;
    memcpy(copy, payload->bytes + token->at, size);
    if (draw(state) % 3 == 0) {
        edit(payload, token, size, copy, 0, state);
        return;
    }
    const struct token *to = &payload->token[draw(state) % (uint64_t)payload->count];
    edit(payload, draw(state) % 2 == 0 ? token : to, 0, copy, size, state);
}

static void change_token(struct payload *payload, uint64_t *state)
{
    int chosen = (int)(draw(state) % (uint64_t)payload->count);
    const struct token token = payload->token[chosen];
    const struct token *other = &payload->token[draw(state) % (uint64_t)payload->count];

    if (token.holds && draw(state) % 4 != 0)
        move_element(payload, &token, state);
    else if (token.kind == BYTES)
        change_bytes(payload, &token, state);
    else if (draw(state) % 3 == 0)
        swap_values(payload, chosen, state);
    else if (draw(state) % 4 == 0)
        change_value(payload, &token, value_of(payload, other), state);
    else
        change_value(payload, &token, odd_value(value_of(payload, &token), state), state);
}

/* Corrects the number of rows, which is that of the outermost lengths. */
static void count_rows(struct payload *payload, uint16_t type)
{
    uint32_t found = 0;
    size_t at = type == PROBITY_BLOCK_PROFILE ? 8 : 0;

    if (type != PROBITY_BLOCK_PROFILE && type != PROBITY_BLOCK_SITES)
        return;
    take_apart(payload, type);
    for (int i = 0; i < payload->count; i++)
        found += payload->token[i].holds && payload->token[i].parent < 0;
    if (payload->size >= HEAD + at + 4)
        probity_put_u32(payload->bytes + HEAD + at, found);
}

/* ---- A trace --------------------------------------------------------------------------------- */

/* Returns the block at *at and advances *at to the next one; 0 after the last one. */
static size_t next_block(const uint8_t *trace, size_t size, size_t *at, unsigned *ret_kind)
{
    if (size < *at || size - *at < HEAD)
        return 0;
    size_t left = size - *at - HEAD, length = probity_get_u32(trace + *at + 4);
    uint16_t type = probity_get_u16(trace + *at + 12);

    *ret_kind = type < KINDS ? type : 0;
    length = HEAD + (length < left ? length : left);
    *at += length;
    return length;
}

unsigned target_kinds(const uint8_t *trace, size_t size)
{
    size_t at = PROBITY_FILE_HEADER_BYTES;
    unsigned kinds = 0, kind = 0;

    while (next_block(trace, size, &at, &kind) > 0)
        kinds |= 1u << kind;
    return kinds;
}

/* Returns a block of this kind. If there is none, each kind is equally likely, however many blocks
 * it has. */
static size_t choose_block(const uint8_t *trace, size_t size, unsigned wanted, uint64_t *state,
                           size_t *ret_bytes)
{
    unsigned kinds = target_kinds(trace, size), kind = 0;
    size_t at = PROBITY_FILE_HEADER_BYTES, length, chosen = 0;
    uint64_t found = 0;

    if (kinds == 0)
        return 0;
    while ((kinds & 1u << wanted) == 0)
        wanted = (unsigned)(draw(state) % KINDS);
    while ((length = next_block(trace, size, &at, &kind)) > 0) {
        if (kind == wanted && draw(state) % ++found == 0) {
            chosen = at - length;
            *ret_bytes = length;
        }
    }
    return chosen;
}

size_t target_mutate_field(uint8_t *trace, size_t size, size_t room, unsigned kind, uint64_t seed)
{
    static struct payload payload;
    uint64_t state = seed;
    size_t bytes = 0;
    size_t at = choose_block(trace, size, kind < KINDS ? kind : (unsigned)(draw(&state) % KINDS),
                             &state, &bytes);

    if (at == 0)
        return size;
    uint16_t type = probity_get_u16(trace + at + 12);
    size_t behind = size - at - bytes;
    /* Moves the rest of the trace out of the way, and back afterwards. */
    size_t most = room - behind - at;
    memmove(trace + room - behind, trace + at + bytes, behind);
    payload.bytes = trace + at;
    payload.size = bytes;
    payload.room = most;
    take_apart(&payload, type);
    if (payload.count > 0)
        change_token(&payload, &state);
    if (draw(&state) % 8 != 0)
        count_rows(&payload, type);
    probity_put_u32(payload.bytes + 4, (uint32_t)(payload.size - HEAD));
    memmove(trace + at + payload.size, trace + room - behind, behind);
    return at + payload.size + behind;
}
