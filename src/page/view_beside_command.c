/* SPDX-License-Identifier: MIT
 *
 * view_beside_command.c: the second thread reads with its own reader and a copy of the query. It
 * shares only the files with the first, and the page's options.
 */
#include "page/view_beside.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/helper_thread.h"
#include "cli/align.h"
#include "cli/index.h"
#include "cli/jobs.h"
#include "cli/query.h"
#include "probity.h"

struct view_beside {
    struct cli_query answer; /* a copy, because reading changes it */
    struct probity_reader *reader;
    struct probity_timeline *timeline;
    size_t spans_max;
    pthread_t thread;
    int is_running;  /* not joined */
    int is_stopping; /* set by the first thread to end the second one early */
    int error, error_number, is_refined;
    char *spans; /* malloc'ed by open_memstream() */
    size_t spans_bytes;
};

/* ---- The second thread -------------------------------------------------------------------------
 */

static int put_event(void *context, const struct probity_event *event)
{
    struct view_beside *beside = context;

    if (__builtin_expect(__atomic_load_n(&beside->is_stopping, __ATOMIC_RELAXED), 0))
        return PROBITY_ERROR_READ; /* the error is not reported */
    return probity_timeline_put(beside->timeline, event);
}

static int put_run(void *context, const struct probity_run *run)
{
    struct view_beside *beside = context;

    if (__builtin_expect(__atomic_load_n(&beside->is_stopping, __ATOMIC_RELAXED), 0))
        return PROBITY_ERROR_READ; /* the error is not reported */
    return probity_timeline_put_run(beside->timeline, run);
}

static uint64_t count_pending(void *context)
{
    const struct view_beside *beside = context;

    return probity_timeline_pending(beside->timeline);
}

static int make_timeline(struct view_beside *beside)
{
    const struct cli_query_pass pass = {.put = put_event, .pending = count_pending,
                                        .context = beside, .put_run = put_run};
    int error = cli_query_read(&beside->answer, beside->reader, &pass);

    if (error == 0)
        error = probity_timeline_finish(beside->timeline);
    if (error != 0)
        return error;
    const struct probity_timeline_facts facts = probity_timeline_facts(beside->timeline);
    beside->is_refined = facts.together == 0 || facts.spans >= beside->spans_max;
    return beside->is_refined
               ? 0 : probity_timeline_refine_kept(beside->timeline, beside->spans_max - facts.spans,
                                                  &beside->is_refined);
}

/* If out of memory, the first thread writes the spans itself. */
static void make_spans(struct view_beside *beside)
{
    FILE *stream = open_memstream(&beside->spans, &beside->spans_bytes);

    if (stream == NULL)
        return;
    int error = probity_view_spans_element(stream, beside->timeline);
    if (fclose(stream) != 0 || error != 0) {
        free(beside->spans);
        beside->spans = NULL;
    }
}

static void *run(void *context)
{
    struct view_beside *beside = context;

    beside->error = make_timeline(beside);
    beside->error_number = errno;
    if (beside->error == 0 && beside->is_refined)
        make_spans(beside);
    return NULL;
}

/* ---- The first thread --------------------------------------------------------------------------
 */

int view_beside_is_possible(const struct cli_query *answer)
{
    const struct probity_reader *reader = answer->reader;

    if (answer->tids.count > 0 || answer->functions.count > 0 || answer->probes.count > 0 ||
        !probity_reader_has_window(reader) || probity_reader_may_wait(reader))
        return 0;
    for (size_t i = 0; i < probity_reader_traces(reader); i++) {
        if (probity_reader_facts(reader, i)->sched != NULL)
            return 0;
    }
    return 1;
}

static int open_reader(struct view_beside *beside)
{
    const struct probity_reader *first = beside->answer.reader;
    size_t count = probity_reader_traces(first);
    const char **paths = calloc(count, sizeof *paths);
    struct probity_reader_options options = {.runs = &probity_run_steps};

    if (paths == NULL)
        return PROBITY_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++)
        paths[i] = probity_reader_facts(first, i)->path;
    cli_align_use(&options);
    cli_index_share(first, &options);
    int error = probity_reader_open(paths, count, &options, NULL, &beside->reader);
    free(paths);
    return error == 0 ? probity_reader_set_window(beside->reader, beside->answer.begin_ns,
                                                  beside->answer.end_ns)
                      : error;
}

/* A trace may have been replaced, or have grown, between the two times it was opened. */
static int has_same_files(const struct probity_reader *left, const struct probity_reader *right)
{
    size_t count = probity_reader_traces(left);

    if (probity_reader_traces(right) != count)
        return 0;
    for (size_t i = 0; i < count; i++) {
        const struct probity_trace_facts *a = probity_reader_facts(left, i);
        const struct probity_trace_facts *b = probity_reader_facts(right, i);
        if (a->device != b->device || a->inode != b->inode || a->file_bytes != b->file_bytes)
            return 0;
    }
    return 1;
}

struct view_beside *view_beside_start(const struct cli_query *answer, size_t spans_max,
                                      struct probity_timeline *timeline)
{
    /* Nothing has been read with this reader. */
    struct probity_reader *first = (struct probity_reader *)(uintptr_t)answer->reader;
    struct view_beside *beside = calloc(1, sizeof *beside);

    if (beside == NULL)
        return NULL;
    beside->answer = *answer;
    beside->spans_max = spans_max;
    beside->timeline = timeline;
    if (open_reader(beside) < 0 || !probity_reader_has_window(beside->reader) ||
        !has_same_files(first, beside->reader) || !probity_reader_read_alone(first)) {
        view_beside_close(beside);
        return NULL;
    }
    beside->is_running = probity_helper_thread_start(&beside->thread, run, beside) == 0;
    if (!beside->is_running) {
        view_beside_close(beside);
        return NULL;
    }
    return beside;
}

int view_beside_join(struct view_beside *beside, int *ret_is_refined)
{
    pthread_join(beside->thread, NULL);
    beside->is_running = 0;
    *ret_is_refined = beside->is_refined;
    errno = beside->error_number;
    return beside->error;
}

const char *view_beside_spans(const struct view_beside *beside, size_t *ret_bytes)
{
    *ret_bytes = beside->spans_bytes;
    return beside->spans;
}

void view_beside_close(struct view_beside *beside)
{
    int is_refined;

    if (beside == NULL)
        return;
    if (beside->is_running) {
        __atomic_store_n(&beside->is_stopping, 1, __ATOMIC_RELAXED);
        view_beside_join(beside, &is_refined);
    }
    if (beside->reader != NULL)
        probity_reader_close(beside->reader);
    free(beside->spans);
    free(beside);
}
