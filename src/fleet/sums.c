/* SPDX-License-Identifier: MIT
 *
 * sums.c: turns replies into rows of a report. A reference to a function, thread or run that was
 * not in earlier replies is an error: the database was changed in between, or was not written by
 * Probity.
 */
#include "fleet/sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "probity.h"

struct function_entry {
    struct probity_link link;
    uint64_t number;
    int is_declared;
    struct probity_function function;
    char *texts;
};

struct thread_entry {
    struct probity_link link;
    uint64_t run;
    struct probity_thread_label label;
    char *name;
};

struct run_entry {
    struct probity_link link;
    uint64_t run;
    size_t index;
};

/* ---- Runs --------------------------------------------------------------------------------------
 */

static int add(struct probity_hashtable *table, void *item, uint64_t hash)
{
    if (item == NULL || probity_hashtable_add(table, item, hash) != 0) {
        free(item);
        return PROBITY_ERROR_MEMORY;
    }
    return 0;
}

int probity_fleet_sums_init(struct probity_fleet_sums *sums, const struct probity_fleet_run *runs,
                            const struct probity_trace_facts *facts, size_t count)
{
    int error = 0;

    *sums = (struct probity_fleet_sums){.runs = runs, .facts = facts, .run_count = count};
    for (size_t i = 0; error == 0 && i < count; i++) {
        struct run_entry *entry = calloc(1, sizeof *entry);
        if (entry != NULL)
            *entry = (struct run_entry){.run = runs[i].run, .index = i};
        error = add(&sums->numbers, entry, probity_hash(runs[i].run));
    }
    return error;
}

static const struct run_entry *run_at(const struct probity_fleet_sums *sums, uint64_t run)
{
    const struct run_entry *entry = probity_hashtable_at(&sums->numbers, probity_hash(run));

    while (entry != NULL && entry->run != run)
        entry = (const struct run_entry *)entry->link.next;
    return entry;
}

/* ---- Functions ---------------------------------------------------------------------------------
 */

/* Copies the five texts of a function, one after another. */
static int take_texts(struct function_entry *entry, struct probity_fleet_answer *answer)
{
    struct probity_function *function = &entry->function;
    const char **const texts[] = {&function->name, &function->signature, &function->file,
                                  &function->object, &function->returns};
    enum { TEXTS = sizeof texts / sizeof *texts };
    const char *bytes[TEXTS];
    size_t lengths[TEXTS], all = 0;

    for (size_t i = 0; i < TEXTS; i++) {
        bytes[i] = probity_fleet_take_text(answer, &lengths[i]);
        all += lengths[i] + 1;
    }
    if (answer->is_bad)
        return PROBITY_ERROR_FORMAT;
    char *at = entry->texts = malloc(all);
    for (size_t i = 0; at != NULL && i < TEXTS; i++) {
        memcpy(at, bytes[i], lengths[i]);
        at[lengths[i]] = '\0';
        *texts[i] = at;
        at += lengths[i] + 1;
    }
    function->recorded_file = function->file;
    return at != NULL ? 0 : PROBITY_ERROR_MEMORY;
}

int probity_fleet_take_functions(struct probity_fleet_sums *sums,
                                 struct probity_fleet_answer *answer)
{
    int error = 0;

    while (error == 0 && !probity_fleet_answer_is_over(answer)) {
        struct function_entry *entry = calloc(1, sizeof *entry);
        if (entry == NULL)
            return PROBITY_ERROR_MEMORY;
        entry->number = probity_fleet_take_number(answer, 8);
        entry->is_declared = probity_fleet_take_number(answer, 1) != 0;
        error = take_texts(entry, answer);
        entry->function.line = (uint32_t)probity_fleet_take_number(answer, 4);
        entry->function.level = (uint32_t)probity_fleet_take_number(answer, 4);
        entry->function.name_bytes = error == 0 ? (uint32_t)strlen(entry->function.name) : 0;
        if (error != 0) {
            free(entry);
            return error;
        }
        error = add(&sums->functions, entry, probity_hash(entry->number));
    }
    return error == 0 && answer->is_bad ? PROBITY_ERROR_FORMAT : error;
}

