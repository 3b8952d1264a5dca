/* SPDX-License-Identifier: MIT
 *
 * hits.c: each hit ends a span and begins the next. The output must not depend on hashes, addresses
 * or the time of day, as in rows.c.
 */
#include "fleet/hits.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/histogram.h"
#include "analysis/request_flow.h"
#include "base/array_grow.h"
#include "base/hash.h"
#include "fleet/numbers.h"
#include "fleet/open_sums.h"
#include "probity.h"

#define MINUTE_NS PROBITY_FLEET_MINUTE_NS

enum { RECENT = 64, FLAG_CPU = 1, FLAG_PREVIOUS = 2, VERSION_NAMED = 1 };

struct span_sums {
    struct probity_fleet_open open; /* owner: pair */
    struct pair *pair;
    uint64_t spans, wall_ns, cpu_spans, cpu_ns, cpu_wall_ns, min_ns, max_ns;
    struct probity_histogram durations;
};

/* Two probes that are hit in succession in a thread. */
struct pair {
    struct probity_link link;
    struct probe *from, *to;
    uint32_t slot, thread;
    struct probity_fleet_open *sums;
};

struct probe {
    struct probity_probe probe; /* must be first */
    struct probe *next;         /* in order of appearance */
    uint64_t number;            /* number in the database; 0: no row yet */
    int is_named;               /* its row includes its name */
    struct pair *recent[RECENT];
};

struct last {
    struct probe *probe; /* NULL: no hit yet, or records were dropped after it */
    uint64_t wall_ns, cpu_ns;
    int is_cpu_known;
    uint32_t thread;
};

/* The time from one hit to another. */
struct span {
    uint64_t start_ns, wall_ns, cpu_ns;
    int is_cpu_known;
};

struct probity_fleet_hits {
    struct probity_fleet_hits_options options;
    struct probity_probes probes;
    struct probe *first_probe, **last_probe;
    struct last *last; /* by thread slot */
    uint32_t last_count;
    struct probity_inflight ids;
    struct probity_hashtable pairs;
    struct probity_fleet_open_list sums; /* sums by minute */
    uint64_t minute; /* minute in which the latest span ended */
    struct probity_fleet_histogram_list list;
};

/* ---- Probes ------------------------------------------------------------------------------------
 */

uint64_t probity_fleet_probe(const struct probity_probe *probe)
{
    const uint8_t kind = probe->is_site != 0;
    uint64_t hash = probity_fleet_hash(PROBITY_FLEET_HASH_SEED, &kind, 1);

    return probe->is_site ? probity_fleet_hash(hash, probe->text, strlen(probe->text) + 1)
                          : probity_fleet_hash(hash, &probe->number, sizeof probe->number);
}

static void put_probe(struct probity_fleet_hits *hits, struct probe *probe, unsigned version)
{
    struct probity_fleet_output *output = hits->options.output;
    struct probity_fleet_batch *batch = &output->batches[PROBITY_FLEET_PROBES];
    const struct probity_probe *of = &probe->probe;
    const char *name = of->is_site ? of->text : of->name != NULL ? of->name : "";

    probity_fleet_put(batch, hits->options.run);
    probity_fleet_put(batch, probe->number);
    probity_fleet_put(batch, version);
    probity_fleet_put(batch, of->is_site != 0);
    probity_fleet_put(batch, of->is_site ? 0 : of->number);
    probity_fleet_put_text(batch, name, strlen(name));
    probe->is_named = of->is_site || of->name != NULL;
    probity_fleet_output_pass_large(output, PROBITY_FLEET_PROBES);
}

/* Returns NULL if out of memory. */
static struct probe *probe_of(struct probity_fleet_hits *hits, const struct probity_event *event)
{
    struct probe *probe = (void *)probity_probes_of(&hits->probes, event);

    if (__builtin_expect(probe == NULL || probe->number != 0, 1))
        return probe;
    probe->number = probity_fleet_probe(&probe->probe);
    *hits->last_probe = probe;
    hits->last_probe = &probe->next;
    put_probe(hits, probe, 0);
    return probe;
}

