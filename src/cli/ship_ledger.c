/* SPDX-License-Identifier: MIT
 *
 * ship_ledger.c: one line for each acknowledged block, appended with one write. A line that a crash
 * truncated is not a line, and the next one begins after it.
 */
#include "cli/ship_ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array_grow.h"

/* Bounds on what a damaged ledger may ask for. */
enum { LEDGER_BYTES_MAX = 256 << 20, LINE_BYTES_MIN = 32 };

static int remember(struct cli_ledger *ledger, size_t table, uint32_t block,
                    struct cli_ledger_block what)
{
    size_t *count = &ledger->counts[table];

    if (block >= *count) {
        struct cli_ledger_block *grown =
            probity_array_fit(ledger->blocks[table], sizeof *grown, (size_t)block + 1,
                              &ledger->rooms[table]);
        if (grown == NULL)
            return -1;
        ledger->blocks[table] = grown;
        memset(grown + *count, 0, (block + 1 - *count) * sizeof *grown);
        *count = (size_t)block + 1;
    }
    ledger->blocks[table][block] = what;
    return 0;
}

/* Lines about other databases or runs, and those that are not valid, are skipped. */
static int read_line(struct cli_ledger *ledger, const char *line)
{
    size_t url_length = strlen(ledger->url);
    uint64_t run, rows;
    uint32_t block, checksum;
    char name[32];
    int end = 0;

    if (strncmp(line, ledger->url, url_length) != 0 || line[url_length] != ' ' ||
        sscanf(line + url_length, " %" SCNx64 " %31s %" SCNu32 " %" SCNu64 " %" SCNx32 "%n", &run,
               name, &block, &rows, &checksum, &end) != 5 ||
        strcmp(line + url_length + end, "\n") != 0 || run != ledger->run ||
        block >= ledger->blocks_max)
        return 0;
    for (size_t i = 0; i < PROBITY_FLEET_TABLES; i++) {
        if (strcmp(name, probity_fleet_tables[i].name) == 0)
            return remember(ledger, i, block, (struct cli_ledger_block){rows, checksum});
    }
    return 0;
}

/* A truncated line is ended, so that the next one is whole. */
static int read_ledger(struct cli_ledger *ledger)
{
    int copy = dup(ledger->file), error = 0;
    FILE *stream = copy >= 0 ? fdopen(copy, "r") : NULL;
    char *line = NULL, last = '\n';
    size_t room = 0;
    ssize_t bytes;

    if (stream == NULL) {
        if (copy >= 0)
            close(copy);
        return -1;
    }
    while (error == 0 && (bytes = getline(&line, &room, stream)) > 0) {
        last = line[bytes - 1];
        error = read_line(ledger, line);
    }
    free(line);
    fclose(stream);
    return error != 0 || (last != '\n' && write(ledger->file, "\n", 1) != 1) ? -1 : 0;
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
        cli_warn(command, "cannot write '%s': %s; the server alone is asked which blocks it has",
                 ret_ledger->path, ret_ledger->file < 0 ? strerror(errno) : "not a regular file");
        if (ret_ledger->file >= 0)
            close(ret_ledger->file);
        ret_ledger->file = -1;
        return CLI_OK;
    }
    if ((status.st_uid != geteuid() && status.st_uid != 0) || status.st_size > LEDGER_BYTES_MAX)
        return cli_fail(command, "'%s' %s; remove it if it is not yours: the server is then asked "
                        "which blocks it has", ret_ledger->path,
                        status.st_size > LEDGER_BYTES_MAX ? "is too large for a ledger"
                                                          : "belongs to another user");
    ret_ledger->blocks_max = (uint32_t)status.st_size / LINE_BYTES_MIN + 1;
    if (flock(ret_ledger->file, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK
                   ? cli_fail(command, "'%s': another process is sending this trace", trace)
                   : cli_fail(command, "cannot lock '%s': %s", ret_ledger->path, strerror(errno));
    if (read_ledger(ret_ledger) != 0)
        return cli_fail(command, "cannot read '%s': %s", ret_ledger->path, strerror(errno));
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
    return error != 0 ? -1 : remember(ledger, table, block, what);
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
