/* SPDX-License-Identifier: MIT
 *
 * report_sort.c: the keys by which a report is sorted.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/row_sort.h"
#include "answers/report/report.h"

static const char *const key_names[PROBITY_REPORT_KEYS] = {
    "calls",   "total",       "self", "cpu-total", "cpu-self", "off-total", "off-self", "paused",
    "elapsed", "parallelism", "min",  "mean",      "p50",      "p90",       "p99",      "max",
    "total-corrected", "total-error", "self-corrected", "self-error", "distribution",
    "name"};

const char *probity_report_key_name(enum probity_report_key key)
{
    return key_names[key];
}

enum probity_report_key probity_report_key_parse(const char *name)
{
    int key = 0;

    while (key < PROBITY_REPORT_KEYS && strcmp(name, key_names[key]) != 0)
        key++;
    return (enum probity_report_key)key;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

struct probity_corrected probity_report_corrected(const struct probity_report_sums *sums,
                                                  int is_self)
{
    return is_self ? probity_correct(sums->self.wall_ns, &sums->self_cost)
                   : probity_correct(sums->total.wall_ns, &sums->total_cost);
}

/* Returns thousandths. Divides in two steps, to avoid overflow. */
static uint64_t parallelism_of(const struct probity_report_sums *sums)
{
    uint64_t sum_ns = sums->total.wall_ns, elapsed_ns = sums->elapsed_ns;

    if (elapsed_ns == 0)
        return 0;
    return sum_ns / elapsed_ns * 1000 +
           (uint64_t)((double)(sum_ns % elapsed_ns) * 1000 / (double)elapsed_ns + 0.5);
}

uint64_t probity_report_value(const struct probity_report_sums *sums, enum probity_report_key key)
{
    switch (key) {
    case PROBITY_REPORT_CALLS: return sums->calls;
    case PROBITY_REPORT_TOTAL: return sums->total.wall_ns;
    case PROBITY_REPORT_SELF: return sums->self.wall_ns;
    case PROBITY_REPORT_CPU_TOTAL: return sums->total.cpu_ns;
    case PROBITY_REPORT_CPU_SELF: return sums->self.cpu_ns;
    case PROBITY_REPORT_OFF_TOTAL: return less(sums->total.wall_ns, sums->total.cpu_ns);
    case PROBITY_REPORT_OFF_SELF: return less(sums->self.wall_ns, sums->self.cpu_ns);
    case PROBITY_REPORT_ELAPSED: return sums->elapsed_ns;
    case PROBITY_REPORT_PARALLELISM: return parallelism_of(sums);
    case PROBITY_REPORT_PAUSED: return sums->paused.wall_ns;
    case PROBITY_REPORT_MIN: return sums->durations.count > 0 ? sums->min_ns : 0;
    case PROBITY_REPORT_MEAN:
        return sums->durations.count > 0 ? sums->sum_ns / sums->durations.count : 0;
    case PROBITY_REPORT_P50: return probity_report_quantile(sums, 500);
    case PROBITY_REPORT_P90: return probity_report_quantile(sums, 900);
    case PROBITY_REPORT_P99: return probity_report_quantile(sums, 990);
    case PROBITY_REPORT_MAX: return sums->max_ns;
    case PROBITY_REPORT_TOTAL_CORRECTED: return probity_report_corrected(sums, 0).ns;
    case PROBITY_REPORT_TOTAL_ERROR: return probity_report_corrected(sums, 0).error_ns;
    case PROBITY_REPORT_SELF_CORRECTED: return probity_report_corrected(sums, 1).ns;
    case PROBITY_REPORT_SELF_ERROR: return probity_report_corrected(sums, 1).error_ns;
    default: return 0;
    }
}

int probity_report_is_known(const struct probity_report_sums *sums, enum probity_report_key key,
                            int is_cpu_known)
{
    switch (key) {
    case PROBITY_REPORT_CALLS: return 1;
    case PROBITY_REPORT_CPU_TOTAL:
    case PROBITY_REPORT_CPU_SELF:
    case PROBITY_REPORT_OFF_TOTAL:
    case PROBITY_REPORT_OFF_SELF: return is_cpu_known && sums->calls > sums->untimed;
    case PROBITY_REPORT_ELAPSED:
        return sums->profiled + sums->counted == 0 && sums->calls > sums->untimed &&
               !sums->has_no_elapsed;
    case PROBITY_REPORT_PARALLELISM:
        return probity_report_is_known(sums, PROBITY_REPORT_ELAPSED, is_cpu_known) &&
               sums->elapsed_ns > 0;
    case PROBITY_REPORT_TOTAL_CORRECTED:
    case PROBITY_REPORT_TOTAL_ERROR:
    case PROBITY_REPORT_SELF_CORRECTED:
    case PROBITY_REPORT_SELF_ERROR:
        return sums->uncosted == 0 && sums->total_cost.most > 0 && sums->calls > sums->untimed;
    case PROBITY_REPORT_MIN:
    case PROBITY_REPORT_MEAN:
    case PROBITY_REPORT_P50:
    case PROBITY_REPORT_P90:
    case PROBITY_REPORT_P99:
    case PROBITY_REPORT_MAX: return sums->durations.count > 0;
    default: return sums->calls > sums->untimed;
    }
}

static int sort_rows(struct probity_report_function *function, enum probity_report_key key)
{
    struct probity_row_sort_item *items = calloc(function->row_count + 1, sizeof *items);

    if (items == NULL)
        return PROBITY_ERROR_MEMORY;
    for (size_t i = 0; i < function->row_count; i++) {
        uint64_t value = probity_report_value(&function->rows[i].sums, key);
        items[i] = (struct probity_row_sort_item){(double)value, "", i};
    }
    probity_row_sort(items, function->row_count);
    int error = probity_row_sort_arrange(function->rows, sizeof *function->rows, items,
                                         function->row_count);
    free(items);
    return error;
}

int probity_report_sort(struct probity_report_function *functions, size_t count,
                        enum probity_report_key key)
{
    struct probity_row_sort_item *items = calloc(count + 1, sizeof *items);
    int error = 0;

    if (items == NULL)
        return PROBITY_ERROR_MEMORY;
    for (size_t i = 0; error == 0 && i < count; i++) {
        const struct probity_function *function = functions[i].function;
        items[i] = (struct probity_row_sort_item){
            (double)probity_report_value(&functions[i].sums, key),
            function != NULL ? function->name : "~", i};
        error = sort_rows(&functions[i], key);
    }
    if (error == 0) {
        probity_row_sort(items, count);
        error = probity_row_sort_arrange(functions, sizeof *functions, items, count);
    }
    free(items);
    return error;
}
