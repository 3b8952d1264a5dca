/* SPDX-License-Identifier: MIT
 *
 * report.c: sums of calls. While events are read, a call finds its row through its scope
 * (of_function), so the table of rows is searched only once per function and thread. Functions with
 * equal texts are merged at the end.
 */
#include "answers/report/report.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/active_time.h"
#include "analysis/same_function.h"
#include "analysis/scopes_run.h"
#include "base/assert.h"
#include "base/hash.h"
#include "base/hashtable.h"
#include "probity.h"

/* A function, over all threads. */
struct function_item {
    struct probity_same_function same;
    struct probity_active_time elapsed;
};

/* A row for a function or, by thread, for a function in a thread. */
struct row_item {
    struct probity_link link;
    struct probity_report_row row;
    uint64_t key, slot;
    struct function_item *function;
    struct row_item *next; /* all rows, newest first */
};

struct probity_report {
    struct probity_report_options options;
    struct probity_scopes *scopes;
    struct probity_hashtable table; /* of all rows */
    struct row_item *rows;
    struct probity_same_functions same; /* of struct function_item */
    struct probity_thread_table threads;
    struct probity_report_row *sorted; /* set by finish: the functions' rows point into it */
    size_t sorted_count;
    struct probity_report_function *functions;
    size_t function_count;
    struct probity_scopes_repairs added; /* repairs of rows and reports that the caller added */
    struct probity_scopes_repairs repairs; /* set by finish */
    struct probity_scopes_listener listener;
    struct probity_scopes_listener others[PROBITY_REPORT_SHARES_MAX]; /* these share the scopes */
    size_t other_count;
    int error; /* set by a listener, which cannot return errors */
};

/* ---- Sums --------------------------------------------------------------------------------------
 */

static inline int add_duration(struct probity_report_sums *sums, uint64_t ns)
{
    sums->sum_ns += ns;
    sums->min_ns = ns < sums->min_ns ? ns : sums->min_ns;
    sums->max_ns = ns > sums->max_ns ? ns : sums->max_ns;
    return probity_histogram_add(&sums->durations, ns);
}

int probity_report_sums_add(struct probity_report_sums *to,
                            const struct probity_report_sums *from)
{
    to->calls += from->calls;
    to->untimed += from->untimed;
    to->repaired += from->repaired;
    to->open += from->open;
    to->counted += from->counted;
    to->profiled += from->profiled;
    to->entries += from->entries;
    to->is_least |= from->is_least;
    to->has_no_elapsed |= from->has_no_elapsed;
    probity_scope_time_add(&to->total, from->total);
    probity_scope_time_add(&to->self, from->self);
    probity_scope_time_add(&to->paused, from->paused);
    probity_cost_join(&to->total_cost, &from->total_cost);
    probity_cost_join(&to->self_cost, &from->self_cost);
    to->uncosted += from->uncosted;
    to->sum_ns += from->sum_ns;
    to->min_ns = from->min_ns < to->min_ns ? from->min_ns : to->min_ns;
    to->max_ns = from->max_ns > to->max_ns ? from->max_ns : to->max_ns;
    return probity_histogram_merge(&to->durations, &from->durations);
}

uint64_t probity_report_quantile(const struct probity_report_sums *sums, unsigned per_mille)
{
    return probity_histogram_quantile(&sums->durations, per_mille, sums->min_ns, sums->max_ns);
}

double probity_report_quantile_error(const struct probity_report_sums *sums)
{
    return sums->profiled > 0 ? PROBITY_REPORT_QUANTILE_ERROR_PROFILED
                              : PROBITY_REPORT_QUANTILE_ERROR;
}

/* ---- Rows and threads --------------------------------------------------------------------------
 */

static uint64_t key_of(const struct probity_function *function, uint32_t trace, uint32_t number)
{
    return function != NULL ? (uint64_t)(uintptr_t)function
                            : UINT64_C(1) << 63 | (uint64_t)trace << 32 | number;
}

static uint64_t hash_of(uint64_t key, uint64_t slot)
{
    return probity_hash(key ^ slot * UINT64_C(0xc2b2ae3d27d4eb4f));
}

