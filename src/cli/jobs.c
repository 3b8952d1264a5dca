/* SPDX-License-Identifier: MIT
 *
 * jobs.c: the number of threads that read traces. One thread analyzes. A second one, if there is a
 * CPU for it, reads ahead, or the two share all the work (query_lanes.h). There are never more than
 * two.
 */
#include "cli/jobs.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/filter.h"
#include "reader/ahead.h"
#include "reader/run.h"

enum { JOBS_MAX = 1024 };

/* Below this size, starting a thread takes longer than it saves. */
#define SMALL_BYTES (UINT64_C(1) << 20)

/* Number of threads requested for this process; 0: none. */
static size_t requested;

static int parse(const char *text, const char *option)
{
    if (cli_parse_number(text, 1, JOBS_MAX, &requested) == 0)
        return 0;
    fprintf(stderr, "probity: invalid %s '", option);
    cli_put_text(stderr, text);
    fprintf(stderr, "' (1 to %d)\n", JOBS_MAX);
    return -1;
}

int cli_jobs_take(int argc, char **argv)
{
    const char *variable = getenv("PROBITY_JOBS");
    int taken = 0;

    if (variable != NULL && *variable != '\0' && parse(variable, "PROBITY_JOBS") != 0)
        return -1;
    while (taken + 1 < argc && strncmp(argv[taken + 1], "--jobs", 6) == 0) {
        const char *word = argv[taken + 1], *value = word + 7;
        if (word[6] != '=' && word[6] != '\0')
            break;
        taken += word[6] == '=' ? 1 : 2;
        if (word[6] == '\0')
            value = taken < argc ? argv[taken] : NULL;
        if (value == NULL) {
            fputs("probity: option '--jobs' requires an argument\n", stderr);
            return -1;
        }
        if (parse(value, "--jobs") != 0)
            return -1;
    }
    if (taken + 1 < argc)
        return taken;
    fputs("probity: no command after --jobs; see 'probity --help'\n", stderr);
    return -1;
}

static int cpus(void)
{
    cpu_set_t set;

    /* Fails if the machine has more CPUs than the set has bits. */
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 2;
}

int cli_jobs_are_many(void)
{
    return requested > 1 || (requested == 0 && cpus() > 1);
}

void cli_jobs_use(struct probity_reader_options *options)
{
    options->runs = &probity_run_steps;
    if (!cli_jobs_are_many())
        return;
    options->ahead = &probity_ahead_steps;
    options->ahead_bytes_min = requested == 0 ? SMALL_BYTES : 0;
}
