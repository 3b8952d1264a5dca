/* SPDX-License-Identifier: MIT
 *
 * why.c: follows the calls in question of all threads, with their waits and the paths below them,
 * and keeps the slowest.
 */
#include <stdlib.h>
#include <string.h>

#include "answers/why/why_internal.h"
#include "base/array_grow.h"
#include "base/hash.h"
#include "probity_typed.h"

enum { BEGINS = 1, ENDS = 2 };

/* A thread, and its state when it last began something that may be a wait. */
struct why_thread {
    struct why_unit *units[PROBITY_WHY_NESTED_MAX]; /* open, in order of their begin */
    size_t count;
    uint64_t marked_ns;
    struct probity_thread_split marked;
};

struct probity_why {
    struct probity_why_options options;
    struct probity_path *path;
    struct probity_scopes *scopes;
    struct probity_thread_states *states;
    struct why_thread *threads; /* by slot */
    uint32_t thread_count;
    struct why_unit *free;
    struct probity_same_functions groups; /* for calls */
    struct probity_why_group spans;
    struct probity_hashtable targets;
    struct probity_why_case **cases; /* slowest first */
    size_t case_count;
    int error; /* of a callback */
};

/* ---- What was waited for -----------------------------------------------------------------------
 */

/* NULL with *ret_error 0: there are too many. */
static const struct probity_why_target *target_at(struct probity_why *why,
                                                  const struct probity_wait_name *name,
                                                  int *ret_error)
{
    uint64_t hash = probity_hash_text(name->object ^ (uint64_t)name->what, name->text);
    struct probity_why_target *target = probity_hashtable_at(&why->targets, hash);

    while (target != NULL && (target->link.hash != hash || target->object != name->object ||
                              target->what != name->what || strcmp(target->name, name->text) != 0))
        target = (struct probity_why_target *)target->link.next;
    if (target != NULL || why->targets.items >= PROBITY_WHY_TARGETS_MAX)
        return target;
    target = calloc(1, sizeof *target);
    if (target == NULL || (target->name = strdup(name->text)) == NULL ||
        probity_hashtable_add(&why->targets, target, hash) != 0) {
        if (target != NULL)
            free(target->name);
        free(target);
        *ret_error = PROBITY_ERROR_MEMORY;
        return NULL;
    }
    target->what = name->what;
    target->object = name->object;
    return target;
}

static enum probity_why_part part_of(enum probity_wait_kind kind)
{
    static const enum probity_why_part parts[PROBITY_WAIT_KINDS] = {
        [PROBITY_WAIT_LOCK] = PROBITY_WHY_LOCK, [PROBITY_WAIT_SEMAPHORE] = PROBITY_WHY_LOCK,
        [PROBITY_WAIT_CONDITION] = PROBITY_WHY_CONDITION, [PROBITY_WAIT_IO] = PROBITY_WHY_IO,
        [PROBITY_WAIT_SLEEP] = PROBITY_WHY_SLEEP, [PROBITY_WAIT_THREADS] = PROBITY_WHY_PROCESS};

    return parts[kind];
}

/* The unit's entry for a target; the last one is for all that have none. */
static struct probity_why_wait *entry_of(struct why_unit *unit,
                                         const struct probity_why_target *target,
                                         enum probity_why_part part)
{
    size_t i = 0;

    while (i < unit->wait_count && i < PROBITY_WHY_WAITS_MAX &&
           (unit->waits[i].target != target || unit->waits[i].part != part))
        i++;
    if (i == unit->wait_count) {
        unit->wait_count++;
        unit->waits[i].target = i < PROBITY_WHY_WAITS_MAX ? target : NULL;
        unit->waits[i].part = part;
    }
    return &unit->waits[i];
}

static void set_culprit(struct probity_why_wait *entry, const struct probity_wait *wait)
{
    entry->doing = wait->doing;
    entry->culprit_slot = wait->waker_slot;
    entry->culprit_tid = 0;
    entry->culprit_doing = wait->waker_doing;
    if (wait->culprit < 0)
        return;
    const struct probity_wait_holder *holder = &wait->holders[wait->culprit];
    entry->culprit_slot = holder->thread_slot;
    entry->culprit_tid = holder->tid;
    entry->culprit_doing = (struct probity_past_doing){NULL, NULL};
}

/* What a wait consisted of, by the states of its thread. */
struct wait_states {
    uint64_t runnable_ns, blocked_ns, unknown_ns;
    int are_known;
};

static void add_wait(struct why_unit *unit, const struct probity_wait *wait,
                     const struct probity_why_target *target, const struct wait_states *states)
{
    enum probity_why_part part = part_of(wait->kind);
    uint64_t whole_ns = wait->to_ns - (wait->from_ns > unit->from_ns ? wait->from_ns
                                                                     : unit->from_ns);
    uint64_t ns = wait->waited_ns < whole_ns ? wait->waited_ns : whole_ns;

    if (states->are_known) {
        uint64_t apart = states->runnable_ns;
        ns = ns > apart ? ns - apart : 0;
        unit->blocked_ns += states->blocked_ns;
        unit->unknown_ns += states->unknown_ns;
    }
    if (ns == 0)
        return;
    struct probity_why_wait *entry = entry_of(unit, target, part);
    unit->parts[part] += ns;
    entry->ns += ns;
    entry->count++;
    if (ns < entry->longest_ns)
        return;
    entry->longest_ns = ns;
    set_culprit(entry, wait);
}

