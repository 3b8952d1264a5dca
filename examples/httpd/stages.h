/* SPDX-License-Identifier: MIT
 *
 * stages.h: the stages of a connection and of a request, each of them a probe. Only this file of
 * the server uses Probity; with PROBITY_DISABLE the program neither calls nor links it.
 *
 * How often a stage is hit is fixed, so that a trace can be checked against the server's own counts
 * (scoreboard.h), even after SIGKILL:
 *
 *     accepted                    once for each connection                   listener's thread
 *     queued (put)                once for each time it became readable      listener's thread
 *     taken (get)                 once for each time a worker got it         worker's thread
 *     read (begin) parsed         once each for every request, whatever      worker's thread,
 *     resolved header body        the response, errors and HEAD included       in this order
 *     done (end)
 *     cgi_started cgi_done        once each for a request that ran a CGI     the same, between
 *                                 program                                    resolved and header
 *     closed                      once for each connection                   thread that closed it
 *
 * So a request has 6 hits, or 8 with CGI. If the client waits for each response (no pipelining) and
 * sends each request in one piece, there are 2 more (queued, taken): 8 hits for a static file on a
 * kept connection.
 *
 * Those with a word in parentheses have an id (probity_typed.h): the turn, a number that is
 * assigned each time that a connection becomes readable, so that it can be followed from thread to
 * thread. The lock of the queue has named probes: queue:wait if it was not free, queue:hold when a
 * thread has taken it, and queue:release before the thread releases it. Each push, each pop, and
 * each wait of a worker on the empty queue holds the lock once: 4 more hits for that request, 6 if
 * the worker had to wait, and 1 more each time that the lock was not free.
 *
 * Compiled with FN_INSTRUMENT, the functions that serve are scopes (FnTrace.h):
 * worker_serve_connection once for each turn, the others once for each request, and cgi_run if a
 * program was run.
 */
#ifndef HTTPD_STAGES_H
#define HTTPD_STAGES_H

#include "FnTrace.h"
#include "probity_typed.h"

#include <stdbool.h>

enum stage {
    STAGE_ACCEPTED = 1,
    STAGE_QUEUED = 2,
    STAGE_TAKEN = 3,
    STAGE_READ = 4,     /* the head is in the buffer, or too long */
    STAGE_PARSED = 5,   /* the head is parsed or rejected, the body is read */
    STAGE_RESOLVED = 6, /* the file is open, the CGI program found, or the error decided */
    STAGE_HEADER = 7,   /* the header is passed to the kernel */
    STAGE_BODY = 8,     /* the same for the body, if there is one */
    STAGE_DONE = 9,
    STAGE_CGI_STARTED = 10,
    STAGE_CGI_DONE = 11,
    STAGE_CLOSED = 12
};

#define STAGE_HIT(stage) PROBITY_PROBE(stage)

/* --plain-stages clears it before the threads start: stages are then plain hits, and the lock has
 * no probes. */
extern bool stages_have_ids;

#define STAGE_HIT_WITH(stage, role, turn, object)                                                  \
    do {                                                                                           \
        if (stages_have_ids)                                                                       \
            PROBITY_PROBE_ROLE(stage, role, turn, object);                                         \
        else                                                                                       \
            PROBITY_PROBE(stage);                                                                  \
    } while (0)

#define STAGE_PUT(stage, queue, turn) STAGE_HIT_WITH(stage, PROBITY_ROLE_QUEUE_PUT, turn, queue)
#define STAGE_GET(stage, queue, turn) STAGE_HIT_WITH(stage, PROBITY_ROLE_QUEUE_GET, turn, queue)
#define STAGE_BEGIN(stage, turn) STAGE_HIT_WITH(stage, PROBITY_ROLE_REQUEST_BEGIN, turn, 0)
#define STAGE_END(stage, turn) STAGE_HIT_WITH(stage, PROBITY_ROLE_REQUEST_END, turn, 0)

#define LOCK_HIT(probe)                                                                            \
    do {                                                                                           \
        if (stages_have_ids)                                                                       \
            probe;                                                                                 \
    } while (0)

#define QUEUE_LOCK_WAITED_FOR(lock) LOCK_HIT(PROBITY_LOCK_WAIT("queue", lock))
#define QUEUE_LOCK_HELD(lock) LOCK_HIT(PROBITY_LOCK_HOLD("queue", lock))
#define QUEUE_LOCK_RELEASED(lock) LOCK_HIT(PROBITY_LOCK_RELEASE("queue", lock))

#ifdef PROBITY_DISABLE
static inline void stages_set_names(void)
{
}
#else
/* Adds the names to the trace. Fails without effect if nothing is recorded. */
static inline void stages_set_names(void)
{
    static const char *const names[] = {NULL,     "accepted", "queued", "taken", "read",
                                        "parsed", "resolved", "header", "body",  "done",
                                        "cgi_started", "cgi_done", "closed"};

    for (uint32_t stage = STAGE_ACCEPTED; stage <= STAGE_CLOSED; stage++)
        (void)probity_probe_set_name(stage, names[stage]);
}
#endif

#endif
