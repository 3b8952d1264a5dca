/* SPDX-License-Identifier: MIT
 *
 * session_mapping.h: the session, one recording of one process, and how it is found. It is in one
 * mapping that a forked child sees as zeroes (MADV_WIPEONFORK): a child that probes finds no
 * session and creates a new one. So nothing needs to be done at a fork, unless the forking thread
 * is inside a probe (src/runtime/child.h).
 */
#ifndef PROBITY_RUNTIME_SESSION_MAPPING_H
#define PROBITY_RUNTIME_SESSION_MAPPING_H

#include <unistd.h>

#include "base/backoff.h"
#include "base/os.h"
#include "format/block.h"
#include "format/cost.h"
#include "runtime/hooks.h"
#include "runtime/settings.h"
#include "spool/live.h"
#include "writer/dumps.h"
#include "writer/writer.h"

enum probity_session_state {
    PROBITY_SESSION_NONE = 0,
    PROBITY_SESSION_RECORDING = 1,
    PROBITY_SESSION_ENDING = 2, /* stop in progress */
    PROBITY_SESSION_ENDED = 3   /* stopped, or never started */
};

/* Whether this trace has the declarations of earlier recordings. Until all are recorded, each new
 * thread records them, too: a declaration must not be later than the first record that needs it,
 * and no thread may wait for another to be scheduled. A thread that records them is in a slow path,
 * so the next recording does not begin meanwhile. */
enum probity_session_declarations {
    PROBITY_DECLARATIONS_NONE = 0,
    PROBITY_DECLARATIONS_BEGUN = 1, /* the first thread has a chunk for them */
    PROBITY_DECLARATIONS_RECORDED = 2
};

/* Memory for steps of a start that need much of it for a short time: mapping it for each would take
 * longer than some of the steps. Large enough to measure the cost of probes with chunks of the
 * default size. */
enum { PROBITY_SESSION_WORK_BYTES = 144 << 10 };

struct probity_profile_set;

/* The sets of cells of profile mode (profile_set.h). */
struct probity_profile_sets {
    struct probity_profile_set *first; /* all sets ever created */
    uint32_t lock;                     /* hold with signals blocked */
    uint32_t made;
    uint32_t is_untimed; /* scopes entered now are counted but not timed */
    uint64_t ended;      /* threads that have ended */
};

struct probity_session {
    uint32_t is_made; /* 1: the mapping contains a session (and was not wiped) */
    uint32_t lock;    /* for start, stop, new segments and threads; hold with signals blocked */
    uint32_t declare_lock; /* for src/runtime/declare.c; taken before `lock` if both are */
    uint32_t state;   /* an enum probity_session_state */
    uint32_t busy;    /* threads in a slow path; stop waits for them */
    uint32_t failure_reported;
    uint32_t autostarted; /* started by the constructor: an explicit start may replace it */
    uint32_t number;  /* number of recordings started in this process */
    uint32_t threads; /* number of thread numbers assigned */
    uint32_t announced_only; /* threads_announced, for threads outside slow paths */
    uint32_t declarations; /* an enum probity_session_declarations */
    uint64_t gap_ticks, cpu_cost_ticks; /* the gap rule; cost of reading the CPU clock */
    uint64_t reading_ticks_max; /* limit for the halves of a reading, and for a reading and a hit */
    uint64_t move_ticks_max; /* a move of a hit that takes longer was abandoned */
    uint64_t measure_ticks_max; /* limit between readings of CPU time, at a change of chunk */
    uint32_t budget; /* share of time for wasted readings, × 2^16 */
    /* Avoids a failing system call with every record, after a failure for lack of memory or
     * threads. Under the lock. */
    struct probity_backoff segment_backoff, writer_backoff;
    uint32_t is_writer_late; /* it could not be started, since a library was being loaded */
    struct probity_profile_sets profile;
    struct probity_settings settings, wanted;
    struct probity_live live;
    struct probity_cost cost; /* the next measurement to be written to the trace */
    struct probity_writer writer;
    uint32_t beat_seen, freed_seen; /* for src/runtime/external.c: the drainer's counters, */
    uint64_t beat_tick;             /* and when beat was last seen to change */
    struct probity_os_image image; /* texts in it can be read without a check */
    const struct probity_sites_part *sites; /* the last part written to the trace; NULL: none */
    uint8_t id[16];
    char trace_path[PROBITY_LIMIT_PATH], csv_path[PROBITY_LIMIT_PATH],
        spool_path[PROBITY_LIMIT_PATH];
    uint64_t names_template; /* hash of `out` of the last recording; 0: none yet */
    uint32_t names_number;   /* the highest number inserted in it */
    void *held_trace;  /* for src/runtime/trace_file.c; or NULL */
    int marks_start;   /* 1: INFO announces a SYNC for the moment when the spool has its name */
    int is_late;       /* the last recording ended while a thread was in a slow path: see start */
    int is_spool_left; /* 1: some spool files could not be removed */
    void *work; /* 64-byte aligned, with the contents of earlier steps; under the lock */
    int unnamed_spool; /* descriptor of segment 0 until it is at spool_path; or -1 */
    uint32_t present_chunks; /* number of chunks in segment 0 with pages when it was created */
    char log_path[PROBITY_LIMIT_PATH], summary_path[PROBITY_LIMIT_PATH]; /* "": path too long */
    struct probity_hooks_job outputs;       /* outputs besides the trace */
    char no_hooks[PROBITY_HOOKS_WHY_BYTES]; /* why there are none; "": unknown */
    char scratch[3][PROBITY_LIMIT_PATH]; /* at start; a thread that probes may have a small stack */
    struct probity_dumps dumps; /* only for a ring; most of it is never touched */
    uint8_t declaration[2016]; /* being built, as large as one event; under declare_lock */
};

/* Returns the number of this recording in the process. For a thread outside slow paths, the next
 * recording may begin at any time. */
static inline uint32_t probity_session_number(const struct probity_session *session)
{
    return __atomic_load_n(&session->number, __ATOMIC_RELAXED);
}

static inline uint32_t probity_session_has_declared(const struct probity_session *session)
{
    return __atomic_load_n(&session->declarations, __ATOMIC_ACQUIRE);
}

/* libc's count of threads (base/thread_count.h), or NULL; set by src/embed/. */
extern unsigned *probity_session_thread_count;

/* The library's own threads in this process (base/own_threads.h). */
extern uint64_t probity_session_own_threads;

/* Returns the session of this process, created if missing. NULL if out of memory. Signals
 * blocked. */
struct probity_session *probity_session_get(void);

/* In a forked child: abandons the parent's session; its memory remains, and is inherited. */
void probity_session_disown(struct probity_session *session);

/* Returns the session if it is recording, else NULL. Creates nothing. Any thread,
 * async-signal-safe. */
struct probity_session *probity_session_recording(void);

/* Returns whether the caller is another process in the memory of the recording one: the child of a
 * vfork, or of a clone with CLONE_VM. Its threads are not recorded. */
static inline int probity_session_is_foreign(const struct probity_session *session)
{
    return (uint32_t)getpid() != session->live.pid;
}

/* At exit: waits, at most some seconds, until another thread has ended the recording. */
void probity_session_await_end(void);

#endif
