/* SPDX-License-Identifier: MIT
 *
 * random.c: kills a program with several threads at a random moment, round after round, and whole
 * groups of processes.
 *
 *     death random KILLS SEED [TOOL]    TOOL: some rounds run under `TOOL record`, which is killed,
 * too
 *     death life VARIETY                the program itself, recording as set by its environment
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "death/death.h"
#include "programs/hits.h"

enum { READ_ONLY_ROUNDS = 3, RECORD_EVERY = 200, CHILD_THREAD = DEATH_THREADS - 1 };

struct variety {
    uint32_t kinds, threads;
    int has_child;      /* a forked child records, too */
    int ends;           /* the program soon exits without being killed */
    uint32_t signal_us; /* interval between signals to a thread, or 0 */
    uint32_t life_us;   /* longest time until it is killed */
    struct death_setting setting;
};

static const struct variety varieties[] = {
    {DEATH_HIT, 2, 0, 0, 0, 1000, {.spool_records = 4096}},
    {DEATH_ALL, 3, 0, 0, 0, 1500, {.spool_records = 4096, .cpu_time = 1}},
    {DEATH_HIT | DEATH_TYPED, 2, 0, 0, 0, 1000, {.spool_records = 8192}},
    {DEATH_SCOPE | DEATH_PLAIN | DEATH_MESSAGE, 3, 0, 0, 0, 1500, {.spool_records = 4096}},
    {DEATH_SCOPE | DEATH_PLAIN, 3, 0, 0, 0, 1500, {.profile = 1, .cpu_time = 1}},
    {DEATH_ALL, 2, 0, 0, 100, 2000, {.spool_records = 8192, .cpu_time = 1}},
    {DEATH_ALL, 2, 1, 0, 0, 3000, {.spool_records = 4096}},
    {DEATH_ALL, 3, 0, 1, 0, 2500, {.spool_records = 8192, .cpu_time = 1}},
    {DEATH_HIT | DEATH_WIDE, 8, 0, 0, 0, 3000, {.spool_records = 4096}},
};
enum { VARIETIES = sizeof varieties / sizeof *varieties, UNITS_TO_END = 60 };

/* ---- The program --------------------------------------------------------------------------------
 */

static const struct variety *variety;

static void interrupt_me(int number, uint32_t every_us)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number};
    struct itimerspec every = {{0, every_us * 1000L}, {0, every_us * 1000L}};
    timer_t timer;

    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    hits_need(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "timer_create");
    timer_settime(timer, 0, &every, NULL);
}

static void *work(void *argument)
{
    uint32_t number = (uint32_t)(uintptr_t)argument;

    death_be(number);
    if (variety->signal_us > 0) {
        interrupt_me(SIGUSR1, variety->signal_us);
        interrupt_me(SIGUSR2, variety->signal_us * 3 / 4);
    }
    for (uint32_t i = 0; !variety->ends || i < UNITS_TO_END; i++) {
        death_unit(number);
        __atomic_store_n(&death_truth->ready, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void live(void)
{
    pthread_t thread[DEATH_THREADS];

    death_handle_signals();
    for (uintptr_t i = 0; i < variety->threads; i++)
        hits_need(pthread_create(&thread[i], NULL, work, (void *)i) == 0, "thread");
    if (variety->has_child && fork() == 0)
        work((void *)(uintptr_t)CHILD_THREAD);
    for (uint32_t i = 0; i < variety->threads; i++)
        pthread_join(thread[i], NULL);
    if (getenv("DEATH_END") != NULL)
        raise(SIGKILL);
    exit(0);
}

static void truth_begin(const struct variety *which)
{
    memset(death_truth, 0, sizeof *death_truth);
    death_truth->kinds = which->kinds;
    death_truth->is_profile = (uint32_t)which->setting.profile;
}

int death_life_main(int argc, char **argv)
{
    hits_need(argc > 2 && strcmp(argv[1], "life") == 0, "arguments");
    variety = &varieties[strtoul(argv[2], NULL, 10) % VARIETIES];
    live();
    return 0;
}

/* ---- The killer ---------------------------------------------------------------------------------
 */

static pid_t start(const char *tool, uint32_t number)
{
    char name[12], self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    self[length > 0 ? length : 0] = 0;
    fflush(stdout);
    pid_t child = fork();

    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    if (tool == NULL) {
        death_start(&varieties[number].setting);
        live();
    }
    snprintf(name, sizeof name, "%u", number);
    setenv("PROBITY_SPOOL_RECORDS", "8192", 1);
    setenv("PROBITY_CHUNK_RECORDS", "512", 1);
    setenv("PROBITY_PROFILE", varieties[number].setting.profile ? "1" : "0", 1);
    execl(tool, tool, "record", "-o", "trace", "--", self, "life", name, (char *)NULL);
    _exit(127);
}

static void sleep_ns(uint64_t ns)
{
    struct timespec wait = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

    nanosleep(&wait, NULL);
}

static void kill_group(pid_t child)
{
    int status;

    kill(-child, SIGKILL);
    kill(child, SIGKILL); /* it may not have created its group yet */
    while (waitpid(-1, &status, 0) > 0) /* orphans are reparented to this process */
        ;
}

/* Kills the program at a random time, after its first unit or after its start. Returns whether it
 * made its first unit, if it was required to. */
static int start_and_kill(const char *tool, uint32_t number)
{
    int from_start = death_random() % 8 == 0, status;
    pid_t child = start(tool, number);

    for (int tries = 0; !from_start && tries < 100000; tries++) {
        if (__atomic_load_n(&death_truth->ready, __ATOMIC_RELAXED) ||
            waitpid(child, &status, WNOHANG) == child)
            break;
        sleep_ns(50000);
    }
    sleep_ns(death_random() % ((uint64_t)varieties[number].life_us * 1000));
    kill_group(child);
    return from_start || death_truth->ready;
}

int death_random_main(int argc, char **argv)
{
    uint64_t kills = hits_argument(argc, argv, 2, 100), seed = hits_argument(argc, argv, 3, 1);
    uint64_t faults = 0;
    struct death_tally tally = {0};

    death_seed(seed);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (uint64_t round = 0; round < kills && faults == 0; round++) {
        uint32_t number = (uint32_t)(round % VARIETIES);
        const char *tool = argc > 4 && round % RECORD_EVERY == RECORD_EVERY - 1 ? argv[4] : NULL;
        variety = &varieties[number];
        death_clean();
        truth_begin(variety);
        if (!start_and_kill(tool, number)) {
            tally.unclean++;
            faults = 1;
        } else if (death_random() % (READ_ONLY_ROUNDS + 1) == 0) {
            faults = death_verify(&tally, 0);
        } else {
            tally.deaths++;
            faults = death_verify_read(&tally, 0);
        }
        if (faults > 0)
            printf("FAILED in round %llu, variety %u\n", (unsigned long long)round, number);
    }
    printf("seed %llu: ", (unsigned long long)seed);
    death_print("random kills", &tally);
    return faults > 0;
}
