/* SPDX-License-Identifier: MIT
 *
 * states_print.c: prints functions with their times by state.
 */
#include "answers/report/states_print.h"

#include <inttypes.h>
#include <string.h>

#include "answers/report/report_csv.h"
#include "answers/report/report_json.h"
#include "answers/report/table.h"
#include "print/json.h"
#include "print/text.h"
#include "print/time_text.h"
#include "probity.h"

/* ---- Text --------------------------------------------------------------------------------------
 */

static const char of_total[] = "total time", of_self[] = "self time";

enum what { CALLS, TOTAL, TOTAL_OF, SELF = TOTAL_OF + PROBITY_STATES, SELF_OF,
            COLUMNS = SELF_OF + PROBITY_STATES };

/* Unknown is last, and shown only if there is any. */
static const uint32_t order[PROBITY_STATES] = {PROBITY_STATE_RUNNING, PROBITY_STATE_RUNNABLE,
                                               PROBITY_STATE_BLOCKED, PROBITY_STATE_UNKNOWN};

static const struct probity_table_column all_columns[COLUMNS] = {
    {9, 0, CALLS, "calls", NULL, NULL, NULL},
    {8, 2, TOTAL, "wall", "total", of_total, NULL},
    {8, 3, TOTAL_OF, "running", "total running", of_total, NULL},
    {8, 4, TOTAL_OF + 1, "waiting", "total waiting", of_total, NULL},
    {8, 4, TOTAL_OF + 2, "blocked", "total blocked", of_total, NULL},
    {8, 5, TOTAL_OF + 3, "unknown", "total unknown", of_total, NULL},
    {8, 0, SELF, "wall", "self", of_self, NULL},
    {8, 0, SELF_OF, "running", "self running", of_self, NULL},
    {8, 0, SELF_OF + 1, "waiting", "self waiting", of_self, NULL},
    {8, 0, SELF_OF + 2, "blocked", "self blocked", of_self, NULL},
    {8, 1, SELF_OF + 3, "unknown", "self unknown", of_self, NULL}};

static void put_time(FILE *stream, uint64_t ns, int is_known)
{
    char text[PROBITY_TIME_TEXT_BYTES];

    fprintf(stream, "%8s", is_known ? probity_time_text(ns, text) : "-");
}

static void put_value(FILE *stream, const struct probity_states_row *row, int what)
{
    const struct probity_report_sums *sums = &row->entry->sums;
    int is_timed = sums->calls > sums->untimed;

    if (what == CALLS)
        fprintf(stream, "%9" PRIu64, sums->calls);
    else if (what == TOTAL)
        put_time(stream, sums->total.wall_ns, is_timed);
    else if (what == SELF)
        put_time(stream, sums->self.wall_ns, is_timed);
    else if (what < SELF)
        put_time(stream, row->total.ns[order[what - TOTAL_OF]], is_timed);
    else
        put_time(stream, row->self.ns[order[what - SELF_OF]], is_timed);
}

static const char *name_of(const struct probity_report_function *entry, char lost[32])
{
    if (entry->function != NULL)
        return entry->function->name;
    snprintf(lost, 32, "site-%" PRIu32, entry->number);
    return lost;
}

void probity_states_note(FILE *stream, const struct probity_reader *reader)
{
    for (size_t i = 0; i < probity_reader_traces(reader); i++) {
        if (probity_reader_facts(reader, i)->sched != NULL)
            return;
    }
    fputs("states: not recorded; see `probity record --sched`\n", stream);
}

void probity_states_text(FILE *stream, const struct probity_report_layout *layout,
                         const struct probity_states_answer *answer)
{
    struct probity_table_column columns[COLUMNS];
    const char *bold = layout->has_color ? "\033[1m" : "", *plain = *bold ? "\033[0m" : "";
    uint64_t unknown_ns = 0;

    memcpy(columns, all_columns, sizeof columns);
    for (size_t i = 0; i < answer->count; i++)
        unknown_ns += answer->rows[i].total.ns[PROBITY_STATE_UNKNOWN];
    if (unknown_ns == 0)
        columns[TOTAL_OF + 3].width = columns[SELF_OF + 3].width = 0;
    uint64_t shown = probity_table_fit(columns, COLUMNS, layout->line_columns);
    fputs(bold, stream);
    probity_table_put_groups(stream, columns, COLUMNS, shown);
    fprintf(stream, "%s\n%s", plain, bold);
    probity_table_put_head(stream, columns, COLUMNS, shown);
    fprintf(stream, "  function%s\n", plain);
    for (size_t i = 0; i < answer->count; i++) {
        const struct probity_report_function *entry = answer->rows[i].entry;
        char lost[32];
        for (int what = 0; what < COLUMNS; what++) {
            if (shown >> what & 1)
                put_value(stream, &answer->rows[i], what);
        }
        fputs("  ", stream);
        const char *name = name_of(entry, lost);
        probity_report_put_safe(stream, name, strlen(name));
        fputc('\n', stream);
    }
    fputc('\n', stream);
    if (answer->count == 0)
        fputs("no calls\n", stream);
    probity_table_put_left(stream, columns, COLUMNS, shown, "");
    if (answer->counted > 0)
        fprintf(stream, "%" PRIu64 " call%s %s only counted (budget, or switched off), and %s not "
                "shown; see `probity report`\n", answer->counted, probity_text_s(answer->counted),
                probity_text_were(answer->counted), probity_text_are(answer->counted));
    probity_states_note(stream, answer->reader);
    probity_report_foot(stream, layout->has_color, answer->reader, answer->repairs);
}

