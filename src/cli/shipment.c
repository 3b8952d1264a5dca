/* SPDX-License-Identifier: MIT
 *
 * shipment.c: turns events of one trace into rows and sends them. If the server turns out to have
 * lost blocks, reads the trace again and sends them again.
 */
#include "cli/shipment.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "answers/list/coverage.h"
#include "cli/ship_claim.h"
#include "cli/ship_source.h"
#include "fleet/numbers.h"
#include "fleet/rows.h"
#include "fleet/sites.h"
#include "probity.h"

enum { PASSES_MAX = 3, POLL_MS = 100, EVENTS_BETWEEN_LOOKS = 4096 };

struct shipment {
    const struct cli_shipment_options *options;
    struct probity_reader *reader;
    struct probity_fleet_rows *rows;
    struct probity_coverage *probes; /* their hits */
    struct cli_ledger ledger;
    struct cli_ship_send send;
    struct probity_fleet_run run;
    int is_there; /* everything had already been sent */
    int is_live;  /* was being recorded when it was opened */
    enum cli_shipment_outcome outcome;
    uint64_t flushed_ns, latest_ns; /* time of the latest flush; of the latest event */
};

/* The sender has reported its error. */
static int fail_send(const struct shipment *shipment, int error)
{
    return error == PROBITY_ERROR_WRITE
               ? CLI_FAILURE
               : cli_fail_trace(shipment->options->command, shipment->send.trace, error, errno);
}

/* ---- Rows other than blocks --------------------------------------------------------------------
 */

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

struct sites_put {
    struct probity_fleet_batch batch;
    uint64_t run, version;
};

static int put_listed(void *context, const struct probity_listed_site *site)
{
    struct sites_put *put = context;
    const struct probity_fleet_site row = {.site = *site, .is_listed = 1};

    probity_fleet_site_put(&put->batch, put->run, put->version, &row);
    return put->batch.error;
}

static int put_hit_probes(struct shipment *shipment, struct sites_put *put)
{
    const struct probity_coverage_site **sites;
    size_t count;
    int error = probity_coverage_finish(shipment->probes, &sites, &count);

    for (size_t i = 0; error == 0 && i < count; i++) {
        const struct probity_fleet_site row = {
            .site = {.kind = sites[i]->kind, .number = sites[i]->number, .line = sites[i]->line,
                     .name = sites[i]->name, .file = sites[i]->file, .within = sites[i]->within,
                     .signature = "", .object = ""},
            .hits = sites[i]->hits};
        if (row.hits > 0)
            probity_fleet_site_put(&put->batch, put->run, put->version, &row);
    }
    return error;
}

/* Sends the sites that are compiled in and the probes that were hit. */
static int put_sites(struct shipment *shipment)
{
    struct sites_put put = {.batch.table = &probity_fleet_tables[PROBITY_FLEET_SITES],
                            .run = shipment->run.run, .version = cli_ship_now_ns()};
    struct probity_fleet_site rest = {.site = {.name = "", .file = "", .within = "",
                                               .signature = "", .object = ""}};
    int error = probity_reader_sites(shipment->reader, 0, put_listed, &put, &rest.hits);

    if (error == 0)
        error = put_hit_probes(shipment, &put);
    if (error == 0 && rest.hits > 0)
        probity_fleet_site_put(&put.batch, put.run, put.version, &rest);
    error = error == 0 ? put.batch.error : error;
    if (error == 0 && put.batch.rows > 0)
        error = cli_ship_block(&shipment->send, &put.batch, PROBITY_FLEET_SITES, 0);
    probity_fleet_batch_release(&put.batch);
    return error;
}

/* ---- Events ------------------------------------------------------------------------------------
 */

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

static int take_profiled(void *rows, const struct probity_profiled *profiled)
{
    return probity_fleet_rows_profiled(rows, profiled);
}

static void set_pending(const struct shipment *shipment, uint64_t ns)
{
    struct cli_shipment_progress *progress = shipment->options->progress;

    if (progress != NULL)
        __atomic_store_n(&progress->pending_ns, ns, __ATOMIC_RELAXED);
}

/* Whether another trace is waiting for this process to end. */
static int must_make_room(const struct shipment *shipment)
{
    struct cli_shipment_progress *progress = shipment->options->progress;

    return progress != NULL && __atomic_load_n(&progress->must_make_room, __ATOMIC_RELAXED);
}