/* Finds or adds a function. Returns NULL if out of memory. */
static struct function_item *function_at(struct probity_report *report,
                                         const struct probity_report_row *like)
{
    const struct probity_function_key key = {like->function, like->trace, like->number};
    struct function_item *item =
        (struct function_item *)probity_same_function_at(&report->same, &key);

    if (item == NULL || key.function == NULL || !key.function->is_deferred ||
        item->elapsed.past != NULL)
        return item;
    item->elapsed.past = calloc(1, sizeof *item->elapsed.past);
    return item->elapsed.past != NULL ? item : NULL;
}

/* Finds or adds the row with the function and thread of `like`; slot identifies the thread. Returns
 * NULL if out of memory. */
static struct row_item *row_at(struct probity_report *report, const struct probity_report_row *like,
                               uint64_t slot)
{
    uint64_t key = key_of(like->function, like->trace, like->number);
    uint64_t hash = hash_of(key, slot);
    struct row_item *item = probity_hashtable_at(&report->table, hash);

    while (item != NULL && (item->key != key || item->slot != slot))
        item = (struct row_item *)item->link.next;
    if (item != NULL)
        return item;
    struct function_item *function = function_at(report, like);
    item = function != NULL ? calloc(1, sizeof *item) : NULL;
    if (item == NULL || probity_hashtable_add(&report->table, item, hash) != 0) {
        free(item);
        return NULL;
    }
    item->function = function;
    item->row = (struct probity_report_row){like->function, like->trace, like->number, like->thread,
                                            {.min_ns = UINT64_MAX}};
    item->key = key;
    item->slot = slot;
    item->next = report->rows;
    report->rows = item;
    return item;
}

/* ---- Events ------------------------------------------------------------------------------------
 */

/* Finds or adds the row. Called once per function and thread. */
static struct row_item *add_row(struct probity_report *report, struct probity_scope *scope,
                                const struct probity_event *event)
{
    struct probity_report_row like = {scope->function, scope->trace, scope->number, NULL, {0}};
    uint64_t slot = 0;

    if (report->options.by_thread) {
        like.thread = probity_thread_table_at(&report->threads, event);
        slot = event->thread_slot;
        report->error = like.thread == NULL ? PROBITY_ERROR_MEMORY : report->error;
    }
    *scope->of_function = row_at(report, &like, slot);
    if (*scope->of_function == NULL)
        report->error = PROBITY_ERROR_MEMORY;
    return *scope->of_function;
}

static inline int is_in_range(const struct probity_report *report,
                              const struct probity_scope *scope)
{
    return scope->enter_wall_ns >= report->options.from_ns &&
           scope->enter_wall_ns < report->options.to_ns;
}

/* Elapsed time covers the same calls as the total. */
static inline int has_total(const struct probity_report *report, const struct probity_scope *scope)
{
    return scope->recursion == 0 && !scope->is_untimed && is_in_range(report, scope);
}

static void on_opened(void *context, struct probity_scope *scope, const struct probity_event *event)
{
    struct probity_report *report = context;
    struct row_item *item = *scope->of_function;

    if (__builtin_expect(item == NULL, 0) && (item = add_row(report, scope, event)) == NULL)
        return;
    if (report->options.without_elapsed || !has_total(report, scope))
        return;
    if (__builtin_expect(event->kind == PROBITY_EVENT_ENTER, 1))
        probity_active_time_enter(&item->function->elapsed, event->wall_ns);
    else
        probity_active_time_enter_back(&item->function->elapsed, scope->enter_wall_ns);
}

/* Suspends or continues a function's elapsed time when its thread pauses or resumes. */
static void switch_elapsed(struct probity_report *report, const struct probity_scope *scope,
                           int goes_on, uint64_t now_ns)
{
    struct row_item *item = *scope->of_function;

    if (item == NULL || report->options.without_elapsed || !has_total(report, scope))
        return;
    if (goes_on)
        probity_active_time_enter(&item->function->elapsed, now_ns);
    else
        probity_active_time_leave(&item->function->elapsed, now_ns);
}

/* A pause is also excluded from the times of callers, unless these were called in a pause
 * themselves. */
