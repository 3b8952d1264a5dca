/* SPDX-License-Identifier: MIT
 *
 * messages.h: connects sends with their receives in other traces (doc/hosts.md, "Links").
 */
#ifndef PROBITY_ANALYSIS_MESSAGES_H
#define PROBITY_ANALYSIS_MESSAGES_H

#include <stddef.h>
#include <stdint.h>

#include "reader/reader.h"

/* Whether a hit is a send or a receive with an id: 1 or 0. */
int probity_is_message(const struct probity_event *event);

/* The bytes of a message's name without the ending that differs between its send and receive. */
size_t probity_message_name_bytes(const struct probity_event *event);

/* A number of the message, equal for its send and its receive. Never the id itself, which other
 * flows have. */
uint64_t probity_message_flow(const struct probity_event *event);

#endif
