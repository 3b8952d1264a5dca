/* SPDX-License-Identifier: MIT
 *
 * descriptors.c: a table of open descriptors. The parameters of a call are stored from its enter
 * until its leave, which has the result.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/waits/descriptors_internal.h"
#include "base/array_grow.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "print/values.h"
#include "probity.h"

enum { TEXT_MAX = DESCRIPTOR_TEXT_MAX };

/* The values of an event, by name. */
struct call_values {
    /* other: second descriptor in the leave of a pair; last: end of a range that begins with fd.
     * -1: none */
    int64_t fd, other, last, result;
    char path[TEXT_MAX], peer[TEXT_MAX];
};

/* ---- Values ------------------------------------------------------------------------------------
 */

static int64_t integer_of(const struct probity_value_view *view)
{
    if (view->is_cut)
        return -1;
    if (view->bytes == 4)
        return (int32_t)probity_get_u32(view->at);
    return view->bytes == 8 ? (int64_t)probity_get_u64(view->at) : -1;
}

static void copy_text(char to[TEXT_MAX], const struct probity_value_view *view)
{
    char *end = probity_value_put(to, to + TEXT_MAX - 1, view, PROBITY_VALUE_RAW);

    *end = '\0';
}

static void take_values(const struct probity_event *event, struct call_values *ret_values)
{
    struct probity_value_walk walk = probity_value_walk_of(event);
    struct probity_value_view view;

    *ret_values = (struct call_values){.fd = -1, .other = -1, .last = -1, .result = -1};
    while (probity_value_walk_next(&walk, &view)) {
        if (strcmp(view.text, "fd") == 0)
            ret_values->fd = integer_of(&view);
        else if (strcmp(view.text, "fd2") == 0)
            ret_values->other = integer_of(&view);
        else if (strcmp(view.text, "last") == 0)
            ret_values->last = integer_of(&view);
        else if (strcmp(view.text, "result") == 0)
            ret_values->result = integer_of(&view);
        else if (strcmp(view.text, "path") == 0)
            copy_text(ret_values->path, &view);
        else if (strcmp(view.text, "peer") == 0)
            copy_text(ret_values->peer, &view);
    }
}

/* ---- The table ---------------------------------------------------------------------------------
 */

static struct descriptor *find(const struct probity_descriptors *descriptors, uint64_t key)
{
    struct descriptor *item = probity_hashtable_at(&descriptors->items, probity_hash(key));

    while (item != NULL && item->key != key)
        item = (struct descriptor *)item->link.next;
    return item;
}

static void forget(struct probity_descriptors *descriptors, uint64_t key)
{
    struct descriptor *item = find(descriptors, key);

    if (item == NULL)
        return;
    struct probity_link **place =
        &descriptors->items.first[item->link.hash & (descriptors->items.chains - 1)];
    while (*place != &item->link)
        place = &(*place)->next;
    *place = item->link.next;
    descriptors->items.items--;
    free(item);
}

static enum probity_descriptor_kind kind_of(const char *name)
{
    static const char *const others[] = {"socket:", "pipe:", "anon_inode:", "unix:", "epoll"};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strncmp(name, others[i], strlen(others[i])) == 0)
            return PROBITY_DESCRIPTOR_PEER;
    }
    return PROBITY_DESCRIPTOR_FILE;
}

int descriptors_add(struct probity_descriptors *descriptors, uint64_t key,
                    enum probity_descriptor_kind kind, const char *name)
{
    size_t bytes = strlen(name) + 1;
    struct descriptor *item = malloc(sizeof *item + bytes);
    if (item == NULL)
        return PROBITY_ERROR_MEMORY;
    item->key = key;
    item->added = ++descriptors->added;
    item->kind = kind;
    memcpy(item->name, name, bytes);
    forget(descriptors, key); /* after the copy, because the name may belong to it */
    if (descriptors->items.items >= PROBITY_DESCRIPTORS_MAX) {
        descriptors->forgotten++;
        free(item);
        return 0;
    }
    if (probity_hashtable_add(&descriptors->items, item, probity_hash(key)) == 0)
        return 0;
    free(item);
    return PROBITY_ERROR_MEMORY;
}

static int set(struct probity_descriptors *descriptors, uint32_t trace, int64_t fd,
               enum probity_descriptor_kind kind, const char *name)
{
    if (fd < 0 || fd > INT32_MAX)
        return 0;
    return descriptors_add(descriptors, descriptor_key(trace, fd), kind, name);
}

/* ---- Calls -------------------------------------------------------------------------------------
 */

