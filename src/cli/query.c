/* SPDX-License-Identifier: MIT
 *
 * query.c: shared by all commands that read traces and print an answer.
 */
#include "cli/query.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/waits.h"
#include "answers/report/profiled.h"
#include "answers/tree/tree_print.h"
#include "cli/index.h"
#include "cli/option.h"
#include "cli/output_stream.h"
#include "cli/query_lanes.h"
#include "cli/sched.h"

enum { COLUMNS_USUAL = 80 };

/* Whichever thread switches profiling or sites on or off does so for all threads. */
int cli_query_is_of_tids(struct cli_query *answer, const struct probity_event *event)
{
    int passes = answer->tids.count == 0 ||
                 cli_filter_passes(&answer->tids, event->tid, NULL, 0);

    return passes || event->kind == PROBITY_EVENT_PROFILING ||
           event->kind == PROBITY_EVENT_SITES_SWITCHED ||
           (answer->keeps_sites && event->kind == PROBITY_EVENT_SITE);
}

static int is_of_probes(struct cli_query *answer, const struct probity_event *event)
{
    return answer->probes.count == 0 || event->kind != PROBITY_EVENT_HIT ||
           cli_filter_passes(&answer->probes, event->is_site ? UINT64_MAX : event->id, event->name,
                             event->name_bytes);
}

int cli_query_restart(struct cli_query *answer)
{
    if (answer->within != NULL)
        cli_within_close(answer->within);
    answer->within = NULL;
    return answer->functions.count > 0 ? cli_within_open(&answer->functions, &answer->within) : 0;
}

int cli_query_wants(struct cli_query *answer, const struct probity_event **event)
{
    /* Also remembers which of the requested threads have records. */
    int is_of_tids = cli_query_is_of_tids(answer, *event);
    int is_within_only = answer->within != NULL && !answer->has_all_functions;

    /* Ignores calls of the function in other threads. */
    if ((!is_of_tids && (!answer->has_all_tids || is_within_only)) || !is_of_probes(answer, *event))
        return 0;
    return is_within_only ? cli_within_put(answer->within, event) : 1;
}

int cli_query_is_within(const struct cli_query *answer, uint32_t thread_slot, uint64_t wall_ns)
{
    return answer->within == NULL || cli_within_is_open(answer->within, thread_slot, wall_ns);
}

/* Puts an event, then follows the calls that it enters or leaves, since anything that ends with the
 * event was within the calls open before it. Returns 0 or an error. */
static int put_all(struct cli_query *answer, const struct cli_query_pass *pass,
                   const struct probity_event *event)
{
    int error = pass->put(pass->context, event);

    if (error == 0 && answer->within != NULL && answer->has_all_functions)
        error = cli_within_put(answer->within, &event);
    return error < 0 ? error : 0;
}

int cli_query_check_functions(const struct cli_query *answer)
{
    const char *idle = cli_patterns_idle(&answer->functions);

    return idle != NULL ? cli_fail_function(answer->command, idle) : CLI_OK;
}

/* Puts an event after the range: only events in the range count as seen. */
static int pass_end(struct cli_query *answer, struct probity_reader *reader,
                    const struct cli_query_pass *pass)
{
    const struct cli_query_steps *steps = answer->steps;

    answer->begin_ns = UINT64_MAX;
    if (pass->pending != NULL && pass->pending(pass->context) > 0)
        return 0;
    answer->end_ns = UINT64_MAX;
    if (steps->has_next) /* --function may leave out the next record */
        return answer->functions.count == 0 ? probity_reader_next_only(reader) : 0;
    return steps->is_windowed ? probity_reader_skip_rest(reader) : 0;
}

static unsigned kinds_since(const struct probity_run *run, uint64_t begin_ns)
{
    unsigned kinds = 0;

    for (size_t i = 0; i < run->count; i++) {
        if (run->events[i].wall_ns >= begin_ns)
            kinds |= 1U << (probity_run_code_of(run, i)->kind & 31);
    }
    return kinds;
}

int cli_query_put_each(const struct probity_run *run,
                       int (*put)(void *context, const struct probity_event *event), void *context)
{
    int error = 0;

    for (size_t i = 0; error >= 0 && i < run->count; i++)
        error = put(context, probity_run_event_at(run, i));
    return error < 0 ? error : 0;
}

int cli_query_put_runs(struct probity_reader *reader, const struct cli_query_pass *pass,
                       uint64_t begin_ns, uint64_t end_ns, unsigned *seen)
{
    struct probity_run run;
    int error = 0;

    while (error == 0 && probity_reader_next_run(reader, end_ns, &run) > 0) {
        if ((run.kinds & ~*seen) != 0)
            *seen |= kinds_since(&run, begin_ns);
        error = pass->put_run != NULL ? pass->put_run(pass->context, &run)
                                      : cli_query_put_each(&run, pass->put, pass->context);
    }
    return error;
}

