/* SPDX-License-Identifier: MIT
 *
 * diff_columns.c: columns of a statistic; writes a comparison as CSV and as one JSON object.
 */
#include <math.h>

#include "answers/diff/diff_print.h"
#include "print/json.h"
#include "probity.h"

enum { DIGITS = 10 };

/* ---- Columns -----------------------------------------------------------------------------------
 */

#define COLUMN(NAME, KIND, FROM) PROBITY_COLUMN(NAME, KIND, struct probity_diff_line, FROM)

#define NUMBER(NAME, FROM)                                                                         \
    static struct probity_cell NAME(const void *any)                                               \
    {                                                                                              \
        const struct probity_compare_result *result = result_of(any);                              \
        return probity_cell_whole(FROM, DIGITS);                                                   \
    }

static const struct probity_compare_result *result_of(const struct probity_diff_line *line)
{
    return &line->row->results[line->statistic];
}

COLUMN(name, text, row->row->item.name)
COLUMN(file, text, row->row->item.file)
COLUMN(statistic, text, probity_compare_statistic_name(row->statistic))
COLUMN(base_runs, count, result_of(row)->runs[PROBITY_COMPARE_BASE])
COLUMN(new_runs, count, result_of(row)->runs[PROBITY_COMPARE_NEW])
NUMBER(base_median, result->median[PROBITY_COMPARE_BASE])
NUMBER(new_median, result->median[PROBITY_COMPARE_NEW])
NUMBER(ratio, result->ratio)
NUMBER(low, result->has_interval ? result->low : NAN)
NUMBER(high, result->has_interval ? result->high : NAN)
NUMBER(p, result->is_tested ? result->p : NAN)
NUMBER(p_adjusted, result->is_tested ? result->p_adjusted : NAN)
COLUMN(verdict, text, probity_compare_verdict_name(result_of(row)->verdict, row->statistic))
COLUMN(kind, text, probity_compare_kind_name(row->row->item.kind))

static struct probity_cell if_not_0(uint64_t count)
{
    return count > 0 ? probity_cell_count(count) : probity_cell_unknown();
}

static struct probity_cell line(const void *row)
{
    return if_not_0(((const struct probity_diff_line *)row)->row->item.line);
}

static struct probity_cell runs_needed(const void *row)
{
    return if_not_0(result_of(row)->runs_needed);
}

const struct probity_column probity_diff_columns[PROBITY_DIFF_COLUMNS] = {
    [PROBITY_DIFF_NAME] = {"function", name},
    [PROBITY_DIFF_FILE] = {"file", file},
    [PROBITY_DIFF_LINE] = {"line", line},
    [PROBITY_DIFF_STATISTIC] = {"statistic", statistic},
    [PROBITY_DIFF_BASE_RUNS] = {"base_runs", base_runs},
    [PROBITY_DIFF_NEW_RUNS] = {"new_runs", new_runs},
    [PROBITY_DIFF_BASE_MEDIAN] = {"base_median", base_median},
    [PROBITY_DIFF_NEW_MEDIAN] = {"new_median", new_median},
    [PROBITY_DIFF_RATIO] = {"ratio", ratio},
    [PROBITY_DIFF_LOW] = {"low", low},
    [PROBITY_DIFF_HIGH] = {"high", high},
    [PROBITY_DIFF_P] = {"p", p},
    [PROBITY_DIFF_P_ADJUSTED] = {"p_adjusted", p_adjusted},
    [PROBITY_DIFF_VERDICT] = {"verdict", verdict},
    [PROBITY_DIFF_RUNS_NEEDED] = {"runs_needed", runs_needed},
    [PROBITY_DIFF_KIND] = {"kind", kind}};

/* Values that the JSON has once per row. */
COLUMN(signature, text, row->row->item.signature)
COLUMN(line_or_0, count, row->row->item.line)
COLUMN(object, text, row->row->item.object)
COLUMN(from_is_site, flag, row->row->item.instance & 1)
COLUMN(to_is_site, flag, row->row->item.instance & 2)
COLUMN(is_site, flag, row->row->item.instance & 1)

static struct probity_cell quantile_error(const void *row)
{
    return probity_cell_real(((const struct probity_diff_line *)row)->row->quantile_error, DIGITS);
}

static const struct probity_column of_function[] = {
    {"name", name},     {"signature", signature}, {"file", file}, {"line", line_or_0},
    {"object", object}, {"quantile_error", quantile_error}};

static const struct probity_column of_block[] = {{"name", name},
                                                 {"named", signature},
                                                 {"from_is_site", from_is_site},
                                                 {"to_is_site", to_is_site},
                                                 {"quantile_error", quantile_error}};

static const struct probity_column of_request[] = {{"name", name},
                                                   {"named", signature},
                                                   {"is_site", is_site},
                                                   {"quantile_error", quantile_error}};

#define LIST(COLUMNS) {COLUMNS, sizeof COLUMNS / sizeof *COLUMNS}

