/* SPDX-License-Identifier: MIT
 *
 * info_columns.c: the facts of a trace, for text and JSON. Prints nothing.
 */
#include <time.h>

#include "analysis/correction.h"
#include "answers/info/info.h"

const char *probity_info_time_text(uint64_t ns, char ret_text[PROBITY_INFO_TIME_BYTES])
{
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm parts;

    if (gmtime_r(&seconds, &parts) == NULL ||
        strftime(ret_text, PROBITY_INFO_TIME_BYTES, "%Y-%m-%d %H:%M:%S", &parts) == 0)
        ret_text[0] = '\0';
    return ret_text;
}

const char *probity_info_state_name(const struct probity_trace_facts *facts)
{
    static const char *const states[] = {"", "closed", "live", "killed", "unfinished"};

    return states[facts->state];
}

const char *probity_info_mode_name(uint32_t mode)
{
    static const char *const modes[] = {"block", "drop", "ring"};

    return mode < 3 ? modes[mode] : "unknown";
}

/* ---- The program -------------------------------------------------------------------------------
 */

const struct probity_info_string probity_info_strings[PROBITY_INFO_STRINGS] = {
    [PROBITY_INFO_LABEL] = {"label", "label", PROBITY_TAG_LABEL},
    [PROBITY_INFO_PROGRAM] = {"name", "program", PROBITY_TAG_PROGRAM},
    [PROBITY_INFO_COMMAND] = {"arguments", "command", PROBITY_TAG_COMMAND},
    [PROBITY_INFO_EXECUTABLE] = {"executable", "executable", PROBITY_TAG_EXECUTABLE},
    [PROBITY_INFO_BUILD] = {"build_id", "build id", PROBITY_TAG_BUILD},
    [PROBITY_INFO_DIRECTORY] = {"directory", "directory", PROBITY_TAG_DIRECTORY},
    [PROBITY_INFO_HOST] = {"host", "host", PROBITY_TAG_HOST},
    [PROBITY_INFO_KERNEL] = {"kernel", "kernel", PROBITY_TAG_KERNEL},
    [PROBITY_INFO_CPU] = {"cpu", "CPU", PROBITY_TAG_CPU},
    [PROBITY_INFO_PROCESSORS] = {"processors", "processors", PROBITY_TAG_PROCESSORS},
    [PROBITY_INFO_LIBRARY] = {"library", "library", PROBITY_TAG_LIBRARY}};

#define COLUMN(NAME, KIND, FROM) PROBITY_COLUMN(NAME, KIND, struct probity_trace_facts, FROM)

/* Parses a decimal number. */
static struct probity_cell number(const struct probity_text *text)
{
    uint64_t count = 0;

    if (text->bytes == NULL || text->length == 0 || text->length > 18)
        return probity_cell_unknown();
    for (size_t i = 0; i < text->length; i++) {
        if (text->bytes[i] < '0' || text->bytes[i] > '9')
            return probity_cell_unknown();
        count = 10 * count + (uint64_t)(text->bytes[i] - '0');
    }
    return probity_cell_count(count);
}

COLUMN(pid, count, row->info.pid)
COLUMN(parent_pid, count, row->info.parent_pid)

const struct probity_column probity_info_process[PROBITY_INFO_PROCESS_COLUMNS] = {
    [PROBITY_INFO_PID] = {"pid", pid}, [PROBITY_INFO_PARENT_PID] = {"parent_pid", parent_pid}};

static struct probity_cell processors(const void *row)
{
    return number(&((const struct probity_trace_facts *)row)->info.text[PROBITY_TAG_PROCESSORS]);
}

const struct probity_column probity_info_processors = {"processors", processors};

/* ---- Counts ------------------------------------------------------------------------------------
 */

COLUMN(threads, count, row->threads)
COLUMN(hits, count, row->hits)
COLUMN(scopes, count, row->enters)
COLUMN(records, count, row->records + row->spool_records)
COLUMN(records_in_file, count, row->records)
COLUMN(records_in_spool, count, row->spool_records)
COLUMN(records_missing, count, row->totals_records_missing)
COLUMN(dropped_full, count, row->totals.dropped_full)
COLUMN(dropped_memory, count, row->totals.dropped_memory)
COLUMN(dropped_write, count, row->totals.dropped_write)
COLUMN(stalls, count, row->totals.stalls)
COLUMN(stall_ns, count, probity_trace_ns_of_ticks(row, row->totals.stall_ticks))
COLUMN(holes, count, row->holes)
COLUMN(late_blocks, count, row->late_blocks)
COLUMN(blocks, count, row->blocks)
COLUMN(file_bytes, count, row->file_bytes)
COLUMN(damaged_places, count, row->damages)
COLUMN(damaged_bytes, count, row->damaged_bytes)
COLUMN(cut_bytes, count, row->cut_bytes)

