/* SPDX-License-Identifier: MIT
 *
 * diff_json.c: a comparison as one JSON object. Functions are written one by one.
 */
#include "output/diff_json.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "probity.h"

/* A text of the traced program. Bytes that are no UTF-8 are replaced. */
static json_t *string(const char *text)
{
    json_t *value = json_string(text);
    char plain[2048];
    size_t length = 0;

    if (value != NULL)
        return value;
    for (; text[length] != '\0' && length < sizeof plain; length++)
        plain[length] = (unsigned char)text[length] < 0x80 ? text[length] : '?';
    return json_stringn(plain, length);
}

static json_t *integer(size_t value)
{
    return json_integer((json_int_t)value);
}

/* What is not known is null. Whole numbers stay whole. */
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
                        result->runs_needed > 0 ? integer(result->runs_needed) : json_null());
    for (int side = 0; side < PROBITY_COMPARE_SIDES; side++) {
        probity_compare_runs(compare, side, &count);
        json_object_set_new(object, sides[side], values_of(result->values[side], count));
    }
    return object;
}

static json_t *row_of(const struct probity_diff_layout *layout,
                      const struct probity_compare *compare, const struct probity_compare_row *row)
{
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
    json_object_set_new(object, "name", string(row->name));
    json_object_set_new(object, "signature", string(row->signature));
    json_object_set_new(object, "file", string(row->file));
    json_object_set_new(object, "line", integer(row->line));
    json_object_set_new(object, "object", string(row->object));
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
    json_object_set_new(object, "tests", integer(probity_compare_tests(compare)));
    json_object_set_new(object, "tests_of_limits", integer(probity_compare_limit_tests(compare)));
    json_object_set_new(object, "confidence", json_real(options->confidence));
    json_object_set_new(object, "tolerance_percent", json_real(options->tolerance_percent));
    json_object_set_new(object, "quantile_error", json_real(options->quantile_error));
    json_object_set_new(object, "runs_least", integer(probity_compare_least_runs(compare)));
    return object;
}

static json_t *runs_of(const struct probity_compare *compare, int side)
{
    size_t count;
    const struct probity_compare_run *runs = probity_compare_runs(compare, side, &count);
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++) {
        json_t *object = json_object();
        json_object_set_new(object, "trace", string(runs[i].path));
        json_object_set_new(object, "complete", json_boolean(runs[i].is_complete));
        json_object_set_new(object, "why", string(runs[i].why));
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
            json_array_append_new(texts, string(differences[i].texts[j]));
            json_array_append_new(paths, string(differences[i].paths[j]));
        }
        json_object_set_new(object, "what", json_string(differences[i].what));
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
                json_array_append_new(beyond, string(rows[j].name));
        }
        json_object_set_new(object, "limit", string(options->limits[i].text));
        json_object_set_new(object, "exceeded_by", beyond);
        json_array_append_new(list, object);
    }
    return list;
}

/* Takes the value. Returns 0 or an error. */
static int write_value(FILE *stream, const char *before, json_t *value)
{
    int error = value == NULL ? PROBITY_ERROR_MEMORY : 0;

    if (error == 0 && (fputs(before, stream) == EOF ||
                       json_dumpf(value, stream, JSON_REAL_PRECISION(10)) != 0))
        error = PROBITY_ERROR_WRITE;
    json_decref(value);
    return error;
}

static int write_rows(FILE *stream, const struct probity_diff_layout *layout,
                      const struct probity_compare *compare)
{
    size_t count, shown = 0;
    const struct probity_compare_row *rows = probity_compare_rows(compare, &count);
    int error = fputs(",\n\"functions\": [", stream) == EOF ? PROBITY_ERROR_WRITE : 0;

    for (size_t i = 0; error == 0 && i < count; i++) {
        json_t *row = row_of(layout, compare, &rows[i]);
        if (row == NULL || (layout->limit > 0 && shown >= layout->limit)) {
            json_decref(row);
            continue;
        }
        error = write_value(stream, shown++ > 0 ? ",\n" : "\n", row);
    }
    if (error == 0 && fputs("]}\n", stream) == EOF)
        error = PROBITY_ERROR_WRITE;
    return error;
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
    return error == 0 ? write_rows(stream, layout, compare) : error;
}
