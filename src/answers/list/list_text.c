/* SPDX-License-Identifier: MIT
 *
 * list_text.c: the table of sites.
 */
#include "answers/list/list_print.h"

#include <inttypes.h>
#include <string.h>

#include "answers/report/report_text.h"
#include "answers/report/table.h"
#include "print/text.h"
#include "probity.h"

enum { NAME_COLUMNS_MIN = 8, NAME_COLUMNS_MAX = 40 };

enum what { HITS, KIND, LEVEL, NAME, COLUMNS };

/* The blanks before a column belong to it. Locations are where other tables have names. */
static const struct probity_table_column usual_columns[COLUMNS] = {
    [HITS] = {.width = 12, .title = "hits"},
    [KIND] = {.width = 10, .rank = 1, .title = "kind"},
    [LEVEL] = {.width = 7, .rank = 2, .title = "level"},
    [NAME] = {.width = 2 + NAME_COLUMNS_MAX, .title = "name"}};

static const char *hits_text(const void *row, char *text)
{
    uint64_t hits = ((const struct probity_coverage_site *)row)->hits;

    if (hits == 0)
        return "never";
    snprintf(text, PROBITY_TABLE_TEXT_BYTES, "%" PRIu64, hits);
    return text;
}

static const char *hits_color(const void *row)
{
    return ((const struct probity_coverage_site *)row)->hits == 0 ? "\033[1;33m" : "";
}

/* Columns to the left of the name. */
static const struct probity_table_cell cells[NAME] = {
    [HITS] = {.text = hits_text, .color = hits_color},
    [KIND] = {.value = PROBITY_LIST_KIND, .is_left = 1, .indent = 2},
    [LEVEL] = {.value = PROBITY_LIST_LEVEL}};

/* A table that is being written. */
struct table {
    FILE *stream;
    const struct probity_list_answer *answer;
    struct probity_table_column columns[COLUMNS];
    struct probity_table left; /* columns to the left of the name */
};

struct label {
    const char *text;
    size_t bytes;
};

/* Whether the next or previous line is a function with the same name and location: another instance
 * of the template. */
static int is_namesake(const struct probity_list_answer *answer, size_t index)
{
    const struct probity_coverage_site *site = answer->sites[index];

    for (size_t other = index > 0 ? index - 1 : 1; other <= index + 1; other += 2) {
        if (other < answer->count && answer->sites[other]->kind == site->kind &&
            answer->sites[other]->line == site->line &&
            strcmp(answer->sites[other]->name, site->name) == 0 &&
            strcmp(answer->sites[other]->file, site->file) == 0)
            return 1;
    }
    return 0;
}

static struct label label_of(const struct probity_list_answer *answer, size_t index)
{
    const struct probity_coverage_site *site = answer->sites[index];
    struct label label = {site->name, strlen(site->name)};

    if (site->kind != PROBITY_LISTED_FUNCTION || site->signature[0] == '\0')
        return label;
    if (answer->has_signatures || is_namesake(answer, index))
        return (struct label){site->signature, strlen(site->signature)};
    label.text = probity_text_qualified(site->signature, site->name, &label.bytes);
    return label;
}

/* Returns the width of a name, or of a number with its name in parentheses. */
static size_t columns_of(const struct probity_list_answer *answer, size_t index)
{
    const struct probity_coverage_site *site = answer->sites[index];
    struct label label = label_of(answer, index);
    size_t columns = probity_report_safe_columns(label.text, label.bytes);
    char digits[16];

    if (site->kind != PROBITY_LISTED_NUMBERED)
        return columns;
    int length = snprintf(digits, sizeof digits, "%" PRIu32, site->number);
    return (size_t)length + (columns > 0 ? columns + 3 : 0);
}

static size_t name_columns(const struct probity_list_answer *answer)
{
    size_t shown = probity_list_shown(answer), most = NAME_COLUMNS_MIN;

    for (size_t i = 0; i < shown; i++) {
        size_t columns = columns_of(answer, i);
        most = columns > most ? columns : most;
    }
    return most < NAME_COLUMNS_MAX ? most : NAME_COLUMNS_MAX;
}

static void put_name(FILE *stream, const struct probity_list_answer *answer, size_t index,
                     size_t columns)
{
    const struct probity_coverage_site *site = answer->sites[index];
    struct label label = label_of(answer, index);
    size_t used = columns_of(answer, index);

    if (site->kind == PROBITY_LISTED_NUMBERED)
        fprintf(stream, "%" PRIu32 "%s", site->number, label.bytes > 0 ? " (" : "");
    probity_report_put_safe(stream, label.text, label.bytes);
    if (site->kind == PROBITY_LISTED_NUMBERED && label.bytes > 0)
        fputc(')', stream);
    fprintf(stream, "%*s", (int)(used < columns ? columns - used : 0), "");
}

