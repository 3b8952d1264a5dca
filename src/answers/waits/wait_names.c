/* SPDX-License-Identifier: MIT
 *
 * wait_names.c: names from sites, symbols, descriptors and functions.
 */
#include "answers/waits/wait_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

int probity_wait_names_before(struct probity_wait_names *names, const struct probity_event *event)
{
    int error = probity_mappings_put(&names->mappings, event);

    return error == 0 && event->kind != PROBITY_EVENT_LEAVE
               ? probity_descriptors_put(&names->descriptors, event)
               : error;
}

int probity_wait_names_after(struct probity_wait_names *names, const struct probity_event *event)
{
    return event->kind == PROBITY_EVENT_LEAVE
               ? probity_descriptors_put(&names->descriptors, event)
               : 0;
}

/* The symbol of an address at a tick, if its file is there. */
static int find_symbol(const struct probity_wait_names *names, uint32_t trace, uint64_t tick,
                       uint64_t address, int is_data, char *ret_text, size_t bytes)
{
    const struct probity_mapping *mapping =
        address != 0 ? probity_mappings_find(&names->mappings, trace, tick, address) : NULL;

    return mapping != NULL && names->symbols.find != NULL &&
           names->symbols.find(names->symbols.context, mapping->path, mapping->build_id,
                               address - mapping->bias, is_data, ret_text, bytes);
}

static const char *name_object(struct probity_wait_names *names,
                               const struct probity_wait_object *object)
{
    char symbol[PROBITY_WAIT_NAME_BYTES / 2];
    const char *between = " ";
    int is_found = find_symbol(names, object->trace, UINT64_MAX, object->id, 1, symbol,
                               sizeof symbol);

    if (!is_found) {
        between = object->is_place_made ? " made at " : " of ";
        is_found = find_symbol(names, object->trace, object->place_tick, object->place - 1, 0,
                               symbol, sizeof symbol);
    }
    if (!is_found)
        return object->name;
    snprintf(names->text, sizeof names->text, "%.200s%s%s", object->name, between, symbol);
    return names->text;
}

/* A program may join thousands of threads, each an object of its own. */
static struct probity_wait_name name_join(struct probity_wait_names *names,
                                          const struct probity_wait_object *object)
{
    char symbol[PROBITY_WAIT_NAME_BYTES / 2];

    snprintf(names->text, sizeof names->text, "join");
    if (find_symbol(names, object->trace, object->place_tick, object->place - 1, 0, symbol,
                    sizeof symbol))
        snprintf(names->text, sizeof names->text, "join %s %s",
                 strcmp(object->name, "join") == 0 ? "in" : "of threads made in", symbol);
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

void probity_wait_names_release(struct probity_wait_names *names)
{
    probity_mappings_release(&names->mappings);
    probity_descriptors_release(&names->descriptors);
}
