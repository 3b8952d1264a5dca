/* SPDX-License-Identifier: MIT
 *
 * coverage.c: traces count hits by the number of a site, this file by its name and source location.
 * The declarations in a trace, and its list of sites, map one to the other.
 */
#include "answers/list/coverage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/hashtable.h"
#include "probity.h"

/* A location of a numbered probe, not a site. */
enum { PLACE = 0 };

struct site_item {
    struct probity_link link;
    struct probity_coverage_site site;
    int is_joined;    /* counted with another item */
    char *given_name; /* a numbered probe's name, or NULL */
    char *object;     /* only from the list, else NULL */
    char texts[];
};

struct counter {
    struct probity_link link;
    uint64_t key; /* trace, kind of number, number */
    uint64_t hits, counted;
    uint64_t off_ns; /* when the site was switched off; 0: it is on */
    struct site_item *item; /* NULL: not declared yet */
};

struct probity_coverage {
    uint64_t from_ns, to_ns;
    struct probity_hashtable counters;
    const struct probity_coverage_site **sites;
    struct probity_hashtable items;
};

/* ---- Sites -------------------------------------------------------------------------------------
 */

/* Identity of a site; for a numbered probe, just its number. */
struct identity {
    uint32_t kind, line, number;
    const char *name, *file, *within, *signature, *object;
};

static uint64_t hash_of(const struct identity *identity)
{
    uint64_t hash = identity->number;

    if (identity->kind != PROBITY_LISTED_NUMBERED) {
        hash = probity_hash_text(identity->line, identity->name);
        hash = probity_hash_text(hash, identity->file);
        hash = probity_hash_text(hash, identity->within);
    }
    return probity_hash(hash);
}

/* Traces do not record which library a named site is in, so all libraries count as one. */
static int is_same(const struct probity_coverage_site *site, const struct identity *identity,
                   int whatever_object)
{
    if (site->kind != identity->kind || site->kind == PROBITY_LISTED_NUMBERED)
        return site->kind == identity->kind && site->number == identity->number;
    return site->line == identity->line && strcmp(site->name, identity->name) == 0 &&
           strcmp(site->file, identity->file) == 0 &&
           strcmp(site->within, identity->within) == 0 &&
           strcmp(site->signature, identity->signature) == 0 &&
           (whatever_object || site->kind != PROBITY_LISTED_FUNCTION ||
            strcmp(site->object, identity->object) == 0);
}

static struct site_item *make_item(const struct identity *identity)
{
    const char *from[] = {identity->name, identity->file, identity->within, identity->signature,
                          identity->object};
    enum { TEXTS = sizeof from / sizeof *from };
    const char *to[TEXTS];
    size_t bytes = 0;

    for (int i = 0; i < TEXTS; i++)
        bytes += strlen(from[i]) + 1;
    struct site_item *item = calloc(1, sizeof *item + bytes);
    if (item == NULL)
        return NULL;
    char *at = item->texts;
    for (int i = 0; i < TEXTS; i++) {
        size_t length = strlen(from[i]) + 1;
        memcpy(at, from[i], length);
        to[i] = at;
        at += length;
    }
    item->site = (struct probity_coverage_site){
        .kind = identity->kind, .line = identity->line, .number = identity->number,
        .name = to[0], .file = to[1], .within = to[2], .signature = to[3], .object = to[4]};
    return item;
}

static struct site_item *find_item(struct probity_coverage *coverage,
                                   const struct identity *identity)
{
    uint64_t hash = hash_of(identity);
    struct site_item *item = probity_hashtable_at(&coverage->items, hash);

    while (item != NULL && !is_same(&item->site, identity, 0))
        item = (void *)item->link.next;
    if (item != NULL)
        return item;
    item = make_item(identity);
    if (item != NULL && probity_hashtable_add(&coverage->items, item, hash) != 0) {
        free(item);
        return NULL;
    }
    return item;
}

