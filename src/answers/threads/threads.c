/* SPDX-License-Identifier: MIT
 *
 * threads.c: sums for each thread, updated as events are read. At the end, the sums for processes
 * are computed from them.
 */
#include "answers/threads/threads.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/scopes_run.h"
#include "base/array_grow.h"
#include "base/assert.h"
#include "probity.h"

/* CPU times are in most records, but an older trace may have none. */
struct thread_item {
    struct probity_threads_thread thread;
    uint64_t cpu_first_ns, cpu_last_ns;   /* of the first and last record with CPU time */
    uint64_t wall_first_ns, wall_last_ns; /* wall time of these records */
    int is_cpu_known;
    struct probity_thread_split states_first, states_last; /* at the first and last record */
};

struct probity_threads {
    uint64_t from_ns, to_ns;
    const struct probity_scopes *scopes;
    struct probity_scopes *own_scopes; /* NULL: uses those of another analysis */
    struct probity_thread_states *states; /* NULL: not requested */
    struct thread_item **slots; /* by slot; NULL: not seen yet */
    uint32_t slot_count, added; /* added: number of threads that were added, not read */
    struct probity_threads_process *processes;
    size_t process_count;
    struct probity_threads_thread **list; /* of all processes, one after another */
};

static struct thread_item *item_at(struct probity_threads *threads, uint32_t slot,
                                   const struct probity_thread_label *label)
{

    if (slot >= threads->slot_count) {
        void *grown = probity_array_grow(threads->slots, sizeof *threads->slots, slot,
                                         &threads->slot_count);
        if (grown == NULL)
            return NULL;
        threads->slots = grown;
    }
    if (threads->slots[slot] == NULL) {
        struct thread_item *item = calloc(1, sizeof *item);
        if (item == NULL)
            return NULL;
        item->thread = (struct probity_threads_thread){label->trace, label->thread, label->tid,
                                                       label->pid, NULL, {.first_ns = 0}};
        threads->slots[slot] = item;
    }
    return threads->slots[slot];
}

/* Counts the scopes that begin in the range. A thread has an item before it has scopes. */
static void on_opened(void *context, struct probity_scope *scope, const struct probity_event *event)
{
    struct probity_threads *threads = context;

    if (scope->enter_wall_ns >= threads->from_ns && scope->enter_wall_ns < threads->to_ns)
        threads->slots[event->thread_slot]->thread.sums.scopes++;
}

static void on_closed(void *context, const struct probity_scope *scope, enum probity_scope_end how,
                      uint32_t thread_slot, const struct probity_event *event)
{
    struct probity_threads *threads = context;

    (void)how;
    (void)event;
    if (scope->depth == 0 && scope->enter_wall_ns >= threads->from_ns &&
        scope->enter_wall_ns < threads->to_ns)
        threads->slots[thread_slot]->thread.sums.inside_ns += scope->elapsed.wall_ns;
}

static inline void add_record(struct thread_item *item, uint64_t wall_ns, uint64_t cpu_ns,
                              int is_cpu_known, int is_hit)
{
    struct probity_threads_sums *sums = &item->thread.sums;

    if (sums->records++ == 0)
        sums->first_ns = sums->last_ns = wall_ns;
    if (wall_ns > sums->last_ns)
        sums->last_ns = wall_ns;
    sums->hits += (uint64_t)is_hit;
    if (!is_cpu_known)
        return;
    if (!item->is_cpu_known) {
        item->is_cpu_known = 1;
        item->cpu_first_ns = item->cpu_last_ns = cpu_ns;
        item->wall_first_ns = wall_ns;
    }
    if (cpu_ns > item->cpu_last_ns)
        item->cpu_last_ns = cpu_ns;
    item->wall_last_ns = wall_ns;
}

/* Called for each record, because any may be the last one. */
static void add_states(struct probity_threads *threads, struct thread_item *item, uint32_t slot,
                       uint64_t wall_ns)
{
    struct probity_threads_sums *sums = &item->thread.sums;

    probity_thread_states_at(threads->states, slot, wall_ns, &item->states_last);
    if (sums->records == 1)
        item->states_first = item->states_last;
    sums->has_states |= probity_thread_states_has(threads->states, slot);
}

