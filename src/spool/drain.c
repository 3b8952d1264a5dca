/* SPDX-License-Identifier: MIT
 *
 * drain.c: reads the words of a chunk, computes the full tick and CPU time of each, and packs the
 * records. They are in order unless a signal handler probed inside a probe, so the first pass packs
 * while it reads; only a chunk in which time goes backwards is read again, sorted and packed. Pure
 * functions on memory; all input is untrusted.
 */
#include "spool/drain.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/ticks.h"

enum {
    CPU_TOLERANCE_NS = 100, /* below the noise of reading the CPU clock */
    EVENT_HEAD_WORDS = 3    /* head, tick, kind and length */
};

/* A position in the chunk. The hot loop keeps it in registers, so its address is passed only to
 * functions that are inlined. */
struct walk {
    const struct probity_drain_input *input;
    const uint64_t *at, *end;
    uint64_t tick;  /* that of the previous record */
    uint64_t off;   /* ticks off the CPU since base, modulo 2^64 */
    uint32_t zeros; /* zero words since the last record: holes if another record follows */
    uint32_t holes;
};

/* One record. */
struct step {
    uint64_t tick, code;  /* code: that of the stream; 0 for an event */
    const uint64_t *head; /* its words end at the position */
};

static inline uint64_t load_word(const uint64_t *word)
{
    /* Acquire: pairs with the release store of a long record's head in src/runtime/record.c. */
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* Returns the tick nearest to `near` that has the head's 40 bits. */
static inline uint64_t full_tick(uint64_t word, uint64_t near)
{
    int64_t delta = (int64_t)((word & ~PROBITY_WORD_CODE_MASK) - (near << PROBITY_WORD_CODE_BITS));

    return near + (uint64_t)(delta >> PROBITY_WORD_CODE_BITS);
}

static void take_cpu_record(struct walk *walk, uint64_t tick, uint64_t cpu_ns)
{
    const struct probity_drain_input *input = walk->input;
    uint64_t on = probity_ticks_of_ns((int64_t)(cpu_ns - input->cpu_ns), input->rate);

    walk->off = tick - input->base_tick - on;
}

/* Returns the size in words of the record with this head at walk->at; 0 if no writer produces
 * it. */
static inline uint32_t words_of(const struct walk *walk, uint64_t head)
{
    uint32_t words = (uint32_t)(head >> 4) & 255;

    return words <= walk->end - walk->at ? words : 0;
}

/* Reads a long record at walk->at that is not an event. Returns 1 with a step, 0 if there is
 * nothing to output, -1 to stop. */
static __attribute__((noinline)) int step_long(struct walk *walk, uint64_t head,
                                               struct step *ret_step)
{
    const uint64_t *at = walk->at;
    uint32_t kind = head & 15, words = words_of(walk, head);

    probity_assert(walk->at < walk->end);
    if (kind == PROBITY_WORD_PENDING && walk->input->stop_at_hole)
        return -1;
    if (words == 0) {
        walk->at = at + 1;
        walk->holes++;
        return 0;
    }
    walk->at = at + words;
    ret_step->head = at;
    ret_step->tick = full_tick(head, walk->tick);
    if (kind == PROBITY_WORD_HIT && words >= 2) {
        ret_step->code = PROBITY_STREAM_CODE_FIRST + load_word(at + 1) % (UINT64_C(1) << 33);
        walk->tick = ret_step->tick;
        return 1;
    }
    if (kind == PROBITY_WORD_CPU && words >= 3) {
        walk->tick = load_word(at + 1);
        take_cpu_record(walk, walk->tick, load_word(at + 2));
    }
    walk->holes += kind == PROBITY_WORD_PENDING;
    return 0;
}

/* Calls step_long() with copies, so that the position stays in registers. */
static inline int step_rare(struct walk *walk, uint64_t head, struct step *ret_step)
{
    struct walk moved = *walk;
    struct step step = {0, 0, NULL};
    int found = step_long(&moved, head, &step);

    *walk = moved;
    *ret_step = step;
    return found;
}

/* Returns whether walk->at is an event with this head; if so, it becomes the step. */
static inline int step_event(struct walk *walk, uint64_t head, struct step *ret_step)
{
    uint32_t words = words_of(walk, head);

    probity_assert(walk->at < walk->end);
    if ((head & 15) != PROBITY_WORD_EVENT || words < EVENT_HEAD_WORDS)
        return 0;
    walk->tick = load_word(walk->at + 1);
    *ret_step = (struct step){walk->tick, 0, walk->at};
    walk->at += words;
    return 1;
}

/* Reads the next record from walk->at on. Returns 1, or 0 at the end. */
static inline __attribute__((always_inline)) int walk_next(struct walk *walk, struct step *ret_step)
{
    while (walk->at < walk->end) {
        uint64_t word = load_word(walk->at);
        uint32_t code = (uint32_t)(word & PROBITY_WORD_CODE_MASK);
        if (__builtin_expect(code >= PROBITY_WORD_CODE_FIRST, 1)) {
            code += PROBITY_STREAM_CODE_FIRST - PROBITY_WORD_CODE_FIRST;
            walk->tick = full_tick(word, walk->tick);
            *ret_step = (struct step){walk->tick, code, walk->at++};
            walk->holes += walk->zeros;
            walk->zeros = 0;
            return 1;
        }
        if (word == 0) {
            if (walk->input->stop_at_hole)
                return 0;
            walk->at++;
            walk->zeros++;
            continue;
        }
        walk->holes += walk->zeros;
        walk->zeros = 0;
        if (step_event(walk, word, ret_step))
            return 1;
        int found = step_rare(walk, word, ret_step);
        if (found != 0)
            return found > 0;
    }
    return 0;
}

/* A DATA block being packed. */
struct packing {
    uint8_t *block;
    struct probity_data data;
    uint64_t off;       /* packed so far, absolute */
    uint64_t tolerance; /* in ticks */
    struct probity_ids ids;
    uint64_t table[PROBITY_STREAM_TABLE];
};

static uint8_t *stream_of(uint8_t *block)
{
    return block + PROBITY_BLOCK_HEADER_BYTES + PROBITY_DATA_FIXED_BYTES;
}

static struct probity_packer packing_start(struct packing *packing,
                                           const struct probity_drain_input *input,
                                           uint64_t first_tick, uint64_t off)
{
    struct probity_data *data = &packing->data;

    data->first_tick = first_tick;
    data->cpu_ns =
        input->cpu_ns + probity_ns_of_ticks(first_tick - input->base_tick - off, input->rate);
    packing->off = off;
    packing->ids = (struct probity_ids){.packed.correlation = 0};
    return probity_packer_start(stream_of(packing->block), first_tick, packing->table);
}

static struct probity_packer pack_off(struct packing *packing, struct probity_packer packer,
                                      uint64_t off)
{
    int64_t change = (int64_t)(off - packing->off);

    probity_assert(probity_packer_is_valid(&packer));
    if (!(packing->data.flags & PROBITY_DATA_CPU_KNOWN) ||
        (uint64_t)(change < 0 ? -change : change) < packing->tolerance)
        return packer;
    packing->off = off;
    return probity_pack_cpu(packer, change);
}

/* Copies words as bytes, without reading past their end; a few words without a loop. */
static inline void copy_words(uint8_t *to, const uint64_t *from, const uint64_t *end)
{
    size_t words = (size_t)(end - from);

    probity_assert(from <= end);
    if (words >= 2 && words <= 4) {
        memcpy(to, from, 16);
        memcpy(to + 8 * words - 16, end - 2, 16);
        return;
    }
    for (; from < end; from++, to += 8)
        memcpy(to, from, 8);
}

/* Returns the size of an event's payload, whose words end at `end`. */
static inline size_t payload_bytes(const uint64_t *event, const uint64_t *end)
{
    uint64_t room = (uint64_t)(end - (event + EVENT_HEAD_WORDS)) * 8;
    uint64_t length = load_word(&event[2]) >> 16 & 0xffff;

    probity_assert(end - event >= EVENT_HEAD_WORDS);
    return length < room ? length : room;
}

/* Packs an event whose ids have the usual form: to a third of their bytes. */
static __attribute__((noinline)) struct probity_packer
pack_hit_with(struct packing *packing, struct probity_packer packer, uint64_t tick,
              const uint64_t *event, const uint64_t *end)
{
    uint8_t packed[PROBITY_IDS_ROOM];
    uint64_t kind = 0;
    const uint8_t *bytes = (const uint8_t *)(event + EVENT_HEAD_WORDS);
    size_t length = payload_bytes(event, end);
    const uint8_t *packed_end = probity_ids_pack(&packing->ids, bytes, length, packed, &kind);

    probity_assert(packed_end == NULL || packed_end <= packed + sizeof packed);
    if (packed_end == NULL) {
        probity_pack_event(&packer, tick, PROBITY_EVENT_HIT_WITH, bytes, length);
        return packer;
    }
    probity_pack_event(&packer, tick, kind, packed, (size_t)(packed_end - packed));
    return packer;
}

static inline __attribute__((always_inline)) void
pack_event(struct packing *packing, struct probity_packer *packer, uint64_t tick,
           const uint64_t *event, const uint64_t *end)
{
    uint64_t kind = load_word(&event[2]) & 0xffff;

    if (__builtin_expect(kind == PROBITY_EVENT_HIT_WITH, 0)) {
        *packer = pack_hit_with(packing, *packer, tick, event, end);
        return;
    }
    size_t length = payload_bytes(event, end);
    probity_pack_event_head(packer, tick, kind != 0 ? kind : UINT16_MAX, length);
    /* Copies whole words: the record consists of them, and there is room for more. */
    copy_words(packer->at, event + EVENT_HEAD_WORDS, end);
    packer->at += length;
}

static size_t packing_seal(struct packing *packing, const struct probity_packer *packer,
                           uint64_t block_serial)
{
    uint8_t *payload = packing->block + PROBITY_BLOCK_HEADER_BYTES;

    probity_assert(packer->at >= payload + PROBITY_DATA_FIXED_BYTES);
    probity_assert(packing->data.records > 0);
    probity_assert(packing->data.first_tick <= packer->tick);
    probity_assert(packing->data.first_word <= packing->data.end_word);
    packing->data.last_tick = packer->tick;
    probity_data_put(payload, &packing->data);
    probity_block_seal(packing->block, PROBITY_BLOCK_DATA, block_serial,
                       (uint32_t)(packer->at - payload));
    return (size_t)(packer->at - packing->block);
}

static int is_before(const struct probity_drain_entry *left,
                     const struct probity_drain_entry *right)
{
    return left->tick != right->tick ? left->tick < right->tick : left->word < right->word;
}

/* Shellsort, because most entries are in order. Allocates no memory, unlike qsort(): a thread that
 * waits for the writer may hold the lock of the program's malloc(). */
static void sort(struct probity_drain_entry *entries, uint32_t count)
{
    uint32_t gap = 1;

    probity_assert(count > 0);
    while (gap < count / 3)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3) {
        for (uint32_t i = gap; i < count; i++) {
            struct probity_drain_entry entry = entries[i];
            uint32_t at = i;
            for (; at >= gap && is_before(&entry, &entries[at - gap]); at -= gap)
                entries[at] = entries[at - gap];
            entries[at] = entry;
        }
    }
}

