/* SPDX-License-Identifier: MIT
 *
 * ship_send.h: sends the blocks of one run, each exactly once (doc/fleet.md, "Blocks").
 */
#ifndef PROBITY_CLI_SHIP_SEND_H
#define PROBITY_CLI_SHIP_SEND_H

#include <time.h>

#include "cli/fleet_client.h"
#include "cli/ship_ledger.h"
#include "fleet/batch.h"
#include "fleet/run.h"

struct cli_ship_counts {
    uint64_t blocks, rows, bytes; /* sent now */
    uint64_t blocks_there;        /* not sent: the server had them */
    uint64_t doubts;              /* unknown outcomes that were resolved */
};

/* A claim on the server that excludes other senders of a run (ship_claim.c). */
struct cli_ship_claim {
    int is_held, is_lost; /* lost: another sender has it, or could have had it for a time */
    uint64_t owner;    /* this sender */
    uint64_t since_ms; /* CLOCK_BOOTTIME before the claim was requested; 0: not trusted */
    uint64_t heard;    /* the server's clock then, in seconds */
};

struct cli_ship_send {
    struct cli_fleet *fleet;
    struct cli_ledger *ledger;
    const char *trace; /* for messages */
    uint64_t run;
    uint64_t retry_ms; /* how long a server may be unreachable */
    uint64_t *rows[PROBITY_FLEET_TABLES]; /* by block: rows that the server has, or must have */
    size_t known[PROBITY_FLEET_TABLES], rooms[PROBITY_FLEET_TABLES];
    size_t sent[PROBITY_FLEET_TABLES];     /* blocks of the trace so far */
    struct probity_fleet_bytes bytes;      /* of a block */
    struct cli_ship_claim claim;
    struct cli_ship_counts counts;
    uint64_t lost_blocks; /* acknowledged before, but no longer on the server */
    uint64_t missing_blocks; /* found missing by the latest cli_ship_verify() */
};

/* Checks the version of the tables, waits until no insert of this run is in progress and queries
 * which blocks exist. Reports errors. Returns an exit status. */
int cli_ship_begin(struct cli_ship_send *send);

/* Claims the run, so that no sender elsewhere sends it as well; CLI_SHIP_BUSY: there is one, which
 * was reported unless is_quiet. Returns an exit status, or that. */
enum { CLI_SHIP_BUSY = -1 };
int cli_ship_claim(struct cli_ship_send *send, int is_quiet);

/* Renews the claim when it is time; if it had expired, counts all blocks again. Reports errors.
 * Returns 0 or -1. */
int cli_ship_hold(struct cli_ship_send *send);

/* If the tables have replicas, waits until those that are queried have all earlier inserts. */
void cli_ship_await_replicas(const struct cli_ship_send *send);

/* The time, by the server's clock, from which nothing may be inserted under this claim. 0: there is
 * no claim. */
uint64_t cli_ship_deadline(const struct cli_ship_send *send);

/* Releases the claim, if it is held. */
void cli_ship_unclaim(struct cli_ship_send *send);

/* Executes a statement until the server replies. Reports errors. Returns 0 or -1. */
int cli_ship_ask(struct cli_ship_send *send, const char *sql,
                 struct probity_fleet_answer *ret_answer);

/* Inserts an encoded block of rows that may be there twice, until the server has it. Reports
 * errors. Returns 0 or PROBITY_ERROR_WRITE. */
int cli_ship_insert_plain(struct cli_ship_send *send, enum probity_fleet_table_number table,
                          const struct probity_fleet_bytes *bytes);

/* Counts all blocks again, keeping those that are known. Returns 0 or -1. */
int cli_ship_recount(struct cli_ship_send *send);

/* Number of rows of a block when it was sent, according to the server, or else to the ledger. 0: as
 * far as they know, it was not sent. */
uint64_t cli_ship_known(const struct cli_ship_send *send, enum probity_fleet_table_number table,
                        uint32_t block);

/* Sends a block, unless it is there. Reports errors. Returns 0 or PROBITY_ERROR_WRITE, as a
 * probity_fleet_take. */
int cli_ship_block(struct cli_ship_send *send, const struct probity_fleet_batch *batch,
                   enum probity_fleet_table_number table, uint32_t block);

/* Checks that the server has every block of these tables, and no other. If some are missing, counts
 * them; the caller must then send all blocks again. Reports errors. Returns an exit status. */
int cli_ship_verify(struct cli_ship_send *send);

/* Queries the latest row of the run. ret_is_there: 0 if there is none. The facts have neither path
 * nor texts. Reports errors. Returns an exit status. */
int cli_ship_run(struct cli_ship_send *send, struct probity_fleet_run *ret_run,
                 struct probity_trace_facts *ret_facts, int *ret_is_there);

/* Queries the server's version, as cli_fleet_connect(), but waits up to retry_ms for a server that
 * is unreachable. */
int cli_fleet_connect_within(struct cli_fleet *fleet, uint64_t retry_ms);

/* CLOCK_REALTIME. */
static inline uint64_t cli_ship_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void cli_ship_release(struct cli_ship_send *send);

#endif
