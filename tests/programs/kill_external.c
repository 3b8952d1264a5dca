/* SPDX-License-Identifier: MIT
 *
 * kill_external.c: kills victim.c, which has no writer thread (PROBITY_WRITER=external), and the
 * processes that drain its spool, at random moments and in every order. Compares the trace with the
 * victim's counts, before recovery and after it. Prints the numbers of kills and hits; exit status
 * 1 at the first error.
 *
 *     kill_external TOOL VICTIM ROUNDS SEED    in an empty working directory
 */
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "programs/shared_memory.h"
#include "programs/victim.h"

enum { THREADS = 2, DELAY_US = 8000 };

/* The steps of a round, one letter each, with random pauses in between. */
static const char *const orders[] = {
    "DV",     /* the victim is killed, its drainer closes the trace */
    "DKV",    /* the drainer, then the victim */
    "DVK",    /* the victim, then the drainer, which is perhaps closing the trace */
    "DKDKDV", /* several drainers; the last one closes the trace */
    "V",      /* no drainer */
};

enum { ORDERS = sizeof orders / sizeof *orders };

struct round {
    int number;
    pid_t victim, drainer; /* 0: not running */
};

static const char *tool;
static struct victim_truth *truth;
static uint64_t counted, found, dropped_in_all;
static int drainers_killed, closed_by_drainer;

