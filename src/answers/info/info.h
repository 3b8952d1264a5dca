/* SPDX-License-Identifier: MIT
 *
 * info.h: the facts of a trace as text and as JSON.
 */
#ifndef PROBITY_ANSWERS_INFO_INFO_H
#define PROBITY_ANSWERS_INFO_INFO_H

#include <stdio.h>

#include "print/columns.h"
#include "reader/reader.h"

/* ---- The facts ---------------------------------------------------------------------------------
 */

enum { PROBITY_INFO_DIGITS = 12 }; /* of fractions in JSON */

const char *probity_info_state_name(const struct probity_trace_facts *facts);
/* mode: as in the INFO block. */
const char *probity_info_mode_name(uint32_t mode);

/* Strings from the traced program, in the order of the text output. They may be absent and may
 * contain any bytes. */
struct probity_info_string {
    const char *name, *title; /* in JSON; in text */
    int tag;
};

enum {
    PROBITY_INFO_LABEL, PROBITY_INFO_PROGRAM, PROBITY_INFO_COMMAND, PROBITY_INFO_EXECUTABLE,
    PROBITY_INFO_BUILD, PROBITY_INFO_DIRECTORY, PROBITY_INFO_HOST, PROBITY_INFO_KERNEL,
    PROBITY_INFO_CPU, PROBITY_INFO_PROCESSORS, PROBITY_INFO_LIBRARY, PROBITY_INFO_STRINGS
};
extern const struct probity_info_string probity_info_strings[PROBITY_INFO_STRINGS];

/* Columns of a struct probity_trace_facts, grouped by object of the JSON. */
enum { PROBITY_INFO_PID, PROBITY_INFO_PARENT_PID, PROBITY_INFO_PROCESS_COLUMNS };
extern const struct probity_column probity_info_process[PROBITY_INFO_PROCESS_COLUMNS];
extern const struct probity_column probity_info_processors;

enum {
    PROBITY_INFO_THREADS, PROBITY_INFO_HITS, PROBITY_INFO_SCOPES, PROBITY_INFO_RECORDS,
    PROBITY_INFO_RECORDS_FILE, PROBITY_INFO_RECORDS_SPOOL, PROBITY_INFO_RECORDS_MISSING,
    PROBITY_INFO_DROPPED_FULL, PROBITY_INFO_DROPPED_MEMORY, PROBITY_INFO_DROPPED_WRITE,
    PROBITY_INFO_STALLS, PROBITY_INFO_STALL_NS, PROBITY_INFO_HOLES, PROBITY_INFO_LATE_BLOCKS,
    PROBITY_INFO_BLOCKS, PROBITY_INFO_FILE_BYTES, PROBITY_INFO_DAMAGED_PLACES,
    PROBITY_INFO_DAMAGED_BYTES, PROBITY_INFO_CUT_BYTES, PROBITY_INFO_PER_RECORD,
    PROBITY_INFO_COUNTS
};
extern const struct probity_column probity_info_counts[PROBITY_INFO_COUNTS];

enum {
    PROBITY_INFO_CLOCK, PROBITY_INFO_CLOCK_KIND, PROBITY_INFO_CLOCK_ORDERED,
    PROBITY_INFO_NS_PER_TICK, PROBITY_INFO_WALL_RECORDED, PROBITY_INFO_WALL_BOUND,
    PROBITY_INFO_WALL_STEPS, PROBITY_INFO_CPU_RECORDED, PROBITY_INFO_CPU_BOUND,
    PROBITY_INFO_CPU_RATE_ERROR, PROBITY_INFO_CPU_CLOCK_COST, PROBITY_INFO_STARTED,
    PROBITY_INFO_FIRST, PROBITY_INFO_LAST, PROBITY_INFO_DURATION, PROBITY_INFO_TIMES
};
extern const struct probity_column probity_info_times[PROBITY_INFO_TIMES];

enum {
    PROBITY_INFO_PERCENT, PROBITY_INFO_COST_PERCENT, PROBITY_INFO_HELD,
    PROBITY_INFO_FUNCTIONS_COUNTED, PROBITY_INFO_HITS_COUNTED, PROBITY_INFO_FUNCTIONS_REMOVED,
    PROBITY_INFO_BUDGET_COLUMNS
};
extern const struct probity_column probity_info_budget[PROBITY_INFO_BUDGET_COLUMNS];

/* ---- Their forms -------------------------------------------------------------------------------
 */

/* Formats CLOCK_REALTIME to the second in UTC, so that traces from several machines can be
 * compared. */
enum { PROBITY_INFO_TIME_BYTES = 64 };
const char *probity_info_time_text(uint64_t ns, char ret_text[PROBITY_INFO_TIME_BYTES]);

/* Prints lines "name value". */
void probity_info_text(FILE *stream, const struct probity_trace_facts *facts);

/* Prints an array with one object for each trace of the reader. Returns 0, PROBITY_ERROR_MEMORY or
 * PROBITY_ERROR_WRITE. */
int probity_info_json(FILE *stream, const struct probity_reader *reader);

#endif
