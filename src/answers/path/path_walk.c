/* SPDX-License-Identifier: MIT
 *
 * path_walk.c: goes back from the end of a span. Each step covers time that no other step covers,
 * so the parts sum to the span. How a thread spent its own time is taken from the scheduler's
 * states if they were recorded, otherwise from the CPU time between successive records.
 */
#include <stdlib.h>
#include <string.h>

#include "answers/path/path_internal.h"
#include "base/array_grow.h"
#include "probity.h"

/* Shorter times off the CPU are not recorded (doc/trace-format.md, "CPU time"), so they are
 * rounding errors. */
enum { OFF_NS_LEAST = 100 };

struct walk {
    struct probity_path *path;
    struct probity_path_span *span;
    int error;
};

/* A stretch [from, to) of one thread, with the wait that led there, at this depth. */
struct leg {
    uint32_t slot;
    uint64_t from_ns, to_ns;
    const struct probity_path_link *link;
    unsigned depth;
    /* Used if no scope is open: the function that took the lock. NULL: unknown. */
    const struct probity_function *function;
};

static void walk_leg(struct walk *walk, const struct leg *leg);

/* Adds a part before those found so far, or merges it with the next one if they are alike. */
static void add_part(struct walk *walk, const struct leg *leg, uint64_t from_ns, uint64_t to_ns,
                     enum probity_path_state state, const struct probity_past_doing *recorded)
{
    struct probity_path_span *span = walk->span;
    const struct probity_function *held_in = state != PROBITY_PATH_UNKNOWN ? leg->function : NULL;
    const struct probity_past_doing doing = {
        recorded->function != NULL ? recorded->function : held_in, recorded->call};
    struct probity_path_part *last =
        span->part_count > 0 ? &span->parts[span->part_count - 1] : NULL;

    if (from_ns >= to_ns || walk->error != 0)
        return;
    int is_alike = last != NULL && last->state == state && last->thread_slot == leg->slot &&
                   last->link == leg->link && last->doing.function == doing.function &&
                   last->doing.call == doing.call;
    if (is_alike || span->part_count == PROBITY_PATH_PARTS_MAX) {
        if (!is_alike)
            last->state = PROBITY_PATH_UNKNOWN;
        last->from_ns = from_ns;
        last->ns += to_ns - from_ns;
        return;
    }
    struct probity_path_part *parts = probity_array_room(span->parts, sizeof *parts,
                                                         span->part_count, &span->part_capacity);
    if (parts == NULL) {
        walk->error = PROBITY_ERROR_MEMORY;
        return;
    }
    span->parts = parts;
    parts[span->part_count++] = (struct probity_path_part){
        from_ns, to_ns - from_ns, state, leg->slot, leg->slot, doing, leg->link};
}

/* Whether there are too many parts. If so, all earlier time becomes one part, no matter how it was
 * spent. */
static int is_full(const struct walk *walk)
{
    return walk->span->part_count >= PROBITY_PATH_PARTS_MAX ||
           walk->span->link_count >= PROBITY_PATH_PARTS_MAX;
}

static void add_rest(struct walk *walk, const struct leg *leg, uint64_t from_ns, uint64_t to_ns)
{
    const struct probity_past_doing nothing = {NULL, NULL};

    add_part(walk, leg, from_ns, to_ns, PROBITY_PATH_UNKNOWN, &nothing);
}

static const struct probity_path_link *add_link(struct walk *walk, const struct leg *leg,
                                                enum probity_wait_what what, const char *text,
                                                uint64_t object)
{
    struct probity_path_span *span = walk->span;
    struct probity_path_link **links = probity_array_room(span->links, sizeof *links,
                                                          span->link_count, &span->link_capacity);
    struct probity_path_link *link = links != NULL ? malloc(sizeof *link) : NULL;
    char *name = link != NULL ? strdup(text) : NULL;

    if (links != NULL)
        span->links = links;
    if (name == NULL) {
        free(link);
        walk->error = PROBITY_ERROR_MEMORY;
        return NULL;
    }
    *link = (struct probity_path_link){leg->slot, what, name, object, leg->link};
    links[span->link_count++] = link;
    return link;
}

/* ---- A thread's own time -----------------------------------------------------------------------
 */

/* Time of a thread. off: its state if the scheduler's states are unknown: WAIT, WAKE_UP, or OFF,
 * which is split by CPU time. doing: what it did all the time; NULL: as recorded for each
 * stretch. */
struct own_time {
    uint64_t from_ns, to_ns;
    enum probity_path_state off;
    const struct probity_past_doing *doing;
};

/* The thread ran for the CPU time of each stretch. When it was off the CPU within the stretch is
 * unknown, so that time is shown at the beginning. */