static int set_name(struct thread_item *item, const struct probity_event *event)
{
    char *name = strndup((const char *)event->payload, event->payload_bytes);

    if (name == NULL)
        return PROBITY_ERROR_MEMORY;
    free(item->thread.name);
    item->thread.name = name;
    return 0;
}

struct probity_scopes_listener probity_threads_listener(struct probity_threads *threads)
{
    return (struct probity_scopes_listener){on_opened, on_closed, threads};
}

void probity_threads_follow(struct probity_threads *threads, const struct probity_scopes *scopes)
{
    probity_scopes_close(threads->own_scopes);
    threads->own_scopes = NULL;
    threads->scopes = scopes;
}

int probity_threads_put(struct probity_threads *threads, const struct probity_event *event)
{
    const struct probity_scopes_listener listener = probity_threads_listener(threads);

    if (event->kind == PROBITY_EVENT_THREAD_STATE)
        return threads->states != NULL ? probity_thread_states_put(threads->states, event) : 0;
    const struct probity_thread_label label = {event->trace, event->thread, event->tid, event->pid,
                                               NULL};
    struct thread_item *item = item_at(threads, event->thread_slot, &label);
    if (item == NULL)
        return PROBITY_ERROR_MEMORY;
    if (event->kind == PROBITY_EVENT_THREAD_NAME && set_name(item, event) != 0)
        return PROBITY_ERROR_MEMORY;
    if (probity_event_is_record(event->kind) && event->wall_ns >= threads->from_ns &&
        event->wall_ns < threads->to_ns) {
        add_record(item, event->wall_ns, event->cpu_ns, event->cpu_known,
                   event->kind == PROBITY_EVENT_HIT);
        if (threads->states != NULL)
            add_states(threads, item, event->thread_slot, event->wall_ns);
    }
    return threads->own_scopes != NULL
               ? probity_scopes_put(threads->own_scopes, event, &listener) : 0;
}

static inline void opened_in_run(void *context, struct probity_scope *scope,
                                 const struct probity_run *run, size_t at)
{
    (void)at;
    on_opened(context, scope, run->event);
}

/* Adds the records of a run. Only states at the first and last record matter. */
static void add_records(struct probity_threads *threads, struct thread_item *item,
                        const struct probity_run *run)
{
    const struct probity_run_event *last = NULL;
    const struct probity_event *event = run->event;

    for (size_t i = 0; i < run->count; i++) {
        const struct probity_run_event *record = &run->events[i];
        uint32_t kind = probity_run_code_of(run, i)->kind;
        if (!probity_event_is_record(kind) || record->wall_ns < threads->from_ns ||
            record->wall_ns >= threads->to_ns)
            continue;
        add_record(item, record->wall_ns, record->cpu_ns, event->cpu_known,
                   kind == PROBITY_EVENT_HIT);
        if (threads->states != NULL && item->thread.sums.records == 1)
            add_states(threads, item, event->thread_slot, record->wall_ns);
        last = record;
    }
    if (threads->states != NULL && last != NULL && item->thread.sums.records > 1)
        add_states(threads, item, event->thread_slot, last->wall_ns);
}

int probity_threads_put_run(struct probity_threads *threads, const struct probity_run *run)
{
    const struct probity_scopes_run_steps steps = {{on_opened, on_closed, threads}, opened_in_run,
                                                   NULL, NULL};
    const struct probity_event *event = run->event;
    const struct probity_thread_label label = {event->trace, event->thread, event->tid, event->pid,
                                               NULL};
    struct thread_item *item = item_at(threads, event->thread_slot, &label);

    if (item == NULL)
        return PROBITY_ERROR_MEMORY;
    add_records(threads, item, run);
    return threads->own_scopes != NULL
               ? probity_scopes_put_run(threads->own_scopes, run, steps) : 0;
}

int probity_threads_add(struct probity_threads *threads, const struct probity_thread_label *label,
                        const struct probity_threads_sums *sums)
{
    struct thread_item *item = item_at(threads, threads->added, label);

    if (item == NULL)
        return PROBITY_ERROR_MEMORY;
    threads->added++;
    item->thread.sums = *sums;
    item->thread.name = label->name != NULL ? strdup(label->name) : NULL;
    return label->name == NULL || item->thread.name != NULL ? 0 : PROBITY_ERROR_MEMORY;
}

