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

/* Returns the length in bytes of a message's name without the ending that differs between its send
 * and receive. */
size_t probity_message_name_bytes(const struct probity_event *event);

/* Returns the number of the message, equal for its send and its receive. It differs from the id,
 * which other flows use. */
uint64_t probity_message_flow(const struct probity_event *event);

#endif
