/* SPDX-License-Identifier: MIT
 *
 * compare_run.c: reads functions, blocks, requests and levels in one pass over a trace.
 */
#include "answers/diff/compare_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/request_times.h"
#include "answers/blocks/blocks.h"
#include "answers/report/report.h"
#include "base/array_grow.h"
#include "probity.h"

const char *probity_compare_environment_name(int environment)
{
    static const char *const names[PROBITY_COMPARE_ENVIRONMENTS] = {
        "host",         "kernel",             "CPU model", "processors", "program",  "build id",
        "command line", "Probity version", "clock",     "mode",       "gap rule", "levels"};

    return names[environment];
}

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

const char *probity_compare_kind_name(enum probity_compare_kind kind)
{
    static const char *const names[PROBITY_COMPARE_KINDS] = {"function", "block", "request"};

    return names[kind];
}

/* ---- Environment -------------------------------------------------------------------------------
 */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* Returns text from the traced program. The zeros between the arguments of a command line become
 * spaces. */
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
    int is_counter =
        info->clock == PROBITY_CLOCK_TSC || info->clock == PROBITY_CLOCK_CNTVCT;
    char *text = NULL;

    /* Strict order makes each record cost more and changes the times of short scopes. */
    if (asprintf(&text, "%s%s", clocks[info->clock < 4 ? info->clock : 0],
                 is_counter && info->flags & PROBITY_INFO_ORDERED ? ", strict order" : "") < 0)
        return NULL;
    return text;
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

/* In tenths of a microsecond, because each run measures the tick rate again. */
static char *gap_text(const struct probity_info *info)
{
    double ns = (double)info->gap_ticks * ((double)info->rate / 4294967296.0);
    char *text = NULL;

    return asprintf(&text, "%.1f us", ns / 1000) < 0 ? NULL : text;
}

static int take_environment(const struct probity_info *info, struct probity_compare_run *run)
{
    static const struct {
        enum probity_compare_environment what;
        enum probity_info_tag tag;
    } texts[] = {{PROBITY_COMPARE_HOST, PROBITY_TAG_HOST},
                 {PROBITY_COMPARE_KERNEL, PROBITY_TAG_KERNEL},
                 {PROBITY_COMPARE_CPU_MODEL, PROBITY_TAG_CPU},
                 {PROBITY_COMPARE_PROCESSORS, PROBITY_TAG_PROCESSORS},
                 {PROBITY_COMPARE_PROGRAM, PROBITY_TAG_PROGRAM},
                 {PROBITY_COMPARE_BUILD, PROBITY_TAG_BUILD},
                 {PROBITY_COMPARE_COMMAND, PROBITY_TAG_COMMAND},
                 {PROBITY_COMPARE_LIBRARY, PROBITY_TAG_LIBRARY}};
    char **environment = run->environment;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        environment[texts[i].what] = text_of(&info->text[texts[i].tag]);
    environment[PROBITY_COMPARE_CLOCK] = clock_text(info);
    environment[PROBITY_COMPARE_MODE] = mode_text(info);
    environment[PROBITY_COMPARE_GAP] = gap_text(info);
    environment[PROBITY_COMPARE_LEVELS] = strdup("");
    for (int i = 0; i < PROBITY_COMPARE_ENVIRONMENTS; i++) {
        if (environment[i] == NULL)
            return PROBITY_ERROR_MEMORY;
    }
    return 0;
}

int probity_compare_run_describe(const struct probity_trace_facts *facts,
                                 struct probity_compare_run *ret_run)
{
    struct probity_compare_run run = {.started_ns = facts->info.anchor.realtime_ns,
                                      .records = facts->records + facts->spool_records,
                                      .is_damaged = probity_trace_is_damaged(facts) ||
                                                    facts->state == PROBITY_TRACE_UNFINISHED};
    char why[256];

    memcpy(run.session, facts->info.session, sizeof run.session);
    run.is_complete = probity_trace_is_complete(facts, why, sizeof why);
    run.path = strdup(facts->path);
    run.why = strdup(why);
    run.label = text_of(&facts->info.text[PROBITY_TAG_LABEL]);
    int error = take_environment(&facts->info, &run);
    if (run.path == NULL || run.why == NULL || run.label == NULL)
        error = PROBITY_ERROR_MEMORY;
    if (error != 0)
        probity_compare_run_release(&run);
    else
        *ret_run = run;
    return error;
}

