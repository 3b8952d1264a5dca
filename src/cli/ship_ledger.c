/* SPDX-License-Identifier: MIT
 *
 * ship_ledger.c: one line for each acknowledged block, appended with one write. A line that was
 * truncated by a crash is ignored, and the next one begins after it.
 */
#include "cli/ship_ledger.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array_grow.h"

enum { LEDGER_BYTES_MAX = 256 << 20, NUMBERS_BYTES_MAX = 128 };

/* Blocks are recorded in order, so a line that skips a number was not written by this tool. This
 * bounds memory by the number of lines. */
static int remember(struct cli_ledger *ledger, size_t table, uint64_t block,
                    struct cli_ledger_block what)
{
    size_t *count = &ledger->counts[table];

    if (block > *count)
        return 0;
    if (block == *count) {
        struct cli_ledger_block *grown = probity_array_fit(
            ledger->blocks[table], sizeof *grown, *count + 1, &ledger->rooms[table]);
        if (grown == NULL)
            return PROBITY_ERROR_MEMORY;
        ledger->blocks[table] = grown;
        (*count)++;
    }
    ledger->blocks[table][block] = what;
    return 0;
}

/* Reads a number without a sign, and the byte `end` after it. Returns the address after that, or
 * NULL. */
static const char *read_number(const char *at, int base, char end, uint64_t max,
                               uint64_t *ret_number)
{
    char *after;

    if (at == NULL || !isxdigit((unsigned char)*at))
        return NULL;
    errno = 0;
    *ret_number = strtoull(at, &after, base);
    return errno == 0 && *after == end && *ret_number <= max ? after + 1 : NULL;
}

/* Skips lines about other databases or runs, and invalid ones. */
static int read_line(struct cli_ledger *ledger, const char *line)
{
    uint64_t run, block, rows, checksum;

    if (strncmp(line, ledger->url, ledger->url_bytes) != 0 || line[ledger->url_bytes] != ' ')
        return 0;
    const char *at = read_number(line + ledger->url_bytes + 1, 16, ' ', UINT64_MAX, &run);
    if (at == NULL || run != ledger->run)
        return 0;
    size_t name_bytes = strcspn(at, " ");
    for (size_t i = 0; i < PROBITY_FLEET_TABLES; i++) {
        const char *name = probity_fleet_tables[i].name;
        if (strlen(name) != name_bytes || strncmp(name, at, name_bytes) != 0)
            continue;
        at = read_number(at + name_bytes + (at[name_bytes] == ' '), 10, ' ', UINT32_MAX, &block);
        at = read_number(at, 10, ' ', UINT32_MAX, &rows);
        at = read_number(at, 16, '\n', UINT32_MAX, &checksum);
        return at != NULL && *at == '\0'
                   ? remember(ledger, i, block,
                              (struct cli_ledger_block){rows, (uint32_t)checksum})
                   : 0;
    }
    return 0;
}

/* A line that is too long for this database is skipped in pieces, each of which does not begin a
 * line. */
static int read_lines(struct cli_ledger *ledger, FILE *stream, char *line, size_t room,
                      char *ret_last)
{
    int error = 0, is_begin = 1;

    while (error == 0 && fgets(line, (int)room, stream) != NULL) {
        size_t bytes = strlen(line);
        *ret_last = bytes > 0 ? line[bytes - 1] : '\0';
        error = is_begin && *ret_last == '\n' ? read_line(ledger, line) : 0;
        is_begin = *ret_last == '\n';
    }
    if (error == 0 && ferror(stream))
        error = PROBITY_ERROR_READ;
    return error;
}

/* Terminates a truncated line, so that the next one is complete. */
static int read_ledger(struct cli_ledger *ledger)
{
    int copy = dup(ledger->file);
    FILE *stream = copy >= 0 ? fdopen(copy, "r") : NULL;
    char last = '\n';

    if (stream == NULL) {
        if (copy >= 0)
            close(copy);
        return PROBITY_ERROR_READ;
    }
    ledger->url_bytes = strlen(ledger->url);
    size_t room = ledger->url_bytes + NUMBERS_BYTES_MAX;
    char *line = malloc(room);
    int error = line != NULL ? read_lines(ledger, stream, line, room, &last)
                             : PROBITY_ERROR_MEMORY;
    free(line);
    fclose(stream);
    if (error == 0 && last != '\n' && write(ledger->file, "\n", 1) != 1)
        error = PROBITY_ERROR_WRITE;
    return error;
}

