/* SPDX-License-Identifier: MIT
 *
 * waiting.c: adds each wait to its row, with the holders' shares of it.
 */
#include "answers/waits/waiting.h"

#include <stdlib.h>
#include <string.h>

#include "answers/waits/waiting_rows.h"
#include "base/array_grow.h"
#include "probity.h"

/* ---- Holders -----------------------------------------------------------------------------------
 */

static int is_holder(const struct probity_waiting_holder *a, const struct probity_waiting_holder *b)
{
    return a->thread_slot == b->thread_slot && a->tid == b->tid &&
           a->doing.function == b->doing.function && a->doing.call == b->doing.call;
}

/* The last entry sums all other holders. */
static int add_holder(struct probity_waiting_row *row, const struct probity_waiting_holder *part)
{
    struct probity_waiting_holder added = *part, *holder = NULL;
    size_t i = 0;

    while (i < row->holder_count && !is_holder(&row->holders[i], part))
        i++;
    if (i >= PROBITY_WAITING_HOLDERS_MAX - 1 && i == row->holder_count) {
        added.thread_slot = PROBITY_WAITS_NO_THREAD;
        added.tid = 0;
        added.doing = (struct probity_past_doing){NULL, NULL};
        for (i = 0; i < row->holder_count && !is_holder(&row->holders[i], &added);)
            i++;
    }
    if (i == row->holder_count) {
        holder = probity_array_room(row->holders, sizeof *holder, row->holder_count,
                                    &row->holder_capacity);
        if (holder == NULL)
            return PROBITY_ERROR_MEMORY;
        row->holders = holder;
        row->holder_count++;
        added.waits = added.ns = added.known_ns = added.cpu_ns = 0;
        added.split = (struct probity_thread_split){{0}};
        holder[i] = added;
    }
    holder = &row->holders[i];
    holder->waits += part->waits;
    holder->ns += part->ns;
    holder->known_ns += part->known_ns;
    holder->cpu_ns += part->cpu_ns;
    probity_thread_split_add(&holder->split, &part->split);
    return 0;
}

static int complete(struct probity_waiting *waiting, const struct probity_wait_place *place,
                    struct probity_past_doing *doing)
{
    return probity_wait_names_complete(&waiting->names, waiting->trace, place, doing);
}

/* Adds the activities of a thread in a range, and finds the one that took most of that time. */
static int add_doings(struct probity_waiting *waiting, struct probity_waiting_row *row,
                      const struct probity_wait_holder *range, int is_culprit,
                      struct probity_past_doing *ret_most)
{
    const struct probity_past *past = probity_waits_past(waiting->waits);
    struct waiting_most most = {.count = 0};
    struct probity_past_stretch stretch;
    uint64_t to_ns = range->to_ns;
    int error = 0;

    while (error == 0 && to_ns > range->from_ns &&
           probity_past_before(past, range->thread_slot, range->from_ns, to_ns, &stretch)) {
        const uint64_t ns = to_ns - stretch.from_ns;
        error = complete(waiting, &range->place, &stretch.doing);
        struct probity_waiting_holder part = {
            .thread_slot = range->thread_slot, .doing = stretch.doing, .ns = ns,
            .known_ns = stretch.is_cpu_known ? ns : 0, .cpu_ns = stretch.cpu_ns};
        probity_thread_states_split(waiting->states, range->thread_slot, stretch.from_ns, to_ns,
                                    &part.split);
        if (error == 0)
            error = add_holder(row, &part);
        waiting_most_add(&most, &stretch.doing, ns);
        to_ns = stretch.from_ns;
    }
    if (error == 0 && to_ns > range->from_ns) { /* its activity is no longer known */
        struct probity_waiting_holder part = {.thread_slot = range->thread_slot,
                                              .ns = to_ns - range->from_ns};
        probity_thread_states_split(waiting->states, range->thread_slot, range->from_ns, to_ns,
                                    &part.split);
        error = add_holder(row, &part);
    }
    *ret_most = waiting_most_of(&most);
    if (range->from_ns == range->to_ns &&
        probity_past_before(past, range->thread_slot, 0, range->to_ns, &stretch))
        *ret_most = stretch.doing;
    if (error == 0)
        error = complete(waiting, &range->place, ret_most);
    if (error != 0 || !is_culprit)
        return error;
    return add_holder(row, &(struct probity_waiting_holder){.thread_slot = range->thread_slot,
                                                            .doing = *ret_most, .waits = 1});
}