/* ---- Finishing ---------------------------------------------------------------------------------
 */

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static void finish_cpu(struct thread_item *item)
{
    struct probity_threads_sums *sums = &item->thread.sums;

    sums->cpu_ns = less(item->cpu_last_ns, item->cpu_first_ns);
    if (item->is_cpu_known)
        sums->off_ns = less(less(item->wall_last_ns, item->wall_first_ns), sums->cpu_ns);
    if (sums->has_states)
        sums->states = probity_thread_split_less(&item->states_last, &item->states_first);
}

static int compare_threads(const void *left, const void *right)
{
    const struct probity_threads_thread *a = *(struct probity_threads_thread *const *)left;
    const struct probity_threads_thread *b = *(struct probity_threads_thread *const *)right;

    if (a->trace != b->trace)
        return a->trace < b->trace ? -1 : 1;
    return a->thread < b->thread ? -1 : a->thread > b->thread;
}

static void add_to_process(struct probity_threads_process *process,
                           const struct probity_threads_sums *from)
{
    struct probity_threads_sums *to = &process->sums;

    if (process->thread_count++ == 0 || from->first_ns < to->first_ns)
        to->first_ns = from->first_ns;
    to->last_ns = from->last_ns > to->last_ns ? from->last_ns : to->last_ns;
    to->records += from->records;
    to->hits += from->hits;
    to->scopes += from->scopes;
    to->cpu_ns += from->cpu_ns;
    to->off_ns += from->off_ns;
    to->inside_ns += from->inside_ns;
    to->has_states |= from->has_states;
    to->has_calls_only |= from->has_calls_only;
    probity_thread_split_add(&to->states, &from->states);
}

int probity_threads_finish(struct probity_threads *threads)
{
    const struct probity_scopes_listener listener = probity_threads_listener(threads);
    struct probity_threads_process *process = NULL;
    size_t count = 0;

    if (threads->own_scopes != NULL)
        probity_scopes_finish(threads->own_scopes, &listener);
    threads->list = calloc((size_t)threads->slot_count + 1, sizeof *threads->list);
    threads->processes = calloc((size_t)threads->slot_count + 1, sizeof *threads->processes);
    if (threads->list == NULL || threads->processes == NULL)
        return PROBITY_ERROR_MEMORY;
    for (uint32_t slot = 0; slot < threads->slot_count; slot++) {
        struct thread_item *item = threads->slots[slot];
        if (item == NULL ||
            (item->thread.sums.records == 0 && !item->thread.sums.has_calls_only))
            continue;
        if (!item->thread.sums.has_calls_only)
            finish_cpu(item);
        threads->list[count++] = &item->thread;
    }
    qsort(threads->list, count, sizeof *threads->list, compare_threads);
    for (size_t i = 0; i < count; i++) {
        const struct probity_threads_thread *thread = threads->list[i];
        if (process == NULL || process->trace != thread->trace) {
            process = &threads->processes[threads->process_count++];
            process->trace = thread->trace;
            process->pid = thread->pid;
            process->threads = &threads->list[i];
        }
        add_to_process(process, &thread->sums);
    }
    return 0;
}

const struct probity_threads_process *probity_threads_processes(
    const struct probity_threads *threads, size_t *ret_count)
{
    *ret_count = threads->process_count;
    return threads->processes;
}

uint64_t probity_threads_pending(const struct probity_threads *threads)
{
    return probity_scopes_pending(threads->scopes);
}

const struct probity_scopes_repairs *probity_threads_repairs(const struct probity_threads *threads)
{
    return probity_scopes_repairs(threads->scopes);
}

/* ---- Sorting -----------------------------------------------------------------------------------
 */

