/* SPDX-License-Identifier: MIT
 *
 * kill_scopes.c: runs itself as a victim, and kills it at a random moment inside nested functions
 * with values in several threads, round after round. The victim counts in memory that outlives it:
 * the log must contain each enter, message and return that it counted, by number, and at most one
 * more in each thread.
 *
 *     kill_scopes TOOL ROUNDS SEED    in an empty working directory
 */
#define FN_INSTRUMENT
#include <FnTrace.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "programs/hits.h"
#include "programs/shared_memory.h"

enum { THREADS = 3, DEPTH = 12, KINDS = 3, TRUTH_BYTES = 4096 };

/* A cache line for each thread. counts: enters, messages, returns. */
struct truth {
    uint64_t tid, counts[KINDS], unused[4];
};

static struct truth *truth;
static const char *text;

static void count(struct truth *mine, int kind)
{
    __atomic_store_n(&mine->counts[kind], mine->counts[kind] + 1, __ATOMIC_RELEASE);
}

static uint64_t nest(struct truth *mine, uint64_t *number, uint32_t depth)
{
    uint64_t enter = *number, result = 0;
    FN_FUNC_PARAMS(uint64_t, result, FN_1, 3, enter, depth, text);

    count(mine, 0);
    FN_OUTPUT("message ", enter, " of depth ", depth);
    count(mine, 1);
    (*number)++;
    if (depth < DEPTH) {
        nest(mine, number, depth + 1);
        count(mine, 2);
    }
    result = enter;
    return result;
}

static void *work(void *argument)
{
    struct truth *mine = argument;
    uint64_t number = 0;

    mine->tid = (uint64_t)syscall(SYS_gettid);
    for (;;) {
        nest(mine, &number, 1);
        count(mine, 2);
    }
    return NULL;
}

static _Noreturn void be_victim(int has_text)
{
    text = has_text ? "some text" : NULL;
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        hits_need(pthread_create(&thread, NULL, work, &truth[i]) == 0, "thread");
    }
    for (;;)
        pause();
}

static void fail(const char *what, int round, uint64_t expected, uint64_t got)
{
    fprintf(stderr, "round %d: %s: expected %llu, found %llu\n", round, what,
            (unsigned long long)expected, (unsigned long long)got);
    exit(1);
}

static void start_and_kill(char *self, int round)
{
    static char *const records[] = {"512", "4096"};
    int status;
    pid_t child = fork();

    if (child == 0) {
        setenv("PROBITY_OUT", "trace", 1);
        setenv("PROBITY_CHUNK_RECORDS", records[round % 2], 1);
        setenv("PROBITY_SPOOL_RECORDS", "65536", 1);
        setenv("PROBITY_CPU_TIME", round % 3 != 0 ? "1" : "0", 1);
        execl(self, self, "victim", round % 4 == 0 ? "" : "text", (char *)NULL);
        _exit(127);
    }
    while (__atomic_load_n(&truth[0].counts[0], __ATOMIC_ACQUIRE) == 0)
        hits_need(waitpid(child, &status, WNOHANG) == 0, "the victim is alive");
    struct timespec wait = {0, rand() % 1500000};
    nanosleep(&wait, NULL);
    kill(child, SIGKILL);
    hits_need(waitpid(child, &status, 0) == child && WIFSIGNALED(status), "the victim is dead");
}

/* A thread's numbers increase by one from 0; only returns are in a different order. */
static void take(uint64_t found[THREADS][KINDS], const char *line, int round)
{
    static const char *const marks[] = {"enter = ", "message ", "return ("};
    uint64_t tid = strtoull(line, NULL, 10);

    for (int kind = 0; kind < KINDS; kind++) {
        const char *at = strstr(line, marks[kind]);
        for (int i = 0; at != NULL && i < THREADS; i++) {
            if (truth[i].tid != tid)
                continue;
            uint64_t number = strtoull(at + strlen(marks[kind]), NULL, 10);
            if (kind < 2 && number != found[i][kind])
                fail(marks[kind], round, found[i][kind], number);
            found[i][kind]++;
        }
    }
}

static uint64_t check(const char *tool, int round)
{
    uint64_t found[THREADS][KINDS] = {{0}}, sum = 0;
    char command[4096], line[4096];

    snprintf(command, sizeof command, "'%s' log trace 2> errors", tool);
    FILE *log = popen(command, "r");
    hits_need(log != NULL, "popen");
    while (fgets(line, sizeof line, log) != NULL)
        take(found, line, round);
    int status = pclose(log);
    if (status != 0 && status != 3 << 8)
        fail("status of log", round, 0, (uint64_t)status);
    for (int i = 0; i < THREADS; i++) {
        for (int kind = 0; kind < KINDS; kind++) {
            uint64_t least = truth[i].counts[kind], got = found[i][kind];
            if (truth[i].tid != 0 && got != least && got != least + 1)
                fail("records of a thread", round, least, got);
            sum += got;
        }
    }
    return sum;
}

int main(int argc, char **argv)
{
    uint64_t found = 0;

    truth = shared_memory(TRUTH_BYTES);
    hits_need(argc > 2 && truth != NULL, "shared memory");
    if (strcmp(argv[1], "victim") == 0)
        be_victim(argv[2][0] != 0);
    int rounds = (int)hits_argument(argc, argv, 2, 10);
    srand((unsigned)hits_argument(argc, argv, 3, 1));
    for (int round = 0; round < rounds; round++) {
        memset(truth, 0, TRUTH_BYTES);
        start_and_kill(argv[0], round);
        found += check(argv[1], round);
        if (system("rm -f trace \"$PROBITY_SPOOL_DIR\"/*") != 0)
            return 1;
    }
    printf("%d kills in nested functions: %llu records found\n", rounds, (unsigned long long)found);
    return 0;
}