static void switch_callers(struct probity_report *report, uint32_t slot, uint32_t depth,
                           int goes_on, uint64_t now_ns)
{
    while (depth-- > 0) {
        const struct probity_scope *caller = probity_scopes_at(report->scopes, slot, depth);
        if (caller->is_paused)
            return;
        switch_elapsed(report, caller, goes_on, now_ns);
    }
}

static __attribute__((noinline)) uint64_t measured(enum probity_report_key measure,
                                                   const struct probity_scope *scope)
{
    struct probity_scope_time time = scope->total;

    if (measure == PROBITY_REPORT_SELF || measure == PROBITY_REPORT_CPU_SELF ||
        measure == PROBITY_REPORT_OFF_SELF)
        time = probity_scope_self(scope);
    switch (measure) {
    case PROBITY_REPORT_CPU_TOTAL:
    case PROBITY_REPORT_CPU_SELF: return time.cpu_ns;
    case PROBITY_REPORT_OFF_TOTAL:
    case PROBITY_REPORT_OFF_SELF:
        return time.wall_ns > time.cpu_ns ? time.wall_ns - time.cpu_ns : 0;
    default: return time.wall_ns;
    }
}

static void add_costs(struct probity_report_sums *sums, const struct probity_scope *scope)
{
    sums->uncosted += !scope->is_costed;
    if (scope->recursion == 0)
        probity_cost_join(&sums->total_cost, &scope->total_cost);
    probity_cost_join(&sums->self_cost, &scope->self_cost);
}

static inline __attribute__((always_inline)) void
close_call(struct probity_report *report, const struct probity_scope *scope,
           enum probity_scope_end how, uint32_t thread_slot)
{
    struct row_item *item = *scope->of_function;
    uint64_t end_ns = scope->enter_wall_ns + scope->elapsed.wall_ns;

    if (__builtin_expect(scope->is_paused, 0))
        switch_callers(report, thread_slot, scope->depth, 1, end_ns);
    if (item == NULL || !is_in_range(report, scope))
        return;
    struct probity_report_sums *sums = &item->row.sums;
    sums->calls++;
    sums->repaired += !probity_scope_end_is_recorded(how);
    if (scope->is_untimed) {
        sums->untimed++;
        return;
    }
    if (__builtin_expect(report->options.costs_of != NULL, 0))
        add_costs(sums, scope);
    if (scope->recursion == 0) {
        probity_scope_time_add(&sums->total, scope->total);
        if (!scope->is_paused && !report->options.without_elapsed)
            probity_active_time_leave(&item->function->elapsed, end_ns);
    }
    probity_scope_time_add(&sums->self, probity_scope_self(scope));
    probity_scope_time_add(&sums->paused, scope->paused);
    uint64_t ns = scope->total.wall_ns;
    if (__builtin_expect(report->options.measure != PROBITY_REPORT_TOTAL, 0))
        ns = measured(report->options.measure, scope);
    /* A call without a record of its end has no duration, only a lower bound. */
    sums->open += how == PROBITY_SCOPE_OPEN;
    if (probity_scope_end_is_recorded(how) && add_duration(sums, ns) != 0)
        report->error = PROBITY_ERROR_MEMORY;
}

static inline __attribute__((always_inline)) void
on_closed(void *context, const struct probity_scope *scope, enum probity_scope_end how,
          uint32_t thread_slot, const struct probity_event *event)
{
    (void)event;
    close_call(context, scope, how, thread_slot);
}

static void on_opened_shared(void *context, struct probity_scope *scope,
                             const struct probity_event *event)
{
    struct probity_report *report = context;

    on_opened(report, scope, event);
    for (size_t i = 0; i < report->other_count; i++)
        report->others[i].opened(report->others[i].context, scope, event);
}

static void on_closed_shared(void *context, const struct probity_scope *scope,
                             enum probity_scope_end how, uint32_t thread_slot,
                             const struct probity_event *event)
{
    struct probity_report *report = context;

    on_closed(report, scope, how, thread_slot, event);
    for (size_t i = 0; i < report->other_count; i++)
        report->others[i].closed(report->others[i].context, scope, how, thread_slot, event);
}

const struct probity_scopes *probity_report_share(struct probity_report *report,
                                                  const struct probity_scopes_listener *listener)
{
    probity_assert(report->other_count < PROBITY_REPORT_SHARES_MAX);
    report->others[report->other_count++] = *listener;
    report->listener = (struct probity_scopes_listener){on_opened_shared, on_closed_shared, report};
    return report->scopes;
}