static struct site_item *function_item(struct probity_coverage *coverage,
                                       const struct probity_function *function)
{
    const struct identity identity = {.kind = PROBITY_LISTED_FUNCTION,
                                      .line = function->line,
                                      .name = function->name,
                                      .file = function->file,
                                      .within = "",
                                      .signature = function->signature,
                                      .object = function->object};
    struct site_item *item = find_item(coverage, &identity);

    if (item != NULL) {
        item->site.level = function->level;
        item->site.is_cxx = function->is_cxx;
        item->site.is_deferred = function->is_deferred;
        item->site.has_entries_only = function->has_entries_only;
    }
    return item;
}

/* A numbered probe may be in many places, and every trace of the program lists them. The first one
 * by file and line is shown. */
static int add_place(struct probity_coverage *coverage, struct probity_coverage_site *site,
                     const struct probity_listed_site *listed)
{
    char number[24];
    const struct identity identity = {.kind = PLACE,
                                      .line = listed->line,
                                      .name = number,
                                      .file = listed->file,
                                      .within = listed->within,
                                      .signature = "",
                                      .object = listed->object};

    snprintf(number, sizeof number, "%" PRIu32, listed->number);
    struct site_item *place = find_item(coverage, &identity);
    if (place == NULL)
        return PROBITY_ERROR_MEMORY;
    if (place->site.places++ > 0)
        return 0;
    int order = strcmp(place->site.file, site->file);
    if (site->places++ > 0 && (order > 0 || (order == 0 && place->site.line >= site->line)))
        return 0;
    site->line = place->site.line;
    site->file = place->site.file;
    site->within = place->site.within;
    site->object = place->site.object;
    return 0;
}

/* ---- Numbers -----------------------------------------------------------------------------------
 */

static struct counter *add_counter(struct probity_coverage *coverage, uint64_t key)
{
    struct counter *counter = calloc(1, sizeof *counter);

    if (counter != NULL &&
        probity_hashtable_add(&coverage->counters, counter, probity_hash(key)) != 0) {
        free(counter);
        return NULL;
    }
    if (counter != NULL)
        counter->key = key;
    return counter;
}

/* Returns NULL if out of memory. */
static struct counter *counter_of(struct probity_coverage *coverage, uint32_t trace, int is_site,
                                  uint32_t number)
{
    uint64_t key = (uint64_t)trace << 33 | (uint64_t)(is_site != 0) << 32 | number;
    struct counter *counter = probity_hashtable_at(&coverage->counters, probity_hash(key));

    while (counter != NULL && counter->key != key)
        counter = (void *)counter->link.next;
    return counter != NULL ? counter : add_counter(coverage, key);
}

/* ---- Events ------------------------------------------------------------------------------------
 */

/* The maximum size of texts in an event. */
enum { TEXT_BYTES = 2048 };

/* Reads a text after its u16 length into `ret_text`, zero-terminated. Returns the address after it,
 * or NULL. */
static const uint8_t *take_text(const uint8_t *at, const uint8_t *end, char ret_text[TEXT_BYTES])
{
    if (at == NULL || end - at < 2)
        return NULL;
    size_t length = probity_get_u16(at);
    if (length > (size_t)(end - at) - 2 || length >= TEXT_BYTES)
        return NULL;
    memcpy(ret_text, at + 2, length);
    ret_text[length] = '\0';
    return at + 2 + length;
}

/* Only the first declaration of a number counts. */
static int declare_site(struct probity_coverage *coverage, const struct probity_event *event)
{
    char name[TEXT_BYTES], file[TEXT_BYTES], within[TEXT_BYTES];
    const uint8_t *at = event->payload, *end = at + event->payload_bytes;

    if (event->payload_bytes < 8)
        return 0;
    uint32_t line = probity_get_u32(at + 4);
    struct counter *counter = counter_of(coverage, event->trace, 1, probity_get_u32(at));
    if (counter == NULL)
        return PROBITY_ERROR_MEMORY;
    at = take_text(at + 8, end, name);
    at = take_text(at, end, file);
    if (counter->item != NULL || take_text(at, end, within) == NULL)
        return 0;
    const struct identity identity = {.kind = PROBITY_LISTED_NAMED,
                                      .line = line,
                                      .name = name,
                                      .file = file,
                                      .within = within,
                                      .signature = "",
                                      .object = ""};
    counter->item = find_item(coverage, &identity);
    return counter->item != NULL ? 0 : PROBITY_ERROR_MEMORY;
}

