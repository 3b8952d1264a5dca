/* SPDX-License-Identifier: MIT
 *
 * measured_internal.c: at each of its instructions, a probe that reads the CPU clock is interrupted
 * by a handler that reads it, too. Prints how many recorded readings have the tick of one reading
 * and the CPU time of another. Exit status 77: not supported here.
 */
#include "base/ticks.h"
#include "programs/hits.h"
#include "programs/stepped.h"
#include "runtime/session.h"
#include "runtime/thread.h"

#if PROBITY_HAS_FAST_PATH && STEPPED
enum { OUTER = 1, HANDLED = 2, WORK_NS = 50000, ROUNDS_MAX = 5000 };

extern char __executable_start, etext;

static const struct probity_live *live;

/* Uses enough CPU time to let the next probe read the clock. */
static void work(void)
{
    uint64_t begin = probity_ticks(), rate = probity_live_rate(live);

    while (probity_ns_of_ticks(probity_ticks() - begin, rate) < WORK_NS)
        ;
    probity_thread_slot()->credit = UINT32_MAX;
}

static void handle(void)
{
    work();
    PROBITY_PROBE(HANDLED);
}

/* Handles each instruction of the program and the library once; which ones run depends on the
 * clocks. */
static int is_new(uintptr_t instruction)
{
    static unsigned char seen[4 << 20];
    uintptr_t offset = instruction - (uintptr_t)&__executable_start;

    if (instruction >= (uintptr_t)&etext || offset >= sizeof seen || seen[offset])
        return 0;
    return seen[offset] = 1;
}

/* Counts the readings in the words from `at` to `end` of which one half is equal to that of another
 * reading. */
static int torn_in(const uint64_t *at, const uint64_t *end)
{
    const uint64_t *reading[8];
    int readings = 0, torn = 0;

    while (at < end) {
        uint32_t code = (uint32_t)(*at & PROBITY_WORD_CODE_MASK);
        if (code < PROBITY_WORD_CODE_FIRST && (code & 15) == PROBITY_WORD_CPU && readings < 8)
            reading[readings++] = at;
        at += code < PROBITY_WORD_CODE_FIRST ? code >> 4 : 1;
    }
    for (int i = 0; i < readings; i++) {
        for (int j = 0; j < i; j++)
            torn += (reading[i][1] == reading[j][1]) != (reading[i][2] == reading[j][2]);
    }
    return torn;
}

int main(void)
{
    /* No chunk fills up before the end, because a chunk change blocks signals. */
    struct probity_options options = {.out = "measured", .chunk_records = 65536};
    int quiet = 0, torn = 0, round = 0;

    hits_need(probity_start(&options) == 0, "start");
    PROBITY_PROBE(OUTER);
    live = &probity_session_get()->live;
    if (!probity_clock_is_counter(live->clock))
        return 77;
    stepped.passes_calls = 1; /* clock_gettime() */
    stepped.is_due = is_new;
    /* Repeats until several probes in a row have run no new instruction. */
    for (; quiet < 5 && round < ROUNDS_MAX; round++) {
        const uint64_t *first = (const uint64_t *)probity_thread_self->cursor;
        work();
        stepped_begin(0, handle);
        PROBITY_PROBE(OUTER);
        quiet = stepped_end() ? 0 : quiet + 1;
        torn += torn_in(first, (const uint64_t *)probity_thread_self->cursor);
    }
    hits_need(round > 100 && round < ROUNDS_MAX, "all instructions");
    hits_need(probity_stop() == 0, "stop");
    printf("%d\n", torn);
    return 0;
}
#else
int main(void)
{
    return 77;
}
#endif
