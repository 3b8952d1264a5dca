/* SPDX-License-Identifier: MIT
 *
 * schema.c: defines the tables, and writes the statements that create them.
 */
#include "fleet/schema.h"

#include <inttypes.h>
#include <string.h>

#define U8 PROBITY_FLEET_U8
#define I8 PROBITY_FLEET_I8
#define U16S PROBITY_FLEET_U16S
#define U32 PROBITY_FLEET_U32
#define U64 PROBITY_FLEET_U64
#define I64 PROBITY_FLEET_I64
#define DATE PROBITY_FLEET_DATE
#define TIME PROBITY_FLEET_TIME
#define TEXT PROBITY_FLEET_TEXT
#define U64S PROBITY_FLEET_U64S

#define SMALL "T64, ZSTD(1)" /* for numbers that are mostly small, or equal to their neighbors */
#define STEPS "Delta, ZSTD(1)"
#define PLAIN "ZSTD(1)"

static const struct probity_fleet_column runs[] = {
    {"day", DATE, PLAIN, "UTC day in which recording began"},
    {"run", U64, PLAIN, "first 8 bytes of the session"},
    {"version", U64, PLAIN, "when this row was written; the highest of a run counts"},
    {"finished", U8, PLAIN, "1: everything of detail was sent"},
    {"detail", TEXT, PLAIN, "summary, calls or records"},
    {"block_rows", U32, PLAIN, "rows at which a block ends"},
    {"minutes_rows", U64, PLAIN, "rows of probity_minutes, if finished"},
    {"calls_rows", U64, PLAIN, "rows of probity_calls, if finished; of a summary 0"},
    {"block_minutes_rows", U64, PLAIN, "rows of probity_block_minutes, if finished"},
    {"blocks_rows", U64, PLAIN, "rows of probity_blocks, if finished; of a summary 0"},
    {"requests_rows", U64, PLAIN, "rows of probity_requests, if finished; of a summary 0"},
    {"records_rows", U64, PLAIN, "rows of probity_records, if finished and detail is records"},
    {"path_minutes_rows", U64, PLAIN, "rows of probity_path_minutes, if finished"},
    {"hours_rows", U64, PLAIN, "rows of probity_hours, if finished"},
    {"sent_ns", U64, PLAIN, "everything before was sent; 0: nothing yet"},
    {"schema", U32, PLAIN, "version of these tables for which it was sent; 0: before version 2"},
    {"host", TEXT, PLAIN, "host name"},
    {"boot", TEXT, PLAIN, "boot id, 32 hexadecimal digits"},
    {"session", TEXT, PLAIN, "session, 32 hexadecimal digits"},
    {"kernel", TEXT, PLAIN, "operating system"},
    {"cpu", TEXT, PLAIN, "CPU model"},
    {"program", TEXT, PLAIN, "name of the program"},
    {"command", TEXT, PLAIN, "command line"},
    {"executable", TEXT, PLAIN, "path of the executable"},
    {"build", TEXT, PLAIN, "build id of the executable"},
    {"label", TEXT, PLAIN, "label given when recording"},
    {"trace", TEXT, PLAIN, "path of the trace when it was sent"},
    {"pid", U32, PLAIN, "process id"},
    {"flags", U32, PLAIN, "bit 0: CPU times are known; bit 2: profile mode"},
    {"mode", U32, PLAIN, "0 drop, 1 block, 2 ring"},
    {"state", U8, PLAIN, "1 closed, 2 being recorded, 3 killed, 4 unfinished"},
    {"end_reason", U32, PLAIN, "why recording ended"},
    {"started_ns", U64, PLAIN, "when recording began"},
    {"ended_ns", U64, PLAIN, "last record"},
    {"rate", U64, PLAIN, "ns per tick * 2^32"},
    {"records", U64, PLAIN, "records in the trace"},
    {"dropped_full", U64, PLAIN, "records dropped: no free chunk"},
    {"dropped_memory", U64, PLAIN, "records dropped: memory or limit"},
    {"dropped_write", U64, PLAIN, "records dropped: not writable"},
    {"missing", U64, PLAIN, "records that were written but are missing from the file"},
    {"damages", U64, PLAIN, "damaged places"},
    {"damaged_bytes", U64, PLAIN, "bytes skipped there"},
    {"damage_offset", U64, PLAIN, "offset of the first"},
    {"cut_bytes", U64, PLAIN, "bytes of an incomplete last block"},
    {"short", U8, PLAIN, "1: copied while recording"},
    {"failed", U8, PLAIN, "1: recording stopped after a write error"},
    {"failed_errno", U32, PLAIN, "its errno; 0: unknown"},
    {"failed_after_ns", U64, PLAIN, "when, since the beginning"},
    {"stalls", U64, PLAIN, "times that threads waited for a free chunk"},
    {"stall_ticks", U64, PLAIN, "ticks that they waited"},
    {"clock_steps", U64, PLAIN, "times that CLOCK_REALTIME was set"},
    {"clock_error_ns", U64, PLAIN, "error bound of wall times"},
    {"unwound", U64, PLAIN, "calls closed without a record of their end"},
    {"open", U64, PLAIN, "calls in progress at the end"},
    {"orphans", U64, PLAIN, "ends without a matching call"},
    {"pauses_unmatched", U64, PLAIN, "pauses outside a call"},
    {"resumes_unmatched", U64, PLAIN, "resumes without a pause"},
};

