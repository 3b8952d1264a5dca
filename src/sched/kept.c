/* SPDX-License-Identifier: MIT
 *
 * kept.c: a table of threads. Wakings are not kept: a woken thread runs soon after, and that event
 * has not been discarded yet.
 */
#include "sched/kept.h"

#include <stdlib.h>

#include "base/hash.h"
#include "probity.h"

struct kept_thread {
    struct probity_link link;
    struct probity_sched_spilled event; /* other: the CPU */
};

static struct kept_thread *find(const struct probity_sched_kept *kept, uint32_t tid)
{
    struct kept_thread *thread = probity_hashtable_at(&kept->threads, probity_hash(tid));

    while (thread != NULL && thread->event.tid != tid)
        thread = (struct kept_thread *)thread->link.next;
    return thread;
}

static int put(struct probity_sched_kept *kept, const struct probity_sched_spilled *event,
               uint32_t cpu)
{
    struct kept_thread *thread = find(kept, event->tid);

    if (thread == NULL) {
        thread = calloc(1, sizeof *thread);
        if (thread == NULL)
            return PROBITY_ERROR_MEMORY;
        thread->event.tid = event->tid;
        if (probity_hashtable_add(&kept->threads, thread, probity_hash(event->tid)) != 0) {
            free(thread);
            return PROBITY_ERROR_MEMORY;
        }
    }
    if (thread->event.time_kind >> 4 <= event->time_kind >> 4) {
        thread->event = *event;
        thread->event.other = cpu;
    }
    return 0;
}

int probity_sched_kept_discard(struct probity_sched_kept *kept, uint32_t cpu,
                               const struct probity_sched_spilled *events, uint32_t count)
{
    int error = 0;

    for (uint32_t i = 0; error == 0 && i < count; i++) {
        const struct probity_sched_spilled *event = &events[i];
        uint64_t time_ns = event->time_kind >> 4;
        kept->until_ns = time_ns > kept->until_ns ? time_ns : kept->until_ns;
        switch (event->time_kind & 15) {
        case PROBITY_SCHED_WOKEN:
        case PROBITY_SCHED_PAUSED: break;
        case PROBITY_SCHED_LOST:
            kept->lost_ns = time_ns > kept->lost_ns ? time_ns : kept->lost_ns;
            kept->lost += event->tid;
            break;
        default: error = put(kept, event, cpu); break;
        }
    }
    return error;
}

static int has_ended(const struct kept_thread *thread)
{
    return (thread->event.time_kind & 15) == PROBITY_SCHED_EXIT;
}

void probity_sched_kept_forget(struct probity_sched_kept *kept, uint64_t until_ns)
{
    struct kept_thread *thread = probity_hashtable_next(&kept->threads, NULL);

    while (thread != NULL) {
        struct kept_thread *next = probity_hashtable_next(&kept->threads, thread);
        if (has_ended(thread) && thread->event.time_kind >> 4 < until_ns) {
            probity_hashtable_remove(&kept->threads, thread);
            free(thread);
        }
        thread = next;
    }
}

int probity_sched_kept_copy(const struct probity_sched_kept *kept,
                            struct probity_sched_kept *ret_copy)
{
    const struct kept_thread *thread = NULL;
    int error = 0;

    *ret_copy = (struct probity_sched_kept){.until_ns = kept->until_ns,
                                            .lost_ns = kept->lost_ns, .lost = kept->lost};
    while (error == 0 &&
           (thread = probity_hashtable_next(&kept->threads, thread)) != NULL)
        error = put(ret_copy, &thread->event, thread->event.other);
    if (error != 0)
        probity_sched_kept_release(ret_copy);
    return error;
}

static int compare_times(const void *left, const void *right)
{
    const struct probity_sched_spilled *a = left, *b = right;

    if (a->time_kind != b->time_kind)
        return a->time_kind < b->time_kind ? -1 : 1;
    return a->tid < b->tid ? -1 : a->tid > b->tid;
}

struct probity_sched_spilled *probity_sched_kept_events(const struct probity_sched_kept *kept,
                                                        uint32_t *ret_count)
{
    struct probity_sched_spilled *events = calloc(kept->threads.items + 1, sizeof *events);
    const struct kept_thread *thread = NULL;
    uint32_t count = 0;

    if (events == NULL)
        return NULL;
    while ((thread = probity_hashtable_next(&kept->threads, thread)) != NULL) {
        if (thread->event.time_kind >> 4 >= kept->lost_ns && !has_ended(thread))
            events[count++] = thread->event;
    }
    qsort(events, count, sizeof *events, compare_times);
    *ret_count = count;
    return events;
}

void probity_sched_kept_release(struct probity_sched_kept *kept)
{
    void *thread;

    while ((thread = probity_hashtable_take(&kept->threads)) != NULL)
        free(thread);
    *kept = (struct probity_sched_kept){.until_ns = 0};
}
