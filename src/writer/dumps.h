/* SPDX-License-Identifier: MIT
 *
 * dumps.h: the dumps of a ring that is being recorded (doc/triggers.md): which are requested, when
 * they are due, and which are excluded by limits. Threads post notices; everything else is done by
 * the writer thread.
 */
#ifndef PROBITY_WRITER_DUMPS_H
#define PROBITY_WRITER_DUMPS_H

#include "base/conditions.h"
#include "base/limits.h"
#include "spool/notices.h"
#include "writer/dump_file.h"
#include "writer/pass.h"

enum { PROBITY_DUMPS_WINDOWS = 8, PROBITY_DUMPS_REASONS = 64 };

struct probity_dumps_calls;

/* A dump that is requested. */
struct probity_dumps_window {
    uint64_t begin, end; /* ticks */
    uint64_t end_max;    /* later notices do not extend it beyond this */
    uint32_t count, more;
    int is_asked_for;    /* 1: not only conditions requested it, so limits do not apply */
    struct probity_notice notices[PROBITY_DUMPS_REASONS];
};

/* A dump that was written, and may be replaced by that of a worse call. */
struct probity_dumps_kept {
    uint64_t device, inode, bytes, badness;
    uint32_t number;
};

struct probity_dumps {
    int is_on;
    const struct probity_dumps_calls *calls; /* if it is on */
    struct probity_dumps_settings settings;
    uint64_t before, after, period;    /* ticks */
    struct probity_watch *watch;       /* conditions that the writer checks; or NULL */
    const char *condition[PROBITY_CONDITIONS_MAX];
    uint32_t condition_bytes[PROBITY_CONDITIONS_MAX], conditions;
    int directory;                     /* open while the writer thread runs; else -1 */
    char directory_path[PROBITY_LIMIT_PATH];
    char pattern[PROBITY_DUMP_NAME_BYTES];
    uint32_t posted_seen;              /* number of notices when last checked */
    uint32_t number;                   /* number of the last dump */
    uint32_t made, left_out, failed;
    uint32_t failure_to_report;        /* errno, until a thread of the program has reported it */
    uint64_t bytes;                    /* size of all existing dumps */
    uint32_t windows;
    uint32_t recent_at;
    struct probity_notices notices;
    struct probity_dumps_window window[PROBITY_DUMPS_WINDOWS];
    uint64_t recent[PROBITY_DUMPS_KEPT_MAX]; /* ticks of the last dumps, a ring */
    struct probity_dumps_kept kept[PROBITY_DUMPS_KEPT_MAX];
    uint32_t kept_count;
    char name[PROBITY_DUMP_NAME_BYTES];
};

/* Functions that the writer thread calls for dumps, in a table, since a static program may have
 * been linked without this code (src/runtime/trigger.h). */
struct probity_dumps_calls {
    /* Called before the thread drops its rights, and when it ends. */
    void (*open)(struct probity_dumps *dumps);
    void (*close)(struct probity_dumps *dumps);

    /* Compares conditions with the new records, takes the notices, and determines which chunks the
     * pass must keep. is_last: no thread still records. */
    void (*take)(struct probity_dumps *dumps, struct probity_pass *pass, int is_last);

    /* Returns the tick at which the next dump is due, or a condition must be compared; UINT64_MAX:
     * none. */
    uint64_t (*due)(const struct probity_dumps *dumps);

    /* Writes the dumps that are due, or all. A failure is counted; a thread of the program reports
     * it. */
    void (*write)(struct probity_dumps *dumps, struct probity_pass *pass, int all);
};

extern const struct probity_dumps_calls probity_dumps_calls;

/* Returns whether notices have arrived since they were last taken. */
static inline int probity_dumps_are_asked(const struct probity_dumps *dumps)
{
    return dumps->is_on &&
           __atomic_load_n(&dumps->notices.posted, __ATOMIC_SEQ_CST) != dumps->posted_seen;
}

#endif
