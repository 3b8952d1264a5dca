/* SPDX-License-Identifier: MIT
 *
 * tree_text.c: prints a tree as an indented table. Of very deep paths, only the innermost levels
 * are drawn, so that recursion does not make lines thousands of columns long.
 */
#include "answers/tree/tree_print.h"

#include <inttypes.h>
#include <string.h>

#include "answers/report/report_text.h"
#include "answers/report/states.h"
#include "answers/report/states_print.h"
#include "answers/tree/tree_states.h"
#include "answers/report/table.h"
#include "print/text.h"
#include "print/time_text.h"

/* Levels drawn before a name: on a terminal, as many as fit, but at least LEAST. Columns: of each
 * level, and of the text "(12 levels) " that replaces the others. */
enum { LEVELS_DRAWN = 48, LEVELS_DRAWN_LEAST = 2, LEVEL_COLUMNS = 3, LEVELS_COLUMNS = 12 };

enum what { CALLS, TOTAL, SELF, CPU_TOTAL, CPU_SELF, TOTAL_LESS, SELF_LESS, TOTAL_ERROR, SELF_ERROR,
            SHARE, TOTAL_STATE, SELF_STATE = TOTAL_STATE + PROBITY_STATES };

/* Numbers of columns. Unknown states are shown only if there are any. */
enum { COLUMNS_USUAL = 6, COLUMNS_CORRECTED = 8, COLUMNS_STATES = 12, COLUMNS_KNOWN = 10 };

static const char of_wall[] = "wall", of_cpu[] = "CPU", less[] = "less overhead",
                  wall_time[] = "wall time", cpu_time[] = "CPU time";

static const struct probity_table_column usual_columns[COLUMNS_USUAL] = {
    {9, 0, CALLS, "calls", NULL, NULL, NULL},
    {8, 0, TOTAL, "total", NULL, wall_time, of_wall},
    {8, 0, SELF, "self", NULL, wall_time, of_wall},
    {8, 3, CPU_TOTAL, "total", "CPU total", cpu_time, of_cpu},
    {8, 1, CPU_SELF, "self", "CPU self", cpu_time, of_cpu},
    {8, 2, SHARE, "share", NULL, NULL, NULL}};

static const struct probity_table_column corrected_columns[COLUMNS_CORRECTED] = {
    {9, 0, CALLS, "calls", NULL, NULL, NULL},
    {8, 3, TOTAL, "total", NULL, of_wall, of_wall},
    {10, 2, TOTAL_LESS, "total", "corrected total", less, "corrected"},
    {8, 4, TOTAL_ERROR, "+-", "+- of total", less, "corrected"},
    {8, 0, SELF, "self", NULL, of_wall, of_wall},
    {10, 0, SELF_LESS, "self", NULL, less, "corrected"},
    {8, 0, SELF_ERROR, "+-", NULL, less, "corrected"},
    {8, 1, SHARE, "share", NULL, NULL, NULL}};

static const char total_time[] = "total time", self_time[] = "self time";

static const struct probity_table_column states_columns[COLUMNS_STATES] = {
    {9, 0, CALLS, "calls", NULL, NULL, NULL},
    {8, 2, TOTAL, "wall", "total", total_time, NULL},
    {8, 3, TOTAL_STATE + PROBITY_STATE_RUNNING, "running", "total running", total_time, NULL},
    {8, 4, TOTAL_STATE + PROBITY_STATE_RUNNABLE, "waiting", "total waiting", total_time, NULL},
    {8, 4, TOTAL_STATE + PROBITY_STATE_BLOCKED, "blocked", "total blocked", total_time, NULL},
    {8, 0, SELF, "wall", "self", self_time, NULL},
    {8, 0, SELF_STATE + PROBITY_STATE_RUNNING, "running", "self running", self_time, NULL},
    {8, 0, SELF_STATE + PROBITY_STATE_RUNNABLE, "waiting", "self waiting", self_time, NULL},
    {8, 0, SELF_STATE + PROBITY_STATE_BLOCKED, "blocked", "self blocked", self_time, NULL},
    {8, 5, SHARE, "share", NULL, NULL, NULL},
    {8, 6, TOTAL_STATE + PROBITY_STATE_UNKNOWN, "total", "total unknown", "unknown", NULL},
    {8, 1, SELF_STATE + PROBITY_STATE_UNKNOWN, "self", "self unknown", "unknown", NULL}};

