/* SPDX-License-Identifier: MIT
 *
 * wait_names.c: names from sites, symbols, descriptors and functions.
 */
#include "answers/waits/wait_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/waits_state.h"
#include "base/hash.h"
#include "probity.h"

const char *probity_wait_what_name(enum probity_wait_what what)
{
    static const char *const names[PROBITY_WAIT_WHATS + 1] = {
        [PROBITY_WAIT_WHAT_LOCK] = "lock", [PROBITY_WAIT_WHAT_CONDITION] = "condition",
        [PROBITY_WAIT_WHAT_FILE] = "file", [PROBITY_WAIT_WHAT_PEER] = "peer",
        [PROBITY_WAIT_WHAT_CALL] = "call", [PROBITY_WAIT_WHAT_SLEEP] = "sleep",
        [PROBITY_WAIT_WHAT_CPU] = "cpu",
        [PROBITY_WAIT_WHATS] = "block"};

    return names[what];
}

int probity_wait_names_resume(struct probity_wait_names *names, struct probity_waits *waits,
                              const struct probity_reader *reader)
{
    int error = probity_waits_resume_all(waits, reader);

    names->is_idle = reader != NULL && !probity_reader_may_wait(reader);
    return error == 0 ? probity_descriptors_resume(&names->descriptors, reader) : error;
}

int probity_wait_names_put(struct probity_wait_names *names, struct probity_waits *waits,
                           const struct probity_event *event)
{
    if (names->is_idle)
        return probity_waits_put(waits, event);

    int is_leave = event->kind == PROBITY_EVENT_LEAVE;
    int error = probity_mappings_put(&names->mappings, event);
    int is_before = error == 0 ? probity_descriptors_follow(&names->descriptors, waits, event)
                               : error;

    if (is_before == 0 && !is_leave)
        error = probity_descriptors_put(&names->descriptors, event);
    if (is_before < 0 || error != 0)
        return is_before < 0 ? is_before : error;
    error = probity_waits_put(waits, event);
    return error == 0 && is_before == 0 && is_leave
               ? probity_descriptors_put(&names->descriptors, event) : error;
}

/* Finds the symbol of an address at a tick, if its file is available. */
static int find_symbol(const struct probity_wait_names *names, uint32_t trace, uint64_t tick,
                       uint64_t address, enum probity_wait_symbol_form form, char *ret_text,
                       size_t bytes)
{
    const struct probity_mapping *mapping =
        address != 0 ? probity_mappings_find(&names->mappings, trace, tick, address) : NULL;

    return mapping != NULL && names->symbols.find != NULL &&
           names->symbols.find(names->symbols.context, mapping->path, mapping->build_id,
                               address - mapping->bias, form, ret_text, bytes);
}

static const char *name_object(struct probity_wait_names *names,
                               const struct probity_wait_object *object)
{
    char symbol[PROBITY_WAIT_NAME_BYTES / 2];
    const char *between = " ";
    int is_found = find_symbol(names, object->trace, UINT64_MAX, object->id,
                               PROBITY_WAIT_SYMBOL_DATA, symbol, sizeof symbol);

    if (!is_found) {
        between = object->is_place_made ? " made at " : " of ";
        is_found = find_symbol(names, object->trace, object->place_tick, object->place - 1,
                               PROBITY_WAIT_SYMBOL_CODE, symbol, sizeof symbol);
    }
    if (!is_found)
        return object->name;
    snprintf(names->text, sizeof names->text, "%.200s%s%s", object->name, between, symbol);
    return names->text;
}

/* A program may join thousands of threads, and each is a separate object. */
static struct probity_wait_name name_join(struct probity_wait_names *names,
                                          const struct probity_wait_object *object)
{
    char symbol[PROBITY_WAIT_NAME_BYTES / 2];

    snprintf(names->text, sizeof names->text, "join");
    if (find_symbol(names, object->trace, object->place_tick, object->place - 1,
                    PROBITY_WAIT_SYMBOL_CODE, symbol, sizeof symbol))
        snprintf(names->text, sizeof names->text, "join %s %s",
                 strcmp(object->name, "join") == 0 ? "in" : "of threads created in", symbol);
    return (struct probity_wait_name){PROBITY_WAIT_WHAT_CONDITION, names->text, 0};
}

static int is_thread(const struct probity_wait_object *object)
{
    return strcmp(object->name, "join") == 0 || strcmp(object->name, "thread") == 0;
}

static struct probity_wait_name name_call(struct probity_wait_names *names, uint32_t trace,
                                          const struct probity_wait *wait)
{
    struct probity_descriptor_target target =
        probity_descriptors_target(&names->descriptors, trace, wait->thread_slot);
    const char *function =
        wait->scope->function != NULL ? wait->scope->function->name : "unknown";

    if (wait->kind == PROBITY_WAIT_SLEEP)
        return (struct probity_wait_name){PROBITY_WAIT_WHAT_SLEEP, function, 0};
    if (wait->kind != PROBITY_WAIT_IO || target.name[0] == '\0')
        return (struct probity_wait_name){PROBITY_WAIT_WHAT_CALL, function, 0};
    return (struct probity_wait_name){target.kind == PROBITY_DESCRIPTOR_FILE
                                          ? PROBITY_WAIT_WHAT_FILE
                                      : target.kind == PROBITY_DESCRIPTOR_PEER
                                          ? PROBITY_WAIT_WHAT_PEER
                                          : PROBITY_WAIT_WHAT_CALL,
                                      target.name, 0};
}

