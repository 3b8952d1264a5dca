/* SPDX-License-Identifier: MIT
 *
 * ship_claim.c: excludes senders of the same run on other machines and in other directories, which
 * file locks cannot exclude. A sender writes a row, then checks whether another sender has a row
 * that is neither released nor too old. If two begin at the same time, at least one of them sees
 * the other's row, and gives up. The age of a row is determined by the server's clock, and the
 * server rejects a block whose claim may have expired when it arrives.
 */
#include "cli/ship_claim.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/os.h"
#include "fleet/numbers.h"
#include "probity.h"

/* A claim expires if it is not renewed within this time. Its sender renews it earlier, and relies
 * on it for a shorter time. The server, too, accepts blocks only for a shorter time, since its
 * clock may differ from that of another server of the cluster. */
enum { LEASE_SECONDS = 60, ACCEPT_SECONDS = 45, RENEW_MS = 15000, TRUST_MS = 30000,
       HOST_BYTES = 65, SQL_BYTES = 256 };

struct other {
    int is_there;
    uint64_t age; /* seconds */
    uint32_t pid;
    char host[HOST_BYTES]; /* printable */
};

/* Includes the time for which the machine was suspended. */
static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* A process that holds the lock of the same ledger is the same sender: the previous process has
 * ended. */
static uint64_t find_owner(const struct cli_ledger *ledger)
{
    uint64_t parts[6] = {0};
    struct stat status;

    probity_os_boot_id((uint8_t *)parts);
    if (ledger->file >= 0 && fstat(ledger->file, &status) == 0) {
        parts[2] = (uint64_t)status.st_dev;
        parts[3] = (uint64_t)status.st_ino;
    } else {
        parts[4] = (uint64_t)getpid();
        parts[5] = cli_ship_now_ns();
    }
    return probity_fleet_hash(PROBITY_FLEET_HASH_SEED, parts, sizeof parts);
}

/* ---- Rows --------------------------------------------------------------------------------------
 */

static int ask_time(struct cli_ship_send *send, uint64_t *ret_seconds)
{
    struct probity_fleet_answer answer;

    if (cli_ship_ask(send, "SELECT toUInt32(now())", &answer) != 0)
        return -1;
    *ret_seconds = probity_fleet_take_number(&answer, 4);
    return answer.is_bad ? -1 : 0;
}

static int put_claim(struct cli_ship_send *send, uint64_t heard, int is_released)
{
    struct probity_fleet_batch batch = {.table = &probity_fleet_tables[PROBITY_FLEET_SENDERS]};
    struct probity_fleet_bytes bytes = {.items = NULL};
    char host[HOST_BYTES] = "";
    const uint64_t values[] = {send->run, send->claim.owner, cli_ship_now_ns(), heard,
                               (uint64_t)is_released, (uint64_t)getpid()};

    gethostname(host, sizeof host - 1);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        probity_fleet_put(&batch, values[i]);
    probity_fleet_put_text(&batch, host, strlen(host));
    int error = batch.error != 0 ? batch.error : probity_fleet_batch_encode(&batch, &bytes);
    if (error == 0)
        error = cli_ship_insert_plain(send, PROBITY_FLEET_SENDERS, &bytes);
    free(bytes.items);
    probity_fleet_batch_release(&batch);
    return error == 0 ? 0 : -1;
}

static void take_host(struct probity_fleet_answer *answer, char ret_host[HOST_BYTES])
{
    size_t length;
    const char *host = probity_fleet_take_text(answer, &length);

    length = length < HOST_BYTES ? length : HOST_BYTES - 1;
    for (size_t i = 0; i < length; i++)
        ret_host[i] = host[i] > ' ' && host[i] < 0x7f ? host[i] : '?';
    ret_host[length] = '\0';
}

