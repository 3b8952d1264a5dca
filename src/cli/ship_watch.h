/* SPDX-License-Identifier: MIT
 *
 * ship_watch.h: `probity ship --watch`: follows a directory, and sends each trace in it, while it
 * is recorded, in a separate process.
 */
#ifndef PROBITY_CLI_SHIP_WATCH_H
#define PROBITY_CLI_SHIP_WATCH_H

#include "cli/shipment.h"

struct cli_watch_options {
    const char *directory;
    uint64_t disk_limit; /* bytes of traces above which sent ones are removed; 0: no limit */
    int once;            /* 1: end when all existing traces have been sent */
    size_t senders;      /* number of traces to send at a time */
    struct cli_fleet_options fleet;
    struct cli_shipment_options shipment; /* fleet and progress are set in each process */
};

/* Runs until a signal ends it, which loses nothing, at any time. Returns an exit status. */
int cli_ship_watch(const struct cli_watch_options *options);

#endif
