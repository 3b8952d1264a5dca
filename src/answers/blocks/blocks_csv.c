/* SPDX-License-Identifier: MIT
 *
 * blocks_csv.c: blocks as CSV.
 */
#include "answers/blocks/blocks_csv.h"

#include <inttypes.h>

#include "answers/blocks/blocks_cost.h"
#include "answers/report/report_csv.h"

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

/* The kind distinguishes a site named "3" from probe 3. */
static void put_kinds(FILE *stream, const struct probity_blocks_pair *pair)
{
    fprintf(stream, ",%d,%d\n", pair->from->is_site != 0, pair->to->is_site != 0);
}

static void put_pair(FILE *stream, const struct probity_blocks_pair *pair,
                     const struct probity_reader *reader)
{
    struct probity_corrected corrected;

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
    if (pair->slowest_count > 0)
        fprintf(stream, ",%" PRIu64 ",%" PRIu32 ",%" PRIu32 ",", pair->slowest[0].at_ns,
                pair->slowest[0].thread->pid, pair->slowest[0].thread->tid);
    else
        fputs(",,,,", stream);
    probity_report_csv_thread(stream, pair->thread);
    if (probity_blocks_corrected(pair, reader, &corrected))
        fprintf(stream, ",%" PRIu64 ",%" PRIu64, corrected.ns, corrected.error_ns);
    else
        fputs(",,", stream);
    put_kinds(stream, pair);
}

static void put_instances(FILE *stream, const struct probity_blocks_pair *pair)
{
    for (size_t i = 0; i < pair->slowest_count; i++) {
        const struct probity_blocks_instance *instance = &pair->slowest[i];
        uint64_t wall_ns = instance->wall_ns, cpu_ns = instance->cpu_ns;
        put_probes(stream, pair);
        fprintf(stream, ",%zu,%" PRIu64 ",%" PRIu64 ",", i + 1, instance->at_ns, wall_ns);
        if (instance->is_cpu_known)
            fprintf(stream, "%" PRIu64 ",%" PRIu64 ",", cpu_ns,
                    wall_ns > cpu_ns ? wall_ns - cpu_ns : 0);
        else
            fputs(",,", stream);
        probity_report_csv_thread(stream, instance->thread);
        put_kinds(stream, pair);
    }
}

void probity_blocks_csv(FILE *stream, const struct probity_blocks_answer *answer)
{
    size_t shown = probity_blocks_shown(answer);

    fputs(answer->has_slowest
              ? "from,to,from_name,to_name,rank,at_ns,wall_ns,cpu_ns,off_cpu_ns,pid,tid,thread,"
                "from_is_site,to_is_site\n"
              : "from,to,from_name,to_name,calls,probability,wall_ns,cpu_ns,off_cpu_ns,min_ns,"
                "mean_ns,p50_ns,p90_ns,p99_ns,max_ns,max_at_ns,max_pid,max_tid,pid,tid,thread,"
                "wall_corrected_ns,wall_error_ns,from_is_site,to_is_site\n",
          stream);
    for (size_t i = 0; i < shown; i++) {
        const struct probity_blocks_pair *pair = answer->pairs[i];
        if (answer->has_slowest) {
            put_instances(stream, pair);
            continue;
        }
        put_pair(stream, pair, answer->reader);
        for (size_t row = 0; row < pair->row_count; row++)
            put_pair(stream, pair->rows[row], answer->reader);
    }
}