/* ---- Items -------------------------------------------------------------------------------------
 */

void probity_compare_item_release(struct probity_compare_item *item)
{
    free(item->name);
    free(item->signature);
    free(item->file);
    free(item->object);
}

void probity_compare_run_release(struct probity_compare_run *run)
{
    for (size_t i = 0; i < run->item_count; i++)
        probity_compare_item_release(&run->items[i]);
    for (int i = 0; i < PROBITY_COMPARE_ENVIRONMENTS; i++)
        free(run->environment[i]);
    free(run->items);
    free(run->path);
    free(run->label);
    free(run->why);
    *run = (struct probity_compare_run){0};
}

static char *copy_of(const char *text)
{
    return strdup(text != NULL ? text : "");
}

int probity_compare_run_add(struct probity_compare_run *run,
                            const struct probity_compare_item *item)
{
    struct probity_compare_item copy = *item;

    void *items =
        probity_array_room(run->items, sizeof *run->items, run->item_count, &run->item_room);
    if (items == NULL)
        return PROBITY_ERROR_MEMORY;
    run->items = items;
    copy.name = copy_of(item->name);
    copy.signature = copy_of(item->signature);
    copy.file = copy_of(item->file);
    copy.object = copy_of(item->object);
    run->items[run->item_count++] = copy;
    return copy.name != NULL && copy.signature != NULL && copy.file != NULL && copy.object != NULL
               ? 0
               : PROBITY_ERROR_MEMORY;
}

/* Sorts functions with equal keys next to each other, by line. A place that was looked up in the
 * program is not part of the key, because the program may have been replaced since the run. */
static int compare_functions(const void *left, const void *right)
{
    const struct probity_report_function *one = left, *other = right;
    const struct probity_function *a = one->function, *b = other->function;

    if (a == NULL || b == NULL)
        return (a == NULL) - (b == NULL);
    int order = strcmp(a->name, b->name);
    order = order != 0 ? order : strcmp(a->signature, b->signature);
    order = order != 0 ? order : strcmp(base_name(a->recorded_file), base_name(b->recorded_file));
    order = order != 0 ? order : strcmp(base_name(a->object), base_name(b->object));
    order = order != 0 ? order : a->line < b->line ? -1 : a->line > b->line;
    order = order != 0 ? order : strcmp(a->recorded_file, b->recorded_file);
    order = order != 0 ? order : one->trace < other->trace ? -1 : one->trace > other->trace;
    return order != 0 ? order : one->number < other->number ? -1 : one->number > other->number;
}

static int is_same_key(const struct probity_function *a, const struct probity_function *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->signature, b->signature) == 0 &&
           strcmp(base_name(a->recorded_file), base_name(b->recorded_file)) == 0 &&
           strcmp(base_name(a->object), base_name(b->object)) == 0;
}

static void take_values(const struct probity_report_sums *sums, int is_cpu_known,
                        struct probity_compare_item *item)
{
    uint64_t timed = sums->calls - sums->untimed;
    double *values = item->values;

    for (int i = 0; i < PROBITY_COMPARE_STATISTICS; i++)
        values[i] = NAN;
    values[PROBITY_COMPARE_CALLS] = (double)sums->calls;
    item->quantile_error = probity_report_quantile_error(sums);
    if (timed == 0)
        return;
    values[PROBITY_COMPARE_SELF] = (double)sums->self.wall_ns;
    values[PROBITY_COMPARE_TOTAL] = (double)sums->total.wall_ns;
    if (is_cpu_known)
        values[PROBITY_COMPARE_CPU] = (double)sums->self.cpu_ns;
    if (sums->durations.count == 0)
        return;
    values[PROBITY_COMPARE_MEAN] = (double)sums->sum_ns / (double)sums->durations.count;
    values[PROBITY_COMPARE_MEDIAN] = (double)probity_report_quantile(sums, 500);
    values[PROBITY_COMPARE_P99] = (double)probity_report_quantile(sums, 990);
}