static const struct probity_fleet_column functions[] = {
    {"function", U64, PLAIN, "FNV-1a of the columns that follow"},
    {"declared", U8, PLAIN, "0: the declaration was lost; line is the number of its site"},
    {"name", TEXT, PLAIN, "name"},
    {"signature", TEXT, PLAIN, "signature, if the compiler supplied it"},
    {"file", TEXT, PLAIN, "source file"},
    {"object", TEXT, PLAIN, "shared library; empty: the executable"},
    {"returns", TEXT, PLAIN, "return type"},
    {"line", U32, PLAIN, "line"},
    {"level", U32, PLAIN, "level"},
};

static const struct probity_fleet_column threads[] = {
    {"run", U64, PLAIN, "run"},
    {"thread", U32, PLAIN, "number of the thread in its run"},
    {"version", U32, PLAIN, "the highest counts"},
    {"tid", U32, PLAIN, "thread id"},
    {"pid", U32, PLAIN, "process id"},
    {"name", TEXT, PLAIN, "latest name"},
};

static const struct probity_fleet_column losses[] = {
    {"run", U64, PLAIN, "run"},
    {"from_ns", U64, PLAIN, "beginning of an interval in which records were dropped"},
    {"to_ns", U64, PLAIN, "its end"},
    {"records", U64, PLAIN, "records dropped in it"},
};

static const struct probity_fleet_column probes[] = {
    {"run", U64, PLAIN, "run"},
    {"probe", U64, PLAIN, "FNV-1a of its kind, and its name or number"},
    {"version", U32, PLAIN, "the highest counts"},
    {"site", U8, PLAIN, "1: a probe with a name; 0: one with a number"},
    {"number", U32, PLAIN, "its number; 0 if site"},
    {"name", TEXT, PLAIN, "its name; empty for a number without a name"},
};

