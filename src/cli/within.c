/* SPDX-License-Identifier: MIT
 *
 * within.c: follows the calls of each thread, and counts the open ones that match. Events are
 * wanted while any is open. Used by the thread that takes the reader's events.
 */
#include "cli/within.h"

#include <stdlib.h>

#include "analysis/scopes.h"
#include "base/array_grow.h"
#include "base/bytes.h"

struct of_thread {
    uint32_t open;  /* calls that match */
    uint32_t above; /* open calls around the outermost of them */
    uint64_t since_ns, until_ns; /* of the latest outermost call; UINT64_MAX: it is open */
};

struct cli_within {
    struct cli_patterns *patterns;
    struct probity_scopes *scopes;
    struct of_thread *threads; /* by slot */
    uint32_t thread_count;
    struct probity_event replaced;
    char matches, differs; /* once a function was compared, its scopes point to one of these */
    uint8_t payload[4];
};

static int is_like(const struct cli_within *within, const struct probity_function *function)
{
    return function != NULL &&
           cli_patterns_match(within->patterns, function->name, function->signature);
}

static void on_opened(void *context, struct probity_scope *scope, const struct probity_event *event)
{
    struct cli_within *within = context;
    struct of_thread *thread = &within->threads[event->thread_slot];

    if (*scope->of_function == NULL)
        *scope->of_function = is_like(within, scope->function) ? &within->matches
                                                                 : &within->differs;
    if (*scope->of_function != &within->matches)
        return;
    if (thread->open == 0) {
        thread->above = scope->depth;
        thread->since_ns = scope->enter_wall_ns;
        thread->until_ns = UINT64_MAX;
    }
    thread->open++;
}

static void on_closed(void *context, const struct probity_scope *scope, enum probity_scope_end how,
                      uint32_t thread_slot, const struct probity_event *event)
{
    struct cli_within *within = context;

    (void)how;
    if (*scope->of_function != &within->matches)
        return;
    struct of_thread *thread = &within->threads[thread_slot];
    if (--thread->open == 0 && event != NULL)
        thread->until_ns = event->wall_ns;
}

static int grow(struct cli_within *within, uint32_t slot)
{
    if (slot < within->thread_count)
        return 0;
    void *grown = probity_array_grow(within->threads, sizeof *within->threads, slot,
                                     &within->thread_count);
    if (grown == NULL)
        return PROBITY_ERROR_MEMORY;
    within->threads = grown;
    return 0;
}

/* Whether an event is an action of its thread, in contrast to names and changes of the whole
 * program. */
static int is_of_call(const struct probity_event *event)
{
    switch (event->kind) {
    case PROBITY_EVENT_HIT:
    case PROBITY_EVENT_ENTER:
    case PROBITY_EVENT_LEAVE:
    case PROBITY_EVENT_MESSAGE:
    case PROBITY_EVENT_PARAMETERS:
    case PROBITY_EVENT_CHECKPOINT:
    case PROBITY_EVENT_PAUSE:
    case PROBITY_EVENT_RESUME:
    case PROBITY_EVENT_UNWOUND:
    case PROBITY_READER_ENTRY: return 1;
    default: return 0;
    }
}

/* Called at the leave of a function that encloses the matching calls, if their own ends are
 * missing: ends all calls that were passed on. */
static const struct probity_event *as_unwound(struct cli_within *within,
                                              const struct probity_event *event)
{
    within->replaced = *event;
    within->replaced.kind = PROBITY_EVENT_UNWOUND;
    probity_put_u32(within->payload, UINT32_MAX);
    within->replaced.payload = within->payload;
    within->replaced.payload_bytes = sizeof within->payload;
    within->replaced.function = NULL;
    within->replaced.format = NULL;
    within->replaced.values = NULL;
    within->replaced.value_bytes = 0;
    return &within->replaced;
}

int cli_within_put(struct cli_within *within, const struct probity_event **event)
{
    const struct probity_scopes_listener listener = {on_opened, on_closed, within};
    uint32_t slot = (*event)->thread_slot;

    if (grow(within, slot) != 0)
        return PROBITY_ERROR_MEMORY;
    uint32_t before = within->threads[slot].open;
    int error = probity_scopes_put(within->scopes, *event, &listener);
    const struct of_thread *thread = &within->threads[slot];

    if (error != 0 || !is_of_call(*event))
        return error != 0 ? error : 1;
    if ((*event)->kind == PROBITY_READER_ENTRY && is_like(within, (*event)->function))
        return 1;
    if (before > 0 && (*event)->kind == PROBITY_EVENT_LEAVE && thread->open == 0 &&
        probity_scopes_depth(within->scopes, slot) < thread->above)
        *event = as_unwound(within, *event);
    return before > 0 || thread->open > 0;
}

int cli_within_is_open(const struct cli_within *within, uint32_t thread_slot, uint64_t wall_ns)
{
    return thread_slot < within->thread_count &&
           wall_ns >= within->threads[thread_slot].since_ns &&
           wall_ns <= within->threads[thread_slot].until_ns;
}

int cli_within_open(struct cli_patterns *patterns, struct cli_within **ret_within)
{
    struct cli_within *within = calloc(1, sizeof *within);

    if (within == NULL || probity_scopes_open(&within->scopes) != 0) {
        free(within);
        return PROBITY_ERROR_MEMORY;
    }
    within->patterns = patterns;
    *ret_within = within;
    return 0;
}

void cli_within_close(struct cli_within *within)
{
    probity_scopes_close(within->scopes);
    free(within->threads);
    free(within);
}
