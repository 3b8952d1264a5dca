/* SPDX-License-Identifier: MIT
 *
 * diff_base.c: reads the base runs one by one for the comparison, then all their traces together
 * for the tree, functions, blocks, requests and timeline.
 */
#include "cli/diff_base.h"

#include <errno.h>
#include <stdlib.h>

#include "answers/report/profiled.h"
#include "base/array_grow.h"
#include "cli/index.h"

static int fail_memory(const struct cli_diff_base *against)
{
    return cli_fail(against->compared.command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
}

int cli_diff_base_add(struct cli_diff_base *against, char *name)
{
    char **names = probity_array_append(against->names, sizeof *names, against->count);

    if (names == NULL)
        return fail_memory(against);
    against->names = names;
    names[against->count++] = name;
    return CLI_OK;
}

/* ---- The comparison ----------------------------------------------------------------------------
 */

static int compare_side(struct cli_diff_base *against, int side, const char *out, char **paths,
                        size_t count)
{
    struct cli_diff_input *compared = &against->compared;
    int status = cli_output_is_apart(compared->command, out, paths, count);

    compared->side = side;
    for (size_t i = 0; status == CLI_OK && i < count; i++) {
        cli_progress_expect(--against->passes);
        status = cli_diff_input_read(compared, paths[i]);
    }
    return status;
}

/* ---- All runs together -------------------------------------------------------------------------
 */

static int add_profiled(void *context, const struct probity_profiled *profiled)
{
    struct cli_diff_base *against = context;

    against->profiled += profiled->calls;
    return probity_report_add_profiled(against->report, profiled);
}

static int open_all(struct cli_diff_base *against, uint64_t from_ns, uint64_t to_ns)
{
    const struct probity_reader *reader = against->reader;
    const struct probity_tree_options tree = {.from_ns = from_ns, .to_ns = to_ns,
                                              .nodes_max = CLI_PAGE_NODES_MAX, .costs_of = reader};
    const struct probity_report_options report = {.from_ns = from_ns, .to_ns = to_ns,
                                                  .costs_of = reader};
    const struct probity_blocks_options blocks = {.from_ns = from_ns, .to_ns = to_ns};
    const struct probity_timeline_options timeline = {
        .spans_max = against->spans_max, .from_ns = from_ns, .to_ns = to_ns, .has_around = 1,
        .has_tracks = 1};

    probity_request_times_init(from_ns, to_ns, &against->requests);
    int error = probity_tree_open(&tree, &against->tree);
    if (error == 0)
        error = probity_report_open(&report, &against->report);
    if (error == 0)
        error = probity_blocks_open(&blocks, &against->blocks);
    return error == 0 ? probity_timeline_open(&timeline, &against->timeline) : error;
}

static int put_event(struct cli_diff_base *against, const struct probity_event *event, int is_past)
{
    int error = probity_timeline_put(against->timeline, event);

    if (error != 0 || (is_past && probity_event_is_record(event->kind)))
        return error;
    error = probity_tree_put(against->tree, event);
    if (error == 0)
        error = probity_report_put(against->report, event);
    if (error == 0)
        error = probity_blocks_put(against->blocks, event);
    return error == 0 ? probity_request_times_put(&against->requests, event) : error;
}

static int finish_all(struct cli_diff_base *against)
{
    int error = probity_tree_finish(against->tree);

    if (error == 0)
        error = probity_report_finish(against->report);
    if (error == 0)
        error = probity_timeline_finish(against->timeline);
    if (error != 0)
        return error;
    against->pairs = probity_blocks_sort(against->blocks, PROBITY_BLOCKS_TOTAL,
                                         &against->pair_count);
    against->pruned =
        probity_tree_prune_to(against->tree, CLI_PAGE_NODES_SHOWN, CLI_PAGE_DEPTH);
    return against->pairs != NULL ? probity_tree_sort(against->tree, PROBITY_TREE_TOTAL)
                                  : PROBITY_ERROR_MEMORY;
}

/* Adds all events, and the counts of profile mode. The range ends at end_ns. After its end and that
 * of all calls that began in it, only the timeline needs more: one record of each thread. Returns 0
 * or an error. */
static int fill_all(struct cli_diff_base *against, uint64_t end_ns)
{
    const struct probity_event *event;
    int got = 0, error = 0, is_past = 0;

    while (error == 0 && (got = probity_reader_next(against->reader, &event)) > 0) {
        error = put_event(against, event, is_past);
        if (error == 0 && !is_past && event->wall_ns >= end_ns &&
            probity_report_pending(against->report) == 0) {
            is_past = 1;
            error = probity_reader_next_only(against->reader);
        }
    }
    if (error == 0 && got < 0)
        error = got;
    for (size_t i = 0; error == 0 && i < probity_reader_traces(against->reader); i++)
        error = probity_reader_profile(against->reader, i, add_profiled, against);
    return error == 0 ? finish_all(against) : error;
}

static int read_together(struct cli_diff_base *against, char **paths)
{
    const struct cli_command *command = against->compared.command;
    struct probity_reader_options reading = {0};
    uint64_t from_ns, to_ns;

    cli_index_use(command, &against->compared.range, 0, &reading);
    int status = cli_open_reader(command, paths, against->traces, &reading, &against->reader);

    if (status == CLI_OK)
        status = cli_parse_range(command, &against->compared.range, against->reader,
                                 &from_ns, &to_ns);
    if (status != CLI_OK)
        return status;
    uint64_t end_ns = to_ns != 0 ? to_ns : UINT64_MAX;
    int error = from_ns != 0 || to_ns != 0
                    ? probity_reader_set_window(against->reader, from_ns, end_ns) : 0;
    if (error == 0)
        error = open_all(against, from_ns, to_ns);
    if (error == 0)
        error = fill_all(against, end_ns);
    int error_number = errno;
    cli_progress_end();
    return error == 0 ? CLI_OK : cli_fail_trace(command, paths[0], error, error_number);
}

/* Moves traces to the front, keeping their order. Returns their number. */
static size_t traces_first(char **paths, size_t count)
{
    size_t traces = 0;

    for (size_t i = 0; i < count; i++) {
        if (cli_is_label(paths[i]))
            continue;
        char *path = paths[i];
        for (size_t j = i; j > traces; j--)
            paths[j] = paths[j - 1];
        paths[traces++] = path;
    }
    return traces;
}

/* If the two sides were restricted differently, they would differ for that reason alone. */
static const char *why_no_tree(const struct cli_diff_base *against, const struct cli_query *answer,
                               size_t count)
{
    const struct cli_range *range = &against->compared.range;

    if (against->traces == 0)
        return "the history of runs has no call trees; compare with traces instead";
    if (answer->tids.count > 0)
        return "with --tid, the call trees of the two sides are of different threads";
    if ((range->from != NULL || range->to != NULL) && (against->traces > 1 || count > 1))
        return "--since and --until cannot be applied to the call trees of several runs";
    return NULL;
}

/* ---- Both --------------------------------------------------------------------------------------
 */

static int compare(struct cli_diff_base *against, const struct cli_query *answer, char **bases,
                   size_t base_count, char **paths, size_t count)
{
    static const struct probity_compare_options options = CLI_DIFF_INPUT_OPTIONS;
    struct cli_diff_input *compared = &against->compared;

    if (probity_compare_open(&options, &compared->compare) != 0)
        return fail_memory(against);
    int status = compare_side(against, PROBITY_COMPARE_BASE, answer->out, bases, base_count);
    if (status == CLI_OK)
        status = compare_side(against, PROBITY_COMPARE_NEW, answer->out, paths, count);
    if (status == CLI_OK && probity_compare_finish(compared->compare) != 0)
        status = fail_memory(against);
    if (status == CLI_OK &&
        probity_compare_sort(compared->compare, PROBITY_COMPARE_BY_IMPACT) != 0)
        status = fail_memory(against);
    return status;
}

int cli_diff_base_read(struct cli_diff_base *against, const struct cli_query *answer, char **names,
                       size_t count)
{
    const struct cli_command *command = against->compared.command;
    size_t base_count = against->count;
    char **bases = cli_trace_paths(command, against->names, &base_count);
    char **paths = cli_trace_paths(command, names, &count);
    int status = bases != NULL && paths != NULL ? CLI_OK : CLI_FAILURE;
    unsigned later = cli_progress_expect(0) + 1; /* plus the pass for the page itself */

    against->passes = later + 1 + (unsigned)(base_count + count);
    against->compared.range = answer->range;
    if (status == CLI_OK)
        status = compare(against, answer, bases, base_count, paths, count);
    if (status == CLI_OK) {
        against->traces = traces_first(bases, base_count);
        against->why = why_no_tree(against, answer, count);
    }
    cli_progress_expect(later);
    if (status == CLI_OK && against->why == NULL)
        status = read_together(against, bases);
    cli_progress_expect(later - 1);
    cli_paths_free(bases, base_count);
    cli_paths_free(paths, count);
    return status;
}

void cli_diff_base_release(struct cli_diff_base *against)
{
    if (against->tree != NULL)
        probity_tree_close(against->tree);
    if (against->report != NULL)
        probity_report_close(against->report);
    if (against->blocks != NULL)
        probity_blocks_close(against->blocks);
    probity_request_times_release(&against->requests);
    if (against->timeline != NULL)
        probity_timeline_close(against->timeline);
    if (against->reader != NULL)
        probity_reader_close(against->reader);
    cli_diff_input_close(&against->compared);
    free(against->names);
}
