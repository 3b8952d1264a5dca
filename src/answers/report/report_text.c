/* SPDX-License-Identifier: MIT
 *
 * report_text.c: prints a report as a table. All columns but the last have fixed widths, so that
 * tables of two runs can be compared side by side.
 */
#include "answers/report/report_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "answers/report/table.h"
#include "print/text.h"
#include "print/time_text.h"

enum { CALLS_COLUMNS = 9, TIME_COLUMNS = 8, CORRECTED_COLUMNS = 10,
       SPREAD_COLUMNS = 2 + PROBITY_SPARKLINE_CELLS,
       WAIT_NS = 50000 /* calls to libc of at least this length count as waits (doc/calls.md) */ };

static const enum probity_report_key usual_columns[] = {
    PROBITY_REPORT_CALLS,    PROBITY_REPORT_TOTAL, PROBITY_REPORT_SELF, PROBITY_REPORT_CPU_TOTAL,
    PROBITY_REPORT_CPU_SELF, PROBITY_REPORT_MIN,   PROBITY_REPORT_MEAN, PROBITY_REPORT_P50,
    PROBITY_REPORT_P99,      PROBITY_REPORT_MAX,   PROBITY_REPORT_DISTRIBUTION};

static const enum probity_report_key all_columns[] = {
    PROBITY_REPORT_CALLS,     PROBITY_REPORT_TOTAL,       PROBITY_REPORT_SELF,
    PROBITY_REPORT_PAUSED,    PROBITY_REPORT_CPU_TOTAL,   PROBITY_REPORT_CPU_SELF,
    PROBITY_REPORT_OFF_TOTAL, PROBITY_REPORT_OFF_SELF,    PROBITY_REPORT_ELAPSED,
    PROBITY_REPORT_PARALLELISM, PROBITY_REPORT_MIN,       PROBITY_REPORT_MEAN,
    PROBITY_REPORT_P50,       PROBITY_REPORT_P90,         PROBITY_REPORT_P99,
    PROBITY_REPORT_MAX,       PROBITY_REPORT_DISTRIBUTION};

static const enum probity_report_key corrected_columns[] = {
    PROBITY_REPORT_CALLS,           PROBITY_REPORT_TOTAL,       PROBITY_REPORT_TOTAL_CORRECTED,
    PROBITY_REPORT_TOTAL_ERROR,     PROBITY_REPORT_SELF,        PROBITY_REPORT_SELF_CORRECTED,
    PROBITY_REPORT_SELF_ERROR};

/* A table that is being written. */
struct table {
    FILE *stream;
    const struct probity_report_layout *layout;
    enum probity_report_key keys[PROBITY_REPORT_KEYS]; /* the columns to show, in order */
    size_t count;
    struct probity_table_column columns[PROBITY_REPORT_KEYS]; /* the columns, shown or not */
    size_t column_count;
    uint64_t shown; /* one bit per column */
    int is_cpu_known, has_pids, has_spread;
    struct probity_sparkline spread;
    uint64_t all_ns[PROBITY_REPORT_KEYS]; /* totals, for keys with shares */
};

/* Groups of columns, with a title above adjacent columns, and a shorter one if that is too wide. */
enum group { GROUP_CALLS, GROUP_WALL, GROUP_CPU, GROUP_OFF, GROUP_THREADS, GROUP_CALL,
             GROUP_CORRECTED };

static const struct {
    const char *title, *narrow;
} groups[] = {{NULL, NULL},
              {"wall time", "wall"},
              {"CPU time", "CPU"},
              {"off the CPU", "off CPU"},
              {"all threads", "threads"},
              {"wall time of one call", "a call"},
              {"less overhead", "corrected"}};

