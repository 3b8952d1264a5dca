/* SPDX-License-Identifier: MIT
 *
 * suggest.c: excludes functions, starting with those whose calls cost most relative to the time
 * they show, until the rest is cheap enough; then includes again as many as the limit permits.
 */
#include "answers/report/report_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "print/time_text.h"
#include "probity.h"

/* The functions that are selected by one rule, because they share a symbol. */
struct candidate {
    const struct probity_function *of; /* any one of them */
    uint64_t calls;
    double cost_ns, self_ns; /* over all calls */
    int is_left_out;
};

struct suggestion {
    struct candidate *candidates;
    size_t count, left_out;
    uint64_t calls, calls_left_out;
    double work_ns; /* self times of all functions */
    double all_ns;  /* cost of all calls */
    double rest_ns; /* cost of calls not excluded so far */
    int is_cost_known;
};

static double middle_ns(struct probity_cost_range range)
{
    return (double)(range.least + range.most) / 2 / PROBITY_COST_UNITS;
}

/* Returns the cost of one call, or 0 if it was not measured. */
static double cost_of_call(const struct probity_reader *reader,
                           const struct probity_report_function *function)
{
    int is_profiled = function->sums.profiled > 0;
    struct probity_costs costs;

    probity_costs_of(probity_reader_facts(reader, function->trace), &costs);
    if (!costs.is_known)
        return 0;
    if (is_profiled)
        return middle_ns(costs.part[PROBITY_PART_PROFILED_OWN]) +
               middle_ns(costs.part[PROBITY_PART_PROFILED_CALLER]);
    if (function->function != NULL && function->function->is_hooked)
        return middle_ns(probity_cost_hooked(&costs, PROBITY_PART_SCOPE_OWN)) +
               middle_ns(probity_cost_hooked(&costs, PROBITY_PART_SCOPE_CALLER));
    return middle_ns(costs.part[PROBITY_PART_SCOPE_OWN]) +
           middle_ns(costs.part[PROBITY_PART_SCOPE_CALLER]);
}

/* Returns the length of the symbol without a suffix such as ".constprop.0", or of FILE+0xADDRESS; 0
 * if no rule can express it. */
