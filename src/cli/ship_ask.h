/* SPDX-License-Identifier: MIT
 *
 * ship_ask.h: sends requests about one run, and repeats them while the server is unreachable or
 * busy.
 */
#ifndef PROBITY_CLI_SHIP_ASK_H
#define PROBITY_CLI_SHIP_ASK_H

#include <time.h>

#include "cli/fleet_client.h"
#include "cli/ship_ledger.h"
#include "fleet/batch.h"
#include "fleet/run.h"

struct cli_ship_counts {
    uint64_t blocks, rows, bytes; /* sent by this process */
    uint64_t blocks_there;        /* not sent, since the server had them */
    uint64_t doubts;              /* unknown outcomes that were resolved */
};

/* A claim on the server that excludes other senders of a run (ship_claim.h). */
struct cli_ship_claim {
    int is_held, is_lost; /* lost: another sender has it, or may have had it for a time */
    uint64_t owner;    /* this sender */
    uint64_t since_ms; /* CLOCK_BOOTTIME before the claim was requested; 0: not trusted */
    uint64_t heard;    /* server's clock at that time, in seconds */
};

struct cli_ship_send {
    struct cli_fleet *fleet;
    struct cli_ledger *ledger;
    const char *trace; /* for messages */
    uint64_t run;
    uint64_t retry_ms; /* how long a server may be unreachable */
    uint64_t *rows[PROBITY_FLEET_TABLES]; /* by block: number of rows that the server has or must
                                           * have */
    size_t known[PROBITY_FLEET_TABLES], rooms[PROBITY_FLEET_TABLES];
    size_t sent[PROBITY_FLEET_TABLES];     /* number of blocks of the trace so far */
    struct probity_fleet_bytes bytes;      /* of a block */
    struct cli_ship_claim claim;
    struct cli_ship_counts counts;
    uint64_t lost_blocks; /* acknowledged before, but no longer on the server */
    uint64_t missing_blocks; /* found missing by the latest cli_ship_verify() */
};

/* A series of failures; all zero: none yet. */
struct cli_ship_patience {
    uint64_t since_ms, wait_ms;
    int is_reported;
};

/* Whether a request that failed may succeed later: the server is unreachable or busy, or is
 * executing a query with this id. */
int cli_ship_is_passing(const struct cli_http_answer *answer);

/* Returns 0 after waiting, or -1 after reporting that retrying is useless. */
int cli_ship_wait(struct cli_ship_send *send, struct cli_ship_patience *patience,
                  const struct cli_http_answer *answer);

/* These report the error and return -1. */
int cli_ship_fail_memory(const struct cli_ship_send *send);
int cli_ship_fail_answer(const struct cli_ship_send *send);

/* Executes a statement until the server replies. Reports errors. Returns 0 or -1. */
int cli_ship_ask(struct cli_ship_send *send, const char *sql,
                 struct probity_fleet_answer *ret_answer);

/* Inserts an encoded block of rows that may exist twice, until the server has it. Reports errors.
 * Returns 0 or PROBITY_ERROR_WRITE. */
int cli_ship_insert_plain(struct cli_ship_send *send, enum probity_fleet_table_number table,
                          const struct probity_fleet_bytes *bytes);

/* Waits until the server executes no insert of this run, and replicas have all inserts that have
 * ended: the latest one may have ended just before the server was queried. Without a claim, the
 * next counts are not reliable. Reports errors. Returns 0 or -1. */
int cli_ship_settle(struct cli_ship_send *send);

/* If the tables have replicas, waits until those that are queried have all earlier inserts. */
void cli_ship_await_replicas(const struct cli_ship_send *send);

/* Sets the number of rows of a block. Reports errors. Returns 0 or -1. */
int cli_ship_set_rows(struct cli_ship_send *send, size_t table, uint32_t block, uint64_t rows);

/* Counts the rows of each block of a table; is_more: keeps known blocks. Reports errors. Returns 0
 * or -1. */
int cli_ship_count_blocks(struct cli_ship_send *send, size_t table, int is_more);

/* The same for one block. */
int cli_ship_count_block(struct cli_ship_send *send, size_t table, uint32_t block,
                         uint64_t *ret_rows);

/* Counts all blocks again, keeping known ones. Returns 0 or -1. */
int cli_ship_recount(struct cli_ship_send *send);

/* Queries the latest row of the run. ret_is_there: 0 if there is none. The facts contain no path
 * and no texts. Reports errors. Returns an exit status. */
int cli_ship_run(struct cli_ship_send *send, struct probity_fleet_run *ret_run,
                 struct probity_trace_facts *ret_facts, int *ret_is_there);

/* Queries the server's version, like cli_fleet_connect(), but waits up to retry_ms while the server
 * is unreachable. */
int cli_fleet_connect_within(struct cli_fleet *fleet, uint64_t retry_ms);

/* CLOCK_REALTIME. */
static inline uint64_t cli_ship_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#endif
