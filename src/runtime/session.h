/* SPDX-License-Identifier: MIT
 *
 * session.h: one recording of one process. It is in one mapping that a forked child sees as zeroes
 * (MADV_WIPEONFORK): a child that probes finds no session and creates a new one. So a fork needs no
 * action, unless the forking thread is inside a probe (src/runtime/child.h).
 */
#ifndef PROBITY_RUNTIME_SESSION_H
#define PROBITY_RUNTIME_SESSION_H

#include <unistd.h>

#include "base/backoff.h"
#include "base/os.h"
#include "format/block.h"
#include "format/cost.h"
#include "runtime/hooks.h"
#include "runtime/profile.h"
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
 * thread records them, too: a declaration must not be later in time than the first record that
 * needs it, and no thread may wait for another to be scheduled. A thread that records them is in a
 * slow path, so the next recording does not begin meanwhile. */
enum probity_session_declarations {
    PROBITY_DECLARATIONS_NONE = 0,
    PROBITY_DECLARATIONS_BEGUN = 1, /* the first thread has a chunk for them */
    PROBITY_DECLARATIONS_RECORDED = 2
};

/* Memory for steps of a start that need much for a short time: a mapping for each would take longer
 * than some of them. Large enough to measure the cost of probes with chunks of the default size. */
enum { PROBITY_SESSION_WORK_BYTES = 144 << 10 };

struct probity_session {
    uint32_t is_made; /* 1: the mapping contains a session (and was not wiped) */
    uint32_t lock;    /* for start, stop, new segments, new threads; hold with signals blocked */
    uint32_t declare_lock; /* for src/runtime/declare.c; taken before `lock` if both are */
    uint32_t state;   /* an enum probity_session_state */
    uint32_t busy;    /* threads in a slow path; stop waits for them */
    uint32_t failure_reported;
    uint32_t autostarted; /* started by the constructor: an explicit start may still replace it */
    uint32_t number;  /* count of recordings started in this process */
    uint32_t threads; /* count of assigned numbers */
    uint32_t announced_only; /* threads_announced, for threads outside slow paths */
    uint32_t declarations; /* an enum probity_session_declarations */
    uint64_t gap_ticks, cpu_cost_ticks; /* the gap rule; cost of reading the CPU clock */
    uint64_t reading_ticks_max; /* limit for the halves of a reading, and for it and a hit */
    uint64_t move_ticks_max; /* a hit whose move takes longer never arrives */
    uint64_t measure_ticks_max; /* limit between readings of CPU time, at a change of chunk */
    uint32_t budget; /* share of time for wasted readings, × 2^16 */
    /* After a failure for lack of memory or threads, avoids a failing system call with every
     * record. Under the lock. */
    struct probity_backoff segment_backoff, writer_backoff;
    uint32_t is_writer_late; /* it could not be started, since a library was being loaded */
    struct probity_profile_sets profile;
    struct probity_settings settings, wanted;
    struct probity_live live;
    struct probity_cost cost; /* the next measurement to be written to the trace */
    struct probity_writer writer;
    uint32_t beat_seen, freed_seen; /* for src/runtime/external.c: the drainer's counts, */
    uint64_t beat_tick;             /* and when the first of them was seen to change */
    struct probity_os_image image; /* texts in it can be read without a check */
    const struct probity_sites_part *sites; /* the last part in the trace; NULL: none */
    uint8_t id[16];
    char trace_path[PROBITY_LIMIT_PATH], csv_path[PROBITY_LIMIT_PATH],
        spool_path[PROBITY_LIMIT_PATH];
    uint64_t names_template; /* hash of the last recording's `out`; 0: none yet */
    uint32_t names_number;   /* the highest number inserted for it */
    void *held_trace;  /* for src/runtime/trace_file.c; or NULL */
    int marks_start;   /* 1: INFO announces a SYNC for the moment when the spool has its name */
    int is_late;       /* the last recording ended while a thread was in a slow path: see start */
    int is_spool_left; /* 1: some of its files could not be removed */
    void *work; /* aligned to 64 bytes, with the content of earlier steps; under the lock */
    int unnamed_spool; /* descriptor of segment 0 until it is at spool_path; or -1 */
    uint32_t present_chunks; /* chunks of segment 0 with pages when it was created */
    char log_path[PROBITY_LIMIT_PATH], summary_path[PROBITY_LIMIT_PATH]; /* "": too long */
    struct probity_hooks_job outputs;       /* outputs besides the trace */
    char no_hooks[PROBITY_HOOKS_WHY_BYTES]; /* why there are none; "": unknown */
    char scratch[3][PROBITY_LIMIT_PATH]; /* at start; a thread that probes may have a small stack */
    struct probity_dumps dumps; /* of a ring; most of it is never touched */
    uint8_t declaration[2016]; /* under construction, as large as one event; under declare_lock */
};

