/* SPDX-License-Identifier: MIT
 *
 * export_firefox.h: state of the Firefox Profiler's format, for its files: rows of tables in
 * export_firefox.c, the file around them in export_firefox_file.c.
 */
#ifndef PROBITY_EXPORTS_FIREFOX_EXPORT_FIREFOX_H
#define PROBITY_EXPORTS_FIREFOX_EXPORT_FIREFOX_H

#include "exports/export.h"
#include "exports/export_json.h"
#include "exports/export_names.h"
#include "exports/export_spans.h"

/* The columns of a thread: for its samples, then for its markers. */
enum firefox_column {
    FIREFOX_STACK, FIREFOX_TIME, FIREFOX_WEIGHT, FIREFOX_CPU,
    FIREFOX_NAME, FIREFOX_START, FIREFOX_END, FIREFOX_PHASE, FIREFOX_CATEGORY, FIREFOX_DATA,
    FIREFOX_COLUMNS
};

/* Indexes into the list of categories in the file. */
enum firefox_category {
    FIREFOX_OTHER, FIREFOX_FUNCTION, FIREFOX_BLOCK, FIREFOX_REQUEST, FIREFOX_LOCK, FIREFOX_PROBE,
    FIREFOX_STATE
};

/* A sample lasts until the next one, so it is written then. */
struct firefox_thread {
    struct log_queue columns[FIREFOX_COLUMNS];
    uint64_t samples, markers;
    int has_sample, has_calls, is_cpu_known;
    uint32_t stack; /* of the current sample: number + 1; 0: none */
    uint64_t at_ns, cpu_ns, cpu_delta_ns;
    uint64_t block_end_ns, block_cpu_ns;
};

struct firefox_counter {
    struct log_queue time, count;
    uint64_t rows, last;
    uint32_t trace;
    char *name; /* JSON */
};

struct firefox {
    struct probity_same_functions functions;
    uint32_t *function_strings; /* by function number */
    uint32_t function_capacity;
    /* The member `bytes` of an item is the number of its string + 1. */
    struct export_names hits, blocks, files;
    uint32_t state_strings[PROBITY_STATES]; /* number + 1 */
    /* The tables of functions and frames have a row for each string, with the same number, so some
     * of these functions do not occur in any stack. */
    struct log_queue strings, lines, sources, source_files;
    uint32_t string_count, source_count;
    /* Stacks form a tree; each has the number of its name. */
    struct export_names stacks;
    uint32_t *stack_parents, *stack_frames; /* parents: number + 1 */
    uint32_t parent_capacity, frame_capacity;
    struct firefox_counter *counters;
    uint32_t counter_capacity, counter_count;
    struct export_spans spans;
    struct log_queue file; /* text to be written next */
};

static inline void firefox_put(struct probity_export *export, const char *words)
{
    export->out.at = export_put(export->out.at, words);
}

static inline void firefox_put_number(struct probity_export *export, uint64_t number)
{
    export->out.at = probity_digits_put(export->out.at, number);
}

static inline void firefox_put_text(struct probity_export *export, const char *text, size_t bytes)
{
    export->out.at = export_json_text(export->out.at, export->out.end + LOG_LINE_BYTES_MAX - 64,
                                      text, bytes);
}

/* Writes ns as milliseconds with six decimals. */
static inline void firefox_put_ms(struct probity_export *export, uint64_t ns)
{
    firefox_put_number(export, ns / 1000000);
    *export->out.at++ = '.';
    export->out.at = export_put_three(export->out.at, (uint32_t)(ns / 1000 % 1000));
    export->out.at = export_put_three(export->out.at, (uint32_t)(ns % 1000));
}

/* Writes the file. In export_firefox_file.c. */
void firefox_put_file(struct probity_export *export);

#endif
