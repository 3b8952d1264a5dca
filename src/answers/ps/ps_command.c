/* SPDX-License-Identifier: MIT
 *
 * ps_command.c: `probity ps`: lists the programs that are recording.
 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "answers/ps/ps.h"
#include "cli/cli.h"
#include "cli/cli_spools.h"
#include "cli/option.h"
#include "cli/output_stream.h"
#include "reader/spools.h"

#define ME (&cli_command_ps)

/* Time between the two samples from which the rate is computed. */
enum { SAMPLE_MS = 250 };

struct ps_call {
    int is_all, as_json, as_csv;
    struct probity_spools spools;
    struct probity_activity **activities;
    struct probity_ps_row *rows;
    size_t count;
};

/* Skips recordings that end in the meantime. */
static int open_all(struct ps_call *call)
{
    size_t room = call->spools.count + 1;

    call->activities = calloc(room, sizeof(struct probity_activity *));
    call->rows = calloc(room, sizeof *call->rows);
    if (call->activities == NULL || call->rows == NULL)
        return cli_fail(ME, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    for (size_t i = 0; i < call->spools.count; i++) {
        const struct probity_spools_entry *entry = &call->spools.entries[i];
        if ((entry->state != PROBITY_SPOOLS_ALIVE && entry->state != PROBITY_SPOOLS_UNKNOWN) ||
            probity_activity_open(&call->spools, entry, &call->activities[call->count]) != 0)
            continue;
        call->rows[call->count++] = (struct probity_ps_row){.pid = entry->pid,
                                                            .owner = entry->owner,
                                                            .bytes = entry->bytes,
                                                            .program = entry->program};
    }
    return CLI_OK;
}

static void sample(struct ps_call *call)
{
    struct timespec pause = {.tv_nsec = SAMPLE_MS * 1000000L};

    for (size_t i = 0; i < call->count; i++)
        probity_activity_sample(call->activities[i]);
    if (call->count > 0)
        nanosleep(&pause, NULL);
    for (size_t i = 0; i < call->count; i++) {
        probity_activity_sample(call->activities[i]);
        call->rows[i].rate = probity_activity_rate(call->activities[i]);
        call->rows[i].facts = probity_activity_facts(call->activities[i]);
    }
}

static int print(void *context, FILE *stream, int has_color)
{
    struct ps_call *call = context;
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    const struct probity_ps_answer answer = {
        .rows = call->rows,
        .count = call->count,
        .now_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec,
        .has_users = call->is_all,
        .line_columns = cli_line_columns(NULL),
        .has_color = has_color};
    if (call->as_json)
        return probity_ps_json(stream, &answer);
    if (call->as_csv)
        probity_ps_csv(stream, &answer);
    else
        probity_ps_text(stream, &answer);
    return 0;
}

static int run_call(struct ps_call *call)
{
    int collected = cli_spools_collect(ME, call->is_all, &call->spools);
    int status = collected == CLI_FAILURE ? collected : open_all(call);

    if (status != CLI_OK)
        return status;
    sample(call);
    status = cli_print_answer(ME, NULL, 0, print, call);
    return status == CLI_OK ? collected : status;
}

static int run(int argc, char **argv)
{
    struct ps_call call = {0};
    int status = cli_options_take(ME, &call, argc, argv);

    if (status != CLI_OK)
        return status < 0 ? CLI_OK : status;
    if (optind < argc)
        return cli_fail_usage(ME, "unexpected argument '%s'", argv[optind]);
    if (call.as_json && call.as_csv)
        return cli_fail_usage(ME, "--json and --csv are mutually exclusive");
    status = cli_spools_check(ME, call.is_all, "--all searches");
    if (status == CLI_OK)
        status = run_call(&call);
    for (size_t i = 0; i < call.count; i++)
        probity_activity_close(call.activities[i]);
    free(call.activities);
    free(call.rows);
    probity_spools_release(&call.spools);
    return status;
}

static const struct cli_operand no_operands[] = {{.label = NULL}};

static const struct cli_option options[] = {
    {.name = "all", .letter = 'a', .brief = "include programs of other users",
     .help = "include other users' programs whose spools are readable",
     CLI_FLAG(struct ps_call, is_all)},
    {.name = "json", .help = "print one JSON object", .brief = "print JSON",
     CLI_FLAG(struct ps_call, as_json)},
    {.name = "csv", .help = "print CSV with a header, one line per program", .brief = "print CSV",
     CLI_FLAG(struct ps_call, as_csv)},
    CLI_HELP_ROW,
    {.name = NULL},
};

const struct cli_command cli_command_ps = {
    .name = "ps",
    .run = run,
    .summary = "List the programs that are recording",
    .usage = "[OPTION]...",
    .help =
        "For each program that is recording: process id, time since recording began, mode, records "
        "per second (measured over a quarter of a second; in profile mode, calls), memory of its "
        "spool, share of its chunks that is in use, records dropped, threads so far, and its "
        "trace.",
    .options = options,
    .operands = no_operands,
    .statuses =
    "0 success; 1 failure; 2 usage error;\n"
    "3 a spool directory was skipped because it belongs to another user",
    .is_for_running = 1,
};
