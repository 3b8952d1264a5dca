/* SPDX-License-Identifier: MIT
 *
 * kill_rounds.c: kills victim.c at a random moment, round after round, and compares the tool's
 * counts with the victim's. Prints the numbers of kills, counted hits and hits found; exit status 1
 * at the first error.
 *
 *     kill_rounds TOOL VICTIM ROUNDS SEED    in an empty working directory
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "programs/shared_memory.h"
#include "programs/victim.h"

/* A round's parameters, chosen so that kills hit different parts of the writer and the record
 * path. */
struct variety {
    const char *chunk_records, *spool_records, *stream, *pause, *cpu_time;
    uint32_t threads, delay_us_max;
};

static const struct variety varieties[] = {
    {"4096", "524288", "0", "0", "1", 2, 3000},    /* tight loops */
    {"512", "4096", "0", "0", "1", 2, 3000},       /* frequent chunk changes, threads wait */
    {"512", "8192", "100", "0", "0", 3, 3000},     /* wide ids, no CPU time */
    {"512", "4096", "4", "1000", "1", 1, 2000},    /* a gap at every probe */
    {"512", "65536", "0", "50", "1", 8, 30000},    /* more threads than cores, several passes */
};

enum { VARIETIES = sizeof varieties / sizeof *varieties };

static struct victim_truth *truth;
static uint64_t counted, found;

static void fail(const char *what, int round, uint64_t expected, uint64_t got)
{
    fprintf(stderr, "round %d: %s: expected %llu, found %llu\n", round, what,
            (unsigned long long)expected, (unsigned long long)got);
    exit(1);
}

static pid_t start(char *victim, const struct variety *variety)
{
    char threads[12], file[32];
    pid_t child = fork();

    if (child != 0)
        return child;
    snprintf(threads, sizeof threads, "%u", variety->threads);
    snprintf(file, sizeof file, "/proc/self/fd/%s", getenv(SHARED_MEMORY_VARIABLE));
    setenv("PROBITY_OUT", "trace", 1);
    setenv("PROBITY_CHUNK_RECORDS", variety->chunk_records, 1);
    setenv("PROBITY_SPOOL_RECORDS", variety->spool_records, 1);
    setenv("PROBITY_CPU_TIME", variety->cpu_time, 1);
    execl(victim, victim, file, threads, variety->stream, variety->pause, (char *)NULL);
    _exit(127);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Kills the child a random time after its first counted hit. */
static void kill_it(pid_t child, const struct variety *variety, int round)
{
    int status;

    while (__atomic_load_n(&truth[0].hits, __ATOMIC_ACQUIRE) == 0) {
        if (waitpid(child, &status, WNOHANG) == child)
            fail("status of a victim that was not killed", round, 0, (uint64_t)status);
    }
    uint64_t until = now_ns() + (uint64_t)(rand() % (int)(variety->delay_us_max * 1000));
    while (now_ns() < until)
        ;
    kill(child, SIGKILL);
    if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status))
        fail("status of the victim", round, SIGKILL, (uint64_t)status);
}

/* Checks that each stream is a sequence without gaps, as long as the victim's count or one hit
 * longer. */
static void compare(FILE *csv, const struct variety *variety, int round)
{
    uint64_t got[VICTIM_THREADS_MAX] = {0}, first = strtoull(variety->stream, NULL, 10);
    char line[256];

    while (fgets(line, sizeof line, csv) != NULL) {
        const char *at = strchr(line, ',');
        at = at != NULL ? strchr(at + 1, ',') : NULL;
        uint64_t id = strtoull(at != NULL ? at + 1 : "", NULL, 10);
        uint64_t stream = (id >> HITS_SEQUENCE_BITS) - first;
        if (stream >= variety->threads)
            fail("stream", round, variety->threads, stream);
        if ((id & HITS_SEQUENCE_MASK) != (got[stream] & HITS_SEQUENCE_MASK))
            fail("position in stream", round, got[stream] & HITS_SEQUENCE_MASK,
                 id & HITS_SEQUENCE_MASK);
        got[stream]++;
    }
    for (uint32_t i = 0; i < variety->threads; i++) {
        if (got[i] != truth[i].hits && got[i] != truth[i].hits + 1)
            fail("hits of a thread", round, truth[i].hits, got[i]);
        counted += truth[i].hits;
        found += got[i];
    }
}

static void check(const char *tool, const struct variety *variety, int round)
{
    char command[4096];

    snprintf(command, sizeof command, "'%s' csv trace 2> errors", tool);
    FILE *csv = popen(command, "r");
    if (csv == NULL)
        fail("popen", round, 1, 0);
    compare(csv, variety, round);
    /* Status 3 (incomplete) is correct for a killed program's trace. */
    int status = pclose(csv);
    if (status != 0 && status != 3 << 8)
        fail("status of csv", round, 0, (uint64_t)status);
}

int main(int argc, char **argv)
{
    int rounds = (int)hits_argument(argc, argv, 3, 10);

    truth = shared_memory(VICTIM_TRUTH_BYTES);
    hits_need(argc > 2 && truth != NULL, "shared memory");
    srand((unsigned)hits_argument(argc, argv, 4, 1));
    for (int round = 0; round < rounds; round++) {
        const struct variety *variety = &varieties[round % VARIETIES];
        memset(truth, 0, VICTIM_TRUTH_BYTES);
        pid_t child = start(argv[2], variety);
        kill_it(child, variety, round);
        check(argv[1], variety, round);
        if (system("rm -f trace \"$PROBITY_SPOOL_DIR\"/*") != 0)
            return 1;
    }
    printf("%d kills: %llu hits counted, %llu found\n", rounds, (unsigned long long)counted,
           (unsigned long long)found);
    return 0;
}
