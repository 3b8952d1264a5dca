/* SPDX-License-Identifier: MIT
 *
 * coverage_sort.c: sorts a list of sites. Sites with equal keys are sorted by location, so that
 * every order is reproducible.
 */
#include <stdlib.h>
#include <string.h>

#include "answers/list/coverage.h"
#include "probity.h"

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Sorts the executable first and sites without a location last. */
static int compare_places(const struct probity_coverage_site *a,
                          const struct probity_coverage_site *b)
{
    int order = compare_numbers(a->file[0] == '\0', b->file[0] == '\0');

    order = order != 0 ? order : strcmp(a->object, b->object);
    order = order != 0 ? order : strcmp(a->file, b->file);
    order = order != 0 ? order : compare_numbers(a->line, b->line);
    order = order != 0 ? order : compare_numbers(a->kind, b->kind);
    order = order != 0 ? order : compare_numbers(a->number, b->number);
    order = order != 0 ? order : strcmp(a->name, b->name);
    order = order != 0 ? order : strcmp(a->within, b->within);
    return order != 0 ? order : strcmp(a->signature, b->signature);
}

static int compare_names(const struct probity_coverage_site *a,
                         const struct probity_coverage_site *b)
{
    int is_number_a = a->kind == PROBITY_LISTED_NUMBERED;
    int is_number_b = b->kind == PROBITY_LISTED_NUMBERED;

    if (is_number_a != is_number_b)
        return is_number_b - is_number_a;
    return is_number_a ? compare_numbers(a->number, b->number) : strcmp(a->name, b->name);
}

static int by_place(const void *left, const void *right)
{
    const struct probity_coverage_site *const *a = left, *const *b = right;

    return compare_places(*a, *b);
}

static int by_hits(const void *left, const void *right)
{
    const struct probity_coverage_site *const *a = left, *const *b = right;
    int order = compare_numbers((*b)->hits, (*a)->hits);

    return order != 0 ? order : compare_places(*a, *b);
}

static int by_name(const void *left, const void *right)
{
    const struct probity_coverage_site *const *a = left, *const *b = right;
    int order = compare_names(*a, *b);

    return order != 0 ? order : compare_places(*a, *b);
}

static int by_kind(const void *left, const void *right)
{
    const struct probity_coverage_site *const *a = left, *const *b = right;
    int order = compare_numbers((*a)->kind, (*b)->kind);

    return order != 0 ? order : compare_places(*a, *b);
}

/* Sorts functions by level, before sites, which have no level. */
static int by_level(const void *left, const void *right)
{
    const struct probity_coverage_site *const *a = left, *const *b = right;
    int order = compare_numbers((*a)->kind != PROBITY_LISTED_FUNCTION,
                                (*b)->kind != PROBITY_LISTED_FUNCTION);

    order = order != 0 ? order : compare_numbers((*a)->level, (*b)->level);
    return order != 0 ? order : compare_places(*a, *b);
}

void probity_coverage_sort(const struct probity_coverage_site **sites, size_t count,
                           enum probity_coverage_key key)
{
    static int (*const orders[PROBITY_COVERAGE_KEYS])(const void *, const void *) = {
        [PROBITY_COVERAGE_PLACE] = by_place, [PROBITY_COVERAGE_HITS] = by_hits,
        [PROBITY_COVERAGE_NAME] = by_name,   [PROBITY_COVERAGE_KIND] = by_kind,
        [PROBITY_COVERAGE_LEVEL] = by_level};

    if (count > 1)
        qsort(sites, count, sizeof *sites, orders[key]);
}
