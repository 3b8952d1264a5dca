/* SPDX-License-Identifier: MIT
 *
 * fleet.c: `probity fleet`: lists the runs in a database and the space that they take.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/fleet_source.h"
#include "cli/fleet_story.h"
#include "cli/output_stream.h"
#include "cli/ship_ask.h"
#include "print/bytes_text.h"
#include "print/json.h"
#include "print/text.h"
#include "print/time_text.h"
#include "probity.h"

#define ME (&cli_command_fleet)

struct table_size {
    uint64_t rows, bytes;
};

struct fleet_call {
    struct cli_fleet_source source;
    const char *out, *request;
    int force, as_json;
    struct cli_fleet fleet;
    struct cli_fleet_runs runs;
    struct table_size sizes[PROBITY_FLEET_TABLES];
};

/* ---- Querying ----------------------------------------------------------------------------------
 */

/* If the server hides its system tables from the user, there are no sizes. */
static void take_sizes(struct fleet_call *call, struct probity_fleet_answer *answer)
{
    while (!probity_fleet_answer_is_over(answer)) {
        size_t length;
        const char *name = probity_fleet_take_text(answer, &length);
        struct table_size size;
        size.rows = probity_fleet_take_number(answer, 8);
        size.bytes = probity_fleet_take_number(answer, 8);
        for (size_t i = 0; !answer->is_bad && i < PROBITY_FLEET_TABLES; i++) {
            const char *known = probity_fleet_tables[i].name;
            if (strlen(known) == length && memcmp(known, name, length) == 0)
                call->sizes[i] = size;
        }
    }
}

