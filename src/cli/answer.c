/* SPDX-License-Identifier: MIT
 *
 * answer.c: traces in, an answer out; the parts that do not depend on the question.
 */
#include "cli/answer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/profiled.h"
#include "cli/printed.h"
#include "output/tree_text.h"

enum { COLUMNS_USUAL = 80 };

int cli_answer_option(struct cli_answer *answer, int option, const char *value)
{
    switch (option) {
    case 'o': answer->out = strcmp(value, "-") == 0 ? NULL : value; return CLI_OK;
    case 'f': answer->force = 1; return CLI_OK;
    case 'F': answer->range.from = value; return CLI_OK;
    case 'T': answer->range.to = value; return CLI_OK;
    case 'j': answer->as_json = 1; return CLI_OK;
    case 'c': answer->as_csv = 1; return CLI_OK;
    case 't': return cli_filter_parse(answer->command, &answer->tids, value, 0);
    case 'h': cli_print_help(answer->command); return -1;
    default: return -2;
    }
}

/* Whether profiling is on concerns all threads, whoever switched it. */
int cli_answer_wants(struct cli_answer *answer, const struct probity_event *event)
{
    return answer->tids.count == 0 || event->kind == PROBITY_EVENT_PROFILING ||
           (answer->keeps_sites && event->kind == PROBITY_EVENT_SITE) ||
           cli_filter_passes(&answer->tids, event->tid, NULL, 0);
}

int cli_answer_take(struct cli_answer *answer, struct probity_reader *reader)
{
    const struct probity_event *event;
    int got, error = 0;

    while (error == 0 && (got = probity_reader_next(reader, &event)) > 0) {
        if (cli_answer_wants(answer, event))
            error = answer->steps->put(answer->context, event);
    }
    if (error == 0)
        error = got < 0 ? got : answer->steps->finish(answer->context, reader);
    return error;
}

struct profiles_taker {
    struct cli_answer *answer;
    struct probity_report *report;
    uint64_t calls;
};

static int take_profiled(void *context, const struct probity_profiled *profiled)
{
    struct profiles_taker *taker = context;
    struct cli_filter *tids = &taker->answer->tids;

    if (tids->count > 0 && !cli_filter_passes(tids, profiled->tid, NULL, 0))
        return 0;
    taker->calls += profiled->calls;
    return taker->report != NULL ? probity_report_add_profiled(taker->report, profiled) : 0;
}

int cli_answer_profiles(struct cli_answer *answer, const struct probity_reader *reader,
                        struct probity_report *report, uint64_t *calls)
{
    struct profiles_taker taker = {answer, report, 0};
    int error = 0;

    for (size_t i = 0; error == 0 && i < probity_reader_traces(reader); i++)
        error = probity_reader_profile(reader, i, take_profiled, &taker);
    if (calls != NULL)
        *calls += taker.calls;
    return error;
}

void cli_answer_tell_shortened(const struct cli_answer *answer, uint64_t shortened)
{
    if (shortened > 0)
        cli_warn(answer->command, "paths of more than %d levels, of which only the outermost and "
                 "the innermost %d are in the output: %" PRIu64, PROBITY_TREE_LEVELS_TOLD,
                 PROBITY_TREE_LEVELS_INNER, shortened);
}

struct printing {
    const struct cli_answer *answer;
    const struct probity_reader *reader;
};

static int print_answer(void *context, FILE *stream, int has_colour)
{
    const struct printing *printing = context;
    const struct cli_answer *answer = printing->answer;

    return answer->steps->print(answer->context, stream, printing->reader, has_colour);
}

int cli_answer_is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && *value != '\0')
            return strstr(value, "UTF-8") != NULL || strstr(value, "utf8") != NULL;
    }
    return 0;
}

size_t cli_answer_line_columns(const struct cli_answer *answer)
{
    return cli_line_columns(answer->out);
}

size_t cli_answer_columns(const struct cli_answer *answer)
{
    size_t columns = cli_answer_line_columns(answer);

    return columns > 0 ? columns : COLUMNS_USUAL;
}

static int write_answer(const struct cli_answer *answer, const struct probity_reader *reader)
{
    struct printing printing = {answer, reader};

    return cli_print_answer(answer->command, answer->out, answer->force, print_answer, &printing);
}

/* Whether a thread that was asked for is in no trace. */
static int tell_unseen(const struct cli_answer *answer)
{
    for (size_t i = 0; i < answer->tids.count; i++) {
        if (answer->tids.items[i].is_seen)
            continue;
        cli_warn(answer->command, "no record of thread id %" PRIu64 " here; `probity threads` "
                 "shows which there are", answer->tids.items[i].number);
        return 1;
    }
    return 0;
}

/* Reads everything, and then prints. */
static int collect(struct cli_answer *answer, struct probity_reader *reader, uint64_t from_ns,
                   uint64_t to_ns)
{
    answer->reader = reader;
    int error = answer->steps->open(answer->context, from_ns, to_ns);

    if (error == 0)
        error = cli_answer_take(answer, reader);
    int error_number = errno;
    cli_progress_end();
    if (error != 0)
        return cli_fail_trace(answer->command, probity_reader_facts(reader, 0)->path, error,
                              error_number);
    return write_answer(answer, reader);
}

/* All events are read whatever the range: what begins in it may end behind it. */
static int answer_from(struct cli_answer *answer, struct probity_reader *reader)
{
    uint64_t from_ns, to_ns;
    int status = cli_parse_range(answer->command, &answer->range, probity_reader_start_ns(reader),
                                 &from_ns, &to_ns);

    if (status != CLI_OK)
        return status;
    status = answer->stream != NULL
                 ? answer->stream(answer->context, reader, from_ns, to_ns)
                 : collect(answer, reader, from_ns, to_ns);
    if (status == CLI_OK && tell_unseen(answer))
        status = CLI_FAILURE;
    int judged = cli_judge_traces(answer->command, reader);
    return status == CLI_OK ? judged : status;
}

static int run_on(void *context, char **paths, size_t count)
{
    struct cli_answer *answer = context;
    struct probity_reader_options options = {0};
    struct probity_reader *reader;
    int status = cli_output_is_apart(answer->command, answer->out, paths, count);

    if (status == CLI_OK)
        status = cli_open_reader(answer->command, paths, count, &options, &reader);
    if (status != CLI_OK)
        return status;
    status = answer_from(answer, reader);
    probity_reader_close(reader);
    return status;
}

int cli_answer_run(struct cli_answer *answer, char **names, size_t count)
{
    return cli_on_traces(answer->command, names, count, run_on, answer);
}

static int run_operands(struct cli_answer *answer, char **names, size_t count)
{
    if (answer->as_json && answer->as_csv)
        return cli_fail_usage(answer->command, "--json and --csv exclude each other");
    return answer->steps->run != NULL ? answer->steps->run(answer->context, names, count)
                                      : cli_answer_run(answer, names, count);
}

int cli_answer_main(struct cli_answer *answer, int argc, char **argv)
{
    const struct cli_answer_steps *steps = answer->steps;
    int status = cli_take_options(answer->command, &steps->options, answer->context, argc, argv);

    if (status == CLI_OK)
        status = run_operands(answer, argv + optind, (size_t)(argc - optind));
    if (steps->release != NULL)
        steps->release(answer->context);
    cli_filter_release(&answer->tids);
    return status < 0 ? CLI_OK : status;
}
