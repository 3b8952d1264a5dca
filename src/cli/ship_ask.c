/* SPDX-License-Identifier: MIT
 *
 * ship_ask.c: see ship_ask.h. This file decides, for all requests about a run, whether to repeat
 * them.
 */
#include "cli/ship_ask.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array_grow.h"
#include "probity.h"

enum {
    WAIT_MS = 50, /* doubled each time */
    WAIT_MS_MAX = 5000,
    WARN_MS = 5000,
    REPLICAS_MS = 3000, /* longer than a replica that is queried may lag; see is_fresh */
    BLOCKS_MAX = 1 << 24,
    STATEMENT_BYTES = 320,
    ID_BYTES = 128
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

int cli_ship_is_passing(const struct cli_http_answer *answer)
{
    static const unsigned codes[] = {
        32, 101, /* a shard's connection ended */
        159, /* timeout */
        202, /* too many queries */
        209, 210, /* socket timeout, network error */
        216, /* a query of this id is running */
        236, /* aborted: the server is stopping */
        225, 242, 999, /* no ZooKeeper, hence read-only */
        241, /* memory limit */
        243, /* no disk space */
        252, /* too many parts */
        279, 285, /* a shard, or too many replicas, are unreachable */
        369, /* no replica of a shard has everything */
        319, /* unknown status of an insert */
        394  /* query was cancelled */
    };
    unsigned code = cli_fleet_error_code(answer);

    /* 408: the request did not arrive in time, for example because this process was stopped. */
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
static void warn_of_wait(const struct cli_ship_send *send, struct cli_ship_patience *patience,
                         uint64_t now, const struct cli_http_answer *answer)
{
    char why[CLI_FLEET_WHY_BYTES];

    if (patience->is_reported || send->retry_ms == UINT64_MAX || now - patience->since_ms < WARN_MS)
        return;
    patience->is_reported = 1;
    cli_warn(send->fleet->command, "'%s' %s; retrying for up to %" PRIu64 " s", send->fleet->url,
             cli_fleet_why(answer, why), send->retry_ms / 1000);
}

int cli_ship_wait(struct cli_ship_send *send, struct cli_ship_patience *patience,
                  const struct cli_http_answer *answer)
{
    uint64_t now = now_ms();

    if (patience->wait_ms == 0)
        *patience = (struct cli_ship_patience){now, WAIT_MS, 0};
    if (!cli_ship_is_passing(answer) || now - patience->since_ms >= send->retry_ms) {
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
    struct cli_ship_patience patience = {.wait_ms = 0};
    struct cli_http_answer answer;

    while (cli_fleet_try(send->fleet, sql, &answer) != 0) {
        if (cli_ship_wait(send, &patience, &answer) != 0)
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

int cli_ship_fail_memory(const struct cli_ship_send *send)
{
    cli_fail(send->fleet->command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    return -1;
}

int cli_ship_fail_answer(const struct cli_ship_send *send)
{
    cli_fail(send->fleet->command, "'%s' returned an invalid reply", send->fleet->url);
    return -1;
}

int cli_ship_settle(struct cli_ship_send *send)
{
    const struct cli_http_answer busy = {.failure = "an insert of this run is still running"};
    struct cli_ship_patience patience = {.wait_ms = 0};
    char sql[STATEMENT_BYTES];

    snprintf(sql, sizeof sql, "SELECT count() FROM system.processes WHERE query_id LIKE "
             "'probity-%016" PRIx64 "-%%'", send->run);
    for (;;) {
        struct probity_fleet_answer answer;
        if (cli_ship_ask(send, sql, &answer) != 0)
            return -1;
        uint64_t running = probity_fleet_take_number(&answer, 8);
        if (answer.is_bad)
            return cli_ship_fail_answer(send);
        if (running == 0 && send->claim.is_held)
            cli_ship_await_replicas(send);
        if (running == 0)
            return 0;
        if (cli_ship_wait(send, &patience, &busy) != 0)
            return -1;
    }
}

int cli_ship_set_rows(struct cli_ship_send *send, size_t table, uint32_t block, uint64_t rows)
{
    if (block >= send->known[table]) {
        uint64_t *grown = block < BLOCKS_MAX
                              ? probity_array_fit(send->rows[table], sizeof *grown,
                                                  (size_t)block + 1, &send->rooms[table])
                              : NULL;
        if (grown == NULL)
            return cli_ship_fail_memory(send);
        send->rows[table] = grown;
        memset(grown + send->known[table], 0, (block + 1 - send->known[table]) * sizeof *grown);
        send->known[table] = (size_t)block + 1;
    }
    send->rows[table][block] = rows;
    return 0;
}

int cli_ship_count_blocks(struct cli_ship_send *send, size_t table, int is_more)
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
        if (!answer.is_bad && cli_ship_set_rows(send, table, block, rows) != 0)
            return -1;
    }
    return answer.is_bad ? cli_ship_fail_answer(send) : 0;
}

int cli_ship_count_block(struct cli_ship_send *send, size_t table, uint32_t block,
                         uint64_t *ret_rows)
{
    struct probity_fleet_answer answer;
    char sql[STATEMENT_BYTES];

    snprintf(sql, sizeof sql, "SELECT count() FROM %s WHERE run = %" PRIu64 " AND block = %" PRIu32,
             probity_fleet_tables[table].name, send->run, block);
    if (cli_ship_ask(send, sql, &answer) != 0)
        return -1;
    *ret_rows = probity_fleet_take_number(&answer, 8);
    return answer.is_bad ? cli_ship_fail_answer(send) : 0;
}

int cli_ship_recount(struct cli_ship_send *send)
{
    int error = cli_ship_settle(send);

    for (size_t i = PROBITY_FLEET_MINUTES; error == 0 && i < PROBITY_FLEET_TABLES; i++)
        error = cli_ship_count_blocks(send, i, 1);
    return error;
}

void cli_ship_await_replicas(const struct cli_ship_send *send)
{
    if (send->fleet->is_fresh)
        wait_ms(REPLICAS_MS);
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
    int error = fclose(stream) == 0 ? cli_ship_ask(send, sql, &answer) : cli_ship_fail_memory(send);
    free(sql);
    if (error != 0)
        return CLI_FAILURE;
    *ret_is_there = !probity_fleet_answer_is_over(&answer);
    if (!*ret_is_there)
        return CLI_OK;
    error = probity_fleet_run_get(&answer, ret_run, ret_facts);
    if (error == PROBITY_ERROR_MEMORY)
        cli_ship_fail_memory(send);
    else if (error != 0)
        cli_ship_fail_answer(send);
    if (error != 0)
        return CLI_FAILURE;
    free((char *)ret_facts->path);
    ret_facts->path = "";
    memset(ret_facts->info.text, 0, sizeof ret_facts->info.text);
    return CLI_OK;
}

int cli_ship_insert_plain(struct cli_ship_send *send, enum probity_fleet_table_number table,
                          const struct probity_fleet_bytes *bytes)
{
    struct cli_ship_patience patience = {.wait_ms = 0};
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
        if (cli_ship_wait(send, &patience, &answer) != 0)
            return PROBITY_ERROR_WRITE;
    }
}