/* Whether every event is wanted. */
static int wants_all(const struct cli_query *answer)
{
    return answer->tids.count == 0 && answer->probes.count == 0 && answer->within == NULL;
}

int cli_query_read(struct cli_query *answer, struct probity_reader *reader,
                   const struct cli_query_pass *pass)
{
    const struct probity_event *event, *wanted;
    int got = 0, error = cli_query_restart(answer), has_runs = wants_all(answer);

    while (error == 0) {
        if (has_runs)
            error = cli_query_put_runs(reader, pass, answer->begin_ns, answer->end_ns,
                                       &answer->seen);
        if (error != 0 || (got = probity_reader_next(reader, &event)) <= 0)
            break;
        wanted = event;
        int wants = cli_query_wants(answer, &wanted);
        error = wants > 0 ? put_all(answer, pass, wanted) : wants;
        if (__builtin_expect(event->wall_ns >= answer->end_ns, 0) && error == 0)
            error = pass_end(answer, reader, pass);
        if (event->wall_ns >= answer->begin_ns)
            answer->seen |= 1U << (event->kind & 31);
    }
    return error == 0 && got < 0 ? got : error;
}

static int read_range(struct cli_query *answer, struct probity_reader *reader, uint64_t from_ns,
                      uint64_t to_ns, const struct cli_query_pass *pass)
{
    int error = probity_reader_set_window(reader, from_ns, to_ns);

    answer->begin_ns = from_ns;
    answer->end_ns = to_ns;
    return error == 0 ? cli_query_read(answer, reader, pass) : error;
}

int cli_query_read_again(struct cli_query *answer, const struct probity_reader *first,
                         uint64_t from_ns, uint64_t to_ns, const struct cli_query_pass *pass,
                         struct probity_reader **ret_again)
{
    size_t count = probity_reader_traces(first);
    const char **paths = calloc(count, sizeof *paths);
    struct probity_reader_options options = {0};
    int error = paths != NULL ? 0 : PROBITY_ERROR_MEMORY;

    for (size_t i = 0; error == 0 && i < count; i++)
        paths[i] = probity_reader_facts(first, i)->path;
    cli_align_use(&options);
    cli_index_share(first, &options);
    if (error == 0)
        error = probity_reader_open(paths, count, &options, NULL, ret_again);
    free(paths);
    return error == 0 ? read_range(answer, *ret_again, from_ns, to_ns, pass) : error;
}

int cli_query_take(struct cli_query *answer, struct probity_reader *reader)
{
    const struct cli_query_steps *steps = answer->steps;
    const struct cli_query_pass pass = {steps->put, steps->pending, answer->context,
                                        steps->put_run};
    int error = 0;

    if (steps->is_empty != NULL && steps->is_empty(answer->context, reader))
        error = probity_reader_skip_rest(reader);
    if (error == 0)
        error = cli_query_read(answer, reader, &pass);
    return error == 0 ? steps->finish(answer->context, reader) : error;
}

struct profiles_taker {
    struct cli_query *answer;
    struct probity_report *report;
    uint64_t calls, counted;
};

static int take_profiled(void *context, const struct probity_profiled *profiled)
{
    struct profiles_taker *taker = context;
    struct cli_filter *tids = &taker->answer->tids;

    if (tids->count > 0 && !cli_filter_passes(tids, profiled->tid, NULL, 0))
        return 0;
    taker->calls += profiled->calls - profiled->counted;
    taker->counted += profiled->counted;
    return taker->report != NULL ? probity_report_add_profiled(taker->report, profiled) : 0;
}

int cli_query_profiles(struct cli_query *answer, const struct probity_reader *reader,
                       struct probity_report *report, uint64_t *calls, uint64_t *counted)
{
    struct profiles_taker taker = {answer, report, 0, 0};
    int error = 0;

    for (size_t i = 0; error == 0 && i < probity_reader_traces(reader); i++)
        error = probity_reader_profile(reader, i, take_profiled, &taker);
    if (calls != NULL)
        *calls += taker.calls;
    if (counted != NULL)
        *counted += taker.counted;
    return error;
}

void cli_query_warn_shortened(const struct cli_query *answer, uint64_t shortened)
{
    if (shortened > 0)
        cli_warn(answer->command, "paths deeper than %d levels, shortened to their outermost and "
                 "innermost %d: %" PRIu64, PROBITY_TREE_LEVELS_SHOWN, PROBITY_TREE_LEVELS_INNER,
                 shortened);
}