/* The sums of calls that began in the same minute or hour. */
#define SUMS_OF_CALLS(UNIT)                                                                        \
    {"calls", U64, SMALL, "calls"},                                                                \
    {"untimed", U64, SMALL, "calls without times"},                                                \
    {"repaired", U64, SMALL, "calls without a record of their end, and those in progress"},        \
    {"open", U64, SMALL, "calls in progress at the end"},                                          \
    {"entries", U64, SMALL, "untimed calls of functions that have entries only"},                  \
    {"counted", U64, SMALL, "untimed calls that PROBITY_BUDGET has only counted"},                 \
    {"profiled", U64, SMALL, "calls from profile mode, whose " UNIT " is unknown"},                \
    {"least", U8, SMALL, "1: there were more calls: PROBITY_BUDGET had the hooks removed"},        \
    {"total_ns", U64, PLAIN, "total time; of recursive calls the outermost"},                      \
    {"total_cpu_ns", U64, PLAIN, "total CPU time; 0: unknown"},                                    \
    {"self_ns", U64, PLAIN, "self time"},                                                          \
    {"self_cpu_ns", U64, PLAIN, "self CPU time; 0: unknown"},                                      \
    {"paused_ns", U64, SMALL, "time in pauses"},                                                   \
    {"paused_cpu_ns", U64, SMALL, "CPU time in pauses"},                                           \
    {"sum_ns", U64, PLAIN, "sum of the durations of calls whose end was recorded"},                \
    {"min_ns", U64, PLAIN, "shortest of them; 2^64 - 1: none"},                                    \
    {"max_ns", U64, PLAIN, "longest"},                                                             \
    {"buckets", U16S, PLAIN, "histogram of the durations: buckets, ascending"},                    \
    {"counts", U64S, PLAIN, "histogram of the durations: calls in each bucket"}

static const struct probity_fleet_column minutes[] = {
    {"day", DATE, PLAIN, "UTC day in which the row was closed"},
    {"run", U64, PLAIN, "run"},
    {"block", U32, PLAIN, "number of the block that the row was sent in"},
    {"minute", TIME, STEPS, "the minute in which the calls began"},
    {"function", U64, PLAIN, "function"},
    {"thread", U32, SMALL, "thread"},
    SUMS_OF_CALLS("minute")
};

/* The same for all threads together. */
static const struct probity_fleet_column hours[] = {
    {"day", DATE, PLAIN, "UTC day in which the row was closed"},
    {"run", U64, PLAIN, "run"},
    {"block", U32, PLAIN, "number of the block that the row was sent in"},
    {"hour", TIME, STEPS, "the hour in which the calls began"},
    {"function", U64, PLAIN, "function"},
    SUMS_OF_CALLS("hour")
};

static const struct probity_fleet_column calls[] = {
    {"day", DATE, PLAIN, "UTC day in which the call ended"},
    {"run", U64, PLAIN, "run"},
    {"block", U32, SMALL, "number of the block that the row was sent in"},
    {"function", U64, PLAIN, "function"},
    {"thread", U32, SMALL, "thread"},
    {"depth", U32, SMALL, "calls around it in its thread"},
    {"flags", U8, SMALL, "how it ended and more, see doc/fleet.md"},
    {"at_ns", U64, STEPS, "when it began, or a call around it, less than 65536 ns earlier"},
    {"since_0", U8, PLAIN, "when it began, since then: lowest byte"},
    {"since_1", U8, PLAIN, "the other byte"},
    {"self_0", U8, PLAIN, "self wall time: lowest byte"},
    {"self_1", U8, PLAIN, "second byte"},
    {"self_2", U64, SMALL, "all other bytes"},
    {"inner_0", U8, PLAIN, "total minus self wall time: lowest byte"},
    {"inner_1", U8, PLAIN, "second byte"},
    {"inner_2", U64, SMALL, "all other bytes"},
    {"off_0", I8, PLAIN, "total wall minus total CPU time: lowest byte, -128 to 127"},
    {"off_1", I64, SMALL, "all other bytes"},
    {"inner_off_0", I8, PLAIN, "the same of inner: lowest byte, -128 to 127"},
    {"inner_off_1", I64, SMALL, "all other bytes"},
    {"paused_ns", U64, SMALL, "time in pauses"},
    {"paused_cpu_ns", U64, SMALL, "CPU time in pauses"},
};

#define THREE_BYTES(NAME) NAME "_0 + 256 * " NAME "_1 + 65536 * " NAME "_2"

