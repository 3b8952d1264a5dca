/* SPDX-License-Identifier: MIT
 *
 * list_json.c: sites as one JSON object.
 */
#include "answers/list/list_json.h"

#include <inttypes.h>

#include "answers/report/report_json.h"
#include "probity.h"

static int put_site(FILE *stream, const struct probity_coverage_site *site)
{
    const struct {
        const char *name, *text;
    } texts[] = {{"name", site->name},     {"signature", site->signature},
                 {"file", site->file},     {"within", site->within},
                 {"object", site->object}};
    int error = 0;

    fprintf(stream, "\"kind\": \"%s\", ", probity_list_kind(site));
    if (site->kind == PROBITY_LISTED_NUMBERED)
        fprintf(stream, "\"number\": %" PRIu32 ", \"places\": %" PRIu32 ", ", site->number,
                site->places);
    if (site->kind == PROBITY_LISTED_FUNCTION)
        fprintf(stream, "\"level\": %" PRIu32 ", ", site->level);
    for (size_t i = 0; error == 0 && i < sizeof texts / sizeof *texts; i++) {
        fprintf(stream, "\"%s\": ", texts[i].name);
        error = probity_report_json_string(stream, texts[i].text);
        fputs(", ", stream);
    }
    fprintf(stream, "\"line\": %" PRIu32 ", \"listed\": %s, \"hits\": %" PRIu64
            ", \"counted\": %" PRIu64 ", \"are_least\": %s", site->line,
            site->is_listed ? "true" : "false", site->hits, site->counted,
            site->is_least ? "true" : "false");
    return error;
}

int probity_list_json(FILE *stream, const struct probity_list_answer *answer)
{
    const struct probity_coverage_total *total = &answer->total;
    size_t shown = probity_list_shown(answer);
    int error = probity_report_json_traces(stream, answer->reader);

    fprintf(stream, ",\n\"total\": {\"sites\": %" PRIu64 ", \"hit\": %" PRIu64 ", \"percent\": ",
            total->listed, total->hit);
    if (total->listed > 0)
        fprintf(stream, "%.1f", probity_list_percent(answer));
    else
        fputs("null", stream);
    fprintf(stream, ", \"hit_not_listed\": %" PRIu64 ", \"left_out\": %" PRIu64
            ", \"traces_without_list\": %zu},\n\"sites\": [", total->besides, answer->left_out,
            answer->traces_without);
    for (size_t i = 0; error == 0 && i < shown; i++) {
        fputs(i > 0 ? ",\n{" : "\n{", stream);
        error = put_site(stream, answer->sites[i]);
        fputc('}', stream);
    }
    fputs("]}\n", stream);
    return error == 0 && ferror(stream) ? PROBITY_ERROR_WRITE : error;
}
