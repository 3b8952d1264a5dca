/* SPDX-License-Identifier: MIT
 *
 * drain.c: walks the words of a chunk, gives each its full tick and CPU time, and packs them.
 * Records are in order but where a signal handler probed inside a probe: so the first pass packs as
 * it walks, and only a chunk in which time steps back is walked again, sorted and packed. Pure
 * functions on memory; trusts no word.
 */
#include "spool/drain.h"

#include <stdlib.h>
#include <string.h>

#include "base/scale.h"

enum { CPU_TOLERANCE_NS = 100 }; /* below the noise of the CPU clock's own reading */

/* Where the walk stands. */
struct walk {
    const struct probity_drain_input *input;
    uint64_t tick;     /* of the record before */
    uint64_t off;      /* ticks off the CPU since base, modulo 2^64 */
    uint32_t at;       /* word */
    uint32_t zeros;    /* since the last record: holes if another follows */
    uint32_t holes;
};

/* One record of the walk. */
struct step {
    uint64_t tick, code; /* code: of the stream; 0 for an event */
    uint32_t word;       /* its head */
};

static uint64_t load_word(const struct probity_drain_input *input, uint32_t at)
{
    /* Acquire: pairs with the release store of a long record's head in src/runtime/record.c. */
    return __atomic_load_n(&input->words[at], __ATOMIC_ACQUIRE);
}

/* The tick nearest to `near` that has the head's 40 bits. */
static uint64_t full_tick(uint64_t word, uint64_t near)
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

/* A long record at walk->at. Returns 1 with a step, 0 where there is nothing to put out, -1 to
 * stop. */
static int step_long(struct walk *walk, uint64_t head, struct step *ret_step)
{
    const struct probity_drain_input *input = walk->input;
    uint32_t kind = head & 15, words = (uint32_t)(head >> 4) & 255, at = walk->at;

    if (kind == PROBITY_WORD_PENDING && input->stop_at_hole)
        return -1;
    if (words == 0 || words > input->end - at) {
        walk->at = at + 1; /* no writer makes this */
        walk->holes++;
        return 0;
    }
    walk->at = at + words;
    ret_step->word = at;
    ret_step->tick = full_tick(head, walk->tick);
    if (kind == PROBITY_WORD_HIT && words >= 2) {
        ret_step->code = PROBITY_STREAM_CODE_FIRST + load_word(input, at + 1) % (UINT64_C(1) << 33);
        return 1;
    }
    if (kind == PROBITY_WORD_EVENT && words >= 3) {
        ret_step->tick = load_word(input, at + 1);
        ret_step->code = 0;
        return 1;
    }
    if (kind == PROBITY_WORD_CPU && words >= 3) {
        walk->tick = load_word(input, at + 1);
        take_cpu_record(walk, walk->tick, load_word(input, at + 2));
    }
    walk->holes += kind == PROBITY_WORD_PENDING;
    return 0;
}

/* The next record from walk->at on. Returns 1, or 0 where the walk ends. */
static inline int walk_next(struct walk *walk, struct step *ret_step)
{
    const struct probity_drain_input *input = walk->input;

    while (walk->at < input->end) {
        uint64_t word = load_word(input, walk->at);
        uint32_t code = (uint32_t)(word & PROBITY_WORD_CODE_MASK);
        if (__builtin_expect(code >= PROBITY_WORD_CODE_FIRST, 1)) {
            ret_step->tick = full_tick(word, walk->tick);
            ret_step->code = code - PROBITY_WORD_CODE_FIRST + PROBITY_STREAM_CODE_FIRST;
            ret_step->word = walk->at++;
            walk->tick = ret_step->tick;
            walk->holes += walk->zeros;
            walk->zeros = 0;
            return 1;
        }
        if (word == 0) {
            if (input->stop_at_hole)
                return 0;
            walk->at++;
            walk->zeros++;
            continue;
        }
        walk->holes += walk->zeros;
        walk->zeros = 0;
        int found = step_long(walk, word, ret_step);
        if (found < 0)
            return 0;
        if (found > 0) {
            walk->tick = ret_step->tick;
            return 1;
        }
    }
    return 0;
}

/* A DATA block being packed. */
struct packing {
    uint8_t *block;
    struct probity_data data;
    uint64_t off;       /* as packed so far, absolute */
    uint64_t tolerance; /* in ticks */
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
    return probity_packer_start(stream_of(packing->block), first_tick, packing->table);
}

static struct probity_packer pack_off(struct packing *packing, struct probity_packer packer,
                                      uint64_t off)
{
    int64_t change = (int64_t)(off - packing->off);

    if (!(packing->data.flags & PROBITY_DATA_CPU_KNOWN) ||
        (uint64_t)(change < 0 ? -change : change) < packing->tolerance)
        return packer;
    packing->off = off;
    return probity_pack_cpu(packer, change);
}