struct descriptor_call *descriptors_call_at(struct probity_descriptors *descriptors,
                                            uint32_t slot)
{
    if (slot >= descriptors->call_count) {
        void *grown = probity_array_grow(descriptors->calls, sizeof *descriptors->calls, slot,
                                         &descriptors->call_count);
        if (grown == NULL)
            return NULL;
        descriptors->calls = grown;
    }
    return &descriptors->calls[slot];
}

static int is_named(const struct probity_function *function, const char *prefix)
{
    return strncmp(function->name, prefix, strlen(prefix)) == 0;
}

/* Keeps the descriptor's name for the wait. The name is removed before the call, since another
 * thread may get the number before this call's leave. */
static void begin_close(struct probity_descriptors *descriptors, uint32_t trace,
                        struct descriptor_call *call)
{
    const uint64_t key = descriptor_key(trace, call->fd);
    const struct descriptor *item = find(descriptors, key);

    if (call->fd < 0 || item == NULL)
        return;
    snprintf(item->kind == PROBITY_DESCRIPTOR_PEER ? call->peer : call->path, TEXT_MAX, "%s",
             item->name);
    forget(descriptors, key);
}

/* The names remain until the leave, since the call may fail. */
static void begin_close_range(const struct probity_descriptors *descriptors,
                              struct descriptor_call *call, int64_t last)
{
    if (call->fd < 0 || last < call->fd || last > INT32_MAX)
        return;
    call->end = last + 1;
    call->added = descriptors->added;
}

/* Removes the names of a range of descriptors, except those that other threads have opened since
 * the call began. The next item is found before one is removed. */
static void end_close_range(struct probity_descriptors *descriptors, uint32_t trace,
                            const struct descriptor_call *call)
{
    const uint64_t from = descriptor_key(trace, call->fd);
    const uint64_t to = descriptor_key(trace, call->end - 1);
    const struct descriptor *item = NULL, *next;

    for (item = probity_hashtable_next(&descriptors->items, NULL); item != NULL; item = next) {
        next = probity_hashtable_next(&descriptors->items, item);
        if (item->key >= from && item->key <= to && item->added <= call->added)
            forget(descriptors, item->key);
    }
}

static int copy_descriptor(struct probity_descriptors *descriptors, uint32_t trace, int64_t from,
                           int64_t to)
{
    const struct descriptor *item = find(descriptors, descriptor_key(trace, from));

    if (item != NULL)
        return set(descriptors, trace, to, item->kind, item->name);
    forget(descriptors, descriptor_key(trace, to));
    return 0;
}

static int set_pair(struct probity_descriptors *descriptors, uint32_t trace,
                    const struct call_values *values, const char *name)
{
    int error = set(descriptors, trace, values->fd, PROBITY_DESCRIPTOR_PEER, name);

    return error == 0 ? set(descriptors, trace, values->other, PROBITY_DESCRIPTOR_PEER, name)
                      : error;
}

/* Returns a name for descriptors that this function creates and that have no other name, or
 * NULL. */
static const char *name_of_made(const struct probity_function *function)
{
    static const char *const names[][2] = {
        {"socket", "socket"},      {"epoll_create", "epoll"}, {"eventfd", "eventfd"},
        {"timerfd_create", "timerfd"}, {"signalfd", "signalfd"},  {"inotify_init", "inotify"},
        {"memfd_create", "memfd"}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (is_named(function, names[i][0]))
            return names[i][1];
    }
    return NULL;
}

static int finish_call(struct probity_descriptors *descriptors, uint32_t trace,
                       const struct descriptor_call *call, const struct call_values *values)
{
    const struct probity_function *function = call->function;
    const char *peer = values->peer[0] != '\0' ? values->peer : call->peer;
    enum probity_descriptor_kind kind = PROBITY_DESCRIPTOR_PEER;

    if (is_named(function, "connect") && peer[0] != '\0')
        return set(descriptors, trace, call->fd, kind, peer);
    if (values->result < 0)
        return 0;
    if (call->end > 0)
        end_close_range(descriptors, trace, call);
    if (is_named(function, "accept"))
        return set(descriptors, trace, values->result, kind, peer[0] != '\0' ? peer : "socket");
    if (is_named(function, "dup") || is_named(function, "fcntl"))
        return copy_descriptor(descriptors, trace, call->fd, values->result);
    if (is_named(function, "pipe") || is_named(function, "socketpair"))
        return set_pair(descriptors, trace, values, is_named(function, "pipe") ? "pipe" : "socket");
    if (name_of_made(function) != NULL)
        return set(descriptors, trace, values->result, kind, name_of_made(function));
    if (is_named(function, "open") || is_named(function, "creat"))
        return set(descriptors, trace, values->result, kind_of(call->path), call->path);
    return 0;
}

