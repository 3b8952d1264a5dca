/* SPDX-License-Identifier: MIT
 *
 * rows.c: each function in each thread has a `place` with the sums of the open minutes; its scopes
 * point to it. The numbers of rows depend only on the order of events: nothing may depend on
 * hashes, addresses or the time of day.
 */
#include "fleet/rows.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/thread_table.h"
#include "answers/report/profiled.h"
#include "answers/report/report.h"
#include "base/array_grow.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/hashtable.h"
#include "fleet/hits.h"
#include "fleet/numbers.h"
#include "fleet/open_sums.h"
#include "fleet/paths.h"
#include "probity.h"

#define MINUTE_NS PROBITY_FLEET_MINUTE_NS
#define DAY_NS PROBITY_FLEET_DAY_NS

enum { FLAG_INNER = 8, FLAG_UNTIMED = 16, FLAG_ENTRY = 32 };

/* The sums of a minute or an hour. */
struct sums {
    struct probity_fleet_open open; /* owner: a place; for an hour, a function */
    uint64_t number;                /* number of the function in the database */
    uint32_t thread;
    struct known *known;
    struct probity_report_sums sums;
};

/* A function whose row was passed on, with its sums of the open hours. */
struct known {
    struct probity_link link;
    uint64_t number;
    struct probity_fleet_open *hours;
};

struct place {
    struct probity_link link;
    struct place *next; /* all places, in order of appearance */
    const struct probity_function *function;
    uint64_t key, slot, number; /* number: that of the function in the database */
    uint32_t thread;
    struct known *known;
    struct probity_fleet_open *sums;
};

struct probity_fleet_rows {
    struct probity_fleet_rows_options options;
    struct probity_scopes *scopes;
    struct probity_thread_table threads;
    struct probity_hashtable table;      /* table of places */
    struct place *places, **last_place;
    struct probity_fleet_open_list sums, hours;
    struct probity_hashtable known;      /* functions whose rows were passed on */
    const struct probity_thread_label **labels; /* by thread slot */
    uint32_t label_count;
    uint64_t minute;                     /* minute in which the latest call ended */
    struct probity_fleet_output output;
    struct probity_fleet_hits *hits;
    struct probity_fleet_paths *paths;
    struct probity_scopes_repairs repairs;
    struct probity_fleet_histogram_list list; /* histogram of one row */
};

static void fail(struct probity_fleet_rows *rows, int error)
{
    probity_fleet_output_fail(&rows->output, error);
}

/* ---- Sums of minutes ---------------------------------------------------------------------------
 */

/* Writes the columns that rows of minutes and of hours have in common. */
static void put_numbers(struct probity_fleet_rows *rows, struct probity_fleet_batch *batch,
                        const struct probity_report_sums *sums)
{
    const uint64_t values[] = {
        sums->calls, sums->untimed, sums->repaired, sums->open, sums->entries, sums->counted,
        sums->profiled, (uint64_t)sums->is_least, sums->total.wall_ns, sums->total.cpu_ns,
        sums->self.wall_ns, sums->self.cpu_ns, sums->paused.wall_ns, sums->paused.cpu_ns,
        sums->sum_ns, sums->min_ns, sums->max_ns};
    size_t count = probity_fleet_list_histogram(&sums->durations, &rows->list);

    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        probity_fleet_put(batch, values[i]);
    probity_fleet_put_array(batch, rows->list.buckets, count);
    probity_fleet_put_array(batch, rows->list.counts, count);
}

static void put_sums(struct probity_fleet_rows *rows, const struct sums *item)
{
    uint64_t day = rows->minute / PROBITY_FLEET_DAY_MINUTES;
    struct probity_fleet_batch *batch =
        probity_fleet_output_row(&rows->output, PROBITY_FLEET_MINUTES, &day);
    const uint64_t keys[] = {
        day, rows->options.run, rows->output.blocks[PROBITY_FLEET_MINUTES],
        probity_fleet_open_seconds(item->open.period, 1), item->number, item->thread};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        probity_fleet_put(batch, keys[i]);
    put_numbers(rows, batch, &item->sums);
}