static int is_top_paused(const struct probity_report *report, uint32_t slot)
{
    const struct probity_scope *top = probity_scopes_top(report->scopes, slot);

    return top != NULL && top->is_paused;
}

/* A pause without effect is ignored. */
static int put_pause(struct probity_report *report, const struct probity_event *event)
{
    uint32_t slot = event->thread_slot;
    int was_paused = is_top_paused(report, slot);
    int error = probity_scopes_put(report->scopes, event, &report->listener);
    int is_paused = is_top_paused(report, slot);

    if (error == 0 && was_paused != is_paused) {
        const struct probity_scope *top = probity_scopes_top(report->scopes, slot);
        switch_elapsed(report, top, !is_paused, event->wall_ns);
        switch_callers(report, slot, top->depth, !is_paused, event->wall_ns);
    }
    return error;
}

static int put_entry(struct probity_report *report, const struct probity_event *event)
{
    struct probity_report_row like = {
        event->function, event->trace,
        event->function != NULL ? event->function->number : event->id, NULL, {0}};
    uint64_t slot = 0;

    if (event->wall_ns < report->options.from_ns || event->wall_ns >= report->options.to_ns)
        return 0;
    if (report->options.by_thread) {
        like.thread = probity_thread_table_at(&report->threads, event);
        slot = event->thread_slot;
        if (like.thread == NULL)
            return PROBITY_ERROR_MEMORY;
    }
    struct row_item *item = row_at(report, &like, slot);
    if (item == NULL)
        return PROBITY_ERROR_MEMORY;
    item->row.sums.calls++;
    item->row.sums.untimed++;
    item->row.sums.entries++;
    return 0;
}

static __attribute__((noinline)) int
put_other(struct probity_report *report, const struct probity_event *event)
{
    int is_pause = event->kind == PROBITY_EVENT_PAUSE || event->kind == PROBITY_EVENT_RESUME;
    int error = is_pause ? put_pause(report, event)
                         : probity_scopes_put(report->scopes, event, &report->listener);

    if (event->kind == PROBITY_EVENT_THREAD_NAME && report->options.by_thread && error == 0)
        error = probity_thread_table_name(&report->threads, event);
    if (event->kind == PROBITY_READER_ENTRY && error == 0)
        error = put_entry(report, event);
    return error;
}

int probity_report_put(struct probity_report *report, const struct probity_event *event)
{
    if (__builtin_expect(report->error != 0, 0))
        return report->error; /* an error at the previous event */
    if (__builtin_expect(event->kind != PROBITY_EVENT_ENTER && event->kind != PROBITY_EVENT_LEAVE,
                         0))
        return put_other(report, event);
    return probity_scopes_put(report->scopes, event, &report->listener);
}

/* Most calls have a row, so there is nothing else to do. */
static inline void opened_in_run(void *context, struct probity_scope *scope,
                                 const struct probity_run *run, size_t at)
{
    const struct probity_report *report = context;

    if (__builtin_expect(*scope->of_function == NULL || !report->options.without_elapsed, 0))
        on_opened(context, scope, probity_run_event_at(run, at));
}

static inline void opened_shared_in_run(void *context, struct probity_scope *scope,
                                        const struct probity_run *run, size_t at)
{
    on_opened_shared(context, scope, probity_run_event_at(run, at));
}

static __attribute__((noinline)) int put_entries(struct probity_report *report,
                                                 const struct probity_run *run)
{
    int error = 0;

    for (size_t i = 0; error == 0 && i < run->count; i++) {
        if (probity_run_code_of(run, i)->kind == PROBITY_READER_ENTRY)
            error = put_entry(report, probity_run_event_at(run, i));
    }
    return error;
}

