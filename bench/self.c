/* SPDX-License-Identifier: MIT
 *
 * self.c TRACE: a tree of busy loops, 4 levels deep, with recursion and pauses. Records the scopes,
 * and prints how long each function's loops took by the counter, which is its true self time;
 * bench/self.sh compares them. Functions of the same form that do nothing else show what a scope
 * adds to its own self time and its caller's, and what a pause adds to its scope. Only some records
 * include a reading of the CPU clock; records that take that long are timed one by one.
 *
 * Lines: name, calls, ns in its loops, scopes called directly, pauses, ns in long records.
 */
#define FN_INSTRUMENT
#include "FnTrace.h"
#include "common.h"

#include <stdio.h>

#define NOINLINE __attribute__((noinline))

struct truth {
    const char *name;
    uint64_t calls, ticks, children, pauses, record_ticks;
};

enum { TREE_ROUNDS = 400, COST_ROUNDS = 4, COST_CALLS = 1000, RECURSION = 4, LONG_NS = 150 };

static struct truth root_truth = {.name = "root"}, branch_truth = {.name = "branch"},
                    twig_truth = {.name = "twig"}, leaf_truth = {.name = "leaf"},
                    again_truth = {.name = "again"}, paused_truth = {.name = "paused"},
                    parent_truth = {.name = "cost_parent"}, child_truth = {.name = "cost_child"},
                    pause_truth = {.name = "cost_pause"};
static uint64_t round_of_us, long_ticks;
static struct bench_work work = {1, 2, 3, 4, 5, 6};

/* The measured work. Every timed place calls it once. */
static inline __attribute__((always_inline)) void busy(struct truth *truth, double us)
{
    uint64_t first = probity_ticks();

    bench_work_do(&work, (uint64_t)(us * (double)round_of_us));
    truth->ticks += probity_ticks() - first;
}

/* Call after a record, in the function whose self time includes the time after the record's
 * tick. */
static inline __attribute__((always_inline)) void recorded(struct truth *truth)
{
    const struct probity_thread *self = probity_thread_self;
    uint64_t ticks = self != NULL ? probity_ticks() - self->last_tick : 0;

    if (ticks > long_ticks)
        truth->record_ticks += ticks;
}

static NOINLINE void leaf(void)
{
    FN_FUNC(FN_VOID, FN_1);
    recorded(&leaf_truth);
    leaf_truth.calls++;
    busy(&leaf_truth, 0.5);
}

static NOINLINE void again(int depth)
{
    FN_FUNC(FN_VOID, FN_1);
    recorded(&again_truth);
    again_truth.calls++;
    busy(&again_truth, 0.8);
    if (depth > 0) {
        again_truth.children++;
        again(depth - 1);
        recorded(&again_truth);
    }
}

static NOINLINE void twig(void)
{
    FN_FUNC(FN_VOID, FN_1);
    recorded(&twig_truth);
    twig_truth.calls++;
    busy(&twig_truth, 1);
    FN_PAUSE();
    busy(&paused_truth, 1.2);
    FN_RESUME();
    recorded(&twig_truth);
    twig_truth.pauses++;
    twig_truth.children++;
    leaf();
    recorded(&twig_truth);
}

static NOINLINE void branch(void)
{
    FN_FUNC(FN_VOID, FN_1);
    recorded(&branch_truth);
    branch_truth.calls++;
    busy(&branch_truth, 2);
    for (int i = 0; i < 3; i++) {
        branch_truth.children++;
        twig();
        recorded(&branch_truth);
    }
    branch_truth.children++;
    again(RECURSION);
    recorded(&branch_truth);
}

static NOINLINE void root(void)
{
    FN_FUNC(FN_VOID, FN_1);
    recorded(&root_truth);
    root_truth.calls++;
    busy(&root_truth, 5);
    for (int i = 0; i < 4; i++) {
        root_truth.children++;
        branch();
        recorded(&root_truth);
    }
}

static NOINLINE void cost_child(void)
{
    FN_FUNC(FN_VOID, FN_1);
    recorded(&child_truth);
    child_truth.calls++;
    busy(&child_truth, 0.5);
}

static NOINLINE void cost_parent(void)
{
    FN_FUNC(FN_VOID, FN_1);
    recorded(&parent_truth);
    parent_truth.calls++;
    for (int i = 0; i < COST_CALLS; i++) {
        parent_truth.children++;
        cost_child();
        recorded(&parent_truth);
    }
}

static NOINLINE void cost_pause(void)
{
    FN_FUNC(FN_VOID, FN_1);
    recorded(&pause_truth);
    pause_truth.calls++;
    for (int i = 0; i < COST_CALLS; i++) {
        FN_PAUSE();
        busy(&paused_truth, 0.5);
        FN_RESUME();
        recorded(&pause_truth);
        pause_truth.pauses++;
    }
}

static void print(const struct truth *truth)
{
    printf("%s %llu %.0f %llu %llu %.0f\n", truth->name, (unsigned long long)truth->calls,
           bench_ns_of(truth->ticks), (unsigned long long)truth->children,
           (unsigned long long)truth->pauses, bench_ns_of(truth->record_ticks));
}

int main(int argc, char **argv)
{
    const struct truth *all[] = {&root_truth,  &branch_truth, &twig_truth,
                                 &leaf_truth,  &again_truth,  &paused_truth,
                                 &parent_truth, &child_truth, &pause_truth};
    struct probity_options options = {.overwrite = PROBITY_ON};

    if (argc != 2) {
        fprintf(stderr, "usage: self TRACE\n");
        return 2;
    }
    options.out = argv[1];
    long_ticks = (uint64_t)(LONG_NS / bench_ns_per_tick());
    round_of_us = bench_work_rounds(1000);
    if (probity_start(&options) != 0)
        return 1;
    bench_pin(0);
    for (int i = 0; i < TREE_ROUNDS; i++) {
        root();
        if (i % (TREE_ROUNDS / COST_ROUNDS) == 0) {
            cost_parent();
            cost_pause();
        }
    }
    if (probity_stop() != 0)
        return 1;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        print(all[i]);
    return 0;
}