int probity_compare_run_add_report(struct probity_compare_run *run, struct probity_report *report,
                                   int is_cpu_known)
{
    size_t count;
    struct probity_report_function *functions = probity_report_functions(report, &count);
    struct probity_compare_item item = {.kind = PROBITY_COMPARE_FUNCTION};
    int error = 0;

    if (count > 1)
        qsort(functions, count, sizeof *functions, compare_functions);
    for (size_t i = 0; error == 0 && i < count && functions[i].function != NULL; i++) {
        const struct probity_function *function = functions[i].function;
        int is_again = i > 0 && is_same_key(functions[i - 1].function, function);
        item.instance = is_again ? item.instance + 1 : 0;
        item.name = (char *)(uintptr_t)function->name;
        item.signature = (char *)(uintptr_t)function->signature;
        item.file = (char *)(uintptr_t)base_name(function->recorded_file);
        item.object = (char *)(uintptr_t)base_name(function->object);
        item.line = function->file == function->recorded_file ? function->line : 0;
        take_values(&functions[i].sums, is_cpu_known, &item);
        error = probity_compare_run_add(run, &item);
    }
    return error;
}

static int add_pair(struct probity_compare_run *run, const struct probity_blocks_pair *pair)
{
    struct probity_compare_item item = {
        .kind = PROBITY_COMPARE_BLOCK,
        .name = probity_blocks_pair_name(pair, 0),
        .signature = probity_blocks_pair_name(pair, 1),
        .instance = (pair->from->is_site ? 1u : 0) | (pair->to->is_site ? 2u : 0),
        .quantile_error = PROBITY_REPORT_QUANTILE_ERROR,
        .values = {(double)pair->calls, NAN, (double)pair->wall_ns,
                   pair->cpu_calls > 0 ? (double)pair->cpu_ns : NAN,
                   (double)pair->wall_ns / (double)pair->calls,
                   (double)probity_blocks_value(pair, PROBITY_BLOCKS_P50),
                   (double)probity_blocks_value(pair, PROBITY_BLOCKS_P99)}};
    int error = item.name != NULL && item.signature != NULL ? probity_compare_run_add(run, &item)
                                                            : PROBITY_ERROR_MEMORY;

    free(item.name);
    free(item.signature);
    return error;
}

int probity_compare_run_add_blocks(struct probity_compare_run *run, struct probity_blocks *blocks)
{
    size_t count;
    const struct probity_blocks_pair *const *pairs =
        probity_blocks_sort(blocks, PROBITY_BLOCKS_NAME, &count);
    int error = pairs != NULL ? 0 : PROBITY_ERROR_MEMORY;

    for (size_t i = 0; error == 0 && i < count; i++)
        error = add_pair(run, pairs[i]);
    return error;
}

static int add_requests_of(struct probity_compare_run *run, const struct probity_request_kind *kind)
{
    struct probity_compare_item item = {
        .kind = PROBITY_COMPARE_REQUEST,
        .name = probity_request_kind_name(kind, 0),
        .signature = probity_request_kind_name(kind, 1),
        .instance = kind->begin.is_site ? 1 : 0,
        .quantile_error = PROBITY_REPORT_QUANTILE_ERROR,
        .values = {(double)kind->calls, NAN, (double)kind->wall_ns, NAN,
                   (double)kind->wall_ns / (double)kind->calls,
                   (double)probity_request_quantile(kind, 500),
                   (double)probity_request_quantile(kind, 990)}};
    int error = item.name != NULL && item.signature != NULL ? probity_compare_run_add(run, &item)
                                                            : PROBITY_ERROR_MEMORY;

    free(item.name);
    free(item.signature);
    return error;
}

int probity_compare_run_add_requests(struct probity_compare_run *run,
                                     const struct probity_request_times *requests)
{
    int error = 0;

    run->has_requests = 1;
    for (size_t i = 0; error == 0 && i < requests->count; i++)
        error = add_requests_of(run, requests->kinds[i]);
    return error;
}

/* ---- Reading -----------------------------------------------------------------------------------
 */

/* The first few levels and when they were set. */
struct levels {
    char text[64];
    size_t used;
    uint64_t tick; /* of the latest */
};

