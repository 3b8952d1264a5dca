/* SPDX-License-Identifier: MIT
 *
 * record_without_programs.c: replaces, if the tool is built with -DPROBITY_WITHOUT_PROGRAMS, the
 * parts of `probity record` that preload libraries, read the program's debug information or write
 * its trace from outside: their options fail with a message before anything is changed.
 */
#include "cli/arguments.h"
#include "cli/preload.h"
#include "cli/program_file.h"

#ifdef PROBITY_WITHOUT_PROGRAMS

#include <string.h>

int cli_preload_check(const struct cli_command *command)
{
    return cli_fail(command, "this build cannot preload libraries into programs: --functions and "
                    "--calls are not available");
}

char *cli_preload(const struct cli_command *command, int functions, int calls,
                  const char *sanitizer)
{
    (void)functions;
    (void)calls;
    (void)sanitizer;
    cli_preload_check(command);
    return NULL;
}

void cli_program_inspect(const char *program, struct cli_program_file *ret_file)
{
    (void)program;
    memset(ret_file, 0, sizeof *ret_file);
}

int cli_arguments_check(const struct cli_command *command, const struct cli_arguments *arguments)
{
    if (arguments->arguments.count + arguments->results.count + arguments->files.count == 0)
        return CLI_OK;
    return cli_fail(command, "this build cannot describe functions of programs: --args, --returns "
                    "and --args-in are not available");
}

int cli_arguments_describe(const struct cli_command *command,
                           const struct cli_arguments *arguments, const char *program,
                           int *ret_descriptor)
{
    (void)program;
    *ret_descriptor = -1;
    return cli_arguments_check(command, arguments);
}

void cli_arguments_release(struct cli_arguments *arguments)
{
    cli_patterns_release(&arguments->arguments);
    cli_patterns_release(&arguments->results);
    cli_patterns_release(&arguments->files);
}

#endif