static const struct {
    const struct probity_column *columns;
    size_t count;
} of_kind[PROBITY_COMPARE_KINDS] = {[PROBITY_COMPARE_FUNCTION] = LIST(of_function),
                                    [PROBITY_COMPARE_BLOCK] = LIST(of_block),
                                    [PROBITY_COMPARE_REQUEST] = LIST(of_request)};

/* ---- CSV ---------------------------------------------------------------------------------------
 */

int probity_diff_is_shown(const struct probity_diff_layout *layout,
                          const struct probity_compare *compare,
                          const struct probity_compare_row *row, int statistic)
{
    enum probity_compare_verdict verdict = row->results[statistic].verdict;

    if (!probity_compare_is_chosen(compare, row->item.kind, statistic))
        return 0;
    return !layout->is_changed_only ||
           (verdict != PROBITY_COMPARE_SAME && verdict != PROBITY_COMPARE_UNKNOWN);
}

const char *probity_diff_where(const struct probity_compare_difference *difference)
{
    return difference->sides[0] != difference->sides[1]          ? "between"
           : difference->sides[0] == PROBITY_COMPARE_BASE ? "base"
                                                          : "new";
}

/* Returns 1 if any line was written. */
static int put_row(FILE *stream, const struct probity_diff_layout *layout,
                   const struct probity_compare *compare, const struct probity_compare_row *row)
{
    int has_lines = 0;

    for (int i = 0; i < PROBITY_COMPARE_STATISTICS; i++) {
        const struct probity_diff_line shown = {row, (enum probity_compare_statistic)i};
        if (!probity_diff_is_shown(layout, compare, row, i))
            continue;
        probity_columns_put_line(stream, probity_diff_columns, PROBITY_DIFF_COLUMNS, &shown);
        has_lines = 1;
    }
    return has_lines;
}

void probity_diff_csv(FILE *stream, const struct probity_diff_layout *layout,
                      const struct probity_compare *compare)
{
    size_t count, shown = 0;
    const struct probity_compare_row *rows = probity_compare_rows(compare, &count);

    probity_columns_put_head(stream, probity_diff_columns, PROBITY_DIFF_COLUMNS);
    for (size_t i = 0; i < count && (layout->limit == 0 || shown < layout->limit); i++)
        shown += (size_t)put_row(stream, layout, compare, &rows[i]);
}

/* ---- JSON --------------------------------------------------------------------------------------
 */

static int put_values(FILE *stream, const char *side, const double *values, size_t count)
{
    int error = 0;

    fprintf(stream, ", \"%s\": [", side);
    for (size_t i = 0; error == 0 && i < count; i++) {
        fputs(i > 0 ? ", " : "", stream);
        error = probity_cell_put_json(
            stream, probity_cell_whole(values != NULL ? values[i] : NAN, DIGITS));
    }
    fputc(']', stream);
    return error;
}

static int put_statistic(FILE *stream, const struct probity_compare *compare,
                         const struct probity_diff_line *shown)
{
    enum { FIRST = PROBITY_DIFF_BASE_MEDIAN, COUNT = PROBITY_DIFF_RUNS_NEEDED + 1 - FIRST };
    static const char *const sides[PROBITY_COMPARE_SIDES] = {"base", "new"};
    size_t count;

    fprintf(stream, "\"%s\": {", probity_compare_statistic_name(shown->statistic));
    int error = probity_columns_put_json(stream, probity_diff_columns + FIRST, COUNT, shown);
    for (int side = 0; error == 0 && side < PROBITY_COMPARE_SIDES; side++) {
        probity_compare_runs(compare, side, &count);
        error = put_values(stream, sides[side], result_of(shown)->values[side], count);
    }
    fputc('}', stream);
    return error;
}

static int put_object(FILE *stream, const struct probity_diff_layout *layout,
                      const struct probity_compare *compare, const struct probity_compare_row *row)
{
    struct probity_diff_line shown = {.row = row};
    int written = 0;

    fputc('{', stream);
    int error = probity_columns_put_json(stream, of_kind[row->item.kind].columns,
                                         of_kind[row->item.kind].count, &shown);
    fputs(", \"statistics\": {", stream);
    for (int i = 0; error == 0 && i < PROBITY_COMPARE_STATISTICS; i++) {
        shown.statistic = (enum probity_compare_statistic)i;
        if (!probity_diff_is_shown(layout, compare, row, i))
            continue;
        fputs(written++ > 0 ? ", " : "", stream);
        error = put_statistic(stream, compare, &shown);
    }
    fputs("}}", stream);
    return error;
}

static json_t *test_of(const struct probity_compare *compare)
{
    const struct probity_compare_options *options = probity_compare_settings(compare);
    json_t *object = json_object();
    size_t without;

    probity_compare_without_requests(compare, &without);
    json_object_set_new(object, "test", json_string("Wilcoxon rank-sum, two-sided"));
    json_object_set_new(object, "correction", json_string("Benjamini-Hochberg"));
    json_object_set_new(object, "correction_of_limits", json_string("Holm"));
    probity_json_put_integer(object, "tests", probity_compare_tests(compare));
    probity_json_put_integer(object, "blocks_left_out", probity_compare_left_out(compare));
    probity_json_put_integer(object, "requests_left_out",
                             probity_compare_requests_left_out(compare));
    probity_json_put_integer(object, "runs_without_requests", without);
    probity_json_put_integer(object, "tests_of_limits", probity_compare_limit_tests(compare));
    json_object_set_new(object, "confidence", json_real(options->confidence));
    json_object_set_new(object, "tolerance_percent", json_real(options->tolerance_percent));
    probity_json_put_integer(object, "runs_least", probity_compare_least_runs(compare));
    return object;
}

