/* SPDX-License-Identifier: MIT
 *
 * waiting.c: adds each wait to its row, with the holders' parts of it.
 */
#include "answers/waits/waiting.h"

#include <stdlib.h>
#include <string.h>

#include "answers/waits/waiting_rows.h"
#include "base/array_grow.h"
#include "base/hash.h"
#include "probity.h"

/* ---- Rows --------------------------------------------------------------------------------------
 */

/* Identity of a row. */
struct row_key {
    enum probity_wait_what what;
    uint32_t trace, thread_slot;
    const char *name;
    uint64_t object;
    const struct probity_function *function;
};

static uint64_t hash_of(const struct row_key *key)
{
    uint64_t hash = probity_hash(key->object ^ (uint64_t)(uintptr_t)key->function);

    hash = probity_hash(hash ^ key->trace ^ (uint64_t)key->thread_slot << 32);
    return probity_hash_text(hash ^ (uint64_t)key->what, key->name);
}

static int is_row(const struct probity_waiting_row *row, const struct row_key *key)
{
    return row->what == key->what && row->trace == key->trace &&
           row->thread_slot == key->thread_slot && row->object == key->object &&
           row->function == key->function && !row->is_rest && strcmp(row->name, key->name) == 0;
}

static struct waiting_item *make_row(struct probity_waiting *waiting, const struct row_key *key,
                                     uint64_t hash, int is_rest)
{
    struct waiting_item *item = calloc(1, sizeof *item);

    if (item == NULL)
        return NULL;
    item->row = (struct probity_waiting_row){
        .what = key->what, .trace = key->trace, .name = strdup(is_rest ? "" : key->name),
        .object = key->object, .function = key->function, .thread_slot = key->thread_slot,
        .is_rest = is_rest};
    if (item->row.name == NULL || probity_hashtable_add(&waiting->rows, item, hash) != 0) {
        free(item->row.name);
        free(item);
        return NULL;
    }
    return item;
}

/* NULL if out of memory. */
static struct probity_waiting_row *row_at(struct probity_waiting *waiting,
                                          const struct row_key *key)
{
    const struct row_key none = {PROBITY_WAIT_WHATS, 0, PROBITY_WAITS_NO_THREAD, "", 0, NULL};
    uint64_t hash = hash_of(key);
    struct waiting_item *item = probity_hashtable_at(&waiting->rows, hash);

    while (item != NULL && !is_row(&item->row, key))
        item = (struct waiting_item *)item->link.next;
    if (item == NULL && waiting->rows.items < PROBITY_WAITING_ROWS_MAX)
        item = make_row(waiting, key, hash, 0);
    else if (item == NULL && waiting->rest != NULL)
        item = waiting->rest;
    else if (item == NULL)
        item = waiting->rest = make_row(waiting, &none, hash_of(&none), 1);
    return item != NULL ? &item->row : NULL;
}

/* The row of a wait; *ret_row is NULL if the answer does not include such waits. */
static int find_row(struct probity_waiting *waiting, const struct probity_wait *wait,
                    const struct probity_wait_name *name, struct probity_waiting_row **ret_row)
{
    static const unsigned wanted[] = {
        [PROBITY_WAITING_BY_OBJECT] = ~0U,
        [PROBITY_WAITING_BY_LOCK] =
            1U << PROBITY_WAIT_WHAT_LOCK | 1U << PROBITY_WAIT_WHAT_CONDITION,
        [PROBITY_WAITING_BY_FILE] = 1U << PROBITY_WAIT_WHAT_FILE,
        [PROBITY_WAITING_BY_PEER] = 1U << PROBITY_WAIT_WHAT_PEER,
        [PROBITY_WAITING_BY_FUNCTION] = ~0U, [PROBITY_WAITING_BY_THREAD] = ~0U};
    struct row_key key = {PROBITY_WAIT_WHATS, waiting->trace, PROBITY_WAITS_NO_THREAD, "", 0,
                          NULL};

    *ret_row = NULL;
    if (!(wanted[waiting->options.by] >> name->what & 1))
        return 0;
    if (waiting->options.by == PROBITY_WAITING_BY_FUNCTION) {
        key.function =
            wait->doing.function != NULL ? wait->doing.function : wait->doing.call;
    } else if (waiting->options.by == PROBITY_WAITING_BY_THREAD) {
        key.thread_slot = wait->thread_slot;
    } else {
        key.what = name->what;
        key.name = name->text;
        key.object = name->object;
    }
    *ret_row = row_at(waiting, &key);
    return *ret_row != NULL ? 0 : PROBITY_ERROR_MEMORY;
}

