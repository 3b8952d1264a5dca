/* SPDX-License-Identifier: MIT
 *
 * info.c: `probity info`: what traces hold, how exact they are, and whether they are complete.
 */
#include "output/info.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

static int print_facts(const struct probity_reader *reader, int as_json)
{
    int error = 0;

    cli_progress_end();
    if (as_json) {
        error = probity_info_json(stdout, reader);
        if (error == PROBITY_ERROR_WRITE)
            return CLI_FAILURE; /* told for all commands, when standard output is closed */
        return error == 0 ? CLI_OK : cli_fail(&cli_command_info, "%s", probity_error_text(error));
    }
    for (size_t i = 0; i < probity_reader_traces(reader); i++) {
        if (i > 0)
            fputc('\n', stdout);
        probity_info_text(stdout, probity_reader_facts(reader, i));
    }
    return CLI_OK;
}

/* Of several traces, leaves those out that cannot be opened, and says so. Returns CLI_OK, or the
 * status of the last of them. */
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

/* "Complete" is told only when every checksum was verified: hence the survey. */
static int run_on(char **names, size_t count, int as_json)
{
    struct probity_reader_options options = {.survey = 1};
    struct probity_reader *reader;
    char **paths = cli_trace_paths(names, count);

    if (paths == NULL)
        return cli_fail(&cli_command_info, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    int dropped = count > 1 ? drop_bad(paths, &count) : CLI_OK;
    int status = count > 0 ? cli_open_reader(&cli_command_info, paths, count, &options, &reader)
                           : dropped;
    if (count > 0 && status == CLI_OK) {
        status = print_facts(reader, as_json);
        for (size_t i = 0; status == CLI_OK && i < count; i++) {
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

static int run(int argc, char **argv)
{
    static const struct option long_options[] = {{"json", no_argument, NULL, 'j'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    int option, as_json = 0;

    while ((option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        switch (option) {
        case 'j': as_json = 1; break;
        case 'h': return cli_print_help(&cli_command_info);
        default: return cli_fail_option(&cli_command_info, argv, option);
        }
    }
    if (optind == argc)
        return cli_fail_usage(&cli_command_info, "no trace given");
    return run_on(argv + optind, (size_t)(argc - optind), as_json);
}

const struct cli_command cli_command_info = {
    "info", run, "Say what is in a trace, how exact it is, and whether it is complete",
    "[--json] TRACE...",
    "Program, host, threads, counts, times and their error bounds, bytes per record,\n"
    "completeness and why. Every checksum is verified.\n\n"
    "      --json   an array with an object for each trace\n"
    "  -h, --help   this text\n", NULL};
