/* SPDX-License-Identifier: MIT
 *
 * coverage.h: the sites that are compiled in, with their hit counts. Sites with equal names are
 * merged across traces. Memory: one entry per site, and per number that a trace uses for it. Prints
 * nothing.
 */
#ifndef PROBITY_ANSWERS_LIST_COVERAGE_H
#define PROBITY_ANSWERS_LIST_COVERAGE_H

#include <stddef.h>
#include <stdint.h>

#include "reader/reader.h"

/* A named site or function at one source location, or a numbered probe at any. Texts are never
 * NULL. */
struct probity_coverage_site {
    uint32_t kind;   /* PROBITY_LISTED_NAMED, _NUMBERED or _FUNCTION */
    int is_listed;   /* 0: known only from its hits */
    uint32_t line, number, level;
    uint32_t places; /* of a numbered probe: number of locations; the first is shown */
    int is_cxx, is_deferred;
    const char *name; /* a numbered probe's name in the program, or "" */
    const char *file, *within, *signature, *object;
    uint64_t hits; /* for a function, its calls */
    uint64_t counted; /* those only counted because of PROBITY_BUDGET */
    int has_entries_only; /* of a function: the ends of its calls are not recorded */
    int is_least;     /* `hits` is a lower bound: the budget removed the hooks, or the site was
                       * switched off */
};

struct probity_coverage;

/* Counts hits in [from_ns, to_ns) of CLOCK_REALTIME; both 0: all. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_coverage_open(uint64_t from_ns, uint64_t to_ns, struct probity_coverage **ret_coverage);

/* Takes the next event in time order: counts hits and scopes, and stores declared sites. Returns 0
 * or PROBITY_ERROR_MEMORY. */
int probity_coverage_put(struct probity_coverage *coverage, const struct probity_event *event);

/* Adds the counts of profile mode. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_coverage_add_profiled(struct probity_coverage *coverage,
                                  const struct probity_profiled *profiled);

/* A function's calls that were counted elsewhere. */
struct probity_coverage_calls {
    const struct probity_function *function; /* NULL: its declaration was lost */
    uint32_t number;                         /* of its site, if the declaration was lost */
    uint64_t calls, counted;
    int has_entries_only, is_least;
};

/* Adds calls. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_coverage_add_calls(struct probity_coverage *coverage,
                               const struct probity_coverage_calls *calls);

/* Adds hits of a probe that were counted elsewhere. A named probe is identified by name and
 * location, a numbered one by its number; the name, if not empty, is added. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_coverage_add_hits(struct probity_coverage *coverage,
                              const struct probity_listed_site *probe, uint64_t hits);

/* Adds a site that is compiled in. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_coverage_list(struct probity_coverage *coverage,
                          const struct probity_listed_site *site);

/* In the order in which --sort lists them. */
enum probity_coverage_key {
    PROBITY_COVERAGE_PLACE, /* library, file, line */
    PROBITY_COVERAGE_HITS,  /* largest first */
    PROBITY_COVERAGE_NAME,  /* numbers, then names */
    PROBITY_COVERAGE_KIND,
    PROBITY_COVERAGE_LEVEL,
    PROBITY_COVERAGE_KEYS
};

/* Call after the last put. The sites belong to `coverage`, the array to the caller. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_coverage_finish(struct probity_coverage *coverage,
                            const struct probity_coverage_site ***ret_sites, size_t *ret_count);

void probity_coverage_sort(const struct probity_coverage_site **sites, size_t count,
                           enum probity_coverage_key key);

struct probity_coverage_total {
    uint64_t listed, hit; /* hit: number of listed sites that were hit */
    uint64_t besides;     /* sites that were hit but are not listed */
};

struct probity_coverage_total
probity_coverage_total(const struct probity_coverage_site *const *sites, size_t count);

void probity_coverage_close(struct probity_coverage *coverage);

#endif
