/* SPDX-License-Identifier: MIT
 *
 * cli.h: shared by the subcommands of `probity`.
 */
#ifndef PROBITY_CLI_CLI_H
#define PROBITY_CLI_CLI_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "reader/reader.h"

/* Exit statuses of `probity`. */
enum cli_status {
    CLI_OK = 0,
    CLI_FAILURE = 1,
    CLI_USAGE = 2,
    CLI_DAMAGED = 3, /* the input is damaged or incomplete; partial results were printed */
    CLI_LIMIT = 4    /* diff: a change beyond a limit is significant */
};

struct cli_option; /* option.h */

/* What completions offer for an operand. */
struct cli_operand {
    const char *label;
    const char *choices; /* separated by spaces; NULL: files */
    int is_program, repeats;
};

/* One row of the table of subcommands. argv[0] is the subcommand's name. */
struct cli_command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary, *usage;
    const char *help;  /* paragraphs before the options, wrapped; lines that begin with a space are
                        * printed as they are */
    const char *notes; /* the same, after the options; NULL: none */
    const char *statuses; /* exit statuses for --help; NULL: those of most commands */
    const struct cli_option *options;
    const struct cli_operand *operands; /* the last has no label; NULL: traces */
    int stops_at_operand; /* 1: what follows the first operand is not an option */
};

extern const struct cli_command cli_command_record;
extern const struct cli_command cli_command_csv;
extern const struct cli_command cli_command_log;
extern const struct cli_command cli_command_report;
extern const struct cli_command cli_command_info;
extern const struct cli_command cli_command_check;
extern const struct cli_command cli_command_recover;
extern const struct cli_command cli_command_drain;
extern const struct cli_command cli_command_spools;
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

/* Prints an untrusted name or text on one line of a terminal: control characters as escapes. */
void cli_put_text(FILE *stream, const char *text);

/* "probity CMD: TEXT" on stderr, one line, as above. Returns CLI_FAILURE. */
int cli_fail(const struct cli_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for a usage error, with a pointer to --help. Returns CLI_USAGE. */
int cli_fail_usage(const struct cli_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A line that does not affect the exit status. */
void cli_warn(const struct cli_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The --help of a command, on stdout. Returns CLI_OK. */
int cli_print_help(const struct cli_command *command);

/* --function PATTERN matched no call. Returns CLI_FAILURE. */
int cli_fail_function(const struct cli_command *command, const char *pattern);

/* "'PATH': TEXT. REMEDY" for an error of the reader or the writer; error_number is errno for OPEN,
 * READ, WRITE. */
int cli_fail_trace(const struct cli_command *command, const char *path, int error,
                   int error_number);

/* A name ending in .csv means the trace next to it (NAME.csv.probity). malloc'ed; NULL: out of
 * memory. */
char *cli_trace_path(const char *name);

/* Paths of all operands, as above. Returns NULL if out of memory. Free with cli_paths_free(). */
char **cli_trace_paths(char **names, size_t count);
void cli_paths_free(char **paths, size_t count);

/* Calls `run` with the paths of all operands. Returns its result, or reports why it was not
 * called. */
int cli_on_traces(const struct cli_command *command, char **names, size_t count,
                  int (*run)(void *context, char **paths, size_t count), void *context);

/* Calls `one` with each operand, as given and as cli_trace_path() returns it. Returns the first
 * status that is not CLI_OK, or CLI_FAILURE if there is one. */
int cli_each_operand(const struct cli_command *command, char **names, size_t count,
                     int (*one)(const char *name, const char *trace));

/* Opens a reader on operands, each trace once, or reports an error. May reorder the paths. Returns
 * CLI_OK or CLI_FAILURE. */
int cli_open_reader(const struct cli_command *command, char **paths, size_t count,
                    struct probity_reader_options *options, struct probity_reader **ret_reader);

/* Warns about each damaged trace. Returns CLI_DAMAGED or CLI_OK. */
int cli_judge_traces(const struct cli_command *command, const struct probity_reader *reader);

/* The same for output that cannot report missing records, such as CSV: also warns about each trace
 * with records dropped while recording. */
int cli_judge_bare(const struct cli_command *command, const struct probity_reader *reader);

/* A progress line on stderr, if that is a terminal and the work takes more than a second. */
void cli_progress(void *command, uint64_t done, uint64_t total);
void cli_progress_end(void);

/* Destination of output: a new file, unnamed or under a temporary name; an existing file that is
 * not regular (a pipe, a device); or stdout. */
struct cli_output {
    int descriptor;
    const char *path; /* NULL: stdout */
    char *temporary;  /* NULL: written directly */
    int is_unnamed;   /* has its temporary name only while it is closed */
    const char *const *files; /* of a directory: its files; see below */
};

/* Refuses an output that is one of the inputs. Returns CLI_OK or CLI_FAILURE. */
int cli_output_is_apart(const struct cli_command *command, const char *path, char **inputs,
                        size_t count);

/* path NULL or "-": stdout. Refuses an existing file unless force. Returns CLI_OK or CLI_FAILURE.
 */
int cli_output_open(const struct cli_command *command, const char *path, int force,
                    struct cli_output *ret_output);

/* The same for a caller that opens the file by its temporary name: it has that name from the start.
 */
int cli_output_open_named(const struct cli_command *command, const char *path, int force,
                          struct cli_output *ret_output);

/* keep: gives the file its name; otherwise removes it. Returns CLI_OK, or CLI_FAILURE if the output
 * is incomplete. */
int cli_output_close(const struct cli_command *command, struct cli_output *output, int keep);

/* The same for an output directory, in cli_directory.c: `temporary` names it until it is closed.
 * files: names of all files in it, NULL after the last; nothing else is ever removed or
 * replaced. */
int cli_directory_open(const struct cli_command *command, const char *path, int force,
                    const char *const *files, struct cli_output *ret_output);
int cli_directory_close(const struct cli_command *command, struct cli_output *output, int keep);

/* Removes these files and, if it is then empty, their directory. Returns 0, or -1 with errno;
 * async-signal-safe. */
int cli_remove_directory(const char *path, const char *const *files);

/* Sets the output that is removed if a signal ends the command before it is closed. */
void cli_unfinished_set(const struct cli_output *output);
void cli_unfinished_clear(void);

/* Removes it; async-signal-safe. */
void cli_unfinished_remove(void);

/* Call these first and last: if a spool is truncated while a command reads it, that is reported,
 * and the status becomes CLI_DAMAGED. Returns the status. */
void cli_cut_watch(void);
int cli_cut_judge(const struct cli_command *command, int status);

/* Call first: running out of memory in a JSON answer ends the command, with status 1. */
void cli_memory_init(void);
void cli_memory_end(void);

#endif
