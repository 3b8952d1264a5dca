/* SPDX-License-Identifier: MIT
 *
 * stages.h: the stages of a connection and of a request, each of them a probe. The only file of the
 * server that knows Probity; with PROBITY_DISABLE the program neither calls nor links it.
 *
 * How often a stage is hit is fixed, so that a trace can be checked against the server's own counts
 * (scoreboard.h), also after SIGKILL:
 *
 *     accepted                    once for each connection                   listener's thread
 *     queued                      once for each time it became readable      listener's thread
 *     taken                       once for each time a worker got it         worker's thread
 *     read parsed resolved        once each for every request, whatever      worker's thread,
 *     header body done            the answer, errors and HEAD included       in this order
 *     cgi_started cgi_done        once each for a request that ran a CGI     likewise, between
 *                                 program                                    resolved and header
 *     closed                      once for each connection                   whoever closed it
 *
 * So a request costs 6 hits, with CGI 8. A client that waits for each answer (no pipelining) and
 * sends each request in one piece adds 2 (queued, taken): 8 hits for a static file on a kept
 * connection.
 */
#ifndef HTTPD_STAGES_H
#define HTTPD_STAGES_H

#include "probity.h"

enum stage {
    STAGE_ACCEPTED = 1,
    STAGE_QUEUED = 2,
    STAGE_TAKEN = 3,
    STAGE_READ = 4,     /* the head is in the buffer, or is known to be too long */
    STAGE_PARSED = 5,   /* the head is understood or refused, the body is read */
    STAGE_RESOLVED = 6, /* the file is open, the CGI program found, or the error chosen */
    STAGE_HEADER = 7,   /* the header is handed to the kernel */
    STAGE_BODY = 8,     /* likewise the body, where there is one */
    STAGE_DONE = 9,
    STAGE_CGI_STARTED = 10,
    STAGE_CGI_DONE = 11,
    STAGE_CLOSED = 12
};

#define STAGE_HIT(stage) PROBITY_PROBE(stage)

#ifdef PROBITY_DISABLE
static inline void stages_set_names(void)
{
}
#else
/* Puts the names into the trace. Where nothing is recorded it fails, and nobody misses them. */
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