/* The slow path, for time that goes backwards: collects, sorts, packs. */
static struct probity_packer pack_sorted(struct packing *packing, struct walk *walk,
                                         struct probity_drain_scratch *scratch)
{
    const struct probity_drain_input *input = walk->input;
    struct probity_drain_entry *entries = scratch->entries;
    uint32_t count = 0;
    struct step step = {0, 0, NULL};

    probity_assert(scratch->capacity >= input->end);
    while (count < scratch->capacity && walk_next(walk, &step)) {
        uint32_t word = (uint32_t)(step.head - input->words);
        if (word >= input->first)
            entries[count++] =
                (struct probity_drain_entry){step.tick, walk->off, step.code, word,
                                             (uint32_t)(walk->at - step.head)};
    }
    packing->data.records = count;
    if (count == 0)
        return packing_start(packing, input, input->base_tick, 0);
    probity_assert(count <= scratch->capacity);
    sort(entries, count);
    struct probity_packer packer = packing_start(packing, input, entries[0].tick, entries[0].off);
    for (uint32_t i = 0; i < count; i++) {
        packer = pack_off(packing, packer, entries[i].off);
        if (entries[i].code != 0) {
            probity_pack_hit(&packer, entries[i].tick, entries[i].code);
            continue;
        }
        packing->data.flags |= PROBITY_DATA_HAS_EVENTS;
        const uint64_t *event = input->words + entries[i].word;
        pack_event(packing, &packer, entries[i].tick, event, event + entries[i].words);
    }
    return packer;
}