static struct site_item *number_item(struct probity_coverage *coverage, uint32_t number)
{
    const struct identity identity = {.kind = PROBITY_LISTED_NUMBERED,
                                      .number = number,
                                      .name = "",
                                      .file = "",
                                      .within = "",
                                      .signature = "",
                                      .object = ""};

    return find_item(coverage, &identity);
}

/* Called for the first hit of a numbered probe, and for its first hit after it was named. Keeps the
 * first name. */
static __attribute__((noinline)) int take_number(struct probity_coverage *coverage,
                                                 struct counter *counter,
                                                 const struct probity_event *event)
{
    struct site_item *item =
        counter->item != NULL ? counter->item : number_item(coverage, event->id);

    if (item == NULL)
        return PROBITY_ERROR_MEMORY;
    counter->item = item;
    if (event->name == NULL || item->given_name != NULL)
        return 0;
    item->given_name = strndup(event->name, event->name_bytes);
    if (item->given_name == NULL)
        return PROBITY_ERROR_MEMORY;
    item->site.name = item->given_name;
    return 0;
}

static int take_hit(struct probity_coverage *coverage, const struct probity_event *event)
{
    struct counter *counter = counter_of(coverage, event->trace, event->is_site, event->id);

    if (counter == NULL)
        return PROBITY_ERROR_MEMORY;
    counter->hits++;
    if (event->is_site || (counter->item != NULL &&
                           (event->name == NULL || counter->item->given_name != NULL)))
        return 0;
    return take_number(coverage, counter, event);
}

static int take_calls(struct probity_coverage *coverage, uint32_t trace, uint32_t number,
                      const struct probity_function *function, uint64_t calls, uint64_t counted)
{
    struct counter *counter = counter_of(coverage, trace, 1, number);

    if (counter == NULL)
        return PROBITY_ERROR_MEMORY;
    counter->hits += calls;
    counter->counted += counted;
    if (counter->item == NULL && function != NULL) {
        counter->item = function_item(coverage, function);
        if (counter->item == NULL)
            return PROBITY_ERROR_MEMORY;
    }
    return 0;
}

static int is_within(const struct probity_coverage *coverage, uint64_t wall_ns)
{
    return (coverage->from_ns == 0 && coverage->to_ns == 0) ||
           (wall_ns >= coverage->from_ns && (coverage->to_ns == 0 || wall_ns < coverage->to_ns));
}

static int take_budget(struct probity_coverage *coverage, const struct probity_event *event)
{
    /* Relaxed: the thread that reads ahead may set it at the same time. */
    if (event->function == NULL ||
        !__atomic_load_n(&event->function->is_least, __ATOMIC_RELAXED))
        return 0;
    struct site_item *item = function_item(coverage, event->function);
    if (item == NULL)
        return PROBITY_ERROR_MEMORY;
    item->site.is_least = 1;
    return 0;
}

/* If the site was off in the range, there were more hits than those recorded. */
static void end_off(const struct probity_coverage *coverage, struct counter *counter,
                    uint64_t until_ns)
{
    int is_in = counter->off_ns != 0 && until_ns > coverage->from_ns &&
                (coverage->to_ns == 0 || counter->off_ns < coverage->to_ns);

    if (is_in && counter->item != NULL)
        counter->item->site.is_least = 1;
    counter->off_ns = 0;
}

static int take_switched(struct probity_coverage *coverage, const struct probity_event *event)
{
    int is_off = event->payload_bytes >= 4 && probity_get_u32(event->payload) == 0;

    for (size_t at = 4; at + 4 <= event->payload_bytes; at += 4) {
        struct counter *counter =
            counter_of(coverage, event->trace, 1, probity_get_u32(event->payload + at));
        if (counter == NULL)
            return PROBITY_ERROR_MEMORY;
        if (is_off && counter->off_ns == 0)
            counter->off_ns = event->wall_ns;
        else if (!is_off)
            end_off(coverage, counter, event->wall_ns);
    }
    return 0;
}

