/* SPDX-License-Identifier: MIT
 *
 * request_flow.h: successive hits with the same correlation id, in any thread: a request's path
 * through the program. The path ends with the hit that ends the request, after which the id may be
 * reused. Hits in other roles are ignored. Memory: see inflight.h.
 */
#ifndef PROBITY_ANALYSIS_REQUEST_FLOW_H
#define PROBITY_ANALYSIS_REQUEST_FLOW_H

#include "analysis/inflight.h"
#include "reader/reader.h"

/* Finds the previous hit of the request: all zero if there is none; NULL if the hit is not part of
 * any path. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_request_flow_find(struct probity_inflight *ids, const struct probity_event *event,
                              struct probity_inflight_item **ret_open);

/* Call after using the result: continues the path or ends it, which frees `open`. */
void probity_request_flow_step(struct probity_inflight *ids, const struct probity_event *event,
                               struct probity_inflight_item *open);

#endif
