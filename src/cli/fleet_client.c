/* SPDX-License-Identifier: MIT
 *
 * fleet_client.c: sends statements over HTTP. The database, settings and ids are in the URL, the
 * statement or the data in the body.
 */
#include "cli/fleet_client.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "probity.h"

enum { STATEMENT_SECONDS = 300, INSERT_SECONDS = 120, PASSWORD_BYTES_MAX = 1024,
       STATEMENT_BYTES = 200000 /* a server accepts 262,144 by default */ };

const char cli_fleet_version_sql[] = "SELECT version()";

static const char word_bytes[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

/* ---- The URL -----------------------------------------------------------------------------------
 */

static int fail_url(const struct cli_fleet *fleet, const char *why)
{
    /* The text before an '@' may be a password. */
    const char *at = strrchr(fleet->url, '@');

    return cli_fail_usage(fleet->command, "invalid database '%s%s': %s "
                          "(http://USER@HOST:PORT/DATABASE)", at != NULL ? "..." : "",
                          at != NULL ? at : fleet->url, why);
}

static const char *after_scheme(const char *url)
{
    static const char *const schemes[] = {"http://", "https://"};

    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        if (strncmp(url, schemes[i], strlen(schemes[i])) == 0)
            return url + strlen(schemes[i]);
    }
    return NULL;
}