/* A table that is being written. */
struct table {
    FILE *stream;
    const struct probity_tree_layout *layout;
    const struct probity_table_column *columns;
    size_t count;
    uint64_t shown; /* one bit per column */
    size_t columns_used; /* by columns with numbers */
    int is_cpu_known;
    struct probity_tree_at at;
};

static int is_any_unknown(const struct probity_tree_node *root)
{
    return root->sums.total.cpu_ns > 0;
}

static struct table table_of(FILE *stream, const struct probity_tree_layout *layout,
                             const struct probity_tree_answer *answer)
{
    struct table table = {.stream = stream, .layout = layout,
                          .columns = layout->is_corrected ? corrected_columns : usual_columns,
                          .count = layout->is_corrected ? COLUMNS_CORRECTED : COLUMNS_USUAL,
                          .is_cpu_known = probity_report_has_cpu(answer->reader)};

    if (answer->states != NULL) {
        table.columns = states_columns;
        table.count = is_any_unknown(answer->states->unknown) ? COLUMNS_STATES : COLUMNS_KNOWN;
    }
    table.shown = probity_table_fit(table.columns, table.count, layout->line_columns);
    for (size_t i = 0; i < table.count; i++)
        table.columns_used += table.shown >> i & 1 ? (size_t)table.columns[i].width : 0;
    return table;
}

static void put_head(const struct table *table)
{
    const char *start = table->layout->has_color ? "\033[1m" : "";
    const char *end = table->layout->has_color ? "\033[0m" : "";

    fputs(start, table->stream);
    probity_table_put_groups(table->stream, table->columns, table->count, table->shown);
    fprintf(table->stream, "%s\n%s", end, start);
    probity_table_put_head(table->stream, table->columns, table->count, table->shown);
    fprintf(table->stream, "  function%s\n", end);
}

static void put_time(FILE *stream, uint64_t ns, int is_known)
{
    char text[PROBITY_TIME_TEXT_BYTES];

    fprintf(stream, "%8s", is_known ? probity_time_text(ns, text) : "-");
}

static void put_corrected(FILE *stream, const struct probity_tree_node *node, int is_self,
                          int is_error)
{
    struct probity_corrected corrected;
    int is_known = (!is_self || node->function != NULL) &&
                   probity_tree_corrected(&node->sums, is_self, &corrected);

    if (is_error)
        put_time(stream, is_known ? corrected.error_ns : 0, is_known);
    else if (is_known)
        probity_report_put_corrected(stream, corrected);
    else
        fprintf(stream, "%10s", "-");
}

static void put_share(FILE *stream, double share)
{
    if (share >= 0)
        fprintf(stream, "%7.1f%%", 100 * share);
    else
        fprintf(stream, "%8s", "-");
}

static void put_state(const struct table *table, int is_self, uint32_t state, int is_known)
{
    const struct probity_thread_split split = probity_tree_split(&table->at, is_self);

    put_time(table->stream, split.ns[state], is_known);
}

static void put_value(const struct table *table, const struct probity_tree_node *node,
                      enum what what)
{
    const struct probity_tree_sums *sums = &node->sums;
    int is_timed = sums->calls > sums->untimed, is_function = node->function != NULL;
    int is_cpu_timed = is_timed && table->is_cpu_known;
    FILE *stream = table->stream;

