/* SPDX-License-Identifier: MIT
 *
 * hooks.h: the interface to libprobity-print, the library that reads the trace in the program that
 * wrote it: to print the log and the summary, and to write the CSV file. The two libraries share
 * nothing else. They may be of different builds, so any change here increments the version.
 */
#ifndef PROBITY_RUNTIME_HOOKS_H
#define PROBITY_RUNTIME_HOOKS_H

#include <stdint.h>

enum {
    PROBITY_HOOKS_VERSION = 1,
    PROBITY_HOOKS_WHY_BYTES = 256 /* size of a text that states why something failed */
};

/* A recording, as passed to libprobity-print. Texts belong to the session, and are "" if that
 * output was not requested. */
struct probity_hooks_job {
    const char *trace_path;
    uint64_t trace_device, trace_inode; /* of the file: its path may lead to another one by then */
    const char *csv_path;
    const char *log, *summary;           /* as in the settings, for messages */
    const char *log_path, *summary_path; /* expanded; "": too long */
    int log_stream, summary_stream;      /* descriptor of a standard stream; -1: a file */
    void *open_log;                      /* for libprobity-print; NULL at first */
    void **newest_log; /* the latest open log; a forked child cannot use it, but must refer to its
                          * memory, or leak checkers would report it */
    int log_is_over;   /* 1: printing has ended */
    int log_is_whole;  /* 1: the whole trace has been printed */
};

struct probity_session_hooks {
    /* Converts a closed trace to the CSV file. Returns 0 if the trace may be removed;
     * PROBITY_ERROR_DAMAGED if records are missing, with details in ret_why; or the error that
     * prevented the CSV file. */
    int (*make_csv)(const struct probity_hooks_job *job, char ret_why[PROBITY_HOOKS_WHY_BYTES]);

    /* Prints the log of the trace so far, or, if is_closed, to its end. Called in the writer
     * thread. A failure is reported once on stderr; recording continues. */
    void (*print_log)(struct probity_hooks_job *job, int is_closed);

    /* Prints the summary of a closed trace. Returns 0, or an error that was reported on stderr. */
    int (*print_summary)(const struct probity_hooks_job *job);

    /* Closes the trace of a recording that no thread of this process writes, unless another process
     * closes it. Returns the same as probity_recover(). */
    int (*close_trace)(const char *trace_path);
};

/* The function exported by libprobity-print. Returns NULL for an unsupported version. */
typedef const struct probity_session_hooks *probity_hooks_entry(uint32_t version);

/* Returns the hooks, or NULL if libprobity-print has not been found. Any thread, signal handlers
 * too. */
const struct probity_session_hooks *probity_hooks(void);

/* Finds libprobity-print: linked with the program, or else loads it. Allocates memory and takes the
 * dynamic linker's lock: only in a constructor or on an explicit request, with none of our locks
 * held. ret_why: "", or why there are no hooks. */
void probity_hooks_find(char ret_why[PROBITY_HOOKS_WHY_BYTES]);

#endif
