/* SPDX-License-Identifier: MIT
 *
 * top.c: the table of rows, keyed by view, process and name.
 */
#include "answers/top/top.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/top/top_internal.h"
#include "base/array_grow.h"
#include "base/hash.h"
#include "print/text.h"
#include "probity.h"

struct probity_top {
    struct probity_wait_symbols symbols;
    int has_locks;
    size_t locks;
    struct probity_hashtable rows;
    struct probity_top_row **list; /* all rows, in order of appearance */
    struct probity_top_row **sorted;
    size_t count;
};

static const char *const key_names[PROBITY_TOP_KEYS] = {"calls", "wall", "cpu", "off-cpu",
                                                        "p50",   "p99",  "max", "name"};
static const char *const view_names[PROBITY_TOP_VIEWS] = {"functions", "blocks", "locks",
                                                          "threads", "processes"};

const char *probity_top_key_name(enum probity_top_key key)
{
    return key_names[key];
}

const char *probity_top_view_name(enum probity_top_view view)
{
    return view_names[view];
}

int probity_top_open(const struct probity_wait_symbols *symbols, struct probity_top **ret_top)
{
    struct probity_top *top = calloc(1, sizeof *top);

    if (top == NULL)
        return PROBITY_ERROR_MEMORY;
    top->has_locks = symbols != NULL;
    if (symbols != NULL)
        top->symbols = *symbols;
    *ret_top = top;
    return 0;
}

struct probity_wait_symbols probity_top_symbols(const struct probity_top *top)
{
    return top->symbols;
}

int probity_top_has_locks(const struct probity_top *top)
{
    return top->has_locks;
}

static void row_free(struct probity_top_row *row)
{
    probity_histogram_release(&row->interval.durations);
    probity_histogram_release(&row->all.durations);
    free(row->name);
    free(row->place);
    free(row);
}

/* Adds a row to the list, and makes room for sorting. */
static int list_add(struct probity_top *top, struct probity_top_row *row)
{
    struct probity_top_row **list = probity_array_append(top->list, sizeof *list, top->count);

    if (list == NULL)
        return PROBITY_ERROR_MEMORY;
    top->list = list;
    struct probity_top_row **sorted = probity_array_append(top->sorted, sizeof *sorted, top->count);
    if (sorted == NULL)
        return PROBITY_ERROR_MEMORY;
    top->sorted = sorted;
    top->list[top->count++] = row;
    return 0;
}

static uint64_t hash_of(enum probity_top_view view, uint32_t pid, const char *name, size_t bytes)
{
    uint64_t hash = probity_hash((uint64_t)view << 32 | pid);

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
    return probity_hash(hash);
}

static int is_row(const struct probity_top_row *row, enum probity_top_view view, uint32_t pid,
                  const char *name, size_t name_bytes, const char *place)
{
    return row->view == view && row->pid == pid && strlen(row->name) == name_bytes &&
           memcmp(row->name, name, name_bytes) == 0 &&
           (row->place == NULL) == (place == NULL) &&
           (place == NULL || strcmp(row->place, place) == 0);
}

static struct probity_top_row *find_row(const struct probity_top *top, enum probity_top_view view,
                                        uint32_t pid, const char *name, size_t bytes,
                                        const char *place)
{
    struct probity_top_row *row =
        probity_hashtable_at(&top->rows, hash_of(view, pid, name, bytes));

    while (row != NULL && !is_row(row, view, pid, name, bytes, place))
        row = (void *)row->link.next;
    return row;
}

struct probity_top_row *probity_top_row_at(struct probity_top *top, enum probity_top_view view,
                                           uint32_t pid, const char *name, size_t name_bytes,
                                           const char *place)
{
    size_t bytes = strnlen(name, name_bytes);
    struct probity_top_row *row = find_row(top, view, pid, name, bytes, place);

    if (row != NULL)
        return row;
    row = calloc(1, sizeof *row);
    if (row == NULL)
        return NULL;
    row->view = view;
    row->pid = pid;
    row->name = strndup(name, bytes);
    row->place = place != NULL ? strdup(place) : NULL;
    if (row->name == NULL || (place != NULL && row->place == NULL) || list_add(top, row) != 0) {
        row_free(row);
        return NULL;
    }
    uint64_t hash = hash_of(view, pid, name, bytes);
    return probity_hashtable_add(&top->rows, row, hash) == 0 ? row : NULL;
}

