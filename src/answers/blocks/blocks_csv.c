/* SPDX-License-Identifier: MIT
 *
 * blocks_csv.c: blocks as CSV.
 */
#include "answers/blocks/blocks_print.h"

#include <inttypes.h>

#include "answers/blocks/blocks_columns.h"
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
    const struct probity_blocks_row row = {pair, reader};

    put_probes(stream, pair);
    probity_columns_put_csv(stream, probity_blocks_columns, PROBITY_BLOCKS_COLUMNS, &row);
    if (pair->slowest_count > 0)
        fprintf(stream, ",%" PRIu64 ",%" PRIu32 ",%" PRIu32 ",", pair->slowest[0].at_ns,
                pair->slowest[0].thread->pid, pair->slowest[0].thread->tid);
    else
        fputs(",,,,", stream);
    probity_report_csv_thread(stream, pair->thread);
    probity_columns_put_csv(stream, probity_blocks_corrected_columns,
                            PROBITY_BLOCKS_CORRECTED_COLUMNS, &row);
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

static void put_head(FILE *stream)
{
    fputs("from,to,from_name,to_name", stream);
    probity_columns_put_names(stream, probity_blocks_columns, PROBITY_BLOCKS_COLUMNS);
    fputs(",max_at_ns,max_pid,max_tid,pid,tid,thread", stream);
    probity_columns_put_names(stream, probity_blocks_corrected_columns,
                              PROBITY_BLOCKS_CORRECTED_COLUMNS);
    fputs(",from_is_site,to_is_site\n", stream);
}

void probity_blocks_csv(FILE *stream, const struct probity_blocks_answer *answer)
{
    size_t shown = probity_blocks_shown(answer);

    if (answer->has_slowest)
        fputs("from,to,from_name,to_name,rank,at_ns,wall_ns,cpu_ns,off_cpu_ns,pid,tid,thread,"
              "from_is_site,to_is_site\n", stream);
    else
        put_head(stream);
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