/* ---- JSON and CSV ------------------------------------------------------------------------------
 */

static struct probity_cell time_cell(const void *row, uint64_t ns)
{
    const struct probity_report_sums *sums = &((const struct probity_states_row *)row)->entry->sums;

    return sums->calls > sums->untimed ? probity_cell_count(ns) : probity_cell_unknown();
}

static struct probity_cell calls(const void *row)
{
    return probity_cell_count(((const struct probity_states_row *)row)->entry->sums.calls);
}

static struct probity_cell total(const void *row)
{
    return time_cell(row, ((const struct probity_states_row *)row)->entry->sums.total.wall_ns);
}

static struct probity_cell self(const void *row)
{
    return time_cell(row, ((const struct probity_states_row *)row)->entry->sums.self.wall_ns);
}

#define STATE_CELL(NAME, SPLIT, STATE)                                                             \
    static struct probity_cell NAME(const void *row)                                               \
    {                                                                                              \
        return time_cell(row, ((const struct probity_states_row *)row)->SPLIT.ns[STATE]);          \
    }

STATE_CELL(total_running, total, PROBITY_STATE_RUNNING)
STATE_CELL(total_waiting, total, PROBITY_STATE_RUNNABLE)
STATE_CELL(total_blocked, total, PROBITY_STATE_BLOCKED)
STATE_CELL(total_unknown, total, PROBITY_STATE_UNKNOWN)
STATE_CELL(self_running, self, PROBITY_STATE_RUNNING)
STATE_CELL(self_waiting, self, PROBITY_STATE_RUNNABLE)
STATE_CELL(self_blocked, self, PROBITY_STATE_BLOCKED)
STATE_CELL(self_unknown, self, PROBITY_STATE_UNKNOWN)

#define SPLIT_CELL(NAME, STATE)                                                                    \
    static struct probity_cell NAME(const void *split)                                             \
    {                                                                                              \
        return probity_cell_count(((const struct probity_thread_split *)split)->ns[STATE]);        \
    }

SPLIT_CELL(running, PROBITY_STATE_RUNNING)
SPLIT_CELL(waiting, PROBITY_STATE_RUNNABLE)
SPLIT_CELL(blocked, PROBITY_STATE_BLOCKED)
SPLIT_CELL(unknown, PROBITY_STATE_UNKNOWN)

const struct probity_column probity_split_columns[PROBITY_SPLIT_COLUMNS] = {
    {"running_ns", running}, {"waiting_ns", waiting}, {"blocked_ns", blocked},
    {"unknown_ns", unknown}};

int probity_states_are_known(const struct probity_reader *reader)
{
    int are_known = 0;

    for (size_t i = 0; i < probity_reader_traces(reader); i++)
        are_known |= probity_reader_facts(reader, i)->sched != NULL;
    return are_known;
}

const struct probity_column probity_states_columns[PROBITY_STATES_COLUMNS] = {
    {"calls", calls},
    {"total_ns", total},
    {"total_running_ns", total_running},
    {"total_waiting_ns", total_waiting},
    {"total_blocked_ns", total_blocked},
    {"total_unknown_ns", total_unknown},
    {"self_ns", self},
    {"self_running_ns", self_running},
    {"self_waiting_ns", self_waiting},
    {"self_blocked_ns", self_blocked},
    {"self_unknown_ns", self_unknown}};

int probity_states_json(FILE *stream, const struct probity_states_answer *answer)
{
    int error = probity_report_json_head(stream, answer->reader, answer->repairs);

    fputs(",\n\"functions\": [", stream);
    for (size_t i = 0; error == 0 && i < answer->count; i++) {
        const struct probity_report_function *entry = answer->rows[i].entry;
        char lost[32];
        fprintf(stream, "%s\n{\"name\": ", i > 0 ? "," : "");
        error = probity_json_put_text(stream, name_of(entry, lost));
        fputs(", \"file\": ", stream);
        if (error == 0)
            error = probity_json_put_text(
                stream, entry->function != NULL ? entry->function->file : NULL);
        fprintf(stream, ", \"line\": %" PRIu32 ", ",
                entry->function != NULL ? entry->function->line : 0);
        probity_columns_put_json(stream, probity_states_columns, PROBITY_STATES_COLUMNS,
                                 &answer->rows[i]);
        fputc('}', stream);
    }
    fprintf(stream, "],\n\"calls_counted\": %" PRIu64 "}\n", answer->counted);
    return error == 0 && ferror(stream) ? PROBITY_ERROR_WRITE : error;
}

void probity_states_csv(FILE *stream, const struct probity_states_answer *answer)
{
    fputs("function,file,line", stream);
    probity_columns_put_names(stream, probity_states_columns, PROBITY_STATES_COLUMNS);
    fputc('\n', stream);
    for (size_t i = 0; i < answer->count; i++) {
        const struct probity_report_function *entry = answer->rows[i].entry;
        char lost[32];
        probity_report_csv_field(stream, name_of(entry, lost));
        fputc(',', stream);
        if (entry->function != NULL)
            probity_report_csv_field(stream, entry->function->file);
        fprintf(stream, ",%" PRIu32, entry->function != NULL ? entry->function->line : 0);
        probity_columns_put_csv(stream, probity_states_columns, PROBITY_STATES_COLUMNS,
                                &answer->rows[i]);
        fputc('\n', stream);
    }
}
