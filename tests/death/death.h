/* SPDX-License-Identifier: MIT
 *
 * death.h: shared by the parts of the death tests. A victim makes records according to a fixed
 * script and counts each one, before and after, in memory that outlives it; it is killed; the
 * verifier reads what is left and compares it with the counts.
 *
 *     victim.c           the records, and victims that end early
 *     verify.c           reader, check and recover on what is left
 *     crash_snapshot.c   what verify.c finds in a program that is still alive
 *     tracee.c           stops and continues a traced victim
 *     steps.c            death, a look or a signal after each instruction
 *     calls.c            death at each system call
 *     random.c           death at random moments
 *     storm.c            signals from all sides, and jumps out of handlers
 */
#ifndef PROBITY_TESTS_DEATH_H
#define PROBITY_TESTS_DEATH_H

#include <stdint.h>
#include <sys/types.h>

enum { DEATH_THREADS = 10, DEATH_LEVELS = 3, DEATH_SEQUENCE_BITS = 18 };
enum { DEATH_JUMPED_MAX = 65536 };

/* The records of the script, in order. A mask selects among them. */
enum death_kind {
    DEATH_HIT = 1,
    DEATH_WIDE = 2,
    DEATH_TYPED = 4,
    DEATH_ENTER = 8,        /* with values */
    DEATH_PLAIN_ENTER = 16, /* one word */
    DEATH_MESSAGE = 32,
    DEATH_PLAIN_LEAVE = 64,
    DEATH_LEAVE = 128, /* with a value */
    DEATH_ALL = 255
};
#define DEATH_SCOPE (DEATH_ENTER | DEATH_LEAVE)
#define DEATH_PLAIN (DEATH_PLAIN_ENTER | DEATH_PLAIN_LEAVE)

/* The records of one thread at one level: 0 outside handlers, 1 in a signal handler, 2 in a handler
 * inside a handler. At most one record is begun and not finished. */
struct death_stream {
    uint64_t begun, finished;
};

/* A record abandoned by a jump out of a signal handler: it may be present or not. */
struct death_jumped {
    uint32_t thread, level;
    uint64_t index;
};

struct death_thread {
    uint32_t tid, pid;
    struct death_stream level[DEATH_LEVELS];
    uint64_t unused;
};

/* Shared by victim and verifier, in a file mapped by both. */
struct death_truth {
    struct death_thread thread[DEATH_THREADS];
    uint32_t kinds;
    uint32_t is_profile;
    uint32_t phase; /* 1: the focus is in the phase under test; 2: it has finished it */
    uint32_t ready;           /* number of threads that have recorded and wait */
    uint32_t slow_ms;         /* the inner handler takes this long */
    uint32_t handled, nested; /* number of signals */
    uint32_t jumps;           /* jumps that abandoned a record */
    struct death_jumped jumped[DEATH_JUMPED_MAX];
};

extern struct death_truth *death_truth;

/* How victims record. */
struct death_setting {
    const char *out; /* default "trace" */
    uint32_t chunk_records, spool_records;
    int cpu_time, profile, mode;
    uint64_t spool_bytes_max;
};

/* The totals over many deaths. */
struct death_tally {
    uint64_t deaths, written, found, lost, torn, invented, duplicated;
    uint64_t jumped, signals;
    uint64_t unclean; /* errors of check or recover, and remaining files */
};

/* ---- victim.c ---- */

/* Maps what a program shares with the programs that it runs (shared_memory.h). */
void death_truth_map(void);
void death_start(const struct death_setting *setting);
/* One round of the script in thread `thread`, at the level of the signal handlers that it is in. */
void death_unit(uint32_t thread);
/* The calling thread is this one from now on. */
void death_be(uint32_t thread);
/* Installs the handlers: each makes a unit. */
void death_handle_signals(void);
/* In a handler: a unit at the next level. */
void death_unit_in_handler(void);
/* Called after a jump out of handlers: notes what it abandoned. */
void death_land(void);
/* Fills the calling thread's chunk except for `words` words. */
void death_fill_chunk(uint32_t thread, uint32_t words);

/* ---- verify.c ---- */

/* How strictly the findings are verified. */
enum {
    DEATH_EXACT = 1,        /* everything begun, because the program came to its end */
    DEATH_JUMPS = 4,        /* records abandoned by a jump may be missing */
    DEATH_HANDLERS_LATE = 2 /* handlers may have run during the end of the recording */
};

/* Reads all traces in the working directory once. Adds to the tally; prints errors. Returns the
 * number of errors. */
uint64_t death_verify_read(struct death_tally *tally, int flags);
/* Reads, checks, recovers, and reads and checks again: the results must be the same, and no spool
 * file may remain. Returns the number of errors. */
uint64_t death_verify(struct death_tally *tally, int flags);
/* Removes the round's traces and spools. */
void death_clean(void);
void death_print(const char *what, const struct death_tally *tally);

/* ---- crash_snapshot.c ---- */

void death_snapshot_init(void);
/* Verifies the present files as if the program had died. It must be stopped. */
uint64_t death_snapshot_verify(struct death_tally *tally);
/* Saves the present files, and restores them. */
void death_save(void);
void death_restore(void);

/* ---- others ---- */

_Noreturn void death_die(const char *what);
uint64_t death_random(void);
void death_seed(uint64_t seed);
int death_steps_main(int argc, char **argv);
int death_calls_main(int argc, char **argv);
int death_random_main(int argc, char **argv);
int death_storm_main(int argc, char **argv);

/* Runs a program in a child of this process. */
int death_life_main(int argc, char **argv);

/* ---- tracee.c ---- */

struct tracee {
    pid_t pid;     /* the process that was started */
    pid_t process; /* the process of the focus, which differs after a fork */
    pid_t focus;   /* the thread under test */
    pid_t awaited, parked; /* a child that is expected, and one that came too early */
    pid_t last;    /* the thread that stopped at phase 2 */
    int status;
};

/* Stops of the focus. */
enum tracee_stop { TRACEE_STEP, TRACEE_SIGNAL, TRACEE_PHASE_OVER, TRACEE_GONE };

/* Waits until a thread has reached phase 1; it becomes the focus. */
void tracee_begin(struct tracee *tracee, pid_t child);
/* Stops another thread, by name, and makes it the focus; the former focus continues. */
void tracee_take_thread(struct tracee *tracee, const char *name);
/* The next stop of the focus, after one instruction; the others continue to run. */
enum tracee_stop tracee_step(struct tracee *tracee, int signal_number, int *ret_signal);
/* Lets everything run to the end. Returns the status as from waitpid. */
int tracee_run_out(struct tracee *tracee, int signal_number);
/* Kills the process of the focus; the others run to their end. */
void tracee_kill(struct tracee *tracee);

#endif
