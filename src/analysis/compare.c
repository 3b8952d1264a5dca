/* SPDX-License-Identifier: MIT
 *
 * compare.c: collects what each run says of each function, then tests. A row is found by what stays
 * the same when a program is changed and built elsewhere: name, signature, file without its folder;
 * not by its line.
 */
#include "analysis/compare_set.h"

#include <fnmatch.h>
#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probity.h"

enum { ENVIRONMENTS = PROBITY_COMPARE_ENVIRONMENTS };

static const char *const environment_names[ENVIRONMENTS] = {
    "host", "kernel", "CPU model", "program", "command line", "version of Probity", "clock",
    "mode", "gap rule"};

static const char *const statistic_names[PROBITY_COMPARE_STATISTICS] = {
    "calls", "self", "total", "cpu", "mean", "median", "p99"};

const char *probity_compare_statistic_name(enum probity_compare_statistic statistic)
{
    return statistic_names[statistic];
}

enum probity_compare_statistic probity_compare_statistic_parse(const char *name)
{
    int i = 0;

    if (strcmp(name, "p50") == 0)
        return PROBITY_COMPARE_MEDIAN;
    while (i < PROBITY_COMPARE_STATISTICS && strcmp(name, statistic_names[i]) != 0)
        i++;
    return (enum probity_compare_statistic)i;
}

const char *probity_compare_verdict_name(enum probity_compare_verdict verdict,
                                         enum probity_compare_statistic statistic)
{
    static const char *const names[] = {"cannot tell", "same", "faster", "slower", "gone", "added"};

    if (statistic == PROBITY_COMPARE_CALLS && verdict == PROBITY_COMPARE_LESS)
        return "fewer";
    if (statistic == PROBITY_COMPARE_CALLS && verdict == PROBITY_COMPARE_MORE)
        return "more";
    return names[verdict];
}

/* ---- Runs --------------------------------------------------------------------------------------
 */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* Bytes of the traced program; the zeros between the words of a command line become spaces. */
static char *text_of(const struct probity_text *text)
{
    size_t length = text->bytes != NULL ? text->length : 0;
    char *copy = calloc(length + 1, 1);

    for (size_t i = 0; copy != NULL && i < length; i++)
        copy[i] = text->bytes[i] == '\0' ? ' ' : text->bytes[i];
    return copy;
}

static char *clock_text(const struct probity_info *info)
{
    static const char *const clocks[] = {"?", "TSC", "CNTVCT_EL0", "CLOCK_MONOTONIC"};

    return strdup(info->clock < 4 ? clocks[info->clock] : clocks[0]);
}

static char *mode_text(const struct probity_info *info)
{
    static const char *const modes[] = {"block", "drop", "ring", "?"};
    char *text = NULL;

    if (asprintf(&text, "%s%s%s%s", modes[info->mode < 3 ? info->mode : 3],
                 info->flags & PROBITY_INFO_PROFILE ? ", profile" : "",
                 info->flags & PROBITY_INFO_CPU_TIME ? "" : ", no CPU time",
                 info->flags & PROBITY_INFO_WALL_TIME ? "" : ", no wall time") < 0)
        return NULL;
    return text;
}

/* In tenths of microseconds: the rate of the ticks is measured anew in each run. */
static char *gap_text(const struct probity_info *info)
{
    double ns = (double)info->gap_ticks * ((double)info->rate / 4294967296.0);
    char *text = NULL;

    return asprintf(&text, "%.1f us", ns / 1000) < 0 ? NULL : text;
}

static int take_environment(struct probity_compare_run_item *item, const struct probity_info *info)
{
    static const int tags[] = {PROBITY_TAG_HOST,    PROBITY_TAG_KERNEL,  PROBITY_TAG_CPU,
                               PROBITY_TAG_PROGRAM, PROBITY_TAG_COMMAND, PROBITY_TAG_LIBRARY};
    size_t i = 0;

    for (; i < sizeof tags / sizeof *tags; i++)
        item->environment[i] = text_of(&info->text[tags[i]]);
    item->environment[i++] = clock_text(info);
    item->environment[i++] = mode_text(info);
    item->environment[i] = gap_text(info);
    for (i = 0; i < ENVIRONMENTS; i++) {
        if (item->environment[i] == NULL)
            return PROBITY_ERROR_MEMORY;
    }
    return 0;
}