/* rank: see struct probity_table_column. */
static const struct {
    enum group group;
    int rank;
    const char *name;
} heads[PROBITY_REPORT_KEYS] = {
    [PROBITY_REPORT_CALLS] = {GROUP_CALLS, 0, "calls"},
    [PROBITY_REPORT_TOTAL] = {GROUP_WALL, 1, "total"},
    [PROBITY_REPORT_SELF] = {GROUP_WALL, 0, "self"},
    [PROBITY_REPORT_PAUSED] = {GROUP_WALL, 0, "paused"},
    [PROBITY_REPORT_CPU_TOTAL] = {GROUP_CPU, 8, "total"},
    [PROBITY_REPORT_CPU_SELF] = {GROUP_CPU, 2, "self"},
    [PROBITY_REPORT_OFF_TOTAL] = {GROUP_OFF, 0, "total"},
    [PROBITY_REPORT_OFF_SELF] = {GROUP_OFF, 0, "self"},
    [PROBITY_REPORT_ELAPSED] = {GROUP_THREADS, 0, "elapsed"},
    [PROBITY_REPORT_PARALLELISM] = {GROUP_THREADS, 0, "at once"},
    [PROBITY_REPORT_MIN] = {GROUP_CALL, 9, "min"},
    [PROBITY_REPORT_MEAN] = {GROUP_CALL, 5, "mean"},
    [PROBITY_REPORT_P50] = {GROUP_CALL, 7, "p50"},
    [PROBITY_REPORT_P90] = {GROUP_CALL, 0, "p90"},
    [PROBITY_REPORT_P99] = {GROUP_CALL, 4, "p99"},
    [PROBITY_REPORT_MAX] = {GROUP_CALL, 6, "max"},
    [PROBITY_REPORT_TOTAL_CORRECTED] = {GROUP_CORRECTED, 1, "total"},
    [PROBITY_REPORT_TOTAL_ERROR] = {GROUP_CORRECTED, 2, "+-"},
    [PROBITY_REPORT_SELF_CORRECTED] = {GROUP_CORRECTED, 0, "self"},
    [PROBITY_REPORT_SELF_ERROR] = {GROUP_CORRECTED, 0, "+-"},
    [PROBITY_REPORT_DISTRIBUTION] = {GROUP_CALL, 3, "distribution"}};

static int width_of(enum probity_report_key key)
{
    if (key == PROBITY_REPORT_TOTAL_CORRECTED || key == PROBITY_REPORT_SELF_CORRECTED)
        return CORRECTED_COLUMNS;
    if (key == PROBITY_REPORT_DISTRIBUTION)
        return SPREAD_COLUMNS;
    return key == PROBITY_REPORT_CALLS ? CALLS_COLUMNS : TIME_COLUMNS;
}

static struct probity_table_column column_of(enum probity_report_key key)
{
    return (struct probity_table_column){
        .width = width_of(key), .rank = heads[key].rank, .title = heads[key].name,
        .name = probity_report_key_name(key), .group = groups[heads[key].group].title,
        .narrow = groups[heads[key].group].narrow};
}

/* Columns selected by the user are always shown; default columns are shown if they fit. */
static void fit_columns(struct table *table, const enum probity_report_key *keys, size_t count)
{
    const struct probity_report_layout *layout = table->layout;
    int is_asked_for = layout->column_count > 0 || layout->is_wide;

    if (!is_asked_for && !layout->has_pictures && keys[count - 1] == PROBITY_REPORT_DISTRIBUTION)
        count--;
    for (size_t i = 0; i < count; i++)
        table->columns[i] = column_of(keys[i]);
    table->column_count = count;
    table->shown = probity_table_fit(table->columns, count,
                                     is_asked_for ? 0 : layout->line_columns);
    for (size_t i = 0; i < count; i++) {
        if (table->shown >> i & 1)
            table->keys[table->count++] = keys[i];
    }
}

static void choose_columns(struct table *table)
{
    const struct probity_report_layout *layout = table->layout;

    if (layout->column_count > 0)
        fit_columns(table, layout->columns, layout->column_count);
    else if (layout->is_corrected)
        fit_columns(table, corrected_columns, sizeof corrected_columns / sizeof *corrected_columns);
    else if (layout->is_wide)
        fit_columns(table, all_columns, sizeof all_columns / sizeof *all_columns);
    else
        fit_columns(table, usual_columns, sizeof usual_columns / sizeof *usual_columns);
}

int probity_report_has_cpu(const struct probity_reader *reader)
{
    for (size_t i = 0; i < probity_reader_traces(reader); i++) {
        if (probity_reader_facts(reader, i)->info.flags & PROBITY_INFO_CPU_TIME)
            return 1;
    }
    return 0;
}