static const struct probity_fleet_alias call_aliases[] = {
    {"start_ns", U64, "at_ns + since_0 + 256 * since_1", "when it began"},
    {"total_ns", U64, "toUInt64(" THREE_BYTES("self") " + " THREE_BYTES("inner") ")",
     "total wall time without pauses"},
    {"children_ns", I64, "toInt64(" THREE_BYTES("inner") ")", "total minus self wall time"},
    {"off_ns", I64, "toInt64(off_0 + 256 * off_1)", "total wall minus total CPU time"},
    {"children_off_ns", I64, "toInt64(inner_off_0 + 256 * inner_off_1)",
     "the same of children_ns"},
};

static const struct probity_fleet_column block_minutes[] = {
    {"day", DATE, PLAIN, "UTC day in which the row was closed"},
    {"run", U64, PLAIN, "run"},
    {"block", U32, PLAIN, "number of the block that the row was sent in"},
    {"minute", TIME, STEPS, "the minute in which the spans began"},
    {"from_probe", U64, PLAIN, "probe at which the spans begin"},
    {"to_probe", U64, PLAIN, "probe at which they end: the next one hit in the thread"},
    {"thread", U32, SMALL, "thread"},
    {"spans", U64, SMALL, "number of spans"},
    {"wall_ns", U64, PLAIN, "their wall time"},
    {"cpu_spans", U64, SMALL, "spans whose CPU time is known"},
    {"cpu_ns", U64, PLAIN, "CPU time of these"},
    {"cpu_wall_ns", U64, PLAIN, "wall time of these"},
    {"min_ns", U64, PLAIN, "shortest wall time"},
    {"max_ns", U64, PLAIN, "longest wall time"},
    {"buckets", U16S, PLAIN, "histogram of the wall times: buckets, ascending"},
    {"counts", U64S, PLAIN, "histogram of the wall times: spans in each bucket"},
};

static const struct probity_fleet_column blocks[] = {
    {"day", DATE, PLAIN, "UTC day in which the span ended"},
    {"run", U64, PLAIN, "run"},
    {"block", U32, SMALL, "number of the block that the row was sent in"},
    {"from_probe", U64, PLAIN, "probe at which the span begins"},
    {"to_probe", U64, PLAIN, "probe at which it ends: the next one hit in the thread"},
    {"thread", U32, SMALL, "thread"},
    {"flags", U8, SMALL, "bit 0: off_ns is known"},
    {"start_ns", U64, STEPS, "when it began"},
    {"wall_ns", U64, SMALL, "wall time"},
    {"off_ns", I64, SMALL, "wall minus CPU time"},
};

static const struct probity_fleet_column requests[] = {
    {"day", DATE, PLAIN, "UTC day of the hit"},
    {"run", U64, PLAIN, "run"},
    {"block", U32, SMALL, "number of the block that the row was sent in"},
    {"id", U64, STEPS, "correlation id"},
    {"at_ns", U64, STEPS, "when a probe was hit with this id"},
    {"thread", U32, SMALL, "thread that made the hit"},
    {"probe", U64, PLAIN, "probe that was hit"},
    {"role", U8, SMALL, "role of the hit, doc/trace-format.md"},
    {"from_probe", U64, PLAIN, "probe of the preceding hit with this id; 0: none"},
    {"from_thread", U32, SMALL, "its thread"},
    {"flags", U8, SMALL, "bit 0: off_ns is known; bit 1: there is a preceding hit"},
    {"wall_ns", U64, SMALL, "wall time since then"},
    {"off_ns", I64, SMALL, "the same minus CPU time; unknown across threads"},
};