static void put_place(FILE *stream, const struct probity_coverage_site *site)
{
    if (site->file[0] == '\0') {
        fputs("not listed", stream);
        return;
    }
    probity_report_put_safe(stream, site->file, strlen(site->file));
    fprintf(stream, ":%" PRIu32, site->line);
    if (site->within[0] != '\0') {
        fputs(" in ", stream);
        probity_report_put_safe(stream, site->within, strlen(site->within));
    }
    if (site->places > 1)
        fprintf(stream, " and %" PRIu32 " more", site->places - 1);
    if (site->object[0] != '\0') {
        fputs(" [", stream);
        probity_report_put_safe(stream, site->object, strlen(site->object));
        fputc(']', stream);
    }
    if (!site->is_listed)
        fputs(", not listed", stream);
}

static void put_site(const struct table *table, size_t index)
{
    const struct probity_coverage_site *site = table->answer->sites[index];
    FILE *stream = table->stream;

    probity_table_put_cells(stream, &table->left, site);
    fputs("  ", stream);
    put_name(stream, table->answer, index, (size_t)table->columns[NAME].width - 2);
    fputs("  ", stream);
    put_place(stream, site);
    probity_report_end_line(stream, site->has_entries_only, site->is_least, site->counted);
}

/* The name column shrinks first, because a longer name shifts only its own line. */
static void choose_columns(struct table *table, size_t line_columns)
{
    size_t least = PROBITY_TABLE_NAME_COLUMNS + 2, names = name_columns(table->answer);

    memcpy(table->columns, usual_columns, sizeof usual_columns);
    for (int i = HITS; i < NAME; i++)
        least += (size_t)usual_columns[i].width;
    if (line_columns > 0 && least + 2 + names > line_columns)
        names = line_columns > least + 2 + NAME_COLUMNS_MIN ? line_columns - least - 2
                                                            : NAME_COLUMNS_MIN;
    table->columns[NAME].width = (int)names + 2;
    table->left.shown = probity_table_fit(table->columns, COLUMNS, line_columns);
}

static void put_head(const struct table *table)
{
    FILE *stream = table->stream;

    fputs(table->left.has_color ? "\033[1m" : "", stream);
    probity_table_put_titles(stream, &table->left);
    fprintf(stream, "  %-*s  %s%s\n", table->columns[NAME].width - 2, "name", "place",
            table->left.has_color ? "\033[0m" : "");
}

/* Prints what was not counted. */
static void put_limits(FILE *stream, const struct probity_list_answer *answer)
{
    size_t traces = probity_reader_traces(answer->reader), profiles = 0;

    for (size_t i = 0; i < traces; i++)
        profiles +=
            (probity_reader_facts(answer->reader, i)->info.flags & PROBITY_INFO_PROFILE) != 0;
    if (answer->left_out > 0)
        fprintf(stream, "%" PRIu64 " more did not fit in the list; of these, only those that were "
                "hit are known\n", answer->left_out);
    if (answer->traces_without > 0)
        fprintf(stream, "%zu of %zu traces have no list of sites: sites never hit are unknown\n",
                answer->traces_without, traces);
    if (profiles > 0)
        fprintf(stream, "%zu of %zu traces were recorded in profile mode, in which probes are off "
                "and functions are counted\n", profiles, traces);
}

static void put_total(FILE *stream, const struct probity_list_answer *answer)
{
    const struct probity_coverage_total *total = &answer->total;
    size_t shown = probity_list_shown(answer);

    fputc('\n', stream);
    if (shown < answer->count)
        fprintf(stream, "%zu more site%s %s not shown\n", answer->count - shown,
                probity_text_s(answer->count - shown), probity_text_are(answer->count - shown));
    fprintf(stream, "%" PRIu64 " of %" PRIu64 " site%s hit", total->hit, total->listed,
            probity_text_s(total->listed));
    if (total->listed > 0)
        fprintf(stream, " (%.1f %%)", probity_list_percent(answer));
    fputc('\n', stream);
    if (total->besides > 0)
        fprintf(stream, "%" PRIu64 " more sites, not listed, were hit\n", total->besides);
    put_limits(stream, answer);
}

void probity_list_text(FILE *stream, int has_color, size_t line_columns,
                       const struct probity_list_answer *answer)
{
    const struct probity_scopes_repairs none = {0};
    struct table table = {.stream = stream, .answer = answer};
    size_t shown = probity_list_shown(answer);

    table.left = (struct probity_table){.columns = table.columns,
                                        .cells = cells,
                                        .count = NAME,
                                        .values = probity_list_columns,
                                        .has_color = has_color};
    choose_columns(&table, line_columns);
    put_head(&table);
    for (size_t i = 0; i < shown; i++)
        put_site(&table, i);
    put_total(stream, answer);
    probity_table_put_left(stream, table.columns, COLUMNS, table.left.shown, "");
    probity_report_foot(stream, has_color, answer->reader, &none);
}