static void put_head(const struct table *table)
{
    const char *start = table->layout->has_color ? "\033[1m" : "";
    const char *end = table->layout->has_color ? "\033[0m" : "";

    fputs(start, table->stream);
    probity_table_put_groups(table->stream, table->columns, table->column_count, table->shown);
    fprintf(table->stream, "%s\n%s", end, start);
    for (size_t i = 0; i < table->count; i++) {
        const char *name = heads[table->keys[i]].name;
        if (table->keys[i] == PROBITY_REPORT_DISTRIBUTION)
            fprintf(table->stream, "  %-*s", SPREAD_COLUMNS - 2, name);
        else
            fprintf(table->stream, "%*s", width_of(table->keys[i]), name);
    }
    fprintf(table->stream, "  function%s\n", end);
}

/* A time below its error may be anything up to the sum of both. */
void probity_report_put_corrected(FILE *stream, struct probity_corrected corrected)
{
    char text[PROBITY_TIME_TEXT_BYTES], below[PROBITY_TIME_TEXT_BYTES + 2];

    if (corrected.is_below)
        snprintf(below, sizeof below, "< %s",
                 probity_time_text(corrected.most_ns, text));
    else
        snprintf(below, sizeof below, "%s", probity_time_text(corrected.ns, text));
    fprintf(stream, "%*s", CORRECTED_COLUMNS, below);
}

static void put_spread(const struct table *table, const struct probity_report_sums *sums)
{
    uint64_t counts[PROBITY_SPARKLINE_CELLS];

    probity_sparkline_count(&table->spread, &sums->durations, counts);
    fputs("  ", table->stream);
    probity_table_put_spread(table->stream, table->layout->is_utf8, counts);
}

/* Shares are of the total of all functions: the sum of self times, not of total times. */
static const char *begin_share(const struct table *table, enum probity_report_key key,
                               uint64_t value)
{
    uint64_t all = table->all_ns[key];

    if (!table->layout->has_color || all == 0)
        return "";
    return probity_table_begin_share(table->stream, (double)value / (double)all);
}

static void put_value(const struct table *table, const struct probity_report_sums *sums,
                      enum probity_report_key key)
{
    FILE *stream = table->stream;
    char text[PROBITY_TIME_TEXT_BYTES];

    if (!probity_report_is_known(sums, key, table->is_cpu_known)) {
        /* Unknown is not the same as 0. */
        fprintf(stream, "%*s", width_of(key), key == PROBITY_REPORT_DISTRIBUTION ? "" : "-");
        return;
    }
    uint64_t value = probity_report_value(sums, key);
    const char *end = begin_share(table, key, value);
    if (key == PROBITY_REPORT_CALLS)
        fprintf(stream, "%*" PRIu64, CALLS_COLUMNS, value);
    else if (key == PROBITY_REPORT_PARALLELISM)
        fprintf(stream, "%*.2f", TIME_COLUMNS, (double)value / 1000);
    else if (key == PROBITY_REPORT_DISTRIBUTION)
        put_spread(table, sums);
    else if (width_of(key) == CORRECTED_COLUMNS)
        probity_report_put_corrected(
            stream, probity_report_corrected(sums, key == PROBITY_REPORT_SELF_CORRECTED));
    else
        fprintf(stream, "%*s", TIME_COLUMNS, probity_time_text(value, text));
    fputs(end, stream);
}

static void put_sums(const struct table *table, const struct probity_report_sums *sums)
{
    for (size_t i = 0; i < table->count; i++)
        put_value(table, sums, table->keys[i]);
    fputs("  ", table->stream);
}

/* ---- Names --------------------------------------------------------------------------------------
 */

struct label {
    const char *text;
    size_t bytes, index;
};

static struct label label_of(const struct probity_report_function *entry)
{
    struct label label = {.text = ""};

    if (entry->function != NULL)
        label.text = probity_text_qualified(entry->function->signature, entry->function->name,
                                            &label.bytes);
    return label;
}

