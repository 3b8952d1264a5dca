/* SPDX-License-Identifier: MIT
 *
 * duty.h: limits the CPU time of recording states, in the program's threads and in the thread that
 * reads their records, to a share of the program's CPU time. When the share is used up for the
 * first time, wakings are switched off for good if they cost much of it. Otherwise, all events are
 * switched off until enough is saved for the next interval. Runs in the thread that collects.
 */
#ifndef PROBITY_SCHED_DUTY_H
#define PROBITY_SCHED_DUTY_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "sched/events.h"

enum probity_sched_duty_change {
    PROBITY_SCHED_DUTY_SAME,
    PROBITY_SCHED_DUTY_NO_WAKINGS, /* wakings must be switched off */
    PROBITY_SCHED_DUTY_OFF,        /* all events must be switched off */
    PROBITY_SCHED_DUTY_ON
};

struct probity_sched_duty {
    uint32_t share;       /* in millionths; 0: no limit */
    uint32_t switch_ns;   /* price of a switch; 0: unknown */
    int is_paused;
    int has_wakings;      /* wakings are on */
    uint64_t wakings_ns;  /* when wakings were switched off, CLOCK_MONOTONIC_RAW; 0: never */
    clockid_t clock;      /* CPU time of the program */
    uint64_t cpu_ns;      /* CPU time at the last step */
    uint64_t own_ns;      /* CPU time of the thread that collects, at the last step */
    int64_t credit_ns;    /* below 0: more was spent than is allowed */
    uint64_t since_ns;    /* start of the current pause, CLOCK_MONOTONIC_RAW */
    uint64_t paused_ns;   /* total time of earlier pauses */
    uint32_t pauses;
    /* Since the last step. A switch between two threads of the program has two records. */
    uint64_t switches, wakings, records;
};

/* Sets all fields. pid: that of the program. switch_ns: as measured by price.h, or 0. */
void probity_sched_duty_begin(struct probity_sched_duty *duty, pid_t pid, uint32_t share,
                              int has_wakings, uint32_t switch_ns);

/* Counts a record whose cost was charged to a thread of the program. *out_ns: updated to the time
 * of this ring's latest such record of a thread leaving the CPU; initially 0. */
void probity_sched_duty_count(struct probity_sched_duty *duty, uint32_t kind, uint64_t time_ns,
                              uint64_t *out_ns);

/* Call every few milliseconds, when the rings are empty. Returns what must be done now. */
enum probity_sched_duty_change probity_sched_duty_step(struct probity_sched_duty *duty,
                                                       uint64_t now_ns);

/* The same with given CPU times of the program and of the thread that collects. */
enum probity_sched_duty_change probity_sched_duty_step_at(struct probity_sched_duty *duty,
                                                          uint64_t now_ns, uint64_t cpu_ns,
                                                          uint64_t own_ns);

#endif