static struct wait_states states_of(const struct probity_why *why,
                                    const struct why_thread *thread,
                                    const struct probity_wait *wait)
{
    struct probity_thread_split now;

    if (thread->marked_ns != wait->from_ns ||
        !probity_thread_states_has(why->states, wait->thread_slot))
        return (struct wait_states){0};
    probity_thread_states_at(why->states, wait->thread_slot, wait->to_ns, &now);
    const struct probity_thread_split in = probity_thread_split_less(&now, &thread->marked);
    return (struct wait_states){in.ns[PROBITY_STATE_RUNNABLE], in.ns[PROBITY_STATE_BLOCKED],
                                in.ns[PROBITY_STATE_UNKNOWN], 1};
}

/* A wait of a thread has ended; its units have not. */
static int on_wait(void *context, const struct probity_wait *wait,
                   const struct probity_wait_name *name)
{
    struct probity_why *why = context;
    struct why_thread *thread =
        wait->thread_slot < why->thread_count ? &why->threads[wait->thread_slot] : NULL;
    int error = 0;

    if (thread == NULL || thread->count == 0 || wait->is_open)
        return 0;
    const struct probity_why_target *target = target_at(why, name, &error);
    const struct wait_states states = states_of(why, thread, wait);
    for (size_t i = 0; i < thread->count; i++) {
        if (thread->units[i]->from_ns < wait->to_ns)
            add_wait(thread->units[i], wait, target, &states);
    }
    return error;
}

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

/* Takes a part of what is left. */
static void take_part(uint64_t parts[PROBITY_WHY_PARTS], enum probity_why_part part, uint64_t ns,
                      uint64_t *left_ns)
{
    parts[part] = ns < *left_ns ? ns : *left_ns;
    *left_ns -= parts[part];
}

/* Divides the whole time of a unit; cpu_ns is what it used. */
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
    /* A checkpoint says only now that the call began. */
    unit->has_states = event->kind != PROBITY_EVENT_CHECKPOINT &&
                       probity_thread_states_has(why->states, unit->slot);
    probity_thread_states_at(why->states, unit->slot, event->wall_ns, &unit->states);
    thread->units[thread->count++] = unit;
}

static void remove_unit(struct probity_why *why, struct why_thread *thread, size_t index)
{
    struct why_unit *unit = thread->units[index];

    why_unit_clear(unit);
    unit->next = why->free;
    why->free = unit;
    thread->count--;
    memmove(thread->units + index, thread->units + index + 1,
            (thread->count - index) * sizeof(struct why_unit *));
}

static struct probity_why_group *group_of(struct probity_why *why,
                                          const struct probity_scope *scope)
{
    const struct probity_function_key key = {scope->function, scope->trace, scope->number};
    struct probity_why_group *group =
        (struct probity_why_group *)probity_same_function_at(&why->groups, &key);

    if (group == NULL || (group->node_count == 0 && why_group_begin(group, &key) != 0))
        return NULL;
    return group;
}

static int is_in_range(const struct probity_why *why, uint64_t ns)
{
    return ns >= why->options.from_ns && (why->options.to_ns == 0 || ns < why->options.to_ns);
}

static void on_opened(void *context, struct probity_scope *scope,
                      const struct probity_event *event)
{
    struct probity_why *why = context;
    const struct probity_why_options *options = &why->options;
    struct why_thread *thread = &why->threads[event->thread_slot];

    for (size_t i = 0; i < thread->count && why->error == 0; i++)
        why->error = why_unit_enter(thread->units[i], scope);
    if (why->error != 0 || options->is_like == NULL || scope->function == NULL ||
        scope->recursion > 0 || scope->is_untimed || !is_in_range(why, scope->enter_wall_ns) ||
        !options->is_like(options->context, scope->function))
        return;
    struct probity_why_group *group = group_of(why, scope);
    if (group == NULL)
        why->error = PROBITY_ERROR_MEMORY;
    else
        begin_unit(why, event, group, scope);
}

static void on_closed(void *context, const struct probity_scope *scope, enum probity_scope_end how,
                      uint32_t thread_slot, const struct probity_event *event)
{
    struct probity_why *why = context;
    struct why_thread *thread =
        thread_slot < why->thread_count ? &why->threads[thread_slot] : NULL;

    for (size_t i = thread != NULL ? thread->count : 0; i > 0 && why->error == 0; i--) {
        struct why_unit *unit = thread->units[i - 1];
        if (!unit->is_call || unit->depth > 0) {
            why->error = why_unit_leave(unit, scope);
            continue;
        }
        unit->has_cpu = event != NULL && event->cpu_known;
        if (probity_scope_end_is_recorded(how))
            why->error = count_unit(why, unit, unit->from_ns + scope->elapsed.wall_ns,
                                    scope->elapsed.cpu_ns);
        remove_unit(why, thread, i - 1);
    }
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

/* A record after which the thread may wait. */
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

int probity_why_put(struct probity_why *why, const struct probity_event *event)
{
    const struct probity_scopes_listener listener = {on_opened, on_closed, why};
    int error = probity_thread_states_put(why->states, event);

    if (error != 0 || event->kind == PROBITY_EVENT_THREAD_STATE)
        return error;
    error = know_thread(why, event->thread_slot);
    if (error == 0)
        error = probity_path_put(why->path, event);
    if (error == 0)
        error = probity_scopes_put(why->scopes, event, &listener);
    if (error == 0)
        error = why->error;
    if (error == 0)
        mark_thread(why, event);
    return error == 0 ? put_marks(why, event) : error;
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

static int open_parts(struct probity_why *why)
{
    const struct probity_why_options *options = &why->options;
    const struct probity_path_options path = {
        .from_ns = options->from_ns, .to_ns = options->to_ns, .slowest = options->slowest,
        .at_ns = options->at_ns, .at_tid = options->at_tid, .marks = marks_of_path,
        .waited = on_wait, .is_threadwise = 1, .context = why, .symbols = options->symbols};
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