static void walk_stretches(struct walk *walk, const struct leg *leg, const struct own_time *time)
{
    const struct probity_past_doing nothing = {NULL, NULL};
    struct probity_past_stretch stretch;
    uint64_t to_ns = time->to_ns;

    while (time->from_ns < to_ns &&
           probity_past_before(probity_waits_past(walk->path->waits), leg->slot, time->from_ns,
                               to_ns, &stretch)) {
        uint64_t ran_ns = stretch.is_cpu_known ? stretch.cpu_ns : 0;
        if (stretch.is_cpu_known && to_ns - stretch.from_ns - ran_ns < OFF_NS_LEAST)
            ran_ns = to_ns - stretch.from_ns;
        add_part(walk, leg, to_ns - ran_ns, to_ns, PROBITY_PATH_RUNNING, &stretch.doing);
        add_part(walk, leg, stretch.from_ns, to_ns - ran_ns,
                 stretch.is_cpu_known || time->off == PROBITY_PATH_WAIT ? time->off
                                                                        : PROBITY_PATH_UNKNOWN,
                 &stretch.doing);
        to_ns = stretch.from_ns;
    }
    add_part(walk, leg, time->from_ns, to_ns, PROBITY_PATH_UNKNOWN, &nothing);
}

/* Adds time in which the thread was in one state. */
static void walk_state(struct walk *walk, const struct leg *leg, const struct own_time *time,
                       enum probity_path_state state)
{
    const struct probity_past_doing nothing = {NULL, NULL};
    struct probity_past_stretch stretch;
    uint64_t to_ns = time->to_ns;

    while (time->doing == NULL && time->from_ns < to_ns &&
           probity_past_before(probity_waits_past(walk->path->waits), leg->slot, time->from_ns,
                               to_ns, &stretch)) {
        add_part(walk, leg, stretch.from_ns, to_ns, state, &stretch.doing);
        to_ns = stretch.from_ns;
    }
    add_part(walk, leg, time->from_ns, to_ns, state,
             time->doing != NULL ? time->doing : &nothing);
}

/* Moves to the thread that caused a wait. */
static void walk_cause(struct walk *walk, const struct leg *leg, uint32_t slot, uint64_t from_ns,
                       uint64_t to_ns, const struct probity_function *function)
{
    const struct leg over = {slot, from_ns, to_ns, leg->link, leg->depth + 1, function};

    walk_leg(walk, &over);
}

/* Returns the thread that woke this one at to_ns after it was blocked, or NO_THREAD if it is not a
 * thread of the trace. */
static uint32_t waker_at(const struct walk *walk, const struct leg *leg, uint64_t to_ns)
{
    struct probity_thread_period next;

    probity_thread_states_find(walk->path->states, leg->slot, to_ns, &next);
    if (next.from_ns != to_ns || next.state != PROBITY_STATE_RUNNABLE)
        return PROBITY_WAITS_NO_THREAD;
    return probity_waits_thread(walk->path->waits, leg->slot, next.waker);
}

/* Adds time in which the thread was blocked. If the thread was woken within that time, the path
 * moves to the waker. */
static void walk_block(struct walk *walk, const struct leg *leg, const struct own_time *time,
                       int is_end)
{
    uint32_t waker = is_end && time->off != PROBITY_PATH_WAKE_UP
                         ? waker_at(walk, leg, time->to_ns)
                         : PROBITY_WAITS_NO_THREAD;
    struct leg inner = *leg;

    if (waker == PROBITY_WAITS_NO_THREAD || waker == leg->slot ||
        leg->depth >= PROBITY_PATH_DEPTH_MAX) {
        walk_state(walk, leg, time, time->off == PROBITY_PATH_WAKE_UP ? PROBITY_PATH_WAKE_UP
                                                                      : PROBITY_PATH_BLOCKED);
        return;
    }
    if (leg->link == NULL || leg->link->thread_slot != leg->slot)
        inner.link = add_link(walk, leg, PROBITY_WAIT_WHATS, "", 0);
    if (walk->error == 0)
        walk_cause(walk, &inner, waker, time->from_ns, time->to_ns, NULL);
}

static void walk_unknown(struct walk *walk, const struct leg *leg, const struct own_time *time)
{
    if (time->doing != NULL)
        add_part(walk, leg, time->from_ns, time->to_ns, time->off, time->doing);
    else
        walk_stretches(walk, leg, time);
}