/* ---- Sums of minutes ---------------------------------------------------------------------------
 */

static void put_sums(struct probity_fleet_hits *hits, const struct span_sums *sums)
{
    struct probity_fleet_output *output = hits->options.output;
    const struct pair *pair = sums->pair;
    uint64_t day = hits->minute / PROBITY_FLEET_DAY_MINUTES;
    struct probity_fleet_batch *batch =
        probity_fleet_output_row(output, PROBITY_FLEET_BLOCK_MINUTES, &day);
    const uint64_t values[] = {
        day, hits->options.run, output->blocks[PROBITY_FLEET_BLOCK_MINUTES],
        probity_fleet_open_seconds(sums->open.period, 1), pair->from->number,
        pair->to->number, pair->thread, sums->spans, sums->wall_ns, sums->cpu_spans, sums->cpu_ns,
        sums->cpu_wall_ns, sums->min_ns, sums->max_ns};
    size_t count = probity_fleet_list_histogram(&sums->durations, &hits->list);

    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        probity_fleet_put(batch, values[i]);
    probity_fleet_put_array(batch, hits->list.buckets, count);
    probity_fleet_put_array(batch, hits->list.counts, count);
}

static void end_sums(void *hits, struct probity_fleet_open *open, int is_put)
{
    struct span_sums *sums = (struct span_sums *)open;

    if (is_put)
        put_sums(hits, sums);
    probity_histogram_release(&sums->durations);
}

/* Finds or adds the sums of spans that began in this minute. Returns NULL if out of memory. */
static struct span_sums *sums_at(struct probity_fleet_hits *hits, struct pair *pair,
                                 uint64_t minute)
{
    struct span_sums *sums = probity_fleet_open_find(pair->sums, minute);

    if (__builtin_expect(sums != NULL, 1))
        return sums;
    sums = probity_fleet_open_add(&hits->sums, &pair->sums, minute);
    if (sums != NULL) {
        sums->pair = pair;
        sums->min_ns = UINT64_MAX;
    }
    return sums;
}

static int add_span(struct probity_fleet_hits *hits, struct pair *pair, const struct span *span,
                    uint64_t end_ns)
{
    if (__builtin_expect(end_ns / MINUTE_NS > hits->minute, 0)) {
        probity_fleet_open_end(&hits->sums, 1);
        hits->minute = end_ns / MINUTE_NS;
    }
    struct span_sums *sums = sums_at(hits, pair, span->start_ns / MINUTE_NS);
    if (sums == NULL)
        return PROBITY_ERROR_MEMORY;
    sums->spans++;
    sums->wall_ns += span->wall_ns;
    if (span->is_cpu_known) {
        sums->cpu_spans++;
        sums->cpu_ns += span->cpu_ns;
        sums->cpu_wall_ns += span->wall_ns;
    }
    sums->min_ns = span->wall_ns < sums->min_ns ? span->wall_ns : sums->min_ns;
    sums->max_ns = span->wall_ns > sums->max_ns ? span->wall_ns : sums->max_ns;
    return probity_histogram_add(&sums->durations, span->wall_ns);
}

/* ---- Spans -------------------------------------------------------------------------------------
 */

static __attribute__((noinline)) struct pair *find_pair(struct probity_fleet_hits *hits,
                                                        struct probe *from, struct probe *to,
                                                        const struct probity_event *event)
{
    uint64_t places = (uint64_t)from->probe.place << 32 | to->probe.place;
    uint64_t hash = probity_hash(probity_hash(places) ^ event->thread_slot);
    struct pair *pair = probity_hashtable_at(&hits->pairs, hash);

    while (pair != NULL && (pair->from != from || pair->to != to ||
                            pair->slot != event->thread_slot))
        pair = (struct pair *)pair->link.next;
    if (pair != NULL)
        return pair;
    pair = calloc(1, sizeof *pair);
    if (pair == NULL || probity_hashtable_add(&hits->pairs, pair, hash) != 0) {
        free(pair);
        return NULL;
    }
    pair->from = from;
    pair->to = to;
    pair->slot = event->thread_slot;
    pair->thread = event->thread;
    return pair;
}