struct printing {
    const struct cli_query *answer;
    const struct probity_reader *reader;
};

static int print_answer(void *context, FILE *stream, int has_color)
{
    const struct printing *printing = context;
    const struct cli_query *answer = printing->answer;

    return answer->steps->print(answer->context, stream, printing->reader, has_color);
}

int cli_query_is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && *value != '\0')
            return strstr(value, "UTF-8") != NULL || strstr(value, "utf8") != NULL;
    }
    return 0;
}

size_t cli_query_line_columns(const struct cli_query *answer)
{
    return cli_line_columns(answer->out);
}

size_t cli_query_columns(const struct cli_query *answer)
{
    size_t columns = cli_query_line_columns(answer);

    return columns > 0 ? columns : COLUMNS_USUAL;
}

static int write_answer(const struct cli_query *answer, const struct probity_reader *reader)
{
    struct printing printing = {answer, reader};

    return cli_print_answer(answer->command, answer->out, answer->force, print_answer, &printing);
}

/* Warns about incomplete traces. Returns the status, or CLI_DAMAGED in place of CLI_OK. */
static int judge(const struct cli_query *answer, const struct probity_reader *reader, int status)
{
    int judged = answer->as_csv || answer->is_bare ? cli_judge_bare(answer->command, reader)
                                                   : cli_judge_traces(answer->command, reader);

    return status == CLI_OK ? judged : status;
}

int cli_query_print(struct cli_query *answer, const struct probity_reader *reader)
{
    answer->reader = reader;
    return judge(answer, reader, write_answer(answer, reader));
}

/* Warns about requested threads and probes that are in no trace. Returns whether there were any. */
static int warn_unseen(struct cli_query *answer)
{
    cli_filter_see_tids(&answer->tids, answer->reader);
    for (size_t i = 0; i < answer->tids.count; i++) {
        if (answer->tids.items[i].is_seen)
            continue;
        cli_warn(answer->command, "no records of thread id %" PRIu64 "; `probity threads` lists "
                 "the threads", answer->tids.items[i].number);
        return 1;
    }
    return cli_filter_warn_unseen(answer->command, &answer->probes, "probe");
}

/* If the traces contain nothing that this command shows, suggests a command that shows their
 * contents. */
static void suggest_other(const struct cli_query *answer)
{
    enum { CALLS = 1U << PROBITY_EVENT_ENTER | 1U << PROBITY_EVENT_CHECKPOINT |
                   1U << PROBITY_READER_ENTRY,
           HITS = 1U << PROBITY_EVENT_HIT };
    int wants = answer->wants != 0 ? answer->wants : answer->steps->wants;

    for (size_t i = 0; i < probity_reader_traces(answer->reader); i++) {
        if (probity_reader_facts(answer->reader, i)->info.flags & PROBITY_INFO_PROFILE)
            return;
    }
    if (wants == CLI_QUERY_CALLS && (answer->seen & (CALLS | HITS)) == HITS)
        cli_warn(answer->command, "no function calls, only hits of probes; see `probity blocks`");
    if (wants == CLI_QUERY_HITS && (answer->seen & HITS) == 0 && (answer->seen & CALLS) != 0)
        cli_warn(answer->command, "no hits of probes, only function calls; see `probity report`");
}

/* Reads all events, in two lanes if that is faster, and finishes. */
static int take_all(struct cli_query *answer, struct probity_reader *reader, uint64_t from_ns,
                    uint64_t to_ns, struct cli_query_lanes *lanes)
{
    int got = cli_query_lanes_use(answer) ? cli_query_lanes_read(answer, reader, lanes) : 0;

    if (got < 0 || got == PROBITY_QUERY_AGAIN)
        return got;
    int error = answer->steps->open(answer->context, from_ns, to_ns);
    if (error == 0 && got == 0)
        return cli_query_take(answer, reader);
    if (error == 0)
        error = cli_query_lanes_join(answer, lanes);
    return error == 0 ? answer->steps->finish(answer->context, reader) : error;
}

int cli_query_collect(struct cli_query *answer, struct probity_reader *reader, uint64_t from_ns,
                      uint64_t to_ns)
{
    struct cli_query_lanes lanes = {.other = NULL};
    int error = take_all(answer, reader, from_ns, to_ns, &lanes);
    int error_number = errno, status = CLI_OK;

    cli_progress_end();
    answer->is_again = error == PROBITY_QUERY_AGAIN;
    if (error < 0)
        status = cli_fail_trace(answer->command, probity_reader_facts(reader, 0)->path, error,
                                error_number);
    if (error == 0) {
        suggest_other(answer);
        status = cli_query_check_functions(answer);
        if (status == CLI_OK)
            status = write_answer(answer, reader);
    }
    cli_query_lanes_release(answer, &lanes);
    return status;
}