int cli_ledger_open(const struct cli_command *command, const char *trace, const char *url,
                    uint64_t run, struct cli_ledger *ret_ledger)
{
    struct stat status;

    *ret_ledger = (struct cli_ledger){.command = command, .file = -1, .url = url, .run = run};
    if (asprintf(&ret_ledger->path, "%s.shipped", trace) < 0) {
        ret_ledger->path = NULL;
        return cli_fail(command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    }
    ret_ledger->file = open(ret_ledger->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW |
                                                  O_NONBLOCK, 0666);
    if (ret_ledger->file < 0 || fstat(ret_ledger->file, &status) != 0 || !S_ISREG(status.st_mode)) {
        cli_warn(command, "cannot write '%s': %s; only the server will be queried for blocks",
                 ret_ledger->path, ret_ledger->file < 0 ? strerror(errno) : "not a regular file");
        if (ret_ledger->file >= 0)
            close(ret_ledger->file);
        ret_ledger->file = -1;
        return CLI_OK;
    }
    if ((status.st_uid != geteuid() && status.st_uid != 0) || status.st_size > LEDGER_BYTES_MAX)
        return cli_fail(command, "'%s' %s; remove it if it is not yours: the server will be "
                        "queried for blocks", ret_ledger->path,
                        status.st_size > LEDGER_BYTES_MAX ? "is too large for a ledger"
                                                          : "belongs to another user");
    if (flock(ret_ledger->file, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK
                   ? cli_fail(command, "'%s': another process is sending this trace", trace)
                   : cli_fail(command, "cannot lock '%s': %s", ret_ledger->path, strerror(errno));
    int error = read_ledger(ret_ledger);
    if (error != 0)
        return cli_fail(command, "cannot read '%s': %s", ret_ledger->path,
                        error == PROBITY_ERROR_MEMORY ? probity_error_text(error)
                                                      : strerror(errno));
    return CLI_OK;
}

struct cli_ledger_block cli_ledger_at(const struct cli_ledger *ledger,
                                      enum probity_fleet_table_number table, uint32_t block)
{
    return block < ledger->counts[table] ? ledger->blocks[table][block]
                                         : (struct cli_ledger_block){0, 0};
}

static int append(struct cli_ledger *ledger, const char *line, int bytes)
{
    return ledger->file < 0 || write(ledger->file, line, (size_t)bytes) == bytes ? 0 : -1;
}

int cli_ledger_add(struct cli_ledger *ledger, enum probity_fleet_table_number table,
                   uint32_t block, struct cli_ledger_block what)
{
    char *line;
    int bytes = asprintf(&line, "%s %016" PRIx64 " %s %" PRIu32 " %" PRIu64 " %08" PRIx32 "\n",
                         ledger->url, ledger->run, probity_fleet_tables[table].name, block,
                         what.rows, what.checksum);

    if (bytes < 0)
        return -1;
    int error = append(ledger, line, bytes);
    free(line);
    return error != 0 || remember(ledger, table, block, what) != 0 ? -1 : 0;
}

int cli_ledger_finish(struct cli_ledger *ledger, const char *detail)
{
    char *line;
    int bytes = asprintf(&line, "%s %016" PRIx64 " %s finished\n", ledger->url, ledger->run,
                         detail);

    if (bytes < 0)
        return -1;
    int error = append(ledger, line, bytes);
    free(line);
    return error;
}

void cli_ledger_close(struct cli_ledger *ledger)
{
    if (ledger->file >= 0)
        close(ledger->file);
    for (size_t i = 0; i < PROBITY_FLEET_TABLES; i++)
        free(ledger->blocks[i]);
    free(ledger->path);
}
