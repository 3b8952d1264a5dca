/* SPDX-License-Identifier: MIT
 *
 * watch_requests.c: a table of requests in progress, of fixed size, and a buffer of hits that are
 * not processed yet. Runs in the writer thread of the traced program: no malloc().
 */
#include "writer/watch_requests.h"

#include <string.h>
#include <sys/mman.h>

#include "base/assert.h"
#include "probity_typed.h"

enum {
    HITS = 1 << 16, /* not processed yet; if there are more, half are processed early */
    OPEN = 1 << 14, /* requests in progress */
    TRIES = 16      /* number of places where a request may be */
};

struct open {
    uint64_t begin, last, id, conditions, met;
    uint32_t from, thread;
    uint8_t is_used, has_role; /* has_role: it began with a request-begin */
};

struct probity_watch_requests {
    uint64_t (*report)(void *context, const struct probity_watch_request *);
    void *context;
    uint64_t least;
    uint32_t count;
    struct open open[OPEN];
    struct probity_watch_hit hits[HITS], merged[HITS];
};

struct probity_watch_requests *
probity_watch_requests_open(uint64_t least,
                            uint64_t (*report)(void *context,
                                               const struct probity_watch_request *),
                            void *context)
{
    /* All zeros; untouched pages take no memory. */
    struct probity_watch_requests *requests =
        mmap(NULL, sizeof *requests, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (requests == MAP_FAILED)
        return NULL;
    requests->report = report;
    requests->context = context;
    requests->least = least;
    return requests;
}

void probity_watch_requests_limit(struct probity_watch_requests *requests, uint64_t least)
{
    requests->least = least;
}

void probity_watch_requests_close(struct probity_watch_requests *requests)
{
    munmap(requests, sizeof *requests);
}

/* ---- Order -------------------------------------------------------------------------------------
 */

/* Returns the end of the run of ordered hits that begins there. */
static uint32_t run_end(const struct probity_watch_hit *hits, uint32_t at, uint32_t count)
{
    for (at++; at < count && hits[at - 1].tick <= hits[at].tick; at++)
        continue;
    return at < count ? at : count;
}

static void merge(const struct probity_watch_hit *from, uint32_t left, uint32_t middle,
                  uint32_t end, struct probity_watch_hit *to)
{
    uint32_t right = middle;

    for (uint32_t at = left; at < end; at++)
        to[at] = right >= end || (left < middle && from[left].tick <= from[right].tick)
                     ? from[left++]
                     : from[right++];
}

/* Merges neighboring runs until only one is left: the hits of a chunk are in order. */
static void sort(struct probity_watch_requests *requests)
{
    uint32_t count = requests->count, runs;

    if (count == 0)
        return;
    do {
        runs = 0;
        for (uint32_t at = 0; at < count; runs++) {
            uint32_t middle = run_end(requests->hits, at, count);
            uint32_t end = middle < count ? run_end(requests->hits, middle, count) : count;
            merge(requests->hits, at, middle, end, requests->merged);
            at = end;
        }
        memcpy(requests->hits, requests->merged, count * sizeof requests->hits[0]);
    } while (runs > 1);
}

/* ---- Requests ----------------------------------------------------------------------------------
 */

/* Returns the request with this id, or the place for it. */
static struct open *find(struct probity_watch_requests *requests, uint64_t id)
{
    uint32_t at = (uint32_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 32) % OPEN;
    struct open *place = &requests->open[at];

    for (uint32_t i = 0; i < TRIES; i++) {
        struct open *open = &requests->open[(at + i) % OPEN];
        if (open->is_used && open->id == id)
            return open;
        /* A free place, or that of the least recently hit request. */
        if (place->is_used && (!open->is_used || open->last < place->last))
            place = open;
    }
    return place;
}

static void report_request(struct probity_watch_requests *requests, struct open *open,
                           const struct probity_watch_hit *hit)
{
    const struct probity_watch_request request = {
        open->begin, hit->tick, open->id, open->conditions, open->met,
        open->from, hit->code, hit->thread, hit->tid, open->thread == hit->thread,
        hit->role == PROBITY_ROLE_REQUEST_END};

    if (request.is_over || (request.conditions & ~request.met) != 0)
        open->met |= requests->report(requests->context, &request);
}

static void follow(struct probity_watch_requests *requests, const struct probity_watch_hit *hit)
{
    struct open *open = find(requests, hit->id);
    int is_open = open->is_used && open->id == hit->id;

    if (!is_open && hit->role == PROBITY_ROLE_REQUEST_END)
        return;
    if (!is_open || hit->role == PROBITY_ROLE_REQUEST_BEGIN)
        *open = (struct open){hit->tick, hit->tick, hit->id, 0, 0, hit->code, hit->thread,
                              1, hit->role == PROBITY_ROLE_REQUEST_BEGIN};
    open->last = hit->tick;
    open->conditions |= hit->conditions;
    int is_end = hit->role == PROBITY_ROLE_REQUEST_END;
    if ((is_end || !open->has_role) && hit->tick - open->begin > requests->least)
        report_request(requests, open, hit);
    open->is_used = !is_end;
}

void probity_watch_requests_follow(struct probity_watch_requests *requests, uint64_t horizon)
{
    uint32_t done = 0;

    sort(requests);
    for (; done < requests->count && (int64_t)(requests->hits[done].tick - horizon) < 0; done++)
        follow(requests, &requests->hits[done]);
    requests->count -= done;
    memmove(requests->hits, requests->hits + done, requests->count * sizeof requests->hits[0]);
}

void probity_watch_requests_hit(struct probity_watch_requests *requests,
                                const struct probity_watch_hit *hit)
{
    if (requests->count == HITS) {
        sort(requests);
        probity_watch_requests_follow(requests, requests->hits[HITS / 2].tick + 1);
    }
    probity_assert(requests->count < HITS);
    requests->hits[requests->count++] = *hit;
}
