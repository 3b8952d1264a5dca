/* SPDX-License-Identifier: MIT
 *
 * schema.h: the tables of doc/fleet.md, as data for the statements that create them and the bytes
 * that fill them. Does no I/O.
 */
#ifndef PROBITY_FLEET_SCHEMA_H
#define PROBITY_FLEET_SCHEMA_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { PROBITY_FLEET_COLUMNS_MAX = 64 };

/* Versions of the tables below; tables without a version have version 1. COMPLETE: nothing is
 * missing from a run that was sent to tables of this version or a later one, since its calls were
 * copied. */
enum { PROBITY_FLEET_SCHEMA_VERSION = 3, PROBITY_FLEET_SCHEMA_COMPLETE = 2 };

/* The first server version with codecs, and the first version with deduplication by tokens. */
enum { PROBITY_FLEET_CODECS = 2000, PROBITY_FLEET_TOKENS = 2208 };

enum probity_fleet_type {
    PROBITY_FLEET_U8,
    PROBITY_FLEET_I8,
    PROBITY_FLEET_U16,
    PROBITY_FLEET_U32,
    PROBITY_FLEET_U64,
    PROBITY_FLEET_I64,
    PROBITY_FLEET_DATE, /* UTC, days since 1970 */
    PROBITY_FLEET_TIME, /* seconds since 1970 */
    PROBITY_FLEET_TEXT,
    PROBITY_FLEET_U16S, /* arrays */
    PROBITY_FLEET_U64S
};

struct probity_fleet_column {
    const char *name;
    enum probity_fleet_type type;
    const char *codec; /* "": the server's default */
    const char *comment;
};

/* A column that is not stored; for queries only. */
struct probity_fleet_alias {
    const char *name;
    enum probity_fleet_type type;
    const char *expression, *comment;
};

enum probity_fleet_table_number {
    PROBITY_FLEET_RUNS,
    PROBITY_FLEET_FUNCTIONS,
    PROBITY_FLEET_THREADS,
    PROBITY_FLEET_LOSSES,
    PROBITY_FLEET_PROBES,
    PROBITY_FLEET_PATHS,
    PROBITY_FLEET_SITES,
    PROBITY_FLEET_VERSIONS,
    PROBITY_FLEET_SENDERS,
    PROBITY_FLEET_MINUTES, /* this and later ones are divided into blocks, each sent exactly once */
    PROBITY_FLEET_CALLS,
    PROBITY_FLEET_BLOCK_MINUTES,
    PROBITY_FLEET_BLOCKS,
    PROBITY_FLEET_REQUESTS,
    PROBITY_FLEET_RECORDS,
    PROBITY_FLEET_PATH_MINUTES,
    PROBITY_FLEET_HOURS,
    PROBITY_FLEET_TABLES
};

struct probity_fleet_table {
    const char *name; /* a constant identifier, so it may be part of a statement */
    const struct probity_fleet_column *columns;
    size_t column_count;
    const char *engine; /* including partition and order */
    const char *sharded_by; /* used on a cluster */
    const struct probity_fleet_alias *aliases;
    size_t alias_count;
    const char *stored_as; /* the table on each server of a cluster; NULL: NAME_local */
};

/* Each call began less than this many ns after its at_ns. */
enum { PROBITY_FLEET_SINCE_MAX = 65536 };

/* The table with the calls of schema version 2, while they are being copied and afterwards. */
#define PROBITY_FLEET_OLD_CALLS "probity_calls_2"

/* Writes the statement that copies the calls of one run that ended on one day ("YYYY-MM-DD"). */
void probity_fleet_schema_copy_calls(FILE *stream, const char *day, uint64_t run);

extern const struct probity_fleet_table probity_fleet_tables[PROBITY_FLEET_TABLES];

/* Returns the name that ClickHouse uses. */
const char *probity_fleet_type_name(enum probity_fleet_type type);

/* Returns the size in bytes of a value, or of an item of an array; 0: a text. */
size_t probity_fleet_type_bytes(enum probity_fleet_type type);

struct probity_fleet_schema {
    unsigned version;    /* version of the server, major * 100 + minor */
    const char *cluster; /* NULL: a single server; letters, digits, '_' and '-' only */
    unsigned ttl_days;   /* age at which rows in blocks are removed; 0: never */
    const char *database; /* an identifier; NULL: the current one, not on a cluster */
};

/* Writes the statements that create a table unless it exists: one, or two on a cluster. Returns
 * whether there is a statement with this number. */
int probity_fleet_schema_print(FILE *stream, const struct probity_fleet_schema *schema,
                               const struct probity_fleet_table *table, int number);

/* The same for the statements that add a column to an existing table, after the preceding
 * column. */
int probity_fleet_schema_add_column(FILE *stream, const struct probity_fleet_schema *schema,
                                    const struct probity_fleet_table *table, size_t column,
                                    int number);

/* Writes the columns by which a table is sorted, as in its engine: "a, b". Returns their length. */
size_t probity_fleet_schema_key(const struct probity_fleet_table *table, const char **ret_key);

#endif
