/* SPDX-License-Identifier: MIT
 *
 * main.c: the table of subcommands, and their common parts: help, version, checking stdout.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/library.h"
#include "base/os.h"
#include "cli/jobs.h"
#include "cli/option.h"
#include "cli/suggest.h"
#include "reader/bundle.h"
#include "reader/functions.h"
#include "symbols/locate.h"
#include "symbols/symbols.h"

static const struct cli_command *const commands[] = {
    &cli_command_record,
    &cli_command_csv,
    &cli_command_log,
    &cli_command_report,
    &cli_command_info,
    &cli_command_index,
    &cli_command_merge,
    &cli_command_check,
    &cli_command_recover,
    &cli_command_drain,
    &cli_command_spools,
    &cli_command_ps,
    &cli_command_top,
    &cli_command_level,
    &cli_command_snapshot,
    &cli_command_attach,
    &cli_command_detach,
    &cli_command_tree,
    &cli_command_waits,
    &cli_command_path,
    &cli_command_why,
    &cli_command_ship,
    &cli_command_fetch,
    &cli_command_fleet,
    &cli_command_threads,
    &cli_command_memory,
    &cli_command_blocks,
    &cli_command_hist,
    &cli_command_diff,
    &cli_command_export,
    &cli_command_list,
    &cli_command_model,
    &cli_command_overhead,
    &cli_command_runs,
    &cli_command_timeline,
    &cli_command_view,
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static const struct cli_command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    }
    return NULL;
}

/* Returns CLI_USAGE. */
static int fail_command(const char *name)
{
    struct cli_suggestion suggestion;

    cli_suggest_begin(&suggestion, name, strlen(name));
    for (size_t i = 0; i < COMMANDS; i++)
        cli_suggest_take(&suggestion, commands[i]->name);
    if (suggestion.best != NULL)
        fprintf(stderr, "probity: unknown command '%s'; did you mean '%s'?\n", name,
                suggestion.best);
    else
        fprintf(stderr, "probity: unknown command '%s'; see 'probity --help'\n", name);
    return CLI_USAGE;
}

static void print_overview(FILE *stream)
{
    fputs("Usage: probity [--jobs N] COMMAND [OPTION]... [ARGUMENT]...\n"
          "       probity COMMAND --help | --help | --version\n\n"
          "Records probes of C and C++ programs and analyzes the traces.\n\n", stream);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(stream, "  %-8s  %s\n", commands[i]->name, commands[i]->summary);
    fputs("\n  --jobs N  read traces with at most N threads; more than 2 have no effect\n"
          "            (default: the number of CPUs; 1 for small traces)\n", stream);
    fputs("\nA TRACE may be complete, live, copied, truncated, damaged or left by a killed\n"
          "program. NAME.csv means the trace NAME.csv.probity in the same directory.\n\n"
          "Exit status: 0 success; 1 failure; 2 usage error; 3 the input is damaged or incomplete\n"
          "and partial results were printed. Records dropped by choice (mode drop, a limit) count\n"
          "only for CSV, which cannot report them. `record` exits with its program's status.\n",
          stream);
}

/* Checks that all output was written: a full disk is an error. */
static int check_stdout(int status)
{
    errno = 0;
    int failed = fflush(stdout) != 0 || ferror(stdout);
    /* `csv` has already closed and checked stdout. */
    if (failed || (fclose(stdout) != 0 && errno != EBADF)) {
        fprintf(stderr, "probity: cannot write to standard output: %s\n",
                errno != 0 ? strerror(errno) : "output error");
        return CLI_FAILURE;
    }
    return status;
}

/* `probity help CMD` is the same as `probity CMD --help`. */
static int help(int argc, char **argv)
{
    const struct cli_command *command = argc > 1 ? find_command(argv[1]) : NULL;

    if (argc > 1 && command == NULL)
        return fail_command(argv[1]);
    if (command != NULL)
        return cli_print_help(command);
    print_overview(stdout);
    return CLI_OK;
}

static const struct cli_command *running;

static void warn_unused(const char *path, const char *why)
{
    cli_warn(running, "debugging information of '%s' is not used: %s", path, why);
}

/* Options before the command are options of `probity`; options after it are options of the
 * command. */
static int run(int argc, char **argv)
{
    int taken = cli_jobs_take(argc, argv);

    if (taken < 0)
        return CLI_USAGE;
    argc -= taken;
    argv += taken;
    const char *name = argv[1];

    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return help(argc - 1, argv + 1);
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0 || strcmp(name, "version") == 0) {
        printf("probity %s\n", probity_version());
        return CLI_OK;
    }
    /* For the build, which stores the output in completion/. */
    if (strcmp(name, "--completion") == 0 && argc == 3)
        return cli_completion_print(stdout, argv[2], commands, COMMANDS);
    const struct cli_command *command = find_command(name);
    if (command == NULL)
        return fail_command(name);
    if (command->is_for_running && probity_os_short_turns() == 0)
        probity_os_yield();
    cli_cut_watch();
    running = command;
    int status = command->run(argc - 1, argv + 1);
    cli_progress_end();
    return cli_cut_judge(command, status);
}

/* If the caller closed a standard stream, a file opened later must not get its number, because
 * messages would go there. Writing to a closed stdout still fails. */
static void fill_streams(void)
{
    for (int stream = 0; stream <= 2; stream++) {
        if (fcntl(stream, F_GETFD) >= 0)
            continue;
        int filled = open("/dev/null", stream == 2 ? O_WRONLY : O_RDONLY);
        if (filled < 0)
            return;
    }
}

/* An error, not a warning: an answer without the library's part might pass for a complete one. */
static void end_without_library(const char *message)
{
    cli_unfinished_remove();
    fprintf(stderr, "probity: %s\n", message);
    exit(CLI_FAILURE);
}

int main(int argc, char **argv)
{
    fill_streams();
    cli_memory_init();
    probity_library_on_failure = end_without_library;
    probity_range_open_member = probity_bundle_open_member;
    probity_functions_demangle = symbols_demangle;
    probity_functions_locate = symbols_locate;
    symbols_locate_on_no_memory(cli_memory_end);
    symbols_on_unused(warn_unused);
    opterr = 0; /* subcommands report invalid options */
    if (argc < 2) {
        print_overview(stderr);
        return CLI_USAGE;
    }
    return check_stdout(run(argc, argv));
}
