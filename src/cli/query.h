/* SPDX-License-Identifier: MIT
 *
 * query.h: for commands that read traces once and print an answer: their common options, and all
 * steps from operands to exit status.
 */
#ifndef PROBITY_CLI_QUERY_H
#define PROBITY_CLI_QUERY_H

#include <stdio.h>

#include "answers/report/report.h"
#include "cli/align.h"
#include "cli/cli.h"
#include "cli/filter.h"
#include "cli/fleet_options.h"
#include "cli/option.h"
#include "cli/patterns.h"
#include "cli/time_range.h"
#include "cli/within.h"
#include "reader/run.h"

/* Functions that make an answer in two parts, each from the events of half of the threads, for
 * traces without a time range and without --tid. Unless noted, they return 0 or an error. */
struct cli_query_parts {
    /* Whether it is possible with the given options: 1 or 0. */
    int (*is_possible)(void *context);
    int (*make)(void *context, void **ret_part);
    int (*put)(void *part, const struct probity_event *event); /* by one thread for each part */
    int (*put_run)(void *part, const struct probity_run *run); /* NULL: events are put one by one */
    /* Whether two complete parts may be joined; NULL: they always may. */
    int (*are_joinable)(const void *left, const void *right);
    /* Adds a complete part to the answer, after open. */
    int (*join)(void *context, void *part);
    void (*drop)(void *part); /* called after print */
};

/* The steps of a command. Unless noted, each returns 0 or an error of probity_reader_next(). */
struct cli_query_steps {
    /* Checks the options, calls cli_query_run() and makes the remaining reports. Returns an exit
     * status. NULL: just cli_query_run(). */
    int (*run)(void *context, char **names, size_t count);
    /* Called before the first event; from_ns and to_ns are 0 without a range. */
    int (*open)(void *context, uint64_t from_ns, uint64_t to_ns);
    int (*put)(void *context, const struct probity_event *event);
    int (*put_run)(void *context, const struct probity_run *run); /* NULL: events are put one by
                                                                   * one */
    /* Returns the number of calls, or periods of other kinds, that began in the range and have not
     * ended; if it is 0, nothing after the range matters. NULL: always 0. */
    uint64_t (*pending)(void *context);
    /* Whether, according to the indexes of the traces, no events except declarations can matter: 1
     * or 0. NULL: any may. */
    int (*is_empty)(void *context, const struct probity_reader *reader);
    int (*finish)(void *context, const struct probity_reader *reader);
    int (*print)(void *context, FILE *stream, const struct probity_reader *reader, int has_color);
    void (*release)(void *context); /* on success and failure alike; may be NULL */
    const struct cli_query_parts *parts; /* NULL: it cannot be made in parts */
    int wants;       /* CLI_QUERY_CALLS or _HITS: contents of the answer; 0: both */
    int is_windowed; /* 1: depends only on declarations and open scopes from before the range */
    int has_waits; /* 1: is_windowed only applies to traces without waits */
    int resumes_waits; /* with has_waits: CLI_QUERY_WAITS_... if the answer can continue from the
                        * state of waits at a mark of an index; 0: it cannot */
    int has_next; /* 1: also needs each thread's next record after the range and after pending
                   * calls */
    int has_past_of_functions; /* 1: with --function, also depends on events before the range */
};

enum { CLI_QUERY_CALLS = 1, CLI_QUERY_HITS = 2 };

/* Which waits matter: only those that begin in the range, or also those that last into it. */
enum { CLI_QUERY_WAITS_OF_RANGE = 1, CLI_QUERY_WAITS_BEFORE = 2 };

