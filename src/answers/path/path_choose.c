/* SPDX-License-Identifier: MIT
 *
 * path_choose.c: keeps a stack of the open calls of each thread that may be among the slowest, and
 * the slowest calls that have ended. The order, and which of equally slow calls is kept, are the
 * same as in path.c.
 */
#include "answers/path/path_choose.h"

#include <stdlib.h>

#include "answers/path/path_internal.h"
#include "base/array_grow.h"
#include "base/assert.h"
#include "probity.h"

enum { BEGINS = 1, ENDS = 2 };

struct open_call {
    uint64_t since_ns;
    int is_forgotten; /* sites were switched: its end does not count */
};

struct choice_thread {
    struct open_call *calls; /* outermost first */
    size_t count, capacity;
    uint32_t trace;
};

struct chosen_call {
    uint64_t from_ns, ns;
};

struct probity_path_choice {
    struct probity_path_options options;
    struct choice_thread *threads; /* by slot */
    uint32_t thread_count;
    uint64_t now_ns, open, pending;
    int is_beyond; /* too many calls were open at a time */
    struct chosen_call chosen[PROBITY_PATH_CHOICE_MAX]; /* slowest first */
    size_t chosen_count;
};

static int is_in_range(const struct probity_path_choice *choice, const struct open_call *call)
{
    const struct probity_path_options *options = &choice->options;

    return call->since_ns >= options->from_ns &&
           (options->to_ns == 0 || call->since_ns < options->to_ns);
}

static struct choice_thread *thread_at(struct probity_path_choice *choice, uint32_t slot)
{
    if (slot >= choice->thread_count) {
        void *grown = probity_array_grow(choice->threads, sizeof *choice->threads, slot,
                                         &choice->thread_count);
        if (grown == NULL)
            return NULL;
        choice->threads = grown;
    }
    return &choice->threads[slot];
}

static int begin_call(struct probity_path_choice *choice, const struct probity_event *event)
{
    struct choice_thread *thread = thread_at(choice, event->thread_slot);
    struct open_call *calls = thread != NULL
                                  ? probity_array_room(thread->calls, sizeof *calls,
                                                       thread->count, &thread->capacity)
                                  : NULL;

    if (calls == NULL)
        return PROBITY_ERROR_MEMORY;
    thread->calls = calls;
    thread->trace = event->trace;
    calls[thread->count] = (struct open_call){choice->now_ns, 0};
    choice->pending += (uint64_t)is_in_range(choice, &calls[thread->count++]);
    if (++choice->open > PATH_OPEN_MAX)
        choice->is_beyond = 1;
    return 0;
}

static void keep_call(struct probity_path_choice *choice, uint64_t from_ns, uint64_t ns)
{
    struct chosen_call *chosen = choice->chosen;
    size_t at = choice->chosen_count;

    probity_assert(choice->options.slowest <= PROBITY_PATH_CHOICE_MAX);
    if (at == choice->options.slowest && chosen[--at].ns >= ns)
        return;
    choice->chosen_count += at == choice->chosen_count;
    for (; at > 0 && chosen[at - 1].ns < ns; at--)
        chosen[at] = chosen[at - 1];
    chosen[at] = (struct chosen_call){from_ns, ns};
}

static void end_call(struct probity_path_choice *choice, const struct probity_event *event)
{
    const struct probity_path_options *options = &choice->options;
    struct choice_thread *thread = event->thread_slot < choice->thread_count
                                       ? &choice->threads[event->thread_slot] : NULL;

    if (thread == NULL || thread->count == 0)
        return;
    const struct open_call *call = &thread->calls[--thread->count];
    choice->open--;
    if (call->is_forgotten || !is_in_range(choice, call))
        return;
    choice->pending--;
    if (options->is_wanted == NULL || options->is_wanted(options->context, event->tid))
        keep_call(choice, call->since_ns, choice->now_ns - call->since_ns);
}

/* Excludes the calls that are open now: they may lack records. */
static void forget_all(struct probity_path_choice *choice, uint32_t trace)
{
    for (uint32_t slot = 0; slot < choice->thread_count; slot++) {
        struct choice_thread *thread = &choice->threads[slot];
        for (size_t i = 0; thread->trace == trace && i < thread->count; i++) {
            struct open_call *call = &thread->calls[i];
            choice->pending -= (uint64_t)(!call->is_forgotten && is_in_range(choice, call));
            call->is_forgotten = 1;
        }
    }
}

int probity_path_choice_put(struct probity_path_choice *choice, const struct probity_event *event)
{
    const struct probity_path_options *options = &choice->options;

    if (event->wall_ns > choice->now_ns)
        choice->now_ns = event->wall_ns;
    if (event->kind == PROBITY_EVENT_SITES_SWITCHED)
        forget_all(choice, event->trace);
    unsigned marks = options->marks(options->context, event);
    if (marks & ENDS)
        end_call(choice, event);
    return marks & BEGINS ? begin_call(choice, event) : 0;
}

uint64_t probity_path_choice_pending(const struct probity_path_choice *choice)
{
    return choice->pending;
}

void probity_path_choice_range(const struct probity_path_choice *choice, uint64_t *ret_from_ns,
                               uint64_t *ret_to_ns)
{
    uint64_t from_ns = UINT64_MAX, last_ns = 0;

    *ret_from_ns = choice->options.from_ns;
    *ret_to_ns = choice->options.to_ns;
    if (choice->is_beyond)
        return;
    for (size_t i = 0; i < choice->chosen_count; i++) {
        uint64_t ns = choice->chosen[i].from_ns;
        from_ns = ns < from_ns ? ns : from_ns;
        last_ns = ns > last_ns ? ns : last_ns;
    }
    if (choice->chosen_count > 0)
        *ret_from_ns = from_ns;
    *ret_to_ns = (choice->chosen_count > 0 ? last_ns : *ret_from_ns) + 1;
}

int probity_path_choice_open(const struct probity_path_options *options,
                             struct probity_path_choice **ret_choice)
{
    struct probity_path_choice *choice = calloc(1, sizeof *choice);

    if (choice == NULL)
        return PROBITY_ERROR_MEMORY;
    choice->options = *options;
    *ret_choice = choice;
    return 0;
}

void probity_path_choice_close(struct probity_path_choice *choice)
{
    for (uint32_t slot = 0; slot < choice->thread_count; slot++)
        free(choice->threads[slot].calls);
    free(choice->threads);
    free(choice);
}