/* A password in the URL is not repeated in the message. */
static int parse(struct cli_fleet *fleet)
{
    const char *authority = after_scheme(fleet->url);

    if (authority == NULL)
        return fail_url(fleet, "not http: or https:");
    const char *slash = authority + strcspn(authority, "/?#");
    const char *at = memchr(authority, '@', (size_t)(slash - authority));
    const char *host = at != NULL ? at + 1 : authority;
    if (at != NULL && memchr(authority, ':', (size_t)(at - authority)) != NULL)
        return cli_fail_usage(fleet->command, "a password in a URL is visible to others; use "
                              "--password-file or PROBITY_FLEET_PASSWORD");
    if (slash == host || strcspn(host, " \t\r\n\\") < (size_t)(slash - host))
        return fail_url(fleet, "no host");
    if (*slash != '/' || slash[1] == '\0' || slash[1 + strspn(slash + 1, word_bytes)] != '\0')
        return fail_url(fleet, "invalid name of a database (letters, digits and '_')");
    fleet->user = at != NULL ? strndup(authority, (size_t)(at - authority)) : NULL;
    fleet->database = strdup(slash + 1);
    if (asprintf(&fleet->base, "%.*s%.*s/", (int)(authority - fleet->url), fleet->url,
                 (int)(slash - host), host) < 0)
        fleet->base = NULL;
    if (fleet->database == NULL || fleet->base == NULL || (at != NULL && fleet->user == NULL))
        return cli_fail(fleet->command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    return CLI_OK;
}

/* ---- The password ------------------------------------------------------------------------------
 */

static int read_password(struct cli_fleet *fleet, const char *path)
{
    FILE *file = fopen(path, "re");
    char line[PASSWORD_BYTES_MAX];

    if (file == NULL)
        return cli_fail(fleet->command, "cannot open '%s': %s", path, strerror(errno));
    int is_read = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    if (!is_read)
        return cli_fail(fleet->command, "'%s': no password in its first line", path);
    line[strcspn(line, "\r\n")] = '\0';
    fleet->password = strdup(line);
    explicit_bzero(line, sizeof line);
    return fleet->password != NULL ? CLI_OK
                                   : cli_fail(fleet->command, "%s",
                                              probity_error_text(PROBITY_ERROR_MEMORY));
}

static int find_password(struct cli_fleet *fleet, const char *path)
{
    const char *given = getenv("PROBITY_FLEET_PASSWORD");

    if (path != NULL)
        return read_password(fleet, path);
    fleet->password = given != NULL ? strdup(given) : NULL;
    return CLI_OK;
}

/* Checks certificates: libcurl does not report which file it could not read. */
static int find_ca(const struct cli_fleet *fleet, const char *path, const char **ret_path)
{
    const char *given = getenv("PROBITY_FLEET_CA");

    *ret_path = path != NULL ? path : given != NULL && *given != '\0' ? given : NULL;
    if (*ret_path == NULL)
        return CLI_OK;
    FILE *file = fopen(*ret_path, "re");
    if (file == NULL)
        return cli_fail(fleet->command, "cannot open '%s': %s", *ret_path, strerror(errno));
    fclose(file);
    return CLI_OK;
}

/* ---- Opening -----------------------------------------------------------------------------------
 */

int cli_fleet_open(const struct cli_fleet_options *options, struct cli_fleet *ret_fleet)
{
    const char *why, *ca;

    *ret_fleet = (struct cli_fleet){.command = options->command, .url = options->url};
    if (ret_fleet->url == NULL)
        ret_fleet->url = getenv("PROBITY_FLEET");
    if (ret_fleet->url == NULL || *ret_fleet->url == '\0')
        return cli_fail_usage(options->command, "no database given, and PROBITY_FLEET is not set");
    int status = parse(ret_fleet);
    if (status == CLI_OK)
        status = find_password(ret_fleet, options->password_file);
    if (status == CLI_OK)
        status = find_ca(ret_fleet, options->ca, &ca);
    if (status != CLI_OK)
        return status;
    ret_fleet->http_options =
        (struct cli_http_options){ret_fleet->user, ret_fleet->password, ca};
    if (cli_http_open(&ret_fleet->http_options, &ret_fleet->http, &why) != 0)
        return cli_fail(options->command, "cannot connect to '%s': %s", ret_fleet->url, why);
    return CLI_OK;
}

void cli_fleet_close(struct cli_fleet *fleet)
{
    if (fleet->http != NULL)
        cli_http_close(fleet->http);
    if (fleet->password != NULL)
        explicit_bzero(fleet->password, strlen(fleet->password));
    free(fleet->password);
    free(fleet->base);
    free(fleet->user);
    free(fleet->database);
}

/* ---- Statements --------------------------------------------------------------------------------
 */

const char *cli_fleet_why(const struct cli_http_answer *answer,
                          char ret_text[CLI_FLEET_WHY_BYTES])
{
    int head = snprintf(ret_text, CLI_FLEET_WHY_BYTES, "returned status %ld", answer->status);
    size_t used = (size_t)head;

    if (answer->status == 0) {
        snprintf(ret_text, CLI_FLEET_WHY_BYTES, "did not reply: %s",
                 answer->failure != NULL ? answer->failure : "no reply");
        return ret_text;
    }
    for (size_t i = 0; i < answer->count && used < CLI_FLEET_WHY_BYTES - 4; i++) {
        unsigned char byte = answer->bytes[i];
        if (byte == '\n' || byte == '\r')
            break;
        if (i == 0)
            used += (size_t)snprintf(ret_text + used, 3, ": ");
        ret_text[used++] = byte >= ' ' && byte < 0x7f ? (char)byte : '?';
    }
    ret_text[used] = '\0';
    return ret_text;
}

/* Returns the remedy for an error reported by the server. */
static const char *find_remedy(const struct cli_http_answer *answer)
{
    switch (cli_fleet_error_code(answer)) {
    case 16: case 47: case 60: /* no such column, identifier, table */
        return "; the database does not have the tables of this version: `probity ship --init` "
               "creates them, or migrates those of an earlier version";
    case 81: /* no such database */
        return "; create it first (CREATE DATABASE)";
    case 192: case 193: case 194: case 516: /* no such user; wrong or missing password; either of
                                             * these */
        return "; the user is the one in the URL, or 'default', and the password is that of "
               "PROBITY_FLEET_PASSWORD or --password-file";
    case 164: case 291: case 497: /* read-only; no permission for the database or the table */
        return "; doc/fleet.md lists the rights that a user needs";
    default:
        return "";
    }
}

int cli_fleet_fail(const struct cli_fleet *fleet, const struct cli_http_answer *answer)
{
    char why[CLI_FLEET_WHY_BYTES];

    if (answer->status == 0)
        return cli_fail(fleet->command, "'%s': %s", fleet->url,
                        answer->failure != NULL ? answer->failure : "no reply");
    return cli_fail(fleet->command, "'%s' %s%s", fleet->url, cli_fleet_why(answer, why),
                    find_remedy(answer));
}

unsigned cli_fleet_error_code(const struct cli_http_answer *answer)
{
    static const char prefix[] = "Code: ";
    size_t at = sizeof prefix - 1;
    unsigned code = 0;

    if (answer->count < at || memcmp(answer->bytes, prefix, at) != 0)
        return 0;
    for (; at < answer->count && answer->bytes[at] >= '0' && answer->bytes[at] <= '9'; at++)
        code = code * 10 % 1000000 + (answer->bytes[at] - '0');
    return code;
}

int cli_fleet_try(struct cli_fleet *fleet, const char *sql, struct cli_http_answer *ret_answer)
{
    size_t bytes = strlen(sql);
    char *url, limit[48] = "";
    const char *fresh = fleet->is_fresh ? "&max_replica_delay_for_distributed_queries=2"
                                          "&fallback_to_stale_replicas_for_distributed_queries=0"
                                        : "";

    *ret_answer = (struct cli_http_answer){.failure = "out of memory"};
    /* A user without the right to change settings can still use statements of the usual size. */
    if (bytes > STATEMENT_BYTES)
        snprintf(limit, sizeof limit, "&max_query_size=%zu", 2 * bytes);
    if (asprintf(&url, "%s?database=%s&default_format=RowBinary&wait_end_of_query=1%s%s%s",
                 fleet->base, fleet->database, limit, fresh,
                 fleet->is_copying ? "&insert_distributed_sync=1" : "") < 0)
        return -1;
    const struct cli_http_request request = {.url = url, .body = sql, .bytes = bytes,
                                             .seconds = STATEMENT_SECONDS};
    cli_http_post(fleet->http, &request, ret_answer);
    free(url);
    return ret_answer->status == 200 ? 0 : -1;
}

int cli_fleet_ask(struct cli_fleet *fleet, const char *sql, struct probity_fleet_answer *ret_answer)
{
    struct cli_http_answer answer;

    *ret_answer = (struct probity_fleet_answer){.is_bad = 1};
    if (cli_fleet_try(fleet, sql, &answer) != 0)
        return cli_fleet_fail(fleet, &answer);
    *ret_answer = (struct probity_fleet_answer){answer.bytes, answer.bytes + answer.count, 0};
    return CLI_OK;
}

int cli_fleet_take_version(struct cli_fleet *fleet, struct probity_fleet_answer *answer)
{
    char text[32];
    unsigned major, minor;
    size_t length;
    const char *version = probity_fleet_take_text(answer, &length);

    snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1),
             version);
    if (answer->is_bad || sscanf(text, "%u.%u", &major, &minor) != 2 || major > 9999 || minor > 99)
        return cli_fail(fleet->command, "'%s' is not a ClickHouse server", fleet->url);
    fleet->version = major * 100 + minor;
    return CLI_OK;
}

