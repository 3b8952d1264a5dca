/* SPDX-License-Identifier: MIT
 *
 * test_scopes_make.h: blocks of enters, leaves and events, for tests of scopes.
 */
#ifndef TESTS_UNIT_TEST_SCOPES_MAKE_H
#define TESTS_UNIT_TEST_SCOPES_MAKE_H

#include "test_reader_make.h"

#include "base/bytes.h"

/* A record of a thread. Ticks count from MAKE_START; two ticks are a nanosecond. */
struct make_item {
    uint64_t tick;
    uint64_t kind; /* PROBITY_EVENT_HIT: of `code` */
    uint64_t code;
    const void *payload;
    size_t bytes;
};

/* Enter and leave, each a single word, of the function whose first site is n. */
#define ENTER(at, n) {.tick = (at), .code = 2 * (uint64_t)(n) + 1}
#define LEAVE(at, n) {.tick = (at), .code = 2 * (uint64_t)(n) + 3}
#define EVENT(at, what, bytes_, count) \
    {.tick = (at), .kind = (what), .payload = (bytes_), .bytes = (count)}
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A DATA block of one thread that is always on the CPU; its CPU time is the wall time since
 * MAKE_START plus 1000 ns. */
static inline void make_items(struct make *make, uint32_t thread, const struct make_item *items,
                              size_t count)
{
    uint64_t table[PROBITY_STREAM_TABLE], first = MAKE_START + items[0].tick;
    uint8_t *payload = make_payload(make);
    struct probity_packer packer =
        probity_packer_start(payload + PROBITY_DATA_FIXED_BYTES, first, table);
    struct probity_data data = {.thread = thread, .tid = 100 + thread, .chunk = make->serial,
                                .end_word = (uint32_t)count, .records = (uint32_t)count,
                                .flags = PROBITY_DATA_CPU_KNOWN, .first_tick = first,
                                .last_tick = MAKE_START + items[count - 1].tick,
                                .cpu_ns = 1000 + items[0].tick / 2, .rate = MAKE_RATE};

    for (size_t i = 0; i < count; i++) {
        uint64_t tick = MAKE_START + items[i].tick;
        if (items[i].kind == PROBITY_EVENT_HIT) {
            probity_pack_hit(&packer, tick, PROBITY_STREAM_CODE_FIRST + items[i].code);
            continue;
        }
        probity_pack_event(&packer, tick, items[i].kind, items[i].payload, items[i].bytes);
        data.flags |= PROBITY_DATA_HAS_EVENTS;
    }
    probity_data_put(payload, &data);
    make->records += count;
    make_block(make, PROBITY_BLOCK_DATA, (size_t)(packer.at - payload));
}

static inline uint8_t *make_text(uint8_t *at, const char *text)
{
    probity_put_u16(at, (uint16_t)strlen(text));
    memcpy(at + 2, text, strlen(text));
    return at + 2 + strlen(text);
}

/* Writes the payload of a declaration. Returns its size. */
static inline size_t make_function(uint8_t *at, uint32_t site, const char *name, int is_deferred)
{
    uint8_t *start = at;

    probity_put_u32(at, site);
    probity_put_u32(at + 4, 10 + site);
    at[8] = 1;
    at[9] = is_deferred ? 2 : 0;
    at[10] = at[11] = 0;
    at = make_text(at + 12, name);
    at = make_text(at, "made.c");
    at = make_text(at, "");
    at = make_text(at, "int");
    return (size_t)(make_text(at, "") - start);
}

/* Declares a function in a block before all others. */
static inline void make_declare(struct make *make, uint32_t thread, uint32_t site, const char *name,
                                int is_deferred)
{
    uint8_t payload[512];
    size_t bytes = make_function(payload, site, name, is_deferred);

    make_event(make, thread, MAKE_START, PROBITY_EVENT_FUNCTION, payload, bytes);
}

/* Calls of the deferred function 40 and of 10, 20 and 30. According to its checkpoint at 800, 40
 * began at 200, so it made the later calls of 20, and the calls of 30 in them. */
static inline void make_deferred(struct make *make)
{
    uint8_t reached[16];
    const struct make_item items[] = {
        ENTER(0, 10),   ENTER(50, 20),  LEAVE(100, 20), ENTER(300, 20), ENTER(340, 30),
        LEAVE(380, 30), LEAVE(400, 20), ENTER(500, 20), LEAVE(600, 20),
        EVENT(800, PROBITY_EVENT_CHECKPOINT, reached, 16), LEAVE(1000, 40), LEAVE(1200, 10)};

    probity_put_u32(reached, 40);
    probity_put_u32(reached + 4, 0);
    probity_put_u64(reached + 8, MAKE_START + 200);
    make_items(make, 1, items, COUNT(items));
}

/* A SYNC or END block after all others. */
static inline void make_finish(struct make *make, const char *name)
{
    make_sync(make, PROBITY_BLOCK_END, make_anchor(MAKE_START + 2000000), MAKE_START + 2000000);
    make_write(make, name);
}

#endif
