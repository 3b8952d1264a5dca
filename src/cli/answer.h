/* SPDX-License-Identifier: MIT
 *
 * answer.h: what commands that read traces once and then print an answer have in common: the
 * options for output, range and threads, and the way from operands to exit status.
 */
#ifndef PROBITY_CLI_ANSWER_H
#define PROBITY_CLI_ANSWER_H

#include <stdio.h>

#include "analysis/report.h"
#include "cli/cli.h"
#include "cli/filter.h"

/* What a command does in between. Each returns 0 or an error of probity_reader_next(), where it
 * does not say else. */
struct cli_answer_steps {
    struct cli_options options; /* `take` leaves those of all answers to cli_answer_option() */
    /* What is to be checked before cli_answer_run() and told behind it; returns an exit status.
     * NULL: nothing. */
    int (*run)(void *context, char **names, size_t count);
    /* Before the first event; from_ns and to_ns are 0 without a range. */
    int (*open)(void *context, uint64_t from_ns, uint64_t to_ns);
    int (*put)(void *context, const struct probity_event *event);
    int (*finish)(void *context, const struct probity_reader *reader);
    int (*print)(void *context, FILE *stream, const struct probity_reader *reader, int has_colour);
    void (*release)(void *context); /* whatever was reached; NULL: nothing */
};

struct cli_answer {
    const struct cli_command *command;
    const struct cli_answer_steps *steps;
    void *context;
    const struct probity_reader *reader; /* from open on */
    /* In place of open and print, where output does not wait for the last event: takes the events
     * with cli_answer_take() and returns an exit status. NULL: none. */
    int (*stream)(void *context, struct probity_reader *reader, uint64_t from_ns, uint64_t to_ns);
    const char *out;
    struct cli_range range;
    int force, as_json, as_csv;
    int keeps_sites; /* 1: sites are put whichever thread declares them */
    struct cli_filter tids;
};

/* Rows of tables of long options: -o, -f, -h and those without a letter of their own. */
#define CLI_ANSWER_OPTIONS_NAMED(FROM, TO)                                                         \
    {"output", required_argument, NULL, 'o'}, {"force", no_argument, NULL, 'f'},                   \
    {FROM, required_argument, NULL, 'F'}, {TO, required_argument, NULL, 'T'},                      \
    {"tid", required_argument, NULL, 't'}, {"help", no_argument, NULL, 'h'}
#define CLI_ANSWER_FORMS                                                                           \
    {"json", no_argument, NULL, 'j'}, {"csv", no_argument, NULL, 'c'}
#define CLI_ANSWER_OPTIONS CLI_ANSWER_OPTIONS_NAMED("from", "to")
#define CLI_ANSWER_OPTIONS_SINCE CLI_ANSWER_OPTIONS_NAMED("since", "until") /* range.has_since: 1 */

/* Returns CLI_OK, CLI_USAGE, -1 where help was shown, or -2 where it is not one of these. */
int cli_answer_option(struct cli_answer *answer, int option, const char *value);

/* Whether an event is of a thread that is wanted, or concerns all. */
int cli_answer_wants(struct cli_answer *answer, const struct probity_event *event);

/* Puts all events of the threads that are wanted, and finishes. Returns 0 or an error. */
int cli_answer_take(struct cli_answer *answer, struct probity_reader *reader);

/* Adds what profile mode has counted for the threads that were asked for to a report (NULL: to
 * none), and the number of calls to *calls (NULL: nowhere). It has no times of day: no range leaves
 * any of it out. Returns 0 or an error. */
int cli_answer_profiles(struct cli_answer *answer, const struct probity_reader *reader,
                        struct probity_report *report, uint64_t *calls);

/* One line where paths lack levels since they were too deep to be written in full. */
void cli_answer_tell_shortened(const struct cli_answer *answer, uint64_t shortened);

/* Whether lines and bars may be other than ASCII: whoever has set no locale may have no font. */
int cli_answer_is_utf8(void);

/* Columns of the terminal that the answer goes to; 80 without one. */
size_t cli_answer_columns(const struct cli_answer *answer);

/* The same for tables, which may be as wide as they like where there is none: 0 then. */
size_t cli_answer_line_columns(const struct cli_answer *answer);

/* Reads the traces and prints. Returns an exit status. */
int cli_answer_run(struct cli_answer *answer, char **names, size_t count);

/* All of a command: takes the options, runs on the operands, releases. Returns an exit status. */
int cli_answer_main(struct cli_answer *answer, int argc, char **argv);

#endif
