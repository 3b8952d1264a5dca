/* SPDX-License-Identifier: MIT
 *
 * watch_requests.h: requests in progress, by their correlation ids. Hits are read chunk by chunk,
 * and sorted by time before they are processed. In the writer thread.
 */
#ifndef PROBITY_WRITER_WATCH_REQUESTS_H
#define PROBITY_WRITER_WATCH_REQUESTS_H

#include <stdint.h>

/* A hit with a correlation id. */
struct probity_watch_hit {
    uint64_t tick, id;
    uint64_t conditions; /* conditions that name its site, or no site */
    uint32_t code, role, thread, tid;
};

/* A request that has ended, or was hit again. */
struct probity_watch_request {
    uint64_t begin, end, id, conditions;
    uint64_t met; /* of these, those that the request met before */
    uint32_t from, code, thread, tid;
    int has_begun_there; /* in the thread in which it ended */
    int is_over;         /* with a request-end */
};

struct probity_watch_requests;

/* Returns NULL if out of memory. report: called for each request that took longer than the lowest
 * limit. It returns the conditions that the request has met, which are not passed again. */
struct probity_watch_requests *
probity_watch_requests_open(uint64_t least,
                            uint64_t (*report)(void *context,
                                               const struct probity_watch_request *),
                            void *context);
void probity_watch_requests_limit(struct probity_watch_requests *requests, uint64_t least);
void probity_watch_requests_close(struct probity_watch_requests *requests);

void probity_watch_requests_hit(struct probity_watch_requests *requests,
                                const struct probity_watch_hit *hit);

/* Call when all hits older than the tick have been read: processes them. */
void probity_watch_requests_follow(struct probity_watch_requests *requests, uint64_t horizon);

#endif