/* Returns the time in which at least one of the holders, sorted by their ends, had the object. */
static uint64_t union_of(const struct probity_wait *wait)
{
    uint64_t ns = 0, before_ns = wait->to_ns;

    for (size_t i = wait->holder_count; i > 0; i--) {
        const struct probity_wait_holder *holder = &wait->holders[i - 1];
        uint64_t to_ns = holder->to_ns < before_ns ? holder->to_ns : before_ns;
        if (holder->from_ns >= to_ns)
            continue;
        ns += to_ns - holder->from_ns;
        before_ns = holder->from_ns;
    }
    return ns;
}

static int add_holders(struct probity_waiting *waiting, struct probity_waiting_row *row,
                       const struct probity_wait *wait, struct probity_waiting_case *instance)
{
    int error = 0;

    for (size_t i = 0; error == 0 && i < wait->holder_count; i++) {
        const struct probity_wait_holder *holder = &wait->holders[i];
        int is_culprit = (int)i == wait->culprit || (wait->culprit < 0 && i == 0);
        struct probity_past_doing most = {NULL, NULL};
        if (holder->thread_slot == PROBITY_WAITS_NO_THREAD)
            error = add_holder(row, &(struct probity_waiting_holder){
                .thread_slot = PROBITY_WAITS_NO_THREAD, .tid = holder->tid,
                .waits = (uint64_t)is_culprit, .ns = holder->to_ns - holder->from_ns,
                .split = {{[PROBITY_STATE_UNKNOWN] = holder->to_ns - holder->from_ns}}});
        else
            error = add_doings(waiting, row, holder, is_culprit, &most);
        if (!is_culprit)
            continue;
        instance->culprit_slot = holder->thread_slot;
        instance->culprit_tid = holder->tid;
        instance->culprit_doing = most;
    }
    row->known_ns += union_of(wait);
    return error;
}

/* Counts the notifying thread, in the function that notified, as the cause of the wait up to
 * then. */
static int add_waker(struct probity_waiting *waiting, struct probity_waiting_row *row,
                     const struct probity_wait *wait, struct probity_waiting_case *instance)
{
    /* In a call, only the time off the CPU counts as waiting. */
    uint64_t until_ns = wait->waker_ns - wait->from_ns;
    struct probity_waiting_holder part = {
        .thread_slot = wait->waker_slot, .doing = wait->waker_doing, .waits = 1,
        .ns = until_ns < instance->ns ? until_ns : instance->ns};

    probity_thread_states_split(waiting->states, wait->waker_slot, wait->waker_ns - part.ns,
                                wait->waker_ns, &part.split);
    instance->culprit_slot = wait->waker_slot;
    instance->culprit_doing = wait->waker_doing;
    row->known_ns += part.ns;
    return add_holder(row, &part);
}

/* ---- Waits -------------------------------------------------------------------------------------
 */

/* wait: completed with functions from places. */
static int add_wait(struct probity_waiting *waiting, const struct probity_wait *wait)
{
    struct probity_waiting_row *row;
    struct probity_waiting_case instance = {
        .from_ns = wait->from_ns, .ns = wait->waited_ns, .thread_slot = wait->thread_slot,
        .doing = wait->doing, .culprit_slot = PROBITY_WAITS_NO_THREAD, .is_open = wait->is_open};
    instance.split = waiting_states_of(waiting, wait, &instance.ns);
    if (instance.ns == 0 && wait->object == NULL) /* it was running all the time */
        return 0;
    struct probity_wait_name name = probity_wait_names_of(&waiting->names, waiting->trace, wait);
    int error = waiting_find_row(waiting, wait, &name, &row);
    if (error != 0 || row == NULL)
        return error;
    row->open += (uint64_t)wait->is_open;
    row->given_up += wait->error != 0 && wait->kind != PROBITY_WAIT_IO;
    if (wait->holder_count > 0)
        error = add_holders(waiting, row, wait, &instance);
    else if (wait->waker_slot != PROBITY_WAITS_NO_THREAD)
        error = add_waker(waiting, row, wait, &instance);
    if (error == 0 && (row->is_rest || row->name[0] == '\0')) {
        instance.what = strdup(name.text);
        error = instance.what != NULL ? 0 : PROBITY_ERROR_MEMORY;
    }
    return error != 0 ? error : waiting_add_case(row, &instance);
}

