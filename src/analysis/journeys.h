/* SPDX-License-Identifier: MIT
 *
 * journeys.h: hits of one correlation id, one behind the other, whatever threads they are of: the
 * way of a request through the program. A way ends with the hit that ends the request; then the id
 * may be used again. Locks are no part of it. Memory: as open_ids.h.
 */
#ifndef PROBITY_ANALYSIS_JOURNEYS_H
#define PROBITY_ANALYSIS_JOURNEYS_H

#include "analysis/open_ids.h"
#include "reader/reader.h"

/* What is known of the hit before, all zero where this one is the first; NULL for hits that are of
 * no way. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_journeys_find(struct probity_open_ids *ids, const struct probity_event *event,
                          struct probity_open_id **ret_open);

/* Behind what the user did with it: the way goes on, or ends here and `open` with it. */
void probity_journeys_step(struct probity_open_ids *ids, const struct probity_event *event,
                           struct probity_open_id *open);

#endif
