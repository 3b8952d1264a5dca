/* SPDX-License-Identifier: MIT
 *
 * spools_text.c: one line per spool. Names and paths come from programs, so they are escaped.
 */
#include "answers/spools/spools_print.h"

#include <inttypes.h>
#include <string.h>

#include "answers/report/report_text.h"
#include "answers/report/table.h"
#include "print/bytes_text.h"
#include "print/text.h"
#include "print/time_text.h"

/* ---- Columns -----------------------------------------------------------------------------------
 */

static const struct probity_spools_entry *entry_of(const void *row)
{
    return ((const struct probity_spools_row *)row)->entry;
}

/* The text ends with the blanks that separate it from the next column. */
static const char *user_text(const void *row, char *text)
{
    snprintf(text, PROBITY_TABLE_TEXT_BYTES, "%" PRIu32 "  ", entry_of(row)->owner);
    return text;
}

static const char *memory_text(const void *row, char *text)
{
    return probity_bytes_text(entry_of(row)->bytes, text);
}

static const char *age_text(const void *row, char *text)
{
    return probity_age_text((uint64_t)((const struct probity_spools_row *)row)->age_ns, text);
}

/* The table escapes names. */
static const char *program_text(const void *row, char *text)
{
    (void)text;
    return entry_of(row)->program[0] != 0 ? NULL : "";
}

/* Describes what recovery would save, and what would be lost without it. */
static const char *gives_text(const void *row, char *text)
{
    const struct probity_spools_entry *entry = entry_of(row);

    if (!probity_spools_is_left(entry))
        return "-";
    if (!entry->has_records)
        return "unknown";
    if (entry->functions > 0)
        snprintf(text, PROBITY_TABLE_TEXT_BYTES, "%" PRIu64 " functions", entry->functions);
    else
        snprintf(text, PROBITY_TABLE_TEXT_BYTES, "%" PRIu64 " record%s", entry->records,
                 probity_text_s(entry->records));
    return text;
}

enum { USER, MEMORY, AGE, STATE, PROCESS, PROGRAM, GIVES, COLUMNS };

/* Widths include indents. */
static const struct probity_table_column columns[COLUMNS] = {
    [USER] = {.width = 10, .title = "user  "},    [MEMORY] = {.width = 8, .title = "memory"},
    [AGE] = {.width = 9, .title = "age"},         [STATE] = {.width = 17, .title = "state"},
    [PROCESS] = {.width = 9, .title = "process"}, [PROGRAM] = {.width = 18, .title = "program"},
    [GIVES] = {.width = 18, .title = "not in trace"}};

static const struct probity_table_cell cells[COLUMNS] = {
    [USER] = {.value = PROBITY_SPOOLS_UID, .text = user_text},
    [MEMORY] = {.value = PROBITY_SPOOLS_BYTES, .text = memory_text},
    [AGE] = {.value = PROBITY_SPOOLS_AGE, .indent = 2, .text = age_text},
    [STATE] = {.value = PROBITY_SPOOLS_STATE, .indent = 2, .is_left = 1},
    [PROCESS] = {.value = PROBITY_SPOOLS_PID, .indent = 2},
    [PROGRAM] = {.value = PROBITY_SPOOLS_PROGRAM, .indent = 2, .is_left = 1, .text = program_text},
    [GIVES] = {.value = PROBITY_SPOOLS_RECORDS, .indent = 2, .is_left = 1, .text = gives_text}};

/* ---- The table ---------------------------------------------------------------------------------
 */

static const char *trace_note(const struct probity_spools_entry *entry)
{
    switch (entry->trace) {
    case PROBITY_SPOOLS_GONE: return " (gone)";
    case PROBITY_SPOOLS_UNRECORDED: return "path not in the spool";
    case PROBITY_SPOOLS_UNREADABLE: return " (unreadable)";
    default: return "";
    }
}

static void put_trace(FILE *stream, const struct probity_spools_entry *entry)
{
    if (entry->trace_path != NULL)
        probity_report_put_safe(stream, entry->trace_path, strlen(entry->trace_path));
    if (entry->state == PROBITY_SPOOLS_BROKEN)
        fputs(entry->path, stream);
    else if (probity_spools_is_left(entry))
        fputs(entry->trace_path == NULL ? "(path not in the spool)" : trace_note(entry), stream);
}

static void put_foot(FILE *stream, const struct probity_spools *spools)
{
    uint64_t bytes = 0, left_bytes = 0;
    size_t left = 0;
    char text[PROBITY_BYTES_TEXT_BYTES];

    for (size_t i = 0; i < spools->count; i++) {
        const struct probity_spools_entry *entry = &spools->entries[i];
        bytes += entry->bytes;
        left += (size_t)probity_spools_is_left(entry);
        left_bytes += probity_spools_is_left(entry) ? entry->bytes : 0;
    }
    fprintf(stream, "%zu spool%s: %s", spools->count, probity_text_s(spools->count),
            probity_bytes_text(bytes, text));
    if (left > 0)
        fprintf(stream, "; %zu left by ended programs: %s", left,
                probity_bytes_text(left_bytes, text));
    fputc('\n', stream);
    if (spools->other_files > 0)
        fprintf(stream, "%" PRIu64 " other file%s in the same directory: %s\n", spools->other_files,
                probity_text_s(spools->other_files),
                probity_bytes_text(spools->other_bytes, text));
}

void probity_spools_text(FILE *stream, const struct probity_spools *spools, int64_t now_ns)
{
    int has_users = spools->directory_count > 0 &&
                    spools->owners[0] != spools->owners[spools->directory_count - 1];
    struct probity_table table = {.columns = columns,
                                  .cells = cells,
                                  .count = COLUMNS,
                                  .shown = (1 << COLUMNS) - 1,
                                  .values = probity_spools_columns};

    if (!has_users)
        table.shown &= ~(UINT64_C(1) << USER);
    if (spools->count > 0) {
        probity_table_put_titles(stream, &table);
        fputs("  trace\n", stream);
    }
    for (size_t i = 0; i < spools->count; i++) {
        const struct probity_spools_row row = probity_spools_row_of(&spools->entries[i], now_ns);
        probity_table_put_cells(stream, &table, &row);
        fputs("  ", stream);
        put_trace(stream, row.entry);
        fputc('\n', stream);
    }
    put_foot(stream, spools);
}