struct probity_wait_name probity_wait_names_of(struct probity_wait_names *names, uint32_t trace,
                                               const struct probity_wait *wait)
{
    if (wait->object == NULL)
        return name_call(names, trace, wait);
    if (wait->kind == PROBITY_WAIT_CONDITION && is_thread(wait->object))
        return name_join(names, wait->object);
    return (struct probity_wait_name){wait->kind == PROBITY_WAIT_CONDITION
                                          ? PROBITY_WAIT_WHAT_CONDITION
                                          : PROBITY_WAIT_WHAT_LOCK,
                                      name_object(names, wait->object), wait->object->id};
}

/* ---- Functions ---------------------------------------------------------------------------------
 */

/* A function without a scope. */
struct wait_function {
    struct probity_link link;
    struct probity_function function;
    char name[];
};

struct wait_place {
    struct probity_link link;
    uint32_t trace;
    uint64_t address;
    const char *path; /* path of the mapping, compared by pointer: it may be mapped again */
    const struct probity_function *function; /* NULL: has no symbol */
};

static struct wait_function *function_named(struct probity_wait_names *names, uint32_t trace,
                                            const char *name)
{
    uint64_t hash = probity_hash_text(trace, name);
    struct wait_function *item = probity_hashtable_at(&names->functions, hash);
    size_t bytes = strlen(name);

    while (item != NULL && (item->function.trace != trace || strcmp(item->name, name) != 0))
        item = (struct wait_function *)(void *)item->link.next;
    if (item != NULL)
        return item;
    item = calloc(1, sizeof *item + bytes + 1);
    if (item == NULL || probity_hashtable_add(&names->functions, item, hash) != 0) {
        free(item);
        return NULL;
    }
    memcpy(item->name, name, bytes + 1);
    item->function = (struct probity_function){
        .trace = trace, .number = UINT32_MAX, .name = item->name, .name_bytes = (uint32_t)bytes,
        .file = "", .recorded_file = "", .signature = "", .returns = "", .object = "",
        .symbol = item->name, .is_hooked = 1};
    return item;
}

static int add_place(struct probity_wait_names *names, const struct wait_place *found,
                     uint64_t hash)
{
    struct wait_place *item = malloc(sizeof *item);

    if (item == NULL)
        return PROBITY_ERROR_MEMORY;
    *item = *found;
    if (probity_hashtable_add(&names->places, item, hash) == 0)
        return 0;
    free(item);
    return PROBITY_ERROR_MEMORY;
}

int probity_wait_names_complete(struct probity_wait_names *names, uint32_t trace,
                                const struct probity_wait_place *place,
                                struct probity_past_doing *doing)
{
    char symbol[PROBITY_WAIT_NAME_BYTES / 2];
    uint64_t address = place->address - 1; /* an address within the call */
    const struct probity_mapping *mapping = NULL;

    if (doing->function == NULL && place->address != 0)
        mapping = probity_mappings_find(&names->mappings, trace, place->tick, address);
    if (mapping == NULL)
        return 0;
    struct wait_place found = {.trace = trace, .address = address, .path = mapping->path};
    uint64_t hash = probity_hash(address ^ trace);
    const struct wait_place *item = probity_hashtable_at(&names->places, hash);
    while (item != NULL && (item->trace != trace || item->address != address ||
                            item->path != mapping->path))
        item = (const struct wait_place *)(const void *)item->link.next;
    if (item != NULL || names->places.items >= PROBITY_WAIT_PLACES_MAX) {
        doing->function = item != NULL ? item->function : NULL;
        return 0;
    }
    if (find_symbol(names, trace, place->tick, address, PROBITY_WAIT_SYMBOL_FUNCTION, symbol,
                    sizeof symbol)) {
        const struct wait_function *function = function_named(names, trace, symbol);
        if (function == NULL)
            return PROBITY_ERROR_MEMORY;
        found.function = &function->function;
    }
    doing->function = found.function;
    return add_place(names, &found, hash);
}

int probity_wait_names_complete_wait(struct probity_wait_names *names, uint32_t trace,
                                     struct probity_wait *wait)
{
    int error = probity_wait_names_complete(names, trace, &wait->place, &wait->doing);

    return error == 0 ? probity_wait_names_complete(names, trace, &wait->waker_place,
                                                    &wait->waker_doing)
                      : error;
}

void probity_wait_names_release(struct probity_wait_names *names)
{
    for (void *item; (item = probity_hashtable_take(&names->places)) != NULL;)
        free(item);
    for (void *item; (item = probity_hashtable_take(&names->functions)) != NULL;)
        free(item);
    probity_mappings_release(&names->mappings);
    probity_descriptors_release(&names->descriptors);
}
