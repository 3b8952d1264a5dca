/* SPDX-License-Identifier: MIT
 *
 * sched.h: records the states of a program's threads, according to the kernel's scheduler, and
 * writes them next to its traces (doc/sched.md). The public header of this directory. Used by
 * `probity record`: runs in its process while the program runs, and starts one thread there.
 */
#ifndef PROBITY_SCHED_SCHED_H
#define PROBITY_SCHED_SCHED_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    PROBITY_SCHED_RING_KIB = 512, /* default per CPU of the limit for memory that a user may lock */
    PROBITY_SCHED_KEEP_MIB = 64   /* size of the events, if older ones are discarded */
};

struct probity_sched;

struct probity_sched_limits {
    size_t ring_bytes; /* size of the kernel's buffer for each CPU, a power of two */
    uint32_t share;    /* part of the program's CPU time, in millionths; 0: no limit */
    size_t keep_bytes; /* of events in the temporary file: older ones are discarded; 0: no limit */
};

/* Starts recording a process that is about to call exec, and its threads and children. Temporary
 * files are created in the directory of `near`. *ret_wakings: 0 if wakings are also recorded,
 * otherwise an errno with the reason: EXDEV if this process is not in the first process-id
 * namespace. Returns 0, or -1 with errno set. */
int probity_sched_begin(pid_t pid, const char *near, const struct probity_sched_limits *limits,
                        struct probity_sched **ret_sched, int *ret_wakings);

/* Ends recording. */
void probity_sched_end(struct probity_sched *sched);

struct probity_sched_result {
    uint64_t lost;  /* number of records that the kernel dropped */
    uint64_t wakings_ns; /* wakings stopped after this time, because of the share; 0: never */
    uint32_t pauses; /* intervals that were left out because of the share */
    uint64_t recorded_ns, paused_ns; /* total time, and time of the pauses */
    int cut_errno;  /* the error that ended recording early; or 0 */
    size_t written; /* number of files */
    size_t failed;  /* index of the trace that an error is about */
};

/* Writes TRACE.sched next to each of these traces that the caller owns; others are skipped. Call
 * only after probity_sched_end(). Returns 0; or PROBITY_ERROR_MEMORY, READ or WRITE with errno set,
 * with the remaining traces skipped. */
int probity_sched_write(struct probity_sched *sched, const char *const *paths, size_t count,
                        struct probity_sched_result *ret_result);

/* Writes DUMP.sched next to a dump that the caller owns: the states in its window. Other files, and
 * dumps of other threads, are skipped. May be called from any thread, by one at a time, before or
 * after probity_sched_end(). Returns the same as probity_sched_write(). */
int probity_sched_write_dump(struct probity_sched *sched, const char *path,
                             struct probity_sched_result *ret_result);

void probity_sched_release(struct probity_sched *sched);

#endif