static const struct function_entry *function_at(const struct probity_fleet_sums *sums,
                                                uint64_t number)
{
    const struct function_entry *entry =
        probity_hashtable_at(&sums->functions, probity_hash(number));

    while (entry != NULL && entry->number != number)
        entry = (const struct function_entry *)entry->link.next;
    return entry;
}

/* ---- Threads -----------------------------------------------------------------------------------
 */

static uint64_t thread_hash(uint64_t run, uint32_t thread)
{
    return probity_hash(run ^ thread * UINT64_C(0xc2b2ae3d27d4eb4f));
}

int probity_fleet_take_threads(struct probity_fleet_sums *sums, struct probity_fleet_answer *answer)
{
    int error = 0;

    while (error == 0 && !probity_fleet_answer_is_over(answer)) {
        size_t length;
        uint64_t run = probity_fleet_take_number(answer, 8);
        uint32_t thread = (uint32_t)probity_fleet_take_number(answer, 4);
        uint32_t tid = (uint32_t)probity_fleet_take_number(answer, 4);
        uint32_t pid = (uint32_t)probity_fleet_take_number(answer, 4);
        const char *name = probity_fleet_take_text(answer, &length);
        const struct run_entry *of = run_at(sums, run);
        if (answer->is_bad || of == NULL)
            return PROBITY_ERROR_FORMAT;
        struct thread_entry *entry = calloc(1, sizeof *entry);
        char *copy = length > 0 ? strndup(name, length) : NULL;
        if (entry != NULL)
            *entry = (struct thread_entry){
                .run = run, .label = {(uint32_t)of->index, thread, tid, pid, copy}, .name = copy};
        error = add(&sums->threads, entry, thread_hash(run, thread));
        if (error != 0)
            free(copy);
    }
    return error == 0 && answer->is_bad ? PROBITY_ERROR_FORMAT : error;
}

static const struct thread_entry *thread_at(const struct probity_fleet_sums *sums, uint64_t run,
                                            uint32_t thread)
{
    const struct thread_entry *entry =
        probity_hashtable_at(&sums->threads, thread_hash(run, thread));

    while (entry != NULL && (entry->run != run || entry->label.thread != thread))
        entry = (const struct thread_entry *)entry->link.next;
    return entry;
}

/* ---- Sums --------------------------------------------------------------------------------------
 */

int probity_fleet_take_histogram(struct probity_fleet_answer *answer,
                                 struct probity_histogram *durations)
{
    enum { BUCKETS = PROBITY_HISTOGRAM_PAGES * PROBITY_HISTOGRAM_PARTS };
    uint64_t count = probity_fleet_take_length(answer);
    const uint8_t *buckets = probity_fleet_take_bytes(answer, count <= BUCKETS ? 2 * count
                                                                               : UINT64_MAX);
    uint64_t counts = probity_fleet_take_length(answer);
    int error = 0;

    if (answer->is_bad || counts != count)
        return PROBITY_ERROR_FORMAT;
    for (uint64_t i = 0; error == 0 && i < count; i++) {
        uint16_t bucket;
        memcpy(&bucket, buckets + 2 * i, sizeof bucket);
        uint64_t calls = probity_fleet_take_number(answer, 8);
        if (answer->is_bad || bucket >= BUCKETS)
            return PROBITY_ERROR_FORMAT;
        uint64_t least = probity_histogram_step_least(PROBITY_HISTOGRAM_BITS, bucket);
        if (calls > 0)
            error = probity_histogram_add_times(durations, least, calls);
    }
    return error;
}