struct cli_query {
    const struct cli_command *command;
    const struct cli_query_steps *steps;
    void *context;
    const struct probity_reader *reader; /* set before open */
    /* Replaces open and print if the output is written while events are read: reads them with
     * cli_query_take() and returns an exit status. May be NULL. */
    int (*stream)(void *context, struct probity_reader *reader, uint64_t from_ns, uint64_t to_ns);
    const char *out;
    struct cli_range range;
    int force, as_json, as_csv;
    int is_bare;     /* 1: the output (such as CSV) cannot show what the traces lack */
    int has_states;  /* 1: thread states are among the events, if there are any */
    int keeps_sites; /* 1: --tid does not filter declarations of sites */
    uint64_t begin_ns, end_ns; /* range; begin_ns is the maximum after its end */
    int wants; /* overrides that of the steps, if that depends on the options; 0: does not
                * override */
    int is_whole; /* 1: not made in parts, although that is possible */
    int is_again; /* 1: must be made again from the beginning, and not in parts */
    unsigned seen; /* bits of kinds of events in the range, up to CHECKPOINT */
    struct cli_filter tids;
    int has_all_tids; /* 1: --tid selects rows, not events: the command applies it */
    struct cli_filter probes; /* --probe: hits of other probes are left out */
    struct cli_patterns functions; /* --function: only events in their calls */
    int has_all_functions; /* 1: --function selects rows, not events: the command applies it */
    struct cli_within *within;     /* of one pass over the events; or NULL */
    struct cli_fleet_source source; /* database to read instead of traces, for commands that can do
                                     * so */
};

/* Rows for the table of options of a command whose context, CALL, has a `struct cli_query
 * answer`. */
#define CLI_QUERY_RANGE_ROWS(CALL, WHAT) CLI_RANGE_ROWS(CALL, answer.range, "from", "to", WHAT)
#define CLI_QUERY_SINCE_ROWS(CALL, WHAT) CLI_RANGE_ROWS(CALL, answer.range, NULL, NULL, WHAT)
#define CLI_QUERY_TID_ROW(CALL, HELP)                                                              \
    {.name = "tid", .older = "thread", .value = "N,...", .help = HELP " these thread ids",         \
     .brief = HELP " these threads", CLI_NUMBERS(CALL, answer.tids)}
#define CLI_QUERY_WITHIN_ROW(CALL)                                                                 \
    {.name = "function", .value = "PATTERN", .brief = "only calls of functions that match",        \
     .help = "only calls of functions that match (* ? [a-z]), and what happens in them; may be "   \
             "repeated",                                                                           \
     CLI_PATTERNS(CALL, answer.functions)}
#define CLI_QUERY_PROBE_ROW(CALL)                                                                  \
    {.name = "probe", .value = "ID,...", .brief = "ignore all other probes",                       \
     .help = "ignore hits of all probes except these numbers or names",                            \
     CLI_NAMES(CALL, answer.probes)}
#define CLI_QUERY_JSON_ROW(CALL, HELP)                                                             \
    {.name = "json", .help = HELP, .brief = "print JSON", CLI_FLAG(CALL, answer.as_json)}
#define CLI_QUERY_CSV_ROW(CALL, HELP)                                                              \
    {.name = "csv", .help = HELP, .brief = "print CSV", CLI_FLAG(CALL, answer.as_csv)}
#define CLI_QUERY_OUTPUT_ROWS(CALL)                                                                \
    CLI_OUTPUT_ROWS(CALL, answer.out, answer.force), CLI_ALIGN_ROW, CLI_COLOR_ROW,                \
        CLI_QUIET_ROW, CLI_HELP_ROW

/* Call before each pass over the events, except those of cli_query_take(). Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int cli_query_restart(struct cli_query *answer);

/* Whether the next event in time order passes --tid, --probe and --function; some events concern
 * all threads. *event may be replaced, until the next call. Returns 1, 0 or
 * PROBITY_ERROR_MEMORY. */
int cli_query_wants(struct cli_query *answer, const struct probity_event **event);

/* With has_all_tids: whether --tid selects an event, or the event concerns all threads. 1 or 0. */
int cli_query_is_of_tids(struct cli_query *answer, const struct probity_event *event);

/* With has_all_functions: whether --function selects what happened in a thread at a time shortly
 * before the event that is being put. 1 or 0. */
