/* SPDX-License-Identifier: MIT
 *
 * hist_csv.c: histograms as CSV.
 */
#include "answers/hist/hist_csv.h"

#include <inttypes.h>

#include "answers/report/report_csv.h"

void probity_hist_csv(FILE *stream, const struct probity_hist_answer *answer)
{
    fputs("name,file,line,from_ns,below_ns,calls,share\n", stream);
    for (size_t i = 0; i < answer->count; i++) {
        const struct probity_hist_entry *entry = &answer->entries[i];
        for (size_t j = 0; j < entry->hist.row_count; j++) {
            const struct probity_hist_row *row = &entry->hist.rows[j];
            probity_report_csv_field(stream, entry->name);
            fputc(',', stream);
            probity_report_csv_field(stream, entry->file != NULL ? entry->file : "");
            fputc(',', stream);
            if (entry->file != NULL)
                fprintf(stream, "%" PRIu32, entry->line);
            fprintf(stream, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.6f\n", row->least, row->end,
                    row->count, (double)row->count / (double)entry->hist.count);
        }
    }
}