/* The new part begins when nothing is left to read, or when something is sent. */
static void begin_turn(const struct shipment *shipment, int waits)
{
    struct cli_shipment_progress *progress = shipment->options->progress;
    struct timespec now;

    if (progress == NULL || progress->turn_ns != 0 ||
        (!waits && shipment->send.counts.blocks == 0))
        return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    __atomic_store_n(&progress->turn_ns,
                     (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec, __ATOMIC_RELAXED);
}

/* For a live trace, sends all rows so far, and the time that they cover. */
static int flush(struct shipment *shipment)
{
    uint64_t now_ns = cli_ship_now_ns();
    int is_due = now_ns - shipment->flushed_ns >= shipment->options->flush_ms * 1000000 ||
                 shipment->outcome == CLI_SHIPMENT_MADE_ROOM;

    if (!is_due || shipment->latest_ns <= shipment->run.sent_ns)
        return 0;
    int error = probity_fleet_rows_flush(shipment->rows);
    if (error != 0)
        return error;
    shipment->run.sent_ns = shipment->latest_ns;
    shipment->flushed_ns = now_ns;
    set_pending(shipment, 0);
    return put_run(shipment, 0);
}

static int put_event(struct shipment *shipment, const struct probity_event *event)
{
    uint64_t sent_ns = shipment->run.sent_ns;

    if (shipment->latest_ns <= sent_ns && event->wall_ns > sent_ns)
        set_pending(shipment, event->wall_ns);
    shipment->latest_ns = event->wall_ns > shipment->latest_ns ? event->wall_ns
                                                               : shipment->latest_ns;
    int error = event->kind == PROBITY_EVENT_HIT || event->kind == PROBITY_EVENT_SITE
                    ? probity_coverage_put(shipment->probes, event)
                    : 0;
    return error == 0 ? probity_fleet_rows_put(shipment->rows, event) : error;
}

static void pause_a_little(void)
{
    const struct timespec pause = {.tv_nsec = POLL_MS * 1000000L};

    nanosleep(&pause, NULL);
}

/* Called between the events of a live program. */
static int look_up(struct shipment *shipment, int waits)
{
    begin_turn(shipment, waits);
    if (cli_ship_hold(&shipment->send) != 0)
        return PROBITY_ERROR_WRITE;
    if (must_make_room(shipment))
        shipment->outcome = CLI_SHIPMENT_MADE_ROOM;
    return flush(shipment);
}

/* Takes all events, including those that a live program records later, unless another trace is
 * waiting. Returns 0 or an error. */
static int put_events(struct shipment *shipment)
{
    const struct probity_event *event;
    unsigned looks = 0;
    int got, error = 0;

    while (error == 0 && shipment->outcome == CLI_SHIPMENT_COMPLETE &&
           (got = probity_reader_next(shipment->reader, &event)) != 0) {
        if (got < 0)
            return got;
        if (got == 1)
            error = put_event(shipment, event);
        int waits = got == PROBITY_READER_WAITS;
        if (waits || (shipment->is_live && ++looks % EVENTS_BETWEEN_LOOKS == 0))
            error = error == 0 ? look_up(shipment, waits) : error;
        if (waits && error == 0 && shipment->outcome == CLI_SHIPMENT_COMPLETE)
            pause_a_little();
    }
    return error;
}

/* The bytes of a trace are complete only if there is no spool. */
static int check_records(const struct shipment *shipment)
{
    const struct probity_trace_facts *facts = probity_reader_facts(shipment->reader, 0);

    if (shipment->run.detail != PROBITY_FLEET_DETAIL_RECORDS ||
        facts->state != PROBITY_TRACE_KILLED)
        return CLI_OK;
    return cli_fail(shipment->options->command, "'%s': its program was killed, and its last "
                    "records are not in the file; run `probity recover` first, or send it "
                    "without --detail records", facts->path);
}

/* The rows after the events. */
static int put_rest(struct shipment *shipment)
{
    struct probity_fleet_rows *rows = shipment->rows;
    int error = probity_reader_profile(shipment->reader, 0, take_profiled, rows);

    if (error != 0)
        return error;
    /* The trace's program may have been killed since the trace was opened. */
    if (check_records(shipment) != CLI_OK)
        return PROBITY_ERROR_WRITE;
    if (shipment->run.detail == PROBITY_FLEET_DETAIL_RECORDS)
        error = cli_shipment_put_records(rows, probity_reader_facts(shipment->reader, 0));
    if (error != 0)
        return error;
    error = probity_fleet_rows_finish(rows);
    if (error != 0)
        return error;
    error = put_losses(shipment);
    return error != 0 ? error : put_sites(shipment);
}

static int send_rows(struct shipment *shipment)
{
    int error = put_run(shipment, 0);

    if (error == 0)
        error = put_events(shipment);
    if (error != 0 || shipment->outcome == CLI_SHIPMENT_MADE_ROOM)
        return error;
    return put_rest(shipment);
}

/* ---- One trace ---------------------------------------------------------------------------------
 */

static int finish(struct shipment *shipment)
{
    const struct cli_command *command = shipment->options->command;
    struct probity_fleet_run *run = &shipment->run;
    int status = cli_ship_verify(&shipment->send);
    uint64_t rows = 0;

    if (status != CLI_OK || shipment->send.missing_blocks > 0)
        return status;
    run->repairs = *probity_fleet_rows_repairs(shipment->rows);
    for (size_t i = PROBITY_FLEET_MINUTES; i < PROBITY_FLEET_TABLES; i++) {
        run->rows[i] = probity_fleet_rows_count(shipment->rows, (enum probity_fleet_table_number)i);
        rows += run->rows[i];
    }
    run->sent_ns = shipment->latest_ns;
    int error = put_run(shipment, 1);
    if (error != 0)
        return fail_send(shipment, error);
    if (rows == 0)
        cli_warn(command, "'%s' has neither calls of functions nor blocks", shipment->send.trace);
    if (shipment->send.lost_blocks > 0)
        cli_warn(command, "'%s': the server no longer had %" PRIu64 " blocks that it had "
                 "acknowledged; they were sent again", shipment->send.trace,
                 shipment->send.lost_blocks);
    if (cli_ledger_finish(&shipment->ledger, probity_fleet_detail_name(run->detail)) != 0)
        cli_warn(command, "cannot write '%s': %s", shipment->ledger.path, strerror(errno));
    set_pending(shipment, 0);
    return CLI_OK;
}

static int send_trace(struct shipment *shipment)
{
    const struct probity_trace_facts *facts = probity_reader_facts(shipment->reader, 0);
    const struct probity_fleet_rows_options options = {
        .run = shipment->run.run,
        .started_ns = facts->info.anchor.realtime_ns,
        .block_rows = shipment->run.block_rows,
        .detail = shipment->run.detail,
        .has_cpu = facts->info.flags & PROBITY_INFO_CPU_TIME,
        .take = take_block, .known = known_rows, .context = shipment};
    int error = probity_fleet_rows_open(&options, &shipment->rows);

    if (error == 0)
        error = probity_coverage_open(0, 0, &shipment->probes);

    shipment->flushed_ns = cli_ship_now_ns();
    if (error == 0)
        error = send_rows(shipment);
    int error_number = errno;
    cli_progress_end();
    errno = error_number;
    int status = error != 0 ? fail_send(shipment, error)
                 : shipment->outcome == CLI_SHIPMENT_MADE_ROOM ? CLI_OK
                                                               : finish(shipment);
    if (shipment->rows != NULL)
        probity_fleet_rows_close(shipment->rows);
    shipment->rows = NULL;
    if (shipment->probes != NULL)
        probity_coverage_close(shipment->probes);
    shipment->probes = NULL;
    return status;
}

/* Whether the run that was sent as complete is this trace, or the complete trace of which this is
 * an incomplete copy. A trace that was recovered after it was sent does not count as complete. */
static int is_as_sent(const struct probity_trace_facts *sent,
                      const struct probity_trace_facts *facts)
{
    return (sent->state == facts->state && sent->end_reason == facts->end_reason) ||
           (sent->state == PROBITY_TRACE_CLOSED && facts->state == PROBITY_TRACE_UNFINISHED);
}

/* A run that was sent before keeps its block size and detail. */
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
    run->sent_ns = there.detail >= run->detail ? there.sent_ns : 0;
    run->detail = there.detail > run->detail ? there.detail : run->detail;
    shipment->is_there = probity_fleet_run_is_complete(&there) && there.detail == run->detail &&
                         is_as_sent(&before, facts);
    for (size_t i = PROBITY_FLEET_MINUTES; i < PROBITY_FLEET_TABLES; i++) {
        uint64_t rows = 0;
        for (size_t j = 0; j < send->known[i]; j++)
            rows += send->rows[i][j];
        shipment->is_there = shipment->is_there && rows == there.rows[i];
    }
    return CLI_OK;
}

