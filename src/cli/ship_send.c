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

#include "base/checksum.h"
#include "cli/ship_claim.h"
#include "cli/ship_schema.h"
#include "probity.h"

enum {
    ID_BYTES = 128,
    TOKEN_BYTES = ID_BYTES + 20,
    LOSSES_MAX = 16, /* losses of one block, each remembered by the server */
    LATE_MAX = 2 /* then without a deadline: sending the block just takes longer */
};

uint64_t cli_ship_known(const struct cli_ship_send *send, enum probity_fleet_table_number table,
                        uint32_t block)
{
    uint64_t there = block < send->known[table] ? send->rows[table][block] : 0;

    return there > 0 ? there : cli_ledger_at(send->ledger, table, block).rows;
}

/* A database without the table replies with an error. */
static int check_version(struct cli_ship_send *send)
{
    struct cli_ship_patience patience = {.wait_ms = 0};
    struct cli_http_answer answer;
    unsigned version;

    while (cli_fleet_try(send->fleet, cli_ship_version_sql, &answer) != 0 &&
           cli_ship_is_passing(&answer)) {
        if (cli_ship_wait(send, &patience, &answer) != 0)
            return -1;
    }
    return cli_ship_take_version(send->fleet, &answer, &version) == CLI_OK &&
                   cli_ship_judge_version(send->fleet, version) == CLI_OK
               ? 0
               : -1;
}

/* A server without a ZooKeeper session cannot determine whether it lags, so its replies are not
 * used: waits until it has a session. */
static int find_replicas(struct cli_ship_send *send)
{
    const struct cli_http_answer lost = {.failure = "the server has no session with ZooKeeper"};
    struct cli_ship_patience patience = {.wait_ms = 0};

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
            return cli_ship_fail_answer(send);
        if (!is_lost)
            return 0;
        if (cli_ship_wait(send, &patience, &lost) != 0)
            return -1;
    }
}

int cli_ship_begin(struct cli_ship_send *send)
{
    if (check_version(send) != 0 || find_replicas(send) != 0)
        return CLI_FAILURE;
    int error = cli_ship_settle(send);
    for (size_t i = PROBITY_FLEET_MINUTES; error == 0 && i < PROBITY_FLEET_TABLES; i++)
        error = cli_ship_count_blocks(send, i, 0);
    return error == 0 ? CLI_OK : CLI_FAILURE;
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
 * it acknowledges the block and does not add it. Only then is the next token used, which is also
 * the same from every sender. */
static void make_token(char ret_token[TOKEN_BYTES], const char *id, unsigned losses)
{
    if (losses > 0)
        snprintf(ret_token, TOKEN_BYTES, "%s-%u", id, losses);
    else
        snprintf(ret_token, TOKEN_BYTES, "%s", id);
}

/* Called after an insert that was not acknowledged. Returns 0 when it is certain that the server no
 * longer executes it, and this sender has the run, or -1. */
static int doubt(struct cli_ship_send *send, struct cli_ship_patience *patience,
                 const struct cli_http_answer *answer, unsigned *late)
{
    if (cli_fleet_error_code(answer) == CLI_FLEET_TOO_LATE) {
        send->claim.since_ms = 0;
        ++*late;
    } else if (cli_ship_wait(send, patience, answer) != 0) {
        return -1;
    }
    return cli_ship_hold(send) != 0 || cli_ship_settle(send) != 0 ? -1 : 0;
}

/* Repeats an insert until it is acknowledged, or the block turns out to exist: `ret_there` is then
 * its number of rows, or 0 if it was not counted. Returns 0 or PROBITY_ERROR_WRITE. */
static int insert_acknowledged(struct cli_ship_send *send, struct cli_fleet_insert *insert,
                               const struct block_of *of, uint64_t *ret_there)
{
    struct cli_ship_patience patience = {.wait_ms = 0};
    struct cli_http_answer answer;
    unsigned late = 0;

    for (*ret_there = 0; *ret_there == 0;) {
        insert->deadline = late < LATE_MAX ? cli_ship_deadline(send) : 0;
        cli_fleet_insert(send->fleet, insert, &answer);
        if (answer.status == 200)
            return 0;
        send->counts.doubts++;
        if (doubt(send, &patience, &answer, &late) != 0 ||
            cli_ship_count_block(send, of->table, of->block, ret_there) != 0)
            return PROBITY_ERROR_WRITE;
    }
    return 0;
}

/* Determines the outcome of an acknowledged insert. */
static int count_after(struct cli_ship_send *send, const struct block_of *of, uint64_t *ret_there)
{
    cli_ship_await_replicas(send);
    int error = cli_ship_count_block(send, of->table, of->block, ret_there);
    return error == 0 ? 0 : PROBITY_ERROR_WRITE;
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
    if (cli_ship_set_rows(send, table, block, rows) != 0)
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
        return cli_ship_fail_memory(send);
    if (count > 0)
        memcpy(wanted, send->rows[table], count * sizeof *wanted);
    int error = cli_ship_count_blocks(send, table, 0);
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
    int error = cli_ship_settle(send);

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
