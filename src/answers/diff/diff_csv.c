/* SPDX-License-Identifier: MIT
 *
 * diff_csv.c: one line per statistic of each function and block, quoted as in RFC 4180.
 */
#include "answers/diff/diff_csv.h"

#include <math.h>

#include "answers/report/report_csv.h"

static void put_number(FILE *stream, double value)
{
    fputc(',', stream);
    if (!isnan(value))
        fprintf(stream, "%.10g", value);
}

static void put_result(FILE *stream, int statistic, const struct probity_compare_row *row)
{
    const struct probity_compare_result *result = &row->results[statistic];
    enum probity_compare_statistic of = (enum probity_compare_statistic)statistic;

    fprintf(stream, ",%s,%zu,%zu", probity_compare_statistic_name(of),
            result->runs[PROBITY_COMPARE_BASE], result->runs[PROBITY_COMPARE_NEW]);
    put_number(stream, result->median[PROBITY_COMPARE_BASE]);
    put_number(stream, result->median[PROBITY_COMPARE_NEW]);
    put_number(stream, result->ratio);
    put_number(stream, result->has_interval ? result->low : NAN);
    put_number(stream, result->has_interval ? result->high : NAN);
    put_number(stream, result->is_tested ? result->p : NAN);
    put_number(stream, result->is_tested ? result->p_adjusted : NAN);
    fprintf(stream, ",%s,", probity_compare_verdict_name(result->verdict, of));
    if (result->runs_needed > 0)
        fprintf(stream, "%zu", result->runs_needed);
    fprintf(stream, ",%s\n", probity_compare_kind_name(row->item.kind));
}

void probity_diff_csv(FILE *stream, const struct probity_diff_layout *layout,
                      const struct probity_compare *compare)
{
    size_t count, shown = 0;
    const struct probity_compare_row *rows = probity_compare_rows(compare, &count);

    fputs("function,file,line,statistic,base_runs,new_runs,base_median,new_median,ratio,low,high,"
          "p,p_adjusted,verdict,runs_needed,kind\n", stream);
    for (size_t i = 0; i < count && (layout->limit == 0 || shown < layout->limit); i++) {
        int lines = 0;
        for (int j = 0; j < PROBITY_COMPARE_STATISTICS; j++) {
            if (!probity_diff_is_shown(layout, compare, &rows[i], j))
                continue;
            probity_report_csv_field(stream, rows[i].item.name);
            fputc(',', stream);
            probity_report_csv_field(stream, rows[i].item.file);
            fprintf(stream, rows[i].item.line > 0 ? ",%u" : ",", (unsigned)rows[i].item.line);
            put_result(stream, j, &rows[i]);
            lines++;
        }
        shown += lines > 0;
    }
}