static int open_reader(struct shipment *shipment, char *path)
{
    struct probity_reader_options options = {.follow = 1, .settled = 1};

    return cli_open_reader(shipment->options->command, &path, 1, &options, &shipment->reader);
}

/* Sends the trace until the server has all of it. */
static int send_all(struct shipment *shipment, char *path)
{
    int status = check_records(shipment);

    for (int pass = 0; status == CLI_OK; pass++) {
        if (pass > 0) {
            probity_reader_close(shipment->reader);
            shipment->reader = NULL;
            status = open_reader(shipment, path);
        }
        if (status == CLI_OK)
            status = send_trace(shipment);
        if (status != CLI_OK || shipment->send.missing_blocks == 0)
            return status;
        if (pass + 1 == PASSES_MAX)
            status = cli_fail(shipment->options->command, "'%s': the server acknowledged %" PRIu64
                              " blocks, but does not have them", path,
                              shipment->send.missing_blocks);
    }
    return status;
}

/* The rows of a partial trace are not the first rows of the whole trace: its last calls are in
 * progress, and its clock conversion is less accurate. So a trace that is still growing must not be
 * sent. */
static int wait_for_writer(struct shipment *shipment, const char *path)
{
    const struct cli_shipment_options *options = shipment->options;
    const struct probity_trace_facts *facts = probity_reader_facts(shipment->reader, 0);

    int is_part = facts->state == PROBITY_TRACE_LIVE && facts->is_short;

    if (!is_part && (facts->state != PROBITY_TRACE_UNFINISHED ||
                     !cli_ship_is_written(path, options->settle_ms)))
        return CLI_OK;
    shipment->outcome = CLI_SHIPMENT_POSTPONED;
    if (options->progress != NULL)
        return CLI_OK;
    return cli_fail(options->command, is_part ? "'%s' is a copy of a trace that is being recorded; "
                                                "send the trace itself"
                                              : "'%s' is unfinished, and another process is "
                                                "writing it; send it when that process has "
                                                "ended", path);
}

