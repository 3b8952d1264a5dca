/* SPDX-License-Identifier: MIT
 *
 * ps_text.c: the table of programs that are recording. Columns that do not fit are left out, least
 * needed first.
 */
#include <inttypes.h>
#include <string.h>

#include "answers/ps/ps.h"
#include "answers/report/report_text.h"
#include "answers/report/table.h"
#include "print/text.h"
#include "print/time_text.h"
#include "probity.h"

enum what { USER, PID, SINCE, MODE, RATE, SPOOL, FILLED, DROPPED, THREADS, PROGRAM, COLUMNS };

static const struct probity_table_column columns[COLUMNS] = {
    [USER] = {.width = 8, .rank = 4, .title = "user"},
    [PID] = {.width = 9, .title = "process"},
    [SINCE] = {.width = 9, .rank = 5, .title = "since"},
    [MODE] = {.width = 9, .rank = 6, .title = "mode"},
    [RATE] = {.width = 11, .title = "records/s"},
    [SPOOL] = {.width = 9, .rank = 7, .title = "spool"},
    [FILLED] = {.width = 7, .rank = 2, .title = "in use"},
    [DROPPED] = {.width = 9, .rank = 1, .title = "dropped"},
    [THREADS] = {.width = 9, .rank = 8, .title = "threads"},
    [PROGRAM] = {.width = 18, .rank = 3, .title = "program"}};

const char *probity_ps_mode(const struct probity_activity_facts *facts)
{
    static const char *const modes[] = {"?", "block", "drop", "ring"};

    if (facts->is_profile)
        return "profile";
    return modes[facts->mode <= PROBITY_MODE_RING ? facts->mode : 0];
}

static const char *bytes_text(uint64_t bytes, char *ret_text, size_t room)
{
    double value = (double)bytes / 1048576;

    snprintf(ret_text, room, value < 10 ? "%.1f MiB" : "%.0f MiB", value);
    return ret_text;
}

/* Returns the text of a cell other than the program. */
static const char *cell_text(const struct probity_ps_answer *answer,
                             const struct probity_ps_row *row, enum what what, char *ret_text,
                             size_t room)
{
    const struct probity_activity_facts *facts = row->facts;

    snprintf(ret_text, room, "-");
    switch (what) {
    case USER: snprintf(ret_text, room, "%" PRIu32, row->owner); break;
    case PID: snprintf(ret_text, room, "%" PRIu32, row->pid); break;
    case MODE: snprintf(ret_text, room, "%s", probity_ps_mode(facts)); break;
    case SPOOL: return bytes_text(row->bytes, ret_text, room);
    case DROPPED: snprintf(ret_text, room, "%" PRIu64, facts->dropped); break;
    case THREADS: snprintf(ret_text, room, "%" PRIu64, facts->threads); break;
    case SINCE:
        if (facts->begin_ns != 0 && answer->now_ns >= facts->begin_ns)
            return probity_age_text(answer->now_ns - facts->begin_ns, ret_text);
        break;
    case RATE:
        if (row->rate >= 0)
            snprintf(ret_text, room, "%.0f", row->rate);
        break;
    default:
        if (facts->chunks > 0)
            snprintf(ret_text, room, "%.0f%%",
                     100 * (double)facts->chunks_used / (double)facts->chunks);
        break;
    }
    return ret_text;
}

static void put_row(FILE *stream, const struct probity_ps_answer *answer, uint64_t shown,
                    const struct probity_ps_row *row)
{
    char text[64];
    size_t length = strlen(row->program);
    size_t used = probity_report_safe_columns(row->program, length), width = 16;

    for (int what = 0; what < PROGRAM; what++) {
        if (shown >> what & 1)
            fprintf(stream, "%*s", columns[what].width,
                    cell_text(answer, row, (enum what)what, text, sizeof text));
    }
    if (shown >> PROGRAM & 1) {
        fputs("  ", stream);
        probity_report_put_safe(stream, row->program, length);
        fprintf(stream, "%*s", used < width ? (int)(width - used) : 0, "");
    }
    fputs("  ", stream);
    if (row->facts->trace_path != NULL)
        probity_report_put_safe(stream, row->facts->trace_path, strlen(row->facts->trace_path));
    else
        fputs("(unknown)", stream);
    fputs(row->facts->has_failed ? " (write failed)\n" : "\n", stream);
}

void probity_ps_text(FILE *stream, const struct probity_ps_answer *answer)
{
    uint64_t shown = probity_table_fit(columns, COLUMNS, answer->line_columns);

    if (!answer->has_users)
        shown &= ~(UINT64_C(1) << USER);
    if (answer->count > 0) {
        fputs(answer->has_color ? "\033[1m" : "", stream);
        probity_table_put_head(stream, columns, COLUMNS - 1, shown);
        fprintf(stream, "%s  trace%s\n", shown >> PROGRAM & 1 ? "  program         " : "",
                answer->has_color ? "\033[0m" : "");
    }
    for (size_t i = 0; i < answer->count; i++)
        put_row(stream, answer, shown, &answer->rows[i]);
    fprintf(stream, "%zu program%s recording\n", answer->count, probity_text_s(answer->count));
}