int probity_coverage_put(struct probity_coverage *coverage, const struct probity_event *event)
{
    /* A function with FN_ENTRY appears in the trace only when it reaches a checkpoint. */
    int is_late_call = event->kind == PROBITY_EVENT_CHECKPOINT && event->entered_tick != 0;

    if (event->kind == PROBITY_EVENT_SITE)
        return declare_site(coverage, event);
    if (event->kind == PROBITY_EVENT_BUDGET)
        return take_budget(coverage, event);
    if (event->kind == PROBITY_EVENT_SITES_SWITCHED)
        return take_switched(coverage, event);
    if (!is_within(coverage, is_late_call ? event->entered_wall_ns : event->wall_ns))
        return 0;
    if (event->kind == PROBITY_EVENT_HIT)
        return take_hit(coverage, event);
    if (event->kind != PROBITY_EVENT_ENTER && event->kind != PROBITY_READER_ENTRY && !is_late_call)
        return 0;
    return take_calls(coverage, event->trace,
                      event->function != NULL ? event->function->number : event->id,
                      event->function, 1, 0);
}

int probity_coverage_add_profiled(struct probity_coverage *coverage,
                                  const struct probity_profiled *profiled)
{
    return take_calls(coverage, profiled->trace, profiled->number, profiled->function,
                      profiled->calls, profiled->counted);
}

/* The declaration of a named site does not include its library. */
static int set_object(struct site_item *item, const char *object)
{
    if (item->site.kind != PROBITY_LISTED_NAMED || strcmp(item->site.object, object) == 0)
        return 0;
    item->object = strdup(object);
    if (item->object == NULL)
        return PROBITY_ERROR_MEMORY;
    item->site.object = item->object;
    return 0;
}

int probity_coverage_list(struct probity_coverage *coverage,
                          const struct probity_listed_site *listed)
{
    const struct identity identity = {.kind = listed->kind,
                                      .line = listed->line,
                                      .number = listed->number,
                                      .name = listed->name,
                                      .file = listed->file,
                                      .within = listed->within,
                                      .signature = listed->signature,
                                      .object = listed->object};
    struct site_item *item = find_item(coverage, &identity);

    if (item == NULL)
        return PROBITY_ERROR_MEMORY;
    if (!item->site.is_listed && set_object(item, listed->object) != 0)
        return PROBITY_ERROR_MEMORY;
    item->site.is_listed = 1;
    item->site.level = listed->level;
    item->site.is_cxx = listed->is_cxx;
    item->site.is_deferred = listed->is_deferred;
    return listed->kind == PROBITY_LISTED_NUMBERED ? add_place(coverage, &item->site, listed) : 0;
}

/* ---- Finishing ---------------------------------------------------------------------------------
 */

/* Returns the item of a site whose declaration was lost or did not fit in memory. */
static struct site_item *lost_item(struct probity_coverage *coverage, uint32_t number)
{
    char name[24];

    snprintf(name, sizeof name, "site-%" PRIu32, number);
    const struct identity identity = {.kind = PROBITY_LISTED_NAMED,
                                      .name = name,
                                      .file = "",
                                      .within = "",
                                      .signature = "",
                                      .object = ""};
    return find_item(coverage, &identity);
}

int probity_coverage_add_calls(struct probity_coverage *coverage,
                               const struct probity_coverage_calls *calls)
{
    struct site_item *item = calls->function != NULL ? function_item(coverage, calls->function)
                                                     : lost_item(coverage, calls->number);

    if (item == NULL)
        return PROBITY_ERROR_MEMORY;
    item->site.hits += calls->calls;
    item->site.counted += calls->counted;
    item->site.has_entries_only |= calls->has_entries_only;
    item->site.is_least |= calls->is_least;
    return 0;
}

int probity_coverage_add_hits(struct probity_coverage *coverage,
                              const struct probity_listed_site *probe, uint64_t hits)
{
    int is_number = probe->kind == PROBITY_LISTED_NUMBERED;
    const struct identity identity = {.kind = PROBITY_LISTED_NAMED,
                                      .line = probe->line,
                                      .name = probe->name,
                                      .file = probe->file,
                                      .within = probe->within,
                                      .signature = "",
                                      .object = ""};
    struct site_item *item = is_number ? number_item(coverage, probe->number)
                                       : find_item(coverage, &identity);

    if (item == NULL)
        return PROBITY_ERROR_MEMORY;
    item->site.hits += hits;
    if (!is_number || *probe->name == '\0' || item->given_name != NULL)
        return 0;
    item->given_name = strdup(probe->name);
    if (item->given_name == NULL)
        return PROBITY_ERROR_MEMORY;
    item->site.name = item->given_name;
    return 0;
}