/* The fast path: packs while it reads. Returns 0 if a record is older than the previous one. */
static int pack_in_order(struct packing *packing, struct walk *ret_walk, struct step step,
                         struct probity_packer *ret_packer)
{
    struct walk walk = *ret_walk;
    struct probity_packer packer = packing_start(packing, walk.input, step.tick, walk.off);
    uint64_t off = walk.off;
    uint32_t records = 0, events = 0;

    do {
        if (__builtin_expect(step.tick < packer.tick, 0))
            return 0;
        if (__builtin_expect(walk.off != off, 0)) {
            off = walk.off;
            packer = pack_off(packing, packer, off);
        }
        records++;
        if (__builtin_expect(step.code != 0, 1)) {
            probity_pack_hit(&packer, step.tick, step.code);
            continue;
        }
        events++;
        pack_event(packing, &packer, step.tick, step.head, walk.at);
    } while (walk_next(&walk, &step));
    packing->data.records = records;
    packing->data.flags |= events > 0 ? PROBITY_DATA_HAS_EVENTS : 0;
    *ret_walk = walk;
    *ret_packer = packer;
    return 1;
}

/* Skips records that are in the trace already. Returns 1 with the first record after them, 0 if
 * there is none. */
static int walk_to_first(struct walk *walk, struct step *ret_step)
{
    while (walk_next(walk, ret_step)) {
        if (ret_step->head >= walk->input->words + walk->input->first)
            return 1;
    }
    return 0;
}