int cli_query_is_windowed(const struct cli_query *answer)
{
    return answer->steps->is_windowed &&
           (answer->functions.count == 0 || !answer->steps->has_past_of_functions);
}

/* The state of waits depends on all events. */
static int can_resume_waits(const struct cli_query *answer)
{
    return answer->steps->resumes_waits != 0 && answer->stream == NULL &&
           (answer->tids.count == 0 || answer->has_all_tids) && answer->probes.count == 0 &&
           answer->functions.count == 0;
}

/* A scope that begins in the range may end after it. */
int cli_query_set_window(struct cli_query *answer, struct probity_reader *reader, uint64_t from_ns,
                         uint64_t to_ns)
{
    answer->begin_ns = from_ns;
    answer->end_ns = to_ns != 0 ? to_ns : UINT64_MAX;
    if (!cli_query_is_windowed(answer) || (from_ns == 0 && to_ns == 0))
        return CLI_OK;
    int has_waits = answer->steps->has_waits && probity_reader_may_wait(reader);
    if (has_waits && !can_resume_waits(answer))
        return CLI_OK;
    int error = has_waits ? probity_reader_set_waits_window(
                                reader, from_ns, answer->end_ns,
                                answer->steps->resumes_waits == CLI_QUERY_WAITS_BEFORE,
                                PROBITY_WAITS_OBJECTS_MAX)
                          : probity_reader_set_window(reader, from_ns, answer->end_ns);
    return error >= 0 ? CLI_OK
                      : cli_fail_trace(answer->command, probity_reader_facts(reader, 0)->path,
                                       error, errno);
}

static int answer_from(struct cli_query *answer, struct probity_reader *reader)
{
    uint64_t from_ns, to_ns;
    int status = cli_parse_range(answer->command, &answer->range, reader,
                                 &from_ns, &to_ns);

    answer->reader = reader;
    if (status == CLI_OK)
        cli_warn_outside(answer->command, reader, from_ns, to_ns);
    if (status == CLI_OK)
        status = cli_query_set_window(answer, reader, from_ns, to_ns);
    if (status != CLI_OK)
        return status;
    status = answer->stream != NULL
                 ? answer->stream(answer->context, reader, from_ns, to_ns)
                 : cli_query_collect(answer, reader, from_ns, to_ns);
    if (answer->is_again)
        return CLI_OK;
    if (status == CLI_OK && warn_unseen(answer))
        status = CLI_FAILURE;
    return judge(answer, reader, status);
}

static int read_traces(struct cli_query *answer, char **paths, size_t count)
{
    struct probity_reader_options options = {.has_lanes = cli_query_lanes_use(answer)};
    struct probity_reader *reader;

    answer->seen = 0;
    if (cli_query_is_windowed(answer))
        cli_index_use(answer->command, &answer->range, answer->steps->has_waits, &options);
    if (answer->has_states)
        cli_sched_use(&options);
    int status = cli_open_reader(answer->command, paths, count, &options, &reader);
    if (status != CLI_OK)
        return status;
    status = answer_from(answer, reader);
    probity_reader_close(reader);
    return status;
}

static int run_on(void *context, char **paths, size_t count)
{
    struct cli_query *answer = context;
    int status = cli_output_is_apart(answer->command, answer->out, paths, count);

    if (status == CLI_OK)
        status = read_traces(answer, paths, count);
    if (answer->is_again) {
        answer->is_whole = 1;
        answer->is_again = 0;
        status = read_traces(answer, paths, count);
    }
    return status;
}

int cli_query_run(struct cli_query *answer, char **names, size_t count)
{
    return cli_on_traces(answer->command, names, count, run_on, answer);
}

static int run_operands(struct cli_query *answer, char **names, size_t count)
{
    if (answer->as_json && answer->as_csv)
        return cli_fail_usage(answer->command, "--json and --csv are mutually exclusive");
    return answer->steps->run != NULL ? answer->steps->run(answer->context, names, count)
                                      : cli_query_run(answer, names, count);
}

int cli_query_main(struct cli_query *answer, int argc, char **argv)
{
    const struct cli_query_steps *steps = answer->steps;
    int status = cli_options_take(answer->command, answer->context, argc, argv);

    if (status == CLI_OK)
        status = run_operands(answer, argv + optind, (size_t)(argc - optind));
    if (steps->release != NULL)
        steps->release(answer->context);
    cli_filter_release(&answer->tids);
    cli_filter_release(&answer->probes);
    cli_patterns_release(&answer->functions);
    if (answer->within != NULL)
        cli_within_close(answer->within);
    return status < 0 ? CLI_OK : status;
}