static int add_hits(struct probity_coverage *coverage)
{
    struct counter *counter = NULL;

    while ((counter = probity_hashtable_next(&coverage->counters, counter)) != NULL) {
        if (counter->hits == 0)
            continue;
        if (counter->item == NULL)
            counter->item = lost_item(coverage, (uint32_t)counter->key);
        if (counter->item == NULL)
            return PROBITY_ERROR_MEMORY;
        counter->item->site.hits += counter->hits;
        counter->item->site.counted += counter->counted;
        counter->hits = counter->counted = 0;
    }
    return 0;
}

/* If several libraries contain an inline function, the dynamic linker picks one copy, so the
 * library in the declaration may differ from the one in the list. */
static void join_function(struct probity_coverage *coverage, struct site_item *item)
{
    const struct probity_coverage_site *site = &item->site;
    const struct identity identity = {.kind = site->kind,
                                      .line = site->line,
                                      .name = site->name,
                                      .file = site->file,
                                      .within = site->within,
                                      .signature = site->signature,
                                      .object = site->object};
    struct site_item *other = probity_hashtable_at(&coverage->items, hash_of(&identity));

    while (other != NULL && !(other->site.is_listed && is_same(&other->site, &identity, 1)))
        other = (void *)other->link.next;
    if (other == NULL)
        return;
    other->site.hits += site->hits;
    other->site.counted += site->counted;
    other->site.is_least |= site->is_least;
    item->is_joined = 1;
}

int probity_coverage_finish(struct probity_coverage *coverage,
                            const struct probity_coverage_site ***ret_sites, size_t *ret_count)
{
    struct counter *counter = NULL;
    size_t count = 0;
    int error = add_hits(coverage);

    while ((counter = probity_hashtable_next(&coverage->counters, counter)) != NULL)
        end_off(coverage, counter, UINT64_MAX);
    free(coverage->sites);
    coverage->sites = calloc(coverage->items.items + 1, sizeof *coverage->sites);
    if (error != 0 || coverage->sites == NULL)
        return PROBITY_ERROR_MEMORY;
    struct site_item *item = NULL;
    while ((item = probity_hashtable_next(&coverage->items, item)) != NULL) {
        if (!item->site.is_listed && item->site.kind == PROBITY_LISTED_FUNCTION)
            join_function(coverage, item);
        if (!item->is_joined && (item->site.is_listed || item->site.hits > 0))
            coverage->sites[count++] = &item->site;
    }
    *ret_sites = coverage->sites;
    *ret_count = count;
    return 0;
}

struct probity_coverage_total
probity_coverage_total(const struct probity_coverage_site *const *sites, size_t count)
{
    struct probity_coverage_total total = {0};

    for (size_t i = 0; i < count; i++) {
        total.listed += sites[i]->is_listed != 0;
        total.hit += sites[i]->is_listed && sites[i]->hits > 0;
        total.besides += !sites[i]->is_listed;
    }
    return total;
}

int probity_coverage_open(uint64_t from_ns, uint64_t to_ns, struct probity_coverage **ret_coverage)
{
    struct probity_coverage *coverage = calloc(1, sizeof *coverage);

    if (coverage == NULL)
        return PROBITY_ERROR_MEMORY;
    coverage->from_ns = from_ns;
    coverage->to_ns = to_ns;
    *ret_coverage = coverage;
    return 0;
}

void probity_coverage_close(struct probity_coverage *coverage)
{
    struct site_item *item;

    while ((item = probity_hashtable_take(&coverage->items)) != NULL) {
        free(item->given_name);
        free(item->object);
        free(item);
    }
    void *counter;
    while ((counter = probity_hashtable_take(&coverage->counters)) != NULL)
        free(counter);
    free(coverage->sites);
    free(coverage);
}