/* Returns the number of words before the position, without zero words at the end, which may still
 * become records. */
static uint32_t words_walked(const struct walk *walk)
{
    probity_assert(walk->at <= walk->end);
    probity_assert(walk->zeros <= walk->at - walk->input->words);
    return (uint32_t)(walk->at - walk->input->words) - walk->zeros;
}

void probity_drain_chunk(const struct probity_drain_input *input,
                         struct probity_drain_scratch *scratch, uint64_t block_serial,
                         uint8_t *block, struct probity_drain_output *ret_output)
{
    struct walk start = {.input = input,
                         .at = input->words,
                         .end = input->words + input->end,
                         .tick = input->base_tick};
    struct walk walk = start;
    struct packing packing = {.block = block};
    struct probity_packer packer;
    struct step step = {0, 0, NULL};

    probity_assert(input->first <= input->end && input->end <= PROBITY_CHUNK_WORDS_MAX);
    probity_assert(input->words != NULL && block != NULL);
    packing.data = (struct probity_data){.thread = input->thread,
                                         .tid = input->tid,
                                         .chunk = input->chunk,
                                         .first_word = input->first,
                                         .flags = (input->cpu_known ? PROBITY_DATA_CPU_KNOWN : 0) |
                                                  (input->is_late ? PROBITY_DATA_LATE : 0),
                                         .rate = input->rate};
    packing.tolerance = probity_ticks_of_ns(CPU_TOLERANCE_NS, input->rate);
    memset(ret_output, 0, sizeof *ret_output);
    if (walk_to_first(&walk, &step)) {
        if (!pack_in_order(&packing, &walk, step, &packer)) {
            walk = start;
            packer = pack_sorted(&packing, &walk, scratch);
        }
        ret_output->records = packing.data.records;
        packing.data.end_word = words_walked(&walk);
        packing.data.holes = walk.holes;
        ret_output->last_tick = packer.tick;
        if (packing.data.records > 0)
            ret_output->block_bytes = packing_seal(&packing, &packer, block_serial);
    }
    ret_output->end = words_walked(&walk);
    ret_output->holes = walk.holes;
    probity_assert(ret_output->end <= input->end);
    probity_assert(ret_output->block_bytes <= probity_drain_room(input->end - input->first));
}

enum probity_drain_found probity_drain_look(const uint64_t *words, uint32_t end)
{
    enum probity_drain_found found = PROBITY_DRAIN_PLAIN;

    for (uint32_t at = 0; at < end;) {
        uint64_t word = load_word(&words[at]);
        if (__builtin_expect((word & PROBITY_WORD_CODE_MASK) >= PROBITY_WORD_CODE_FIRST, 1)) {
            at++;
            continue;
        }
        uint32_t kind = word & 15, count = (uint32_t)(word >> 4) & 255;
        if (word == 0 || kind == PROBITY_WORD_PENDING)
            return PROBITY_DRAIN_HOLE;
        if (count == 0 || count > end - at)
            count = 1;
        if (kind == PROBITY_WORD_EVENT && count >= EVENT_HEAD_WORDS &&
            probity_event_declares((uint32_t)(load_word(&words[at + 2]) & 0xffff)))
            found = PROBITY_DRAIN_DECLARES;
        at += count;
    }
    return found;
}
