/* SPDX-License-Identifier: MIT
 *
 * fetch.c: `probity fetch`: makes a trace from the bytes that `probity ship --detail records` sent.
 * The database is not trusted: the bytes must be contiguous.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/fleet_source.h"
#include "cli/option.h"
#include "cli/shipment.h"
#include "probity.h"

#define ME (&cli_command_fetch)

enum { STATEMENT_BYTES = 200, RUN_DIGITS = 16 };

struct fetch_call {
    const char *url, *password_file, *out;
    int force;
    struct cli_fleet fleet;
    uint64_t run, rows; /* rows: as stated in the row of the run */
    uint64_t bytes, rows_taken;
};

static int fail_answer(const struct fetch_call *call)
{
    return cli_fleet_fail_format(&call->fleet, PROBITY_ERROR_FORMAT);
}

/* ---- The run -----------------------------------------------------------------------------------
 */

static int parse_run(struct fetch_call *call, const char *text)
{
    char *end;

    if (strlen(text) != RUN_DIGITS || strspn(text, "0123456789abcdefABCDEF") != RUN_DIGITS)
        return cli_fail_usage(ME, "invalid run '%s' (16 hexadecimal digits, as printed by `probity "
                              "fleet`)", text);
    call->run = strtoull(text, &end, 16);
    return CLI_OK;
}

static int find_run(struct fetch_call *call)
{
    struct probity_fleet_answer answer;
    char sql[STATEMENT_BYTES];

    snprintf(sql, sizeof sql, "SELECT finished, detail = 'records', records_rows FROM probity_runs "
             "WHERE run = %" PRIu64 " ORDER BY version DESC LIMIT 1", call->run);
    int status = cli_fleet_ask(&call->fleet, sql, &answer);
    if (status != CLI_OK)
        return status;
    if (probity_fleet_answer_is_over(&answer))
        return cli_fail(ME, "'%s' has no run %016" PRIx64 "; `probity fleet` lists them",
                        call->fleet.url, call->run);
    uint64_t is_finished = probity_fleet_take_number(&answer, 1);
    uint64_t has_records = probity_fleet_take_number(&answer, 1);
    call->rows = probity_fleet_take_number(&answer, 8);
    if (answer.is_bad)
        return fail_answer(call);
    if (!has_records)
        return cli_fail(ME, "run %016" PRIx64 " was sent without its records; send it again with "
                        "--detail records", call->run);
    if (!is_finished)
        return cli_fail(ME, "not all of run %016" PRIx64 " was sent; run `probity ship` again",
                        call->run);
    return CLI_OK;
}

/* ---- Its bytes ---------------------------------------------------------------------------------
 */

static int write_all(const struct cli_output *output, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t put = write(output->descriptor, bytes, count);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return -1;
        bytes += put;
        count -= (size_t)put;
    }
    return 0;
}

static int take_rows(struct fetch_call *call, const struct cli_output *output,
                     struct probity_fleet_answer *answer)
{
    while (!probity_fleet_answer_is_over(answer)) {
        size_t length;
        uint64_t place = probity_fleet_take_number(answer, 8);
        const char *bytes = probity_fleet_take_text(answer, &length);
        if (answer->is_bad || length == 0 || call->rows_taken == call->rows)
            return fail_answer(call);
        if (place != call->bytes)
            return cli_fail(ME, "'%s': run %016" PRIx64 " has no bytes from %" PRIu64 " to %" PRIu64
                            "; run `probity ship` again", call->fleet.url, call->run, call->bytes,
                            place);
        if (write_all(output, bytes, length) != 0)
            return cli_fail(ME, "cannot write '%s': %s", call->out != NULL ? call->out : "-",
                            strerror(errno));
        call->bytes += length;
        call->rows_taken++;
    }
    return answer->is_bad ? fail_answer(call) : CLI_OK;
}

/* Reads one block at a time, to bound memory. */
static int take_bytes(struct fetch_call *call, const struct cli_output *output)
{
    int status = CLI_OK;

    for (uint32_t block = 0; status == CLI_OK && call->rows_taken < call->rows; block++) {
        struct probity_fleet_answer answer;
        char sql[STATEMENT_BYTES];
        uint64_t before = call->rows_taken;
        snprintf(sql, sizeof sql, "SELECT place, bytes FROM probity_records WHERE run = %" PRIu64
                 " AND block = %" PRIu32 " ORDER BY place", call->run, block);
        status = cli_fleet_ask(&call->fleet, sql, &answer);
        if (status == CLI_OK)
            status = take_rows(call, output, &answer);
        if (status == CLI_OK && call->rows_taken == before)
            status = cli_fail(ME, "'%s': run %016" PRIx64 " has %" PRIu64 " of %" PRIu64
                              " rows; run `probity ship` again", call->fleet.url, call->run, before,
                              call->rows);
    }
    return status;
}

static int fetch(struct fetch_call *call)
{
    struct cli_output output;
    int status = cli_output_open(ME, call->out, call->force, &output);

    if (status != CLI_OK)
        return status;
    status = take_bytes(call, &output);
    int closed = cli_output_close(ME, &output, status == CLI_OK);
    return status == CLI_OK ? closed : status;
}

/* ---- The command -------------------------------------------------------------------------------
 */

static int run_call(struct fetch_call *call, char **names, size_t count)
{
    const struct cli_fleet_options options = {
        .command = ME, .url = call->url, .password_file = call->password_file};

    if (count != 1)
        return cli_fail_usage(ME, count == 0 ? "no run given" : "only one run at a time");
    int status = parse_run(call, names[0]);
    if (status == CLI_OK)
        status = cli_fleet_open(&options, &call->fleet);
    if (status == CLI_OK)
        status = find_run(call);
    if (status == CLI_OK)
        status = fetch(call);
    cli_fleet_close(&call->fleet);
    return status;
}

static int run(int argc, char **argv)
{
    struct fetch_call call = {.out = NULL};
    int status = cli_options_take(ME, &call, argc, argv);

    if (status == CLI_OK)
        status = run_call(&call, argv + optind, (size_t)(argc - optind));
    return status < 0 ? CLI_OK : status;
}

static const struct cli_option options[] = {
    {.name = "from-fleet", .value = "URL", .brief = "the database",
     .help = "the database, as http://USER@HOST:PORT/DATABASE (default: PROBITY_FLEET)",
     CLI_TEXT(struct fetch_call, url)},
    {.name = "password-file", .value = "FILE", .brief = "file with the password",
     .help = "take the password from the first line of FILE (default: PROBITY_FLEET_PASSWORD)",
     CLI_TEXT(struct fetch_call, password_file)},
    CLI_OUTPUT_ROWS(struct fetch_call, out, force),
    CLI_HELP_ROW,
    {.name = NULL},
};

const struct cli_command cli_command_fetch = {
    .name = "fetch",
    .run = run,
    .summary = "Bring a trace back from a ClickHouse database",
    .usage = "[OPTION]... RUN",
    .help =
        "Writes the trace of a run that `probity ship` has sent with its records, byte for byte. "
        "RUN is an id as printed by `probity fleet`.",
    .options = options,
};
