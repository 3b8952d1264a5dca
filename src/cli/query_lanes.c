/* SPDX-License-Identifier: MIT
 *
 * query_lanes.c: this thread reads the first lane with the command's reader. A second thread opens
 * the traces once more and reads the second lane. They share only the files.
 */
#include "cli/query_lanes.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/helper_thread.h"
#include "cli/align.h"
#include "cli/jobs.h"
#include "probity.h"

/* The second lane. */
struct other_lane {
    struct cli_query *answer;
    const char **paths;
    size_t count;
    void *part;
    struct probity_reader *reader;
    unsigned seen;
    int error, error_number;
    int is_divided;
};

static int read_lane(const struct cli_query *answer, struct probity_reader *reader, void *part,
                     unsigned *seen)
{
    const struct cli_query_parts *parts = answer->steps->parts;
    const struct cli_query_pass pass = {parts->put, NULL, part, parts->put_run};
    const struct probity_event *event;
    int got = 0, error = 0;

    while (error == 0) {
        error = cli_query_put_runs(reader, &pass, 0, UINT64_MAX, seen);
        if (error != 0 || (got = probity_reader_next(reader, &event)) <= 0)
            break;
        *seen |= 1U << (event->kind & 31);
        error = parts->put(part, event);
    }
    return error != 0 ? error : got;
}

static void *read_other(void *context)
{
    struct probity_reader_options options = {.has_lanes = 1, .runs = &probity_run_steps};
    struct other_lane *lane = context;

    cli_align_use(&options);
    lane->error = probity_reader_open(lane->paths, lane->count, &options, NULL, &lane->reader);
    if (lane->error == 0)
        lane->is_divided = probity_reader_divide(lane->reader) == 1;
    if (lane->error == 0 && lane->is_divided) {
        probity_reader_set_lane(lane->reader, 2);
        lane->error = read_lane(lane->answer, lane->reader, lane->part, &lane->seen);
    }
    lane->error_number = errno;
    return NULL;
}

/* Reads both lanes. If the second one fails, a single reader encounters the same error without a
 * second thread. */
static int read_both(struct cli_query *answer, struct probity_reader *reader,
                     struct cli_query_lanes *lanes, struct other_lane *other)
{
    const struct cli_query_parts *parts = answer->steps->parts;
    pthread_t thread;
    int error;

    if (probity_helper_thread_start(&thread, read_other, other) != 0)
        return PROBITY_QUERY_AGAIN;
    probity_reader_set_lane(reader, 1);
    error = read_lane(answer, reader, lanes->parts[0], &answer->seen);
    int error_number = errno;
    pthread_join(thread, NULL);
    lanes->other = other->reader;
    answer->seen |= other->seen;
    errno = error_number;
    if (error != 0)
        return error;
    if (other->error != 0 || !other->is_divided ||
        !probity_reader_lanes_match(reader, other->reader) ||
        (parts->are_joinable != NULL && !parts->are_joinable(lanes->parts[0], lanes->parts[1])))
        return PROBITY_QUERY_AGAIN;
    return 1;
}

static int make_parts(struct cli_query *answer, struct cli_query_lanes *lanes)
{
    const struct cli_query_parts *parts = answer->steps->parts;
    int error = parts->make(answer->context, &lanes->parts[0]);

    return error == 0 ? parts->make(answer->context, &lanes->parts[1]) : error;
}

int cli_query_lanes_use(const struct cli_query *answer)
{
    const struct cli_query_steps *steps = answer->steps;

    return steps->parts != NULL && cli_jobs_are_many() && answer->tids.count == 0 &&
           answer->functions.count == 0 && answer->probes.count == 0 &&
           answer->range.from == NULL && answer->range.to == NULL && !answer->has_states &&
           answer->stream == NULL && !answer->is_whole &&
           steps->parts->is_possible(answer->context);
}

int cli_query_lanes_read(struct cli_query *answer, struct probity_reader *reader,
                         struct cli_query_lanes *ret_lanes)
{
    struct cli_query_lanes lanes = {.other = NULL};
    struct other_lane other = {.answer = answer, .count = probity_reader_traces(reader)};
    int got = probity_reader_divide(reader);

    if (got != 1)
        return got;
    other.paths = calloc(other.count, sizeof *other.paths);
    got = other.paths != NULL ? make_parts(answer, &lanes) : PROBITY_ERROR_MEMORY;
    for (size_t i = 0; got == 0 && i < other.count; i++)
        other.paths[i] = probity_reader_facts(reader, i)->path;
    other.part = lanes.parts[1];
    if (got == 0)
        got = read_both(answer, reader, &lanes, &other);
    free(other.paths);
    if (got == 1)
        *ret_lanes = lanes;
    else
        cli_query_lanes_release(answer, &lanes);
    return got;
}

int cli_query_lanes_join(struct cli_query *answer, struct cli_query_lanes *lanes)
{
    int error = 0;

    probity_assert(answer->steps->parts != NULL);
    for (int i = 0; error == 0 && i < 2; i++)
        error = answer->steps->parts->join(answer->context, lanes->parts[i]);
    return error;
}

void cli_query_lanes_release(struct cli_query *answer, struct cli_query_lanes *lanes)
{
    for (int i = 0; i < 2; i++) {
        if (lanes->parts[i] != NULL)
            answer->steps->parts->drop(lanes->parts[i]);
    }
    if (lanes->other != NULL)
        probity_reader_close(lanes->other);
    *lanes = (struct cli_query_lanes){.other = NULL};
}
