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
    CLI_DAMAGED = 3, /* damaged or incomplete input; partial results were printed */
    CLI_LIMIT = 4    /* diff: a change significantly exceeds a limit */
};

struct cli_option; /* option.h */

/* Completions for an operand. */
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
    const char *help;  /* printed before the options; paragraphs are wrapped, lines that begin with
                        * a space are not */
    const char *notes; /* the same, printed after the options; or NULL */
    const char *statuses; /* exit statuses for --help; NULL: the usual ones */
    const struct cli_option *options;
    const struct cli_operand *operands; /* ends with one without a label; NULL: traces */
    int stops_at_operand; /* 1: options must precede the first operand */
    int shows_hosts;      /* 1: prints how clocks were aligned, so a warning would repeat it */
    int is_for_running;   /* 1: runs with a short time slice, since it is used while other programs
                           * work */
};

extern const struct cli_command cli_command_record;
extern const struct cli_command cli_command_csv;
extern const struct cli_command cli_command_log;
extern const struct cli_command cli_command_report;
extern const struct cli_command cli_command_info;
extern const struct cli_command cli_command_index;
extern const struct cli_command cli_command_merge;
extern const struct cli_command cli_command_check;
extern const struct cli_command cli_command_recover;
extern const struct cli_command cli_command_drain;
extern const struct cli_command cli_command_spools;
extern const struct cli_command cli_command_ps;
extern const struct cli_command cli_command_top;
extern const struct cli_command cli_command_level;
extern const struct cli_command cli_command_snapshot;
extern const struct cli_command cli_command_attach;
extern const struct cli_command cli_command_detach;
extern const struct cli_command cli_command_tree;
extern const struct cli_command cli_command_threads;
extern const struct cli_command cli_command_memory;
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
extern const struct cli_command cli_command_waits;
extern const struct cli_command cli_command_path;
extern const struct cli_command cli_command_why;
extern const struct cli_command cli_command_ship;
extern const struct cli_command cli_command_fetch;
extern const struct cli_command cli_command_fleet;

/* ---- message.c ---- */

/* Prints untrusted text on one line of a terminal, with control characters escaped. */
void cli_put_text(FILE *stream, const char *text);

