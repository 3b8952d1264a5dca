/* SPDX-License-Identifier: MIT
 *
 * activity.h: what a live spool shows about the recording of its program: start, mode and speed.
 * Read-only, without effect on the program: examines the spool twice. Never runs in a traced
 * program.
 */
#ifndef PROBITY_READER_ACTIVITY_H
#define PROBITY_READER_ACTIVITY_H

#include <stdint.h>

struct probity_spools;
struct probity_spools_entry;

/* Facts about a recording. All come from its program. */
struct probity_activity_facts {
    uint64_t begin_ns; /* CLOCK_REALTIME of the start, according to the trace; 0: unknown */
    uint32_t mode;     /* an enum probity_mode; 0: unknown */
    int is_profile;    /* profile mode, in which calls are counted instead of recorded */
    uint64_t threads;
    uint64_t chunks, chunks_used; /* sums of all segments, as of the latest sample */
    uint64_t dropped, stalls;
    int has_failed; /* the trace could not be written: recording has ended */
    const char *trace_path; /* NULL: unknown, or not the file that the program wrote */
    const char *label;      /* PROBITY_LABEL, or NULL */
};

struct probity_activity;

/* Opens the spool of an entry whose program is alive. Returns 0; PROBITY_ERROR_STATE if the spool
 * no longer exists; PROBITY_ERROR_MEMORY; or another error of probity_attach_open(). */
int probity_activity_open(const struct probity_spools *spools,
                          const struct probity_spools_entry *entry,
                          struct probity_activity **ret_activity);

/* Counts the words and records that are currently in the spool. */
void probity_activity_sample(struct probity_activity *activity);

/* Returns records per second between the last two samples: hits, scopes and other events; in
 * profile mode calls. Accurate to about one chunk of records per thread. Returns -1 if there are
 * not two samples yet. */
double probity_activity_rate(const struct probity_activity *activity);

const struct probity_activity_facts *probity_activity_facts(
    const struct probity_activity *activity);

void probity_activity_close(struct probity_activity *activity);

#endif
