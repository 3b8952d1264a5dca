/* SPDX-License-Identifier: MIT
 *
 * spools_columns.c: columns of a spool; prints the list as JSON.
 */
#include <inttypes.h>

#include "answers/spools/spools_print.h"
#include "probity.h"

struct probity_spools_row probity_spools_row_of(const struct probity_spools_entry *entry,
                                                int64_t now_ns)
{
    return (struct probity_spools_row){
        entry, now_ns > entry->changed_ns ? now_ns - entry->changed_ns : 0};
}

int probity_spools_is_left(const struct probity_spools_entry *entry)
{
    return entry->state == PROBITY_SPOOLS_DEAD || entry->state == PROBITY_SPOOLS_CLOSED;
}

/* ---- The columns -------------------------------------------------------------------------------
 */

static const char *state_of(const struct probity_spools_entry *entry)
{
    static const char *const words[] = {
        [PROBITY_SPOOLS_DEAD] = "dead",
        [PROBITY_SPOOLS_ALIVE] = "alive",
        [PROBITY_SPOOLS_CLOSED] = "closed",
        [PROBITY_SPOOLS_RECOVERING] = "being recovered",
        [PROBITY_SPOOLS_UNKNOWN] = "unknown",
        [PROBITY_SPOOLS_OTHER_BOOT] = "other boot",
        [PROBITY_SPOOLS_BROKEN] = "unreadable"};

    return words[entry->state];
}

static const char *trace_state_of(const struct probity_spools_entry *entry)
{
    static const char *const words[] = {
        [PROBITY_SPOOLS_FOUND] = "found",
        [PROBITY_SPOOLS_GONE] = "gone",
        [PROBITY_SPOOLS_UNRECORDED] = "unknown",
        [PROBITY_SPOOLS_UNREADABLE] = "unreadable"};

    return probity_spools_is_left(entry) ? words[entry->trace] : NULL;
}

#define COLUMN(NAME, KIND, FROM) PROBITY_COLUMN(NAME, KIND, struct probity_spools_row, FROM)

COLUMN(path, text, row->entry->path)
COLUMN(uid, count, row->entry->owner)
COLUMN(bytes, count, row->entry->bytes)
COLUMN(state, text, state_of(row->entry))
COLUMN(pid, count, row->entry->pid)
COLUMN(program, text, row->entry->program[0] != 0 ? row->entry->program : NULL)
COLUMN(trace, text, row->entry->trace_path)
COLUMN(trace_state, text, trace_state_of(row->entry))

static struct probity_cell age(const void *row)
{
    return probity_cell_decimal((double)((const struct probity_spools_row *)row)->age_ns / 1e9, 3);
}

static struct probity_cell if_known(const void *row, uint64_t count)
{
    return ((const struct probity_spools_row *)row)->entry->has_records
               ? probity_cell_count(count)
               : probity_cell_unknown();
}

static struct probity_cell records(const void *row)
{
    return if_known(row, ((const struct probity_spools_row *)row)->entry->records);
}

static struct probity_cell functions(const void *row)
{
    return if_known(row, ((const struct probity_spools_row *)row)->entry->functions);
}

const struct probity_column probity_spools_columns[PROBITY_SPOOLS_COLUMNS] = {
    [PROBITY_SPOOLS_PATH] = {"spool", path},
    [PROBITY_SPOOLS_UID] = {"uid", uid},
    [PROBITY_SPOOLS_BYTES] = {"bytes", bytes},
    [PROBITY_SPOOLS_AGE] = {"age_s", age},
    [PROBITY_SPOOLS_STATE] = {"state", state},
    [PROBITY_SPOOLS_PID] = {"pid", pid},
    [PROBITY_SPOOLS_PROGRAM] = {"program", program},
    [PROBITY_SPOOLS_TRACE] = {"trace", trace},
    [PROBITY_SPOOLS_TRACE_STATE] = {"trace_state", trace_state},
    [PROBITY_SPOOLS_RECORDS] = {"records", records},
    [PROBITY_SPOOLS_FUNCTIONS] = {"functions", functions}};

/* ---- JSON --------------------------------------------------------------------------------------
 */

int probity_spools_json(FILE *stream, const struct probity_spools *spools, int64_t now_ns)
{
    int error = 0;

    fputs("{\"spools\": [", stream);
    for (size_t i = 0; error == 0 && i < spools->count; i++) {
        const struct probity_spools_row row = probity_spools_row_of(&spools->entries[i], now_ns);
        fputs(i > 0 ? ",\n{" : "\n{", stream);
        error = probity_columns_put_json(stream, probity_spools_columns, PROBITY_SPOOLS_COLUMNS,
                                         &row);
        fputc('}', stream);
    }
    fprintf(stream, "],\n\"other_files\": %" PRIu64 ", \"other_bytes\": %" PRIu64 "}\n",
            spools->other_files, spools->other_bytes);
    return error == 0 && ferror(stream) ? PROBITY_ERROR_WRITE : error;
}
