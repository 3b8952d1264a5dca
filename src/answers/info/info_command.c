/* SPDX-License-Identifier: MIT
 *
 * info_command.c: `probity info`: the contents, accuracy and completeness of traces.
 */
#include "answers/info/info.h"

#include <stdio.h>
#include <stdlib.h>

#include "answers/report/hosts_print.h"
#include "cli/align.h"
#include "cli/cli.h"
#include "cli/option.h"
#include "cli/sched.h"

static void print_hosts(const struct probity_hosts *hosts)
{
    char text[PROBITY_HOSTS_TEXT_BYTES];

    putchar('\n');
    for (uint32_t i = 0; i < hosts->count; i++)
        printf("%s\n", probity_hosts_text(hosts, i, text));
    for (size_t i = 0; i < hosts->pair_count; i++)
        printf("%s\n", probity_hosts_pair_text(hosts, &hosts->pairs[i], text));
}

static int print_facts(const struct probity_reader *reader, int as_json)
{
    int error = 0;

    cli_progress_end();
    if (as_json) {
        error = probity_info_json(stdout, reader);
        if (error == PROBITY_ERROR_WRITE)
            return CLI_FAILURE; /* reported when standard output is closed */
        return error == 0 ? CLI_OK : cli_fail(&cli_command_info, "%s", probity_error_text(error));
    }
    for (size_t i = 0; i < probity_reader_traces(reader); i++) {
        if (i > 0)
            fputc('\n', stdout);
        probity_info_text(stdout, probity_reader_facts(reader, i));
    }
    if (probity_reader_hosts(reader) != NULL)
        print_hosts(probity_reader_hosts(reader));
    return CLI_OK;
}

/* Removes traces that cannot be opened, with a message for each. Returns CLI_OK, or the status of
 * the last one removed. */
static int drop_bad(char **paths, size_t *count)
{
    size_t kept = 0;
    int status = CLI_OK;

    for (size_t i = 0; i < *count; i++) {
        struct probity_reader_options options = {0};
        struct probity_reader *reader;
        int one = cli_open_reader(&cli_command_info, &paths[i], 1, &options, &reader);
        if (one == CLI_OK) {
            probity_reader_close(reader);
            paths[kept++] = paths[i];
        } else {
            free(paths[i]);
            status = one;
        }
    }
    *count = kept;
    return status;
}

/* Prescans the traces, because only verified checksums justify "complete". */
static int run_on(char **names, size_t count, int as_json)
{
    struct probity_reader_options options = {.prescan = 1};
    struct probity_reader *reader;
    char **paths = cli_trace_paths(&cli_command_info, names, &count);

    cli_sched_use(&options);
    if (paths == NULL)
        return CLI_FAILURE;
    int dropped = count > 1 ? drop_bad(paths, &count) : CLI_OK;
    int status = count > 0 ? cli_open_reader(&cli_command_info, paths, count, &options, &reader)
                           : dropped;
    if (count > 0 && status == CLI_OK) {
        status = print_facts(reader, as_json);
        for (size_t i = 0; status == CLI_OK && i < probity_reader_traces(reader); i++) {
            const struct probity_trace_facts *facts = probity_reader_facts(reader, i);
            if (probity_trace_is_damaged(facts) || facts->state == PROBITY_TRACE_UNFINISHED)
                status = CLI_DAMAGED;
        }
        probity_reader_close(reader);
    }
    status = dropped != CLI_OK ? dropped : status;
    cli_paths_free(paths, count);
    return status;
}

struct info_call {
    int as_json;
};

static int run(int argc, char **argv)
{
    struct info_call call = {0};
    int status = cli_options_take(&cli_command_info, &call, argc, argv);

    if (status != CLI_OK)
        return status < 0 ? CLI_OK : status;
    if (optind == argc)
        return cli_fail_usage(&cli_command_info, "no trace given");
    return run_on(argv + optind, (size_t)(argc - optind), call.as_json);
}

static const struct cli_option options[] = {
    {.name = "json", .help = "print a JSON array with one object per trace", .brief = "print JSON",
     CLI_FLAG(struct info_call, as_json)},
    CLI_ALIGN_ROW, CLI_QUIET_ROW, CLI_HELP_ROW,
    {.name = NULL},
};

const struct cli_command cli_command_info = {
    .name = "info",
    .run = run,
    .summary = "Show a trace's contents, accuracy and completeness",
    .usage = "[OPTION]... TRACE...",
    .help =
        "Shows program, host, threads, counts, times and their error bounds, bytes per record, "
        "and whether the trace is complete. Verifies every checksum.",
    .options = options,
    .shows_hosts = 1,
};
