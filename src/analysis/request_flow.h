/* SPDX-License-Identifier: MIT
 *
 * request_flow.h: successive hits of one correlation id, in any thread: the path of a request
 * through the program. A path ends with the hit that ends the request; then the id may be reused.
 * Locks are not followed. Memory: see inflight.h.
 */
#ifndef PROBITY_ANALYSIS_REQUEST_FLOW_H
#define PROBITY_ANALYSIS_REQUEST_FLOW_H

#include "analysis/inflight.h"
#include "reader/reader.h"

/* Finds the previous hit; all zero if this one is the first; NULL for hits that are not part of a
 * path. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_request_flow_find(struct probity_inflight *ids, const struct probity_event *event,
                              struct probity_inflight_item **ret_open);

/* To be called after using it: continues the path, or ends it here, which frees `open`. */
void probity_request_flow_step(struct probity_inflight *ids, const struct probity_event *event,
                               struct probity_inflight_item *open);

#endif
