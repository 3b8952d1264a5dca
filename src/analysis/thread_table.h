/* SPDX-License-Identifier: MIT
 *
 * thread_table.h: whose records they are: the threads of all traces, by slot of the reader, with
 * their newest names. Memory: threads. Prints nothing.
 */
#ifndef PROBITY_ANALYSIS_THREAD_TABLE_H
#define PROBITY_ANALYSIS_THREAD_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "reader/reader.h"

struct probity_thread_label {
    uint32_t trace, thread, tid, pid;
    const char *name; /* the newest, ended by a zero; NULL without */
};

/* Zeroed: empty. */
struct probity_thread_table {
    struct thread_item **slots; /* by slot; NULL: not seen yet */
    uint32_t slot_count;
    struct thread_item *threads;
};

/* The thread of an event, found or added. Stays where it is until release; NULL without memory. */
const struct probity_thread_label *probity_thread_table_at(struct probity_thread_table *table,
                                                           const struct probity_event *event);

/* The thread of this trace and number, found or added, from elsewhere than events; takes its name
 * where it has one. NULL without memory. */
const struct probity_thread_label *probity_thread_table_add(
    struct probity_thread_table *table, const struct probity_thread_label *wanted);

/* Takes the name that an event of PROBITY_EVENT_THREAD_NAME tells. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_thread_table_name(struct probity_thread_table *table,
                              const struct probity_event *event);

void probity_thread_table_release(struct probity_thread_table *table);

#endif