static int compare_labels(const void *left, const void *right)
{
    const struct label *a = left, *b = right;
    int order = memcmp(a->text, b->text, a->bytes < b->bytes ? a->bytes : b->bytes);

    return order != 0 ? order : (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

/* Marks, by index, each function that shares its name with another one. Returns NULL if out of
 * memory; such functions are then not distinguished. */
static char *find_namesakes(const struct probity_report_function *functions, size_t count)
{
    struct label *labels = calloc(count + 1, sizeof *labels);
    char *are_namesakes = calloc(count + 1, 1);

    for (size_t i = 0; labels != NULL && i < count; i++) {
        labels[i] = label_of(&functions[i]);
        labels[i].index = i;
    }
    if (labels != NULL)
        qsort(labels, count, sizeof *labels, compare_labels);
    for (size_t i = 1; labels != NULL && are_namesakes != NULL && i < count; i++) {
        if (compare_labels(&labels[i - 1], &labels[i]) == 0)
            are_namesakes[labels[i - 1].index] = are_namesakes[labels[i].index] = 1;
    }
    free(labels);
    return are_namesakes;
}

/* Functions with equal names are distinguished by signature if the compiler supplied one, otherwise
 * by location. */
static void put_function(FILE *stream, const struct probity_report_layout *layout,
                         const struct probity_report_function *entry, int is_namesake)
{
    const struct probity_function *function = entry->function;
    const char *signature = layout->has_signatures ? entry->signature : "";

    if (function == NULL) {
        fprintf(stream, "site-%" PRIu32, entry->number);
        return;
    }
    if (is_namesake && *signature == '\0')
        signature = function->signature;
    struct label label = label_of(entry);
    if (*signature != '\0')
        probity_report_put_safe(stream, signature, strlen(signature));
    else
        probity_report_put_safe(stream, label.text, label.bytes);
    if (layout->has_places || (is_namesake && function->signature[0] == '\0')) {
        fputs("  ", stream);
        probity_report_put_safe(stream, function->file, strlen(function->file));
        fprintf(stream, ":%" PRIu32, function->line);
    }
}

void probity_report_put_thread(FILE *stream, const struct probity_thread_label *thread,
                               int has_pids)
{
    if (has_pids)
        fprintf(stream, "%" PRIu32 "/", thread->pid);
    fprintf(stream, "%" PRIu32, thread->tid);
    if (thread->name != NULL) {
        fputc(' ', stream);
        probity_report_put_safe(stream, thread->name, strlen(thread->name));
    }
}

static void put_repairs(FILE *stream, const struct probity_scopes_repairs *repairs)
{
    const struct {
        uint64_t count;
        const char *text;
    } lines[] = {
        {repairs->unwound, "ended without an exit record (longjmp, or records are missing)"},
        {repairs->open, "still open at the end of their thread's records"},
        {repairs->orphans, "exits without a matching entry"},
        {repairs->pauses_unmatched, "pauses without effect (already paused, or no scope)"},
        {repairs->resumes_unmatched, "resumes while not paused"}};

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (lines[i].count > 0)
            fprintf(stream, "repaired: %" PRIu64 " %s\n", lines[i].count, lines[i].text);
    }
}

static void put_wakings(FILE *stream, const struct probity_trace_facts *facts)
{
    const struct probity_sched_info *states = facts->sched;
    const char *bound = "waiting for a CPU is a lower bound, and part of it is counted as blocked";

    if (states->flags & PROBITY_SCHED_WAKINGS)
        fputs("waiting: for a CPU", stream);
    else if (states->flags & PROBITY_SCHED_WAKINGS_STOPPED &&
             states->wakings_until >= states->first_tick)
        fprintf(stream, "wakings were recorded for the first %.3g s only, to keep within the "
                "budget: later, %s",
                (double)probity_trace_ns_of_ticks(facts, states->wakings_until -
                                                             states->first_tick) / 1e9, bound);
    else
        fprintf(stream, "wakings were not recorded: %s", bound);
}

void probity_report_put_states(FILE *stream, const struct probity_trace_facts *facts)
{
    const struct probity_sched_info *states = facts->sched;

    fprintf(stream, "from the scheduler, +-%" PRIu32 " ns; ", states->error_ns);
    put_wakings(stream, facts);
    if (states->pauses > 0)
        fprintf(stream, "; unknown in %" PRIu32 " interval%s, together %.3g s, to keep within the "
                "budget", states->pauses, probity_text_s(states->pauses),
                (double)states->paused_ns / 1e9);
    if (states->lost > 0)
        fprintf(stream, "; unknown where the kernel dropped %" PRIu64 " records", states->lost);
    if (states->flags & PROBITY_SCHED_CUT)
        fputs("; unknown after a write error", stream);
    fputc('\n', stream);
}

/* Prints how exact thread states are, if they were read. */
static void put_states(FILE *stream, const struct probity_trace_facts *facts)
{
    if (facts->sched == NULL)
        return;
    fputs("states: ", stream);
    probity_report_put_states(stream, facts);
}

static void put_traces(FILE *stream, int has_color, const struct probity_reader *reader)
{
    char why[256];

    for (size_t i = 0; i < probity_reader_traces(reader); i++) {
        const struct probity_trace_facts *facts = probity_reader_facts(reader, i);
        int is_complete = probity_trace_is_complete(facts, why, sizeof why);
        const char *color = !has_color ? "" : is_complete ? "\033[32m" : "\033[1;31m";
        fputs("trace: ", stream);
        probity_report_put_safe(stream, facts->path, strlen(facts->path));
        fprintf(stream, ": %s%s%s: %s\n", color, is_complete ? "complete" : "INCOMPLETE",
                has_color ? "\033[0m" : "", why);
        if (facts->totals.stalls > 0)
            fprintf(stream, "trace: threads waited %" PRIu64 " times for a free chunk, %.6f s in "
                    "total; wall times include these waits\n", facts->totals.stalls,
                    (double)probity_trace_ns_of_ticks(facts, facts->totals.stall_ticks) / 1e9);
        if (facts->clock_steps > 0)
            fprintf(stream, "trace: the wall clock was adjusted %" PRIu64 " times; calls in "
                    "progress then have wrong times\n", facts->clock_steps);
        if (facts->counted_hits > 0)
            fputs("trace: free locks, conditions or allocations are only counted from some point "
                  "on, to keep within the budget: see `probity log`\n", stream);
        put_states(stream, facts);
    }
}

static void put_range(FILE *stream, const char *before, const struct probity_cost_range *range)
{
    const double units = PROBITY_COST_UNITS;

    fprintf(stream, "%s%.1f to %.1f", before, (double)range->least / units,
            (double)range->most / units);
}

/* If calls take only a few times as long as the clock may be read too early, the error is a large
 * part of their time. */
static void put_early(FILE *stream, const struct probity_costs *costs)
{
    enum { SHORT_CALL = 4 };
    const double units = PROBITY_COST_UNITS;

    if (costs->early == 0)
        return;
    fprintf(stream, "order: the clock may be read up to %.0f ns before preceding work has finished "
            "(%.0f ns for floating point and divisions, longer for cache misses); for calls below "
            "%.0f ns, record with PROBITY_ORDER=strict\n", (double)costs->early / units,
            (double)costs->early_slow / units, SHORT_CALL * (double)costs->early / units);
}

static void put_hooked(FILE *stream, const struct probity_costs *costs)
{
    if (costs->part[PROBITY_PART_HOOKED_OWN].most == 0)
        return;
    put_range(stream, "overhead: a call that the compiler's hooks record adds ",
              &costs->part[PROBITY_PART_HOOKED_OWN]);
    put_range(stream, " ns to its self time, ", &costs->part[PROBITY_PART_HOOKED_CALLER]);
    fputs(" ns to its caller's\n", stream);
}

void probity_report_put_overhead(FILE *stream, const struct probity_reader *reader)
{
    struct probity_costs costs;

    for (size_t i = 0; i < probity_reader_traces(reader); i++) {
        const struct probity_trace_facts *facts = probity_reader_facts(reader, i);
        int is_profile = (facts->info.flags & PROBITY_INFO_PROFILE) != 0;
        if (facts->is_remote)
            continue;
        probity_costs_of(facts, &costs);
        const struct probity_cost_range *own =
            &costs.part[is_profile ? PROBITY_PART_PROFILED_OWN : PROBITY_PART_SCOPE_OWN];
        if (!costs.is_known) {
            fputs("overhead: not measured\n", stream);
            continue;
        }
        put_range(stream, "overhead: a scope adds ", own);
        put_range(stream, " ns to its self time, ", own + 1);
        fputs(" ns to its caller's", stream);
        if (costs.part[PROBITY_PART_HIT].most > 0)
            put_range(stream, "; a hit ", &costs.part[PROBITY_PART_HIT]);
        fputs(costs.part[PROBITY_PART_HIT].most > 0 ? " ns\n" : "\n", stream);
        put_hooked(stream, &costs);
        put_early(stream, &costs);
    }
}

void probity_report_put_waiting(FILE *stream, const char *what, uint64_t waiting)
{
    if (waiting > 0)
        fprintf(stream, "waiting: %" PRIu64 " %s%s %s off the CPU for longer than the stated "
                "error, which does not cover waiting; on a busy machine, compare CPU times\n",
                waiting, what, probity_text_s(waiting), probity_text_were(waiting));
}

void probity_report_put_unknown_waiting(FILE *stream, const struct probity_reader *reader)
{
    size_t count = probity_reader_traces(reader), unknown = 0;
    struct probity_costs costs;

    for (size_t i = 0; i < count; i++) {
        const struct probity_trace_facts *facts = probity_reader_facts(reader, i);
        probity_costs_of(facts, &costs);
        unknown += (facts->info.flags & PROBITY_INFO_CPU_TIME) == 0 && costs.is_known;
    }
    if (unknown == 0)
        return;
    fputs("waiting: unknown", stream);
    if (unknown < count)
        fprintf(stream, " in %zu of %zu traces", unknown, count);
    fputs(", because CPU time was not recorded; the stated errors cover neither waiting nor the "
          "time of other programs\n", stream);
}

void probity_report_foot(FILE *stream, int has_color, const struct probity_reader *reader,
                         const struct probity_scopes_repairs *repairs)
{
    put_repairs(stream, repairs);
    put_traces(stream, has_color, reader);
}

/* Returns the number of functions shown whose percentiles are less exact than they look. */
static uint64_t rough_of(const struct probity_report_function *functions, size_t count,
                         const struct table *table)
{
    uint64_t rough = 0;
    int is_shown = 0;

    for (size_t i = 0; i < table->count; i++)
        is_shown |= table->keys[i] >= PROBITY_REPORT_P50 && table->keys[i] <= PROBITY_REPORT_P99;
    for (size_t i = 0; is_shown && i < count; i++)
        rough += functions[i].sums.profiled > 0;
    return rough;
}

static int has_errors(const struct table *table)
{
    int is_shown = 0;

    for (size_t i = 0; i < table->count; i++)
        is_shown |= heads[table->keys[i]].group == GROUP_CORRECTED;
    return is_shown;
}

/* Returns the number of functions that were off the CPU for longer than the errors of their times,
 * because they waited or other threads ran. */
static uint64_t waiting_of(const struct probity_report_function *functions, size_t count,
                           const struct table *table)
{
    const enum probity_report_key off = PROBITY_REPORT_OFF_TOTAL;
    const enum probity_report_key error = PROBITY_REPORT_TOTAL_ERROR;
    uint64_t waiting = 0;

    for (size_t i = 0; i < count; i++) {
        const struct probity_report_sums *sums = &functions[i].sums;
        waiting += probity_report_is_known(sums, off, table->is_cpu_known) &&
                   probity_report_is_known(sums, error, table->is_cpu_known) &&
                   probity_report_value(sums, off) > probity_report_value(sums, error);
    }
    return waiting;
}

/* Sums over all functions. */
struct sums {
    uint64_t open; /* from profile mode */
    uint64_t untimed, counted, entries;
    size_t least;
};

static struct sums sums_of(const struct probity_report_function *functions, size_t count)
{
    struct sums all = {.open = 0};

    for (size_t i = 0; i < count; i++) {
        const struct probity_report_sums *sums = &functions[i].sums;
        all.open += sums->profiled > 0 ? sums->open : 0;
        all.untimed += sums->untimed;
        all.counted += sums->counted;
        all.entries += sums->entries;
        all.least += sums->is_least != 0;
    }
    return all;
}

static int is_call_to_libc(const struct probity_function *function)
{
    const char *file = function != NULL ? function->recorded_file : NULL;

    return file != NULL && strncmp(file, "libc/", 5) == 0;
}

/* Returns the mean self time of recorded calls, in ns, or 0 if there are none. */
static double mean_recorded_ns(const struct probity_report_sums *sums)
{
    return sums->calls > sums->untimed
               ? (double)sums->self.wall_ns / (double)(sums->calls - sums->untimed)
               : 0;
}

/* Returns the same for calls that did not wait. */
static double mean_quick_ns(const struct probity_histogram *durations)
{
    struct probity_histogram_bucket bucket;
    double sum_ns = 0, count = 0;

    for (size_t at = 0; probity_histogram_next(durations, &at, &bucket) != 0;) {
        double middle = (double)bucket.least + (double)(bucket.width - 1) / 2;
        if (middle >= WAIT_NS)
            break;
        sum_ns += middle * (double)bucket.count;
        count += (double)bucket.count;
    }
    return count > 0 ? sum_ns / count : 0;
}

/* Estimates the time of counted calls that is included in the self times of callers, assuming that
 * counted calls took as long as recorded ones. Calls to libc that wait are recorded even if the
 * others are only counted, so the mean of all recorded calls would be too high. */
static double hidden_seconds(const struct probity_report_function *functions, size_t count,
                             uint64_t *ret_of_libc)
{
    double ns = 0;

    *ret_of_libc = 0;
    for (size_t i = 0; i < count; i++) {
        const struct probity_report_sums *sums = &functions[i].sums;
        int is_of_libc = is_call_to_libc(functions[i].function);
        *ret_of_libc += is_of_libc ? sums->counted : 0;
        ns += (double)sums->counted *
              (is_of_libc ? mean_quick_ns(&sums->durations) : mean_recorded_ns(sums));
    }
    return ns / 1e9;
}

static void put_hidden(FILE *stream, uint64_t counted,
                       const struct probity_report_function *functions, size_t count)
{
    uint64_t of_libc;
    double seconds = hidden_seconds(functions, count, &of_libc);

    if (counted > 0)
        fprintf(stream, "%" PRIu64 " call%s %s only counted (budget, or switched off): the self "
                "times of their callers include about %.3g s for them, estimated from the mean of "
                "recorded calls%s\n",
                counted, probity_text_s(counted), probity_text_were(counted), seconds,
                of_libc > 0 ? " (to libc: of those that did not wait)" : "");
}

static void put_least(FILE *stream, size_t least)
{
    if (least > 0)
        fprintf(stream, "%zu function%s %s called more often than shown: from some point on, %s "
                "not even counted, to keep within the budget; the self times of callers also "
                "include that time\n", least, probity_text_s(least), probity_text_were(least),
                least == 1 ? "its calls were" : "their calls were");
}

/* Reports the budgets that were exceeded. */
static void put_budgets(FILE *stream, const struct probity_reader *reader)
{
    const double unit = 100.0 / PROBITY_BUDGET_UNITS;

    for (size_t i = 0; i < probity_reader_traces(reader); i++) {
        const struct probity_trace_facts *facts = probity_reader_facts(reader, i);
        if (facts->budget.what == 0 || facts->budget.cost <= facts->budget.budget)
            continue;
        fprintf(stream, "%s: the budget of %.3g %% was EXCEEDED: recording took an estimated %.2f "
                "%% of the program's CPU time%s\n", facts->path,
                facts->budget.budget * unit, facts->budget.cost * unit,
                facts->counted_functions > facts->removed_functions
                    ? "; calls that are only counted cost some of it, except of functions compiled "
                      "with -fpatchable-function-entry=5 or clang's -fxray-instrument (see man 7 "
                      "probity-functions)"
                    : "");
    }
}

/* Computes the totals over all functions, for shares, and the scale of the distributions. */
static void measure(struct table *table, const struct probity_report_function *functions,
                    size_t count)
{
    static const enum probity_report_key shares[] = {
        PROBITY_REPORT_SELF, PROBITY_REPORT_CPU_SELF, PROBITY_REPORT_OFF_SELF};
    uint64_t least_ns = UINT64_MAX, most_ns = 0;

    for (size_t i = 0; i < count; i++) {
        const struct probity_report_sums *sums = &functions[i].sums;
        for (size_t j = 0; j < sizeof shares / sizeof *shares; j++)
            table->all_ns[shares[j]] += probity_report_value(sums, shares[j]);
        if (sums->durations.count == 0)
            continue;
        least_ns = sums->min_ns < least_ns ? sums->min_ns : least_ns;
        most_ns = sums->max_ns > most_ns ? sums->max_ns : most_ns;
    }
    table->spread = probity_sparkline_of(least_ns, most_ns);
    for (size_t i = 0; i < table->count; i++)
        table->has_spread |= table->keys[i] == PROBITY_REPORT_DISTRIBUTION && most_ns >= least_ns;
}

static void put_notes(const struct table *table)
{
    probity_table_put_left(table->stream, table->columns, table->column_count, table->shown,
                           " (use --wide)");
    if (table->has_spread)
        probity_table_put_scale(table->stream, &table->spread);
}

void probity_report_end_line(FILE *stream, int has_entries_only, int is_least, uint64_t counted)
{
    if (has_entries_only)
        fputs("  [entries only]", stream);
    if (is_least && counted == 0)
        fputs("  [at least this many]", stream);
    else if (is_least)
        fprintf(stream, "  [at least this many; %" PRIu64 " only counted]", counted);
    else if (counted > 0)
        fprintf(stream, "  [%" PRIu64 " only counted]", counted);
    fputc('\n', stream);
}

static void put_counted(FILE *stream, const struct probity_report_sums *sums)
{
    probity_report_end_line(stream, sums->entries > 0, sums->is_least, sums->counted);
}

static void put_functions(const struct table *table,
                          const struct probity_report_function *functions, size_t shown,
                          size_t count)
{
    char *are_namesakes = find_namesakes(functions, count);

    for (size_t i = 0; i < shown; i++) {
        put_sums(table, &functions[i].sums);
        put_function(table->stream, table->layout, &functions[i],
                     are_namesakes != NULL && are_namesakes[i]);
        put_counted(table->stream, &functions[i].sums);
        for (size_t j = 0; j < functions[i].row_count; j++) {
            put_sums(table, &functions[i].rows[j].sums);
            fputs("  ", table->stream);
            probity_report_put_thread(table->stream, functions[i].rows[j].thread, table->has_pids);
            put_counted(table->stream, &functions[i].rows[j].sums);
        }
    }
    free(are_namesakes);
    fputc('\n', table->stream);
}

void probity_report_text(FILE *stream, const struct probity_report_layout *layout,
                         const struct probity_reader *reader,
                         const struct probity_report_function *functions, size_t count,
                         const struct probity_scopes_repairs *repairs)
{
    size_t shown = layout->limit > 0 && layout->limit < count ? layout->limit : count;
    struct table table = {.stream = stream, .layout = layout,
                          .is_cpu_known = probity_report_has_cpu(reader),
                          .has_pids = probity_reader_traces(reader) > 1};

    choose_columns(&table);
    measure(&table, functions, count);
    const struct sums all = sums_of(functions, count);
    uint64_t untimed = all.untimed - all.counted - all.entries;
    uint64_t rough = rough_of(functions, shown, &table);
    put_head(&table);
    put_functions(&table, functions, shown, count);
    if (count == 0)
        fputs("no calls\n", stream);
    if (shown < count)
        fprintf(stream, "%zu more function%s %s not shown\n", count - shown,
                probity_text_s(count - shown), probity_text_are(count - shown));
    put_notes(&table);
    if (untimed > 0)
        fprintf(stream, "%" PRIu64 " call%s without times: profiling was off, or nested too deep\n",
                untimed, probity_text_s(untimed));
    if (all.entries > 0)
        fprintf(stream, "%" PRIu64 " call%s of functions with entries only: they were "
                "compiled without a flag that calls a hook at their end (see man 7 "
                "probity-functions); their times are in the self times of their callers\n",
                all.entries, probity_text_s(all.entries));
    put_hidden(stream, all.counted, functions, count);
    put_least(stream, all.least);
    put_budgets(stream, reader);
    if (all.open > 0)
        fprintf(stream, "%" PRIu64 " call%s %s in progress; only total includes the time so far\n",
                all.open, probity_text_s(all.open), probity_text_are(all.open));
    if (rough > 0)
        fprintf(stream, "percentiles of %" PRIu64 " function%s are accurate to %.0f %%: profile "
                "mode uses wide buckets\n", rough, probity_text_s(rough),
                100 * PROBITY_REPORT_QUANTILE_ERROR_PROFILED);
    probity_report_put_overhead(stream, reader);
    if (shown > 0 && has_errors(&table)) {
        probity_report_put_waiting(stream, "function", waiting_of(functions, shown, &table));
        probity_report_put_unknown_waiting(stream, reader);
    }
    probity_report_foot(stream, layout->has_color, reader, repairs);
}