static const struct probity_fleet_column records[] = {
    {"day", DATE, PLAIN, "UTC day in which recording began"},
    {"run", U64, PLAIN, "run"},
    {"block", U32, SMALL, "number of the block that the row was sent in"},
    {"place", U64, STEPS, "offset in the trace"},
    {"type", U8, SMALL, "type of this block of the trace; 0: none, or damaged"},
    {"thread", U32, SMALL, "of records: their thread"},
    {"records", U32, SMALL, "how many"},
    {"bytes", TEXT, "ZSTD(3)", "bytes of the trace from this offset on"},
};

static const struct probity_fleet_column paths[] = {
    {"run", U64, PLAIN, "run"},
    {"path", U64, PLAIN, "FNV-1a of the two columns that follow"},
    {"parent", U64, PLAIN, "path of the caller; 0: there is none"},
    {"function", U64, PLAIN, "function"},
};

static const struct probity_fleet_column sites[] = {
    {"run", U64, PLAIN, "run"},
    {"site", U64, PLAIN, "FNV-1a of the columns that identify it"},
    {"version", U64, PLAIN, "when this row was written; the highest counts"},
    {"listed", U8, PLAIN, "1: from the list of compiled-in sites; 0: a probe that was hit"},
    {"kind", U8, PLAIN, "1 named probe, 2 numbered probe, 3 function; 0: number did not fit"},
    {"number", U32, PLAIN, "of a numbered probe"},
    {"line", U32, PLAIN, "line"},
    {"level", U32, PLAIN, "of a function"},
    {"flags", U8, PLAIN, "of a function: bit 0: C++; bit 1: recorded at its end only"},
    {"hits", U64, PLAIN, "of a probe that was hit: how often in the whole run"},
    {"name", TEXT, PLAIN, "name"},
    {"file", TEXT, PLAIN, "source file"},
    {"within", TEXT, PLAIN, "of a probe: the function that contains it"},
    {"signature", TEXT, PLAIN, "of a function, if the compiler supplied it"},
    {"object", TEXT, PLAIN, "shared library; empty: the executable"},
};

static const struct probity_fleet_column versions[] = {
    {"version", U32, PLAIN, "a version of these tables; the highest counts"},
    {"made", TIME, PLAIN, "when it was set"},
};

static const struct probity_fleet_column senders[] = {
    {"run", U64, PLAIN, "run"},
    {"owner", U64, PLAIN, "the sender: FNV-1a of its machine and ledger"},
    {"version", U64, PLAIN, "when this row was written; the highest of a sender counts"},
    {"heard", TIME, PLAIN, "by the clock of the server"},
    {"released", U8, PLAIN, "1: it has ended, or has given way to another one"},
    {"pid", U32, PLAIN, "its process id"},
    {"host", TEXT, PLAIN, "its host name"},
};

static const struct probity_fleet_column path_minutes[] = {
    {"day", DATE, PLAIN, "UTC day in which the row was closed"},
    {"run", U64, PLAIN, "run"},
    {"block", U32, PLAIN, "number of the block that the row was sent in"},
    {"minute", TIME, STEPS, "the minute in which the calls began"},
    {"path", U64, PLAIN, "path of the calls; 0: there were too many, only calls is known"},
    {"thread", U32, SMALL, "thread"},
    {"calls", U64, SMALL, "calls, modulo 2^64 like all columns that follow"},
    {"untimed", U64, SMALL, "calls without times"},
    {"repaired", U64, SMALL, "calls without a record of their end, and those in progress"},
    {"total_ns", U64, PLAIN, "total time"},
    {"total_cpu_ns", U64, PLAIN, "total CPU time; 0: unknown"},
    {"self_ns", U64, PLAIN, "self time"},
    {"self_cpu_ns", U64, PLAIN, "self CPU time; 0: unknown"},
    {"paused_ns", U64, SMALL, "time in pauses"},
    {"paused_cpu_ns", U64, SMALL, "CPU time in pauses"},
};

#define TABLE(NAME, COLUMNS, ENGINE) SHARDED(NAME, COLUMNS, ENGINE, "run")
#define SHARDED(NAME, COLUMNS, ENGINE, BY)                                                         \
    {.name = NAME, .columns = COLUMNS, .column_count = sizeof COLUMNS / sizeof *COLUMNS,           \
     .engine = ENGINE, .sharded_by = BY}