void cli_fleet_find_cluster(struct cli_fleet *fleet)
{
    struct cli_http_answer answer;

    fleet->is_cluster = cli_fleet_try(fleet, "SELECT toUInt8(count() > 0) FROM system.tables WHERE "
                                      "database = currentDatabase() AND name = 'probity_runs' AND "
                                      "engine = 'Distributed'", &answer) == 0 &&
                        answer.count == 1 && answer.bytes[0] == 1;
}

int cli_fleet_connect(struct cli_fleet *fleet)
{
    struct probity_fleet_answer answer;

    if (fleet->version != 0)
        return CLI_OK;
    int status = cli_fleet_ask(fleet, cli_fleet_version_sql, &answer);
    return status == CLI_OK ? cli_fleet_take_version(fleet, &answer) : status;
}

/* ---- Inserting ---------------------------------------------------------------------------------
 */

/* Otherwise, a server of a cluster would acknowledge rows before any shard has them, and newer
 * servers would merge inserts of several clients. */
static void put_settings(FILE *stream, const struct cli_fleet *fleet,
                         const struct cli_fleet_insert *insert)
{
    fputs("&insert_distributed_sync=1", stream);
    if (fleet->version < PROBITY_FLEET_TOKENS)
        return;
    fputs("&async_insert=0&wait_end_of_query=1", stream);
    if (insert->token != NULL)
        fprintf(stream, "&insert_deduplication_token=%s", insert->token);
}

/* A server that supports tokens ignores a late copy of a block. Other servers get the rows as a
 * table in a form: they receive the whole form before they execute the statement, so the deadline
 * is checked by the server's clock. */
static int has_deadline(const struct cli_fleet *fleet, const struct cli_fleet_insert *insert)
{
    return insert->deadline != 0 && fleet->version < PROBITY_FLEET_TOKENS;
}

static void put_columns(FILE *stream, const struct probity_fleet_table *table, int has_types)
{
    for (size_t i = 0; i < table->column_count; i++)
        fprintf(stream, "%s%s%s%s", i > 0 ? "," : "", table->columns[i].name,
                has_types ? "%20" : "",
                has_types ? probity_fleet_type_name(table->columns[i].type) : "");
}

static void put_statement(FILE *stream, const struct cli_fleet *fleet,
                          const struct cli_fleet_insert *insert)
{
    const struct probity_fleet_table *table = insert->table;

    if (!has_deadline(fleet, insert)) {
        fprintf(stream, "INSERT%%20INTO%%20%s%%20FORMAT%%20Native", table->name);
        return;
    }
    fprintf(stream, "INSERT%%20INTO%%20%s%%20(", table->name);
    put_columns(stream, table, 0);
    fputs(")%20SELECT%20", stream);
    put_columns(stream, table, 0);
    fprintf(stream, "%%20FROM%%20sent%%20WHERE%%20NOT%%20throwIf(toUInt32(now())%%3E=%" PRIu64
            ")&sent_format=Native&sent_structure=", insert->deadline);
    put_columns(stream, table, 1);
}

void cli_fleet_insert(struct cli_fleet *fleet, const struct cli_fleet_insert *insert,
                      struct cli_http_answer *ret_answer)
{
    char *url = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&url, &bytes);

    *ret_answer = (struct cli_http_answer){.failure = "out of memory"};
    if (stream == NULL)
        return;
    fprintf(stream, "%s?database=%s&query_id=%s&query=", fleet->base, fleet->database, insert->id);
    put_statement(stream, fleet, insert);
    put_settings(stream, fleet, insert);
    if (fclose(stream) == 0) {
        const struct cli_http_request request = {
            .url = url, .body = insert->bytes, .bytes = insert->count, .waits = 1,
            .field = has_deadline(fleet, insert) ? "sent" : NULL, .seconds = INSERT_SECONDS};
        cli_http_post(fleet->http, &request, ret_answer);
    }
    free(url);
}
