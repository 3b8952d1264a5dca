/* SPDX-License-Identifier: MIT
 *
 * early_threads.c: numbers the threads that began before a reader's window, in the same order as a
 * reader of everything: by their first records or thread states, which are in the indexes.
 */
#include <stdlib.h>

#include "probity.h"
#include "reader/merge.h"

/* A thread that began before the window. */
struct early_thread {
    uint64_t key;
    const struct probity_index_block *thread;
    uint32_t trace;
};

/* Compares by time. Threads that began at the same time keep the order of trace and index. */
static int compare_early(const void *left, const void *right)
{
    const struct early_thread *a = left, *b = right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->trace != b->trace)
        return a->trace < b->trace ? -1 : 1;
    return a->thread < b->thread ? -1 : a->thread > b->thread;
}

static int compare_numbers(const void *left, const void *right)
{
    const struct early_thread *a = left, *b = right;

    return a->thread->thread < b->thread->thread ? -1 : a->thread->thread > b->thread->thread;
}

/* Finds a thread by number. `early` is sorted by number. */
static struct early_thread *find_number(struct early_thread *early, size_t count, uint32_t number)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (early[middle].thread->thread < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && early[low].thread->thread == number ? &early[low] : NULL;
}

/* Also considers thread states, since a thread may have some before its first record. The keys are
 * ticks until they are converted to times of the merge. */
static void begin_with_states(const struct probity_trace *trace, struct early_thread *early,
                              size_t count)
{
    if (trace->sched.count > 0 && count > 1)
        qsort(early, count, sizeof *early, compare_numbers);
    for (size_t i = 0; i < trace->sched.count; i++) {
        const struct probity_sched_block *block = &trace->sched.blocks[i];
        struct early_thread *of = find_number(early, count, block->thread);
        if (of != NULL && block->first_tick < of->key)
            of->key = block->first_tick;
    }
}

/* Adds the threads of a trace that began before the window. Returns their number. */
static size_t add_early(struct probity_trace *trace, struct early_thread *early)
{
    const struct probity_index *index = &trace->index;
    size_t count = index->threads.count, kept = 0;

    for (size_t i = 0; i < count; i++) {
        const struct probity_index_block *thread = &index->threads.items[i];
        uint64_t tick = thread->began_tick != 0 || thread->bytes != 0 ? thread->began_tick
                                                                      : UINT64_MAX;
        early[i] = (struct early_thread){tick, thread, trace->number};
    }
    begin_with_states(trace, early, count);
    for (size_t i = 0; i < count; i++) {
        if (early[i].thread->bytes == 0 && early[i].key >= index->before_tick)
            continue;
        early[kept] = early[i];
        early[kept].key = probity_trace_key(trace, early[kept].key);
        kept++;
    }
    return kept;
}

int probity_merge_number_threads(struct probity_merge *merge)
{
    size_t count = 1; /* calloc(0) may return NULL */
    int error = 0;

    for (size_t i = 0; i < merge->trace_count; i++)
        count += merge->traces[i].index.threads.count;
    struct early_thread *early = calloc(count, sizeof *early);
    if (early == NULL)
        return PROBITY_ERROR_MEMORY;
    count = 0;
    for (size_t i = 0; i < merge->trace_count; i++)
        count += add_early(&merge->traces[i], early + count);
    if (count > 1)
        qsort(early, count, sizeof *early, compare_early);
    for (size_t i = 0; error == 0 && i < count; i++) {
        uint32_t slot;
        error = probity_threads_slot(&merge->threads, early[i].trace, early[i].thread->thread,
                                     early[i].thread->tid, &slot);
    }
    free(early);
    return error;
}
