/* SPDX-License-Identifier: MIT
 *
 * waiting_rows.h: the state of waiting.c, its rows, and a small table of a thread's main
 * activities.
 */
#ifndef PROBITY_ANSWERS_WAITS_WAITING_ROWS_H
#define PROBITY_ANSWERS_WAITS_WAITING_ROWS_H

#include "analysis/thread_table.h"
#include "answers/waits/waiting_row.h"
#include "base/hashtable.h"

struct waiting_item {
    struct probity_link link;
    struct probity_waiting_row row;
};

struct probity_waiting {
    struct probity_waiting_options options;
    struct probity_waits *waits;
    struct probity_thread_states *states;
    struct probity_wait_names names;
    struct probity_thread_table threads;
    const struct probity_thread_label **labels; /* by slot */
    uint32_t label_count;
    uint32_t trace; /* of the wait that is being added */
    uint64_t runnable; /* threads that have waited for a CPU since a time in the range */
    struct probity_hashtable rows;
    struct waiting_item *rest; /* the row for the rest, one of the rows; NULL: none */
    struct probity_waiting_row **list;
    size_t count;
};

/* Finds the row of a wait; *ret_row is NULL if the answer does not include such waits. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int waiting_find_row(struct probity_waiting *waiting, const struct probity_wait *wait,
                     const struct probity_wait_name *name, struct probity_waiting_row **ret_row);

/* Returns the row of an object of waits, or NULL if out of memory. */
struct probity_waiting_row *waiting_row_at(struct probity_waiting *waiting,
                                           const struct probity_wait_name *name);

/* Adds a wait to a row, and takes ownership of what `instance` has allocated. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int waiting_add_case(struct probity_waiting_row *row, struct probity_waiting_case *instance);

/* Whether a wait is in the range and to be included. */
int waiting_is_wanted(const struct probity_waiting *waiting, uint32_t tid, uint32_t thread_slot,
                      uint64_t from_ns);

/* ---- waiting_states.c ---- */

/* Starts storing states. Returns 0 or PROBITY_ERROR_MEMORY. */
int waiting_states_open(struct probity_waiting *waiting);

/* Takes any event, before the analysis of waits does. Returns the same as above. */
int waiting_states_put(struct probity_waiting *waiting, const struct probity_event *event);

/* Splits a wait by the states of the waiter. In a call to the C library, only the time off the CPU
 * is a wait: *ret_waited_ns is set to that time, if known. */
struct probity_thread_split waiting_states_of(const struct probity_waiting *waiting,
                                              const struct probity_wait *wait,
                                              uint64_t *ret_waited_ns);

/* Sums of a thread's activities in one wait. Activities that do not fit are not counted.
 */
struct waiting_most {
    struct {
        struct probity_past_doing doing;
        uint64_t ns;
    } items[16];
    size_t count;
};

static inline void waiting_most_add(struct waiting_most *most,
                                    const struct probity_past_doing *doing, uint64_t ns)
{
    size_t i = 0;

    while (i < most->count && (most->items[i].doing.function != doing->function ||
                               most->items[i].doing.call != doing->call))
        i++;
    if (i == sizeof most->items / sizeof *most->items)
        return;
    if (i == most->count) {
        most->items[most->count].doing = *doing;
        most->items[most->count++].ns = 0;
    }
    most->items[i].ns += ns;
}

static inline struct probity_past_doing waiting_most_of(const struct waiting_most *most)
{
    struct probity_past_doing doing = {NULL, NULL};
    uint64_t ns = 0;

    for (size_t i = 0; i < most->count; i++) {
        if (most->items[i].ns > ns) {
            ns = most->items[i].ns;
            doing = most->items[i].doing;
        }
    }
    return doing;
}

#endif
