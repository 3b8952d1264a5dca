/* SPDX-License-Identifier: MIT
 *
 * diff_json.c: a comparison as one JSON object. Rows are written one at a time.
 */
#include "answers/diff/diff_json.h"

#include <math.h>

#include "print/json.h"
#include "probity.h"

/* null if unknown. Integers are written without a fraction. */
static json_t *number(double value)
{
    if (isnan(value) || isinf(value))
        return json_null();
    return value == floor(value) && fabs(value) < 9e15 ? json_integer((json_int_t)value)
                                                       : json_real(value);
}

static json_t *values_of(const double *values, size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, values != NULL ? number(values[i]) : json_null());
    return list;
}

static json_t *result_of(const struct probity_compare *compare, int statistic,
                         const struct probity_compare_result *result)
{
    static const char *const sides[] = {"base", "new"}, *const medians[] = {"base_median",
                                                                            "new_median"};
    const char *verdict = probity_compare_verdict_name(result->verdict,
                                                       (enum probity_compare_statistic)statistic);
    json_t *object = json_object();
    size_t count;

    for (int side = 0; side < PROBITY_COMPARE_SIDES; side++)
        json_object_set_new(object, medians[side], number(result->median[side]));
    json_object_set_new(object, "ratio", number(result->ratio));
    json_object_set_new(object, "low", number(result->has_interval ? result->low : NAN));
    json_object_set_new(object, "high", number(result->has_interval ? result->high : NAN));
    json_object_set_new(object, "p", number(result->is_tested ? result->p : NAN));
    json_object_set_new(object, "p_adjusted", number(result->is_tested ? result->p_adjusted : NAN));
    json_object_set_new(object, "verdict", json_string(verdict));
    json_object_set_new(object, "runs_needed",
                        result->runs_needed > 0 ? probity_json_integer(result->runs_needed)
                                                : json_null());
    for (int side = 0; side < PROBITY_COMPARE_SIDES; side++) {
        probity_compare_runs(compare, side, &count);
        json_object_set_new(object, sides[side], values_of(result->values[side], count));
    }
    return object;
}

static json_t *row_of(const struct probity_diff_layout *layout,
                      const struct probity_compare *compare, const struct probity_compare_row *row)
{
    const struct probity_compare_item *item = &row->item;
    json_t *object = json_object(), *results = json_object();

    for (int i = 0; i < PROBITY_COMPARE_STATISTICS; i++) {
        const char *name = probity_compare_statistic_name((enum probity_compare_statistic)i);
        if (probity_diff_is_shown(layout, compare, row, i))
            json_object_set_new(results, name, result_of(compare, i, &row->results[i]));
    }
    if (json_object_size(results) == 0) {
        json_decref(results);
        json_decref(object);
        return NULL;
    }
    json_object_set_new(object, "name", probity_json_string(item->name));
    if (item->kind == PROBITY_COMPARE_BLOCK) {
        json_object_set_new(object, "named", probity_json_string(item->signature));
        json_object_set_new(object, "from_is_site", json_boolean((item->instance & 1) != 0));
        json_object_set_new(object, "to_is_site", json_boolean((item->instance & 2) != 0));
    } else {
        json_object_set_new(object, "signature", probity_json_string(item->signature));
        json_object_set_new(object, "file", probity_json_string(item->file));
        probity_json_put_integer(object, "line", item->line);
        json_object_set_new(object, "object", probity_json_string(item->object));
    }
    json_object_set_new(object, "quantile_error", json_real(row->quantile_error));
    json_object_set_new(object, "statistics", results);
    return object;
}

static json_t *test_of(const struct probity_compare *compare)
{
    const struct probity_compare_options *options = probity_compare_settings(compare);
    json_t *object = json_object();

    json_object_set_new(object, "test", json_string("Wilcoxon rank-sum, two-sided"));
    json_object_set_new(object, "correction", json_string("Benjamini-Hochberg"));
    json_object_set_new(object, "correction_of_limits", json_string("Holm"));
    probity_json_put_integer(object, "tests", probity_compare_tests(compare));
    probity_json_put_integer(object, "blocks_left_out", probity_compare_left_out(compare));
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
    return probity_json_write(stream, before, value, 10);
}

/* The limit counts functions and blocks together. */
static int write_rows(FILE *stream, const struct probity_diff_layout *layout,
                      const struct probity_compare *compare, enum probity_compare_kind kind)
{
    size_t count, shown = 0, written = 0;
    const struct probity_compare_row *rows = probity_compare_rows(compare, &count);
    int error = 0;

    fprintf(stream, ",\n\"%ss\": [", probity_compare_kind_name(kind));
    for (size_t i = 0; error == 0 && i < count; i++) {
        json_t *row = row_of(layout, compare, &rows[i]);
        shown += row != NULL;
        if (row == NULL || rows[i].item.kind != kind ||
            (layout->limit > 0 && shown > layout->limit)) {
            json_decref(row);
            continue;
        }
        error = write_value(stream, written++ > 0 ? ",\n" : "\n", row);
    }
    fputc(']', stream);
    return error == 0 && ferror(stream) ? PROBITY_ERROR_WRITE : error;
}

int probity_diff_json(FILE *stream, const struct probity_diff_layout *layout,
                      const struct probity_compare *compare)
{
    int error = write_value(stream, "{\"method\": ", test_of(compare));

    if (error == 0)
        error = write_value(stream, ",\n\"base\": ", runs_of(compare, PROBITY_COMPARE_BASE));
    if (error == 0)
        error = write_value(stream, ",\n\"new\": ", runs_of(compare, PROBITY_COMPARE_NEW));
    if (error == 0)
        error = write_value(stream, ",\n\"differences\": ", differences_of(compare));
    if (error == 0)
        error = write_value(stream, ",\n\"limits\": ", limits_of(compare));
    for (int kind = 0; error == 0 && kind < PROBITY_COMPARE_KINDS; kind++)
        error = write_rows(stream, layout, compare, (enum probity_compare_kind)kind);
    if (error == 0 && fputs("}\n", stream) == EOF)
        error = PROBITY_ERROR_WRITE;
    return error;
}