static int ask_sizes(struct fleet_call *call)
{
    struct probity_fleet_answer answer = {.is_bad = 0};
    char *sql = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&sql, &bytes);

    if (stream == NULL)
        return cli_fail(ME, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    fputs("SELECT table, sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active AND "
          "database = ", stream);
    probity_fleet_sql_text(stream, call->fleet.database);
    fputs(" GROUP BY table", stream);
    int status = fclose(stream) == 0
                     ? CLI_OK
                     : cli_fail(ME, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    if (status == CLI_OK && call->source.as_sql)
        printf("%s;\n", sql);
    else if (status == CLI_OK)
        status = cli_fleet_ask(&call->fleet, sql, &answer);
    free(sql);
    if (status == CLI_OK)
        take_sizes(call, &answer);
    return status;
}

/* ---- Printing ----------------------------------------------------------------------------------
 */

static const char *date_text(uint64_t ns, char *ret_text, size_t room)
{
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm parts;

    if (gmtime_r(&seconds, &parts) == NULL || strftime(ret_text, room, "%Y-%m-%dT%H:%M:%SZ",
                                                       &parts) == 0)
        snprintf(ret_text, room, "?");
    return ret_text;
}

/* How far the rows of a run that was not sent completely lag behind this machine's clock; 0: not at
 * all, or nothing was sent yet. */
static uint64_t lag_of(const struct probity_fleet_run *run)
{
    uint64_t now_ns = cli_ship_now_ns();

    return !run->is_finished && run->sent_ns > 0 && now_ns > run->sent_ns ? now_ns - run->sent_ns
                                                                          : 0;
}

static void put_run(FILE *stream, const struct cli_fleet_runs *runs, size_t i)
{
    const struct probity_fleet_run *run = &runs->runs[i];
    const struct probity_trace_facts *facts = &runs->facts[i];
    char date[40], lasted[PROBITY_TIME_TEXT_BYTES], why[256];
    uint64_t from_ns = facts->info.anchor.realtime_ns, to_ns = facts->last_wall_ns;
    int is_complete = probity_trace_is_complete(facts, why, sizeof why);

    fprintf(stream, "%016" PRIx64 "  %s %s %11" PRIu64 "  ", run->run,
            date_text(from_ns, date, sizeof date),
            probity_time_text(to_ns > from_ns ? to_ns - from_ns : 0, lasted),
            run->rows[PROBITY_FLEET_CALLS]);
    cli_put_text(stream, runs->texts[i].host);
    fputs("  ", stream);
    cli_put_text(stream, runs->texts[i].program);
    if (*runs->texts[i].label != '\0') {
        fputs("  ", stream);
        cli_put_text(stream, runs->texts[i].label);
    }
    if (!is_complete)
        fprintf(stream, "  INCOMPLETE: %s", why);
    if (lag_of(run) > 0)
        fprintf(stream, "; sent up to %s, %" PRIu64 " s ago",
                date_text(run->sent_ns, date, sizeof date), lag_of(run) / 1000000000);
    fputc('\n', stream);
}

static size_t count_hosts(const struct cli_fleet_runs *runs)
{
    size_t hosts = 0;

    for (size_t i = 0; i < runs->count; i++) {
        size_t same = 0;
        while (same < i && strcmp(runs->texts[same].host, runs->texts[i].host) != 0)
            same++;
        hosts += same == i;
    }
    return hosts;
}

static void print_text(FILE *stream, const struct fleet_call *call)
{
    char bytes[PROBITY_BYTES_TEXT_BYTES];
    size_t hosts = count_hosts(&call->runs);

    fputs("run               began                  lasted       calls  host  program  label\n",
          stream);
    for (size_t i = 0; i < call->runs.count; i++)
        put_run(stream, &call->runs, i);
    fprintf(stream, "\n%zu run%s of %zu host%s\n", call->runs.count,
            probity_text_s(call->runs.count), hosts, probity_text_s(hosts));
    for (size_t i = 0; i < PROBITY_FLEET_TABLES; i++) {
        const struct table_size *size = &call->sizes[i];
        fprintf(stream, "%-21s %12" PRIu64 " rows %10s", probity_fleet_tables[i].name, size->rows,
                probity_bytes_text(size->bytes, bytes));
        if (i >= PROBITY_FLEET_MINUTES && size->rows > 0)
            fprintf(stream, ", %.2f bytes a row", (double)size->bytes / (double)size->rows);
        fputc('\n', stream);
    }
}

static json_t *run_of(const struct cli_fleet_runs *runs, size_t i)
{
    const struct probity_fleet_run *run = &runs->runs[i];
    const struct probity_trace_facts *facts = &runs->facts[i];
    json_t *object = json_object();
    char number[24], why[256];
    int is_complete = probity_trace_is_complete(facts, why, sizeof why);

    snprintf(number, sizeof number, "%016" PRIx64, run->run);
    json_object_set_new(object, "run", json_string(number));
    json_object_set_new(object, "host", probity_json_string(runs->texts[i].host));
    json_object_set_new(object, "program", probity_json_string(runs->texts[i].program));
    json_object_set_new(object, "label", probity_json_string(runs->texts[i].label));
    json_object_set_new(object, "trace", probity_json_string(facts->path));
    probity_json_put_integer(object, "pid", facts->info.pid);
    json_object_set_new(object, "detail", json_string(probity_fleet_detail_name(run->detail)));
    json_object_set_new(object, "finished", json_boolean(run->is_finished));
    probity_json_put_integer(object, "started_ns", facts->info.anchor.realtime_ns);
    probity_json_put_integer(object, "ended_ns", facts->last_wall_ns);
    probity_json_put_integer(object, "sent_ns", run->sent_ns);
    probity_json_put_integer(object, "lag_ns", lag_of(run));
    probity_json_put_integer(object, "clock_error_ns", facts->clock_bound_ns);
    probity_json_put_integer(object, "minutes_rows", run->rows[PROBITY_FLEET_MINUTES]);
    probity_json_put_integer(object, "calls_rows", run->rows[PROBITY_FLEET_CALLS]);
    probity_json_put_integer(object, "block_minutes_rows", run->rows[PROBITY_FLEET_BLOCK_MINUTES]);
    probity_json_put_integer(object, "blocks_rows", run->rows[PROBITY_FLEET_BLOCKS]);
    probity_json_put_integer(object, "requests_rows", run->rows[PROBITY_FLEET_REQUESTS]);
    probity_json_put_integer(object, "records_rows", run->rows[PROBITY_FLEET_RECORDS]);
    json_object_set_new(object, "complete", json_boolean(is_complete));
    json_object_set_new(object, "why", probity_json_string(why));
    return object;
}

static int print_json(FILE *stream, const struct fleet_call *call)
{
    int error = 0;

    fputs("{\"runs\": [", stream);
    for (size_t i = 0; error == 0 && i < call->runs.count; i++)
        error = probity_json_write(stream, i > 0 ? ",\n" : "\n", run_of(&call->runs, i), 15);
    fputs("],\n\"tables\": {", stream);
    for (size_t i = 0; i < PROBITY_FLEET_TABLES; i++)
        fprintf(stream, "%s\"%s\": {\"rows\": %" PRIu64 ", \"bytes\": %" PRIu64 "}",
                i > 0 ? ", " : "", probity_fleet_tables[i].name, call->sizes[i].rows,
                call->sizes[i].bytes);
    fputs("}}\n", stream);
    return error;
}

static int print(void *context, FILE *stream, int has_color)
{
    struct fleet_call *call = context;

    (void)has_color;
    if (call->as_json)
        return print_json(stream, call);
    print_text(stream, call);
    return 0;
}

/* ---- The command -------------------------------------------------------------------------------
 */

static int run_call(struct fleet_call *call, size_t count)
{
    const struct cli_fleet_options options = {
        .command = ME, .url = call->source.url, .password_file = call->source.password_file};

    if (count > 0)
        return cli_fail_usage(ME, "unexpected argument; use --from-fleet to name the database");
    if (call->request != NULL) {
        const struct cli_fleet_story_options story = {ME, &call->source, call->request, call->out,
                                                      call->force, call->as_json};
        return cli_fleet_story(&story);
    }
    int status = cli_fleet_open(&options, &call->fleet), as_sql = call->source.as_sql;
    if (status == CLI_OK && as_sql) {
        probity_fleet_sql_runs(stdout, &call->source.choice);
        puts(";");
    }
    if (status == CLI_OK && !as_sql)
        status = cli_fleet_runs(&call->fleet, &call->source.choice, &call->runs);
    if (status == CLI_OK)
        status = ask_sizes(call);
    if (status == CLI_OK && !as_sql)
        status = cli_print_answer(ME, call->out, call->force, print, call);
    if (status == CLI_OK && !as_sql)
        status = cli_judge_traces(ME, call->runs.reader);
    cli_fleet_runs_release(&call->runs);
    cli_fleet_close(&call->fleet);
    return status;
}

static int run(int argc, char **argv)
{
    struct fleet_call call = {.out = NULL};
    int status = cli_options_take(ME, &call, argc, argv);

    if (status == CLI_OK)
        status = run_call(&call, (size_t)(argc - optind));
    return status < 0 ? CLI_OK : status;
}

static const struct cli_option options[] = {
    {.name = "from-fleet", .value = "URL", .brief = "the database",
     .help = "the database, as http://USER@HOST:PORT/DATABASE (default: PROBITY_FLEET)",
     CLI_TEXT(struct fleet_call, source.url)},
    CLI_FLEET_CHOICE_ROWS(struct fleet_call, source),
    CLI_FLEET_LABEL_ROW(struct fleet_call, source),
    CLI_FLEET_SQL_ROW(struct fleet_call, source),
    {.name = "request", .value = "ID", .brief = "follow one request",
     .help = "instead of the list, print the hits with this correlation id in all runs, and the "
             "calls between them", CLI_TEXT(struct fleet_call, request)},
    {.name = "json", .help = "print one JSON object; times in ns", .brief = "print JSON",
     CLI_FLAG(struct fleet_call, as_json)},
    CLI_OUTPUT_ROWS(struct fleet_call, out, force),
    CLI_HELP_ROW,
    {.name = NULL},
};

const struct cli_command cli_command_fleet = {
    .name = "fleet",
    .run = run,
    .summary = "List the runs in a ClickHouse database",
    .usage = "[OPTION]...",
    .help =
        "Lists the runs that `probity ship` has sent to a database, with their hosts, programs and "
        "labels and whether they are complete, and how many rows and bytes its tables have; or "
        "shows what happened to one request.",
    .options = options,
};
