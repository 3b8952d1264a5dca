/* SPDX-License-Identifier: MIT
 *
 * story.h: one request: its hits in all runs, and the calls between them. Writes statements and
 * reads their replies; does no I/O.
 */
#ifndef PROBITY_FLEET_STORY_H
#define PROBITY_FLEET_STORY_H

#include <stdio.h>

#include "fleet/answer.h"

/* Maximum numbers of hits and calls; the rest is left out. */
enum { PROBITY_FLEET_STEPS_MAX = 10000, PROBITY_FLEET_STORY_CALLS_MAX = 10000,
       PROBITY_FLEET_WINDOWS_MAX = 200 };

/* A hit with the correlation id. */
struct probity_fleet_step {
    uint64_t run, at_ns, probe, wall_ns, cpu_ns; /* wall_ns, cpu_ns: since the previous hit */
    uint32_t thread, from_thread, role;
    int has_previous, is_cpu_known;
};

struct probity_fleet_story_call {
    uint64_t function, start_ns, total_ns, cpu_ns;
    uint32_t thread, depth;
};

/* A number and its name. */
struct probity_fleet_name {
    uint64_t number;
    char *text;
};

struct probity_fleet_story {
    struct probity_fleet_step *steps; /* by run, then time */
    size_t step_count, step_room;
    struct probity_fleet_story_call *calls; /* calls of the latest run queried, by time */
    size_t call_count, call_room;
    struct probity_fleet_name *names; /* names in the same run */
    size_t name_count, name_room;
};

/* Write the statement for the hits with this id, in all runs, and take its reply. */
void probity_fleet_sql_steps(FILE *stream, uint64_t id);
int probity_fleet_take_steps(struct probity_fleet_story *story,
                             struct probity_fleet_answer *answer);

/* Writes the statement for the calls that began between two consecutive hits in one thread. Returns
 * 0 if there are no such hits: then nothing was written. first, count: the steps of one run. */
int probity_fleet_sql_story_calls(FILE *stream, const struct probity_fleet_step *first,
                                  size_t count);

/* Takes the reply; with CPU times if has_cpu. */
int probity_fleet_take_story_calls(struct probity_fleet_story *story, int has_cpu,
                                   struct probity_fleet_answer *answer);

/* Write the statements for the names of a run's probes and threads, and of the functions of the
 * calls. */
void probity_fleet_sql_probe_names(FILE *stream, uint64_t run);
void probity_fleet_sql_thread_names(FILE *stream, uint64_t run);
void probity_fleet_sql_call_names(FILE *stream, const struct probity_fleet_story *story);
int probity_fleet_take_names(struct probity_fleet_story *story,
                             struct probity_fleet_answer *answer);

/* Returns the name of a number: the last one that was set; "": none. */
const char *probity_fleet_story_name(const struct probity_fleet_story *story, uint64_t number);

/* Discard names and calls, or everything. */
void probity_fleet_story_forget(struct probity_fleet_story *story);
void probity_fleet_story_release(struct probity_fleet_story *story);

#endif
