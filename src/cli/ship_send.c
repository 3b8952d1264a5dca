/* SPDX-License-Identifier: MIT
 *
 * ship_send.c: the only place that decides whether a block is sent.
 *
 *     is it there? ──yes──► next block
 *         │no
 *         ▼
 *     insert ──acknowledged──► ledger ──► next block
 *         │otherwise
 *         ▼
 *     wait ──► renew the claim ──► does the insert still run? ──yes──► wait
 *                   │no
 *                   └──► is it there?
 *
 * A block that was acknowledged before, but is not there, is looked for after each insert.
 */
#include "cli/ship_send.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array_grow.h"
#include "base/checksum.h"
#include "cli/ship_schema.h"
#include "probity.h"

enum {
    WAIT_MS = 50, /* doubled each time */
    WAIT_MS_MAX = 5000,
    WARN_MS = 5000,
    REPLICAS_MS = 3000, /* longer than a queried replica may lag, see is_fresh */
    BLOCKS_MAX = 1 << 24,
    STATEMENT_BYTES = 320,
    ID_BYTES = 128,
    TOKEN_BYTES = ID_BYTES + 20,
    LOSSES_MAX = 16, /* of one block, each remembered by the server */
    LATE_MAX = 2 /* after that, a block is late because it takes that long to send */
};

static void wait_ms(uint64_t ms)
{
    struct timespec left = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};

    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- Waiting -----------------------------------------------------------------------------------
 */

/* A series of failures; all zero: none yet. */
struct patience {
    uint64_t since_ms, wait_ms;
    int is_reported;
};

/* Whether a request that failed may succeed later: the server is unreachable or busy, or runs a
 * query of this id. */
static int is_passing(const struct cli_http_answer *answer)
{
    static const unsigned codes[] = {
        32, 101, /* a shard's connection ended */
        159, /* timeout */
        202, /* too many queries */
        209, 210, /* socket timeout, network error */
        216, /* a query of this id is running */
        236, /* aborted: the server is stopping */
        225, 242, 999, /* no ZooKeeper, and so read only */
        241, /* memory limit */
        243, /* no disk space */
        252, /* too many parts */
        279, 285, /* a shard, or too many replicas, are unreachable */
        369, /* no replica of a shard has everything */
        319, /* unknown status of an insert */
        394  /* query was cancelled */
    };
    unsigned code = cli_fleet_error_code(answer);

    /* 408: a request that did not arrive in time, for example because this process was stopped. */
    if (answer->status == 0 || answer->status == 408 || answer->status == 429 ||
        answer->status == 502 || answer->status == 503 || answer->status == 504)
        return 1;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (code == codes[i])
            return 1;
    }
    return 0;
}

/* A caller that retries without limit reports the failure itself. */
static void warn_of_wait(const struct cli_ship_send *send, struct patience *patience, uint64_t now,
                         const struct cli_http_answer *answer)
{
    char why[CLI_FLEET_WHY_BYTES];

    if (patience->is_reported || send->retry_ms == UINT64_MAX || now - patience->since_ms < WARN_MS)
        return;
    patience->is_reported = 1;
    cli_warn(send->fleet->command, "'%s' %s; retrying for up to %" PRIu64 " s", send->fleet->url,
             cli_fleet_why(answer, why), send->retry_ms / 1000);
}

/* Returns 0 after waiting, or -1 after reporting that retrying is useless. */
static int wait_for(struct cli_ship_send *send, struct patience *patience,
                    const struct cli_http_answer *answer)
{
    uint64_t now = now_ms();

    if (patience->wait_ms == 0)
        *patience = (struct patience){now, WAIT_MS, 0};
    if (!is_passing(answer) || now - patience->since_ms >= send->retry_ms) {
        cli_fleet_fail(send->fleet, answer);
        return -1;
    }
    warn_of_wait(send, patience, now, answer);
    wait_ms(patience->wait_ms);
    patience->wait_ms = patience->wait_ms * 2 < WAIT_MS_MAX ? patience->wait_ms * 2 : WAIT_MS_MAX;
    return 0;
}

int cli_ship_ask(struct cli_ship_send *send, const char *sql,
                 struct probity_fleet_answer *ret_answer)
{
    struct patience patience = {.wait_ms = 0};
    struct cli_http_answer answer;

