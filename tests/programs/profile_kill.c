/* SPDX-License-Identifier: MIT
 *
 * profile_kill.c: kills profile.c at a random moment, round after round. The report must contain
 * all calls that threads had counted as returned, and at most one more per function and thread.
 *
 *     profile_kill TOOL VICTIM ROUNDS SEED    in an empty working directory
 */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "programs/profile.h"
#include "programs/shared_memory.h"

static struct profile_truth *truth;
static uint64_t counted, found;

static void start_and_kill(const char *victim, uint32_t threads)
{
    char count[12];
    int status;
    pid_t child = fork();

    if (child == 0) {
        snprintf(count, sizeof count, "%u", threads);
        execl(victim, victim, "victim", count, (char *)NULL);
        _exit(127);
    }
    while (__atomic_load_n(&truth->calls[0][PROFILE_LEAF], __ATOMIC_ACQUIRE) == 0)
        profile_need(waitpid(child, &status, WNOHANG) == 0, "the victim is alive");
    struct timespec wait = {0, rand() % 20000000};
    nanosleep(&wait, NULL);
    kill(child, SIGKILL);
    profile_need(waitpid(child, &status, 0) == child && WIFSIGNALED(status), "the victim is dead");
}

/* Compares the count of a function's calls with those in the report by thread. */
static void compare(const char *name, uint32_t function, uint64_t got, uint32_t threads)
{
    uint64_t least = 0;

    for (uint32_t i = 0; i < threads; i++)
        least += truth->calls[i][function];
    if (got < least || got > least + threads) {
        fprintf(stderr, "%s: %llu returned in %u threads, %llu reported\n", name,
                (unsigned long long)least, threads, (unsigned long long)got);
        exit(1);
    }
    counted += least;
    found += got;
}

/* Returns how many of the calls on a report line have returned. */
static uint64_t ended(const char *calls)
{
    const char *open = strstr(calls, "\"calls_open\": ");

    profile_need(open != NULL, "the report has calls in progress");
    return strtoull(calls + 9, NULL, 10) - strtoull(open + 14, NULL, 10);
}

static void check(const char *tool, uint32_t threads)
{
    char command[4096], line[8192];
    uint32_t seen = 0;

    snprintf(command, sizeof command, "'%s' report --json trace 2> errors", tool);
    FILE *report = popen(command, "r");
    profile_need(report != NULL, "popen");
    while (fgets(line, sizeof line, report) != NULL) {
        const char *calls = strstr(line, "\"calls\": ");
        for (uint32_t f = 0; calls != NULL && f < PROFILE_FUNCTIONS; f++) {
            char wanted[64];
            snprintf(wanted, sizeof wanted, "{\"name\": \"%s\"", profile_names[f]);
            if (strstr(line, wanted) != line)
                continue;
            compare(profile_names[f], f, ended(calls), threads);
            seen++;
        }
    }
    profile_need(pclose(report) >= 0 && seen == PROFILE_FUNCTIONS, "all functions are reported");
}

int main(int argc, char **argv)
{
    truth = shared_memory(sizeof *truth);
    profile_need(argc > 4 && truth != NULL, "shared memory");
    setenv("PROBITY_OUT", "trace", 1);
    setenv("PROBITY_PROFILE", "1", 1);
    srand((unsigned)strtoul(argv[4], NULL, 10));
    int rounds = (int)strtol(argv[3], NULL, 10);
    for (int round = 0; round < rounds; round++) {
        uint32_t threads = (uint32_t[]){1, 2, 8}[round % 3];
        memset(truth, 0, sizeof *truth);
        start_and_kill(argv[2], threads);
        check(argv[1], threads);
        profile_need(system("rm -f trace \"$PROBITY_SPOOL_DIR\"/*") == 0, "rm");
    }
    printf("%d kills: %llu calls counted, %llu found\n", rounds, (unsigned long long)counted,
           (unsigned long long)found);
    return 0;
}