int probity_compare_add_run(struct probity_compare *compare, int side,
                            const struct probity_trace_facts *facts)
{
    size_t bytes = (compare->run_count + 1) * sizeof *compare->runs;
    struct probity_compare_run_item *runs = realloc(compare->runs, bytes);
    char why[256];

    if (runs == NULL)
        return PROBITY_ERROR_MEMORY;
    compare->runs = runs;
    struct probity_compare_run_item *item = &runs[compare->run_count++];
    *item = (struct probity_compare_run_item){.side = side};
    compare->side_counts[side]++;
    item->run.is_complete = probity_trace_is_complete(facts, why, sizeof why);
    item->run.path = strdup(facts->path);
    item->run.why = strdup(why);
    int error = take_environment(item, &facts->info);
    return item->run.path == NULL || item->run.why == NULL ? PROBITY_ERROR_MEMORY : error;
}

/* ---- Rows --------------------------------------------------------------------------------------
 */

static int compare_keys(const void *left, const void *right)
{
    const struct probity_compare_row *a = left, *b = right;
    int order = strcmp(a->name, b->name);

    order = order != 0 ? order : strcmp(a->signature, b->signature);
    order = order != 0 ? order : strcmp(a->file, b->file);
    order = order != 0 ? order : strcmp(a->object, b->object);
    return order != 0 ? order : a->instance < b->instance ? -1 : a->instance > b->instance;
}

static void release_row(struct probity_compare_row *row)
{
    for (int i = 0; i < PROBITY_COMPARE_STATISTICS; i++) {
        free(row->results[i].values[0]);
        free(row->results[i].values[1]);
    }
    free(row->name);
    free(row->signature);
    free(row->file);
    free(row->object);
}

static void free_row(struct probity_compare_row *row)
{
    release_row(row);
    free(row);
}

static struct probity_compare_row *copy_key(const struct probity_compare_row *key)
{
    struct probity_compare_row *row = calloc(1, sizeof *row);

    if (row == NULL)
        return NULL;
    *row = (struct probity_compare_row){
        .name = strdup(key->name), .signature = strdup(key->signature),
        .file = strdup(key->file), .object = strdup(key->object), .instance = key->instance};
    if (row->name != NULL && row->signature != NULL && row->file != NULL && row->object != NULL)
        return row;
    free_row(row);
    return NULL;
}

static int reserve_rows(struct probity_compare *compare)
{
    size_t room = 2 * compare->row_room + 64;

    if (compare->row_count < compare->row_room)
        return 0;
    struct probity_compare_row **all = realloc(compare->all, room * sizeof *all);
    if (all == NULL)
        return PROBITY_ERROR_MEMORY;
    compare->all = all;
    compare->row_room = room;
    return 0;
}

static struct probity_compare_row *row_of(struct probity_compare *compare,
                                          const struct probity_compare_row *key)
{
    struct probity_compare_row **found = tfind(key, &compare->tree, compare_keys);

    if (found != NULL)
        return *found;
    struct probity_compare_row *row = reserve_rows(compare) == 0 ? copy_key(key) : NULL;
    if (row == NULL || tsearch(row, &compare->tree, compare_keys) == NULL) {
        if (row != NULL)
            free_row(row);
        return NULL;
    }
    compare->all[compare->row_count++] = row;
    return row;
}

/* Until finish, result->runs tells for how many runs there is room. */
int probity_compare_reserve(struct probity_compare_result *result, int side, size_t runs)
{
    if (result->runs[side] >= runs)
        return 0;
    double *values = realloc(result->values[side], runs * sizeof *values);
    if (values == NULL)
        return PROBITY_ERROR_MEMORY;
    result->values[side] = values;
    while (result->runs[side] < runs)
        values[result->runs[side]++] = NAN;
    return 0;
}

int probity_compare_add_row(struct probity_compare *compare, const struct probity_function *like,
                            uint32_t instance, const double *values)
{
    const struct probity_compare_row key = {
        .name = (char *)(uintptr_t)like->name, .signature = (char *)(uintptr_t)like->signature,
        .file = (char *)(uintptr_t)base_name(like->file),
        .object = (char *)(uintptr_t)base_name(like->object), .instance = instance};
    int side = compare->runs[compare->run_count - 1].side, error = 0;
    struct probity_compare_row *row = row_of(compare, &key);

    if (row == NULL)
        return PROBITY_ERROR_MEMORY;
    row->line = like->line;
    for (int i = 0; error == 0 && i < PROBITY_COMPARE_STATISTICS; i++) {
        error = probity_compare_reserve(&row->results[i], side, compare->side_counts[side]);
        if (error == 0)
            row->results[i].values[side][compare->side_counts[side] - 1] = values[i];
    }
    return error;
}