struct probity_waiting_row *waiting_row_at(struct probity_waiting *waiting,
                                           const struct probity_wait_name *name)
{
    const struct row_key key = {name->what, waiting->trace, PROBITY_WAITS_NO_THREAD, name->text,
                                name->object, NULL};

    return row_at(waiting, &key);
}

static int add_waiter(struct probity_waiting_row *row, uint32_t slot)
{
    for (size_t i = row->waiter_count; i > 0; i--) {
        if (row->waiters[i - 1] == slot)
            return 0;
    }
    if (row->waiter_count == PROBITY_WAITING_WAITERS_MAX) {
        row->are_waiters_least = 1;
        return 0;
    }
    uint32_t *waiters = probity_array_room(row->waiters, sizeof *waiters, row->waiter_count,
                                           &row->waiter_capacity);
    if (waiters == NULL)
        return PROBITY_ERROR_MEMORY;
    row->waiters = waiters;
    waiters[row->waiter_count++] = slot;
    return 0;
}

/* ---- Holders -----------------------------------------------------------------------------------
 */

static int is_holder(const struct probity_waiting_holder *a, const struct probity_waiting_holder *b)
{
    return a->thread_slot == b->thread_slot && a->tid == b->tid &&
           a->doing.function == b->doing.function && a->doing.call == b->doing.call;
}

/* The last entry is for all others. */
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

/* Adds the activity of a thread in a range, and finds what took most of that time. */
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

/* Time in which at least one of the holders, sorted by their ends, had the object. */
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

/* The notifying thread, in the function that notified, counts as the cause of the wait up to
 * then. */
static int add_waker(struct probity_waiting *waiting, struct probity_waiting_row *row,
                     const struct probity_wait *wait, struct probity_waiting_case *instance)
{
    /* Of a call, only the time off the CPU is waiting. */
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

/* Takes over `instance`. */
static void keep_worst(struct probity_waiting_row *row, struct probity_waiting_case *instance)
{
    size_t at = row->worst_count;

    while (at > 0 && row->worst[at - 1].ns < instance->ns)
        at--;
    if (at == PROBITY_WAITING_WORST) {
        free(instance->what);
        return;
    }
    if (row->worst_count == PROBITY_WAITING_WORST)
        free(row->worst[--row->worst_count].what);
    memmove(&row->worst[at + 1], &row->worst[at], (row->worst_count - at) * sizeof *row->worst);
    row->worst[at] = *instance;
    row->worst_count++;
}

int waiting_add_case(struct probity_waiting_row *row, struct probity_waiting_case *instance)
{
    int error = probity_duration_stats_add(&row->durations, instance->ns);

    if (error == 0)
        error = add_waiter(row, instance->thread_slot);
    probity_thread_split_add(&row->split, &instance->split);
    keep_worst(row, instance);
    return error;
}

int waiting_is_wanted(const struct probity_waiting *waiting, uint32_t tid, uint32_t thread_slot,
                      uint64_t from_ns)
{
    const struct probity_waiting_options *options = &waiting->options;

    if (from_ns < options->from_ns || (options->to_ns != 0 && from_ns >= options->to_ns))
        return 0;
    return options->is_wanted == NULL ||
           options->is_wanted(options->context, tid, thread_slot, from_ns);
}

/* wait: with functions from places. */
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
    int error = find_row(waiting, wait, &name, &row);
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
