/* SPDX-License-Identifier: MIT
 *
 * run.c: writes and reads rows of runs, in the order of the columns of table probity_runs.
 */
#include "fleet/run.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "fleet/open_sums.h"
#include "probity.h"

const char *probity_fleet_detail_name(enum probity_fleet_detail detail)
{
    static const char *const names[] = {"summary", "calls", "records"};

    return names[detail];
}

int probity_fleet_run_is_complete(const struct probity_fleet_run *run)
{
    return run->is_finished && run->schema >= PROBITY_FLEET_SCHEMA_COMPLETE;
}

/* ---- To a row ----------------------------------------------------------------------------------
 */

static void put_text(struct probity_fleet_batch *batch, const struct probity_text *text)
{
    probity_fleet_put_text(batch, text->bytes != NULL ? text->bytes : "", text->length);
}

static void put_id(struct probity_fleet_batch *batch, const uint8_t id[16])
{
    static const char digits[] = "0123456789abcdef";
    char text[32];

    for (size_t i = 0; i < 16; i++) {
        text[2 * i] = digits[id[i] >> 4];
        text[2 * i + 1] = digits[id[i] & 15];
    }
    probity_fleet_put_text(batch, text, sizeof text);
}

static void put_numbers(struct probity_fleet_batch *batch, const uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        probity_fleet_put(batch, values[i]);
}

#define PUT_NUMBERS(...)                                                                           \
    put_numbers(batch, (const uint64_t[]){__VA_ARGS__},                                            \
                sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void put_texts(struct probity_fleet_batch *batch, const struct probity_trace_facts *facts)
{
    const struct probity_info *info = &facts->info;

    put_text(batch, &info->text[PROBITY_TAG_HOST]);
    put_id(batch, info->boot);
    put_id(batch, info->session);
    put_text(batch, &info->text[PROBITY_TAG_KERNEL]);
    put_text(batch, &info->text[PROBITY_TAG_CPU]);
    put_text(batch, &info->text[PROBITY_TAG_PROGRAM]);
    put_text(batch, &info->text[PROBITY_TAG_COMMAND]);
    put_text(batch, &info->text[PROBITY_TAG_EXECUTABLE]);
    put_text(batch, &info->text[PROBITY_TAG_BUILD]);
    put_text(batch, &info->text[PROBITY_TAG_LABEL]);
    probity_fleet_put_text(batch, facts->path, strlen(facts->path));
}

void probity_fleet_run_put(struct probity_fleet_batch *batch, const struct probity_fleet_run *run,
                           const struct probity_trace_facts *facts)
{
    const struct probity_info *info = &facts->info;
    const struct probity_totals *totals = &facts->totals;
    const struct probity_scopes_repairs *repairs = &run->repairs;
    uint64_t day = info->anchor.realtime_ns / PROBITY_FLEET_DAY_NS;
    const char *detail = probity_fleet_detail_name(run->detail);

    PUT_NUMBERS(day < UINT16_MAX ? day : UINT16_MAX, run->run, run->version,
                (uint64_t)run->is_finished);
    probity_fleet_put_text(batch, detail, strlen(detail));
    PUT_NUMBERS(run->block_rows);
    put_numbers(batch, run->rows + PROBITY_FLEET_MINUTES,
                PROBITY_FLEET_TABLES - PROBITY_FLEET_MINUTES);
    PUT_NUMBERS(run->sent_ns, PROBITY_FLEET_SCHEMA_VERSION);
    put_texts(batch, facts);
    PUT_NUMBERS(info->pid, info->flags, info->mode, facts->state, facts->end_reason,
                info->anchor.realtime_ns, facts->last_wall_ns, info->rate,
                facts->records + facts->spool_records, totals->dropped_full,
                totals->dropped_memory, totals->dropped_write, facts->totals_records_missing,
                facts->damages, facts->damaged_bytes, facts->damage_offset, facts->cut_bytes,
                (uint64_t)facts->is_short, (uint64_t)facts->has_failed,
                (uint64_t)facts->failed_errno, facts->failed_after_ns, totals->stalls,
                totals->stall_ticks, facts->clock_steps, facts->clock_bound_ns, repairs->unwound,
                repairs->open, repairs->orphans, repairs->pauses_unmatched,
                repairs->resumes_unmatched);
}

/* ---- From a row --------------------------------------------------------------------------------
 */

/* The values of a row, by column. */
struct row {
    uint64_t numbers[PROBITY_FLEET_COLUMNS_MAX];
    struct probity_text texts[PROBITY_FLEET_COLUMNS_MAX];
};

static size_t column(const char *name)
{
    const struct probity_fleet_table *table = &probity_fleet_tables[PROBITY_FLEET_RUNS];
    size_t i = 0;

    while (i + 1 < table->column_count && strcmp(table->columns[i].name, name) != 0)
        i++;
    return i;
}

static void get_row(struct probity_fleet_answer *answer, struct row *ret_row)
{
    const struct probity_fleet_table *table = &probity_fleet_tables[PROBITY_FLEET_RUNS];

    for (size_t i = 0; i < table->column_count; i++) {
        size_t bytes = probity_fleet_type_bytes(table->columns[i].type);
        if (bytes > 0)
            ret_row->numbers[i] = probity_fleet_take_number(answer, bytes);
        else
            ret_row->texts[i].bytes = probity_fleet_take_text(answer, &ret_row->texts[i].length);
    }
}

static void get_repairs(const struct row *row, struct probity_scopes_repairs *repairs)
{
    repairs->unwound = row->numbers[column("unwound")];
    repairs->open = row->numbers[column("open")];
    repairs->orphans = row->numbers[column("orphans")];
    repairs->pauses_unmatched = row->numbers[column("pauses_unmatched")];
    repairs->resumes_unmatched = row->numbers[column("resumes_unmatched")];
}

/* Parses 32 hexadecimal digits; anything else becomes 0. */
static void get_id(const struct probity_text *text, uint8_t ret_id[16])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < 32 && i < text->length; i++) {
        const char *digit = memchr(digits, text->bytes[i], sizeof digits - 1);
        unsigned value = digit != NULL ? (unsigned)(digit - digits) : 0;
        ret_id[i / 2] = (uint8_t)(ret_id[i / 2] << 4 | value);
    }
}

