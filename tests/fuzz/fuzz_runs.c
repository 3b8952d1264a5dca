/* SPDX-License-Identifier: MIT
 *
 * fuzz_runs.c: a project's history of runs as another user might have changed it: rows with
 * arbitrary values in tables without the schema's constraints, arbitrary bytes in the database, and
 * its journal.
 *
 * An input is a byte that selects the command, a byte that selects what to change, and the changes:
 * for rows, a byte for the table, and values; for bytes, pairs of offset and bytes, XORed onto a
 * valid history; the same for a journal that names a file to be deleted. JSON output must be valid,
 * no byte of the history may reach a terminal unescaped, and no other file may be deleted.
 */
#define main probity_main
#include "cli/main.c"
#undef main

#include <jansson.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "format/block.h"
#include "fuzz/target.h"

enum { ROWS = 0, BYTES = 1, JOURNAL = 2, WAYS = 3 };
enum { HISTORY_MAX = 1 << 16, JOURNAL_BYTES = 512 + 64, PAGE = 4096, TEXT = 1, JSON = 2 };

const int target_ways = 0;

static const struct {
    int form;
    const char *words[8];
} lines[] = {
    {TEXT, {"runs", "list"}},
    {JSON, {"runs", "list", "--json"}},
    {0, {"runs", "list", "--csv", "--label", "a"}},
    {TEXT, {"runs", "show", "1", "@a"}},
    {JSON, {"runs", "show", "--json", "@a", "@b"}},
    {0, {"runs", "show", "--csv", "2"}},
    {TEXT, {"diff", "@a", "--", "@b"}},
    {JSON, {"diff", "--json", "@a", "--", "@b"}},
    {0, {"diff", "--csv", "@a", "--", "@b"}},
    {0, {"runs", "rm", "@a"}},
    {0, {"runs", "add", "--label", "a", "trace"}},
};

enum { LINES = sizeof lines / sizeof *lines };

static struct {
    char directory[512];
    uint8_t history[HISTORY_MAX];
    size_t history_bytes;
    int out;
} target;

struct input {
    const uint8_t *at, *end;
};

static void demand(int holds)
{
    if (!holds)
        abort();
}

static uint64_t take(struct input *input, int bytes)
{
    uint64_t value = 0;

    for (int i = 0; i < bytes && input->at < input->end; i++)
        value = value << 8 | *input->at++;
    return value;
}

/* ---- A history and its mutation ----------------------------------------------------------------
 */

static void write_file(const char *name, const uint8_t *bytes, size_t size)
{
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    demand(file >= 0 && write(file, bytes, size) == (ssize_t)size);
    close(file);
}

/* Valid values, or anything else that SQLite can store. */
static void bind_value(struct input *input, sqlite3_stmt *statement, int column, const char *sound)
{
    uint64_t kind = take(input, 1), bytes;
    double real;

    switch (kind) {
    case 1: sqlite3_bind_null(statement, column); return;
    case 2: sqlite3_bind_int64(statement, column, (int64_t)take(input, 8)); return;
    case 3:
        bytes = take(input, 8);
        memcpy(&real, &bytes, sizeof real);
        sqlite3_bind_double(statement, column, real);
        return;
    case 4:
    case 5:
        bytes = take(input, 1);
        bytes = bytes < (uint64_t)(input->end - input->at) ? bytes
                                                           : (uint64_t)(input->end - input->at);
        if (kind == 4)
            sqlite3_bind_text(statement, column, (const char *)input->at, (int)bytes,
                              SQLITE_TRANSIENT);
        else
            sqlite3_bind_blob(statement, column, input->at, (int)bytes, SQLITE_TRANSIENT);
        input->at += bytes;
        return;
    case 6: sqlite3_bind_zeroblob(statement, column, (int)(take(input, 2) * 16)); return;
    case 7: sqlite3_bind_int64(statement, column, (int64_t)take(input, 1)); return;
    default: sqlite3_bind_text(statement, column, sound, -1, SQLITE_STATIC);
    }
}