static struct probity_cell bytes_per_record(const void *row)
{
    const struct probity_trace_facts *facts = row;

    return facts->records > 0
               ? probity_cell_real((double)facts->file_bytes / (double)facts->records,
                                   PROBITY_INFO_DIGITS)
               : probity_cell_unknown();
}

/* The names are literals, so that programs that read the JSON do not depend on identifiers here. */
const struct probity_column probity_info_counts[PROBITY_INFO_COUNTS] = {
    [PROBITY_INFO_THREADS] = {"threads", threads},
    [PROBITY_INFO_HITS] = {"hits", hits},
    [PROBITY_INFO_SCOPES] = {"scopes", scopes},
    [PROBITY_INFO_RECORDS] = {"records", records},
    [PROBITY_INFO_RECORDS_FILE] = {"records_in_file", records_in_file},
    [PROBITY_INFO_RECORDS_SPOOL] = {"records_in_spool", records_in_spool},
    [PROBITY_INFO_RECORDS_MISSING] = {"records_missing", records_missing},
    [PROBITY_INFO_DROPPED_FULL] = {"dropped_no_free_chunk", dropped_full},
    [PROBITY_INFO_DROPPED_MEMORY] = {"dropped_no_memory_or_limit", dropped_memory},
    [PROBITY_INFO_DROPPED_WRITE] = {"dropped_not_writable", dropped_write},
    [PROBITY_INFO_STALLS] = {"stalls", stalls},
    [PROBITY_INFO_STALL_NS] = {"stall_ns", stall_ns},
    [PROBITY_INFO_HOLES] = {"holes", holes},
    [PROBITY_INFO_LATE_BLOCKS] = {"late_blocks", late_blocks},
    [PROBITY_INFO_BLOCKS] = {"blocks", blocks},
    [PROBITY_INFO_FILE_BYTES] = {"file_bytes", file_bytes},
    [PROBITY_INFO_DAMAGED_PLACES] = {"damaged_places", damaged_places},
    [PROBITY_INFO_DAMAGED_BYTES] = {"damaged_bytes", damaged_bytes},
    [PROBITY_INFO_CUT_BYTES] = {"cut_bytes", cut_bytes},
    [PROBITY_INFO_PER_RECORD] = {"bytes_per_record", bytes_per_record}};

/* ---- Times -------------------------------------------------------------------------------------
 */

static const char *clock_name(uint32_t clock)
{
    switch (clock) {
    case PROBITY_CLOCK_TSC: return "x86 time stamp counter";
    case PROBITY_CLOCK_CNTVCT: return "AArch64 CNTVCT_EL0";
    case PROBITY_CLOCK_MONOTONIC_NS: return "CLOCK_MONOTONIC";
    default: return "unknown";
    }
}

COLUMN(clock_text, text, clock_name(row->info.clock))
COLUMN(clock_kind, count, row->info.clock)
COLUMN(wall_recorded, flag, row->info.flags & PROBITY_INFO_WALL_TIME)
COLUMN(wall_bound, count, row->clock_bound_ns)
COLUMN(wall_steps, count, row->clock_steps)
COLUMN(cpu_recorded, flag, row->info.flags & PROBITY_INFO_CPU_TIME)
COLUMN(started, count, row->info.anchor.realtime_ns)

static struct probity_cell clock_ordered(const void *row)
{
    struct probity_costs costs;

    probity_costs_of(row, &costs);
    return probity_cell_flag(costs.is_ordered);
}

static struct probity_cell ns_per_tick(const void *row)
{
    const struct probity_trace_facts *facts = row;

    return probity_cell_real((double)facts->info.rate / 4294967296.0, PROBITY_INFO_DIGITS);
}

static struct probity_cell if_cpu(const struct probity_trace_facts *facts, uint64_t ns)
{
    return facts->info.flags & PROBITY_INFO_CPU_TIME ? probity_cell_count(ns)
                                                     : probity_cell_unknown();
}

static struct probity_cell cpu_bound(const void *row)
{
    return if_cpu(row, ((const struct probity_trace_facts *)row)->cpu_bound_ns);
}

static struct probity_cell cpu_rate_error(const void *row)
{
    return number(&((const struct probity_trace_facts *)row)->info.text[PROBITY_TAG_CPU_ERROR]);
}

