/* SPDX-License-Identifier: MIT
 *
 * duty.h: a share of the program's CPU time that recording of states may take. When it is used up,
 * the events are switched off until enough is saved for the next interval. Runs in the thread that
 * collects.
 */
#ifndef PROBITY_SCHED_DUTY_H
#define PROBITY_SCHED_DUTY_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "sched/events.h"

struct probity_sched_duty {
    uint32_t share;       /* millionths; 0: no limit */
    int is_paused;
    clockid_t clock;      /* CPU time of the program */
    uint64_t cpu_ns;      /* at the last step */
    int64_t credit_ns;    /* less than 0: more was spent than is allowed */
    uint64_t since_ns;    /* of the present pause, CLOCK_MONOTONIC_RAW */
    uint64_t paused_ns;   /* total of earlier pauses */
    uint32_t pauses;
    uint64_t switches, wakings; /* records since the last step */
};

/* Sets all fields. pid: of the program. */
void probity_sched_duty_begin(struct probity_sched_duty *duty, pid_t pid, uint32_t share);

/* Counts a record. */
void probity_sched_duty_count(struct probity_sched_duty *duty, uint32_t kind);

/* To be called every few milliseconds, when the rings are empty. Returns 1 if the events are to be
 * switched off now, -1 if on, 0 if nothing changes. */
int probity_sched_duty_step(struct probity_sched_duty *duty, uint64_t now_ns);

/* The same for a given CPU time of the program. */
int probity_sched_duty_step_at(struct probity_sched_duty *duty, uint64_t now_ns, uint64_t cpu_ns);

#endif