const struct probity_fleet_table probity_fleet_tables[PROBITY_FLEET_TABLES] = {
    [PROBITY_FLEET_RUNS] = TABLE("probity_runs", runs,
                                 "ReplacingMergeTree(version) ORDER BY (day, run)"),
    [PROBITY_FLEET_FUNCTIONS] = SHARDED("probity_functions", functions,
                                        "ReplacingMergeTree() ORDER BY function", "function"),
    [PROBITY_FLEET_THREADS] = TABLE("probity_threads", threads,
                                    "ReplacingMergeTree(version) ORDER BY (run, thread)"),
    [PROBITY_FLEET_LOSSES] = TABLE("probity_losses", losses,
                                   "ReplacingMergeTree() ORDER BY (run, from_ns, to_ns, records)"),
    [PROBITY_FLEET_PROBES] = TABLE("probity_probes", probes,
                                   "ReplacingMergeTree(version) ORDER BY (run, probe)"),
    [PROBITY_FLEET_PATHS] = TABLE("probity_paths", paths,
                                  "ReplacingMergeTree() ORDER BY (run, path)"),
    [PROBITY_FLEET_SITES] = TABLE("probity_sites", sites,
                                  "ReplacingMergeTree(version) ORDER BY (run, site)"),
    [PROBITY_FLEET_VERSIONS] = SHARDED("probity_versions", versions,
                                       "ReplacingMergeTree() ORDER BY version", "version"),
    [PROBITY_FLEET_SENDERS] = TABLE("probity_senders", senders,
                                    "ReplacingMergeTree(version) ORDER BY (run, owner)"),
    [PROBITY_FLEET_MINUTES] = TABLE("probity_minutes", minutes,
                                    "MergeTree() PARTITION BY day "
                                    "ORDER BY (run, function, minute, thread)"),
    [PROBITY_FLEET_CALLS] = {
        .name = "probity_calls", .columns = calls, .column_count = sizeof calls / sizeof *calls,
        .engine = "MergeTree() PARTITION BY day ORDER BY (run, thread, at_ns)",
        .sharded_by = "run", .aliases = call_aliases,
        .alias_count = sizeof call_aliases / sizeof *call_aliases,
        .stored_as = "probity_calls_3_local"},
    [PROBITY_FLEET_BLOCK_MINUTES] = TABLE("probity_block_minutes", block_minutes,
                                          "MergeTree() PARTITION BY day ORDER BY "
                                          "(run, from_probe, to_probe, minute, thread)"),
    [PROBITY_FLEET_BLOCKS] = TABLE("probity_blocks", blocks,
                                   "MergeTree() PARTITION BY day ORDER BY "
                                   "(run, from_probe, to_probe, thread, start_ns)"),
    [PROBITY_FLEET_REQUESTS] = TABLE("probity_requests", requests,
                                     "MergeTree() PARTITION BY day ORDER BY (id, run, at_ns)"),
    [PROBITY_FLEET_RECORDS] = TABLE("probity_records", records,
                                    "MergeTree() PARTITION BY day ORDER BY (run, place)"),
    [PROBITY_FLEET_PATH_MINUTES] = TABLE("probity_path_minutes", path_minutes,
                                         "MergeTree() PARTITION BY day "
                                         "ORDER BY (run, path, minute, thread)"),
    [PROBITY_FLEET_HOURS] = TABLE("probity_hours", hours,
                                  "MergeTree() PARTITION BY day ORDER BY (run, function, hour)"),
};

const char *probity_fleet_type_name(enum probity_fleet_type type)
{
    static const char *const names[] = {"UInt8", "Int8", "UInt16", "UInt32", "UInt64", "Int64",
                                        "Date", "DateTime", "String", "Array(UInt16)",
                                        "Array(UInt64)"};

    return names[type];
}