static void walk_own(struct walk *walk, const struct leg *leg, const struct own_time *time)
{
    struct own_time part = *time;
    struct probity_thread_period period;

    while (part.to_ns > time->from_ns && walk->error == 0 && !is_full(walk)) {
        probity_thread_states_find(walk->path->states, leg->slot, part.to_ns - 1, &period);
        part.from_ns = period.from_ns > time->from_ns ? period.from_ns : time->from_ns;
        if (period.state == PROBITY_STATE_RUNNING)
            walk_state(walk, leg, &part, PROBITY_PATH_RUNNING);
        else if (period.state == PROBITY_STATE_RUNNABLE)
            walk_state(walk, leg, &part, PROBITY_PATH_RUNNABLE);
        else if (period.state == PROBITY_STATE_BLOCKED)
            walk_block(walk, leg, &part, period.to_ns == part.to_ns);
        else
            walk_unknown(walk, leg, &part);
        part.to_ns = part.from_ns;
    }
    add_rest(walk, leg, time->from_ns, part.to_ns);
}

static void walk_time(struct walk *walk, const struct leg *leg, uint64_t from_ns, uint64_t to_ns,
                      enum probity_path_state off, const struct probity_past_doing *doing)
{
    walk_own(walk, leg, &(struct own_time){from_ns, to_ns, off, doing});
}

/* ---- Waits -------------------------------------------------------------------------------------
 */

/* Returns the function in which a holder took the lock, if known. */
static const struct probity_function *function_at(struct walk *walk,
                                                  const struct probity_wait_holder *holder)
{
    const struct probity_thread_label *thread =
        path_label(walk->path, holder->thread_slot);
    struct probity_past_doing doing = {NULL, NULL};

    if (thread != NULL && probity_wait_names_complete(&walk->path->names, thread->trace,
                                                      &holder->place, &doing) != 0)
        walk->error = PROBITY_ERROR_MEMORY;
    return doing.function;
}

static void walk_holders(struct walk *walk, const struct leg *inner, const struct path_wait *wait,
                         uint64_t from_ns, uint64_t to_ns)
{
    enum probity_path_state gap = PROBITY_PATH_WAKE_UP;

    for (size_t i = wait->holder_count; i > 0 && to_ns > from_ns; i--) {
        const struct probity_wait_holder *holder = &wait->holders[i - 1];
        uint64_t begin_ns = holder->from_ns > from_ns ? holder->from_ns : from_ns;
        uint64_t end_ns = holder->to_ns < to_ns ? holder->to_ns : to_ns;
        if (begin_ns >= end_ns || holder->thread_slot == PROBITY_WAITS_NO_THREAD)
            continue;
        walk_time(walk, inner, end_ns, to_ns, gap, &wait->doing);
        walk_cause(walk, inner, holder->thread_slot, begin_ns, end_ns,
                   function_at(walk, holder));
        to_ns = begin_ns;
        gap = PROBITY_PATH_WAIT;
    }
    walk_time(walk, inner, from_ns, to_ns, PROBITY_PATH_WAIT, &wait->doing);
}

static void walk_wait(struct walk *walk, const struct leg *leg, const struct path_wait *wait,
                      uint64_t from_ns, uint64_t to_ns)
{
    const struct probity_path_link *link =
        add_link(walk, leg, wait->what, wait->name, wait->object);
    const struct leg inner = {leg->slot, from_ns, to_ns, link, leg->depth, leg->function};

    if (link == NULL)
        return;
    if (wait->kind == PROBITY_WAIT_IO || wait->kind == PROBITY_WAIT_SLEEP ||
        wait->kind == PROBITY_WAIT_THREADS) {
        walk_time(walk, &inner, from_ns, to_ns, PROBITY_PATH_WAIT, NULL);
    } else if (leg->depth >= PROBITY_PATH_DEPTH_MAX) {
        walk_time(walk, &inner, from_ns, to_ns, PROBITY_PATH_WAIT, &wait->doing);
    } else if (wait->holder_count > 0) {
        walk_holders(walk, &inner, wait, from_ns, to_ns);
    } else if (wait->waker_slot != PROBITY_WAITS_NO_THREAD && wait->waker_ns > from_ns) {
        uint64_t woken_ns = wait->waker_ns < to_ns ? wait->waker_ns : to_ns;
        walk_time(walk, &inner, woken_ns, to_ns, PROBITY_PATH_WAKE_UP, &wait->doing);
        walk_cause(walk, &inner, wait->waker_slot, from_ns, woken_ns, NULL);
    } else {
        walk_time(walk, &inner, from_ns, to_ns, PROBITY_PATH_WAIT, &wait->doing);
    }
}

/* Finds a thread's wait that began before a time and has not ended yet, and copies it to
 * `ret_wait`. */
static int open_wait_of(struct probity_path *path, uint32_t slot, uint64_t before_ns,
                        struct path_wait *ret_wait, char name[PROBITY_WAIT_NAME_BYTES])
{
    struct probity_wait wait;

