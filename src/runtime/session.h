/* SPDX-License-Identifier: MIT
 *
 * session.h: one recording of one process. All of it lies in one mapping that a forked child sees
 * as zeroes (MADV_WIPEONFORK): a child that probes finds no session, and makes its own. So there is
 * nothing to do at fork, unless a probe is at work in the thread that forks (src/runtime/child.h).
 */
#ifndef PROBITY_RUNTIME_SESSION_H
#define PROBITY_RUNTIME_SESSION_H

#include <unistd.h>

#include "base/os.h"
#include "format/block.h"
#include "format/cost.h"
#include "runtime/profile.h"
#include "runtime/settings.h"
#include "spool/live.h"
#include "writer/writer.h"

enum probity_session_state {
    PROBITY_SESSION_NONE = 0,
    PROBITY_SESSION_RECORDING = 1,
    PROBITY_SESSION_ENDING = 2, /* stop is at work */
    PROBITY_SESSION_ENDED = 3   /* stopped, or never started */
};

/* What was refused is asked for again, after twice as many wishes as before: who has no memory, or
 * may have no thread, is not to pay for a vain system call with every record. Under the lock. */
struct probity_refusal {
    uint32_t wishes; /* that are still passed over */
    uint32_t next;   /* how many will be after the next refusal */
};

struct probity_session {
    uint32_t is_made; /* 1: the mapping holds a session (and was not wiped) */
    uint32_t lock;    /* for start, stop, new segments, new threads; hold with signals blocked */
    uint32_t declare_lock; /* for src/runtime/declare.c; taken before lock where both are */
    uint32_t state;   /* an enum probity_session_state */
    uint32_t busy;    /* threads in a slow path; stop waits for them */
    uint32_t failure_is_told;
    uint32_t is_by_environment; /* by the constructor: an explicit start may still replace it */
    uint32_t number;  /* of recordings started in this process */
    uint32_t threads; /* numbers given out */
    uint32_t announced_only; /* threads_announced, for who is in no slow path yet */
    uint32_t is_declared; /* 1: a thread has recorded what each recording begins with */
    uint64_t gap_ticks, cpu_cost_ticks; /* the gap rule; what a reading of the CPU clock costs */
    uint64_t reading_ticks_max; /* what lies between a reading's two halves, or it and a hit */
    uint64_t move_ticks_max; /* a hit that is on its way to other words for longer never comes */
    uint64_t measure_ticks_max; /* CPU time is read at least so often, at a change of chunk */
    uint32_t budget; /* share of time for readings in vain, × 2^16 */
    uint32_t writer_threshold; /* full chunks at which the writer is woken */
    struct probity_refusal segment_refusal, writer_refusal;
    struct probity_profile_sets profile;
    struct probity_settings settings, wanted;
    struct probity_live live;
    struct probity_cost cost; /* what the trace is to say of it next */
    struct probity_writer writer;
    struct probity_os_image image; /* where texts need not be looked at before they are read */
    const struct probity_sites_part *sites; /* the last that the trace has; NULL: none */
    uint8_t id[16];
    char trace_path[PROBITY_LIMIT_PATH], csv_path[PROBITY_LIMIT_PATH],
        spool_path[PROBITY_LIMIT_PATH];
    void *held_trace;  /* of src/runtime/trace_file.c; or NULL */
    int is_spool_left; /* 1: not all of its files could be removed */
    int unnamed_spool; /* descriptor of segment 0 while it is not at spool_path yet; or -1 */
    char log_path[PROBITY_LIMIT_PATH], summary_path[PROBITY_LIMIT_PATH]; /* "": too long */
    void *log; /* of src/library/log_print.c: what it works with */
    int log_is_over;  /* 1: no more is printed */
    int log_is_whole; /* 1: all of the trace has been printed */
    char scratch[3][PROBITY_LIMIT_PATH]; /* at start; a thread that probes may have a small stack */
    uint8_t declaration[2016]; /* being put together, as one event holds it; under declare_lock */
};

/* Which of the process's recordings it is; another may begin at any moment for who is in no slow
 * path. */
static inline uint32_t probity_session_number(const struct probity_session *session)
{
    return __atomic_load_n(&session->number, __ATOMIC_RELAXED);
}

/* What is done with a closed trace that is to become a CSV; set by src/library/. Returns 0 where
 * the trace may go. */
typedef int probity_session_closed(const char *trace_path, const char *csv_path);
extern probity_session_closed *probity_session_when_closed;

/* Prints the log of a session whose settings ask for one, as far as its trace goes by now;
 * is_closed: to its end. In the thread that writes; set by src/library/. */
typedef void probity_session_log(struct probity_session *session, int is_closed);
extern probity_session_log *probity_session_print_log;

/* Prints the summary of a closed trace. Returns 0 where it is printed; set by src/library/. */
typedef int probity_session_summary(struct probity_session *session);
extern probity_session_summary *probity_session_print_summary;

/* The newest log that is open, also in a forked child, which cannot use it: there it is memory that
 * a search for leaks must still find. */
extern void *probity_session_open_logs;

/* The session of this process, made if it is missing. NULL where there is no memory. Signals
 * blocked. */
struct probity_session *probity_session_get(void);

/* In a forked child: the session was its parent's, and is looked for no more; its memory stays, and
 * is inherited. */
void probity_session_disown(struct probity_session *session);

/* Enters a slow path: the session if it records, else NULL; it stays until left. Starts it where
 * the environment asks for it. Signals blocked. */
struct probity_session *probity_session_enter(void);
void probity_session_leave(struct probity_session *session);

/* The session if it records, else NULL. Makes nothing. Any thread, signal handlers too. */
struct probity_session *probity_session_recording(void);

/* Starts recording. is_main: in a constructor or at the program's wish, where a thread may be made.
 * Lock held. */
int probity_session_start(struct probity_session *session, const struct probity_settings *settings,
                          int is_main);

/* The first probe without a session: starts one if the environment asks, or if the parent of this
 * forked child records. Lock held. Returns 0 where it records now. */
int probity_session_start_if_asked(struct probity_session *session, int is_main);

/* Ends recording with an END reason. Not under the lock. PROBITY_ERROR_STATE where another thread
 * does so already. */
int probity_session_stop(struct probity_session *session, uint32_t reason);

/* Ends a recording that the constructor started and that holds nothing yet, and leaves nothing of
 * it: an explicit start brings options of its own. Not under the lock. Does nothing to any
 * other. */
void probity_session_make_way(struct probity_session *session);

/* The one line on stderr: "probity: WHAT: WHY; not recording". Only the first of a process is
 * printed. */
void probity_session_complain(const char *what, const char *why);

/* The same for a setting, with its value where it is from the environment. */
void probity_session_complain_of_setting(const char *name);

/* Where there is no memory for a session: no probe looks for one any more, and the line says so. */
void probity_session_give_up(void);

/* One more segment. Lock held. Returns 0 or an error; PROBITY_ERROR_STATE where it was refused a
 * short while ago, and is not asked for. */
int probity_session_grow(struct probity_session *session);

/* Whether the caller is a process of its own in the memory of the one that records: the child of a
 * vfork, or of a clone with CLONE_VM. None of its threads is one of ours. */
static inline int probity_session_is_foreign(const struct probity_session *session)
{
    return (uint32_t)getpid() != session->live.pid;
}

/* The writing thread, if there is none yet; PROBITY_ERROR_STATE to who is foreign, with whom it
 * would end, and where it was refused a short while ago. Lock held. */
int probity_session_need_writer(struct probity_session *session);

#endif