/* Prints "probity CMD: TEXT" as one line on stderr. Returns CLI_FAILURE. */
int cli_fail(const struct cli_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Same as above for a usage error, with a hint at --help. Returns CLI_USAGE. */
int cli_fail_usage(const struct cli_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Same as above without affecting the exit status; nothing with --quiet. */
void cli_warn(const struct cli_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reports that --limit ended the output. noun: the items that it counts, in the plural. */
void cli_warn_stopped(const struct cli_command *command, size_t limit, const char *noun);

/* "'PATH': TEXT. REMEDY" for an error of the reader or writer; error_number is errno for OPEN,
 * READ, WRITE. */
int cli_fail_trace(const struct cli_command *command, const char *path, int error,
                   int error_number);

/* For --quiet. */
void cli_be_quiet(void);

/* Shows a progress line on stderr if that is a terminal and the work takes more than a second,
 * unless --quiet is given. */
void cli_progress(void *command, uint64_t done, uint64_t total);
void cli_progress_end(void);

/* Begins a pass over traces. This pass and those expected after it each get an equal share of the
 * remaining percentage, so the percentage never falls. If a pass reads nothing, the next one gets
 * its share. */
void cli_progress_pass(void);

/* Sets the number of passes expected after that of the next reader to be opened; initially 0.
 * Returns the previous number. */
unsigned cli_progress_expect(unsigned passes);

/* Expects one more pass, as found out during the current one: both share the remaining
 * percentage. */
void cli_progress_expect_more(void);

/* ---- inputs.c ---- */

/* A name ending in .csv refers to the trace next to it (NAME.csv.probity). malloc'ed; NULL if out
 * of memory. */
char *cli_trace_path(const char *name);

/* Returns the paths of all operands, as above; "-" is standard input, which is copied to a
 * temporary file if it is not a regular file. A bundle is replaced with its traces, and *count is
 * updated. Returns NULL after reporting why this is impossible. Free with cli_paths_free(). */
char **cli_trace_paths(const struct cli_command *command, char **names, size_t *count);
void cli_paths_free(char **paths, size_t count);

/* Calls `run` with the paths of all operands and returns its result, or CLI_FAILURE after reporting
 * an error. */
int cli_on_traces(const struct cli_command *command, char **names, size_t count,
                  int (*run)(void *context, char **paths, size_t count), void *context);

/* Calls `one` for each operand, with its name and its cli_trace_path(). Returns the first status
 * that is not CLI_OK; CLI_FAILURE takes precedence. */
int cli_each_operand(const struct cli_command *command, char **names, size_t count,
                     int (*one)(const char *name, const char *trace));

/* Opens a reader on the operands, with each trace only once, or reports an error. May reorder the
 * paths. Returns CLI_OK or CLI_FAILURE. */
int cli_open_reader(const struct cli_command *command, char **paths, size_t count,
                    struct probity_reader_options *options, struct probity_reader **ret_reader);

/* Warns about each damaged trace. Returns CLI_DAMAGED or CLI_OK. */
int cli_judge_traces(const struct cli_command *command, const struct probity_reader *reader);

/* Same as above for output such as CSV, which cannot report missing records: also warns about
 * traces that dropped records. */
int cli_judge_bare(const struct cli_command *command, const struct probity_reader *reader);

/* ---- output_file.c ---- */

/* Checks the name of a trace to be written; NULL: the default name. Rejects "-", which is standard
 * output in other commands. Returns CLI_OK or CLI_USAGE. */
int cli_check_out(const struct cli_command *command, const char *out);

/* Destination of output: a new file, unnamed or under a temporary name; an existing file that is
 * not regular (a pipe or device); or stdout. */
struct cli_output {
    int descriptor;
    const char *path; /* NULL: stdout */
    char *temporary;  /* NULL: write directly */
    int is_unnamed;   /* gets a name only when it is closed */
    int may_replace;  /* -f: may replace a file with this name, even one created later */
    const char *const *files; /* for a directory: the names in it; see below */
};

/* Rejects an output that is also an input. Returns CLI_OK or CLI_FAILURE. */
int cli_output_is_apart(const struct cli_command *command, const char *path, char **inputs,
                        size_t count);

/* path NULL or "-": stdout. Does not overwrite existing files unless force. Returns CLI_OK or
 * CLI_FAILURE.
 */
int cli_output_open(const struct cli_command *command, const char *path, int force,
                    struct cli_output *ret_output);

/* Same as above, for a caller that opens the file by its temporary name. */
int cli_output_open_named(const struct cli_command *command, const char *path, int force,
                          struct cli_output *ret_output);

/* keep: 1 gives the file its final name, 0 removes it. Returns CLI_OK, or CLI_FAILURE if the output
 * is incomplete, or if the name now exists and may not be replaced. */
int cli_output_close(const struct cli_command *command, struct cli_output *output, int keep);

/* ---- cli_directory.c, cli_unfinished.c, cli_sigbus.c, cli_memory.c ---- */

/* The same for a directory. Until it is closed, its name is `temporary`. files: the names of all
 * files in it, ending with NULL; no other files are ever removed or replaced. */
int cli_directory_open(const struct cli_command *command, const char *path, int force,
                    const char *const *files, struct cli_output *ret_output);
int cli_directory_close(const struct cli_command *command, struct cli_output *output, int keep);

/* Renames a file or directory, but never replaces an existing file. On file systems without
 * RENAME_NOREPLACE (such as NFS), a file is linked instead; without links, a file that is created
 * at the last moment may be replaced. Returns 0, or -1 with errno. */
int cli_rename_new(const char *from, const char *to);

/* Prints why (errno) an output did not get its final name. Returns CLI_FAILURE. */
int cli_fail_rename(const struct cli_command *command, const struct cli_output *output);

/* Removes these files, and their directory if it is then empty. Returns 0, or -1 with errno;
 * async-signal-safe. */
int cli_remove_directory(const char *path, const char *const *files);

/* Sets the output to remove if a signal ends the command before the output is closed. */
void cli_unfinished_set(const struct cli_output *output);
void cli_unfinished_clear(void);

/* Removes that output; async-signal-safe. */
void cli_unfinished_remove(void);

/* A command calls these first and last. If a spool is truncated while the command reads it, reports
 * this and changes the status to CLI_DAMAGED. Returns the status. */
void cli_cut_watch(void);
int cli_cut_judge(const struct cli_command *command, int status);

/* Call first: makes a command that runs out of memory for a JSON answer end with status 1. */
void cli_memory_init(void);
void cli_memory_end(void);

#endif
