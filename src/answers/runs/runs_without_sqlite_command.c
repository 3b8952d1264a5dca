/* SPDX-License-Identifier: MIT
 *
 * runs_without_sqlite_command.c: replaces `probity runs` if the tool is built with
 * -DPROBITY_WITHOUT_SQLITE.
 */
#include "cli/cli.h"

#ifdef PROBITY_WITHOUT_SQLITE

#include <string.h>

#include "cli/option.h"

static const struct cli_option no_options[] = {{.name = NULL}};

static int run(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return cli_print_help(&cli_command_runs);
    return cli_fail(&cli_command_runs, "this build cannot keep runs (requires SQLite)");
}

const struct cli_command cli_command_runs = {
    .name = "runs", .run = run, .summary = "Keep a history of runs (not in this build)",
    .usage = "", .help = "This build cannot keep runs (requires SQLite).", .options = no_options};

#endif
