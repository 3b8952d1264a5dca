/* SPDX-License-Identifier: MIT
 *
 * death.h: what the parts of the death tests share. A victim makes records after a fixed script and
 * counts each of them, before and behind, in memory that outlives it; it is killed; the judge reads
 * what is left and holds it against the counts.
 *
 *     victim.c   the records, and the lives that end early
 *     judge.c    reader, check and recover on what is left
 *     effigy.c   the judge's view of a program that has not died
 *     tracee.c   stops and goes of a traced victim
 *     steps.c    death, a look or a signal behind each instruction
 *     calls.c    death at each system call
 *     random.c   death at any moment
 *     storm.c    signals from all sides, and jumps out of handlers
 */
#ifndef PROBITY_TESTS_DEATH_H
#define PROBITY_TESTS_DEATH_H

#include <stdint.h>
#include <sys/types.h>

enum { DEATH_THREADS = 10, DEATH_LEVELS = 3, DEATH_SEQUENCE_BITS = 18 };
enum { DEATH_JUMPED_MAX = 65536 };

/* The records of the script, in its order. A mask chooses among them. */
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

/* The records of one thread at one level: 0 its own, 1 a signal handler's, 2 those of a handler
 * inside a handler. At most one record is begun and not finished. */
struct death_stream {
    uint64_t begun, finished;
};

/* A record that a jump out of a signal handler has left: there or not. */
struct death_jumped {
    uint32_t thread, level;
    uint64_t index;
};

struct death_thread {
    uint32_t tid, pid;
    struct death_stream level[DEATH_LEVELS];
    uint64_t unused;
};

/* Between victim and judge, in a file mapped by both. */
struct death_truth {
    struct death_thread thread[DEATH_THREADS];
    uint32_t kinds;
    uint32_t is_profile;
    uint32_t phase; /* 1: the focus begins what is looked at; 2: it is over */
    uint32_t ready;           /* threads that have recorded and wait */
    uint32_t slow_ms;         /* the inner handler takes so long */
    uint32_t handled, nested; /* signals */
    uint32_t jumps;           /* that left a record */
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

/* What was found, over many deaths. */
struct death_tally {
    uint64_t deaths, written, found, lost, torn, invented, duplicated;
    uint64_t jumped, signals;
    uint64_t unclean; /* faults of check or recover, and files left over */
};

/* ---- victim.c ---- */

/* Maps the file "truth" of the working directory, which is made where it is not there. */
void death_truth_map(void);
void death_start(const struct death_setting *setting);
/* One turn of the script by thread `thread`, at the level of the signal handlers that it is in. */
void death_unit(uint32_t thread);
/* The calling thread is this one from here on. */
void death_be(uint32_t thread);
/* Installs the handlers: each makes a unit. */
void death_handle_signals(void);
/* In a handler: a unit at the next level. */
void death_unit_in_handler(void);
/* A jump out of handlers has come here: notes what it left. */
void death_land(void);
/* Only so many words are left in the calling thread's chunk. */
void death_fill_chunk(uint32_t thread, uint32_t words);

/* ---- judge.c ---- */

/* How strictly what was found is judged. */
enum {
    DEATH_EXACT = 1,        /* all that was begun, as the program came to its end */
    DEATH_JUMPS = 4,        /* what a jump has left may be missing */
    DEATH_HANDLERS_LATE = 2 /* handlers may have come beside the end of the recording */
};

/* Reads all traces of the working directory once. Adds to the tally; prints what is wrong.
 * Returns the number of faults. */
uint64_t death_judge_read(struct death_tally *tally, int flags);
/* Reads, checks, recovers, and reads and checks again: the same must be found, and no file of a
 * spool be left. Returns the number of faults. */
uint64_t death_judge(struct death_tally *tally, int flags);
/* Removes traces and spools of the round. */
void death_clean(void);
void death_print(const char *what, const struct death_tally *tally);

/* ---- effigy.c ---- */

void death_effigy_init(void);
/* Judges what is there now as if the program had died. It must stand still. */
uint64_t death_effigy_judge(struct death_tally *tally);
/* Keeps what is there now, and brings it back. */
void death_save(void);
void death_restore(void);

/* ---- the rest ---- */

_Noreturn void death_die(const char *what);
uint64_t death_random(void);
void death_seed(uint64_t seed);
int death_steps_main(int argc, char **argv);
int death_calls_main(int argc, char **argv);
int death_random_main(int argc, char **argv);
int death_storm_main(int argc, char **argv);

/* Starts a program's life in a child of this process. */
int death_life_main(int argc, char **argv);

/* ---- tracee.c ---- */

struct tracee {
    pid_t pid;     /* the process that was started */
    pid_t process; /* of the focus: a child of a fork is another */
    pid_t focus;   /* the thread that is looked at */
    pid_t awaited, parked; /* a child that is to come, and one that came too early */
    pid_t last;    /* the thread that has stopped at phase 2 */
    int status;
};

/* Stops of the focus. */
enum tracee_stop { TRACEE_STEP, TRACEE_SIGNAL, TRACEE_PHASE_OVER, TRACEE_GONE };

/* Waits until a thread has come to phase 1: it is the focus. */
void tracee_begin(struct tracee *tracee, pid_t child);
/* Stops another thread, of this name, and makes it the focus; the former one goes on. */
void tracee_take_thread(struct tracee *tracee, const char *name);
/* The next stop of the focus, by one instruction; all others go on meanwhile. */
enum tracee_stop tracee_step(struct tracee *tracee, int signal_number, int *ret_signal);
/* Everything goes on until the end. Returns the status as of waitpid. */
int tracee_run_out(struct tracee *tracee, int signal_number);
/* Ends the process of the focus; the others go on to their end. */
void tracee_kill(struct tracee *tracee);

#endif