static void fail(const struct round *round, const char *what, uint64_t expected, uint64_t got)
{
    fprintf(stderr, "round %d, %s: %s: expected %llu, found %llu\n", round->number,
            orders[round->number % ORDERS], what, (unsigned long long)expected,
            (unsigned long long)got);
    exit(1);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void pass_time(void)
{
    uint64_t until = now_ns() + (uint64_t)(rand() % (DELAY_US * 1000));

    while (now_ns() < until)
        ;
}

/* ---- Steps -------------------------------------------------------------------------------------
 */

static void start_victim(struct round *round, char *victim)
{
    static const char *const spools[] = {"4096", "16384", "131072"};
    char file[32];
    int status;

    round->victim = fork();
    if (round->victim == 0) {
        snprintf(file, sizeof file, "/proc/self/fd/%s", getenv(SHARED_MEMORY_VARIABLE));
        setenv("PROBITY_OUT", "trace", 1);
        setenv("PROBITY_WRITER", "external", 1);
        setenv("PROBITY_CHUNK_RECORDS", "512", 1);
        setenv("PROBITY_SPOOL_RECORDS", spools[round->number / ORDERS % 3], 1);
        execl(victim, victim, file, "2", "0", (char *)NULL);
        _exit(127);
    }
    while (__atomic_load_n(&truth[0].hits, __ATOMIC_ACQUIRE) == 0) {
        if (waitpid(round->victim, &status, WNOHANG) == round->victim)
            fail(round, "status of a victim that was not killed", 0, (uint64_t)status);
    }
}

static off_t trace_bytes(void)
{
    struct stat status;

    return stat("trace", &status) == 0 ? status.st_size : 0;
}

/* Returns whether the drainer, with its child, is running; if not, *ret_status is its status. */
static int is_draining(struct round *round, int *ret_status)
{
    if (round->drainer == 0 || waitpid(round->drainer, ret_status, WNOHANG) != round->drainer)
        return round->drainer != 0;
    round->drainer = 0;
    return 0;
}

/* Returns when the drainer has written something, or has ended. */
static void start_drainer(struct round *round)
{
    off_t before = trace_bytes();
    int status;

    round->drainer = fork();
    if (round->drainer == 0) {
        setpgid(0, 0);
        if (freopen("drain.log", "a", stderr) == NULL)
            _exit(127);
        execl(tool, tool, "drain", "trace", (char *)NULL);
        _exit(127);
    }
    setpgid(round->drainer, round->drainer);
    while (trace_bytes() == before && is_draining(round, &status))
        usleep(200);
}

/* The started process has a child, which this process inherits. Neither may survive, since it would
 * hold the spool's lock. */
static void kill_drainer(struct round *round)
{
    pid_t group = round->drainer;
    int status;

    if (!is_draining(round, &status))
        return;
    kill(-group, SIGKILL);
    while (waitpid(-group, &status, 0) > 0 || errno == EINTR)
        ;
    round->drainer = 0;
    drainers_killed++;
}

static void kill_victim(struct round *round)
{
    int status;

    kill(round->victim, SIGKILL);
    if (waitpid(round->victim, &status, 0) != round->victim || !WIFSIGNALED(status))
        fail(round, "status of the victim", SIGKILL, (uint64_t)status);
}

static void run_steps(struct round *round)
{
    int status;

    for (const char *step = orders[round->number % ORDERS]; *step != 0; step++) {
        if (*step == 'D')
            start_drainer(round);
        else if (*step == 'K')
            kill_drainer(round);
        else
            kill_victim(round);
        pass_time();
    }
    if (round->drainer == 0)
        return;
    waitpid(round->drainer, &status, 0);
    closed_by_drainer++;
    if (status != 0)
        fail(round, "status of the drainer", 0, (uint64_t)status);
}

/* ---- Comparison --------------------------------------------------------------------------------
 */

static FILE *open_command(const char *arguments)
{
    char command[4096];

    snprintf(command, sizeof command, "'%s' %s 2> errors", tool, arguments);
    return popen(command, "r");
}

/* Returns the number of records that did not fit into the spool after the victim had waited two
 * seconds for a drainer. */
static uint64_t count_dropped(void)
{
    FILE *info = open_command("info --json trace");
    char line[256];
    uint64_t count = 0;

    while (info != NULL && fgets(line, sizeof line, info) != NULL) {
        if (strstr(line, "\"dropped_") != NULL)
            count += strtoull(strchr(line, ':') + 1, NULL, 10);
    }
    if (info != NULL)
        pclose(info);
    return count;
}

/* Checks that each thread's hits are in order and, unless some were dropped, without gaps, and that
 * there are as many as it counted, or one more. The dropped records may include some that are not
 * hits. Returns the number of hits. */
static uint64_t compare(struct round *round, uint64_t dropped)
{
    uint64_t next[THREADS] = {0}, got = 0, least = truth[0].hits + truth[1].hits;
    uint64_t others = dropped > 0 ? THREADS + dropped / 1000 : 0;
    char line[64];
    FILE *csv = open_command("csv --columns probe trace");

    while (csv != NULL && fgets(line, sizeof line, csv) != NULL) {
        uint64_t id = strtoull(line, NULL, 10), stream = id >> HITS_SEQUENCE_BITS;
        if (stream >= THREADS)
            fail(round, "stream", THREADS - 1, stream);
        uint64_t ahead = ((id & HITS_SEQUENCE_MASK) - next[stream]) & HITS_SEQUENCE_MASK;
        if (ahead > dropped)
            fail(round, "position in stream", next[stream] & HITS_SEQUENCE_MASK,
                 id & HITS_SEQUENCE_MASK);
        next[stream] += ahead + 1;
        got++;
    }
    int status = csv != NULL ? pclose(csv) : -1;
    if (status != 0 && status != 3 << 8)
        fail(round, "status of csv", 0, (uint64_t)status);
    if (got + dropped < least || got + dropped > least + THREADS + others)
        fail(round, "hits and dropped hits", least, got + dropped);
    for (int i = 0; i < THREADS; i++) {
        if (next[i] > truth[i].hits + 1 || next[i] + dropped < truth[i].hits)
            fail(round, "hits of a thread", truth[i].hits, next[i]);
    }
    return got;
}

static void check(struct round *round)
{
    uint64_t dropped = count_dropped(), got = compare(round, dropped);
    char command[4096];

    snprintf(command, sizeof command,
             "'%s' recover trace > /dev/null 2> errors; '%s' check trace > checked 2>&1 && "
             "'%s' info trace | grep -q '^state *closed' && "
             "[ -z \"$(ls -A \"$PROBITY_SPOOL_DIR\")\" ]", tool, tool, tool);
    int status = system(command);
    if (status != 0)
        fail(round, "a whole, closed trace without a spool", 0, (uint64_t)status);
    uint64_t again = compare(round, count_dropped());
    if (again != got)
        fail(round, "hits after recovery", got, again);
    counted += truth[0].hits + truth[1].hits;
    found += got;
    dropped_in_all += dropped;
}

int main(int argc, char **argv)
{
    int rounds = (int)hits_argument(argc, argv, 3, 10);

    truth = shared_memory(VICTIM_TRUTH_BYTES);
    hits_need(argc > 2 && truth != NULL, "shared memory");
    hits_need(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0, "PR_SET_CHILD_SUBREAPER");
    tool = argv[1];
    srand((unsigned)hits_argument(argc, argv, 4, 1));
    for (int number = 0; number < rounds; number++) {
        struct round round = {.number = number};
        memset(truth, 0, VICTIM_TRUTH_BYTES);
        start_victim(&round, argv[2]);
        pass_time();
        run_steps(&round);
        check(&round);
        if (remove("trace") != 0)
            return 1;
    }
    printf("%d programs and %d drainers killed, %d traces closed by a drainer: "
           "%llu hits counted, %llu found, %llu dropped\n", rounds, drainers_killed,
           closed_by_drainer, (unsigned long long)counted, (unsigned long long)found,
           (unsigned long long)dropped_in_all);
    return 0;
}