/* Within a run: what makes instances of one key neighbours, in the order of their lines. */
static int compare_functions(const void *left, const void *right)
{
    const struct probity_function *a = ((const struct probity_report_function *)left)->function;
    const struct probity_function *b = ((const struct probity_report_function *)right)->function;

    if (a == NULL || b == NULL)
        return (a == NULL) - (b == NULL);
    int order = strcmp(a->name, b->name);
    order = order != 0 ? order : strcmp(a->signature, b->signature);
    order = order != 0 ? order : strcmp(base_name(a->file), base_name(b->file));
    order = order != 0 ? order : strcmp(base_name(a->object), base_name(b->object));
    order = order != 0 ? order : a->line < b->line ? -1 : a->line > b->line;
    return order != 0 ? order : strcmp(a->file, b->file);
}

static int is_same_key(const struct probity_function *a, const struct probity_function *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->signature, b->signature) == 0 &&
           strcmp(base_name(a->file), base_name(b->file)) == 0 &&
           strcmp(base_name(a->object), base_name(b->object)) == 0;
}

static void take_values(const struct probity_report_sums *sums, int is_cpu_known,
                        double ret_values[PROBITY_COMPARE_STATISTICS])
{
    uint64_t timed = sums->calls - sums->untimed;

    for (int i = 0; i < PROBITY_COMPARE_STATISTICS; i++)
        ret_values[i] = NAN;
    ret_values[PROBITY_COMPARE_CALLS] = (double)sums->calls;
    if (timed == 0)
        return;
    ret_values[PROBITY_COMPARE_SELF] = (double)sums->self.wall_ns;
    ret_values[PROBITY_COMPARE_TOTAL] = (double)sums->total.wall_ns;
    if (is_cpu_known)
        ret_values[PROBITY_COMPARE_CPU] = (double)sums->self.cpu_ns;
    ret_values[PROBITY_COMPARE_MEAN] = (double)sums->sum_ns / (double)timed;
    ret_values[PROBITY_COMPARE_MEDIAN] = (double)probity_report_quantile(sums, 500);
    ret_values[PROBITY_COMPARE_P99] = (double)probity_report_quantile(sums, 990);
}

int probity_compare_add_report(struct probity_compare *compare, struct probity_report *report,
                               int is_cpu_known)
{
    size_t count;
    struct probity_report_function *functions = probity_report_functions(report, &count);
    double values[PROBITY_COMPARE_STATISTICS];
    uint32_t instance = 0;
    int error = 0;

    if (count > 1)
        qsort(functions, count, sizeof *functions, compare_functions);
    for (size_t i = 0; error == 0 && i < count && functions[i].function != NULL; i++) {
        int is_again = i > 0 && is_same_key(functions[i - 1].function, functions[i].function);
        instance = is_again ? instance + 1 : 0;
        take_values(&functions[i].sums, is_cpu_known, values);
        if (functions[i].sums.profiled > 0)
            compare->options.quantile_error =
                fmax(compare->options.quantile_error,
                     2 * probity_report_quantile_error(&functions[i].sums));
        error = probity_compare_add_row(compare, functions[i].function, instance, values);
    }
    return error;
}

/* ---- The end -----------------------------------------------------------------------------------
 */

static int is_matching(const struct probity_compare *compare, const struct probity_compare_row *row)
{
    const char *pattern = compare->options.pattern;

    return pattern == NULL || fnmatch(pattern, row->name, 0) == 0 ||
           fnmatch(pattern, row->signature, 0) == 0;
}

/* From now on the rows are an array, without those that were not asked for. */
static int collect_rows(struct probity_compare *compare)
{
    size_t kept = 0;

    compare->rows = calloc(compare->row_count + 1, sizeof *compare->rows);
    if (compare->rows == NULL)
        return PROBITY_ERROR_MEMORY;
    while (compare->tree != NULL)
        tdelete(*(struct probity_compare_row **)compare->tree, &compare->tree, compare_keys);
    for (size_t i = 0; i < compare->row_count; i++) {
        if (is_matching(compare, compare->all[i])) {
            compare->rows[kept++] = *compare->all[i];
            free(compare->all[i]);
        } else {
            free_row(compare->all[i]);
        }
    }
    compare->row_count = kept;
    free(compare->all);
    compare->all = NULL;
    return 0;
}

