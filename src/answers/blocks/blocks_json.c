/* SPDX-License-Identifier: MIT
 *
 * blocks_json.c: blocks as one JSON object.
 */
#include "answers/blocks/blocks_print.h"

#include <inttypes.h>

#include "answers/blocks/blocks_columns.h"
#include "answers/report/report_json.h"
#include "print/json.h"
#include "probity.h"

/* Also writes a probe's number as text, like the name of a site, which may be "1". */
static int put_probe(FILE *stream, const char *what, const struct probity_probe *probe)
{
    fprintf(stream, "\"%s\": ", what);
    int error = probity_json_put_text(stream, probe->text);
    fprintf(stream, ", \"%s_is_site\": %s, \"%s_name\": ", what,
            probe->is_site ? "true" : "false", what);
    if (error == 0)
        error = probity_json_put_text(stream, probe->name);
    fputs(", ", stream);
    return error;
}

static void put_cpu(FILE *stream, int is_known, uint64_t cpu_ns, uint64_t off_ns)
{
    if (is_known)
        fprintf(stream, ", \"cpu_ns\": %" PRIu64 ", \"off_cpu_ns\": %" PRIu64, cpu_ns, off_ns);
    else
        fputs(", \"cpu_ns\": null, \"off_cpu_ns\": null", stream);
}

static int put_thread(FILE *stream, const struct probity_thread_label *thread)
{
    fprintf(stream, "\"pid\": %" PRIu32 ", \"tid\": %" PRIu32 ", \"thread\": ", thread->pid,
            thread->tid);
    return probity_json_put_text(stream, thread->name);
}

static void put_figures(FILE *stream, const struct probity_blocks_answer *answer,
                        const struct probity_blocks_pair *pair)
{
    const struct probity_blocks_row row = {pair, answer->reader};

    probity_columns_put_json(stream, probity_blocks_columns, PROBITY_BLOCKS_COLUMNS, &row);
    if (pair->slowest_count > 0)
        fprintf(stream, ", \"max_at_ns\": %" PRIu64 ", \"max_pid\": %" PRIu32
                ", \"max_tid\": %" PRIu32, pair->slowest[0].at_ns, pair->slowest[0].thread->pid,
                pair->slowest[0].thread->tid);
    fputs(", ", stream);
    probity_columns_put_json(stream, probity_blocks_corrected_columns,
                             PROBITY_BLOCKS_CORRECTED_COLUMNS, &row);
}

static int put_rows(FILE *stream, const struct probity_blocks_answer *answer,
                    const struct probity_blocks_pair *pair)
{
    int error = 0;

    fputs(", \"threads\": [", stream);
    for (size_t i = 0; error == 0 && i < pair->row_count; i++) {
        fputs(i > 0 ? ", {" : "{", stream);
        error = put_thread(stream, pair->rows[i]->thread);
        fputs(", ", stream);
        put_figures(stream, answer, pair->rows[i]);
        fputc('}', stream);
    }
    fputc(']', stream);
    return error;
}

static int put_instances(FILE *stream, const struct probity_blocks_pair *pair)
{
    int error = 0;

    fputs(", \"slowest\": [", stream);
    for (size_t i = 0; error == 0 && i < pair->slowest_count; i++) {
        const struct probity_blocks_instance *instance = &pair->slowest[i];
        uint64_t wall_ns = instance->wall_ns, cpu_ns = instance->cpu_ns;
        fputs(i > 0 ? ", {" : "{", stream);
        error = put_thread(stream, instance->thread);
        fprintf(stream, ", \"at_ns\": %" PRIu64 ", \"wall_ns\": %" PRIu64, instance->at_ns,
                wall_ns);
        put_cpu(stream, instance->is_cpu_known, cpu_ns, wall_ns > cpu_ns ? wall_ns - cpu_ns : 0);
        fputc('}', stream);
    }
    fputc(']', stream);
    return error;
}

static int put_pair(FILE *stream, const struct probity_blocks_answer *answer,
                    const struct probity_blocks_pair *pair)
{
    int error = put_probe(stream, "from", pair->from);

    if (error == 0)
        error = put_probe(stream, "to", pair->to);
    put_figures(stream, answer, pair);
    if (error == 0 && pair->row_count > 0)
        error = put_rows(stream, answer, pair);
    if (error == 0 && answer->has_slowest)
        error = put_instances(stream, pair);
    return error;
}

int probity_blocks_json(FILE *stream, const struct probity_blocks_answer *answer)
{
    size_t shown = probity_blocks_shown(answer);
    int error = probity_report_json_traces(stream, answer->reader);

    if (answer->by_correlation)
        fprintf(stream, ",\n\"by\": \"correlation\", \"ids_forgotten\": %" PRIu64,
                answer->forgotten);
    fputs(",\n\"blocks\": [", stream);
    for (size_t i = 0; error == 0 && i < shown; i++) {
        fputs(i > 0 ? ",\n{" : "\n{", stream);
        error = put_pair(stream, answer, answer->pairs[i]);
        fputc('}', stream);
    }
    fputs("]}\n", stream);
    return error == 0 && ferror(stream) ? PROBITY_ERROR_WRITE : error;
}