size_t probity_fleet_type_bytes(enum probity_fleet_type type)
{
    static const unsigned char bytes[] = {1, 1, 2, 4, 8, 8, 2, 4, 0, 2, 8};

    return bytes[type];
}

/* ---- Statements --------------------------------------------------------------------------------
 */

static int is_in_blocks(const struct probity_fleet_table *table)
{
    return table >= &probity_fleet_tables[PROBITY_FLEET_MINUTES];
}

static void print_column(FILE *stream, const struct probity_fleet_schema *schema,
                         const struct probity_fleet_column *column, int is_bare)
{
    fprintf(stream, "%s %s", column->name, probity_fleet_type_name(column->type));
    if (!is_bare)
        fprintf(stream, " COMMENT '%s'", column->comment);
    if (schema->version >= PROBITY_FLEET_CODECS && *column->codec != '\0')
        fprintf(stream, " CODEC(%s)", column->codec);
}

static void print_columns(FILE *stream, const struct probity_fleet_schema *schema,
                          const struct probity_fleet_table *table, int is_bare)
{
    for (size_t i = 0; i < table->column_count; i++) {
        fputs(i > 0 ? ",\n    " : "    ", stream);
        print_column(stream, schema, &table->columns[i], is_bare);
    }
    for (size_t i = 0; i < table->alias_count; i++) {
        const struct probity_fleet_alias *alias = &table->aliases[i];
        fprintf(stream, ",\n    %s %s ALIAS %s", alias->name,
                probity_fleet_type_name(alias->type), alias->expression);
        if (!is_bare)
            fprintf(stream, " COMMENT '%s'", alias->comment);
    }
    fputc('\n', stream);
}

/* Servers without codecs cannot read back the comments of a replicated table. */
static int has_no_comments(const struct probity_fleet_schema *schema)
{
    return schema->cluster != NULL && schema->version < PROBITY_FLEET_CODECS;
}

/* Writes the statement for the table on each server of a cluster. */
static void print_stored(FILE *stream, const struct probity_fleet_table *table)
{
    if (table->stored_as != NULL)
        fputs(table->stored_as, stream);
    else
        fprintf(stream, "%s_local", table->name);
}

static void print_name(FILE *stream, const struct probity_fleet_schema *schema,
                       const struct probity_fleet_table *table, int number)
{
    if (schema->cluster != NULL && number == 0)
        print_stored(stream, table);
    else
        fputs(table->name, stream);
    if (schema->cluster != NULL)
        fprintf(stream, " ON CLUSTER '%s'", schema->cluster);
}

/* Writes how many blocks of a table a server recognizes: by the tokens of inserts or, on a cluster
 * whose servers have none, by their rows. By default these are 0, and on a cluster 100 or more. */
static void print_window(FILE *stream, const struct probity_fleet_schema *schema)
{
    if (schema->cluster != NULL)
        fputs(" SETTINGS replicated_deduplication_window = 10000", stream);
    else if (schema->version >= PROBITY_FLEET_TOKENS)
        fputs(" SETTINGS non_replicated_deduplication_window = 10000", stream);
}

static void print_engine(FILE *stream, const struct probity_fleet_schema *schema,
                         const struct probity_fleet_table *table)
{
    const char *arguments = strchr(table->engine, '(') + 1;
    int is_last = *arguments == ')';

    if (schema->cluster == NULL) {
        fputs(table->engine, stream);
    } else {
        fprintf(stream, "Replicated%.*s'/clickhouse/tables/{shard}/{database}/",
                (int)(arguments - table->engine), table->engine);
        print_stored(stream, table);
        fprintf(stream, "', '{replica}'%s%s", is_last ? "" : ", ", arguments);
    }
    if (schema->ttl_days > 0 && is_in_blocks(table))
        fprintf(stream, " TTL day + INTERVAL %u DAY", schema->ttl_days);
    if (is_in_blocks(table))
        print_window(stream, schema);
    fputc('\n', stream);
}