static int take_wait(void *context, const struct probity_wait *wait,
                     const struct probity_event *event)
{
    struct probity_waiting *waiting = context;
    struct probity_wait completed = *wait;
    const struct probity_thread_label *thread =
        probity_waiting_thread(waiting, wait->thread_slot);

    (void)event;
    if (thread == NULL ||
        !waiting_is_wanted(waiting, thread->tid, wait->thread_slot, wait->from_ns))
        return 0;
    waiting->trace = thread->trace;
    int error = probity_wait_names_complete_wait(&waiting->names, thread->trace, &completed);
    return error == 0 ? add_wait(waiting, &completed) : error;
}

/* ---- Events ------------------------------------------------------------------------------------
 */

static int know_thread(struct probity_waiting *waiting, const struct probity_event *event)
{
    uint32_t slot = event->thread_slot;

    if (slot < waiting->label_count && waiting->labels[slot] != NULL)
        return 0;
    if (slot >= waiting->label_count) {
        void *grown = probity_array_grow(waiting->labels, sizeof *waiting->labels, slot,
                                         &waiting->label_count);
        if (grown == NULL)
            return PROBITY_ERROR_MEMORY;
        waiting->labels = grown;
    }
    waiting->labels[slot] = probity_thread_table_at(&waiting->threads, event);
    return waiting->labels[slot] != NULL ? 0 : PROBITY_ERROR_MEMORY;
}

int probity_waiting_put(struct probity_waiting *waiting, const struct probity_event *event)
{
    int error = know_thread(waiting, event);

    if (error == 0 && event->kind == PROBITY_EVENT_THREAD_NAME)
        error = probity_thread_table_name(&waiting->threads, event);
    if (error == 0)
        error = waiting_states_put(waiting, event);
    return error == 0 ? probity_wait_names_put(&waiting->names, waiting->waits, event) : error;
}

static int compare_holders(const void *left, const void *right)
{
    const struct probity_waiting_holder *a = left, *b = right;

    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    if (a->waits != b->waits)
        return a->waits > b->waits ? -1 : 1;
    if (a->order != b->order) /* slots depend on where reading starts */
        return a->order < b->order ? -1 : 1;
    if (a->thread_slot != b->thread_slot)
        return a->thread_slot < b->thread_slot ? -1 : 1;
    const char *a_name = a->doing.function != NULL ? a->doing.function->name : "";
    const char *b_name = b->doing.function != NULL ? b->doing.function->name : "";
    int order = strcmp(a_name, b_name);
    if (order != 0)
        return order;
    const char *a_call = a->doing.call != NULL ? a->doing.call->name : "";
    const char *b_call = b->doing.call != NULL ? b->doing.call->name : "";
    order = strcmp(a_call, b_call);
    return order != 0 ? order : a->tid < b->tid ? -1 : a->tid > b->tid;
}

static int compare_rows(const void *left, const void *right)
{
    const struct probity_waiting_row *a = *(struct probity_waiting_row *const *)left;
    const struct probity_waiting_row *b = *(struct probity_waiting_row *const *)right;

    if (a->durations.total_ns != b->durations.total_ns)
        return a->durations.total_ns > b->durations.total_ns ? -1 : 1;
    if (a->durations.count != b->durations.count)
        return a->durations.count > b->durations.count ? -1 : 1;
    int order = strcmp(a->name, b->name);
    if (order != 0)
        return order;
    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    if (a->function != NULL && b->function != NULL)
        return strcmp(a->function->name, b->function->name);
    return a->thread_slot < b->thread_slot ? -1 : a->thread_slot > b->thread_slot;
}

