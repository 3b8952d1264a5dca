/* SPDX-License-Identifier: MIT
 *
 * view_messages.h: pairs sends with their receives in other traces (doc/hosts.md, "Links"), for
 * arrows on the page. Memory: a limited number of messages; later ones are left out and counted.
 */
#ifndef PROBITY_PAGE_VIEW_MESSAGES_H
#define PROBITY_PAGE_VIEW_MESSAGES_H

#include <stdio.h>

#include "reader/reader.h"

struct probity_view_messages;

/* Selects messages that are sent and received in [from_ns, to_ns); both 0: all. messages_max:
 * number to keep. Returns NULL if out of memory. */
struct probity_view_messages *probity_view_messages_open(uint64_t from_ns, uint64_t to_ns,
                                                         size_t messages_max);

/* Takes the next event in time order. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_view_messages_put(struct probity_view_messages *messages,
                              const struct probity_event *event);

/* Writes one object, MessagesData in view/src/data.ts. Write errors stay in the stream. */
void probity_view_messages_json(FILE *stream, const struct probity_view_messages *messages,
                                uint64_t first_ns);

/* NULL is allowed. */
void probity_view_messages_close(struct probity_view_messages *messages);

#endif
