/* SPDX-License-Identifier: MIT
 *
 * list_columns.c: columns of a site; prints sites as CSV and JSON.
 */
#include <inttypes.h>

#include "answers/list/list_print.h"
#include "answers/report/report_json.h"
#include "probity.h"

size_t probity_list_shown(const struct probity_list_answer *answer)
{
    return answer->limit > 0 && answer->limit < answer->count ? answer->limit : answer->count;
}

const char *probity_list_kind(const struct probity_coverage_site *site)
{
    return site->kind == PROBITY_LISTED_FUNCTION ? "function"
           : site->kind == PROBITY_LISTED_NAMED  ? "site"
                                                 : "probe";
}

/* Rounds down, so that 100 % means every site. */
double probity_list_percent(const struct probity_list_answer *answer)
{
    const struct probity_coverage_total *total = &answer->total;

    return total->listed > 0 ? (double)(total->hit * 1000 / total->listed) / 10 : 0;
}

#define COLUMN(NAME, KIND, FROM)                                                                   \
    PROBITY_COLUMN(NAME, KIND, struct probity_coverage_site, FROM)

COLUMN(kind, text, probity_list_kind(row))
COLUMN(name, text, row->name)
COLUMN(signature, text, row->signature)
COLUMN(file, text, row->file)
COLUMN(line_or_0, count, row->line)
COLUMN(within, text, row->within)
COLUMN(object, text, row->object)
COLUMN(places_or_1, count, row->kind == PROBITY_LISTED_NUMBERED ? row->places : 1)
COLUMN(listed, flag, row->is_listed)
COLUMN(hits, count, row->hits)
COLUMN(counted, count, row->counted)
COLUMN(are_least, flag, row->is_least)

static struct probity_cell if_numbered(const void *row, uint32_t value)
{
    const struct probity_coverage_site *site = row;

    return site->kind == PROBITY_LISTED_NUMBERED ? probity_cell_count(value) : probity_cell_none();
}

static struct probity_cell number(const void *row)
{
    return if_numbered(row, ((const struct probity_coverage_site *)row)->number);
}

static struct probity_cell places(const void *row)
{
    return if_numbered(row, ((const struct probity_coverage_site *)row)->places);
}

static struct probity_cell level(const void *row)
{
    const struct probity_coverage_site *site = row;

    return site->kind == PROBITY_LISTED_FUNCTION ? probity_cell_count(site->level)
                                                 : probity_cell_none();
}

static struct probity_cell line(const void *row)
{
    const struct probity_coverage_site *site = row;

    return site->file[0] != '\0' ? probity_cell_count(site->line) : probity_cell_unknown();
}

/* If the JSON has line 0 and no `places`, the CSV has an empty `line` and 1 in `places`. */
const struct probity_column probity_list_columns[PROBITY_LIST_COLUMNS] = {
    [PROBITY_LIST_KIND] = {"kind", kind},
    [PROBITY_LIST_NUMBER] = {"number", number},
    [PROBITY_LIST_NAME] = {"name", name},
    [PROBITY_LIST_SIGNATURE] = {"signature", signature},
    [PROBITY_LIST_FILE] = {"file", file},
    [PROBITY_LIST_LINE] = {"line", line},
    [PROBITY_LIST_WITHIN] = {"within", within},
    [PROBITY_LIST_OBJECT] = {"object", object},
    [PROBITY_LIST_LEVEL] = {"level", level},
    [PROBITY_LIST_PLACES] = {"places", places_or_1},
    [PROBITY_LIST_LISTED] = {"listed", listed},
    [PROBITY_LIST_HITS] = {"hits", hits},
    [PROBITY_LIST_COUNTED] = {"counted", counted},
    [PROBITY_LIST_ARE_LEAST] = {"are_least", are_least},
    [PROBITY_LIST_JSON_LINE] = {"line", line_or_0},
    [PROBITY_LIST_JSON_PLACES] = {"places", places}};

void probity_list_csv(FILE *stream, const struct probity_list_answer *answer)
{
    size_t shown = probity_list_shown(answer);

    probity_columns_put_head(stream, probity_list_columns, PROBITY_LIST_CSV_COLUMNS);
    for (size_t i = 0; i < shown; i++)
        probity_columns_put_line(stream, probity_list_columns, PROBITY_LIST_CSV_COLUMNS,
                                 answer->sites[i]);
}

static int put_site(FILE *stream, const struct probity_coverage_site *site)
{
    static const unsigned char members[] = {
        PROBITY_LIST_KIND,      PROBITY_LIST_NUMBER,    PROBITY_LIST_JSON_PLACES,
        PROBITY_LIST_LEVEL,     PROBITY_LIST_NAME,      PROBITY_LIST_SIGNATURE,
        PROBITY_LIST_FILE,      PROBITY_LIST_WITHIN,    PROBITY_LIST_OBJECT,
        PROBITY_LIST_JSON_LINE, PROBITY_LIST_LISTED,    PROBITY_LIST_HITS,
        PROBITY_LIST_COUNTED,   PROBITY_LIST_ARE_LEAST};

    return probity_columns_put_members(stream, probity_list_columns, members, sizeof members,
                                       site);
}

int probity_list_json(FILE *stream, const struct probity_list_answer *answer)
{
    const struct probity_coverage_total *total = &answer->total;
    size_t shown = probity_list_shown(answer);
    int error = probity_report_json_traces(stream, answer->reader);

    fprintf(stream, ",\n\"total\": {\"sites\": %" PRIu64 ", \"hit\": %" PRIu64 ", \"percent\": ",
            total->listed, total->hit);
    if (total->listed > 0)
        fprintf(stream, "%.1f", probity_list_percent(answer));
    else
        fputs("null", stream);
    fprintf(stream, ", \"hit_not_listed\": %" PRIu64 ", \"left_out\": %" PRIu64
            ", \"traces_without_list\": %zu},\n\"sites\": [", total->besides, answer->left_out,
            answer->traces_without);
    for (size_t i = 0; error == 0 && i < shown; i++) {
        fputs(i > 0 ? ",\n{" : "\n{", stream);
        error = put_site(stream, answer->sites[i]);
        fputc('}', stream);
    }
    fputs("]}\n", stream);
    return error == 0 && ferror(stream) ? PROBITY_ERROR_WRITE : error;
}