static void insert(sqlite3 *database, struct input *input)
{
    static const struct {
        const char *sql, *sound[16];
    } tables[] = {
        {"INSERT OR IGNORE INTO run VALUES (?,?,?,?,?,?,?,?,?,?,?)",
         {"3", "0123456789abcdef", "a", "path", "5", "6", "7", "1", "0", "closed", "1"}},
        {"INSERT OR IGNORE INTO environment VALUES (?,?,?)", {"1", "host", "machine"}},
        {"INSERT INTO item VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
         {"1", "function", "f", "void f()", "f.c", "", "7", "0", "0.004", "10", "20", "30", "5",
          "3", "2", "9"}},
        {"INSERT INTO request VALUES (?,?,?,?,?,?,?,?,?,?)",
         {"1", "f", "f (named)", "0", "0.004", "10", "30", "3", "2", "9"}}};
    uint64_t table = take(input, 1) % 4;
    sqlite3_stmt *statement;

    demand(sqlite3_prepare_v2(database, tables[table].sql, -1, &statement, NULL) == SQLITE_OK);
    for (int i = 0; i < 16 && tables[table].sound[i] != NULL; i++)
        bind_value(input, statement, i + 1, tables[table].sound[i]);
    sqlite3_step(statement);
    sqlite3_finalize(statement);
}