    switch (what) {
    case CALLS: fprintf(stream, "%9" PRIu64, sums->calls); break;
    case TOTAL: put_time(stream, sums->total.wall_ns, is_timed); break;
    case SELF: put_time(stream, sums->self.wall_ns, is_timed && is_function); break;
    case CPU_TOTAL: put_time(stream, sums->total.cpu_ns, is_cpu_timed); break;
    case CPU_SELF: put_time(stream, sums->self.cpu_ns, is_cpu_timed && is_function); break;
    case TOTAL_LESS:
    case TOTAL_ERROR: put_corrected(stream, node, 0, what == TOTAL_ERROR); break;
    case SELF_LESS:
    case SELF_ERROR: put_corrected(stream, node, 1, what == SELF_ERROR); break;
    case SHARE: put_share(stream, is_timed ? probity_tree_share(node) : -1); break;
    default:
        if (what < SELF_STATE)
            put_state(table, 0, what - TOTAL_STATE, is_timed);
        else
            put_state(table, 1, what - SELF_STATE, is_timed && is_function);
    }
}

static void put_sums(const struct table *table, const struct probity_tree_node *node)
{
    for (size_t i = 0; i < table->count; i++) {
        if (table->shown >> i & 1)
            put_value(table, node, (enum what)table->columns[i].what);
    }
    fputs("  ", table->stream);
}

/* Returns the number of levels to draw before a node's name. */
static size_t levels_of(const struct table *table, const struct probity_tree_node *node,
                        size_t levels)
{
    size_t line_columns = table->layout->line_columns, drawn = LEVELS_DRAWN_LEAST, used, bytes = 0;
    char lost[32];
    const char *name = node->function != NULL ? probity_tree_label(node, lost, &bytes) : "";

    used = table->columns_used + 2 + probity_report_safe_columns(name, bytes);
    if (line_columns == 0 || used + LEVEL_COLUMNS * levels <= line_columns)
        drawn = levels;
    else if (line_columns > used + LEVELS_COLUMNS + LEVEL_COLUMNS * drawn)
        drawn = (line_columns - used - LEVELS_COLUMNS) / LEVEL_COLUMNS;
    return drawn < LEVELS_DRAWN ? drawn : LEVELS_DRAWN;
}

/* Draws the lines to the left of a name, outermost first. Each shows whether an ancestor has more
 * siblings. First-level nodes are at the margin. */
static void put_lines(const struct table *table, const struct probity_tree_node *node, size_t depth)
{
    FILE *stream = table->stream;
    int has_lines = table->layout->has_lines;
    uint8_t goes_on[LEVELS_DRAWN];
    size_t count = 0, levels = levels_of(table, node, depth - 1);
    size_t left = levels < depth - 1 ? depth - 1 - levels : 0;

    if (left > 0)
        fprintf(stream, "(%zu level%s) ", left, left == 1 ? "" : "s");
    for (; depth > 1 && count < levels; depth--, node = node->parent)
        goes_on[count++] = node->next != NULL;
    while (count-- > 1)
        fputs(!goes_on[count] ? "   " : has_lines ? "\u2502  " : "|  ", stream);
    if (count == 0)
        fputs(has_lines ? (goes_on[0] ? "\u251c\u2500 " : "\u2514\u2500 ")
                        : (goes_on[0] ? "|- " : "`- "), stream);
}

static void put_thread(FILE *stream, const struct probity_thread_label *thread, int has_pids)
{
    fputs("thread ", stream);
    probity_report_put_thread(stream, thread, has_pids);
}

const char *probity_tree_label(const struct probity_tree_node *node, char ret_text[32],
                               size_t *ret_bytes)
{
    const struct probity_function *function = node->function->key.function;

    if (function != NULL)
        return probity_text_qualified(function->signature, function->name, ret_bytes);
    *ret_bytes = (size_t)snprintf(ret_text, 32, "site-%" PRIu32, node->function->key.number);
    return ret_text;
}

static void put_name(FILE *stream, const struct probity_tree_node *node, int has_places)
{
    const struct probity_function *function = node->function->key.function;
    char lost[32];
    size_t bytes;
    const char *name = probity_tree_label(node, lost, &bytes);

    probity_report_put_safe(stream, name, bytes);
    if (has_places && function != NULL) {
        fputs("  ", stream);
        probity_report_put_safe(stream, function->file, strlen(function->file));
        fprintf(stream, ":%" PRIu32, function->line);
    }
}