int cli_query_is_within(const struct cli_query *answer, uint32_t thread_slot, uint64_t wall_ns);

/* Reports a --function that no call matched. Returns CLI_OK or CLI_FAILURE. */
int cli_query_check_functions(const struct cli_query *answer);

/* Reads all events, then prints; returns an exit status. For `stream` functions that check the
 * traces first. */
int cli_query_collect(struct cli_query *answer, struct probity_reader *reader, uint64_t from_ns,
                      uint64_t to_ns);

/* Whether records outside the range may be skipped, if an index is used. */
int cli_query_is_windowed(const struct cli_query *answer);

/* Call before a pass: skips those records if possible. Returns an exit status. */
int cli_query_set_window(struct cli_query *answer, struct probity_reader *reader, uint64_t from_ns,
                         uint64_t to_ns);

/* A pass over the events; put and pending as in the steps. */
struct cli_query_pass {
    int (*put)(void *context, const struct probity_event *event);
    uint64_t (*pending)(void *context); /* may be NULL */
    void *context;
    /* Puts a run of events, with the same result as one by one; NULL: there is no faster way. */
    int (*put_run)(void *context, const struct probity_run *run);
};

/* Puts the events that pass --tid, --probe and --function. Returns 0 or an error. */
int cli_query_read(struct cli_query *answer, struct probity_reader *reader,
                   const struct cli_query_pass *pass);

/* Puts all runs that come next. Adds the kinds of their events at or after begin_ns to *seen.
 * Returns 0 or an error. */
int cli_query_put_runs(struct probity_reader *reader, const struct cli_query_pass *pass,
                       uint64_t begin_ns, uint64_t end_ns, unsigned *seen);

/* Puts the events of a run one by one. Returns 0 or an error. */
int cli_query_put_each(const struct probity_run *run,
                       int (*put)(void *context, const struct probity_event *event), void *context);

/* Opens a second reader of the traces of the first, which remains open, and reads a shorter range
 * of them. Thread states are left out. The caller closes the reader even on failure. Returns 0 or
 * an error. */
int cli_query_read_again(struct cli_query *answer, const struct probity_reader *first,
                         uint64_t from_ns, uint64_t to_ns, const struct cli_query_pass *pass,
                         struct probity_reader **ret_again);

/* The same as cli_query_read() with the steps of the command, and finishes. Returns 0 or an
 * error. */
int cli_query_take(struct cli_query *answer, struct probity_reader *reader);

/* Adds the profile-mode counts that pass --tid to `report`, their number of calls to *calls, and
 * the number of calls only counted because of PROBITY_BUDGET to *counted; each may be NULL. Counts
 * have no time stamps, so a range does not apply. Returns 0 or an error. */
int cli_query_profiles(struct cli_query *answer, const struct probity_reader *reader,
                       struct probity_report *report, uint64_t *calls, uint64_t *counted);

/* Warns if paths were too deep to be written in full. */
void cli_query_warn_shortened(const struct cli_query *answer, uint64_t shortened);

/* Whether the locale is UTF-8, so that lines and bars may use non-ASCII characters. */
int cli_query_is_utf8(void);

/* Width of the terminal to which the answer goes; 80 if it is not a terminal. */
size_t cli_query_columns(const struct cli_query *answer);

/* Same as above, for tables: 0 (unlimited) if it is not a terminal. */
size_t cli_query_line_columns(const struct cli_query *answer);

/* Reads the traces and prints. Returns an exit status. */
int cli_query_run(struct cli_query *answer, char **names, size_t count);

/* Prints an answer that the command has computed from the reader's facts, and warns about
 * incomplete traces. Returns an exit status. */
int cli_query_print(struct cli_query *answer, const struct probity_reader *reader);

/* Runs a whole command: options, operands, release. Returns an exit status. */
int cli_query_main(struct cli_query *answer, int argc, char **argv);

#endif
