/* SPDX-License-Identifier: MIT
 *
 * death.h: shared by the parts of the death tests. A victim makes the records of a fixed script,
 * and counts each one, before and after, in memory that outlives it. Then it is killed, and the
 * verifier compares the records that can be read with the counts.
 *
 *     victim.c           the records, and victims that end early
 *     verify.c           reader, check and recover on what is left
 *     crash_snapshot.c   what verify.c finds in a program that is still alive
 *     tracee.c           stops and continues a traced victim
 *     steps.c            death, a snapshot or a signal after each instruction
 *     calls.c            death at each system call
 *     random.c           death at random moments
 *     storm.c            signals from several sources, and jumps out of handlers
 */
#ifndef PROBITY_TESTS_DEATH_H
#define PROBITY_TESTS_DEATH_H

#include <stdint.h>
#include <sys/types.h>

enum { DEATH_THREADS = 10, DEATH_LEVELS = 3, DEATH_SEQUENCE_BITS = 18 };
enum { DEATH_JUMPED_MAX = 65536 };

/* The records of the script, in order. Masks select from them. */
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

/* What one thread has recorded at one level: 0 outside handlers, 1 in a signal handler, 2 in a
 * handler inside that. At most one record is begun and not finished. */
struct death_stream {
    uint64_t begun, finished;
};

/* A record abandoned by a jump out of a signal handler; it may or may not be in the trace. */
struct death_jumped {
    uint32_t thread, level;
    uint64_t index;
};

struct death_thread {
    uint32_t tid, pid;
    struct death_stream level[DEATH_LEVELS];
    uint64_t unused;
};

/* Data that victim and verifier share, in a file that both map. */
struct death_truth {
    struct death_thread thread[DEATH_THREADS];
    uint32_t kinds;
    uint32_t is_profile;
    uint32_t phase; /* 1: the thread under test is in the tested phase; 2: it has left it */
    uint32_t ready;           /* number of threads that have recorded and wait */
    uint32_t slow_ms;         /* duration of the inner handler */
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
    uint64_t unclean; /* errors of check or recover, and files left behind */
};

/* ---- victim.c ---- */

/* Maps what a program shares with those that it runs (shared_memory.h). */
void death_truth_map(void);
void death_start(const struct death_setting *setting);
/* Runs one round of the script in thread `thread`, at the level of the handlers around it. */
void death_unit(uint32_t thread);
/* Sets the number of the calling thread. */
void death_be(uint32_t thread);
/* Installs handlers, each of which runs a unit. */
void death_handle_signals(void);
/* Runs a unit at the next level; called in a handler. */
void death_unit_in_handler(void);
/* Call after a jump out of handlers: notes which record the jump abandoned. */
void death_land(void);
/* Fills the calling thread's chunk up to the last `words` words. */
void death_fill_chunk(uint32_t thread, uint32_t words);

/* ---- verify.c ---- */

/* How strict the verification is. */
enum {
    DEATH_EXACT = 1,        /* everything begun, because the program ran to its end */
    DEATH_JUMPS = 4,        /* records abandoned by a jump may be missing */
    DEATH_HANDLERS_LATE = 2 /* handlers may have run while recording ended */
};

/* Reads all traces in the working directory. Adds to the tally and prints errors. Returns their
 * number. */
uint64_t death_verify_read(struct death_tally *tally, int flags);
/* Reads, checks, recovers, and reads and checks again: the results must be equal, and no spool file
 * may remain. Returns the number of errors. */
uint64_t death_verify(struct death_tally *tally, int flags);
/* Removes the round's traces and spools. */
void death_clean(void);
void death_print(const char *what, const struct death_tally *tally);

/* ---- crash_snapshot.c ---- */

void death_snapshot_init(void);
/* Verifies the current files, as if the program, which must be stopped, had died. */
uint64_t death_snapshot_verify(struct death_tally *tally);
/* Saves the current files, and restores them. */
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
    pid_t process; /* the focus's process, which differs after a fork */
    pid_t focus;   /* the thread under test */
    pid_t awaited, parked; /* a child that is expected, and one that stopped too early */
    pid_t last;    /* the thread that stopped at phase 2 */
    int status;
};

/* Why the focus stopped. */
enum tracee_stop { TRACEE_STEP, TRACEE_SIGNAL, TRACEE_PHASE_OVER, TRACEE_GONE };

/* Waits until a thread reaches phase 1, which makes it the focus. */
void tracee_begin(struct tracee *tracee, pid_t child);
/* Stops another thread, by name, and makes it the focus; the previous one continues. */
void tracee_take_thread(struct tracee *tracee, const char *name);
/* Runs one instruction of the focus and returns its next stop; other threads keep running. */
enum tracee_stop tracee_step(struct tracee *tracee, int signal_number, int *ret_signal);
/* Lets everything run to the end. Returns the status as waitpid does. */
int tracee_run_out(struct tracee *tracee, int signal_number);
/* Kills the focus's process; others run to the end. */
void tracee_kill(struct tracee *tracee);

#endif