/* Finds or adds sums. If out of memory, fails and returns NULL. */
static struct sums *open_sums_at(struct probity_fleet_rows *rows,
                                 struct probity_fleet_open_list *list,
                                 struct probity_fleet_open **owner, uint64_t period)
{
    struct sums *item = probity_fleet_open_find(*owner, period);

    if (__builtin_expect(item != NULL, 1))
        return item;
    item = probity_fleet_open_add(list, owner, period);
    if (item != NULL)
        item->sums.min_ns = UINT64_MAX;
    else
        fail(rows, PROBITY_ERROR_MEMORY);
    return item;
}

/* ---- Sums of hours -----------------------------------------------------------------------------
 */

static void put_hour(struct probity_fleet_rows *rows, const struct sums *item)
{
    uint64_t day = rows->minute / PROBITY_FLEET_DAY_MINUTES;
    struct probity_fleet_batch *batch =
        probity_fleet_output_row(&rows->output, PROBITY_FLEET_HOURS, &day);
    const uint64_t keys[] = {
        day, rows->options.run, rows->output.blocks[PROBITY_FLEET_HOURS],
        probity_fleet_open_seconds(item->open.period, PROBITY_FLEET_HOUR_MINUTES), item->number};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        probity_fleet_put(batch, keys[i]);
    put_numbers(rows, batch, &item->sums);
}

static void end_hour(void *rows, struct probity_fleet_open *open, int is_put)
{
    struct sums *item = (struct sums *)open;

    if (is_put)
        put_hour(rows, item);
    probity_histogram_release(&item->sums.durations);
}

static void add_to_hour(struct probity_fleet_rows *rows, const struct sums *item)
{
    struct sums *hour = open_sums_at(rows, &rows->hours, &item->known->hours,
                                     item->open.period / PROBITY_FLEET_HOUR_MINUTES);

    if (hour == NULL)
        return;
    hour->number = item->number;
    if (probity_report_sums_add(&hour->sums, &item->sums) != 0)
        fail(rows, PROBITY_ERROR_MEMORY);
}

/* ---- Minutes -----------------------------------------------------------------------------------
 */

static void end_minute(void *context, struct probity_fleet_open *open, int is_put)
{
    struct probity_fleet_rows *rows = context;
    struct sums *item = (struct sums *)open;

    if (is_put) {
        put_sums(rows, item);
        add_to_hour(rows, item);
    }
    probity_histogram_release(&item->sums.durations);
}

/* Finds or adds the sums of calls that began at this time. Returns NULL if out of memory. */
static struct probity_report_sums *sums_at(struct probity_fleet_rows *rows, struct place *place,
                                           uint64_t begin_ns)
{
    struct sums *item = open_sums_at(rows, &rows->sums, &place->sums, begin_ns / MINUTE_NS);

    if (item == NULL)
        return NULL;
    item->number = place->number;
    item->thread = place->thread;
    item->known = place->known;
    return &item->sums;
}

static void advance_to(struct probity_fleet_rows *rows, uint64_t end_ns)
{
    if (end_ns / MINUTE_NS <= rows->minute)
        return;
    probity_fleet_open_end(&rows->sums, 1);
    if (end_ns / MINUTE_NS / 60 > rows->minute / 60)
        probity_fleet_open_end(&rows->hours, 1);
    rows->minute = end_ns / MINUTE_NS;
}

/* ---- Functions, threads and places -------------------------------------------------------------
 */

static void put_text(struct probity_fleet_batch *batch, const char *text)
{
    probity_fleet_put_text(batch, text, strlen(text));
}

static void put_function(struct probity_fleet_rows *rows, const struct place *place, uint32_t site)
{
    struct probity_fleet_batch *batch = &rows->output.batches[PROBITY_FLEET_FUNCTIONS];
    const struct probity_function *function = place->function;
    static const struct probity_function lost = {
        .name = "", .signature = "", .file = "", .object = "", .returns = ""};

    probity_fleet_put(batch, place->number);
    probity_fleet_put(batch, function != NULL);
    if (function == NULL)
        function = &lost;
    put_text(batch, function->name);
    put_text(batch, function->signature);
    put_text(batch, function->file);
    put_text(batch, function->object);
    put_text(batch, function->returns);
    probity_fleet_put(batch, function != &lost ? function->line : site);
    probity_fleet_put(batch, function->level);
    probity_fleet_output_pass_large(&rows->output, PROBITY_FLEET_FUNCTIONS);
}