static inline struct pair *pair_at(struct probity_fleet_hits *hits, struct probe *from,
                                   struct probe *to, const struct probity_event *event)
{
    uint32_t slot = event->thread_slot;
    struct pair **recent = &from->recent[(to->probe.place + 7 * slot) % RECENT];

    if (__builtin_expect(*recent == NULL || (*recent)->to != to || (*recent)->slot != slot, 0))
        *recent = find_pair(hits, from, to, event);
    return *recent;
}

/* Returns the span since the last hit. If CLOCK_REALTIME was set back in between, it counts as 0,
 * as in `probity blocks`. */
static inline struct span span_of(const struct last *last, const struct probity_event *event)
{
    struct span span = {.start_ns = last->wall_ns};

    span.wall_ns = event->wall_ns > last->wall_ns ? event->wall_ns - last->wall_ns : 0;
    span.is_cpu_known = event->cpu_known && last->is_cpu_known;
    if (span.is_cpu_known && event->cpu_ns > last->cpu_ns)
        span.cpu_ns = event->cpu_ns - last->cpu_ns;
    return span;
}

static void put_span(struct probity_fleet_hits *hits, const struct pair *pair,
                     const struct span *span, uint64_t end_ns)
{
    struct probity_fleet_output *output = hits->options.output;
    uint64_t day = end_ns / MINUTE_NS / PROBITY_FLEET_DAY_MINUTES;
    struct probity_fleet_batch *batch =
        probity_fleet_output_row(output, PROBITY_FLEET_BLOCKS, &day);
    const uint64_t values[] = {
        day, hits->options.run, output->blocks[PROBITY_FLEET_BLOCKS], pair->from->number,
        pair->to->number, pair->thread, span->is_cpu_known ? FLAG_CPU : 0, span->start_ns,
        span->wall_ns, span->is_cpu_known ? span->wall_ns - span->cpu_ns : 0};

    probity_fleet_put_row(batch, values);
}

static int put_in_thread(struct probity_fleet_hits *hits, struct probe *probe,
                         const struct probity_event *event)
{
    uint32_t slot = event->thread_slot;
    struct last *last = slot < hits->last_count ? &hits->last[slot] : NULL;
    int error = 0;

    if (__builtin_expect(last == NULL, 0)) {
        void *grown = probity_array_grow(hits->last, sizeof *last, slot, &hits->last_count);
        if (grown == NULL)
            return PROBITY_ERROR_MEMORY;
        hits->last = grown;
        last = &hits->last[slot];
    }
    if (__builtin_expect(last->probe != NULL, 1)) {
        struct span span = span_of(last, event);
        struct pair *pair = pair_at(hits, last->probe, probe, event);
        error = pair != NULL ? add_span(hits, pair, &span, event->wall_ns) : PROBITY_ERROR_MEMORY;
        if (error == 0 && hits->options.has_spans)
            put_span(hits, pair, &span, event->wall_ns);
    }
    *last = (struct last){probe, event->wall_ns, event->cpu_ns, event->cpu_known != 0,
                          event->thread};
    return error;
}

/* ---- Requests ----------------------------------------------------------------------------------
 */