/* Against the first run, which stands for what all should be like. */
static void find_differences(struct probity_compare *compare)
{
    for (int what = 0; compare->run_count > 0 && what < ENVIRONMENTS; what++) {
        const struct probity_compare_run_item *first = &compare->runs[0], *other = first + 1;
        const struct probity_compare_run_item *end = first + compare->run_count;
        while (other < end && strcmp(first->environment[what], other->environment[what]) == 0)
            other++;
        if (other == end)
            continue;
        compare->differences[compare->difference_count++] = (struct probity_compare_difference){
            environment_names[what], {first->environment[what], other->environment[what]},
            {first->run.path, other->run.path}};
    }
}

int probity_compare_collect(struct probity_compare *compare)
{
    size_t counts[PROBITY_COMPARE_SIDES] = {0};

    for (int side = 0; side < PROBITY_COMPARE_SIDES; side++) {
        compare->side_runs[side] =
            calloc(compare->side_counts[side] + 1, sizeof *compare->side_runs[side]);
        if (compare->side_runs[side] == NULL)
            return PROBITY_ERROR_MEMORY;
    }
    for (size_t i = 0; i < compare->run_count; i++) {
        int side = compare->runs[i].side;
        compare->side_runs[side][counts[side]++] = compare->runs[i].run;
    }
    find_differences(compare);
    return collect_rows(compare);
}

const struct probity_compare_row *probity_compare_rows(const struct probity_compare *compare,
                                                       size_t *ret_count)
{
    *ret_count = compare->row_count;
    return compare->rows;
}

const struct probity_compare_run *probity_compare_runs(const struct probity_compare *compare,
                                                       int side, size_t *ret_count)
{
    *ret_count = compare->side_counts[side];
    return compare->side_runs[side];
}

const struct probity_compare_difference *
probity_compare_differences(const struct probity_compare *compare, size_t *ret_count)
{
    *ret_count = compare->difference_count;
    return compare->differences;
}

const struct probity_compare_options *probity_compare_settings(
    const struct probity_compare *compare)
{
    return &compare->options;
}

size_t probity_compare_tests(const struct probity_compare *compare)
{
    return compare->tests;
}

size_t probity_compare_limit_tests(const struct probity_compare *compare)
{
    return compare->limit_tests;
}

size_t probity_compare_least_runs(const struct probity_compare *compare)
{
    return probity_runs_least(1 - compare->options.confidence);
}

/* One-sided: half of what a two-sided test would give. */
size_t probity_compare_limit_runs(const struct probity_compare *compare)
{
    double tests = (double)(compare->limit_tests > 0 ? compare->limit_tests : 1);

    return probity_runs_least(2 * (1 - compare->options.confidence) / tests);
}

int probity_compare_open(const struct probity_compare_options *options,
                         struct probity_compare **ret_compare)
{
    struct probity_compare *compare = calloc(1, sizeof *compare);

    if (compare == NULL)
        return PROBITY_ERROR_MEMORY;
    compare->options = *options;
    *ret_compare = compare;
    return 0;
}

void probity_compare_close(struct probity_compare *compare)
{
    while (compare->tree != NULL)
        tdelete(*(struct probity_compare_row **)compare->tree, &compare->tree, compare_keys);
    for (size_t i = 0; i < compare->row_count; i++) {
        if (compare->rows != NULL)
            release_row(&compare->rows[i]);
        else
            free_row(compare->all[i]);
    }
    for (size_t i = 0; i < compare->run_count; i++) {
        free(compare->runs[i].run.path);
        free(compare->runs[i].run.why);
        for (int j = 0; j < ENVIRONMENTS; j++)
            free(compare->runs[i].environment[j]);
    }
    for (int side = 0; side < PROBITY_COMPARE_SIDES; side++)
        free(compare->side_runs[side]);
    probity_rank_null_release(&compare->null);
    free(compare->runs);
    free(compare->rows);
    free(compare->all);
    free(compare);
}