    if (!probity_waits_open_wait(path->waits, slot, before_ns, &wait))
        return 0;
    (void)probity_wait_names_complete_wait(&path->names, wait.object->trace, &wait);
    struct probity_wait_name of = probity_wait_names_of(&path->names, wait.object->trace, &wait);
    strncpy(name, of.text, PROBITY_WAIT_NAME_BYTES - 1);
    *ret_wait = (struct path_wait){wait.kind, of.what, name, of.object, wait.from_ns, wait.to_ns,
                                   wait.doing, wait.waker_slot, wait.waker_ns, NULL, 0};
    return 1;
}

/* Returns the latest wait of a thread that overlaps [from, to), of those that have ended. */
static const struct path_wait *latest_wait(const struct probity_path *path, uint32_t slot,
                                           uint64_t from_ns, uint64_t to_ns)
{
    const struct path_thread *thread =
        slot < path->thread_count ? &path->of_threads[slot] : NULL;
    size_t low, high;

    if (thread == NULL || thread->count == thread->first)
        return NULL;
    /* Finds the waits that begin before to_ns. */
    for (low = thread->first, high = thread->count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (thread->waits[middle].from_ns < to_ns)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == thread->first || thread->waits[low - 1].to_ns <= from_ns)
        return NULL;
    return &thread->waits[low - 1];
}

static void walk_leg(struct walk *walk, const struct leg *leg)
{
    char name[PROBITY_WAIT_NAME_BYTES] = "";
    struct path_wait open;
    uint64_t to_ns = leg->to_ns;

    if (!is_full(walk) && open_wait_of(walk->path, leg->slot, to_ns, &open, name)) {
        uint64_t begin_ns = open.from_ns > leg->from_ns ? open.from_ns : leg->from_ns;
        walk_wait(walk, leg, &open, begin_ns, to_ns);
        to_ns = begin_ns;
    }
    while (to_ns > leg->from_ns && walk->error == 0 && !is_full(walk)) {
        const struct path_wait *wait = latest_wait(walk->path, leg->slot, leg->from_ns, to_ns);
        uint64_t end_ns = wait == NULL ? leg->from_ns : wait->to_ns < to_ns ? wait->to_ns : to_ns;
        walk_time(walk, leg, end_ns, to_ns, PROBITY_PATH_OFF, NULL);
        if (wait == NULL)
            return;
        uint64_t begin_ns = wait->from_ns > leg->from_ns ? wait->from_ns : leg->from_ns;
        walk_wait(walk, leg, wait, begin_ns, end_ns);
        to_ns = begin_ns;
    }
    add_rest(walk, leg, leg->from_ns, to_ns);
}

/* Sums the parts by state of their threads. */
static void sum_states(struct probity_path_span *span)
{
    static const enum probity_sched_state states[PROBITY_PATH_STATES] = {
        [PROBITY_PATH_RUNNING] = PROBITY_STATE_RUNNING,
        [PROBITY_PATH_RUNNABLE] = PROBITY_STATE_RUNNABLE,
        [PROBITY_PATH_BLOCKED] = PROBITY_STATE_BLOCKED,
        [PROBITY_PATH_WAKE_UP] = PROBITY_STATE_BLOCKED};

    for (size_t i = 0; i < span->part_count; i++)
        span->split.ns[states[span->parts[i].state]] += span->parts[i].ns;
}

static void reverse(struct probity_path_span *span)
{
    for (size_t i = 0, j = span->part_count; i + 1 < j; i++) {
        struct probity_path_part part = span->parts[i];
        span->parts[i] = span->parts[--j];
        span->parts[j] = part;
    }
}

/* Adds the time between two traces. A wire is never the first hop. */
static void walk_wire(struct walk *walk, const struct leg *leg, uint32_t from_slot)
{
    const struct probity_past_doing nothing = {NULL, NULL};
    struct probity_path_span *span = walk->span;
    size_t before = span->part_count;

    add_part(walk, leg, leg->from_ns, leg->to_ns, PROBITY_PATH_WIRE, &nothing);
    if (span->part_count > before)
        span->parts[before].from_slot = from_slot;
}

int path_walk(struct probity_path *path, const struct path_open *open,
              struct probity_path_span *span)
{
    struct walk walk = {path, span, 0};
    uint64_t to_ns = span->to_ns;

    /* The time between the last hit of a request in one thread and its first in the next belongs to
     * the second thread, which was busy with other requests or waited. */
    for (size_t i = open->hop_count; i > 0; i--) {
        const struct leg leg = {open->slots[i - 1], open->since_ns[i - 1], to_ns, NULL, 0, NULL};
        if (open->is_wire[i - 1] && leg.from_ns < to_ns)
            walk_wire(&walk, &leg, open->slots[i - 2]);
        else if (leg.from_ns < to_ns)
            walk_leg(&walk, &leg);
        to_ns = leg.from_ns < to_ns ? leg.from_ns : to_ns;
    }
    reverse(span);
    span->has_states = probity_thread_states_has(path->states, span->thread_slot);
    sum_states(span);
    return walk.error;
}