struct probity_top_row *probity_top_row_of_lock(struct probity_top *top, uint32_t pid,
                                                const char *name)
{
    size_t before = top->count;

    if (top->locks >= PROBITY_TOP_LOCKS_MAX &&
        find_row(top, PROBITY_TOP_LOCKS, pid, name, strlen(name), NULL) == NULL) {
        pid = 0;
        name = "other locks";
    }
    struct probity_top_row *row =
        probity_top_row_at(top, PROBITY_TOP_LOCKS, pid, name, strlen(name), NULL);
    top->locks += top->count - before;
    return row;
}

struct probity_top_row *probity_top_row_of(struct probity_top *top,
                                           const struct probity_function *function)
{
    char place[512];
    size_t bytes;

    if (function == NULL)
        return probity_top_row_at(top, PROBITY_TOP_FUNCTIONS, 0, "(unknown)", 9, NULL);
    const char *name = probity_text_qualified(function->signature, function->name, &bytes);
    snprintf(place, sizeof place, "%s:%u", function->file, (unsigned)function->line);
    return probity_top_row_at(top, PROBITY_TOP_FUNCTIONS, 0, name, bytes, place);
}

static void sums_clear(struct probity_top_sums *sums)
{
    probity_histogram_release(&sums->durations);
    *sums = (struct probity_top_sums){0};
}

void probity_top_begin(struct probity_top *top)
{
    for (size_t i = 0; i < top->count; i++) {
        if (top->list[i]->interval.calls > 0)
            sums_clear(&top->list[i]->interval);
    }
}

uint64_t probity_top_value(const struct probity_top_sums *sums, enum probity_top_key key)
{
    switch (key) {
    case PROBITY_TOP_CALLS: return sums->calls;
    case PROBITY_TOP_WALL: return sums->wall_ns;
    case PROBITY_TOP_CPU: return sums->cpu_ns;
    case PROBITY_TOP_OFF: return sums->off_ns;
    case PROBITY_TOP_P50:
        return probity_histogram_quantile(&sums->durations, 500, 0, sums->max_ns);
    case PROBITY_TOP_P99:
        return probity_histogram_quantile(&sums->durations, 990, 0, sums->max_ns);
    case PROBITY_TOP_MAX: return sums->max_ns;
    default: return 0;
    }
}

int probity_top_is_known(const struct probity_top_row *row, enum probity_top_key key)
{
    if (key == PROBITY_TOP_CPU || key == PROBITY_TOP_OFF)
        return row->is_cpu_known;
    return key < PROBITY_TOP_P50 ||
           (row->view != PROBITY_TOP_THREADS && row->view != PROBITY_TOP_PROCESSES);
}

/* ---- Sorting -----------------------------------------------------------------------------------
 */

struct sort_item {
    uint64_t interval, all;
    struct probity_top_row *row;
};

static int compare_items(const void *left, const void *right)
{
    const struct sort_item *a = left, *b = right;

    if (a->interval != b->interval)
        return a->interval > b->interval ? -1 : 1;
    if (a->all != b->all)
        return a->all > b->all ? -1 : 1;
    int order = strcmp(a->row->name, b->row->name);
    return order != 0 ? order : a->row->pid < b->row->pid ? -1 : a->row->pid > b->row->pid;
}

struct probity_top_row *const *probity_top_rows(struct probity_top *top, enum probity_top_view view,
                                                enum probity_top_key key, size_t *ret_count)
{
    struct sort_item *items = calloc(top->count + 1, sizeof *items);
    size_t count = 0;

    *ret_count = 0;
    if (items == NULL)
        return NULL;
    for (size_t i = 0; i < top->count; i++) {
        struct probity_top_row *row = top->list[i];
        if (row->view == view && row->all.calls > 0)
            items[count++] = (struct sort_item){probity_top_value(&row->interval, key),
                                                probity_top_value(&row->all, key), row};
    }
    qsort(items, count, sizeof *items, compare_items);
    for (size_t i = 0; i < count; i++)
        top->sorted[i] = items[i].row;
    free(items);
    *ret_count = count;
    return count > 0 ? top->sorted : (struct probity_top_row *const *)&top->list;
}

void probity_top_close(struct probity_top *top)
{
    for (size_t i = 0; i < top->count; i++)
        row_free(top->list[i]);
    probity_hashtable_release(&top->rows);
    free(top->list);
    free(top->sorted);
    free(top);
}