static inline __attribute__((always_inline)) void
pack_event(struct packing *packing, struct probity_packer *packer,
           const struct probity_drain_input *input, uint64_t tick, uint32_t word)
{
    uint64_t room = ((load_word(input, word) >> 4 & 255) - 3) * 8;
    uint64_t shape = load_word(input, word + 2);
    uint64_t kind = shape & 0xffff, length = shape >> 16 & 0xffff;

    length = length < room ? length : room;
    packing->data.flags |= PROBITY_DATA_HAS_EVENTS;
    probity_pack_event_head(packer, tick, kind != 0 ? kind : UINT16_MAX, (size_t)length);
    /* Whole words: the record has them, and there is room for what follows. */
    for (uint64_t i = 0; i < length; i += 8)
        memcpy(packer->at + i, &input->words[word + 3 + i / 8], 8);
    packer->at += length;
}

static size_t packing_seal(struct packing *packing, const struct probity_packer *packer,
                           uint64_t block_serial)
{
    uint8_t *payload = packing->block + PROBITY_BLOCK_HEADER_BYTES;

    packing->data.last_tick = packer->tick;
    probity_data_put(payload, &packing->data);
    probity_block_seal(packing->block, PROBITY_BLOCK_DATA, block_serial,
                       (uint32_t)(packer->at - payload));
    return (size_t)(packer->at - packing->block);
}

static int entry_compare(const void *left, const void *right)
{
    const struct probity_drain_entry *a = left, *b = right;

    if (a->tick != b->tick)
        return a->tick < b->tick ? -1 : 1;
    return a->word < b->word ? -1 : a->word > b->word;
}

/* The second way: time steps back somewhere. Collects, sorts, packs. */
static struct probity_packer pack_sorted(struct packing *packing, struct walk *walk,
                                         struct probity_drain_scratch *scratch)
{
    const struct probity_drain_input *input = walk->input;
    struct probity_drain_entry *entries = scratch->entries;
    uint32_t count = 0;
    struct step step;

    while (count < scratch->capacity && walk_next(walk, &step)) {
        if (step.word >= input->first)
            entries[count++] =
                (struct probity_drain_entry){step.tick, walk->off, step.code, step.word};
    }
    packing->data.records = count;
    if (count == 0)
        return packing_start(packing, input, input->base_tick, 0);
    qsort(entries, count, sizeof *entries, entry_compare);
    struct probity_packer packer = packing_start(packing, input, entries[0].tick, entries[0].off);
    for (uint32_t i = 0; i < count; i++) {
        packer = pack_off(packing, packer, entries[i].off);
        if (entries[i].code != 0)
            probity_pack_hit(&packer, entries[i].tick, entries[i].code);
        else
            pack_event(packing, &packer, input, entries[i].tick, entries[i].word);
    }
    return packer;
}

/* The first way: packs while it walks. Returns 0 where a record is older than the one before. */
static int pack_in_order(struct packing *packing, struct walk *walk, struct step step,
                         struct probity_packer *ret_packer)
{
    const struct probity_drain_input *input = walk->input;
    struct probity_packer packer = packing_start(packing, input, step.tick, walk->off);
    uint64_t off = walk->off;
    uint32_t records = 0;

    do {
        if (__builtin_expect(step.tick < packer.tick, 0))
            return 0;
        if (__builtin_expect(walk->off != off, 0)) {
            off = walk->off;
            packer = pack_off(packing, packer, off);
        }
        if (__builtin_expect(step.code != 0, 1))
            probity_pack_hit(&packer, step.tick, step.code);
        else
            pack_event(packing, &packer, input, step.tick, step.word);
        records++;
    } while (walk_next(walk, &step));
    packing->data.records = records;
    *ret_packer = packer;
    return 1;
}

/* Walks over what is in the trace already. Returns 1 with the first record behind, 0 where there is
 * none. */
static int walk_to_first(struct walk *walk, struct step *ret_step)
{
    while (walk_next(walk, ret_step)) {
        if (ret_step->word >= walk->input->first)
            return 1;
    }
    return 0;
}

void probity_drain_chunk(const struct probity_drain_input *input,
                         struct probity_drain_scratch *scratch, uint64_t block_serial,
                         uint8_t *block, struct probity_drain_output *ret_output)
{
    struct walk start = {input, input->base_tick, 0, 0, 0, 0}, walk = start;
    struct packing packing = {.block = block};
    struct probity_packer packer;
    struct step step;

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
            packing.data.flags &= ~(uint32_t)PROBITY_DATA_HAS_EVENTS;
            packer = pack_sorted(&packing, &walk, scratch);
        }
        ret_output->records = packing.data.records;
        packing.data.end_word = walk.at - walk.zeros;
        packing.data.holes = walk.holes;
        ret_output->last_tick = packer.tick;
        if (packing.data.records > 0)
            ret_output->block_bytes = packing_seal(&packing, &packer, block_serial);
    }
    ret_output->end = walk.at - walk.zeros;
    ret_output->holes = walk.holes;
}