static struct probity_cell cpu_clock_cost(const void *row)
{
    return if_cpu(row, ((const struct probity_trace_facts *)row)->info.cpu_clock_ns);
}

static int has_records(const struct probity_trace_facts *facts)
{
    return facts->hits + facts->enters > 0;
}

static struct probity_cell if_records(const struct probity_trace_facts *facts, uint64_t ns)
{
    return has_records(facts) ? probity_cell_count(ns) : probity_cell_unknown();
}

static struct probity_cell first(const void *row)
{
    return if_records(row, ((const struct probity_trace_facts *)row)->first_wall_ns);
}

static struct probity_cell last(const void *row)
{
    return if_records(row, ((const struct probity_trace_facts *)row)->last_wall_ns);
}

static struct probity_cell duration(const void *row)
{
    const struct probity_trace_facts *facts = row;
    int64_t ns = (int64_t)(facts->last_wall_ns - facts->first_wall_ns);

    return has_records(facts) ? probity_cell_real((double)ns / 1e9, PROBITY_INFO_DIGITS)
                              : probity_cell_unknown();
}

/* Times are ns since 1970. Unknown ones are null, not 0. */
const struct probity_column probity_info_times[PROBITY_INFO_TIMES] = {
    [PROBITY_INFO_CLOCK] = {"clock", clock_text},
    [PROBITY_INFO_CLOCK_KIND] = {"clock_kind", clock_kind},
    [PROBITY_INFO_CLOCK_ORDERED] = {"clock_ordered", clock_ordered},
    [PROBITY_INFO_NS_PER_TICK] = {"ns_per_tick", ns_per_tick},
    [PROBITY_INFO_WALL_RECORDED] = {"wall_recorded", wall_recorded},
    [PROBITY_INFO_WALL_BOUND] = {"wall_bound_ns", wall_bound},
    [PROBITY_INFO_WALL_STEPS] = {"wall_steps", wall_steps},
    [PROBITY_INFO_CPU_RECORDED] = {"cpu_recorded", cpu_recorded},
    [PROBITY_INFO_CPU_BOUND] = {"cpu_bound_ns", cpu_bound},
    [PROBITY_INFO_CPU_RATE_ERROR] = {"cpu_rate_error_millionths", cpu_rate_error},
    [PROBITY_INFO_CPU_CLOCK_COST] = {"cpu_clock_cost_ns", cpu_clock_cost},
    [PROBITY_INFO_STARTED] = {"started_ns", started},
    [PROBITY_INFO_FIRST] = {"first_ns", first},
    [PROBITY_INFO_LAST] = {"last_ns", last},
    [PROBITY_INFO_DURATION] = {"duration_s", duration}};

/* ---- The budget --------------------------------------------------------------------------------
 */

COLUMN(functions_counted, count, row->counted_functions)
COLUMN(hits_counted, count, row->counted_hits)
COLUMN(functions_removed, count, row->removed_functions)

static struct probity_cell percent_of(const struct probity_trace_facts *facts, uint32_t share)
{
    return facts->budget.what != 0
               ? probity_cell_real((double)share * 100 / PROBITY_BUDGET_UNITS, PROBITY_INFO_DIGITS)
               : probity_cell_unknown();
}

static struct probity_cell percent(const void *row)
{
    return percent_of(row, ((const struct probity_trace_facts *)row)->budget.budget);
}

static struct probity_cell cost_percent(const void *row)
{
    return percent_of(row, ((const struct probity_trace_facts *)row)->budget.cost);
}

static struct probity_cell held(const void *row)
{
    const struct probity_budget_event *budget = &((const struct probity_trace_facts *)row)->budget;

    return budget->what != 0 ? probity_cell_flag(budget->cost <= budget->budget)
                             : probity_cell_unknown();
}

/* Shares are null if the trace has no event about the whole program, because it had no budget or
 * was killed. */
const struct probity_column probity_info_budget[PROBITY_INFO_BUDGET_COLUMNS] = {
    [PROBITY_INFO_PERCENT] = {"percent", percent},
    [PROBITY_INFO_COST_PERCENT] = {"cost_percent", cost_percent},
    [PROBITY_INFO_HELD] = {"held", held},
    [PROBITY_INFO_FUNCTIONS_COUNTED] = {"functions_counted", functions_counted},
    [PROBITY_INFO_HITS_COUNTED] = {"hits_counted", hits_counted},
    [PROBITY_INFO_FUNCTIONS_REMOVED] = {"functions_removed", functions_removed}};