/* Without a lock, as in a directory that is not writable, only the server is queried. */
static int lock_run(struct shipment *shipment, const char *path, int *ret_lock)
{
    const struct cli_shipment_options *options = shipment->options;

    *ret_lock = cli_ship_lock_run(path, options->fleet->url, shipment->run.run);
    if (*ret_lock != CLI_SHIP_LOCK_BUSY)
        return CLI_OK;
    shipment->outcome = CLI_SHIPMENT_POSTPONED;
    return options->progress != NULL
               ? CLI_OK
               : cli_fail(options->command, "'%s': another process is sending this trace, or a "
                          "copy of it", path);
}

static int find_what_is_there(struct shipment *shipment)
{
    int status = cli_ship_begin(&shipment->send);

    return status == CLI_OK ? compare_run(shipment) : status;
}

/* By then, all blocks that another sender has sent are on the server. */
static int claim_run(struct shipment *shipment)
{
    int is_watched = shipment->options->progress != NULL;
    int status = cli_ship_claim(&shipment->send, is_watched);

    if (status != CLI_SHIP_BUSY)
        return status == CLI_OK ? find_what_is_there(shipment) : status;
    shipment->outcome = CLI_SHIPMENT_POSTPONED;
    return is_watched ? CLI_OK : CLI_FAILURE;
}

static int run_locked(struct shipment *shipment, char *path)
{
    const struct cli_shipment_options *options = shipment->options;
    int status = cli_ledger_open(options->command, path, options->fleet->url, shipment->run.run,
                                 &shipment->ledger);

    if (status == CLI_OK)
        status = find_what_is_there(shipment);
    if (status == CLI_OK && !shipment->is_there)
        status = claim_run(shipment);
    if (status == CLI_OK && !shipment->is_there && shipment->outcome == CLI_SHIPMENT_COMPLETE)
        status = send_all(shipment, path);
    cli_ship_unclaim(&shipment->send);
    cli_ledger_close(&shipment->ledger);
    return status;
}

static int run_open(struct shipment *shipment, char *path, struct cli_shipment_result *ret_result)
{
    const struct cli_shipment_options *options = shipment->options;
    const struct probity_trace_facts *facts = probity_reader_facts(shipment->reader, 0);
    uint64_t run = probity_fleet_run(facts->info.session);
    int lock = CLI_SHIP_LOCK_FAILED, status = wait_for_writer(shipment, path);

    shipment->is_live = facts->state == PROBITY_TRACE_LIVE;
    shipment->run = (struct probity_fleet_run){.run = run, .detail = options->detail,
                                               .block_rows = options->block_rows};
    shipment->send = (struct cli_ship_send){.fleet = options->fleet, .ledger = &shipment->ledger,
                                            .trace = path, .run = run,
                                            .retry_ms = options->retry_ms};
    if (shipment->outcome == CLI_SHIPMENT_COMPLETE)
        status = lock_run(shipment, path, &lock);
    if (shipment->outcome == CLI_SHIPMENT_COMPLETE)
        status = run_locked(shipment, path);
    *ret_result = (struct cli_shipment_result){run, shipment->run.detail, shipment->send.counts,
                                               shipment->is_there, shipment->outcome};
    cli_ship_release(&shipment->send);
    if (lock >= 0)
        close(lock);
    return status;
}

int cli_shipment_run(const struct cli_shipment_options *options, char *path,
                     struct cli_shipment_result *ret_result)
{
    struct shipment shipment = {.options = options};
    int status = open_reader(&shipment, path);

    if (status != CLI_OK)
        return status;
    status = run_open(&shipment, path, ret_result);
    if (shipment.reader == NULL)
        return status;
    int judged = shipment.outcome == CLI_SHIPMENT_COMPLETE
                     ? cli_judge_traces(options->command, shipment.reader)
                     : CLI_OK;
    probity_reader_close(shipment.reader);
    return status == CLI_OK ? judged : status;
}