/* Returns NULL if out of memory. */
static struct known *know_function(struct probity_fleet_rows *rows, const struct place *place,
                                   uint32_t site)
{
    uint64_t hash = probity_hash(place->number);
    struct known *known = probity_hashtable_at(&rows->known, hash);

    while (known != NULL && known->number != place->number)
        known = (struct known *)known->link.next;
    if (known != NULL)
        return known;
    known = calloc(1, sizeof *known);
    if (known == NULL || probity_hashtable_add(&rows->known, known, hash) != 0) {
        free(known);
        fail(rows, PROBITY_ERROR_MEMORY);
        return NULL;
    }
    known->number = place->number;
    put_function(rows, place, site);
    return known;
}

static void put_thread(struct probity_fleet_rows *rows, const struct probity_thread_label *label,
                       unsigned version)
{
    struct probity_fleet_batch *batch = &rows->output.batches[PROBITY_FLEET_THREADS];
    const uint64_t values[] = {rows->options.run, label->thread, version, label->tid, label->pid};

    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        probity_fleet_put(batch, values[i]);
    put_text(batch, label->name != NULL ? label->name : "");
    probity_fleet_output_pass_large(&rows->output, PROBITY_FLEET_THREADS);
}

static void know_thread(struct probity_fleet_rows *rows, const struct probity_event *event)
{
    uint32_t slot = event->thread_slot;

    if (slot >= rows->label_count) {
        void *grown = probity_array_grow(rows->labels, sizeof *rows->labels, slot,
                                         &rows->label_count);
        if (grown == NULL) {
            fail(rows, PROBITY_ERROR_MEMORY);
            return;
        }
        rows->labels = grown;
    }
    if (rows->labels[slot] != NULL)
        return;
    rows->labels[slot] = probity_thread_table_at(&rows->threads, event);
    if (rows->labels[slot] != NULL)
        put_thread(rows, rows->labels[slot], 0);
    else
        fail(rows, PROBITY_ERROR_MEMORY);
}

/* Finds or adds the place of a function in a thread. Returns NULL if out of memory. */
static struct place *place_at(struct probity_fleet_rows *rows,
                              const struct probity_function *function, uint32_t site,
                              uint64_t slot, uint32_t thread)
{
    uint64_t key = function != NULL ? (uint64_t)(uintptr_t)function : UINT64_C(1) << 63 | site;
    uint64_t hash = probity_hash(key ^ slot * UINT64_C(0xc2b2ae3d27d4eb4f));
    struct place *place = probity_hashtable_at(&rows->table, hash);

    while (place != NULL && (place->key != key || place->slot != slot))
        place = (struct place *)place->link.next;
    if (place != NULL)
        return place->known != NULL ? place : NULL;
    place = calloc(1, sizeof *place);
    if (place == NULL || probity_hashtable_add(&rows->table, place, hash) != 0) {
        free(place);
        fail(rows, PROBITY_ERROR_MEMORY);
        return NULL;
    }
    place->function = function;
    place->key = key;
    place->slot = slot;
    place->number = probity_fleet_function(function, rows->options.run, site);
    place->thread = thread;
    *rows->last_place = place;
    rows->last_place = &place->next;
    place->known = know_function(rows, place, site);
    return place->known != NULL ? place : NULL;
}

/* ---- Events ------------------------------------------------------------------------------------
 */

static void on_opened(void *context, struct probity_scope *scope, const struct probity_event *event)
{
    struct probity_fleet_rows *rows = context;

    if (__builtin_expect(*scope->of_function != NULL, 1))
        return;
    know_thread(rows, event);
    *scope->of_function = place_at(rows, scope->function, scope->number, event->thread_slot,
                                   event->thread);
}

/* Returns the beginning of the outermost enclosing call that began shortly before this call, so
 * that neighboring calls have the same. */