/* Returns the value by which items are sorted, largest first. */
static uint64_t rank_of(const struct probity_threads_sums *sums, uint32_t id,
                        enum probity_threads_key key)
{
    switch (key) {
    case PROBITY_THREADS_FIRST: return UINT64_MAX - sums->first_ns;
    case PROBITY_THREADS_LAST: return sums->last_ns;
    case PROBITY_THREADS_LIFETIME: return sums->last_ns - sums->first_ns;
    case PROBITY_THREADS_CPU: return sums->cpu_ns;
    case PROBITY_THREADS_OFF: return sums->off_ns;
    case PROBITY_THREADS_RECORDS: return sums->records;
    case PROBITY_THREADS_HITS: return sums->hits;
    case PROBITY_THREADS_SCOPES: return sums->scopes;
    case PROBITY_THREADS_TID: return UINT64_MAX - id;
    default: return 0;
    }
}

struct sort_item {
    uint64_t rank;
    const char *name; /* "~" without a name, to sort after most names */
    size_t place;
};

static int compare_items(const void *left, const void *right)
{
    const struct sort_item *a = left, *b = right;

    if (a->rank != b->rank)
        return a->rank > b->rank ? -1 : 1;
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : a->place < b->place ? -1 : a->place > b->place;
}

/* Arranges elements of size `bytes` in the order of the items. Leaves them unchanged if out of
 * memory. */
static void arrange(void *elements, size_t bytes, struct sort_item *items, size_t count)
{
    char *from = elements, *copy = malloc(count * bytes + 1);

    if (copy == NULL)
        return;
    qsort(items, count, sizeof *items, compare_items);
    for (size_t i = 0; i < count; i++)
        memcpy(copy + i * bytes, from + items[i].place * bytes, bytes);
    memcpy(elements, copy, count * bytes);
    free(copy);
}

static void sort_threads(struct probity_threads_process *process, struct sort_item *items,
                         enum probity_threads_key key)
{
    for (size_t i = 0; i < process->thread_count; i++) {
        const struct probity_threads_thread *thread = process->threads[i];
        int is_named = key == PROBITY_THREADS_NAME;
        items[i].rank = rank_of(&thread->sums, thread->tid, key);
        items[i].name = !is_named ? "" : thread->name != NULL ? thread->name : "~";
        items[i].place = i;
    }
    arrange(process->threads, sizeof *process->threads, items, process->thread_count);
}

void probity_threads_sort(struct probity_threads *threads, enum probity_threads_key key)
{
    struct sort_item *items = calloc((size_t)threads->slot_count + 1, sizeof *items);

    if (items == NULL)
        return;
    for (size_t i = 0; i < threads->process_count; i++)
        sort_threads(&threads->processes[i], items, key);
    for (size_t i = 0; i < threads->process_count; i++) {
        const struct probity_threads_process *process = &threads->processes[i];
        items[i] = (struct sort_item){rank_of(&process->sums, process->pid, key), "", i};
    }
    arrange(threads->processes, sizeof *threads->processes, items, threads->process_count);
    free(items);
}

int probity_threads_open(uint64_t from_ns, uint64_t to_ns, struct probity_threads **ret_threads)
{
    struct probity_threads *threads = calloc(1, sizeof *threads);

    if (threads == NULL || probity_scopes_open(&threads->own_scopes) != 0) {
        free(threads);
        return PROBITY_ERROR_MEMORY;
    }
    threads->scopes = threads->own_scopes;
    probity_scopes_set_range(threads->own_scopes, from_ns, to_ns);
    threads->from_ns = from_ns;
    threads->to_ns = to_ns > 0 ? to_ns : UINT64_MAX;
    *ret_threads = threads;
    return 0;
}

int probity_threads_want_states(struct probity_threads *threads)
{
    return probity_thread_states_open(0, &threads->states);
}

void probity_threads_close(struct probity_threads *threads)
{
    if (threads->states != NULL)
        probity_thread_states_close(threads->states);
    for (uint32_t slot = 0; slot < threads->slot_count; slot++) {
        if (threads->slots[slot] != NULL)
            free(threads->slots[slot]->thread.name);
        free(threads->slots[slot]);
    }
    if (threads->own_scopes != NULL)
        probity_scopes_close(threads->own_scopes);
    free(threads->slots);
    free(threads->processes);
    free(threads->list);
    free(threads);
}
