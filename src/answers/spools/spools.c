/* SPDX-License-Identifier: MIT
 *
 * spools.c: one line per spool. Names and paths come from programs, so they are escaped.
 */
#include "answers/spools/spools.h"

#include <inttypes.h>
#include <string.h>

#include "answers/report/report_json.h"
#include "answers/report/report_text.h"
#include "print/bytes_text.h"
#include "print/text.h"
#include "probity.h"

enum { PROGRAM_COLUMNS = 16, GIVES_BYTES = 64 };

/* In the order of the enums. */
static const char *const state_words[] = {"dead",    "alive",      "closed", "being recovered",
                                          "unknown", "other boot", "unreadable"};
static const char *const trace_words[] = {"found", "gone", "unknown", "unreadable"};

static const char *age_text(int64_t ns, char *ret_text, size_t room)
{
    static const struct {
        int64_t seconds;
        const char *name;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
    int64_t seconds = ns > 0 ? ns / 1000000000 : 0;
    size_t unit = 0;

    while (unit < 3 && seconds < 2 * units[unit].seconds)
        unit++;
    snprintf(ret_text, room, "%" PRId64 " %s", seconds / units[unit].seconds, units[unit].name);
    return ret_text;
}

static int is_left(const struct probity_spools_entry *entry)
{
    return entry->state == PROBITY_SPOOLS_DEAD || entry->state == PROBITY_SPOOLS_CLOSED;
}

/* Describes what recovery would save, and what would be lost without it. */
static const char *gives_text(const struct probity_spools_entry *entry, char ret_text[GIVES_BYTES])
{
    if (!is_left(entry))
        snprintf(ret_text, GIVES_BYTES, "-");
    else if (entry->has_records && entry->functions > 0)
        snprintf(ret_text, GIVES_BYTES, "%" PRIu64 " functions", entry->functions);
    else if (entry->has_records)
        snprintf(ret_text, GIVES_BYTES, "%" PRIu64 " record%s", entry->records,
                 probity_text_s(entry->records));
    else
        snprintf(ret_text, GIVES_BYTES, "unknown");
    return ret_text;
}

static const char *trace_note(const struct probity_spools_entry *entry)
{
    switch (entry->trace) {
    case PROBITY_SPOOLS_GONE: return " (gone)";
    case PROBITY_SPOOLS_UNRECORDED: return "path not in the spool";
    case PROBITY_SPOOLS_UNREADABLE: return " (unreadable)";
    default: return "";
    }
}

static void put_row(FILE *stream, const struct probity_spools_entry *entry, int has_users,
                    int64_t now_ns)
{
    char bytes[PROBITY_BYTES_TEXT_BYTES], age[32], gives[GIVES_BYTES];
    size_t length = strlen(entry->program);
    size_t columns = probity_report_safe_columns(entry->program, length);

    if (has_users)
        fprintf(stream, "%8" PRIu32 "  ", entry->owner);
    fprintf(stream, "%8s  %7s  %-15s  %7" PRIu32 "  ",
            probity_bytes_text(entry->bytes, bytes),
            age_text(now_ns - entry->changed_ns, age, sizeof age), state_words[entry->state],
            entry->pid);
    probity_report_put_safe(stream, entry->program, length);
    fprintf(stream, "%*s  %-16s  ", columns < PROGRAM_COLUMNS ? PROGRAM_COLUMNS - (int)columns : 0,
            "", gives_text(entry, gives));
    if (entry->trace_path != NULL)
        probity_report_put_safe(stream, entry->trace_path, strlen(entry->trace_path));
    if (entry->state == PROBITY_SPOOLS_BROKEN)
        fputs(entry->path, stream);
    else if (is_left(entry))
        fputs(entry->trace_path == NULL ? "(path not in the spool)" : trace_note(entry), stream);
    fputc('\n', stream);
}

static void put_foot(FILE *stream, const struct probity_spools *spools)
{
    uint64_t bytes = 0, left_bytes = 0;
    size_t left = 0;
    char text[PROBITY_BYTES_TEXT_BYTES];

    for (size_t i = 0; i < spools->count; i++) {
        const struct probity_spools_entry *entry = &spools->entries[i];
        bytes += entry->bytes;
        left += (size_t)is_left(entry);
        left_bytes += is_left(entry) ? entry->bytes : 0;
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

    if (spools->count > 0)
        fprintf(stream, "%s%8s  %7s  %-15s  %7s  %-*s  %-16s  %s\n", has_users ? "    user  " : "",
                "memory", "age", "state", "process", PROGRAM_COLUMNS, "program", "not in trace",
                "trace");
    for (size_t i = 0; i < spools->count; i++)
        put_row(stream, &spools->entries[i], has_users, now_ns);
    put_foot(stream, spools);
}

static int put_object(FILE *stream, const struct probity_spools_entry *entry, int64_t now_ns)
{
    int64_t age_ns = now_ns > entry->changed_ns ? now_ns - entry->changed_ns : 0;

    fputs("{\"spool\": ", stream);
    int error = probity_report_json_string(stream, entry->path);
    fprintf(stream, ", \"uid\": %" PRIu32 ", \"bytes\": %" PRIu64 ", \"age_s\": %.3f"
            ", \"state\": \"%s\", \"pid\": %" PRIu32 ", \"program\": ", entry->owner,
            entry->bytes, (double)age_ns / 1e9, state_words[entry->state], entry->pid);
    if (error == 0)
        error = probity_report_json_string(stream, entry->program[0] != 0 ? entry->program : NULL);
    fputs(", \"trace\": ", stream);
    if (error == 0)
        error = probity_report_json_string(stream, entry->trace_path);
    fprintf(stream, ", \"trace_state\": %s%s%s", is_left(entry) ? "\"" : "",
            is_left(entry) ? trace_words[entry->trace] : "null", is_left(entry) ? "\"" : "");
    if (entry->has_records)
        fprintf(stream, ", \"records\": %" PRIu64 ", \"functions\": %" PRIu64 "}", entry->records,
                entry->functions);
    else
        fputs(", \"records\": null, \"functions\": null}", stream);
    return error;
}

int probity_spools_json(FILE *stream, const struct probity_spools *spools, int64_t now_ns)
{
    int error = 0;

    fputs("{\"spools\": [", stream);
    for (size_t i = 0; error == 0 && i < spools->count; i++) {
        fputs(i > 0 ? ",\n" : "\n", stream);
        error = put_object(stream, &spools->entries[i], now_ns);
    }
    fprintf(stream, "],\n\"other_files\": %" PRIu64 ", \"other_bytes\": %" PRIu64 "}\n",
            spools->other_files, spools->other_bytes);
    return error == 0 && ferror(stream) ? PROBITY_ERROR_WRITE : error;
}
