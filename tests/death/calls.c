/* SPDX-License-Identifier: MIT
 *
 * calls.c: death at the beginning and end of each system call of a complete run, counted over all
 * threads of the killed process.
 *
 *     death calls program STRIDE SEED          a program from its start to its end
 *     death calls csv STRIDE SEED TOOL         the same, with CSV output
 *     death calls recover STRIDE SEED TOOL     `TOOL recover` on what a killed program left
 *     death calls record STRIDE SEED TOOL      `TOOL record` is killed, its program survives
 *     death calls record_killed STRIDE SEED TOOL    both are killed
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "death/death.h"
#include "programs/hits.h"

enum { UNITS = 60, STOPS_MAX = 100000 };

struct run {
    const char *name;
    uint32_t kinds;
    void (*prepare)(void);  /* once */
    void (*restore)(void);  /* before each start */
    void (*start)(void);    /* in the child */
    uint64_t (*verify)(struct death_tally *tally);
};

static const char *tool;
static char self[4096];

/* ---- The traced side ----------------------------------------------------------------------------
 */

static void *make_units(void *argument)
{
    uint32_t number = (uint32_t)(uintptr_t)argument;

    death_be(number);
    for (int i = 0; i < UNITS; i++)
        death_unit(number);
    return NULL;
}

static void live(const char *out)
{
    const struct death_setting setting = {.out = out, .spool_records = 4096};
    pthread_t thread[2];

    death_start(&setting);
    for (uintptr_t i = 0; i < 2; i++)
        hits_need(pthread_create(&thread[i], NULL, make_units, (void *)i) == 0, "thread");
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    exit(0);
}

static void start_program(void)
{
    live("trace");
}

static void start_csv(void)
{
    live("trace.csv");
}

static void start_recover(void)
{
    hits_need(freopen("/dev/null", "w", stdout) != NULL, "stdout");
    execl(tool, tool, "recover", "trace", (char *)NULL);
    _exit(127);
}

/* The variant in random.c that exits without being killed. */
static void start_record(void)
{
    setenv("PROBITY_SPOOL_RECORDS", "8192", 1);
    setenv("PROBITY_CHUNK_RECORDS", "512", 1);
    execl(tool, tool, "record", "-o", "trace", "--", self, "life", "7", (char *)NULL);
    _exit(127);
}

static void start_record_killed(void)
{
    setenv("DEATH_END", "kill", 1);
    start_record();
}

/* ---- The tracer ---------------------------------------------------------------------------------
 */

/* Runs up to stop number `last`. Returns 1 if the process reached it and was killed there, else
 * 0. */
static int kill_at(pid_t child, uint64_t last)
{
    const long options =
        PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    uint64_t stops = 0;
    int status, is_killed = 0;

    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status) ||
        ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)options) != 0)
        death_die("the first stop");
    ptrace(PTRACE_SYSCALL, child, NULL, NULL);
    for (pid_t thread; (thread = waitpid(-1, &status, __WALL)) > 0;) {
        if (!WIFSTOPPED(status))
            continue;
        int number = WSTOPSIG(status);
        stops += number == (SIGTRAP | 0x80);
        if (stops == last && !is_killed) {
            kill(child, SIGKILL);
            is_killed = 1;
        }
        int passed = status >> 16 != 0 || number == SIGSTOP || (number & 0x7f) == SIGTRAP ? 0
                                                                                          : number;
        if (ptrace(PTRACE_SYSCALL, thread, NULL, (void *)(intptr_t)passed) != 0 && errno != ESRCH)
            death_die("PTRACE_SYSCALL");
    }
    return is_killed;
}

static uint64_t judge_any(struct death_tally *tally)
{
    return death_verify(tally, 0);
}

/* Only the tool died, so every record must be there. */
static uint64_t judge_all(struct death_tally *tally)
{
    return death_verify(tally, DEATH_EXACT);
}