/* Number of this recording in the process. For a thread outside slow paths, the next recording may
 * begin at any time. */
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

/* Our threads in this process (base/own_threads.h). */
extern uint64_t probity_session_own_threads;

/* The session of this process, created if missing. NULL if out of memory. Signals blocked. */
struct probity_session *probity_session_get(void);

/* In a forked child: abandons the session of the parent; its memory remains, and is inherited. */
void probity_session_disown(struct probity_session *session);

/* Enters a slow path: returns the session if it is recording, else NULL; the session persists until
 * it is left. Starts recording if the environment requests it. Signals blocked. */
struct probity_session *probity_session_enter(void);
void probity_session_leave(struct probity_session *session);

/* The session if it is recording, else NULL. Creates nothing. Any thread, async-signal-safe. */
struct probity_session *probity_session_recording(void);

/* Whether a thread is still in a slow path of the last recording, which ended without waiting any
 * longer for it. Such a thread uses what a start replaces. Waits briefly. Lock held. */
int probity_session_is_late(struct probity_session *session);

/* Starts recording. is_main: in a constructor or on an explicit request, when a thread may be
 * created. Lock held, and no thread is late. */
int probity_session_start(struct probity_session *session, const struct probity_settings *settings,
                          int is_main);

/* Between these two, the settings returned may be changed; then a forked child begins with them. In
 * the writer thread. */
struct probity_settings *probity_session_inherit_begin(void);
void probity_session_inherit_end(void);

/* To be called at the first probe without a session: starts recording if the environment requests
 * it, or if the parent of this forked child is recording. Lock held. Returns 0 if it is recording
 * now. */
int probity_session_start_if_asked(struct probity_session *session, int is_main);

/* Ends recording with an END reason. Lock not held. PROBITY_ERROR_STATE if another thread is ending
 * it already. */
int probity_session_stop(struct probity_session *session, uint32_t reason);

/* Discards a recording that the constructor started and that is still empty, without leaving files,
 * because an explicit start has other options. Lock not held. A no-op for any other recording. */
void probity_session_discard_autostart(struct probity_session *session);

/* Prints one line on stderr: "probity: WHAT: WHY; not recording". A process prints only the first
 * line of this function and the next three. */
void probity_session_complain(const char *what, const char *why);

/* Whether nothing is printed from now on, because the reason is reported to another process.
 * Under the session's lock. */
void probity_session_keep_silent(int is_silent);

/* Prints another text: "probity: TEXT". */
void probity_session_say_once(const char *text);

/* Prints a line that is no complaint, and does not keep later ones from being printed.
 * Async-signal-safe. */
void probity_session_say(const char *line, size_t length);

/* Reports a CSV file that could not be made: "probity: 'PATH' WHAT: WHY; its trace is kept". */
void probity_session_complain_of_csv(const char *path, const char *what, const char *why);

/* Reports an invalid setting, with its value if it is from the environment. */
void probity_session_complain_of_setting(const char *name);

/* Keeps probes and scopes from taking the slow path. Lock held, not while recording. */
void probity_session_switch_off(void);

/* At exit: waits, at most some seconds, until another thread has finished ending the recording. */
void probity_session_await_end(void);

/* To be called if there is no memory for a session: reports that, and stops probes from trying to
 * create one. */
void probity_session_give_up(void);

/* Adds a segment. Lock held. Returns 0 or an error; PROBITY_ERROR_STATE if backing off after a
 * failure. */
int probity_session_grow(struct probity_session *session);

/* Whether the caller is another process in the memory of the recording one: the child of a vfork,
 * or of a clone with CLONE_VM. Its threads are not recorded. */
static inline int probity_session_is_foreign(const struct probity_session *session)
{
    return (uint32_t)getpid() != session->live.pid;
}

/* Starts the writer thread if there is none yet; PROBITY_ERROR_STATE in a foreign process (the
 * thread would end with it), or if backing off after a failure. Lock held. */
int probity_session_need_writer(struct probity_session *session);

/* Creates segment 0 in the spool directory or, if none is usable, next to the trace. Sets
 * spool_path, unnamed_spool and present_chunks of the session; reduces the header's chunks if there
 * is a ceiling. Returns as probity_segment_make(), or PROBITY_ERROR_LIMIT. Lock held. */
int probity_spool_file_make(struct probity_session *session, struct probity_spool_header *header,
                            void **ret_segment);

#endif
