/* SPDX-License-Identifier: MIT
 *
 * view_messages.c: pairs each receive with the first send of the same message that no other receive
 * has been paired with, and writes the pairs as arrays of numbers:
 *
 *     [trace, thread, sent, trace, thread, length]
 *
 * where `sent` is relative to that of the previous message. Runs in the tool.
 */
#include "page/view_messages.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/messages.h"
#include "base/array_grow.h"
#include "base/hash.h"
#include "base/hashtable.h"
#include "probity.h"
#include "probity_typed.h"

struct end {
    uint64_t wall_ns;
    uint32_t trace, thread;
};

/* A send that has not been received. */
struct pending_send {
    struct probity_link link;
    uint64_t flow, order;
    struct end end;
};

struct message {
    struct end from, to;
};

struct probity_view_messages {
    uint64_t from_ns, to_ns, beyond, sends;
    size_t messages_max, count, capacity;
    struct message *list;
    struct probity_hashtable pending;
};

struct probity_view_messages *probity_view_messages_open(uint64_t from_ns, uint64_t to_ns,
                                                         size_t messages_max)
{
    struct probity_view_messages *messages = calloc(1, sizeof *messages);

    if (messages == NULL)
        return NULL;
    messages->from_ns = from_ns;
    messages->to_ns = to_ns > 0 ? to_ns : UINT64_MAX;
    messages->messages_max = messages_max;
    return messages;
}

static int put_send(struct probity_view_messages *messages, uint64_t flow, struct end end)
{
    if (messages->pending.items >= messages->messages_max) {
        messages->beyond++;
        return 0;
    }
    struct pending_send *send = malloc(sizeof *send);
    if (send == NULL)
        return PROBITY_ERROR_MEMORY;
    send->flow = flow;
    send->order = messages->sends++;
    send->end = end;
    if (probity_hashtable_add(&messages->pending, send, probity_hash(flow)) == 0)
        return 0;
    free(send);
    return PROBITY_ERROR_MEMORY;
}

/* Finds the first send of the message in another trace; NULL: none. */
static struct pending_send *send_of(const struct probity_view_messages *messages, uint64_t flow,
                                    uint32_t trace)
{
    struct pending_send *found = NULL,
                        *send = probity_hashtable_at(&messages->pending, probity_hash(flow));

    for (; send != NULL; send = (struct pending_send *)(void *)send->link.next) {
        if (send->flow == flow && send->end.trace != trace &&
            (found == NULL || send->order < found->order))
            found = send;
    }
    return found;
}

static int put_receive(struct probity_view_messages *messages, uint64_t flow, struct end end)
{
    struct pending_send *send = send_of(messages, flow, end.trace);

    if (send == NULL)
        return 0;
    const struct message message = {send->end, end};
    probity_hashtable_remove(&messages->pending, send);
    free(send);
    if (messages->count >= messages->messages_max) {
        messages->beyond++;
        return 0;
    }
    struct message *list = probity_array_room(messages->list, sizeof *list, messages->count,
                                              &messages->capacity);
    if (list == NULL)
        return PROBITY_ERROR_MEMORY;
    messages->list = list;
    list[messages->count++] = message;
    return 0;
}

int probity_view_messages_put(struct probity_view_messages *messages,
                              const struct probity_event *event)
{
    const struct end end = {event->wall_ns, event->trace, event->thread};

    if (!probity_is_message(event) || end.wall_ns < messages->from_ns ||
        end.wall_ns >= messages->to_ns)
        return 0;
    return event->role == PROBITY_ROLE_SEND
               ? put_send(messages, probity_message_flow(event), end)
               : put_receive(messages, probity_message_flow(event), end);
}

void probity_view_messages_json(FILE *stream, const struct probity_view_messages *messages,
                                uint64_t first_ns)
{
    uint64_t before_ns = first_ns;

    fprintf(stream, "{\"beyond\": %" PRIu64 ", \"list\": [", messages->beyond);
    for (size_t i = 0; i < messages->count; i++) {
        const struct message *message = &messages->list[i];
        fprintf(stream, "%s[%" PRIu32 ",%" PRIu32 ",%" PRId64 ",%" PRIu32 ",%" PRIu32 ",%" PRId64
                "]", i > 0 ? ",\n" : "\n", message->from.trace, message->from.thread,
                (int64_t)(message->from.wall_ns - before_ns), message->to.trace,
                message->to.thread, (int64_t)(message->to.wall_ns - message->from.wall_ns));
        before_ns = message->from.wall_ns;
    }
    fputs("]}", stream);
}

void probity_view_messages_close(struct probity_view_messages *messages)
{
    if (messages == NULL)
        return;
    for (struct pending_send *send; (send = probity_hashtable_take(&messages->pending)) != NULL;)
        free(send);
    free(messages->list);
    free(messages);
}