/* Takes a message that names a descriptor which was open before recording began. */
static int take_message(struct probity_descriptors *descriptors, const struct probity_event *event)
{
    struct probity_value_walk walk = probity_value_walk_of(event);
    struct probity_value_view title, number, target;
    char name[TEXT_MAX];

    if (event->format == NULL || event->format->count != 3 ||
        !probity_value_walk_next(&walk, &title) || title.type != PROBITY_VALUE_LITERAL ||
        strcmp(title.text, "\"descriptor\"") != 0 || !probity_value_walk_next(&walk, &number) ||
        !probity_value_walk_next(&walk, &target))
        return 0;
    copy_text(name, &target);
    return set(descriptors, event->trace, integer_of(&number), kind_of(name), name);
}

static int is_io(const struct probity_function *function)
{
    return function != NULL && function->recorded_file[0] == 'l' &&
           strcmp(function->recorded_file, "libc/io") == 0;
}

/* Whether calls of the function create, name or close descriptors. */
static int is_followed(const struct probity_function *function)
{
    static const char *const names[] = {"connect", "accept", "dup", "fcntl", "pipe", "open",
                                        "creat", "close", "fclose"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (is_named(function, names[i]))
            return 1;
    }
    return name_of_made(function) != NULL;
}

/* Returns a key that no descriptor has. If it is in the table, names in this trace are out of
 * date. */
static uint64_t outdated_key(uint32_t trace)
{
    return (uint64_t)trace << 32 | UINT32_MAX;
}

/* From here on, most calls of the function are missing. */
static int take_budget(struct probity_descriptors *descriptors, const struct probity_event *event)
{
    if (!is_io(event->function) || !is_followed(event->function) ||
        find(descriptors, outdated_key(event->trace)) != NULL)
        return 0;
    return descriptors_add(descriptors, outdated_key(event->trace), PROBITY_DESCRIPTOR_UNKNOWN, "");
}

int probity_descriptors_put(struct probity_descriptors *descriptors,
                            const struct probity_event *event)
{
    struct call_values values;

    if (event->kind == PROBITY_EVENT_MESSAGE)
        return take_message(descriptors, event);
    if (event->kind == PROBITY_EVENT_BUDGET)
        return take_budget(descriptors, event);
    if ((event->kind != PROBITY_EVENT_ENTER && event->kind != PROBITY_EVENT_LEAVE) ||
        !is_io(event->function))
        return 0;
    struct descriptor_call *call = descriptors_call_at(descriptors, event->thread_slot);
    if (call == NULL)
        return PROBITY_ERROR_MEMORY;
    take_values(event, &values);
    if (event->kind == PROBITY_EVENT_ENTER) {
        call->function = event->function;
        call->fd = values.fd;
        call->end = 0;
        memcpy(call->path, values.path, TEXT_MAX);
        memcpy(call->peer, values.peer, TEXT_MAX);
        if (values.last >= 0)
            begin_close_range(descriptors, call, values.last);
        else if (is_named(event->function, "close") || is_named(event->function, "fclose"))
            begin_close(descriptors, event->trace, call);
        return 0;
    }
    if (call->function != event->function)
        return 0;
    int error = finish_call(descriptors, event->trace, call, &values);
    call->function = NULL;
    return error;
}

struct probity_descriptor_target probity_descriptors_target(
    struct probity_descriptors *descriptors, uint32_t trace, uint32_t thread_slot)
{
    const struct descriptor_call *call =
        thread_slot < descriptors->call_count ? &descriptors->calls[thread_slot] : NULL;

    if (call == NULL || call->function == NULL)
        return (struct probity_descriptor_target){PROBITY_DESCRIPTOR_UNKNOWN, ""};
    if (call->peer[0] != '\0')
        return (struct probity_descriptor_target){PROBITY_DESCRIPTOR_PEER, call->peer};
    if (call->path[0] != '\0')
        return (struct probity_descriptor_target){PROBITY_DESCRIPTOR_FILE, call->path};
    if (call->fd < 0 || call->end > 0) /* no single descriptor */
        return (struct probity_descriptor_target){PROBITY_DESCRIPTOR_UNKNOWN, ""};
    const struct descriptor *item = find(descriptors, descriptor_key(trace, call->fd));
    if (item != NULL && find(descriptors, outdated_key(trace)) == NULL)
        return (struct probity_descriptor_target){item->kind, item->name};
    snprintf(descriptors->text, sizeof descriptors->text, "descriptor %" PRId64, call->fd);
    return (struct probity_descriptor_target){PROBITY_DESCRIPTOR_UNKNOWN, descriptors->text};
}

void probity_descriptors_release(struct probity_descriptors *descriptors)
{
    for (void *item; (item = probity_hashtable_take(&descriptors->items)) != NULL;)
        free(item);
    free(descriptors->calls);
    free(descriptors->states);
}