/* Looks for another sender whose claim is valid at this time. */
static int find_other(struct cli_ship_send *send, uint64_t now, struct other *ret_other)
{
    struct probity_fleet_answer answer;
    char sql[SQL_BYTES];

    *ret_other = (struct other){.is_there = 0};
    snprintf(sql, sizeof sql, "SELECT owner, released, toUInt32(heard), pid, host FROM "
             "probity_senders WHERE run = %" PRIu64 " ORDER BY version DESC LIMIT 1 BY owner",
             send->run);
    if (cli_ship_ask(send, sql, &answer) != 0)
        return -1;
    while (!probity_fleet_answer_is_over(&answer)) {
        struct other other = {.is_there = 1};
        uint64_t owner = probity_fleet_take_number(&answer, 8);
        uint64_t is_released = probity_fleet_take_number(&answer, 1);
        uint64_t heard = probity_fleet_take_number(&answer, 4);
        other.pid = (uint32_t)probity_fleet_take_number(&answer, 4);
        take_host(&answer, other.host);
        other.age = now > heard ? now - heard : 0;
        if (!answer.is_bad && owner != send->claim.owner && !is_released &&
            other.age < LEASE_SECONDS)
            *ret_other = other;
    }
    return answer.is_bad ? -1 : 0;
}

/* ---- Claims ------------------------------------------------------------------------------------
 */

static void report_other(const struct cli_ship_send *send, const struct other *other)
{
    cli_fail(send->fleet->command, "'%s': process %" PRIu32 " on host '%s' is also sending run "
             "%016" PRIx64 ", or was %" PRIu64 " s ago; if it has ended, try again in %" PRIu64 " "
             "s",
             send->trace, other->pid, other->host, send->run, other->age,
             LEASE_SECONDS - other->age);
}

/* is_renewal: there is a claim, which others already see. Returns 0, -1, or 1 if another sender has
 * a claim. */
static int claim(struct cli_ship_send *send, int is_renewal, struct other *ret_other)
{
    uint64_t now = 0, since_ms = now_ms();

    if (ask_time(send, &now) != 0 || find_other(send, now, ret_other) != 0)
        return -1;
    if (ret_other->is_there)
        return 1;
    if (put_claim(send, now, 0) != 0)
        return -1;
    send->claim.is_held = 1;
    send->claim.since_ms = since_ms;
    send->claim.heard = now;
    if (!is_renewal)
        cli_ship_await_replicas(send);
    if (find_other(send, now, ret_other) != 0)
        return -1;
    return ret_other->is_there;
}

int cli_ship_claim(struct cli_ship_send *send, int is_quiet)
{
    struct other other;

    send->claim = (struct cli_ship_claim){.owner = find_owner(send->ledger)};
    int got = claim(send, 0, &other);
    if (got <= 0)
        return got == 0 ? CLI_OK : CLI_FAILURE;
    cli_ship_unclaim(send);
    if (!is_quiet)
        report_other(send, &other);
    return CLI_SHIP_BUSY;
}

int cli_ship_hold(struct cli_ship_send *send)
{
    struct other other;

    if (send->claim.is_lost)
        return -1;
    if (!send->claim.is_held || now_ms() - send->claim.since_ms < RENEW_MS)
        return 0;
    int was_trusted = now_ms() - send->claim.since_ms < TRUST_MS;
    int got = claim(send, was_trusted, &other);
    if (got > 0)
        report_other(send, &other);
    send->claim.is_lost = got != 0;
    return got != 0 ? -1 : was_trusted ? 0 : cli_ship_recount(send);
}

uint64_t cli_ship_deadline(const struct cli_ship_send *send)
{
    return send->claim.is_held ? send->claim.heard + ACCEPT_SECONDS : 0;
}

void cli_ship_unclaim(struct cli_ship_send *send)
{
    uint64_t retry_ms = send->retry_ms;

    if (!send->claim.is_held)
        return;
    send->claim.is_held = 0;
    send->retry_ms = 0;
    put_claim(send, 0, 1);
    send->retry_ms = retry_ms;
}