/* Verifies that the hits of each thread are in the CSV, in order and without gaps. */
static uint64_t judge_csv_lines(struct death_tally *tally)
{
    uint64_t next[2] = {0, 0}, faults = 0;
    char line[512];
    FILE *csv = fopen("trace.csv", "r");

    while (csv != NULL && fgets(line, sizeof line, csv) != NULL) {
        const char *at = strchr(line, ',');
        at = at != NULL ? strchr(at + 1, ',') : NULL;
        uint64_t id = at != NULL ? strtoull(at + 1, NULL, 10) : UINT64_MAX;
        uint64_t thread = (id >> DEATH_SEQUENCE_BITS) / DEATH_LEVELS;
        if (thread > 1 || (id & HITS_SEQUENCE_MASK) != next[thread]++)
            faults++;
    }
    if (csv != NULL)
        fclose(csv);
    tally->invented += faults;
    for (int i = 0; i < 2; i++) {
        const struct death_stream *stream = &death_truth->thread[i].level[0];
        tally->written += stream->finished;
        tally->found += next[i];
        tally->lost += next[i] < stream->finished;
        tally->invented += next[i] > stream->begun;
        faults += next[i] < stream->finished || next[i] > stream->begun;
    }
    return faults;
}

/* The result is the CSV, or a trace from which recover creates it, or neither if the process died
 * before recording. */
static uint64_t judge_csv(struct death_tally *tally)
{
    char command[4400];
    uint64_t begun = death_truth->thread[0].level[0].begun + death_truth->thread[1].level[0].begun;

    tally->deaths++;
    snprintf(command, sizeof command, "'%s' recover trace.csv > recovered 2>&1", tool);
    int status = system(command);
    uint64_t faults = judge_csv_lines(tally);
    if (begun > 0 && (status != 0 || access("trace.csv.probity", F_OK) == 0)) {
        fprintf(stderr, "recover of the CSV: status %x\n", (unsigned)status);
        tally->unclean++;
        faults++;
    }
    return faults;
}

/* Creates the trace of a dead program, the same one for each round. */
static void prepare_dead(void)
{
    int status;

    death_clean();
    pid_t child = fork();
    if (child == 0) {
        pthread_t thread;
        const struct death_setting setting = {.spool_records = 8192};
        death_start(&setting);
        make_units((void *)0);
        hits_need(probity_flush() == 0, "flush");
        hits_need(pthread_create(&thread, NULL, make_units, (void *)1) == 0, "thread");
        pthread_join(thread, NULL);
        make_units((void *)0);
        raise(SIGKILL);
    }
    hits_need(waitpid(child, &status, 0) == child && WIFSIGNALED(status), "a dead program");
    death_snapshot_init();
    death_save();
}

static const struct run runs[] = {
    {"program", DEATH_ALL, NULL, death_clean, start_program, judge_any},
    {"csv", DEATH_HIT, NULL, death_clean, start_csv, judge_csv},
    {"recover", DEATH_ALL, prepare_dead, death_restore, start_recover, judge_all},
    {"record", DEATH_ALL, NULL, death_clean, start_record, judge_all},
    {"record_killed", DEATH_ALL, NULL, death_clean, start_record_killed, judge_all},
};

static int run_all(const struct run *run, uint64_t stride)
{
    struct death_tally tally = {0};
    uint64_t faults = 0, last = 1 + death_random() % stride;
    int is_killed = 1;

    memset(death_truth, 0, sizeof *death_truth);
    death_truth->kinds = run->kinds;
    if (run->prepare != NULL)
        run->prepare();
    for (; is_killed && faults == 0 && last < STOPS_MAX; last += stride) {
        run->restore();
        if (run->prepare == NULL)
            memset(death_truth->thread, 0, sizeof death_truth->thread);
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            hits_need(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0, "PTRACE_TRACEME");
            raise(SIGSTOP);
            run->start();
        }
        is_killed = kill_at(child, last);
        faults = run->verify(&tally);
    }
    if (faults > 0)
        printf("FAILED at stop %llu\n", (unsigned long long)(last - stride));
    printf("calls of ");
    death_print(run->name, &tally);
    return faults > 0;
}

int death_calls_main(int argc, char **argv)
{
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    hits_need(argc > 4 && length > 0, "arguments");
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    death_seed(hits_argument(argc, argv, 4, 1));
    tool = argc > 5 ? argv[5] : "probity";
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        if (strcmp(runs[i].name, argv[2]) == 0)
            return run_all(&runs[i], hits_argument(argc, argv, 3, 1));
    }
    return 2;
}
