/* SPDX-License-Identifier: MIT
 *
 * waiting_rows.c: finds the row of a wait, and adds waits and waiters to rows.
 */
#include "answers/waits/waiting_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "base/hash.h"
#include "probity.h"

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

/* Returns NULL if out of memory. */
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

int waiting_find_row(struct probity_waiting *waiting, const struct probity_wait *wait,
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

/* Takes ownership of `instance`. */
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
