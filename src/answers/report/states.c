/* SPDX-License-Identifier: MIT
 *
 * states.c: makes three reports of the same events. Their functions are sorted by identity and then
 * matched.
 */
#include "answers/report/states.h"

#include <stdlib.h>
#include <string.h>

#include "probity.h"

enum { REPORTS = 3 };

static const enum probity_sched_state states_of[REPORTS] = {
    PROBITY_STATE_RUNNING, PROBITY_STATE_RUNNABLE, PROBITY_STATE_UNKNOWN};

struct probity_states_report {
    struct probity_thread_states *states;
    struct probity_report *reports[REPORTS];
    struct probity_states_row *rows;
    size_t count;
};

int probity_states_report_open(const struct probity_report_options *options,
                               struct probity_states_report **ret_states)
{
    struct probity_states_report *states = calloc(1, sizeof *states);
    int error = states != NULL ? probity_thread_states_open(0, &states->states)
                               : PROBITY_ERROR_MEMORY;

    for (size_t i = 0; error == 0 && i < REPORTS; i++)
        error = probity_report_open(options, &states->reports[i]);
    if (error == 0)
        *ret_states = states;
    else if (states != NULL)
        probity_states_report_close(states);
    return error;
}

int probity_states_report_put(struct probity_states_report *states,
                              const struct probity_event *event)
{
    struct probity_event copy;
    int error = 0;

    if (event->kind == PROBITY_EVENT_THREAD_STATE)
        return probity_thread_states_put(states->states, event);
    for (size_t i = 0; error == 0 && i < REPORTS; i++) {
        probity_thread_states_as_cpu(states->states, event, states_of[i], &copy);
        error = probity_report_put(states->reports[i], &copy);
    }
    return error;
}

uint64_t probity_states_report_pending(const struct probity_states_report *states)
{
    return probity_report_pending(states->reports[0]);
}

int probity_states_report_finish(struct probity_states_report *states)
{
    int error = 0;

    for (size_t i = 0; error == 0 && i < REPORTS; i++)
        error = probity_report_finish(states->reports[i]);
    return error;
}

/* Because of rounding, and records with equal times, the parts may be longer than the whole. */
void probity_states_complete(struct probity_thread_split *split, uint64_t wall_ns)
{
    uint64_t left = wall_ns;

    for (size_t i = 0; i < REPORTS; i++) {
        uint64_t *part = &split->ns[states_of[i]];
        *part = *part < left ? *part : left;
        left -= *part;
    }
    split->ns[PROBITY_STATE_BLOCKED] = left;
}

static int compare_entries(const void *left, const void *right)
{
    const struct probity_report_function *a = left, *b = right;

    if (a->trace != b->trace)
        return a->trace < b->trace ? -1 : 1;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return a->function < b->function ? -1 : a->function > b->function;
}

static void take_report(struct probity_states_report *states, size_t index,
                        const struct probity_report_function *entries)
{
    for (size_t i = 0; i < states->count; i++) {
        states->rows[i].total.ns[states_of[index]] = entries[i].sums.total.cpu_ns;
        states->rows[i].self.ns[states_of[index]] = entries[i].sums.self.cpu_ns;
    }
}

struct sort_item {
    uint64_t value;
    const struct probity_states_row *row;
};

static int compare_values(const void *left, const void *right)
{
    const struct sort_item *a = left, *b = right;

    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return compare_entries(a->row->entry, b->row->entry);
}

static int compare_names(const void *left, const void *right)
{
    const struct sort_item *a = left, *b = right;
    const struct probity_function *f = a->row->entry->function, *g = b->row->entry->function;
    int order = strcmp(f != NULL ? f->name : "~", g != NULL ? g->name : "~");

    return order != 0 ? order : compare_values(left, right);
}

static int sort_rows(struct probity_states_report *states, enum probity_report_key key)
{
    struct sort_item *items = calloc(states->count + 1, sizeof *items);
    struct probity_states_row *sorted = calloc(states->count + 1, sizeof *sorted);
    int error = items != NULL && sorted != NULL ? 0 : PROBITY_ERROR_MEMORY;

    for (size_t i = 0; items != NULL && i < states->count; i++) {
        const struct probity_states_row *row = &states->rows[i];
        uint64_t value =
            key == PROBITY_REPORT_NAME ? 0 : probity_report_value(&row->entry->sums, key);
        items[i] = (struct sort_item){value, row};
    }
    if (error == 0) {
        qsort(items, states->count, sizeof *items,
              key == PROBITY_REPORT_NAME ? compare_names : compare_values);
        for (size_t i = 0; i < states->count; i++)
            sorted[i] = *items[i].row;
        free(states->rows);
        states->rows = sorted;
    } else {
        free(sorted);
    }
    free(items);
    return error;
}

struct probity_states_row *probity_states_report_rows(struct probity_states_report *states,
                                                      enum probity_report_key key,
                                                      size_t *ret_count)
{
    const struct probity_report_function *running =
        probity_report_functions(states->reports[0], &states->count);

    states->rows = calloc(states->count + 1, sizeof *states->rows);
    *ret_count = states->rows != NULL ? states->count : 0;
    if (states->rows == NULL)
        return NULL;
    for (size_t i = 0; i < REPORTS; i++) {
        size_t count;
        struct probity_report_function *entries =
            probity_report_functions(states->reports[i], &count);
        qsort(entries, count, sizeof *entries, compare_entries);
        if (count == states->count)
            take_report(states, i, entries);
    }
    for (size_t i = 0; i < states->count; i++) {
        struct probity_states_row *row = &states->rows[i];
        row->entry = &running[i];
        probity_states_complete(&row->total, row->entry->sums.total.wall_ns);
        probity_states_complete(&row->self, row->entry->sums.self.wall_ns);
    }
    return sort_rows(states, key) == 0 ? states->rows : NULL;
}

const struct probity_scopes_repairs *probity_states_report_repairs(
    const struct probity_states_report *states)
{
    return probity_report_repairs(states->reports[0]);
}

void probity_states_report_close(struct probity_states_report *states)
{
    for (size_t i = 0; i < REPORTS; i++) {
        if (states->reports[i] != NULL)
            probity_report_close(states->reports[i]);
    }
    if (states->states != NULL)
        probity_thread_states_close(states->states);
    free(states->rows);
    free(states);
}
