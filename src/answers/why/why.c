/* SPDX-License-Identifier: MIT
 *
 * why.c: follows the candidate calls of all threads, with their waits and the paths below them, and
 * keeps the slowest.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/scopes_run.h"
#include "answers/why/why_internal.h"
#include "base/array_grow.h"
#include "probity_typed.h"

enum { BEGINS = 1, ENDS = 2 };

/* ---- Calls that have ended ---------------------------------------------------------------------
 */

static void free_case(struct probity_why_case *of)
{
    if (of != NULL)
        free(of->values);
    free(of);
}

static uint64_t length_of(const struct probity_why_case *of)
{
    return of->to_ns - of->from_ns;
}

static int is_kept(const struct probity_why *why, const struct why_unit *unit, uint64_t to_ns)
{
    const struct probity_why_options *options = &why->options;

    if (options->at_ns != 0 &&
        (options->at_ns < unit->from_ns || options->at_ns > to_ns ||
         (options->at_tid != 0 && options->at_tid != unit->tid)))
        return 0;
    if (options->is_wanted != NULL && !options->is_wanted(options->context, unit->tid))
        return 0;
    return why->case_count < options->slowest ||
           length_of(why->cases[why->case_count - 1]) < to_ns - unit->from_ns;
}

static void sort_waits(struct probity_why_wait *waits, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct probity_why_wait wait = waits[i];
        size_t at = i;
        for (; at > 0 && waits[at - 1].ns < wait.ns; at--)
            waits[at] = waits[at - 1];
        waits[at] = wait;
    }
}

static struct probity_why_case *copy_case(const struct why_unit *unit, uint64_t to_ns,
                                          const uint64_t parts[PROBITY_WHY_PARTS])
{
    struct probity_why_case *of = calloc(1, sizeof *of);

    if (of == NULL || (of->values = calloc(unit->value_count + 1, sizeof *of->values)) == NULL) {
        free_case(of);
        return NULL;
    }
    of->group = unit->group;
    of->from_ns = unit->from_ns;
    of->to_ns = to_ns;
    of->thread_slot = unit->slot;
    of->has_cpu = unit->has_cpu;
    of->has_states = unit->has_states;
    memcpy(of->parts, parts, sizeof of->parts);
    memcpy(of->waits, unit->waits, sizeof of->waits);
    of->wait_count = unit->wait_count;
    sort_waits(of->waits, of->wait_count);
    of->value_count = unit->value_count;
    if (unit->value_count > 0)
        memcpy(of->values, unit->values, unit->value_count * sizeof *of->values);
    return of;
}