static uint64_t waiting_of(const struct table *table, const struct probity_tree_answer *answer)
{
    const struct probity_tree_node *node = answer->root;
    struct probity_corrected corrected;
    uint64_t waiting = 0;
    size_t depth = 0;

    while (table->is_cpu_known &&
           (node = probity_tree_next(node, answer->root, &depth)) != NULL) {
        const struct probity_scope_time *total = &node->sums.total;
        waiting += node->function != NULL && probity_tree_corrected(&node->sums, 0, &corrected) &&
                   total->wall_ns > total->cpu_ns &&
                   total->wall_ns - total->cpu_ns > corrected.error_ns;
    }
    return waiting;
}

static void put_errors(const struct table *table, const struct probity_tree_answer *answer)
{
    size_t depth = 0;

    probity_report_put_overhead(table->stream, answer->reader);
    if (probity_tree_next(answer->root, answer->root, &depth) == NULL)
        return;
    probity_report_put_waiting(table->stream, "path", waiting_of(table, answer));
    probity_report_put_unknown_waiting(table->stream, answer->reader);
}

static uint64_t removed_of(const struct probity_reader *reader)
{
    uint64_t removed = 0;

    for (size_t i = 0; i < probity_reader_traces(reader); i++)
        removed += probity_reader_facts(reader, i)->removed_functions;
    return removed;
}

static void put_foot(const struct table *table, const struct probity_tree_answer *answer)
{
    FILE *stream = table->stream;

    fputc('\n', stream);
    if (answer->root->child == NULL)
        fputs("no calls\n", stream);
    if (answer->pruned > 0)
        fprintf(stream, "%zu node%s %s not shown\n", answer->pruned,
                probity_text_s(answer->pruned), probity_text_are(answer->pruned));
    if (answer->root->sums.untimed > 0)
        fprintf(stream, "%" PRIu64 " outermost call%s without times: profiling was off\n",
                answer->root->sums.untimed, probity_text_s(answer->root->sums.untimed));
    if (answer->profiled > 0)
        fprintf(stream, "%" PRIu64 " call%s %s counted in profile mode, which has no paths; see "
                "`probity report`\n", answer->profiled, probity_text_s(answer->profiled),
                probity_text_were(answer->profiled));
    if (answer->counted > 0)
        fprintf(stream, "%" PRIu64 " call%s %s only counted (budget, or switched off), and %s in "
                "the self times of their callers; see `probity report`\n", answer->counted,
                probity_text_s(answer->counted), probity_text_were(answer->counted),
                probity_text_are(answer->counted));
    uint64_t removed = removed_of(answer->reader);
    if (removed > 0)
        fprintf(stream, "calls of %" PRIu64 " function%s were not even counted from some point "
                "on, to keep within the budget\n", removed, probity_text_s(removed));
    if (answer->lost > 0)
        fprintf(stream, "%" PRIu64 " call%s %s omitted: too many different paths (--fold-recursion "
                "may help)\n", answer->lost, probity_text_s(answer->lost),
                probity_text_are(answer->lost));
    probity_table_put_left(stream, table->columns, table->count, table->shown, "");
    if (answer->states != NULL)
        probity_states_note(stream, answer->reader);
    if (table->layout->is_corrected)
        put_errors(table, answer);
    probity_report_foot(stream, table->layout->has_color, answer->reader, answer->repairs);
}

void probity_tree_text(FILE *stream, const struct probity_tree_layout *layout,
                       const struct probity_tree_answer *answer)
{
    struct table table = table_of(stream, layout, answer);
    int has_pids = probity_reader_traces(answer->reader) > 1;
    const struct probity_tree_node *node;

    put_head(&table);
    while ((node = probity_tree_step(answer, &table.at)) != NULL) {
        put_sums(&table, node);
        put_lines(&table, node, table.at.depth);
        if (node->function == NULL)
            put_thread(stream, node->thread, has_pids);
        else
            put_name(stream, node, layout->has_places);
        fputc('\n', stream);
    }
    put_foot(&table, answer);
}