static void order_holders(const struct probity_waiting *waiting, struct probity_waiting_row *row)
{
    for (size_t i = 0; i < row->holder_count; i++) {
        struct probity_waiting_holder *holder = &row->holders[i];
        const struct probity_thread_label *thread =
            probity_waiting_thread(waiting, holder->thread_slot);
        holder->order = thread != NULL ? thread->tid : holder->tid;
    }
}

int probity_waiting_finish(struct probity_waiting *waiting)
{
    int error = probity_waits_finish(waiting->waits);

    waiting->list = calloc(waiting->rows.items + 1, sizeof *waiting->list);
    if (waiting->list == NULL)
        return PROBITY_ERROR_MEMORY;
    for (size_t chain = 0; chain < waiting->rows.chains; chain++) {
        struct probity_link *link = waiting->rows.first[chain];
        for (; link != NULL; link = link->next) {
            struct probity_waiting_row *row = &((struct waiting_item *)link)->row;
            order_holders(waiting, row);
            if (row->holder_count > 0)
                qsort(row->holders, row->holder_count, sizeof *row->holders, compare_holders);
            waiting->list[waiting->count++] = row;
        }
    }
    qsort(waiting->list, waiting->count, sizeof *waiting->list, compare_rows);
    return error;
}

/* ---- Interface ---------------------------------------------------------------------------------
 */

uint64_t probity_waiting_pending(const struct probity_waiting *waiting)
{
    return probity_scopes_pending(probity_waits_scopes(waiting->waits)) +
           probity_waits_pending(waiting->waits) + waiting->runnable;
}

const struct probity_waiting_row *const *probity_waiting_rows(
    const struct probity_waiting *waiting, size_t *ret_count)
{
    *ret_count = waiting->count;
    return (const struct probity_waiting_row *const *)waiting->list;
}

const struct probity_thread_label *probity_waiting_thread(const struct probity_waiting *waiting,
                                                          uint32_t thread_slot)
{
    return thread_slot < waiting->label_count ? waiting->labels[thread_slot] : NULL;
}

struct probity_waits_facts probity_waiting_facts(const struct probity_waiting *waiting)
{
    return probity_waits_facts(waiting->waits);
}

const struct probity_scopes_repairs *probity_waiting_repairs(const struct probity_waiting *waiting)
{
    return probity_scopes_repairs(probity_waits_scopes(waiting->waits));
}

int probity_waiting_open(const struct probity_waiting_options *options,
                         struct probity_waiting **ret_waiting)
{
    struct probity_waiting *waiting = calloc(1, sizeof *waiting);

    if (waiting == NULL || probity_waits_open(take_wait, waiting, &waiting->waits) != 0) {
        free(waiting);
        return PROBITY_ERROR_MEMORY;
    }
    if (probity_wait_names_resume(&waiting->names, waiting->waits, options->resumed) != 0 ||
        waiting_states_open(waiting) != 0) {
        probity_wait_names_release(&waiting->names);
        probity_waits_close(waiting->waits);
        free(waiting);
        return PROBITY_ERROR_MEMORY;
    }
    probity_waits_set_range(waiting->waits, options->from_ns, options->to_ns);
    waiting->options = *options;
    waiting->names.symbols = options->symbols;
    *ret_waiting = waiting;
    return 0;
}

void probity_waiting_close(struct probity_waiting *waiting)
{
    for (struct waiting_item *item; (item = probity_hashtable_take(&waiting->rows)) != NULL;) {
        for (size_t i = 0; i < item->row.worst_count; i++)
            free(item->row.worst[i].what);
        probity_duration_stats_release(&item->row.durations);
        free(item->row.waiters);
        free(item->row.holders);
        free(item->row.name);
        free(item);
    }
    probity_waits_close(waiting->waits);
    probity_thread_states_close(waiting->states);
    probity_wait_names_release(&waiting->names);
    probity_thread_table_release(&waiting->threads);
    free(waiting->labels);
    free(waiting->list);
    free(waiting);
}
