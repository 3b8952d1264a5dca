/* SPDX-License-Identifier: MIT
 *
 * blocks_csv.c: blocks as CSV.
 */
#include "output/blocks_csv.h"

#include <inttypes.h>

#include "output/report_csv.h"

static void put_probes(FILE *stream, const struct probity_blocks_pair *pair)
{
    probity_report_csv_field(stream, pair->from->text);
    fputc(',', stream);
    probity_report_csv_field(stream, pair->to->text);
    fputc(',', stream);
    probity_report_csv_field(stream, pair->from->name != NULL ? pair->from->name : "");
    fputc(',', stream);
    probity_report_csv_field(stream, pair->to->name != NULL ? pair->to->name : "");
}

static void put_pair(FILE *stream, const struct probity_blocks_pair *pair)
{
    put_probes(stream, pair);
    fprintf(stream, ",%" PRIu64 ",%.6f,%" PRIu64 ",", pair->calls,
            (double)probity_blocks_value(pair, PROBITY_BLOCKS_PROBABILITY) / 1e6, pair->wall_ns);
    if (pair->cpu_calls > 0)
        fprintf(stream, "%" PRIu64 ",%" PRIu64, pair->cpu_ns,
                probity_blocks_value(pair, PROBITY_BLOCKS_OFF));
    else
        fputc(',', stream);
    for (int key = PROBITY_BLOCKS_MIN; key <= PROBITY_BLOCKS_MAX; key++)
        fprintf(stream, ",%" PRIu64, probity_blocks_value(pair, (enum probity_blocks_key)key));
    fprintf(stream, ",%" PRIu64 ",%" PRIu32 ",%" PRIu32 "\n", pair->max_at_ns, pair->max_pid,
            pair->max_tid);
}

void probity_blocks_csv(FILE *stream, const struct probity_blocks_answer *answer)
{
    size_t shown = probity_blocks_shown(answer);

    fputs("from,to,from_name,to_name,calls,probability,wall_ns,cpu_ns,off_cpu_ns,min_ns,mean_ns,"
          "p50_ns,p90_ns,p99_ns,max_ns,max_at_ns,max_pid,max_tid\n", stream);
    for (size_t i = 0; i < shown; i++)
        put_pair(stream, answer->pairs[i]);
}