static void get_info(const struct row *row, struct probity_info *info)
{
    get_id(&row->texts[column("boot")], info->boot);
    get_id(&row->texts[column("session")], info->session);
    info->text[PROBITY_TAG_KERNEL] = row->texts[column("kernel")];
    info->text[PROBITY_TAG_CPU] = row->texts[column("cpu")];
    info->text[PROBITY_TAG_COMMAND] = row->texts[column("command")];
    info->text[PROBITY_TAG_HOST] = row->texts[column("host")];
    info->text[PROBITY_TAG_PROGRAM] = row->texts[column("program")];
    info->text[PROBITY_TAG_EXECUTABLE] = row->texts[column("executable")];
    info->text[PROBITY_TAG_BUILD] = row->texts[column("build")];
    info->text[PROBITY_TAG_LABEL] = row->texts[column("label")];
    info->pid = (uint32_t)row->numbers[column("pid")];
    info->flags = (uint32_t)row->numbers[column("flags")];
    info->mode = (uint32_t)row->numbers[column("mode")];
    info->anchor.realtime_ns = row->numbers[column("started_ns")];
    info->rate = row->numbers[column("rate")];
}

static void get_losses(const struct row *row, struct probity_trace_facts *facts)
{
    facts->totals.dropped_full = row->numbers[column("dropped_full")];
    facts->totals.dropped_memory = row->numbers[column("dropped_memory")];
    facts->totals.dropped_write = row->numbers[column("dropped_write")];
    facts->totals.stalls = row->numbers[column("stalls")];
    facts->totals.stall_ticks = row->numbers[column("stall_ticks")];
    facts->totals_records_missing = row->numbers[column("missing")];
    facts->damages = row->numbers[column("damages")];
    facts->damaged_bytes = row->numbers[column("damaged_bytes")];
    facts->damage_offset = row->numbers[column("damage_offset")];
    facts->cut_bytes = row->numbers[column("cut_bytes")];
    facts->is_short = row->numbers[column("short")] != 0;
    facts->has_failed = row->numbers[column("failed")] != 0;
    facts->failed_errno = (int)(row->numbers[column("failed_errno")] & 0xffff);
    facts->failed_after_ns = row->numbers[column("failed_after_ns")];
    facts->clock_steps = row->numbers[column("clock_steps")];
    facts->clock_bound_ns = row->numbers[column("clock_error_ns")];
}

static enum probity_fleet_detail detail_of(const struct probity_text *text)
{
    int i = PROBITY_FLEET_DETAILS - 1;

    for (; i > 0; i--) {
        const char *name = probity_fleet_detail_name((enum probity_fleet_detail)i);
        if (strlen(name) == text->length && memcmp(name, text->bytes, text->length) == 0)
            break;
    }
    return (enum probity_fleet_detail)i;
}

static char *path_of(const struct row *row)
{
    const struct probity_text *host = &row->texts[column("host")];
    const struct probity_text *trace = &row->texts[column("trace")];
    char *path = malloc(host->length + trace->length + 2);

    if (path == NULL)
        return NULL;
    memcpy(path, host->bytes, host->length);
    path[host->length] = ':';
    memcpy(path + host->length + 1, trace->bytes, trace->length);
    path[host->length + 1 + trace->length] = '\0';
    return path;
}

int probity_fleet_run_get(struct probity_fleet_answer *answer, struct probity_fleet_run *ret_run,
                          struct probity_trace_facts *ret_facts)
{
    struct row row = {.numbers = {0}};

    get_row(answer, &row);
    uint64_t state = row.numbers[column("state")];
    if (answer->is_bad || state < PROBITY_TRACE_CLOSED || state > PROBITY_TRACE_UNFINISHED)
        return PROBITY_ERROR_FORMAT;
    *ret_run = (struct probity_fleet_run){
        .run = row.numbers[column("run")],
        .version = row.numbers[column("version")],
        .is_finished = row.numbers[column("finished")] != 0,
        .detail = detail_of(&row.texts[column("detail")]),
        .block_rows = (uint32_t)row.numbers[column("block_rows")],
        .sent_ns = row.numbers[column("sent_ns")],
        .schema = (uint32_t)row.numbers[column("schema")]};
    for (size_t i = PROBITY_FLEET_MINUTES; i < PROBITY_FLEET_TABLES; i++)
        ret_run->rows[i] = row.numbers[column("minutes_rows") + i - PROBITY_FLEET_MINUTES];
    get_repairs(&row, &ret_run->repairs);
    *ret_facts = (struct probity_trace_facts){.state = (enum probity_trace_state)state};
    get_info(&row, &ret_facts->info);
    get_losses(&row, ret_facts);
    ret_facts->end_reason = (uint32_t)row.numbers[column("end_reason")];
    ret_facts->last_wall_ns = row.numbers[column("ended_ns")];
    ret_facts->records = row.numbers[column("records")];
    ret_facts->path = path_of(&row);
    return ret_facts->path != NULL ? 0 : PROBITY_ERROR_MEMORY;
}