static void take_numbers(struct probity_fleet_answer *answer, struct probity_report_sums *sums)
{
    uint64_t *const numbers[] = {
        &sums->calls, &sums->untimed, &sums->repaired, &sums->open, &sums->entries, &sums->counted,
        &sums->profiled, &sums->total.wall_ns, &sums->total.cpu_ns, &sums->self.wall_ns,
        &sums->self.cpu_ns, &sums->paused.wall_ns, &sums->paused.cpu_ns, &sums->sum_ns};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = probity_fleet_take_number(answer, 8);
    sums->is_least = probity_fleet_take_number(answer, 1) != 0;
    sums->min_ns = probity_fleet_take_number(answer, 8);
    sums->max_ns = probity_fleet_take_number(answer, 8);
    sums->uncosted = sums->calls - sums->untimed;
    sums->has_no_elapsed = 1;
}

/* Adds a row. If sums are not by thread, the report needs one thread that represents all. */
static int add_row(struct probity_fleet_sums *sums, struct probity_fleet_answer *answer,
                   struct probity_report *const *reports, struct probity_report_row *row)
{
    static const struct probity_thread_label all;
    const struct function_entry *function = function_at(sums,
                                                        probity_fleet_take_number(answer, 8));
    uint64_t run = probity_fleet_take_number(answer, 8);
    uint32_t number = (uint32_t)probity_fleet_take_number(answer, 4);
    int is_of_run = sums->group == PROBITY_FLEET_OF_RUN;
    int is_of_thread = sums->group == PROBITY_FLEET_OF_THREAD;
    const struct run_entry *of = is_of_run ? run_at(sums, run) : NULL;
    const struct thread_entry *thread = is_of_thread ? thread_at(sums, run, number) : NULL;

    if (answer->is_bad || function == NULL || (is_of_run && of == NULL) ||
        (is_of_thread && thread == NULL))
        return PROBITY_ERROR_FORMAT;
    row->function = function->is_declared ? &function->function : NULL;
    row->number = function->is_declared ? 0 : function->function.line;
    row->thread = thread != NULL ? &thread->label : &all;
    take_numbers(answer, &row->sums);
    int error = probity_fleet_take_histogram(answer, &row->sums.durations);
    if (error == 0 && row->sums.durations.count > 0 && row->sums.min_ns > row->sums.max_ns)
        error = PROBITY_ERROR_FORMAT;
    return error == 0 ? probity_report_add_row(reports[of != NULL ? of->index : 0], row) : error;
}

int probity_fleet_take_sums(struct probity_fleet_sums *sums, struct probity_fleet_answer *answer,
                            struct probity_report *const *reports)
{
    int error = 0;

    while (error == 0 && !probity_fleet_answer_is_over(answer)) {
        struct probity_report_row row = {.function = NULL};
        error = add_row(sums, answer, reports, &row);
        probity_histogram_release(&row.sums.durations);
    }
    return error == 0 && answer->is_bad ? PROBITY_ERROR_FORMAT : error;
}

int probity_fleet_take_repairs(struct probity_fleet_answer *answer,
                               struct probity_scopes_repairs *ret_repairs)
{
    struct probity_scopes_repairs repairs = {0};
    uint64_t repaired = probity_fleet_take_number(answer, 8);

    repairs.open = probity_fleet_take_number(answer, 8);
    repairs.unwound = repaired - repairs.open;
    if (answer->is_bad || answer->at != answer->end || repaired < repairs.open)
        return PROBITY_ERROR_FORMAT;
    *ret_repairs = repairs;
    return 0;
}

int probity_fleet_take_counts(const struct probity_fleet_sums *sums,
                              struct probity_fleet_answer *answer, uint64_t *ret_counts)
{
    while (!probity_fleet_answer_is_over(answer)) {
        const struct run_entry *of = run_at(sums, probity_fleet_take_number(answer, 8));
        uint64_t count = probity_fleet_take_number(answer, 8);
        if (answer->is_bad || of == NULL)
            return PROBITY_ERROR_FORMAT;
        ret_counts[of->index] = count;
    }
    return answer->is_bad ? PROBITY_ERROR_FORMAT : 0;
}