    while (cli_fleet_try(send->fleet, sql, &answer) != 0) {
        if (wait_for(send, &patience, &answer) != 0)
            return -1;
    }
    *ret_answer = (struct probity_fleet_answer){answer.bytes, answer.bytes + answer.count, 0};
    return 0;
}

int cli_fleet_connect_within(struct cli_fleet *fleet, uint64_t retry_ms)
{
    struct cli_ship_send send = {.fleet = fleet, .retry_ms = retry_ms};
    struct probity_fleet_answer answer;

    if (fleet->version != 0)
        return CLI_OK;
    return cli_ship_ask(&send, cli_fleet_version_sql, &answer) == 0
               ? cli_fleet_take_version(fleet, &answer)
               : CLI_FAILURE;
}

static int fail_memory(const struct cli_ship_send *send)
{
    cli_fail(send->fleet->command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    return -1;
}

static int fail_answer(const struct cli_ship_send *send)
{
    cli_fail(send->fleet->command, "'%s' returned an invalid reply", send->fleet->url);
    return -1;
}

/* Waits until the server executes no insert of this run, and replicas have those that have ended:
 * the latest one may have ended just before the server was asked. Without a claim, what is counted
 * next is not relied on. */
static int settle(struct cli_ship_send *send)
{
    const struct cli_http_answer busy = {.failure = "an insert of this run is still running"};
    struct patience patience = {.wait_ms = 0};
    char sql[STATEMENT_BYTES];

    snprintf(sql, sizeof sql, "SELECT count() FROM system.processes WHERE query_id LIKE "
             "'probity-%016" PRIx64 "-%%'", send->run);
    for (;;) {
        struct probity_fleet_answer answer;
        if (cli_ship_ask(send, sql, &answer) != 0)
            return -1;
        uint64_t running = probity_fleet_take_number(&answer, 8);
        if (answer.is_bad)
            return fail_answer(send);
        if (running == 0 && send->claim.is_held)
            cli_ship_await_replicas(send);
        if (running == 0)
            return 0;
        if (wait_for(send, &patience, &busy) != 0)
            return -1;
    }
}

/* ---- Blocks on the server ----------------------------------------------------------------------
 */

static int set_rows(struct cli_ship_send *send, size_t table, uint32_t block, uint64_t rows)
{
    if (block >= send->known[table]) {
        uint64_t *grown = block < BLOCKS_MAX
                              ? probity_array_fit(send->rows[table], sizeof *grown,
                                                  (size_t)block + 1, &send->rooms[table])
                              : NULL;
        if (grown == NULL)
            return fail_memory(send);
        send->rows[table] = grown;
        memset(grown + send->known[table], 0, (block + 1 - send->known[table]) * sizeof *grown);
        send->known[table] = (size_t)block + 1;
    }
    send->rows[table][block] = rows;
    return 0;
}

/* is_more: keeps those known before. */
static int count_blocks(struct cli_ship_send *send, size_t table, int is_more)
{
    struct probity_fleet_answer answer;
    char sql[STATEMENT_BYTES];

    snprintf(sql, sizeof sql, "SELECT block, count() FROM %s WHERE run = %" PRIu64
             " GROUP BY block ORDER BY block", probity_fleet_tables[table].name, send->run);
    if (cli_ship_ask(send, sql, &answer) != 0)
        return -1;
    if (!is_more)
        send->known[table] = 0;
    while (!probity_fleet_answer_is_over(&answer)) {
        uint32_t block = (uint32_t)probity_fleet_take_number(&answer, 4);
        uint64_t rows = probity_fleet_take_number(&answer, 8);
        if (!answer.is_bad && set_rows(send, table, block, rows) != 0)
            return -1;
    }
    return answer.is_bad ? fail_answer(send) : 0;
}

static int count_block(struct cli_ship_send *send, size_t table, uint32_t block,
                       uint64_t *ret_rows)
{
    struct probity_fleet_answer answer;
    char sql[STATEMENT_BYTES];

    snprintf(sql, sizeof sql, "SELECT count() FROM %s WHERE run = %" PRIu64 " AND block = %" PRIu32,
             probity_fleet_tables[table].name, send->run, block);
    if (cli_ship_ask(send, sql, &answer) != 0)
        return -1;
    *ret_rows = probity_fleet_take_number(&answer, 8);
    return answer.is_bad ? fail_answer(send) : 0;
}

uint64_t cli_ship_known(const struct cli_ship_send *send, enum probity_fleet_table_number table,
                        uint32_t block)
{
    uint64_t there = block < send->known[table] ? send->rows[table][block] : 0;

    return there > 0 ? there : cli_ledger_at(send->ledger, table, block).rows;
}

int cli_ship_recount(struct cli_ship_send *send)
{
    int error = settle(send);

    for (size_t i = PROBITY_FLEET_MINUTES; error == 0 && i < PROBITY_FLEET_TABLES; i++)
        error = count_blocks(send, i, 1);
    return error;
}

/* A database without the table answers with an error. */
static int check_version(struct cli_ship_send *send)
{
    struct patience patience = {.wait_ms = 0};
    struct cli_http_answer answer;
    unsigned version;

    while (cli_fleet_try(send->fleet, cli_ship_version_sql, &answer) != 0 && is_passing(&answer)) {
        if (wait_for(send, &patience, &answer) != 0)
            return -1;
    }
    return cli_ship_take_version(send->fleet, &answer, &version) == CLI_OK &&
                   cli_ship_judge_version(send->fleet, version) == CLI_OK
               ? 0
               : -1;
}

/* A server without a session with ZooKeeper cannot determine whether it lags, so its answers are
 * not used: waits until it has one. */
static int find_replicas(struct cli_ship_send *send)
{
    const struct cli_http_answer lost = {.failure = "the server has no session with ZooKeeper"};
    struct patience patience = {.wait_ms = 0};

    for (;;) {
        struct probity_fleet_answer answer;
        if (cli_ship_ask(send, "SELECT toUInt8(countIf(total_replicas != 1) > 0), "
                         "toUInt8(countIf(is_session_expired OR total_replicas = 0) > 0) FROM "
                         "system.replicas WHERE database = currentDatabase() AND table = "
                         "'probity_senders_local'", &answer) != 0)
            return -1;
        send->fleet->is_fresh = (int)probity_fleet_take_number(&answer, 1);
        uint64_t is_lost = probity_fleet_take_number(&answer, 1);
        if (answer.is_bad)
            return fail_answer(send);
        if (!is_lost)
            return 0;
        if (wait_for(send, &patience, &lost) != 0)
            return -1;
    }
}

void cli_ship_await_replicas(const struct cli_ship_send *send)
{
    if (send->fleet->is_fresh)
        wait_ms(REPLICAS_MS);
}

int cli_ship_begin(struct cli_ship_send *send)
{
    int error = check_version(send);

    if (error == 0)
        error = find_replicas(send);
    if (error == 0)
        error = settle(send);

    for (size_t i = PROBITY_FLEET_MINUTES; error == 0 && i < PROBITY_FLEET_TABLES; i++)
        error = count_blocks(send, i, 0);
    return error == 0 ? CLI_OK : CLI_FAILURE;
}

int cli_ship_run(struct cli_ship_send *send, struct probity_fleet_run *ret_run,
                 struct probity_trace_facts *ret_facts, int *ret_is_there)
{
    const struct probity_fleet_table *table = &probity_fleet_tables[PROBITY_FLEET_RUNS];
    struct probity_fleet_answer answer;
    char *sql = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&sql, &bytes);

    if (stream == NULL)
        return cli_fail(send->fleet->command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    fputs("SELECT ", stream);
    for (size_t i = 0; i < table->column_count; i++)
        fprintf(stream, "%s%s", i > 0 ? ", " : "", table->columns[i].name);
    fprintf(stream, " FROM %s WHERE run = %" PRIu64 " ORDER BY version DESC LIMIT 1", table->name,
            send->run);
    int error = fclose(stream) == 0 ? cli_ship_ask(send, sql, &answer) : fail_memory(send);
    free(sql);
    if (error != 0)
        return CLI_FAILURE;
    *ret_is_there = !probity_fleet_answer_is_over(&answer);
    if (!*ret_is_there)
        return CLI_OK;
    error = probity_fleet_run_get(&answer, ret_run, ret_facts);
    if (error != 0) {
        error = error == PROBITY_ERROR_MEMORY ? fail_memory(send) : fail_answer(send);
        return CLI_FAILURE;
    }
    free((char *)ret_facts->path);
    ret_facts->path = "";
    memset(ret_facts->info.text, 0, sizeof ret_facts->info.text);
    return CLI_OK;
}

/* ---- Sending -----------------------------------------------------------------------------------
 */

static int fail_rows(struct cli_ship_send *send, size_t table, uint32_t block, uint64_t there,
                     uint64_t rows)
{
    cli_fail(send->fleet->command, "'%s': %s has %" PRIu64 " rows of block %" PRIu32 " of run "
             "%016" PRIx64 ", which has %" PRIu64 "; either two processes sent this trace at the "
             "same time, or it has changed since it was sent", send->trace,
             probity_fleet_tables[table].name,
             there, block, send->run, rows);
    return PROBITY_ERROR_WRITE;
}

struct block_of {
    size_t table;
    uint32_t block;
};

/* The token by which the server recognizes an insert: the same one from every sender, so that it
 * takes a block from one of them only. A server may remember the token of a block that it has lost:
 * it acknowledges the block and does not add it. Only then is the next token used, which is the
 * same from every sender, too. */
static void make_token(char ret_token[TOKEN_BYTES], const char *id, unsigned losses)
{
    if (losses > 0)
        snprintf(ret_token, TOKEN_BYTES, "%s-%u", id, losses);
    else
        snprintf(ret_token, TOKEN_BYTES, "%s", id);
}

/* Called after an insert that was not acknowledged. Returns 0 when it is certain that the server no
 * longer executes it, and this sender has the run, or -1. */
static int doubt(struct cli_ship_send *send, struct patience *patience,
                 const struct cli_http_answer *answer, unsigned *late)
{
    if (cli_fleet_error_code(answer) == CLI_FLEET_TOO_LATE) {
        send->claim.since_ms = 0;
        ++*late;
    } else if (wait_for(send, patience, answer) != 0) {
        return -1;
    }
    return cli_ship_hold(send) != 0 || settle(send) != 0 ? -1 : 0;
}

/* An insert until it is acknowledged, or the block turns out to be there: `ret_there` is its number
 * of rows, or 0 if it was not counted. Returns 0 or PROBITY_ERROR_WRITE. */
static int insert_acknowledged(struct cli_ship_send *send, struct cli_fleet_insert *insert,
                               const struct block_of *of, uint64_t *ret_there)
{
    struct patience patience = {.wait_ms = 0};
    struct cli_http_answer answer;
    unsigned late = 0;

    for (*ret_there = 0; *ret_there == 0;) {
        insert->deadline = late < LATE_MAX ? cli_ship_deadline(send) : 0;
        cli_fleet_insert(send->fleet, insert, &answer);
        if (answer.status == 200)
            return 0;
        send->counts.doubts++;
        if (doubt(send, &patience, &answer, &late) != 0 ||
            count_block(send, of->table, of->block, ret_there) != 0)
            return PROBITY_ERROR_WRITE;
    }
    return 0;
}

/* What became of an acknowledged insert. */
static int count_after(struct cli_ship_send *send, const struct block_of *of, uint64_t *ret_there)
{
    cli_ship_await_replicas(send);
    return count_block(send, of->table, of->block, ret_there) == 0 ? 0 : PROBITY_ERROR_WRITE;
}

/* Inserts the encoded block until the server has it. is_again: it was acknowledged before. */
static int insert_once(struct cli_ship_send *send, const struct block_of *of, uint64_t rows,
                       int is_again)
{
    char id[ID_BYTES], token[TOKEN_BYTES];
    uint64_t there = 0;
    int error = 0;

    snprintf(id, sizeof id, "probity-%016" PRIx64 "-%s-%" PRIu32, send->run,
             probity_fleet_tables[of->table].name, of->block);
    struct cli_fleet_insert insert = {
        .table = &probity_fleet_tables[of->table], .id = id, .token = token,
        .bytes = send->bytes.items, .count = send->bytes.count};
    for (unsigned losses = 0; error == 0 && there == 0 && losses <= LOSSES_MAX; losses++) {
        make_token(token, id, losses);
        error = insert_acknowledged(send, &insert, of, &there);
        if (!is_again)
            break;
        if (error == 0 && there == 0)
            error = count_after(send, of, &there);
    }
    if (error != 0)
        return error;
    if (there != 0 && there != rows)
        return fail_rows(send, of->table, of->block, there, rows);
    send->counts.blocks++;
    send->counts.rows += rows;
    send->counts.bytes += send->bytes.count;
    return 0;
}

int cli_ship_insert_plain(struct cli_ship_send *send, enum probity_fleet_table_number table,
                          const struct probity_fleet_bytes *bytes)
{
    struct patience patience = {.wait_ms = 0};
    struct cli_http_answer answer;
    char id[ID_BYTES];

    snprintf(id, sizeof id, "probity-%016" PRIx64 "-%s-%" PRIx64, send->run,
             probity_fleet_tables[table].name, cli_ship_now_ns());
    const struct cli_fleet_insert insert = {.table = &probity_fleet_tables[table], .id = id,
                                            .bytes = bytes->items, .count = bytes->count};
    for (;;) {
        cli_fleet_insert(send->fleet, &insert, &answer);
        if (answer.status == 200)
            return 0;
        if (wait_for(send, &patience, &answer) != 0)
            return PROBITY_ERROR_WRITE;
    }
}

static int fail_changed(struct cli_ship_send *send, size_t table, uint32_t block)
{
    cli_fail(send->fleet->command, "'%s' has changed since its block %" PRIu32 " was sent to %s; "
             "nothing more was sent", send->trace, block, probity_fleet_tables[table].name);
    return PROBITY_ERROR_WRITE;
}

static int send_once(struct cli_ship_send *send, size_t table, uint32_t block, uint64_t rows)
{
    uint64_t there = block < send->known[table] ? send->rows[table][block] : 0;
    uint32_t checksum = probity_checksum(0, send->bytes.items, send->bytes.count);
    struct cli_ledger_block noted = cli_ledger_at(send->ledger,
                                                  (enum probity_fleet_table_number)table, block);

    send->sent[table] = (size_t)block + 1;
    if (noted.rows != 0 && (noted.rows != rows || noted.checksum != checksum))
        return fail_changed(send, table, block);
    if (there != 0 && there != rows)
        return fail_rows(send, table, block, there, rows);
    if (there == 0) {
        send->lost_blocks += noted.rows != 0;
        const struct block_of of = {table, block};
        int error = insert_once(send, &of, rows, noted.rows != 0);
        if (error != 0)
            return error;
    } else {
        send->counts.blocks_there++;
    }
    if (set_rows(send, table, block, rows) != 0)
        return PROBITY_ERROR_WRITE;
    if (noted.rows == 0 &&
        cli_ledger_add(send->ledger, (enum probity_fleet_table_number)table, block,
                       (struct cli_ledger_block){rows, checksum}) != 0) {
        cli_fail(send->fleet->command, "cannot write '%s': %s", send->ledger->path,
                 strerror(errno));
        return PROBITY_ERROR_WRITE;
    }
    return 0;
}

int cli_ship_block(struct cli_ship_send *send, const struct probity_fleet_batch *batch,
                   enum probity_fleet_table_number table, uint32_t block)
{
    int error = probity_fleet_batch_encode(batch, &send->bytes);

    if (error == 0 && cli_ship_hold(send) != 0)
        error = PROBITY_ERROR_WRITE;
    if (error != 0)
        return error;
    return table >= PROBITY_FLEET_MINUTES ? send_once(send, table, block, batch->rows)
                                          : cli_ship_insert_plain(send, table, &send->bytes);
}

/* ---- Verifying ---------------------------------------------------------------------------------
 */

static int verify_table(struct cli_ship_send *send, size_t table)
{
    size_t count = send->sent[table];
    uint64_t *wanted = calloc(count + 1, sizeof *wanted);

    if (wanted == NULL)
        return fail_memory(send);
    if (count > 0)
        memcpy(wanted, send->rows[table], count * sizeof *wanted);
    int error = count_blocks(send, table, 0);
    for (size_t i = 0; error == 0 && i < (count > send->known[table] ? count : send->known[table]);
         i++) {
        uint64_t there = i < send->known[table] ? send->rows[table][i] : 0;
        uint64_t rows = i < count ? wanted[i] : 0;
        if (there == 0 && rows > 0)
            send->missing_blocks++;
        else if (there != rows)
            error = fail_rows(send, table, (uint32_t)i, there, rows);
    }
    free(wanted);
    return error;
}

int cli_ship_verify(struct cli_ship_send *send)
{
    int error = settle(send);

    send->missing_blocks = 0;
    for (size_t i = PROBITY_FLEET_MINUTES; error == 0 && i < PROBITY_FLEET_TABLES; i++) {
        if (send->sent[i] > 0)
            error = verify_table(send, i);
        send->sent[i] = 0;
    }
    return error == 0 ? CLI_OK : CLI_FAILURE;
}

void cli_ship_release(struct cli_ship_send *send)
{
    for (size_t i = 0; i < PROBITY_FLEET_TABLES; i++)
        free(send->rows[i]);
    free(send->bytes.items);
}