static void add_rows(struct input *input)
{
    sqlite3 *database;

    demand(sqlite3_open("history", &database) == SQLITE_OK);
    sqlite3_exec(database, "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; BEGIN", NULL,
                 NULL, NULL);
    for (int rows = 0; rows < 64 && input->at < input->end; rows++)
        insert(database, input);
    demand(sqlite3_exec(database, "COMMIT", NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(database);
}

static void change_bytes(struct input *input, uint8_t *bytes, size_t size)
{
    while (input->at < input->end) {
        size_t at = take(input, 2) % size, count = take(input, 1);
        for (; count > 0 && at < size && input->at < input->end; count--)
            bytes[at++] ^= (uint8_t)take(input, 1);
    }
}

/* The remains of an interrupted transaction over two databases, one of which is `precious`. */
static void write_journal(struct input *input)
{
    static const uint8_t magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    static const char name[8] = "precious";
    const uint32_t numbers[] = {0, 1, (uint32_t)(target.history_bytes / PAGE), 512, PAGE};
    uint8_t bytes[JOURNAL_BYTES] = {0}, *at = bytes + 512;
    uint32_t sum = 0, page = 0x40000000 / PAGE + 1;

    memcpy(bytes, magic, sizeof magic);
    for (int i = 0; i < 5; i++)
        probity_put_u32(bytes + 8 + 4 * i, __builtin_bswap32(numbers[i]));
    for (int i = 0; i < 8; i++)
        sum += (uint8_t)name[i];
    probity_put_u32(at, __builtin_bswap32(page));
    memcpy(at + 4, name, sizeof name);
    probity_put_u32(at + 12, __builtin_bswap32(sizeof name));
    probity_put_u32(at + 16, __builtin_bswap32(sum));
    memcpy(at + 20, magic, sizeof magic);
    change_bytes(input, bytes, sizeof bytes);
    write_file(".probity/runs.db-journal", bytes, 512 + 28);
}

/* The tables of doc/runs.md without constraints, and two runs. */
static void make_history(void)
{
    /* Two rows of run, and one row of item and request for each run. Past the end is 0. */
    static const uint8_t sound[] = {0, 7, 1, 4, 1, '1', 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                    0, 7, 2, 4, 1, '2', 4, 1, 'b', 0, 0, 0, 0, 0, 0, 0, 0,
                                    2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                    3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                    3, 7, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                    2, 7, 2};
    struct input input = {sound, sound + sizeof sound};
    sqlite3 *database;

    demand(sqlite3_open("history", &database) == SQLITE_OK);
    demand(sqlite3_exec(database,
                        "PRAGMA application_id = 1349673588; PRAGMA user_version = 2;"
                        "CREATE TABLE run (number INTEGER PRIMARY KEY, session UNIQUE, label, path,"
                        " added_ns, started_ns, records, complete, damaged, why, requests);"
                        "CREATE TABLE environment (run, what, value, PRIMARY KEY (run, what));"
                        "CREATE TABLE item (run, kind, name, signature, file, object, line,"
                        " instance, quantile_error, calls, self_ns, total_ns, cpu_ns, mean_ns,"
                        " median_ns, p99_ns);"
                        "CREATE TABLE request (run, name, named, site, quantile_error, requests,"
                        " total_ns, mean_ns, median_ns, p99_ns)", NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(database);
    add_rows(&input);
    int file = open("history", O_RDONLY);
    ssize_t bytes = read(file, target.history, sizeof target.history);
    demand(bytes > 0);
    target.history_bytes = (size_t)bytes;
    close(file);
}

/* A trace without records, to be added. */
static void make_trace(void)
{
    struct probity_info info = {.pid = 77, .clock = PROBITY_CLOCK_TSC, .rate = UINT64_C(1) << 31,
                                .chunk_words = 512, .anchor = {1000, 1000, 1000, 1700000000, 40}};
    uint8_t bytes[PAGE], *block = bytes + PROBITY_FILE_HEADER_BYTES;

    memset(info.session, '0', sizeof info.session);
    probity_file_header_put(bytes);
    size_t payload = probity_info_put(block + PROBITY_BLOCK_HEADER_BYTES, 2048, &info);
    probity_block_seal(block, PROBITY_BLOCK_INFO, 0, (uint32_t)payload);
    write_file("trace", bytes, (size_t)(block - bytes) + PROBITY_BLOCK_HEADER_BYTES + payload);
}

/* ---- The target ---------------------------------------------------------------------------------
 */

static void remove_place(void)
{
    static const char *const files[] = {"history", "precious", "trace", ".probity/runs.db",
                                        ".probity/runs.db-journal", ".probity/runs.db-wal",
                                        ".probity/runs.db-shm"};

    if (chdir(target.directory) != 0)
        return;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        unlink(files[i]);
    rmdir(".probity");
    rmdir(target.directory);
}

static void make_place(void)
{
    target_directory_name(target.directory, sizeof target.directory, "runs");
    demand(mkdir(target.directory, 0700) == 0 && chdir(target.directory) == 0);
    demand(mkdir(".probity", 0700) == 0);
    atexit(remove_place);
    target.out = memfd_create("out", 0);
    demand(target.out >= 0 && dup2(target.out, 1) == 1);
    unsetenv("PROBITY_PROJECT");
    opterr = 0;
    make_history();
    make_trace();
}

static void judge_output(int form)
{
    static char text[1 << 20];
    json_error_t error;

    fflush(stdout);
    ssize_t bytes = pread(target.out, text, sizeof text, 0);
    for (ssize_t i = 0; form == TEXT && i < bytes; i++)
        demand((unsigned char)text[i] >= ' ' || text[i] == '\n' || text[i] == '\t');
    if (form != JSON || bytes == 0 || bytes == sizeof text)
        return;
    json_t *root = json_loadb(text, (size_t)bytes, 0, &error);
    demand(root != NULL);
    json_decref(root);
}

static void run_line(int line)
{
    char *arguments[10] = {(char *)(uintptr_t)"probity"};
    int count = 1;

    for (; lines[line].words[count - 1] != NULL; count++)
        arguments[count] = (char *)(uintptr_t)lines[line].words[count - 1];
    optind = 0;
    demand(ftruncate(target.out, 0) == 0 && lseek(target.out, 0, SEEK_SET) == 0);
    int status = run(count, arguments);
    demand(status == CLI_OK || status == CLI_FAILURE || status == CLI_DAMAGED ||
           status == CLI_USAGE);
    judge_output(lines[line].form);
    clearerr(stdout);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t history[HISTORY_MAX];
    struct input input = {data, data + size};
    int line = (int)take(&input, 1) % LINES, way = (int)take(&input, 1) % WAYS;

    if (target.directory[0] == '\0')
        make_place();
    memcpy(history, target.history, target.history_bytes);
    write_file("precious", data, size);
    unlink(".probity/runs.db-journal");
    if (way == BYTES)
        change_bytes(&input, history, target.history_bytes);
    write_file("history", history, target.history_bytes);
    if (way == ROWS)
        add_rows(&input);
    demand(rename("history", ".probity/runs.db") == 0);
    if (way == JOURNAL)
        write_journal(&input);
    run_line(line);
    demand(access("precious", F_OK) == 0);
    return 0;
}
