/* SPDX-License-Identifier: MIT
 *
 * report_elapsed.h: elapsed times of functions for a report that two threads make in parts, each
 * from the events of some of the threads. A part passes on when its first thread enters a function
 * and its last one leaves it; these moments of both parts are merged in time order. Memory: what
 * one part is ahead of the other, up to a limit, at which it waits. Prints nothing.
 *
 *     part 0   ──####──────####──┐
 *                                ├──► merged  ──######──####──
 *     part 1   ────####──────────┘
 */
#ifndef PROBITY_ANSWERS_REPORT_REPORT_ELAPSED_H
#define PROBITY_ANSWERS_REPORT_REPORT_ELAPSED_H

#include <stdint.h>

#include "analysis/active_time.h"
#include "analysis/same_function.h"
#include "answers/report/report.h"

/* A function in all parts. */
struct probity_elapsed_function {
    struct probity_same_function same;
    struct probity_active_time elapsed; /* known once both parts are done */
};

struct probity_report_elapsed {
    const struct probity_report_elapsed_steps *steps;
};

/* Called by the thread of a part, 0 or 1; by the report through the table, because it is also
 * in programs, in which there are no parts. */
struct probity_report_elapsed_steps {
    /* Finds or adds a function, which must live as long. NULL if out of memory. */
    struct probity_elapsed_function *(*find)(struct probity_report_elapsed *elapsed,
                                             const struct probity_function_key *key);
    /* The first thread of a part has entered a function, or the last one has left it, at at_ns, as
     * found at event_ns, which does not decrease. May wait for the other part. */
    void (*put)(struct probity_report_elapsed *elapsed, int part,
                struct probity_elapsed_function *function, int is_enter, uint64_t at_ns,
                uint64_t event_ns);
    /* The part has come to an event, which is passed on now and then. */
    void (*reach)(struct probity_report_elapsed *elapsed, int part, uint64_t event_ns);
    /* The part's thread has no more events, or has failed. What is put later does not wait. */
    void (*end)(struct probity_report_elapsed *elapsed, int part);
};

/* Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_report_elapsed_open(struct probity_report_elapsed **ret_elapsed);

/* After all parts were joined: sets the elapsed times of their report. Returns as above. */
int probity_report_elapsed_give(struct probity_report_elapsed *elapsed,
                                struct probity_report *report);

void probity_report_elapsed_close(struct probity_report_elapsed *elapsed);

#endif
