/* SPDX-License-Identifier: MIT
 *
 * fleet_client.h: a ClickHouse database, such as http://USER@HOST:PORT/DATABASE: statements and
 * their replies. Messages never contain the password.
 */
#ifndef PROBITY_CLI_FLEET_CLIENT_H
#define PROBITY_CLI_FLEET_CLIENT_H

#include "cli/cli.h"
#include "cli/http.h"
#include "fleet/answer.h"
#include "fleet/schema.h"

struct cli_fleet_options {
    const struct cli_command *command;
    const char *url;           /* NULL: PROBITY_FLEET */
    const char *password_file; /* NULL: PROBITY_FLEET_PASSWORD, if it is set */
    const char *ca;            /* NULL: PROBITY_FLEET_CA, if it is set, or the system's */
};

struct cli_fleet {
    const struct cli_command *command;
    const char *url;   /* as given, for messages */
    char *base, *user, *password, *database;
    struct cli_http_options http_options;
    struct cli_http *http;
    int is_cluster;    /* subqueries of its tables take GLOBAL IN */
    int is_fresh; /* statements do not use replicas that lag by more than 2 s */
    int is_copying; /* statements copy rows from one table to another, on all shards at once */
    unsigned version;  /* of the server, major * 100 + minor; 0: not queried yet */
};

/* Does not connect yet. Reports errors. Returns an exit status; call close in any case. */
int cli_fleet_open(const struct cli_fleet_options *options, struct cli_fleet *ret_fleet);
void cli_fleet_close(struct cli_fleet *fleet);

/* Queries the server's version, unless it is known. Reports errors. Returns an exit status. */
int cli_fleet_connect(struct cli_fleet *fleet);

/* The two parts of the above: the statement, and the function that takes the reply. Returns the
 * same as above. */
extern const char cli_fleet_version_sql[];
int cli_fleet_take_version(struct cli_fleet *fleet, struct probity_fleet_answer *answer);

/* Queries whether the tables are distributed. */
void cli_fleet_find_cluster(struct cli_fleet *fleet);

/* Executes a statement and gets the whole reply. Returns 0, or -1 without reporting the error. */
int cli_fleet_try(struct cli_fleet *fleet, const char *sql, struct cli_http_answer *ret_answer);

/* Same as above, but reports errors. Values of a reply are valid until the next statement. Returns
 * an exit status. */
int cli_fleet_ask(struct cli_fleet *fleet, const char *sql,
                  struct probity_fleet_answer *ret_answer);

/* The server's message, on one line, safe for a terminal. */
enum { CLI_FLEET_WHY_BYTES = 480 };
const char *cli_fleet_why(const struct cli_http_answer *answer,
                          char ret_text[CLI_FLEET_WHY_BYTES]);

/* Inserts bytes in FORMAT Native into a table, as one query with this id. */
struct cli_fleet_insert {
    const struct probity_fleet_table *table;
    const char *id;
    const char *token; /* servers that support tokens ignore another insert with the same token;
                        * NULL: none */
    uint64_t deadline; /* time in seconds, by the server's clock, from which servers without tokens
                        * insert nothing and return CLI_FLEET_TOO_LATE; 0: none */
    const void *bytes;
    size_t count;
};
enum { CLI_FLEET_TOO_LATE = 395 };
void cli_fleet_insert(struct cli_fleet *fleet, const struct cli_fleet_insert *insert,
                      struct cli_http_answer *ret_answer);

/* Reports a request that failed. Returns CLI_FAILURE. */
int cli_fleet_fail(const struct cli_fleet *fleet, const struct cli_http_answer *answer);

/* Returns ClickHouse's error code in a reply, or 0. */
unsigned cli_fleet_error_code(const struct cli_http_answer *answer);

#endif