static void put_step(struct probity_fleet_hits *hits, const struct probe *probe,
                     const struct probity_inflight_item *open, const struct probity_event *event)
{
    struct probity_fleet_output *output = hits->options.output;
    const struct probe *from = open->owner;
    uint64_t day = event->wall_ns / MINUTE_NS / PROBITY_FLEET_DAY_MINUTES;
    struct probity_fleet_batch *batch =
        probity_fleet_output_row(output, PROBITY_FLEET_REQUESTS, &day);
    const struct last last = {
        .wall_ns = open->wall_ns, .cpu_ns = open->cpu_ns,
        .is_cpu_known = open->is_cpu_known && open->thread_slot == event->thread_slot};
    struct span span = {.wall_ns = 0};

    if (from != NULL)
        span = span_of(&last, event);
    const uint64_t values[] = {
        day, hits->options.run, output->blocks[PROBITY_FLEET_REQUESTS], event->correlation,
        event->wall_ns, event->thread, probe->number, event->role,
        from != NULL ? from->number : 0, from != NULL ? hits->last[open->thread_slot].thread : 0,
        (span.is_cpu_known ? FLAG_CPU : 0U) | (from != NULL ? FLAG_PREVIOUS : 0U), span.wall_ns,
        span.is_cpu_known ? span.wall_ns - span.cpu_ns : 0};
    probity_fleet_put_row(batch, values);
}

static __attribute__((noinline)) int put_request(struct probity_fleet_hits *hits,
                                                 struct probe *probe,
                                                 const struct probity_event *event)
{
    struct probity_inflight_item *open;
    int error = probity_request_flow_find(&hits->ids, event, &open);

    if (error != 0 || open == NULL)
        return error;
    put_step(hits, probe, open, event);
    open->owner = probe;
    open->wall_ns = event->wall_ns;
    open->cpu_ns = event->cpu_ns;
    open->is_cpu_known = event->cpu_known != 0;
    open->thread_slot = event->thread_slot;
    probity_request_flow_step(&hits->ids, event, open);
    return 0;
}

/* Forgets open spans and requests: none extends past the time at which sites were switched. */
static int forget_all(struct probity_fleet_hits *hits, const struct probity_event *event)
{
    for (uint32_t slot = 0; slot < hits->last_count; slot++)
        hits->last[slot].probe = NULL;
    probity_inflight_forget(&hits->ids, event->trace);
    return 0;
}

int probity_fleet_hits_put(struct probity_fleet_hits *hits, const struct probity_event *event)
{
    if (__builtin_expect(event->kind == PROBITY_EVENT_SITES_SWITCHED, 0))
        return forget_all(hits, event);
    if (__builtin_expect(event->kind == PROBITY_EVENT_LOST, 0)) {
        if (event->thread_slot < hits->last_count)
            hits->last[event->thread_slot].probe = NULL;
        return 0;
    }
    struct probe *probe = probe_of(hits, event);
    if (probe == NULL)
        return PROBITY_ERROR_MEMORY;
    int error = put_in_thread(hits, probe, event);
    if (event->has_correlation && hits->options.has_spans && error == 0)
        error = put_request(hits, probe, event);
    return error;
}

/* ---- Opening and closing -----------------------------------------------------------------------
 */

/* Rewrites rows of numbered probes that were named after their rows were written. */
int probity_fleet_hits_finish(struct probity_fleet_hits *hits)
{
    probity_fleet_open_end(&hits->sums, 1);
    for (struct probe *probe = hits->first_probe; probe != NULL; probe = probe->next) {
        if (!probe->is_named && probe->probe.name != NULL)
            put_probe(hits, probe, VERSION_NAMED);
    }
    return 0;
}

int probity_fleet_hits_open(const struct probity_fleet_hits_options *options,
                            struct probity_fleet_hits **ret_hits)
{
    struct probity_fleet_hits *hits = calloc(1, sizeof *hits);

    if (hits == NULL)
        return PROBITY_ERROR_MEMORY;
    hits->options = *options;
    hits->probes.item_bytes = sizeof(struct probe);
    hits->last_probe = &hits->first_probe;
    hits->sums = (struct probity_fleet_open_list){
        .item_bytes = sizeof(struct span_sums), .end = end_sums, .context = hits};
    *ret_hits = hits;
    return 0;
}

void probity_fleet_hits_close(struct probity_fleet_hits *hits)
{
    void *pair;

    probity_fleet_open_end(&hits->sums, 0);
    while ((pair = probity_hashtable_take(&hits->pairs)) != NULL)
        free(pair);
    probity_probes_release(&hits->probes);
    probity_inflight_release(&hits->ids);
    free(hits->last);
    free(hits);
}