int probity_fleet_schema_print(FILE *stream, const struct probity_fleet_schema *schema,
                               const struct probity_fleet_table *table, int number)
{
    if (number > (schema->cluster != NULL))
        return 0;
    fputs("CREATE TABLE IF NOT EXISTS ", stream);
    print_name(stream, schema, table, number);
    fputs(" (\n", stream);
    if (number == 0) {
        print_columns(stream, schema, table, has_no_comments(schema));
        fputs(") ENGINE = ", stream);
        print_engine(stream, schema, table);
        return 1;
    }
    const struct probity_fleet_schema bare = {.cluster = schema->cluster};
    print_columns(stream, &bare, table, 0);
    fprintf(stream, ") ENGINE = Distributed('%s', %s, ", schema->cluster,
            schema->database != NULL ? schema->database : "currentDatabase()");
    print_stored(stream, table);
    fprintf(stream, ", %s)\n", table->sharded_by);
    return 1;
}

/* Servers without codecs ignore the comment of a column that is added. */
int probity_fleet_schema_add_column(FILE *stream, const struct probity_fleet_schema *schema,
                                    const struct probity_fleet_table *table, size_t column,
                                    int number)
{
    const struct probity_fleet_schema bare = {.cluster = schema->cluster};

    if (number > (schema->cluster != NULL))
        return 0;
    fputs("ALTER TABLE ", stream);
    print_name(stream, schema, table, number);
    fputs(" ADD COLUMN ", stream);
    print_column(stream, number == 0 ? schema : &bare, &table->columns[column],
                 number == 0 && has_no_comments(schema));
    if (column > 0)
        fprintf(stream, " AFTER %s", table->columns[column - 1].name);
    return 1;
}

size_t probity_fleet_schema_key(const struct probity_fleet_table *table, const char **ret_key)
{
    static const char before[] = "ORDER BY ";
    const char *key = strstr(table->engine, before) + sizeof before - 1;

    key += *key == '(';
    *ret_key = key;
    return strcspn(key, ")");
}

/* ---- Copying calls -----------------------------------------------------------------------------
 */

/* Computes the columns from those of version 2. Each call begins at its own at_ns. */
static const char old_calls_columns[] =
    "SELECT day, run, block, function, thread, depth, flags, start_ns, toUInt8(0), toUInt8(0), "
    "toUInt8(bitAnd(self, 255)), toUInt8(bitAnd(bitShiftRight(self, 8), 255)), "
    "bitShiftRight(self, 16), "
    "toUInt8(bitAnd(inner, 255)), toUInt8(bitAnd(bitShiftRight(inner, 8), 255)), "
    "bitShiftRight(inner, 16), "
    "off_low, intDiv(off_ns - off_low, 256), "
    "inner_off_low, intDiv(children_off_ns - inner_off_low, 256), paused_ns, paused_cpu_ns FROM "
    "(SELECT *, toUInt64(total_ns - children_ns) AS self, toUInt64(children_ns) AS inner, "
    "toInt8(bitAnd(off_ns, 255)) AS off_low, toInt8(bitAnd(children_off_ns, 255)) AS inner_off_low "
    "FROM " PROBITY_FLEET_OLD_CALLS;

void probity_fleet_schema_copy_calls(FILE *stream, const char *day, uint64_t run)
{
    const struct probity_fleet_table *table = &probity_fleet_tables[PROBITY_FLEET_CALLS];

    fprintf(stream, "INSERT INTO %s (", table->name);
    for (size_t i = 0; i < table->column_count; i++)
        fprintf(stream, "%s%s", i > 0 ? ", " : "", table->columns[i].name);
    fprintf(stream, ") %s WHERE day = toDate('%s') AND run = %" PRIu64 ")", old_calls_columns, day,
            run);
}
