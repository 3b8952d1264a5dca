/* SPDX-License-Identifier: MIT
 *
 * shipment.h: sends one trace to a database: closed, killed, or while it is being recorded
 * (doc/fleet.md).
 */
#ifndef PROBITY_CLI_SHIPMENT_H
#define PROBITY_CLI_SHIPMENT_H

#include "cli/ship_send.h"

/* Progress, for a parent process that watches this one. */
struct cli_shipment_progress {
    uint64_t pending_ns; /* CLOCK_REALTIME of the oldest event that was not sent; 0: none */
    uint64_t turn_ns; /* CLOCK_MONOTONIC when everything sent before was read; 0: not yet */
    int must_make_room; /* set by the parent: end when all rows so far were sent */
};

struct cli_shipment_options {
    const struct cli_command *command;
    struct cli_fleet *fleet; /* connected */
    enum probity_fleet_detail detail;
    uint32_t block_rows;
    uint64_t retry_ms;
    uint64_t flush_ms; /* for a live trace: time after which rows are sent in any case */
    struct cli_shipment_progress *progress; /* NULL: no parent watches, and nothing is postponed */
    uint64_t settle_ms; /* a trace without an END must be unchanged for this time before it is
                         * sent */
};

enum cli_shipment_outcome {
    CLI_SHIPMENT_COMPLETE,
    CLI_SHIPMENT_MADE_ROOM, /* all rows so far were sent; the trace is still being recorded */
    CLI_SHIPMENT_POSTPONED  /* another process writes the trace, or sends a copy of it */
};

struct cli_shipment_result {
    uint64_t run;
    enum probity_fleet_detail detail;
    struct cli_ship_counts counts;
    int was_there; /* nothing had to be sent */
    enum cli_shipment_outcome outcome;
};

/* Sends a trace; if it is being recorded, until its end. Reports errors. Returns an exit status;
 * the result is valid unless it is CLI_FAILURE. */
int cli_shipment_run(const struct cli_shipment_options *options, char *path,
                     struct cli_shipment_result *ret_result);

/* In shipment_records.c: puts the bytes of a trace, block by block. facts: of this trace. Returns
 * 0, the result of `take` (fleet/output.h), or an error, the same as probity_reader_open(). */
struct probity_fleet_rows;
int cli_shipment_put_records(struct probity_fleet_rows *rows,
                             const struct probity_trace_facts *facts);

#endif