/* ---- Times of threads --------------------------------------------------------------------------
 */

int probity_fleet_take_spans(struct probity_fleet_sums *sums, struct probity_fleet_answer *answer,
                             struct probity_threads *threads)
{
    int error = 0;

    while (error == 0 && !probity_fleet_answer_is_over(answer)) {
        uint64_t run = probity_fleet_take_number(answer, 8);
        const struct thread_entry *entry =
            thread_at(sums, run, (uint32_t)probity_fleet_take_number(answer, 4));
        struct probity_threads_sums of = {.has_calls_only = 1};
        of.scopes = probity_fleet_take_number(answer, 8);
        of.first_ns = probity_fleet_take_number(answer, 8);
        of.last_ns = probity_fleet_take_number(answer, 8);
        of.inside_ns = probity_fleet_take_number(answer, 8);
        sums->paused_threads += probity_fleet_take_number(answer, 1) != 0;
        if (answer->is_bad || entry == NULL || of.first_ns > of.last_ns)
            return PROBITY_ERROR_FORMAT;
        error = probity_threads_add(threads, &entry->label, &of);
    }
    return error == 0 && answer->is_bad ? PROBITY_ERROR_FORMAT : error;
}

/* ---- For other answers -------------------------------------------------------------------------
 */

int probity_fleet_function_at(const struct probity_fleet_sums *sums, uint64_t number,
                              struct probity_function_key *ret_key)
{
    const struct function_entry *entry = function_at(sums, number);

    if (entry == NULL)
        return PROBITY_ERROR_FORMAT;
    *ret_key = (struct probity_function_key){
        entry->is_declared ? &entry->function : NULL, 0,
        entry->is_declared ? 0 : entry->function.line};
    return 0;
}

const struct probity_thread_label *probity_fleet_thread_at(const struct probity_fleet_sums *sums,
                                                           uint64_t run, uint32_t thread)
{
    const struct thread_entry *entry = thread_at(sums, run, thread);

    return entry != NULL ? &entry->label : NULL;
}

int probity_fleet_run_at(const struct probity_fleet_sums *sums, uint64_t run, size_t *ret_index)
{
    const struct run_entry *entry = run_at(sums, run);

    if (entry == NULL)
        return PROBITY_ERROR_FORMAT;
    *ret_index = entry->index;
    return 0;
}

/* ---- Selecting functions -----------------------------------------------------------------------
 */

int probity_fleet_sums_choose(struct probity_fleet_sums *sums,
                              int (*is_wanted)(void *context,
                                               const struct probity_function *function),
                              void *context, uint64_t **ret_numbers, size_t *ret_count)
{
    uint64_t *numbers = calloc(sums->functions.items + 1, sizeof *numbers);
    const struct function_entry *entry = NULL;
    size_t count = 0;

    if (numbers == NULL)
        return PROBITY_ERROR_MEMORY;
    while ((entry = probity_hashtable_next(&sums->functions, entry)) != NULL) {
        if (is_wanted(context, entry->is_declared ? &entry->function : NULL))
            numbers[count++] = entry->number;
    }
    *ret_numbers = numbers;
    *ret_count = count;
    return 0;
}

void probity_fleet_sums_release(struct probity_fleet_sums *sums)
{
    struct function_entry *function;
    struct thread_entry *thread;
    struct run_entry *run;

    while ((function = probity_hashtable_take(&sums->functions)) != NULL) {
        free(function->texts);
        free(function);
    }
    while ((thread = probity_hashtable_take(&sums->threads)) != NULL) {
        free(thread->name);
        free(thread);
    }
    while ((run = probity_hashtable_take(&sums->numbers)) != NULL)
        free(run);
}
