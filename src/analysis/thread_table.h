/* SPDX-License-Identifier: MIT
 *
 * thread_table.h: the threads of all traces by the reader's slot, with their latest names. Memory:
 * threads. Prints nothing.
 */
#ifndef PROBITY_ANALYSIS_THREAD_TABLE_H
#define PROBITY_ANALYSIS_THREAD_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "reader/reader.h"

struct probity_thread_label {
    uint32_t trace, thread, tid, pid;
    const char *name; /* the latest, zero-terminated; or NULL */
};

/* All zero: empty. */
struct probity_thread_table {
    struct thread_item **slots; /* by slot; NULL: not seen yet */
    uint32_t slot_count;
    struct thread_item *threads;
};

/* Finds or adds an event's thread. Its address is stable until release. Returns NULL if out of
 * memory. */
const struct probity_thread_label *probity_thread_table_at(struct probity_thread_table *table,
                                                           const struct probity_event *event);

/* Finds or adds the thread with this trace and number, which need not have events, and takes its
 * name, if any. Returns NULL if out of memory. */
const struct probity_thread_label *probity_thread_table_add(
    struct probity_thread_table *table, const struct probity_thread_label *wanted);

/* Takes the name from a PROBITY_EVENT_THREAD_NAME event. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_thread_table_name(struct probity_thread_table *table,
                              const struct probity_event *event);

void probity_thread_table_release(struct probity_thread_table *table);

#endif
