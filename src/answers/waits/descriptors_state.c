/* SPDX-License-Identifier: MIT
 *
 * descriptors_state.c: saves the names of descriptors at a mark of an index, and continues from
 * them (doc/trace-format.md, "Index"). Input is untrusted.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/waits_bytes.h"
#include "analysis/waits_state.h"
#include "answers/waits/descriptors_internal.h"
#include "base/array_grow.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "probity.h"
#include "reader/index.h"

/* ---- Saving ------------------------------------------------------------------------------------
 */

static void put_text(struct waits_bytes *saved, const char *text)
{
    size_t bytes = strlen(text);

    waits_bytes_put(saved, bytes);
    uint8_t *at = waits_bytes_room(saved, bytes + 1);
    if (at == NULL)
        return;
    memcpy(at, text, bytes);
    saved->used += bytes;
}

static void put_call(struct waits_bytes *saved, const struct descriptor_call *call,
                     const struct probity_waits_thread_id *id)
{
    waits_bytes_put(saved, id->number);
    waits_bytes_put(saved, id->tid);
    waits_bytes_put(saved, call->function->number);
    waits_bytes_put(saved, call->fd >= 0 ? (uint64_t)call->fd + 1 : 0);
    put_text(saved, call->path);
    put_text(saved, call->peer);
}

int probity_descriptors_are_closing(const struct probity_descriptors *descriptors)
{
    for (uint32_t slot = 0; slot < descriptors->call_count; slot++) {
        const struct descriptor_call *call = &descriptors->calls[slot];
        if (call->function != NULL && call->end > 0)
            return 1;
    }
    return 0;
}

/* Returns the number of calls in progress. */
static uint64_t put_calls(struct waits_bytes *saved, const struct probity_descriptors *descriptors,
                          const struct probity_waits *waits)
{
    uint64_t count = 0;

    for (uint32_t slot = 0; slot < descriptors->call_count; slot++)
        count += descriptors->calls[slot].function != NULL;
    waits_bytes_put(saved, count);
    for (uint32_t slot = 0; slot < descriptors->call_count; slot++) {
        const struct descriptor_call *call = &descriptors->calls[slot];
        const struct probity_waits_thread_id id = probity_waits_thread_id(waits, slot);
        if (call->function != NULL)
            put_call(saved, call, &id);
    }
    return count;
}

int probity_descriptors_save(const struct probity_descriptors *descriptors,
                             const struct probity_waits *waits, uint64_t tick,
                             uint8_t **ret_bytes, size_t *ret_count)
{
    struct waits_bytes saved = {.used = PROBITY_INDEX_FILES_BYTES};

    probity_assert(!probity_descriptors_are_closing(descriptors));
    if (descriptors->forgotten > 0)
        return 0;
    saved.bytes = probity_array_fit(NULL, 1, saved.used, &saved.capacity);
    if (saved.bytes == NULL)
        return PROBITY_ERROR_MEMORY;
    probity_put_u64(saved.bytes, tick);
    waits_bytes_put(&saved, descriptors->items.items);
    for (const struct descriptor *item = NULL;
         (item = probity_hashtable_next(&descriptors->items, item)) != NULL;) {
        waits_bytes_put(&saved, (uint32_t)item->key);
        waits_bytes_put(&saved, (uint64_t)item->kind);
        put_text(&saved, item->name);
    }
    uint64_t calls = put_calls(&saved, descriptors, waits);
    int is_empty = calls == 0 && descriptors->items.items == 0;
    if (saved.error != 0 || is_empty) {
        free(saved.bytes);
        saved.bytes = NULL;
    }
    if (saved.error != 0)
        return saved.error;
    *ret_bytes = saved.bytes;
    *ret_count = saved.used;
    return 1;
}

/* ---- Resuming ----------------------------------------------------------------------------------
 */

struct descriptors_state {
    struct waits_cursor from; /* at is NULL if nothing has a name */
    uint64_t tick;
    int is_left; /* its tick has not been reached yet */
};