static json_t *runs_of(const struct probity_compare *compare, int side)
{
    size_t count;
    const struct probity_compare_run *runs = probity_compare_runs(compare, side, &count);
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++) {
        json_t *object = json_object();
        json_object_set_new(object, "trace", probity_json_string(runs[i].path));
        json_object_set_new(object, "label", runs[i].label[0] != '\0'
                                                 ? probity_json_string(runs[i].label)
                                                 : json_null());
        json_object_set_new(object, "complete", json_boolean(runs[i].is_complete));
        json_object_set_new(object, "why", probity_json_string(runs[i].why));
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *differences_of(const struct probity_compare *compare)
{
    size_t count;
    const struct probity_compare_difference *differences =
        probity_compare_differences(compare, &count);
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++) {
        json_t *object = json_object(), *texts = json_array(), *paths = json_array();
        for (int j = 0; j < 2; j++) {
            json_array_append_new(texts, probity_json_string(differences[i].texts[j]));
            json_array_append_new(paths, probity_json_string(differences[i].paths[j]));
        }
        json_object_set_new(object, "what", json_string(differences[i].what));
        json_object_set_new(object, "where", json_string(probity_diff_where(&differences[i])));
        json_object_set_new(object, "values", texts);
        json_object_set_new(object, "traces", paths);
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *limits_of(const struct probity_compare *compare)
{
    const struct probity_compare_options *options = probity_compare_settings(compare);
    size_t count;
    const struct probity_compare_row *rows = probity_compare_rows(compare, &count);
    json_t *list = json_array();

    for (size_t i = 0; i < options->limit_count; i++) {
        json_t *object = json_object(), *beyond = json_array();
        for (size_t j = 0; j < count; j++) {
            if ((rows[j].exceeds >> i & 1) != 0)
                json_array_append_new(beyond, probity_json_string(rows[j].item.name));
        }
        json_object_set_new(object, "limit", probity_json_string(options->limits[i].text));
        json_object_set_new(object, "exceeded_by", beyond);
        json_array_append_new(list, object);
    }
    return list;
}

static int write_value(FILE *stream, const char *before, json_t *value)
{
    return probity_json_write(stream, before, value, DIGITS);
}

static int is_shown(const struct probity_diff_layout *layout,
                    const struct probity_compare *compare, const struct probity_compare_row *row)
{
    int is_any = 0;

    for (int i = 0; i < PROBITY_COMPARE_STATISTICS && !is_any; i++)
        is_any = probity_diff_is_shown(layout, compare, row, i);
    return is_any;
}

/* The limit counts rows of all kinds together. */
static int write_rows(FILE *stream, const struct probity_diff_layout *layout,
                      const struct probity_compare *compare, enum probity_compare_kind of)
{
    size_t count, shown = 0, written = 0;
    const struct probity_compare_row *rows = probity_compare_rows(compare, &count);
    int error = 0;

    fprintf(stream, ",\n\"%ss\": [", probity_compare_kind_name(of));
    for (size_t i = 0; error == 0 && i < count; i++) {
        if (!is_shown(layout, compare, &rows[i]))
            continue;
        shown++;
        if (rows[i].item.kind != of || (layout->limit > 0 && shown > layout->limit))
            continue;
        fputs(written++ > 0 ? ",\n" : "\n", stream);
        error = put_object(stream, layout, compare, &rows[i]);
    }
    fputc(']', stream);
    return error == 0 && ferror(stream) ? PROBITY_ERROR_WRITE : error;
}

int probity_diff_json(FILE *stream, const struct probity_diff_layout *layout,
                      const struct probity_compare *compare)
{
    const struct {
        const char *before;
        json_t *value;
    } parts[] = {{"{\"method\": ", test_of(compare)},
                 {",\n\"base\": ", runs_of(compare, PROBITY_COMPARE_BASE)},
                 {",\n\"new\": ", runs_of(compare, PROBITY_COMPARE_NEW)},
                 {",\n\"differences\": ", differences_of(compare)},
                 {",\n\"limits\": ", limits_of(compare)}};
    int error = 0;

    /* Each part is written or, after an error, released. */
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (error == 0)
            error = write_value(stream, parts[i].before, parts[i].value);
        else
            json_decref(parts[i].value);
    }
    for (int of = 0; error == 0 && of < PROBITY_COMPARE_KINDS; of++)
        error = write_rows(stream, layout, compare, (enum probity_compare_kind)of);
    return error == 0 && fputs("}\n", stream) == EOF ? PROBITY_ERROR_WRITE : error;
}