static int keep_case(struct probity_why *why, struct probity_why_case *of)
{
    size_t at = why->case_count;

    if (of == NULL)
        return PROBITY_ERROR_MEMORY;
    if (at == why->options.slowest)
        free_case(why->cases[--at]);
    for (; at > 0 && length_of(why->cases[at - 1]) < length_of(of); at--)
        why->cases[at] = why->cases[at - 1];
    why->cases[at] = of;
    why->case_count += why->case_count < why->options.slowest;
    return 0;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* Moves ns of the time that is left, or as much as there is, to a part. */
static void take_part(uint64_t parts[PROBITY_WHY_PARTS], enum probity_why_part part, uint64_t ns,
                      uint64_t *left_ns)
{
    parts[part] = ns < *left_ns ? ns : *left_ns;
    *left_ns -= parts[part];
}

/* Divides the whole time of a unit into parts; cpu_ns is its CPU time. */
static void divide(const struct probity_why *why, const struct why_unit *unit, uint64_t to_ns,
                   uint64_t cpu_ns, uint64_t parts[PROBITY_WHY_PARTS])
{
    uint64_t left_ns = to_ns - unit->from_ns;
    struct probity_thread_split now;

    memset(parts, 0, PROBITY_WHY_PARTS * sizeof *parts);
    for (int part = PROBITY_WHY_LOCK; part <= PROBITY_WHY_PROCESS; part++)
        take_part(parts, (enum probity_why_part)part, unit->parts[part], &left_ns);
    if (unit->has_states) {
        probity_thread_states_at(why->states, unit->slot, to_ns, &now);
        const struct probity_thread_split in = probity_thread_split_less(&now, &unit->states);
        take_part(parts, PROBITY_WHY_RUNNABLE, in.ns[PROBITY_STATE_RUNNABLE], &left_ns);
        take_part(parts, PROBITY_WHY_BLOCKED,
                  less(in.ns[PROBITY_STATE_BLOCKED], unit->blocked_ns), &left_ns);
        take_part(parts, PROBITY_WHY_UNKNOWN,
                  less(in.ns[PROBITY_STATE_UNKNOWN], unit->unknown_ns), &left_ns);
    } else if (unit->has_cpu) {
        take_part(parts, PROBITY_WHY_OFF, less(left_ns, cpu_ns), &left_ns);
    }
    take_part(parts, unit->has_cpu || unit->has_states ? PROBITY_WHY_RUNNING : PROBITY_WHY_UNKNOWN,
              left_ns, &left_ns);
}

static int count_unit(struct probity_why *why, struct why_unit *unit, uint64_t to_ns,
                      uint64_t cpu_ns)
{
    const struct probity_why_value whole = {1, to_ns - unit->from_ns, cpu_ns};
    struct probity_why_group *group = unit->group;
    uint64_t parts[PROBITY_WHY_PARTS];
    int error = why_unit_add(unit, 0, &whole);

    divide(why, unit, to_ns, cpu_ns, parts);
    if (error == 0)
        error = probity_duration_stats_add(&group->durations, whole.wall_ns);
    for (size_t part = 0; error == 0 && part < PROBITY_WHY_PARTS; part++) {
        if (parts[part] > 0)
            error = probity_histogram_add(&group->parts[part], parts[part]);
    }
    if (error == 0)
        error = why_unit_distribute(unit);
    if (error != 0 || !is_kept(why, unit, to_ns))
        return error;
    return keep_case(why, copy_case(unit, to_ns, parts));
}

/* ---- Calls that are open -----------------------------------------------------------------------
 */

static struct why_unit *new_unit(struct probity_why *why)
{
    struct why_unit *unit = why->free;

    if (unit == NULL)
        return calloc(1, sizeof *unit);
    why->free = unit->next;
    return unit;
}

static void begin_unit(struct probity_why *why, const struct probity_event *event,
                       struct probity_why_group *group, const struct probity_scope *scope)
{
    struct why_thread *thread = &why->threads[event->thread_slot];
    struct why_unit *unit = thread->count < PROBITY_WHY_NESTED_MAX ? new_unit(why) : NULL;

    if (thread->count == PROBITY_WHY_NESTED_MAX)
        return;
    if (unit == NULL) {
        why->error = PROBITY_ERROR_MEMORY;
        return;
    }
    unit->group = group;
    unit->slot = event->thread_slot;
    unit->tid = event->tid;
    unit->is_call = scope != NULL;
    unit->from_ns = scope != NULL ? scope->enter_wall_ns : event->wall_ns;
    unit->cpu_ns = event->cpu_ns;
    unit->has_cpu = event->cpu_known;
    /* A checkpoint is recorded later than the beginning of its call, so the states at that time are
     * unknown. */
    unit->has_states = event->kind != PROBITY_EVENT_CHECKPOINT &&
                       probity_thread_states_has(why->states, unit->slot);
    probity_thread_states_at(why->states, unit->slot, event->wall_ns, &unit->states);
    thread->units[thread->count++] = unit;
    why->pending++;
}

static void remove_unit(struct probity_why *why, struct why_thread *thread, size_t index)
{
    struct why_unit *unit = thread->units[index];

    why_unit_clear(unit);
    unit->next = why->free;
    why->free = unit;
    thread->count--;
    why->pending--;
    memmove(thread->units + index, thread->units + index + 1,
            (thread->count - index) * sizeof(struct why_unit *));
}

/* The scope stores the group, so that the group is looked up only once per function and thread. */
static struct probity_why_group *group_of(struct probity_why *why,
                                          const struct probity_scope *scope)
{
    const struct probity_function_key key = {scope->function, scope->trace, scope->number};
    struct probity_why_group *group = *scope->of_function;

    if (group != NULL)
        return group;
    group = (struct probity_why_group *)probity_same_function_at(&why->groups, &key);
    if (group == NULL || (group->node_count == 0 && why_group_begin(group, &key) != 0))
        return NULL;
    *scope->of_function = group;
    return group;
}

static int is_in_range(const struct probity_why *why, uint64_t ns)
{
    return ns >= why->options.from_ns && (why->options.to_ns == 0 || ns < why->options.to_ns);
}

/* Adds the scope to the thread's units. Returns whether it begins a unit itself. */
static inline int enter_units(struct probity_why *why, const struct probity_scope *scope,
                              uint32_t thread_slot)
{
    const struct probity_why_options *options = &why->options;
    struct why_thread *thread = &why->threads[thread_slot];

    for (size_t i = 0; i < thread->count && why->error == 0; i++)
        why->error = why_unit_enter(thread->units[i], scope);
    return why->error == 0 && options->is_like != NULL && scope->function != NULL &&
           scope->recursion == 0 && !scope->is_untimed && is_in_range(why, scope->enter_wall_ns) &&
           options->is_like(options->context, scope->function);
}

static void begin_call(struct probity_why *why, const struct probity_scope *scope,
                       const struct probity_event *event)
{
    struct probity_why_group *group = group_of(why, scope);

    if (group == NULL)
        why->error = PROBITY_ERROR_MEMORY;
    else
        begin_unit(why, event, group, scope);
}

static void on_opened(void *context, struct probity_scope *scope,
                      const struct probity_event *event)
{
    struct probity_why *why = context;

    if (enter_units(why, scope, event->thread_slot))
        begin_call(why, scope, event);
}

static inline void leave_units(struct probity_why *why, const struct probity_scope *scope,
                               enum probity_scope_end how, uint32_t thread_slot, int is_cpu_known)
{
    struct why_thread *thread =
        thread_slot < why->thread_count ? &why->threads[thread_slot] : NULL;

    for (size_t i = thread != NULL ? thread->count : 0; i > 0 && why->error == 0; i--) {
        struct why_unit *unit = thread->units[i - 1];
        if (!unit->is_call || unit->depth > 0) {
            why->error = why_unit_leave(unit, scope);
            continue;
        }
        unit->has_cpu = is_cpu_known;
        if (probity_scope_end_is_recorded(how))
            why->error = count_unit(why, unit, unit->from_ns + scope->elapsed.wall_ns,
                                    scope->elapsed.cpu_ns);
        remove_unit(why, thread, i - 1);
    }
}

static void on_closed(void *context, const struct probity_scope *scope, enum probity_scope_end how,
                      uint32_t thread_slot, const struct probity_event *event)
{
    leave_units(context, scope, how, thread_slot, event != NULL && event->cpu_known);
}

static int put_marks(struct probity_why *why, const struct probity_event *event)
{
    struct why_thread *thread = &why->threads[event->thread_slot];
    unsigned marks = why->options.marks != NULL && event->kind == PROBITY_EVENT_HIT
                         ? why->options.marks(why->options.context, event) : 0;
    int error = 0;

    if (marks & ENDS && thread->count > 0) {
        struct why_unit *unit = thread->units[0];
        unit->has_cpu = unit->has_cpu && event->cpu_known;
        if (event->wall_ns >= unit->from_ns)
            error = count_unit(why, unit, event->wall_ns, less(event->cpu_ns, unit->cpu_ns));
        remove_unit(why, thread, 0);
    }
    if (marks & BEGINS && error == 0 && is_in_range(why, event->wall_ns)) {
        if (thread->count > 0) /* its end is missing */
            remove_unit(why, thread, 0);
        begin_unit(why, event, &why->spans, NULL);
    }
    return error != 0 ? error : why->error;
}

/* ---- Events ------------------------------------------------------------------------------------
 */

static int know_thread(struct probity_why *why, uint32_t slot)
{
    if (slot < why->thread_count)
        return 0;
    void *grown = probity_array_grow(why->threads, sizeof *why->threads, slot, &why->thread_count);
    if (grown == NULL)
        return PROBITY_ERROR_MEMORY;
    why->threads = grown;
    return 0;
}

/* Stores the state of the thread at a record after which it may wait. */
static void mark_thread(struct probity_why *why, const struct probity_event *event)
{
    struct why_thread *thread = &why->threads[event->thread_slot];

    if (thread->count == 0 || (event->kind != PROBITY_EVENT_ENTER &&
                               (event->kind != PROBITY_EVENT_HIT || event->role == 0)))
        return;
    if (event->kind == PROBITY_EVENT_HIT && event->role != PROBITY_ROLE_LOCK_WAIT &&
        event->role != PROBITY_ROLE_CONDITION_WAIT)
        return;
    thread->marked_ns = event->wall_ns;
    probity_thread_states_at(why->states, event->thread_slot, event->wall_ns, &thread->marked);
}

void probity_why_choose(struct probity_why *why, uint64_t at_ns)
{
    why->options.at_ns = at_ns;
    probity_path_choose(why->path, at_ns);
}

int probity_why_put(struct probity_why *why, const struct probity_event *event)
{
    const struct probity_scopes_listener listener = {on_opened, on_closed, why};
    int error = probity_thread_states_put(why->states, event);

    if (error != 0)
        return error;
    if (event->kind == PROBITY_EVENT_THREAD_STATE) {
        why->has_states = 1;
        return probity_path_put(why->path, event);
    }
    error = know_thread(why, event->thread_slot);
    if (error != 0)
        return error;
    error = why->options.has_no_waits ? probity_path_note_thread(why->path, event)
                                      : probity_path_put(why->path, event);
    if (error != 0)
        return error;
    error = probity_scopes_put(why->scopes, event, &listener);
    if (error != 0 || why->error != 0)
        return error != 0 ? error : why->error;
    mark_thread(why, event);
    return put_marks(why, event);
}

static inline void opened_in_run(void *context, struct probity_scope *scope,
                                 const struct probity_run *run, size_t at)
{
    if (enter_units(context, scope, run->event->thread_slot))
        begin_call(context, scope, probity_run_event_at(run, at));
}

static inline void left_in_run(void *context, const struct probity_scope *scope,
                               const struct probity_run *run, size_t at)
{
    (void)at;
    leave_units(context, scope, PROBITY_SCOPE_LEFT, run->event->thread_slot,
                run->event->cpu_known);
}

static int put_in_run(void *context, const struct probity_event *event)
{
    return probity_why_put(context, event);
}

/* Without waits, neither paths in other threads nor marks matter, so a run is taken as a whole. */
int probity_why_put_run(struct probity_why *why, const struct probity_run *run)
{
    const struct probity_scopes_run_steps steps = {
        {on_opened, on_closed, why}, opened_in_run, left_in_run, put_in_run};
    int error = 0;

    if (!why->options.has_no_waits) {
        for (size_t i = 0; error == 0 && i < run->count; i++)
            error = probity_why_put(why, probity_run_event_at(run, i));
        return error;
    }
    error = know_thread(why, run->event->thread_slot);
    if (error == 0)
        error = probity_path_note_thread(why->path, probity_run_event_at(run, 0));
    if (error == 0)
        error = probity_scopes_put_run(why->scopes, run, steps);
    return error != 0 ? error : why->error;
}

uint64_t probity_why_pending(const struct probity_why *why)
{
    return why->pending + probity_path_pending(why->path);
}

const struct probity_why_case *const *probity_why_cases(const struct probity_why *why,
                                                        size_t *ret_count)
{
    *ret_count = why->case_count;
    return (const struct probity_why_case *const *)why->cases;
}

const struct probity_path_span *probity_why_path(const struct probity_why *why,
                                                 const struct probity_why_case *of)
{
    size_t count;
    const struct probity_path_span *const *spans = probity_path_spans(why->path, &count);

    for (size_t i = 0; i < count; i++) {
        if (spans[i]->thread_slot == of->thread_slot && spans[i]->from_ns == of->from_ns)
            return spans[i];
    }
    return NULL;
}

const struct probity_path *probity_why_paths(const struct probity_why *why)
{
    return why->path;
}

const struct probity_scopes_repairs *probity_why_repairs(const struct probity_why *why)
{
    return why->options.has_no_waits ? probity_scopes_repairs(why->scopes)
                                     : probity_path_repairs(why->path);
}

/* Only those parts of a path are shown that are in other threads. Without waits, there are none,
 * whether or not records were evicted. */
struct probity_waits_facts probity_why_facts(const struct probity_why *why)
{
    struct probity_waits_facts facts = probity_path_facts(why->path);

    if (facts.waits == 0 && !why->has_states)
        facts.points_forgotten = 0;
    return facts;
}

/* ---- Open and close ----------------------------------------------------------------------------
 */

static unsigned marks_of_path(void *context, const struct probity_event *event)
{
    const struct probity_why *why = context;
    const struct probity_why_options *options = &why->options;

    if (options->is_like == NULL)
        return event->kind == PROBITY_EVENT_HIT ? options->marks(options->context, event) : 0;
    if ((event->kind != PROBITY_EVENT_ENTER && event->kind != PROBITY_EVENT_LEAVE) ||
        event->function == NULL || !options->is_like(options->context, event->function))
        return 0;
    return event->kind == PROBITY_EVENT_ENTER ? BEGINS : ENDS;
}

static int is_wanted_path(void *context, uint32_t tid)
{
    const struct probity_why *why = context;

    return why->options.is_wanted(why->options.context, tid);
}

static int open_parts(struct probity_why *why)
{
    const struct probity_why_options *options = &why->options;
    const struct probity_path_options path = {
        .from_ns = options->from_ns, .to_ns = options->to_ns, .slowest = options->slowest,
        .at_ns = options->at_ns, .at_tid = options->at_tid, .marks = marks_of_path,
        .is_wanted = options->is_wanted != NULL ? is_wanted_path : NULL,
        .waited = why_take_wait, .is_threadwise = 1, .context = why, .symbols = options->symbols,
        .resumed = options->resumed};
    const struct probity_function_key none = {NULL, 0, 0};
    int error = probity_path_open(&path, &why->path);

    if (error == 0)
        error = probity_scopes_open(&why->scopes);
    if (error == 0)
        error = probity_thread_states_open(0, &why->states);
    if (error == 0)
        error = why_group_begin(&why->spans, &none);
    why->cases = error == 0 ? calloc(options->slowest, sizeof(struct probity_why_case *)) : NULL;
    return error == 0 && why->cases == NULL ? PROBITY_ERROR_MEMORY : error;
}

int probity_why_open(const struct probity_why_options *options, struct probity_why **ret_why)
{
    struct probity_why *why = calloc(1, sizeof *why);

    if (why == NULL)
        return PROBITY_ERROR_MEMORY;
    why->options = *options;
    why->groups.item_bytes = sizeof(struct probity_why_group);
    int error = open_parts(why);
    if (error != 0)
        probity_why_close(why);
    else
        *ret_why = why;
    return error;
}

static void free_unit(struct why_unit *unit)
{
    free(unit->values);
    free(unit->touched);
    free(unit);
}

static void free_units(struct probity_why *why)
{
    struct why_unit *unit;

    for (uint32_t slot = 0; slot < why->thread_count; slot++) {
        while (why->threads[slot].count > 0)
            remove_unit(why, &why->threads[slot], 0);
    }
    while ((unit = why->free) != NULL) {
        why->free = unit->next;
        free_unit(unit);
    }
    free(why->threads);
}

static void free_groups(struct probity_why *why)
{
    for (struct probity_same_function *item = why->groups.items; item != NULL; item = item->next)
        why_group_release((struct probity_why_group *)item);
    probity_same_functions_release(&why->groups);
    why_group_release(&why->spans);
}

void probity_why_close(struct probity_why *why)
{
    struct probity_why_target *target;

    for (size_t i = 0; i < why->case_count; i++)
        free_case(why->cases[i]);
    free(why->cases);
    free_units(why);
    free_groups(why);
    while ((target = probity_hashtable_take(&why->targets)) != NULL) {
        free(target->name);
        free(target);
    }
    if (why->path != NULL)
        probity_path_close(why->path);
    if (why->scopes != NULL)
        probity_scopes_close(why->scopes);
    if (why->states != NULL)
        probity_thread_states_close(why->states);
    free(why);
}