int probity_report_put_run(struct probity_report *report, const struct probity_run *run)
{
    const unsigned entry = 1U << PROBITY_READER_ENTRY;
    const struct probity_scopes_run_steps alone = {{on_opened, on_closed, report}, opened_in_run,
                                                   NULL, NULL};
    const struct probity_scopes_run_steps shared = {{on_opened_shared, on_closed_shared, report},
                                                    opened_shared_in_run, NULL, NULL};

    if (__builtin_expect(report->error != 0, 0))
        return report->error; /* an error at earlier events */
    if (__builtin_expect((run->kinds & entry) != 0, 0) && put_entries(report, run) != 0)
        return PROBITY_ERROR_MEMORY;
    return report->other_count > 0 ? probity_scopes_put_run(report->scopes, run, shared)
                                   : probity_scopes_put_run(report->scopes, run, alone);
}

/* Threads of added rows are numbered after all slots of the reader. */
static int add_row_of(struct probity_report *report, const struct probity_report_row *row)
{
    struct probity_report_row like = *row;
    const struct probity_thread_label *wanted = row->thread;
    uint64_t slot = 0;

    like.thread = NULL;
    if (report->options.by_thread) {
        like.thread = probity_thread_table_add(&report->threads, wanted);
        if (like.thread == NULL)
            return PROBITY_ERROR_MEMORY;
        slot = UINT64_C(1) << 63 | (uint64_t)wanted->trace << 32 | wanted->thread;
    }
    struct row_item *item = row_at(report, &like, slot);
    if (item == NULL)
        return PROBITY_ERROR_MEMORY;
    return probity_report_sums_add(&item->row.sums, &row->sums);
}

int probity_report_add_row(struct probity_report *report, const struct probity_report_row *row)
{
    report->added.unwound += row->sums.repaired;
    return add_row_of(report, row);
}

/* ---- Finishing ---------------------------------------------------------------------------------
 */

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_functions(const struct probity_report_row *a, const struct probity_report_row *b)
{
    const struct probity_function_key left = {a->function, a->trace, a->number};
    const struct probity_function_key right = {b->function, b->trace, b->number};

    return probity_function_compare(&left, &right);
}

static int compare_rows(const void *left, const void *right)
{
    const struct probity_report_row *a = left, *b = right;
    int order = compare_functions(a, b);

    if (order == 0 && a->thread != NULL && b->thread != NULL) {
        order = compare_numbers(a->thread->trace, b->thread->trace);
        order = order != 0 ? order : compare_numbers(a->thread->thread, b->thread->thread);
    }
    return order;
}

/* Leaves out rows without calls, which are outside the time range. The copies take ownership of the
 * histograms. */
static int collect_rows(struct probity_report *report)
{
    report->sorted = calloc(report->table.items + 1, sizeof *report->sorted);
    report->functions = calloc(report->table.items + 1, sizeof *report->functions);
    if (report->sorted == NULL || report->functions == NULL)
        return PROBITY_ERROR_MEMORY;
    for (struct row_item *item = report->rows; item != NULL; item = item->next) {
        if (item->row.sums.calls == 0)
            continue;
        if (item->row.function != NULL)
            item->row.sums.is_least |= item->row.function->is_least;
        report->sorted[report->sorted_count++] = item->row;
        item->row.sums.durations = (struct probity_histogram){0};
    }
    if (report->sorted_count > 1)
        qsort(report->sorted, report->sorted_count, sizeof *report->sorted, compare_rows);
    return 0;
}

/* Merges rows that would look alike. */
static int join_rows(struct probity_report *report)
{
    struct probity_report_row *rows = report->sorted;
    size_t kept = 0;
    int error = 0;

    for (size_t i = 0; error == 0 && i < report->sorted_count; i++) {
        if (kept > 0 && compare_rows(&rows[kept - 1], &rows[i]) == 0) {
            error = probity_report_sums_add(&rows[kept - 1].sums, &rows[i].sums);
            probity_histogram_release(&rows[i].sums.durations);
        } else if (kept++ != i) {
            rows[kept - 1] = rows[i];
            rows[i].sums.durations = (struct probity_histogram){0};
        }
    }
    if (error == 0)
        report->sorted_count = kept;
    return error;
}

/* For a single thread, the elapsed time is the total, because a thread is in only one outermost
 * call at a time. */
