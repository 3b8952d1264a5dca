/* SPDX-License-Identifier: MIT
 *
 * sched.c: messages and names for src/sched/. Failures are reported, and do not affect the program
 * or the status.
 */
#include "cli/sched.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array_grow.h"
#include "cli/companion.h"
#include "probity.h"
#include "reader/file.h"
#include "sched/sched.h"

/* ---- Recording ---------------------------------------------------------------------------------
 */

/* Returns -1000 if it cannot be read. */
static int paranoid_level(void)
{
    FILE *stream = fopen("/proc/sys/kernel/perf_event_paranoid", "r");
    int level = -1000;

    if (stream != NULL && fscanf(stream, "%d", &level) != 1)
        level = -1000;
    if (stream != NULL)
        fclose(stream);
    return level;
}

static void report_failure(const struct cli_sched *sched, int error_number)
{
    int level = paranoid_level();

    if (error_number == EACCES || error_number == EPERM)
        cli_warn(sched->command, "thread states are not recorded: the kernel does not permit "
                 "perf events (kernel.perf_event_paranoid is %d; 2 or less, or CAP_PERFMON, is "
                 "required)", level);
    else if (error_number == ENOSYS || error_number == ENOENT || error_number == EOPNOTSUPP)
        cli_warn(sched->command, "thread states are not recorded: the kernel has no perf "
                 "events, or a system call filter hides them");
    else
        cli_warn(sched->command, "thread states are not recorded: %s", strerror(error_number));
}

void cli_sched_prepare(void *context, pid_t pid)
{
    struct cli_sched *sched = context;
    size_t kib = sched->ring_kib != 0 ? sched->ring_kib : PROBITY_SCHED_RING_KIB;
    const struct probity_sched_limits limits = {
        .ring_bytes = kib << 10, .share = sched->share,
        .keep_bytes = sched->is_ring ? (size_t)PROBITY_SCHED_KEEP_MIB << 20 : 0};
    int wakings = 0;

    if (probity_sched_begin(pid, sched->near, &limits, &sched->sched, &wakings) != 0)
        report_failure(sched, errno);
    else if (wakings == EXDEV)
        cli_warn(sched->command, "wakings are not recorded, so the time waiting for a CPU will be "
                 "a lower bound: outside the machine's first process-id namespace, as in a "
                 "container, the kernel does not identify the threads");
    else if (wakings != 0)
        cli_warn(sched->command, "wakings are not recorded, so the time waiting for a CPU will be "
                 "a lower bound: they require CAP_PERFMON and a mounted tracefs (%s)",
                 strerror(wakings));
}

void cli_sched_end(struct cli_sched *sched)
{
    if (sched->sched != NULL)
        probity_sched_end(sched->sched);
}

void cli_sched_add(struct cli_sched *sched, const char *path)
{
    char **paths = probity_array_append(sched->paths, sizeof *paths, sched->path_count);
    char *copy = strdup(path);

    if (paths != NULL)
        sched->paths = paths;
    if (paths == NULL || copy == NULL) {
        free(copy);
        return;
    }
    sched->paths[sched->path_count++] = copy;
}

static void write_files(const struct cli_sched *sched)
{
    struct probity_sched_result result;
    int error = probity_sched_write(sched->sched, (const char *const *)sched->paths,
                                    sched->path_count, &result);

    if (error == PROBITY_ERROR_MEMORY)
        cli_warn(sched->command, "thread states: %s", probity_error_text(error));
    else if (error != 0)
        cli_warn(sched->command, "cannot write '%s" PROBITY_SCHED_SUFFIX "': %s",
                 sched->path_count > 0 ? sched->paths[result.failed] : "", strerror(errno));
    if (error == 0 && result.cut_errno != 0)
        cli_warn(sched->command, "recording of thread states ended early: %s",
                 strerror(result.cut_errno));
    if (error == 0 && result.wakings_ns > 0)
        cli_warn(sched->command, "wakings were recorded for the first %.3g s only, to keep within "
                 "the budget: later, the time waiting for a CPU is a lower bound",
                 (double)result.wakings_ns / 1e9);
    if (error == 0 && result.pauses > 0)
        cli_warn(sched->command, "thread states were recorded %.3g %% of the time, to keep "
                 "within the budget",
                 100 - 100 * (double)result.paused_ns / (double)result.recorded_ns);
    if (error == 0 && result.lost > 0)
        cli_warn(sched->command, "the kernel dropped %" PRIu64 " scheduler records: states around "
                 "them are unknown; see --sched-ring", result.lost);
}

void cli_sched_conclude(struct cli_sched *sched)
{
    if (sched->sched != NULL) {
        if (sched->path_count > 0)
            write_files(sched);
        probity_sched_release(sched->sched);
    }
    for (size_t i = 0; i < sched->path_count; i++)
        free(sched->paths[i]);
    free(sched->paths);
    sched->sched = NULL;
    sched->paths = NULL;
    sched->path_count = 0;
}

/* ---- Reading -----------------------------------------------------------------------------------
 */

static int open_sched(void *context, const char *path, const struct probity_range *trace,
                      struct probity_range *ret_range)
{
    (void)context;
    return cli_companion_open(path, PROBITY_SCHED_SUFFIX, trace, ret_range);
}

void cli_sched_use(struct probity_reader_options *options)
{
    options->open_sched = open_sched;
}
