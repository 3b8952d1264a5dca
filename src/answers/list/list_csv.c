/* SPDX-License-Identifier: MIT
 *
 * list_csv.c: sites as CSV.
 */
#include "answers/list/list_csv.h"

#include <inttypes.h>

#include "answers/report/report_csv.h"
#include "probity.h"

static void put_site(FILE *stream, const struct probity_coverage_site *site)
{
    int is_function = site->kind == PROBITY_LISTED_FUNCTION;
    const char *texts[] = {site->name, site->signature, site->file};

    fprintf(stream, "%s,", probity_list_kind(site));
    if (site->kind == PROBITY_LISTED_NUMBERED)
        fprintf(stream, "%" PRIu32, site->number);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        fputc(',', stream);
        probity_report_csv_field(stream, texts[i]);
    }
    fputc(',', stream);
    if (site->file[0] != '\0')
        fprintf(stream, "%" PRIu32, site->line);
    fputc(',', stream);
    probity_report_csv_field(stream, site->within);
    fputc(',', stream);
    probity_report_csv_field(stream, site->object);
    fputc(',', stream);
    if (is_function)
        fprintf(stream, "%" PRIu32, site->level);
    fprintf(stream, ",%" PRIu32 ",%d,%" PRIu64 ",%" PRIu64 ",%d\n",
            site->kind == PROBITY_LISTED_NUMBERED ? site->places : 1, site->is_listed, site->hits,
            site->counted, site->is_least);
}

void probity_list_csv(FILE *stream, const struct probity_list_answer *answer)
{
    size_t shown = probity_list_shown(answer);

    fputs("kind,number,name,signature,file,line,within,object,level,places,listed,hits,counted,"
          "are_least\n", stream);
    for (size_t i = 0; i < shown; i++)
        put_site(stream, answer->sites[i]);
}
