/* SPDX-License-Identifier: MIT
 *
 * ship.c: `probity ship`: sends traces to a ClickHouse database, and makes its tables.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/option.h"
#include "cli/ship_send.h"
#include "fleet/rows.h"
#include "print/json.h"
#include "probity.h"

#define ME (&cli_command_ship)

enum { BLOCK_ROWS_MAX = 200000, RETRY_SECONDS_MAX = 7 * 86400 };

struct ship_call {
    const char *to, *password_file;
    int detail, init, print_schema, as_json;
    size_t block_rows, retry_seconds;
    struct cli_fleet fleet;
    json_t *results; /* --json */
};

/* ---- Tables ------------------------------------------------------------------------------------
 */

static int print_schema(void)
{
    for (size_t i = 0; i < PROBITY_FLEET_TABLES; i++) {
        probity_fleet_schema_print(stdout, &probity_fleet_tables[i], PROBITY_FLEET_TOKENS);
        puts(i + 1 < PROBITY_FLEET_TABLES ? ";\n" : ";");
    }
    return CLI_OK;
}

static int make_table(struct cli_fleet *fleet, const struct probity_fleet_table *table)
{
    struct probity_fleet_answer answer;
    char *sql = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&sql, &bytes);

    if (stream == NULL)
        return cli_fail(ME, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    probity_fleet_schema_print(stream, table, fleet->version);
    int status = fclose(stream) == 0
                     ? cli_fleet_ask(fleet, sql, &answer)
                     : cli_fail(ME, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    free(sql);
    return status;
}

static int make_tables(struct ship_call *call)
{
    int status = cli_fleet_connect(&call->fleet);

    for (size_t i = 0; status == CLI_OK && i < PROBITY_FLEET_TABLES; i++)
        status = make_table(&call->fleet, &probity_fleet_tables[i]);
    if (status == CLI_OK)
        fprintf(stderr, "probity ship: '%s' has the tables of schema version 1\n",
                call->fleet.url);
    return status;
}

/* ---- One trace ---------------------------------------------------------------------------------
 */

struct shipment {
    struct ship_call *call;
    struct probity_reader *reader;
    struct probity_fleet_rows *rows;
    struct cli_ledger ledger;
    struct cli_ship_send send;
    struct probity_fleet_run run;
    int is_there; /* everything was sent before */
};

static int take_block(void *context, const struct probity_fleet_batch *batch,
                      enum probity_fleet_table_number table, uint32_t block)
{
    struct shipment *shipment = context;

    return cli_ship_block(&shipment->send, batch, table, block);
}

static uint64_t known_rows(void *context, enum probity_fleet_table_number table, uint32_t block)
{
    const struct shipment *shipment = context;

    return cli_ship_known(&shipment->send, table, block);
}

static int put_run(struct shipment *shipment, int is_finished)
{
    struct probity_fleet_batch batch = {.table = &probity_fleet_tables[PROBITY_FLEET_RUNS]};

    shipment->run.is_finished = is_finished;
    shipment->run.version = cli_ship_now_ns();
    probity_fleet_run_put(&batch, &shipment->run, probity_reader_facts(shipment->reader, 0));
    int error = batch.error != 0
                    ? batch.error
                    : cli_ship_block(&shipment->send, &batch, PROBITY_FLEET_RUNS, 0);
    probity_fleet_batch_release(&batch);
    return error;
}

static int put_losses(struct shipment *shipment)
{
    const struct probity_trace_facts *facts = probity_reader_facts(shipment->reader, 0);
    struct probity_fleet_batch batch = {.table = &probity_fleet_tables[PROBITY_FLEET_LOSSES]};
    int error = 0;

    for (size_t i = 0; i < facts->drop_count; i++) {
        const struct probity_trace_drop *drop = &facts->drops[i];
        const uint64_t values[] = {shipment->run.run, drop->from_ns, drop->to_ns, drop->records};
        probity_fleet_put_row(&batch, values);
    }
    if (batch.rows > 0)
        error = batch.error != 0
                    ? batch.error
                    : cli_ship_block(&shipment->send, &batch, PROBITY_FLEET_LOSSES, 0);
    probity_fleet_batch_release(&batch);
    return error;
}

static int take_profiled(void *rows, const struct probity_profiled *profiled)
{
    return probity_fleet_rows_profiled(rows, profiled);
}

static int send_rows(struct shipment *shipment)
{
    const struct probity_event *event;
    struct probity_fleet_rows *rows = shipment->rows;
    int got = 0, error = put_run(shipment, 0);

    while (error == 0 && (got = probity_reader_next(shipment->reader, &event)) > 0)
        error = probity_fleet_rows_put(rows, event);
    if (error == 0)
        error = got;
    if (error == 0)
        error = probity_reader_profile(shipment->reader, 0, take_profiled, rows);
    if (error == 0)
        error = probity_fleet_rows_finish(rows);
    if (error == 0)
        error = put_losses(shipment);
    return error;
}

static int finish(struct shipment *shipment)
{
    struct probity_fleet_run *run = &shipment->run;
    int status = cli_ship_verify(&shipment->send);

    if (status != CLI_OK)
        return status;
    run->repairs = *probity_fleet_rows_repairs(shipment->rows);
    for (size_t i = PROBITY_FLEET_MINUTES; i < PROBITY_FLEET_TABLES; i++)
        run->rows[i] = probity_fleet_rows_count(shipment->rows, (enum probity_fleet_table_number)i);
    if (put_run(shipment, 1) != 0)
        return CLI_FAILURE;
    if (run->rows[PROBITY_FLEET_MINUTES] == 0)
        cli_warn(ME, "'%s' has no calls of functions; hits of probes are not sent",
                 shipment->send.trace);
    if (shipment->send.lost_blocks > 0)
        cli_warn(ME, "'%s': the server no longer had %" PRIu64 " blocks that it had acknowledged; "
                 "they were sent again", shipment->send.trace, shipment->send.lost_blocks);
    if (cli_ledger_finish(&shipment->ledger, probity_fleet_detail_name(run->detail)) != 0)
        cli_warn(ME, "cannot write '%s': %s", shipment->ledger.path, strerror(errno));
    return CLI_OK;
}

/* An error of the sender was reported where it happened. */
static int send_trace(struct shipment *shipment)
{
    const struct probity_fleet_rows_options options = {
        .run = shipment->run.run,
        .block_rows = shipment->run.block_rows,
        .detail = shipment->run.detail,
        .has_cpu = probity_reader_facts(shipment->reader, 0)->info.flags & PROBITY_INFO_CPU_TIME,
        .take = take_block, .known = known_rows, .context = shipment};
    int error = probity_fleet_rows_open(&options, &shipment->rows);

    if (error == 0)
        error = send_rows(shipment);
    int error_number = errno;
    cli_progress_end();
    int status = error == 0 ? finish(shipment)
                 : error == PROBITY_ERROR_WRITE
                     ? CLI_FAILURE
                     : cli_fail_trace(ME, shipment->send.trace, error, error_number);
    if (shipment->rows != NULL)
        probity_fleet_rows_close(shipment->rows);
    return status;
}

/* A run that was sent before keeps its block size, and loses no detail. If its trace was recovered
 * in the meantime, that it was complete does not count. */
static int compare_run(struct shipment *shipment)
{
    struct probity_fleet_run there;
    struct probity_trace_facts before;
    const struct probity_trace_facts *facts = probity_reader_facts(shipment->reader, 0);
    struct probity_fleet_run *run = &shipment->run;
    struct cli_ship_send *send = &shipment->send;
    int is_there, status = cli_ship_run(send, &there, &before, &is_there);

    if (status != CLI_OK || !is_there)
        return status;
    if (there.block_rows > 0)
        run->block_rows = there.block_rows;
    run->detail = there.detail > run->detail ? there.detail : run->detail;
    shipment->is_there = there.is_finished && there.detail == run->detail &&
                         before.state == facts->state && before.end_reason == facts->end_reason;
    for (size_t i = PROBITY_FLEET_MINUTES; i < PROBITY_FLEET_TABLES; i++) {
        uint64_t rows = 0;
        for (size_t j = 0; j < send->known[i]; j++)
            rows += send->rows[i][j];
        shipment->is_there = shipment->is_there && rows == there.rows[i];
    }
    return CLI_OK;
}

static int note_result(const struct shipment *shipment)
{
    const struct cli_ship_counts *counts = &shipment->send.counts;
    struct ship_call *call = shipment->call;
    json_t *object;

    if (!call->as_json) {
        printf("%s: run %016" PRIx64 ": %" PRIu64 " rows in %" PRIu64 " blocks sent%s\n",
               shipment->send.trace, shipment->run.run, counts->rows, counts->blocks,
               shipment->is_there ? ", the rest was there" : counts->blocks_there > 0
                                        ? ", the others were there" : "");
        return CLI_OK;
    }
    object = json_object();
    char run[24];
    snprintf(run, sizeof run, "%016" PRIx64, shipment->run.run);
    json_object_set_new(object, "trace", probity_json_string(shipment->send.trace));
    json_object_set_new(object, "run", json_string(run));
    json_object_set_new(object, "detail",
                        json_string(probity_fleet_detail_name(shipment->run.detail)));
    probity_json_put_integer(object, "rows", counts->rows);
    probity_json_put_integer(object, "blocks", counts->blocks);
    probity_json_put_integer(object, "bytes", counts->bytes);
    probity_json_put_integer(object, "blocks_there", counts->blocks_there);
    probity_json_put_integer(object, "doubts", counts->doubts);
    json_object_set_new(object, "was_there", json_boolean(shipment->is_there));
    json_array_append_new(call->results, object);
    return CLI_OK;
}

static int ship_open(struct shipment *shipment, const char *path)
{
    struct ship_call *call = shipment->call;
    const struct probity_trace_facts *facts = probity_reader_facts(shipment->reader, 0);
    uint64_t run = probity_fleet_run(facts->info.session);

    shipment->run = (struct probity_fleet_run){.run = run,
                                               .detail = (enum probity_fleet_detail)call->detail,
                                               .block_rows = (uint32_t)call->block_rows};
    if (facts->state == PROBITY_TRACE_LIVE)
        return cli_fail(ME, "'%s' is being recorded; send it when it has ended", path);
    int status = cli_ledger_open(ME, path, call->fleet.url, run, &shipment->ledger);
    shipment->send = (struct cli_ship_send){.fleet = &call->fleet, .ledger = &shipment->ledger,
                                            .trace = path, .run = run,
                                            .retry_ms = (uint64_t)call->retry_seconds * 1000};
    if (status == CLI_OK)
        status = cli_ship_begin(&shipment->send);
    if (status == CLI_OK)
        status = compare_run(shipment);
    if (status == CLI_OK && !shipment->is_there)
        status = send_trace(shipment);
    if (status == CLI_OK)
        status = note_result(shipment);
    cli_ship_release(&shipment->send);
    cli_ledger_close(&shipment->ledger);
    return status;
}

static int ship_trace(struct ship_call *call, char *path)
{
    struct probity_reader_options options = {0};
    struct shipment shipment = {.call = call};
    int status = cli_open_reader(ME, &path, 1, &options, &shipment.reader);

    if (status != CLI_OK)
        return status;
    status = ship_open(&shipment, path);
    int judged = cli_judge_traces(ME, shipment.reader);
    probity_reader_close(shipment.reader);
    return status == CLI_OK ? judged : status;
}

/* ---- The command -------------------------------------------------------------------------------
 */

static int run_on(void *context, char **paths, size_t count)
{
    struct ship_call *call = context;
    int status = cli_fleet_connect(&call->fleet);

    if (status != CLI_OK)
        return status;
    call->results = call->as_json ? json_array() : NULL;
    for (size_t i = 0; i < count; i++) {
        int one = ship_trace(call, paths[i]);
        status = one == CLI_FAILURE || status == CLI_OK ? one : status;
    }
    if (call->as_json) {
        json_dumpf(call->results, stdout, JSON_INDENT(1));
        putchar('\n');
        json_decref(call->results);
    }
    return status;
}

static int run_call(struct ship_call *call, char **names, size_t count)
{
    const struct cli_fleet_options options = {ME, call->to, call->password_file};

    if (call->print_schema)
        return count == 0 ? print_schema()
                          : cli_fail_usage(ME, "--print-schema: unexpected argument");
    if (count == 0 && !call->init)
        return cli_fail_usage(ME, "no trace given");
    int status = cli_fleet_open(&options, &call->fleet);
    if (status == CLI_OK && call->init)
        status = make_tables(call);
    if (status == CLI_OK && count > 0)
        status = cli_on_traces(ME, names, count, run_on, call);
    cli_fleet_close(&call->fleet);
    return status;
}

static int run(int argc, char **argv)
{
    struct ship_call call = {.detail = PROBITY_FLEET_DETAIL_CALLS,
                             .block_rows = PROBITY_FLEET_BLOCK_ROWS, .retry_seconds = 300};
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
    {.name = "detail", .value = "DETAIL", .brief = "what to send",
     .help = "calls: each call, and sums by minute; summary: the sums only", .noun = "detail",
     .initial = "calls", CLI_CHOICE(struct ship_call, detail, "summary calls")},
    {.name = "init", .help = "make the tables first; those that exist are kept",
     .brief = "make the tables", CLI_FLAG(struct ship_call, init)},
    {.name = "print-schema", .help = "print the statements that make the tables, and do nothing",
     .brief = "print the tables", CLI_FLAG(struct ship_call, print_schema)},
    {.name = "retry", .value = "SECONDS",
     .help = "how long the server may be away before this command gives up (default: 300)",
     .brief = "how long to retry",
     CLI_NUMBER(struct ship_call, retry_seconds, 0, RETRY_SECONDS_MAX)},
    {.name = "block-rows", .value = "N", .brief = "rows of a block",
     .help = "rows in a block, each of which is one insert (default: 100000); a run keeps the "
             "number that it was first sent with",
     CLI_NUMBER(struct ship_call, block_rows, 1, BLOCK_ROWS_MAX)},
    {.name = "json", .help = "print what was sent as JSON", .brief = "print JSON",
     CLI_FLAG(struct ship_call, as_json)},
    CLI_HELP_ROW,
    {.name = NULL},
};

const struct cli_command cli_command_ship = {
    .name = "ship",
    .run = run,
    .summary = "Send traces to a ClickHouse database",
    .usage = "[OPTION]... TRACE...",
    .help =
        "Sends each trace as rows that `probity report` and any SQL client can read. "
        "Each row arrives exactly once: if this command or the server is killed, run it again. "
        "TRACE.shipped remembers what the server acknowledged. The tables are those of "
        "doc/fleet.md.",
    .options = options,
};