static int resume_at(struct probity_descriptors *descriptors, uint32_t trace,
                     const struct probity_index *index)
{
    const struct probity_index_waits *waits = index->chosen_waits;
    struct descriptors_state *states = probity_array_grow(descriptors->states, sizeof *states,
                                                          trace, &descriptors->state_count);

    if (states == NULL)
        return PROBITY_ERROR_MEMORY;
    descriptors->states = states;
    states[trace] = (struct descriptors_state){.tick = waits->tick, .is_left = 1};
    if (index->files_payload != NULL) {
        states[trace].from.at = index->files_payload + PROBITY_INDEX_FILES_BYTES;
        states[trace].from.end = index->files_payload + waits->files_bytes;
    }
    descriptors->states_left++;
    return 0;
}

int probity_descriptors_resume(struct probity_descriptors *descriptors,
                               const struct probity_reader *reader)
{
    size_t count = reader != NULL ? probity_reader_traces(reader) : 0;
    int error = 0;

    for (size_t i = 0; error == 0 && i < count; i++) {
        const struct probity_index *index = probity_reader_waits_index(reader, i);
        if (index != NULL && index->chosen_waits != NULL)
            error = resume_at(descriptors, (uint32_t)i, index);
    }
    return error;
}

static uint64_t get(struct descriptors_state *state)
{
    return waits_cursor_get(&state->from);
}

/* Reads a text. Longer texts are damage. */
static void get_text(struct descriptors_state *state, char text[DESCRIPTOR_TEXT_MAX])
{
    uint64_t bytes = get(state);

    if (bytes >= DESCRIPTOR_TEXT_MAX || bytes > (uint64_t)(state->from.end - state->from.at)) {
        state->from.is_damaged = 1;
        bytes = 0;
    }
    memcpy(text, state->from.at, bytes);
    text[bytes] = '\0';
    state->from.at += bytes;
}

static int get_descriptors(struct probity_descriptors *descriptors,
                           struct descriptors_state *state, uint32_t trace)
{
    uint64_t count = get(state);
    char name[DESCRIPTOR_TEXT_MAX];
    int error = 0;

    for (uint64_t i = 0; error == 0 && i < count && !state->from.is_damaged; i++) {
        uint64_t fd = get(state), kind = get(state);
        get_text(state, name);
        state->from.is_damaged |= fd > UINT32_MAX || kind > PROBITY_DESCRIPTOR_PEER;
        if (!state->from.is_damaged)
            error = descriptors_add(descriptors, descriptor_key(trace, (int64_t)fd),
                                    (enum probity_descriptor_kind)kind, name);
    }
    return error;
}

static int get_call(struct probity_descriptors *descriptors, struct descriptors_state *state,
                    const struct probity_waits *waits, uint32_t trace)
{
    uint64_t number = get(state), tid = get(state), site = get(state), fd = get(state);
    uint32_t slot = probity_waits_slot_of(waits, trace, number, tid);
    const struct probity_function *function = probity_waits_saved_function(waits, trace, site);

    if (slot == PROBITY_WAITS_NO_THREAD || function == NULL ||
        fd > (uint64_t)INT64_MAX + 1)
        return PROBITY_ERROR_DAMAGED;
    struct descriptor_call *call = descriptors_call_at(descriptors, slot);
    if (call == NULL)
        return PROBITY_ERROR_MEMORY;
    call->function = function;
    call->fd = fd != 0 ? (int64_t)(fd - 1) : -1;
    call->end = 0;
    get_text(state, call->path);
    get_text(state, call->peer);
    return 0;
}

static int take_state(struct probity_descriptors *descriptors, const struct probity_waits *waits,
                      uint32_t trace)
{
    struct descriptors_state *state = &descriptors->states[trace];
    int error = 0;

    state->is_left = 0;
    descriptors->states_left--;
    if (state->from.at == NULL)
        return 0;
    error = get_descriptors(descriptors, state, trace);
    uint64_t count = error == 0 ? get(state) : 0;
    for (uint64_t i = 0; error == 0 && i < count && !state->from.is_damaged; i++)
        error = get_call(descriptors, state, waits, trace);
    return error == 0 && state->from.is_damaged ? PROBITY_ERROR_DAMAGED : error;
}

int probity_descriptors_follow(struct probity_descriptors *descriptors,
                               const struct probity_waits *waits,
                               const struct probity_event *event)
{
    if (descriptors->states_left == 0 || event->trace >= descriptors->state_count ||
        !descriptors->states[event->trace].is_left)
        return 0;
    if (event->tick <= descriptors->states[event->trace].tick)
        return 1;
    return take_state(descriptors, waits, event->trace);
}