static size_t rule_bytes(const struct probity_function *function)
{
    static const char usual[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$"
                                "+-.";

    if (function == NULL || function->symbol == NULL || *function->symbol == '\0')
        return 0;
    size_t bytes = strspn(function->symbol, usual);
    if (function->symbol[bytes] != '\0')
        return 0;
    return strchr(function->symbol, '+') != NULL ? bytes
                                                 : 1 + strcspn(function->symbol + 1, ".");
}

static void add(struct suggestion *to, const struct probity_reader *reader,
                const struct probity_report_function *function)
{
    double cost_ns = cost_of_call(reader, function) * (double)function->sums.calls;
    double self_ns = (double)probity_report_corrected(&function->sums, 1).ns;

    to->calls += function->sums.calls;
    to->work_ns += self_ns;
    to->all_ns += cost_ns;
    if (cost_ns <= 0)
        to->is_cost_known = 0;
    if (rule_bytes(function->function) == 0)
        return;
    to->candidates[to->count++] =
        (struct candidate){function->function, function->sums.calls, cost_ns, self_ns, 0};
}

/* ---- Choice ------------------------------------------------------------------------------------
 */

static int compare_names(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    size_t bytes = rule_bytes(a->of), other = rule_bytes(b->of);
    int order = memcmp(a->of->symbol, b->of->symbol, bytes < other ? bytes : other);

    return order != 0 ? order : bytes < other ? -1 : bytes > other;
}

/* Merges candidates that share a symbol. */
static void join(struct suggestion *suggestion)
{
    struct candidate *all = suggestion->candidates;
    size_t kept = 0;

    qsort(all, suggestion->count, sizeof *all, compare_names);
    for (size_t i = 0; i < suggestion->count; i++) {
        if (kept == 0 || compare_names(&all[kept - 1], &all[i]) != 0) {
            all[kept++] = all[i];
            continue;
        }
        all[kept - 1].calls += all[i].calls;
        all[kept - 1].cost_ns += all[i].cost_ns;
        all[kept - 1].self_ns += all[i].self_ns;
    }
    suggestion->count = kept;
}

/* Sorts by cost relative to the time shown, highest first. */
static int compare_worth(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    double one = a->cost_ns * b->self_ns, other = b->cost_ns * a->self_ns;

    if (one == other)
        one = a->cost_ns, other = b->cost_ns;
    return one > other ? -1 : one < other ? 1 : compare_names(a, b);
}

/* Sorts by cost, lowest first. */
static int compare_costs(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;

    return a->cost_ns < b->cost_ns ? -1 : a->cost_ns > b->cost_ns ? 1 : compare_names(a, b);
}

static void choose(struct suggestion *suggestion, double most_ns)
{
    struct candidate *all = suggestion->candidates;
    size_t taken = 0;

    join(suggestion);
    qsort(all, suggestion->count, sizeof *all, compare_worth);
    suggestion->rest_ns = suggestion->all_ns;
    while (taken < suggestion->count && suggestion->rest_ns > most_ns) {
        all[taken].is_left_out = 1;
        suggestion->rest_ns -= all[taken++].cost_ns;
    }
    qsort(all, taken, sizeof *all, compare_costs);
    for (size_t i = 0; i < taken && suggestion->rest_ns + all[i].cost_ns <= most_ns; i++) {
        all[i].is_left_out = 0;
        suggestion->rest_ns += all[i].cost_ns;
    }
    for (size_t i = 0; i < taken; i++) {
        suggestion->left_out += (size_t)all[i].is_left_out;
        suggestion->calls_left_out += all[i].is_left_out ? all[i].calls : 0;
    }
    suggestion->count = taken;
}

/* ---- Text --------------------------------------------------------------------------------------
 */

static void put_rule(FILE *stream, const struct candidate *candidate)
{
    const struct probity_function *function = candidate->of;
    size_t bytes = rule_bytes(function);
    int is_renamed = strncmp(function->name, function->symbol, bytes) != 0;
    uint64_t calls = candidate->calls;

    fprintf(stream, "exclude %.*s%*s # ", (int)bytes, function->symbol,
            (int)(bytes < 24 ? 24 - bytes : 0), "");
    if (is_renamed) {
        probity_report_put_safe(stream, function->name, strlen(function->name));
        fputs(": ", stream);
    }
    fprintf(stream, "%" PRIu64 " call%s of %.0f ns\n", calls, calls == 1 ? "" : "s",
            candidate->self_ns / (double)calls);
}

static void put_added(FILE *stream, const struct suggestion *suggestion, double cost_ns,
                      uint64_t calls)
{
    char time[PROBITY_TIME_TEXT_BYTES], work[PROBITY_TIME_TEXT_BYTES];

    probity_real_time_text(cost_ns, time);
    probity_real_time_text(suggestion->work_ns, work);
    fprintf(stream, "%" PRIu64 " call%s, about %s (%.1f %% of %s)", calls,
            calls == 1 ? "" : "s", time + strspn(time, " "), 100 * cost_ns / suggestion->work_ns,
            work + strspn(work, " "));
}

static void put(FILE *stream, const struct suggestion *suggestion, double percent)
{
    fputs("# recorded: ", stream);
    put_added(stream, suggestion, suggestion->all_ns, suggestion->calls);
    if (suggestion->left_out == 0) {
        fputs(suggestion->rest_ns <= percent / 100 * suggestion->work_ns
                  ? ": nothing to leave out\n"
                  : ": there is no function without a macro to leave out\n", stream);
        return;
    }
    fputs("\n# without these: ", stream);
    put_added(stream, suggestion, suggestion->rest_ns,
              suggestion->calls - suggestion->calls_left_out);
    fputc('\n', stream);
    for (size_t i = suggestion->count; i > 0; i--) {
        if (suggestion->candidates[i - 1].is_left_out)
            put_rule(stream, &suggestion->candidates[i - 1]);
    }
}

int probity_suggest(FILE *stream, const struct probity_reader *reader,
                    const struct probity_report_function *functions, size_t count, double percent,
                    int *ret_is_known)
{
    struct suggestion suggestion = {.is_cost_known = 1};

    suggestion.candidates = calloc(count + 1, sizeof *suggestion.candidates);
    if (suggestion.candidates == NULL)
        return PROBITY_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++)
        add(&suggestion, reader, &functions[i]);
    *ret_is_known = suggestion.is_cost_known && suggestion.work_ns > 0;
    if (*ret_is_known) {
        choose(&suggestion, percent / 100 * suggestion.work_ns);
        put(stream, &suggestion, percent);
    }
    free(suggestion.candidates);
    return 0;
}
