/* SPDX-License-Identifier: MIT
 *
 * compare.c: collects the values of every run by function, block and kind of request.
 */
#include "answers/diff/compare_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "probity.h"

static int bound(struct probity_compare *compare, size_t times)
{
    const struct probity_compare_options *options = &compare->options;
    size_t most = options->blocks_max > 0 ? options->blocks_max : PROBITY_COMPARE_BLOCKS_MAX;

    return probity_compare_bound(&compare->all, &compare->left,
                                 options->patterns[PROBITY_COMPARE_BLOCK], most, times);
}

static int add_item(struct probity_compare *compare, int side, struct probity_compare_item *item)
{
    int error = 0;

    if (probity_compare_is_left(&compare->left, item))
        return 0;
    struct probity_compare_row *row = probity_compare_table_at(&compare->all, item);
    if (row == NULL)
        return PROBITY_ERROR_MEMORY;
    row->item.line = item->line;
    if (item->quantile_error > row->item.quantile_error)
        row->item.quantile_error = item->quantile_error;
    for (int i = 0; error == 0 && i < PROBITY_COMPARE_STATISTICS; i++) {
        error = probity_compare_reserve(&row->results[i], side, compare->side_counts[side]);
        if (error == 0)
            row->results[i].values[side][compare->side_counts[side] - 1] = item->values[i];
    }
    /* Only once there are twice as many, to keep the cost low. */
    return error == 0 ? bound(compare, 2) : error;
}

/* ---- Runs --------------------------------------------------------------------------------------
 */

int probity_compare_take(struct probity_compare *compare, int side,
                         struct probity_compare_run *run)
{
    struct probity_compare_run *runs = probity_array_append(compare->runs[side], sizeof *runs,
                                                            compare->side_counts[side]);

    if (runs == NULL) {
        probity_compare_run_release(run);
        return PROBITY_ERROR_MEMORY;
    }
    compare->runs[side] = runs;
    struct probity_compare_run *kept = &runs[compare->side_counts[side]++];
    *kept = *run;
    compare->without_requests += !run->has_requests;
    *run = (struct probity_compare_run){.item_count = 0};
    int error = 0;
    for (size_t i = 0; i < kept->item_count; i++) {
        if (error == 0)
            error = add_item(compare, side, &kept->items[i]);
        probity_compare_item_release(&kept->items[i]);
    }
    free(kept->items);
    kept->items = NULL;
    kept->item_count = kept->item_room = 0;
    return error;
}

const struct probity_compare_run *probity_compare_twin(const struct probity_compare *compare,
                                                       int side,
                                                       const struct probity_compare_run *run)
{
    for (size_t i = 0; i < compare->side_counts[side]; i++) {
        const struct probity_compare_run *other = &compare->runs[side][i];
        if (memcmp(other->session, run->session, sizeof run->session) == 0)
            return other;
    }
    return NULL;
}

/* ---- Finishing ---------------------------------------------------------------------------------
 */

static int is_matching(const struct probity_compare *compare, const struct probity_compare_row *row)
{
    const char *const *const *patterns = compare->options.patterns;

    if (patterns[row->item.kind] != NULL)
        return probity_compare_is_like_any(row, patterns[row->item.kind]);
    for (int kind = 0; kind < PROBITY_COMPARE_KINDS; kind++) {
        if (patterns[kind] != NULL)
            return 0;
    }
    return 1;
}

/* A run whose requests are unknown would otherwise look like one without requests. */
static int is_compared(struct probity_compare *compare, const struct probity_compare_row *row)
{
    if (!is_matching(compare, row))
        return 0;
    if (row->item.kind != PROBITY_COMPARE_REQUEST || compare->without_requests == 0)
        return 1;
    compare->requests_left++;
    return 0;
}

/* Turns the rows into an array, without those that were not requested. */
static int collect_rows(struct probity_compare *compare)
{
    int error = bound(compare, 1);

    if (error != 0)
        return error;
    struct probity_compare_table *all = &compare->all;
    compare->rows = calloc(all->count + 1, sizeof *compare->rows);
    if (compare->rows == NULL)
        return PROBITY_ERROR_MEMORY;
    probity_compare_table_unlink(all);
    for (size_t i = 0; i < all->count; i++) {
        if (is_compared(compare, all->all[i]))
            compare->rows[compare->row_count++] = *all->all[i];
        else
            probity_compare_row_release(all->all[i]);
        free(all->all[i]);
    }
    free(all->all);
    *all = (struct probity_compare_table){.count = 0};
    return 0;
}

/* Finds the first run of `other` that differs from the first run of `side`, ignoring unknown
 * values. */
static void find_difference(struct probity_compare *compare, int what, int side, int other)
{
    const struct probity_compare_run *first = NULL, *found = NULL;

    for (size_t i = 0; first == NULL && i < compare->side_counts[side]; i++)
        first = *compare->runs[side][i].environment[what] != '\0' ? &compare->runs[side][i] : NULL;
    for (size_t i = 0; first != NULL && found == NULL && i < compare->side_counts[other]; i++) {
        const char *text = compare->runs[other][i].environment[what];
        if (*text != '\0' && strcmp(first->environment[what], text) != 0)
            found = &compare->runs[other][i];
    }
    if (found != NULL)
        compare->differences[compare->difference_count++] = (struct probity_compare_difference){
            probity_compare_environment_name(what), {side, other},
            {first->environment[what], found->environment[what]}, {first->path, found->path}};
}

int probity_compare_collect(struct probity_compare *compare)
{
    for (int what = 0; what < PROBITY_COMPARE_ENVIRONMENTS; what++) {
        find_difference(compare, what, PROBITY_COMPARE_BASE, PROBITY_COMPARE_NEW);
        find_difference(compare, what, PROBITY_COMPARE_BASE, PROBITY_COMPARE_BASE);
        find_difference(compare, what, PROBITY_COMPARE_NEW, PROBITY_COMPARE_NEW);
    }
    return collect_rows(compare);
}

int probity_compare_is_chosen(const struct probity_compare *compare, enum probity_compare_kind kind,
                              int statistic)
{
    unsigned chosen = compare->options.statistics;

    if (!probity_compare_exists(kind, statistic))
        return 0;
    return chosen == 0 || (chosen >> statistic & 1) != 0;
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
    return compare->runs[side];
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

size_t probity_compare_requests_left_out(const struct probity_compare *compare)
{
    return compare->requests_left;
}

const struct probity_compare_run *
probity_compare_without_requests(const struct probity_compare *compare, size_t *ret_count)
{
    *ret_count = compare->without_requests;
    for (int side = 0; *ret_count > 0 && side < PROBITY_COMPARE_SIDES; side++) {
        for (size_t i = 0; i < compare->side_counts[side]; i++) {
            if (!compare->runs[side][i].has_requests)
                return &compare->runs[side][i];
        }
    }
    return NULL;
}

size_t probity_compare_left_out(const struct probity_compare *compare)
{
    return compare->left.count;
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

/* The test is one-sided: its p-value is half that of a two-sided one. */
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
    probity_compare_table_release(&compare->all);
    for (size_t i = 0; i < compare->row_count; i++)
        probity_compare_row_release(&compare->rows[i]);
    for (int side = 0; side < PROBITY_COMPARE_SIDES; side++) {
        for (size_t i = 0; i < compare->side_counts[side]; i++)
            probity_compare_run_release(&compare->runs[side][i]);
        free(compare->runs[side]);
    }
    probity_rank_null_release(&compare->null);
    free(compare->left.hashes);
    free(compare->rows);
    free(compare);
}