static void take_levels(struct levels *levels, const struct probity_event *event)
{
    /* A reader that skips events may repeat the latest declaration. */
    if (event->kind != PROBITY_EVENT_LEVELS || event->payload_bytes < 2 ||
        levels->used + 16 > sizeof levels->text || event->tick == levels->tick)
        return;
    levels->tick = event->tick;
    levels->used += (size_t)snprintf(levels->text + levels->used,
                                     sizeof levels->text - levels->used, "%s%u,%u",
                                     levels->used > 0 ? ", then " : "", event->payload[0],
                                     event->payload[1]);
}

/* The results of one pass over a trace. */
struct pass {
    struct probity_report *report;
    struct probity_blocks *blocks;
    struct probity_request_times requests;
    struct levels levels;
};

static int put_event(struct pass *pass, const struct probity_event *event)
{
    take_levels(&pass->levels, event);
    int error = probity_report_put(pass->report, event);
    if (error == 0)
        error = probity_blocks_put(pass->blocks, event);
    return error == 0 ? probity_request_times_put(&pass->requests, event) : error;
}

/* end_ns: the end of the range. Once all calls that began in the range have ended, later records
 * are skipped if possible. */
static int read_events(struct probity_reader *reader, uint64_t end_ns, struct pass *pass)
{
    const struct probity_event *event;
    int got = 0, error = 0;

    while (error == 0 && (got = probity_reader_next(reader, &event)) > 0) {
        error = put_event(pass, event);
        if (error == 0 && event->wall_ns >= end_ns && probity_report_pending(pass->report) == 0) {
            end_ns = UINT64_MAX;
            error = probity_reader_skip_rest(reader);
        }
    }
    if (error == 0 && got < 0)
        return got;
    /* Profiles are not events, so they are read separately. */
    return error == 0 ? probity_report_read(pass->report, reader) : error;
}

static int fill_run(const struct pass *pass, int is_cpu_known, struct probity_compare_run *run)
{
    free(run->environment[PROBITY_COMPARE_LEVELS]);
    run->environment[PROBITY_COMPARE_LEVELS] = strdup(pass->levels.text);
    int error = run->environment[PROBITY_COMPARE_LEVELS] != NULL ? 0 : PROBITY_ERROR_MEMORY;
    if (error == 0)
        error = probity_compare_run_add_report(run, pass->report, is_cpu_known);
    if (error == 0)
        error = probity_compare_run_add_blocks(run, pass->blocks);
    return error == 0 ? probity_compare_run_add_requests(run, &pass->requests) : error;
}

/* The facts come last, because whether the trace is complete is known only after all events. */
static int make_run(struct probity_reader *reader, uint64_t end_ns, struct pass *pass,
                    struct probity_compare_run *ret_run)
{
    const struct probity_trace_facts *facts = probity_reader_facts(reader, 0);
    struct probity_compare_run run;
    int error = read_events(reader, end_ns, pass);

    if (error == 0)
        error = probity_compare_run_describe(facts, &run);
    if (error != 0)
        return error;
    error = fill_run(pass, (facts->info.flags & PROBITY_INFO_CPU_TIME) != 0, &run);
    if (error != 0)
        probity_compare_run_release(&run);
    else
        *ret_run = run;
    return error;
}

int probity_compare_run_read(struct probity_reader *reader, uint64_t from_ns, uint64_t to_ns,
                             struct probity_compare_run *ret_run)
{
    const struct probity_report_options range = {.from_ns = from_ns, .to_ns = to_ns};
    const struct probity_blocks_options same_range = {.from_ns = from_ns, .to_ns = to_ns};
    struct pass pass = {.levels = {.used = 0}};
    uint64_t end_ns = to_ns != 0 ? to_ns : UINT64_MAX;
    int error = from_ns != 0 || to_ns != 0 ? probity_reader_set_window(reader, from_ns, end_ns) : 0;

    if (error == 0)
        error = probity_report_open(&range, &pass.report);
    if (error != 0)
        return error;
    probity_request_times_init(from_ns, to_ns, &pass.requests);
    error = probity_blocks_open(&same_range, &pass.blocks);
    if (error == 0) {
        error = make_run(reader, end_ns, &pass, ret_run);
        probity_blocks_close(pass.blocks);
    }
    probity_request_times_release(&pass.requests);
    probity_report_close(pass.report);
    return error;
}