static uint64_t anchor_of(const struct probity_fleet_rows *rows, const struct probity_scope *scope,
                          uint32_t thread_slot)
{
    uint64_t start_ns = scope->enter_wall_ns, anchor_ns = start_ns;
    uint32_t low = 0, high = scope->depth;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct probity_scope *outer = probity_scopes_at(rows->scopes, thread_slot, middle);
        if (outer != NULL && start_ns - outer->enter_wall_ns < PROBITY_FLEET_SINCE_MAX) {
            anchor_ns = outer->enter_wall_ns;
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return anchor_ns;
}

/* Returns the lowest byte of a signed number that is usually near 0. */
static uint64_t low_of(uint64_t value)
{
    return (uint64_t)(int64_t)(int8_t)(value & 255);
}

static uint64_t rest_of(uint64_t value)
{
    return (uint64_t)((int64_t)(value - low_of(value)) >> 8);
}

/* Writes a call. Bytes of times are separate columns: the lowest bytes hardly compress, the others
 * do. Unknown CPU times are stored as 0, which compresses best. */
static void put_call(struct probity_fleet_rows *rows, const struct place *place,
                     const struct probity_scope *scope, uint64_t anchor_ns, uint64_t end_ns,
                     unsigned flags)
{
    struct probity_scope_time total = scope->total, self = probity_scope_self(scope);
    uint64_t day = end_ns / DAY_NS, since_ns = scope->enter_wall_ns - anchor_ns;
    struct probity_fleet_batch *batch =
        probity_fleet_output_row(&rows->output, PROBITY_FLEET_CALLS, &day);
    uint64_t own = self.wall_ns, inner = total.wall_ns - self.wall_ns;
    int has_cpu = rows->options.has_cpu;
    uint64_t off = has_cpu ? total.wall_ns - total.cpu_ns : 0;
    uint64_t inner_off = has_cpu ? inner - (total.cpu_ns - self.cpu_ns) : 0;
    const uint64_t values[] = {
        day, rows->options.run, rows->output.blocks[PROBITY_FLEET_CALLS], place->number,
        place->thread, scope->depth, flags, anchor_ns, since_ns & 255, since_ns >> 8,
        own & 255, own >> 8 & 255, own >> 16, inner & 255, inner >> 8 & 255, inner >> 16,
        low_of(off), rest_of(off), low_of(inner_off), rest_of(inner_off),
        scope->paused.wall_ns, scope->paused.cpu_ns};

    probity_fleet_put_row(batch, values);
}

static void add_times(struct probity_fleet_rows *rows, struct probity_report_sums *sums,
                      const struct probity_scope *scope, enum probity_scope_end how)
{
    uint64_t ns = scope->total.wall_ns;

    if (scope->recursion == 0)
        probity_scope_time_add(&sums->total, scope->total);
    probity_scope_time_add(&sums->self, probity_scope_self(scope));
    probity_scope_time_add(&sums->paused, scope->paused);
    sums->open += how == PROBITY_SCOPE_OPEN;
    if (!probity_scope_end_is_recorded(how))
        return;
    sums->sum_ns += ns;
    sums->min_ns = ns < sums->min_ns ? ns : sums->min_ns;
    sums->max_ns = ns > sums->max_ns ? ns : sums->max_ns;
    if (probity_histogram_add(&sums->durations, ns) != 0)
        fail(rows, PROBITY_ERROR_MEMORY);
}

static void on_closed(void *context, const struct probity_scope *scope, enum probity_scope_end how,
                      uint32_t thread_slot, const struct probity_event *event)
{
    struct probity_fleet_rows *rows = context;
    struct place *place = *scope->of_function;
    uint64_t end_ns = scope->enter_wall_ns + scope->elapsed.wall_ns;

    (void)event;
    if (place == NULL || rows->output.error != 0)
        return;
    advance_to(rows, end_ns);
    struct probity_report_sums *sums = sums_at(rows, place, scope->enter_wall_ns);
    if (sums == NULL)
        return;
    sums->calls++;
    sums->repaired += !probity_scope_end_is_recorded(how);
    if (scope->is_untimed)
        sums->untimed++;
    else
        add_times(rows, sums, scope, how);
    if (rows->options.detail >= PROBITY_FLEET_DETAIL_CALLS)
        put_call(rows, place, scope, anchor_of(rows, scope, thread_slot), end_ns,
                 (unsigned)how | (scope->recursion > 0 ? FLAG_INNER : 0U) |
                     (scope->is_untimed ? FLAG_UNTIMED : 0U));
}

static void put_entry(struct probity_fleet_rows *rows, const struct probity_event *event)
{
    uint32_t site = event->function != NULL ? event->function->number : event->id;

    know_thread(rows, event);
    struct place *place = place_at(rows, event->function, site, event->thread_slot, event->thread);
    if (place == NULL)
        return;
    advance_to(rows, event->wall_ns);
    struct probity_report_sums *sums = sums_at(rows, place, event->wall_ns);
    if (sums == NULL)
        return;
    sums->calls++;
    sums->untimed++;
    sums->entries++;
    const struct probity_scope scope = {.enter_wall_ns = event->wall_ns};
    if (rows->options.detail >= PROBITY_FLEET_DETAIL_CALLS)
        put_call(rows, place, &scope, event->wall_ns, event->wall_ns, FLAG_UNTIMED | FLAG_ENTRY);
}

int probity_fleet_rows_put(struct probity_fleet_rows *rows, const struct probity_event *event)
{
    const struct probity_scopes_listener listener = {on_opened, on_closed, rows};
    int error = probity_scopes_put(rows->scopes, event, &listener);

    if (error == 0 && (event->kind == PROBITY_EVENT_HIT || event->kind == PROBITY_EVENT_LOST ||
                       event->kind == PROBITY_EVENT_SITES_SWITCHED)) {
        know_thread(rows, event);
        error = probity_fleet_hits_put(rows->hits, event);
    }
    if (__builtin_expect(event->kind == PROBITY_EVENT_THREAD_NAME, 0) && error == 0) {
        know_thread(rows, event);
        error = probity_thread_table_name(&rows->threads, event);
    }
    if (__builtin_expect(event->kind == PROBITY_READER_ENTRY, 0) && error == 0)
        put_entry(rows, event);
    if (error == 0 && event->kind != PROBITY_EVENT_HIT)
        error = probity_fleet_paths_put(rows->paths, event);
    return error != 0 ? error : rows->output.error;
}

/* Threads of profile rows are numbered from the number of slots of the reader. */
int probity_fleet_rows_profiled(struct probity_fleet_rows *rows,
                                const struct probity_profiled *profiled)
{
    const struct probity_thread_label label = {0, profiled->thread, profiled->tid, profiled->pid,
                                               NULL};
    struct probity_report_row row;
    struct place *place = place_at(rows, profiled->function, profiled->number,
                                   UINT64_C(1) << 63 | profiled->thread, profiled->thread);
    struct probity_report_sums *sums =
        place != NULL ? sums_at(rows, place, rows->minute * MINUTE_NS) : NULL;

    if (sums == NULL)
        return rows->output.error;
    put_thread(rows, &label, 0);
    int error = probity_report_profiled_row(profiled, &label, &row);
    if (error == 0)
        error = probity_report_sums_add(sums, &row.sums);
    sums->profiled += row.sums.calls - row.sums.counted;
    rows->repairs.unwound += row.sums.repaired;
    probity_histogram_release(&row.sums.durations);
    fail(rows, error);
    return rows->output.error;
}

/* Passes on whether more calls were made than counted. This is done only at the end: before, it
 * depends on how far ahead the reader has read. */
static void finish_places(struct probity_fleet_rows *rows)
{
    for (struct place *place = rows->places; place != NULL; place = place->next) {
        if (place->function == NULL || !place->function->is_least)
            continue;
        struct probity_report_sums *sums = sums_at(rows, place, rows->minute * MINUTE_NS);
        if (sums != NULL)
            sums->is_least = 1;
    }
    probity_fleet_open_end(&rows->sums, 1);
    probity_fleet_open_end(&rows->hours, 1);
    for (uint32_t i = 0; i < rows->label_count; i++) {
        if (rows->labels[i] != NULL && rows->labels[i]->name != NULL)
            put_thread(rows, rows->labels[i], 1);
    }
}

int probity_fleet_rows_piece(struct probity_fleet_rows *rows,
                             const struct probity_fleet_piece *piece)
{
    uint64_t day = rows->options.started_ns / DAY_NS;
    struct probity_fleet_batch *batch =
        probity_fleet_output_row(&rows->output, PROBITY_FLEET_RECORDS, &day);
    const uint64_t values[] = {day, rows->options.run, rows->output.blocks[PROBITY_FLEET_RECORDS],
                               piece->place, piece->type, piece->thread, piece->records};

    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        probity_fleet_put(batch, values[i]);
    probity_fleet_put_text(batch, (const char *)piece->bytes, piece->count);
    return rows->output.error;
}

int probity_fleet_rows_flush(struct probity_fleet_rows *rows)
{
    probity_fleet_output_flush(&rows->output);
    return rows->output.error;
}

int probity_fleet_rows_finish(struct probity_fleet_rows *rows)
{
    const struct probity_scopes_listener listener = {on_opened, on_closed, rows};
    uint64_t from_profiles = rows->repairs.unwound;

    probity_scopes_finish(rows->scopes, &listener);
    rows->repairs = *probity_scopes_repairs(rows->scopes);
    rows->repairs.unwound += from_profiles;
    finish_places(rows);
    fail(rows, probity_fleet_hits_finish(rows->hits));
    fail(rows, probity_fleet_paths_finish(rows->paths));
    probity_fleet_output_end(&rows->output);
    return rows->output.error;
}

const struct probity_scopes_repairs *probity_fleet_rows_repairs(
    const struct probity_fleet_rows *rows)
{
    return &rows->repairs;
}

uint32_t probity_fleet_rows_blocks(const struct probity_fleet_rows *rows,
                                   enum probity_fleet_table_number table)
{
    return rows->output.blocks[table];
}

uint64_t probity_fleet_rows_count(const struct probity_fleet_rows *rows,
                                  enum probity_fleet_table_number table)
{
    return rows->output.rows[table];
}

/* ---- Opening and closing -----------------------------------------------------------------------
 */

int probity_fleet_rows_open(const struct probity_fleet_rows_options *options,
                            struct probity_fleet_rows **ret_rows)
{
    struct probity_fleet_rows *rows = calloc(1, sizeof *rows);

    if (rows == NULL)
        return PROBITY_ERROR_MEMORY;
    rows->options = *options;
    rows->output = (struct probity_fleet_output){
        .block_rows = options->block_rows, .take = options->take, .known = options->known,
        .context = options->context};
    probity_fleet_output_init(&rows->output);
    const struct probity_fleet_hits_options of_hits = {
        &rows->output, options->run, options->detail >= PROBITY_FLEET_DETAIL_CALLS};
    if (probity_scopes_open(&rows->scopes) != 0 ||
        probity_fleet_hits_open(&of_hits, &rows->hits) != 0 ||
        probity_fleet_paths_open(&rows->output, options->run, &rows->paths) != 0) {
        if (rows->hits != NULL)
            probity_fleet_hits_close(rows->hits);
        if (rows->scopes != NULL)
            probity_scopes_close(rows->scopes);
        free(rows);
        return PROBITY_ERROR_MEMORY;
    }
    rows->last_place = &rows->places;
    rows->sums = (struct probity_fleet_open_list){
        .item_bytes = sizeof(struct sums), .end = end_minute, .context = rows};
    rows->hours = (struct probity_fleet_open_list){
        .item_bytes = sizeof(struct sums), .end = end_hour, .context = rows};
    *ret_rows = rows;
    return 0;
}

void probity_fleet_rows_close(struct probity_fleet_rows *rows)
{
    struct known *known;
    struct place *place;

    probity_fleet_open_end(&rows->sums, 0);
    probity_fleet_open_end(&rows->hours, 0);
    while ((place = rows->places) != NULL) {
        rows->places = place->next;
        free(place);
    }
    probity_fleet_hits_close(rows->hits);
    probity_fleet_paths_close(rows->paths);
    probity_fleet_output_release(&rows->output);
    while ((known = probity_hashtable_take(&rows->known)) != NULL)
        free(known);
    probity_hashtable_release(&rows->table);
    probity_thread_table_release(&rows->threads);
    probity_scopes_close(rows->scopes);
    free(rows->labels);
    free(rows);
}
