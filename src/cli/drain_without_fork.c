/* SPDX-License-Identifier: MIT
 *
 * drain_without_fork.c: replaces drain_processes.c if the tool is built with
 * -DPROBITY_WITHOUT_FORK: one thread drains all traces in turn. For `record`, this is a second
 * thread of the tool, the only one that prints while the program runs. Nothing wakes it, so it
 * checks often.
 */
#include "cli/drain_traces.h"

#ifdef PROBITY_WITHOUT_FORK

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array_grow.h"

enum { PASS_MS = 2 };

struct drain_trace {
    char *path;
    struct probity_drainer *drainer; /* NULL: the program has ended, and the trace is completed */
};

struct cli_drain {
    struct drain_follow follow;
    const char *pattern;
    pthread_t thread;
    int is_last; /* no more traces can appear */
};

void drain_hand_over(struct drain_follow *follow, const char *path,
                     struct probity_drainer *drainer)
{
    struct drain_trace *traces = probity_array_append(follow->traces, sizeof *traces,
                                                      follow->count);
    char *copy = strdup(path);

    if (traces != NULL)
        follow->traces = traces;
    if (traces == NULL || copy == NULL) {
        free(copy);
        probity_drainer_close(drainer);
        follow->status = cli_fail_trace(follow->command, path, PROBITY_ERROR_MEMORY, ENOMEM);
        return;
    }
    traces[follow->count++] = (struct drain_trace){copy, drainer};
}

static void pass(struct drain_follow *follow)
{
    for (size_t i = 0; i < follow->count;) {
        struct drain_trace *trace = &follow->traces[i];
        int status;
        if (!drain_advance(follow->command, trace->path, &trace->drainer, &status)) {
            i++;
            continue;
        }
        follow->status = status != CLI_OK ? status : follow->status;
        free(trace->path);
        *trace = follow->traces[--follow->count];
    }
    if (follow->count == 0) {
        free(follow->traces);
        follow->traces = NULL;
    }
}

static void rest(void)
{
    const struct timespec moment = {0, PASS_MS * 1000000};

    nanosleep(&moment, NULL);
}

void drain_proceed(struct drain_follow *follow)
{
    pass(follow);
    for (int i = 0; i < DRAIN_LOOK_MS / PASS_MS && (follow->count > 0 || follow->watches); i++) {
        rest();
        pass(follow);
    }
}

/* ---- For `record` ------------------------------------------------------------------------------
 */

static void *follow_pattern(void *context)
{
    struct cli_drain *drain = context;
    int is_last;

    do {
        /* Acquire: pairs with cli_drain_end(). */
        is_last = __atomic_load_n(&drain->is_last, __ATOMIC_ACQUIRE);
        drain_consider_pattern(&drain->follow, drain->pattern);
        drain_proceed(&drain->follow);
        if (!is_last)
            rest();
    } while (!is_last || drain->follow.count > 0);
    drain_release(&drain->follow);
    return NULL;
}

int cli_drain_begin(const struct cli_command *command, const char *pattern, uint64_t start_ns,
                    struct cli_drain **ret_drain)
{
    struct cli_drain *drain = calloc(1, sizeof *drain);
    int error = drain == NULL ? ENOMEM : 0;

    if (error == 0) {
        drain->follow = (struct drain_follow){.command = command, .start_ns = start_ns};
        drain->pattern = pattern;
        error = pthread_create(&drain->thread, NULL, follow_pattern, drain);
    }
    if (error != 0) {
        free(drain);
        return cli_fail(command, "cannot create a thread: %s", strerror(error));
    }
    *ret_drain = drain;
    return CLI_OK;
}

void cli_drain_end(struct cli_drain *drain)
{
    if (drain == NULL)
        return;
    /* Release: publishes that the program has ended. */
    __atomic_store_n(&drain->is_last, 1, __ATOMIC_RELEASE);
    pthread_join(drain->thread, NULL);
    free(drain);
}

#endif