static int set_elapsed(struct probity_report *report)
{
    for (size_t i = 0; i < report->sorted_count; i++)
        report->sorted[i].sums.elapsed_ns = report->sorted[i].sums.total.wall_ns;
    for (size_t i = 0; i < report->function_count; i++) {
        struct probity_report_function *function = &report->functions[i];
        const struct probity_report_row like = {function->function, function->trace,
                                                function->number, NULL, {0}};
        const struct function_item *item = function_at(report, &like);
        if (item == NULL)
            return PROBITY_ERROR_MEMORY;
        function->sums.elapsed_ns = item->elapsed.sum_ns;
    }
    return 0;
}

int probity_report_join(struct probity_report *report, struct probity_report *part)
{
    probity_scopes_finish(part->scopes, &part->listener);
    probity_scopes_repairs_add(&report->added, probity_scopes_repairs(part->scopes));
    int error = part->error;
    for (struct row_item *item = part->rows; error == 0 && item != NULL; item = item->next)
        error = add_row_of(report, &item->row);
    return error;
}

int probity_report_finish(struct probity_report *report)
{
    struct probity_report_function *function = NULL;

    probity_scopes_finish(report->scopes, &report->listener);
    report->repairs = *probity_scopes_repairs(report->scopes);
    probity_scopes_repairs_add(&report->repairs, &report->added);
    int error = report->error != 0 ? report->error : collect_rows(report);
    if (error == 0)
        error = join_rows(report);
    for (size_t i = 0; error == 0 && i < report->sorted_count; i++) {
        struct probity_report_row *row = &report->sorted[i];
        if (i == 0 || compare_functions(row - 1, row) != 0) {
            function = &report->functions[report->function_count++];
            *function = (struct probity_report_function){
                .function = row->function, .trace = row->trace, .number = row->number,
                .signature = row->function != NULL ? row->function->signature : "",
                .sums.min_ns = UINT64_MAX, .rows = row};
        }
        function->row_count += report->options.by_thread != 0;
        error = probity_report_sums_add(&function->sums, &row->sums);
        if (!report->options.by_thread)
            probity_histogram_release(&row->sums.durations);
    }
    return error == 0 ? set_elapsed(report) : error;
}

struct probity_report_function *probity_report_functions(struct probity_report *report,
                                                         size_t *ret_count)
{
    *ret_count = report->function_count;
    return report->functions;
}

uint64_t probity_report_pending(const struct probity_report *report)
{
    return probity_scopes_pending(report->scopes);
}

const struct probity_scopes_repairs *probity_report_repairs(const struct probity_report *report)
{
    return &report->repairs;
}

int probity_report_open(const struct probity_report_options *options,
                        struct probity_report **ret_report)
{
    struct probity_report *report = calloc(1, sizeof *report);

    if (report == NULL || probity_scopes_open(&report->scopes) != 0) {
        free(report);
        return PROBITY_ERROR_MEMORY;
    }
    if (options != NULL)
        report->options = *options;
    if (report->options.measure == 0)
        report->options.measure = PROBITY_REPORT_TOTAL;
    if (report->options.costs_of != NULL &&
        probity_scopes_want_costs(report->scopes, report->options.costs_of) != 0) {
        probity_report_close(report);
        return PROBITY_ERROR_MEMORY;
    }
    probity_scopes_set_range(report->scopes, report->options.from_ns, report->options.to_ns);
    if (report->options.to_ns == 0)
        report->options.to_ns = UINT64_MAX;
    report->same.item_bytes = sizeof(struct function_item);
    report->listener = (struct probity_scopes_listener){on_opened, on_closed, report};
    *ret_report = report;
    return 0;
}

void probity_report_close(struct probity_report *report)
{
    struct row_item *row;

    for (size_t i = 0; i < report->function_count; i++)
        probity_histogram_release(&report->functions[i].sums.durations);
    for (size_t i = 0; i < report->sorted_count; i++)
        probity_histogram_release(&report->sorted[i].sums.durations);
    while ((row = report->rows) != NULL) {
        report->rows = row->next;
        probity_histogram_release(&row->row.sums.durations);
        free(row);
    }
    for (struct probity_same_function *same = report->same.items; same != NULL; same = same->next)
        free(((struct function_item *)same)->elapsed.past);
    probity_same_functions_release(&report->same);
    probity_scopes_close(report->scopes);
    probity_hashtable_release(&report->table);
    probity_thread_table_release(&report->threads);
    free(report->sorted);
    free(report->functions);
    free(report);
}
