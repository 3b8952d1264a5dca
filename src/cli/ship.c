/* SPDX-License-Identifier: MIT
 *
 * ship.c: `probity ship`: sends traces to a ClickHouse database and creates its tables.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/option.h"
#include "cli/ship_schema.h"
#include "cli/ship_watch.h"
#include "fleet/rows.h"
#include "print/json.h"
#include "probity.h"

#define ME (&cli_command_ship)

/* A cluster's name is part of a statement. */
static const char name_bytes[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

enum { RETRY_SECONDS_MAX = 7 * 86400, SENDERS = 64, SENDERS_MAX = 4096 };

struct ship_call {
    const char *to, *password_file, *ca, *directory, *cluster;
    int detail, once, init, print_schema, as_json;
    size_t block_rows, retry_seconds, flush_seconds, disk_limit, ttl_days, senders;
    struct cli_fleet fleet;
    json_t *results; /* --json */
};

/* ---- Traces ------------------------------------------------------------------------------------
 */

static int note_result(struct ship_call *call, const char *trace,
                       const struct cli_shipment_result *result)
{
    const struct cli_ship_counts *counts = &result->counts;

    if (!call->as_json) {
        printf("%s: run %016" PRIx64 ": %" PRIu64 " rows in %" PRIu64 " blocks sent%s\n", trace,
               result->run, counts->rows, counts->blocks,
               result->was_there ? ", the rest was already there" : counts->blocks_there > 0
                                       ? ", the others were already there" : "");
        return CLI_OK;
    }
    json_t *object = json_object();
    char run[24];
    snprintf(run, sizeof run, "%016" PRIx64, result->run);
    json_object_set_new(object, "trace", probity_json_string(trace));
    json_object_set_new(object, "run", json_string(run));
    json_object_set_new(object, "detail", json_string(probity_fleet_detail_name(result->detail)));
    probity_json_put_integer(object, "rows", counts->rows);
    probity_json_put_integer(object, "blocks", counts->blocks);
    probity_json_put_integer(object, "bytes", counts->bytes);
    probity_json_put_integer(object, "blocks_there", counts->blocks_there);
    probity_json_put_integer(object, "doubts", counts->doubts);
    json_object_set_new(object, "was_there", json_boolean(result->was_there));
    json_array_append_new(call->results, object);
    return CLI_OK;
}

static struct cli_shipment_options options_of(const struct ship_call *call)
{
    return (struct cli_shipment_options){
        .command = ME, .detail = (enum probity_fleet_detail)call->detail,
        .block_rows = (uint32_t)call->block_rows,
        .retry_ms = (uint64_t)call->retry_seconds * 1000,
        .flush_ms = (uint64_t)call->flush_seconds * 1000};
}

static int run_on(void *context, char **paths, size_t count)
{
    struct ship_call *call = context;
    struct cli_shipment_options options = options_of(call);
    int status = cli_fleet_connect_within(&call->fleet, options.retry_ms);

    if (status != CLI_OK)
        return status;
    options.fleet = &call->fleet;
    call->results = call->as_json ? json_array() : NULL;
    for (size_t i = 0; i < count; i++) {
        struct cli_shipment_result result;
        int one = cli_shipment_run(&options, paths[i], &result);
        if (one != CLI_FAILURE)
            note_result(call, paths[i], &result);
        status = one == CLI_FAILURE || status == CLI_OK ? one : status;
    }
    if (call->as_json) {
        probity_json_dump(call->results, stdout, JSON_INDENT(1));
        putchar('\n');
        json_decref(call->results);
    }
    return status;
}

/* A server may be unreachable for any length of time. */
static int watch(const struct ship_call *call, const struct cli_fleet_options *fleet)
{
    struct cli_watch_options options = {
        .directory = call->directory, .disk_limit = (uint64_t)call->disk_limit << 20,
        .once = call->once, .senders = call->senders, .fleet = *fleet,
        .shipment = options_of(call)};

    options.shipment.retry_ms = UINT64_MAX;
    options.shipment.settle_ms = options.shipment.flush_ms;
    return cli_ship_watch(&options);
}

static int run_call(struct ship_call *call, char **names, size_t count)
{
    const struct cli_fleet_options options = {ME, call->to, call->password_file, call->ca};

    if (call->cluster != NULL &&
        (*call->cluster == '\0' || call->cluster[strspn(call->cluster, name_bytes)] != '\0'))
        return cli_fail_usage(ME, "invalid cluster '%s' (letters, digits, '_' and '-')",
                              call->cluster);
    if ((call->cluster != NULL || call->ttl_days > 0) && !call->init && !call->print_schema)
        return cli_fail_usage(ME, "--cluster and --ttl require --init or --print-schema");
    const struct cli_ship_schema schema = {&call->fleet, call->cluster, (unsigned)call->ttl_days};
    if (call->print_schema)
        return count == 0 ? cli_ship_print_schema(&schema)
                          : cli_fail_usage(ME, "--print-schema: unexpected argument");
    if (count == 0 && !call->init && call->directory == NULL)
        return cli_fail_usage(ME, "no trace given");
    if (count > 0 && call->directory != NULL)
        return cli_fail_usage(ME, "--watch: unexpected argument");
    if (call->directory == NULL && (call->once || call->disk_limit > 0 || call->senders > 0))
        return cli_fail_usage(ME, "--once, --disk-limit and --senders require --watch");
    if (call->senders == 0)
        call->senders = SENDERS;
    int status = cli_fleet_open(&options, &call->fleet);
    if (status == CLI_OK && call->init)
        status = cli_ship_make_tables(&schema);
    if (status == CLI_OK && count > 0)
        status = cli_on_traces(ME, names, count, run_on, call);
    if (status == CLI_OK && call->directory != NULL)
        status = watch(call, &options);
    cli_fleet_close(&call->fleet);
    return status;
}

static int run(int argc, char **argv)
{
    struct ship_call call = {.detail = PROBITY_FLEET_DETAIL_CALLS,
                             .block_rows = PROBITY_FLEET_BLOCK_ROWS, .retry_seconds = 300,
                             .flush_seconds = 10};
    int status = cli_options_take(ME, &call, argc, argv);

    if (status == CLI_OK)
        status = run_call(&call, argv + optind, (size_t)(argc - optind));
    return status < 0 ? CLI_OK : status;
}

static const struct cli_option options[] = {
    {.name = "to", .value = "URL", .brief = "the database",
     .help = "the database, as http://USER@HOST:PORT/DATABASE (default: PROBITY_FLEET)",
     CLI_TEXT(struct ship_call, to)},
    {.name = "password-file", .value = "FILE", .brief = "file with the password",
     .help = "take the password from the first line of FILE (default: PROBITY_FLEET_PASSWORD)",
     CLI_TEXT(struct ship_call, password_file)},
    {.name = "ca", .value = "FILE", .brief = "certificates to trust",
     .help = "with https: trust the certificates in FILE instead of the system's (default: "
             "PROBITY_FLEET_CA)", CLI_TEXT(struct ship_call, ca)},
    {.name = "detail", .value = "DETAIL", .brief = "what to send",
     .help = "summary: sums by minute; calls: also each call, block and request; records: also all "
             "events, for `probity fetch`", .noun = "detail",
     .initial = "calls", CLI_CHOICE(struct ship_call, detail, "summary calls records")},
    {.name = "init", .help = "create the tables first, or migrate those of an earlier version",
     .brief = "create the tables", CLI_FLAG(struct ship_call, init)},
    {.name = "print-schema", .help = "print the statements that create the tables, and do nothing "
                                     "else",
     .brief = "print the tables", CLI_FLAG(struct ship_call, print_schema)},
    {.name = "cluster", .value = "NAME", .brief = "create the tables on a cluster",
     .help = "create the tables on the servers of this cluster: replicated, and distributed by run",
     CLI_TEXT(struct ship_call, cluster)},
    {.name = "ttl", .value = "DAYS", .brief = "days to keep rows",
     .help = "create tables in which calls, blocks, requests, records and sums are removed after "
             "DAYS",
     CLI_NUMBER(struct ship_call, ttl_days, 1, 36500)},
    {.name = "retry", .value = "SECONDS",
     .help = "how long the server may be unreachable before this command fails (default: 300)",
     .brief = "how long to retry",
     CLI_NUMBER(struct ship_call, retry_seconds, 0, RETRY_SECONDS_MAX)},
    {.name = "flush", .value = "SECONDS",
     .help = "while a trace is being recorded, send new rows at this interval (default: 10)",
     .brief = "how long rows may wait", CLI_NUMBER(struct ship_call, flush_seconds, 1, 86400)},
    {.name = "watch", .value = "DIR", .brief = "follow a directory",
     .help = "send all traces in DIR while they are recorded, including those that appear later; "
             "run until ended by a signal", CLI_TEXT(struct ship_call, directory)},
    {.name = "once", .help = "with --watch: exit when everything in DIR has been sent",
     .brief = "exit when all is sent", CLI_FLAG(struct ship_call, once)},
    {.name = "disk-limit", .value = "MIB", .brief = "limit the size of the directory",
     .help = "with --watch: if the traces in DIR take more than this, remove the oldest of those "
             "that have ended and were sent",
     CLI_NUMBER(struct ship_call, disk_limit, 1, 1 << 30)},
    {.name = "senders", .value = "N", .brief = "traces to send at a time",
     .help = "with --watch: how many traces to send at the same time; others wait for their turn "
             "(default: 64)", CLI_NUMBER(struct ship_call, senders, 1, SENDERS_MAX)},
    {.name = "block-rows", .value = "N", .brief = "rows of a block",
     .help = "rows in a block, which is sent as one insert (default: 100000)",
     CLI_NUMBER(struct ship_call, block_rows, 1,
                PROBITY_FLEET_BLOCK_ROWS_MAX)},
    {.name = "json", .help = "print what was sent as JSON", .brief = "print JSON",
     CLI_FLAG(struct ship_call, as_json)},
    CLI_HELP_ROW,
    {.name = NULL},
};

const struct cli_command cli_command_ship = {
    .name = "ship",
    .run = run,
    .summary = "Send traces to a ClickHouse database",
    .usage = "[OPTION]... TRACE... | --watch DIR",
    .help =
        "Sends each trace as rows that `probity report` and any SQL client can read. Each row "
        "arrives exactly once: if this command or the server is killed, run it again. "
        "TRACE.shipped records what the server has acknowledged. doc/fleet.md describes the "
        "tables.",
    .options = options,
};
