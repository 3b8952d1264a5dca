/* SPDX-License-Identifier: MIT
 *
 * commands_without_programs.c: replaces attach, detach and ship if the tool is built with
 * -DPROBITY_WITHOUT_PROGRAMS, for systems on which they are not implemented: each fails with a
 * message. doc/porting.md lists the files that are then left out.
 */
#include "cli/cli.h"

#ifdef PROBITY_WITHOUT_PROGRAMS

#include <string.h>

#include "cli/option.h"

static const struct cli_option no_options[] = {{.name = NULL}};

static int is_help(int argc, char **argv)
{
    return argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
}

#define MISSING_COMMAND(word, does, cannot)                                                       \
    static int run_##word(int argc, char **argv)                                                  \
    {                                                                                             \
        if (is_help(argc, argv))                                                                  \
            return cli_print_help(&cli_command_##word);                                           \
        return cli_fail(&cli_command_##word, "this build cannot " cannot);                        \
    }                                                                                             \
    const struct cli_command cli_command_##word = {                                               \
        .name = #word, .run = run_##word, .summary = does " (not in this build)", .usage = "",    \
        .help = "This build cannot " cannot ".", .options = no_options};

MISSING_COMMAND(attach, "Start recording a running program",
                "start recordings in running programs; set PROBITY_OUT=FILE before they start")
MISSING_COMMAND(detach, "End the recording of a running program",
                "end recordings in running programs")
MISSING_COMMAND(ship, "Send traces to a ClickHouse database",
                "send to a database (requires libcurl)")

#endif
