/* SPDX-License-Identifier: MIT
 *
 * cli.h: what the subcommands of `probity` share.
 */
#ifndef PROBITY_CLI_CLI_H
#define PROBITY_CLI_CLI_H

#include <getopt.h>
#include <stddef.h>
#include <stdint.h>

#include "reader/reader.h"

/* What `probity` exits with. */
enum cli_status {
    CLI_OK = 0,
    CLI_FAILURE = 1,
    CLI_USAGE = 2,
    CLI_DAMAGED = 3, /* the input is damaged or incomplete; what could be read was treated */
    CLI_LIMIT = 4    /* diff: a change beyond a limit is established */
};

/* One row of the table of subcommands. argv[0] is the subcommand's name. */
struct cli_command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary, *usage, *help;
    const char *statuses; /* what --help says of the exit status; NULL: that of most commands */
};

extern const struct cli_command cli_command_record;
extern const struct cli_command cli_command_csv;
extern const struct cli_command cli_command_log;
extern const struct cli_command cli_command_report;
extern const struct cli_command cli_command_info;
extern const struct cli_command cli_command_check;
extern const struct cli_command cli_command_recover;
extern const struct cli_command cli_command_level;
extern const struct cli_command cli_command_tree;
extern const struct cli_command cli_command_threads;
extern const struct cli_command cli_command_blocks;
extern const struct cli_command cli_command_hist;
extern const struct cli_command cli_command_diff;
extern const struct cli_command cli_command_export;
extern const struct cli_command cli_command_list;
extern const struct cli_command cli_command_model;
extern const struct cli_command cli_command_overhead;
extern const struct cli_command cli_command_runs;
extern const struct cli_command cli_command_timeline;
extern const struct cli_command cli_command_view;

/* "probity CMD: TEXT" on stderr, one line. Returns CLI_FAILURE. */
int cli_fail(const struct cli_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for a wrong call, with a pointer to --help. Returns CLI_USAGE. */
int cli_fail_usage(const struct cli_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Names the option at which getopt_long() stopped; returned is what it returned. Returns CLI_USAGE.
 */
int cli_fail_option(const struct cli_command *command, char **argv, int returned);

/* What getopt_long() is to look for, and who takes what it finds: returns CLI_OK, an exit status,
 * -1 where help was shown, or -2 where it is not one of its options. */
struct cli_options {
    const char *letters;
    const struct option *names;
    int (*take)(void *context, int option, char *value);
};

/* Takes all options; optind is then the first operand. Returns CLI_OK, an exit status, or -1 where
 * help was shown. */
int cli_take_options(const struct cli_command *command, const struct cli_options *options,
                     void *context, int argc, char **argv);

/* A line without consequence for the status. */
void cli_warn(const struct cli_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The --help of a command, on stdout. Returns CLI_OK. */
int cli_print_help(const struct cli_command *command);

/* --function PATTERN, and nothing like it was called. Returns CLI_FAILURE. */
int cli_fail_function(const struct cli_command *command, const char *pattern);

/* "'PATH': TEXT. REMEDY" for an error of the reader or the writer; error_number is errno for OPEN,
 * READ, WRITE. */
int cli_fail_trace(const struct cli_command *command, const char *path, int error,
                   int error_number);

/* Where a name ends in .csv, the trace beside it (NAME.csv.probity) is meant. malloc'ed; NULL: no
 * memory. */
char *cli_trace_path(const char *name);

/* Paths of all operands, as above. Returns NULL without memory. Free with cli_paths_free(). */
char **cli_trace_paths(char **names, size_t count);
void cli_paths_free(char **paths, size_t count);

/* Calls `run` with the paths of all operands. Returns what it does, or says why not. */
int cli_on_traces(const struct cli_command *command, char **names, size_t count,
                  int (*run)(void *context, char **paths, size_t count), void *context);

/* A command whose only option is --help: calls `one` with each operand, as given and as
 * cli_trace_path() has it. Returns the first status that is not CLI_OK, or CLI_FAILURE where there
 * is one. */
int cli_each_trace(const struct cli_command *command, int argc, char **argv,
                   int (*one)(const char *name, const char *trace));

/* Opens a reader on operands, or says why not. Returns CLI_OK or CLI_FAILURE. */
int cli_open_reader(const struct cli_command *command, char **paths, size_t count,
                    struct probity_reader_options *options, struct probity_reader **ret_reader);

/* Warns of each trace that is damaged. Returns CLI_DAMAGED or CLI_OK. */
int cli_judge_traces(const struct cli_command *command, const struct probity_reader *reader);

/* A progress line on stderr, where that is a terminal and the work takes more than a second. */
void cli_progress(void *command, uint64_t done, uint64_t total);
void cli_progress_end(void);

/* Where output goes to: a new file without a name or under a temporary one, what is there and no
 * regular file (a pipe, a device), or stdout. */
struct cli_output {
    int descriptor;
    const char *path; /* NULL: stdout */
    char *temporary;  /* NULL: written to directly */
    int is_unnamed;   /* has its temporary name only while it is closed */
    const char *const *files; /* of a folder: its files; see below */
};

/* Refuses an output that is one of the inputs. Returns CLI_OK or CLI_FAILURE. */
int cli_output_is_apart(const struct cli_command *command, const char *path, char **inputs,
                        size_t count);

/* path NULL or "-": stdout. Refuses an existing file unless force. Returns CLI_OK or CLI_FAILURE.
 */
int cli_output_open(const struct cli_command *command, const char *path, int force,
                    struct cli_output *ret_output);

/* The same for who writes by the temporary name: the file has it from the start. */
int cli_output_open_named(const struct cli_command *command, const char *path, int force,
                          struct cli_output *ret_output);

/* keep: gives the file its name; else removes it. Returns CLI_OK, or CLI_FAILURE where the output
 * is not whole. */
int cli_output_close(const struct cli_command *command, struct cli_output *output, int keep);

/* The same for an output that is a folder, in cli_folder.c: `temporary` names it until it is
 * closed. files: names of all files in it, NULL behind the last; nothing else is ever removed or
 * replaced. */
int cli_folder_open(const struct cli_command *command, const char *path, int force,
                    const char *const *files, struct cli_output *ret_output);
int cli_folder_close(const struct cli_command *command, struct cli_output *output, int keep);

/* Takes these files away and, if it is empty then, their folder. Returns 0, or -1 with errno; fit
 * for handlers of signals. */
int cli_remove_folder(const char *path, const char *const *files);

/* An output that a signal which ends the command also removes, until it is closed. */
void cli_unfinished_set(const struct cli_output *output);
void cli_unfinished_clear(void);

/* Removes it; fit for handlers of signals. */
void cli_unfinished_remove(void);

/* To be called first and last: what of a spool is cut off while a command reads it is told, and
 * makes its status CLI_DAMAGED. Returns the status. */
void cli_cut_watch(void);
int cli_cut_judge(const struct cli_command *command, int status);

/* To be called first: a JSON answer that there is no memory for ends the command, with status 1. */
void cli_memory_init(void);
void cli_memory_end(void);

#endif
