/* SPDX-License-Identifier: MIT
 *
 * sites.c: writes and reads rows of sites, in the order of the columns of table probity_sites.
 */
#include "fleet/sites.h"

#include <stdlib.h>
#include <string.h>

#include "fleet/hits.h"
#include "fleet/numbers.h"
#include "fleet/schema.h"
#include "probity.h"

enum { FLAG_CXX = 1, FLAG_DEFERRED = 2, TEXTS = 5 };

static void get_texts(const struct probity_listed_site *site, const char *ret_texts[TEXTS])
{
    const char *const texts[TEXTS] = {site->name, site->file, site->within, site->signature,
                                      site->object};

    memcpy(ret_texts, texts, sizeof texts);
}

void probity_fleet_site_put(struct probity_fleet_batch *batch, uint64_t run, uint64_t version,
                            const struct probity_fleet_site *site)
{
    const struct probity_listed_site *of = &site->site;
    const uint32_t numbers[] = {(uint32_t)site->is_listed, of->kind, of->number, of->line};
    uint64_t hash = probity_fleet_hash(PROBITY_FLEET_HASH_SEED, numbers, sizeof numbers);
    const char *texts[TEXTS];

    get_texts(of, texts);
    for (size_t i = 0; i < TEXTS; i++)
        hash = probity_fleet_hash(hash, texts[i], strlen(texts[i]) + 1);
    const uint64_t values[] = {
        run, hash, version, (uint64_t)site->is_listed, of->kind, of->number, of->line, of->level,
        (of->is_cxx ? FLAG_CXX : 0U) | (of->is_deferred ? FLAG_DEFERRED : 0U), site->hits};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        probity_fleet_put(batch, values[i]);
    for (size_t i = 0; i < TEXTS; i++)
        probity_fleet_put_text(batch, texts[i], strlen(texts[i]));
}

void probity_fleet_sql_sites(FILE *stream, const struct probity_fleet_range *range)
{
    struct probity_fleet_range whole = *range;

    whole.from_ns = whole.to_ns = 0;
    whole.functions = NULL;
    fprintf(stream, "SELECT run, listed, kind, number, line, level, flags, hits, name, file, "
            "within, signature, object FROM %s WHERE ",
            probity_fleet_tables[PROBITY_FLEET_SITES].name);
    probity_fleet_sql_condition(stream, &whole, "", 1);
    fputs(" ORDER BY run, site, version DESC LIMIT 1 BY run, site", stream);
}

/* Copies the texts, zero-terminated. The caller frees the memory. Returns NULL if out of memory. */
static char *copy_texts(struct probity_fleet_answer *answer, struct probity_listed_site *site)
{
    const char **const to[TEXTS] = {&site->name, &site->file, &site->within, &site->signature,
                                    &site->object};
    const char *from[TEXTS];
    size_t lengths[TEXTS], bytes = 0;

    for (size_t i = 0; i < TEXTS; i++) {
        from[i] = probity_fleet_take_text(answer, &lengths[i]);
        bytes += lengths[i] + 1;
    }
    char *copy = malloc(bytes), *at = copy;
    for (size_t i = 0; copy != NULL && i < TEXTS; i++) {
        memcpy(at, from[i], lengths[i]);
        at[lengths[i]] = '\0';
        *to[i] = at;
        at += lengths[i] + 1;
    }
    return copy;
}

int probity_fleet_take_sites(const struct probity_fleet_sums *sums,
                             struct probity_fleet_answer *answer, probity_fleet_take_site *take,
                             void *context)
{
    int error = 0;

    while (error == 0 && !probity_fleet_answer_is_over(answer)) {
        struct probity_fleet_site row = {.is_listed = 0};
        struct probity_listed_site *site = &row.site;
        size_t index = 0;
        error = probity_fleet_run_at(sums, probity_fleet_take_number(answer, 8), &index);
        site->trace = (uint32_t)index;
        row.is_listed = probity_fleet_take_number(answer, 1) != 0;
        site->kind = (uint32_t)probity_fleet_take_number(answer, 1);
        site->number = (uint32_t)probity_fleet_take_number(answer, 4);
        site->line = (uint32_t)probity_fleet_take_number(answer, 4);
        site->level = (uint32_t)probity_fleet_take_number(answer, 4);
        uint64_t flags = probity_fleet_take_number(answer, 1);
        site->is_cxx = (flags & FLAG_CXX) != 0;
        site->is_deferred = (flags & FLAG_DEFERRED) != 0;
        row.hits = probity_fleet_take_number(answer, 8);
        site->returns = "";
        char *texts = copy_texts(answer, site);
        if (answer->is_bad || error != 0 || site->kind > PROBITY_LISTED_FUNCTION)
            error = PROBITY_ERROR_FORMAT;
        else
            error = texts != NULL ? take(context, &row) : PROBITY_ERROR_MEMORY;
        free(texts);
    }
    return error == 0 && answer->is_bad ? PROBITY_ERROR_FORMAT : error;
}
