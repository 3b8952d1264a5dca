/* SPDX-License-Identifier: MIT
 *
 * memory_json.c: memory for scripts, as one JSON object or as CSV.
 */
#include "answers/memory/memory_print.h"

#include <inttypes.h>

#include "answers/memory/memory_columns.h"
#include "answers/report/report_csv.h"
#include "answers/report/report_json.h"
#include "print/json.h"
#include "probity.h"

static void put_sums(FILE *stream, const struct probity_memory_sums *sums)
{
    probity_columns_put_json(stream, probity_memory_columns, PROBITY_MEMORY_COLUMNS, sums);
}

static void put_facts(FILE *stream, const struct probity_memory_facts *facts)
{
    fputs(",\n\"sums\": {", stream);
    put_sums(stream, &facts->sums);
    fprintf(stream, "},\n\"unknown_frees\": %" PRIu64 ", \"reused\": %" PRIu64
            ", \"only_counted_from_ns\": %" PRIu64 ", \"peak_at_ns\": ",
            facts->unknown_frees, facts->reused, facts->counted_ns);
    if (facts->moments > 0)
        fprintf(stream, "%" PRIu64, facts->peak_ns);
    else
        fputs("null", stream);
    fprintf(stream, ",\n\"course\": {\"from_ns\": %" PRIu64 ", \"width_ns\": %" PRIu64
            ", \"live_bytes_max\": [", facts->start_ns, facts->width_ns);
    for (size_t i = 0; i < facts->moments; i++)
        fprintf(stream, "%s%" PRIu64, i > 0 ? ", " : "", facts->most[i]);
    fputs("]},\n\"rows\": [", stream);
}

/* Only the innermost levels of deeper paths are written. */
enum { LEVELS_MAX = 1024 };

static int put_path(FILE *stream, const struct probity_tree_node *node)
{
    const struct probity_tree_node *levels[LEVELS_MAX];
    char text[32];
    size_t depth = 0;
    int error = 0;

    for (; node != NULL && node->function != NULL && depth < LEVELS_MAX; node = node->parent)
        levels[depth++] = node;
    for (size_t level = depth; level > 0 && error == 0; level--) {
        fputs(level < depth ? ", " : "", stream);
        error = probity_json_put_text(stream, probity_tree_name(levels[level - 1], text));
    }
    return error;
}

static int put_row(FILE *stream, const struct probity_memory_row *row)
{
    int error;

    fputs("\n{\"where\": ", stream);
    error = probity_json_put_text(stream, row->text);
    fputs(", \"path\": [", stream);
    if (error == 0)
        error = put_path(stream, row->leaf->path);
    fputs("], \"call\": ", stream);
    if (error == 0)
        error = probity_json_put_text(stream, row->leaf->call);
    fputs(", \"place\": ", stream);
    if (error == 0)
        error = probity_json_put_text(stream, row->place[0] != '\0' ? row->place : NULL);
    fputs(", ", stream);
    put_sums(stream, &row->sums);
    fputc('}', stream);
    return error;
}

int probity_memory_json(FILE *stream, const struct probity_memory_answer *answer)
{
    int error = probity_report_json_head(stream, answer->reader, answer->repairs);
    size_t shown = probity_memory_shown(answer);

    put_facts(stream, answer->facts);
    for (size_t i = 0; error == 0 && i < shown; i++) {
        fputs(i > 0 ? "," : "", stream);
        error = put_row(stream, answer->rows->rows[i]);
    }
    fputs("]}\n", stream);
    return error == 0 && ferror(stream) ? PROBITY_ERROR_WRITE : error;
}

void probity_memory_csv(FILE *stream, const struct probity_memory_answer *answer)
{
    size_t shown = probity_memory_shown(answer);

    fputs("where,call,place", stream);
    probity_columns_put_names(stream, probity_memory_columns, PROBITY_MEMORY_COLUMNS);
    fputc('\n', stream);
    for (size_t i = 0; i < shown; i++) {
        const struct probity_memory_row *row = answer->rows->rows[i];
        probity_report_csv_field(stream, row->text);
        fputc(',', stream);
        probity_report_csv_field(stream, row->leaf->call);
        fputc(',', stream);
        probity_report_csv_field(stream, row->place);
        probity_columns_put_csv(stream, probity_memory_columns, PROBITY_MEMORY_COLUMNS, &row->sums);
        fputc('\n', stream);
    }
}
