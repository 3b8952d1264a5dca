/* SPDX-License-Identifier: MIT
 *
 * hosts.c: hosts of traces: determines which traces share a boot, and converts their ticks before
 * and after alignment (doc/hosts.md). Runs in the thread that opens a reader.
 */
#include "reader/hosts.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "probity.h"
#include "reader/hosts_internal.h"

/* ---- Hosts -------------------------------------------------------------------------------------
 */

static char *name_of(const struct probity_info *info)
{
    const struct probity_text *text = &info->text[PROBITY_TAG_HOST];

    return strndup(text->bytes != NULL ? text->bytes : "", text->length);
}

/* Returns the host of a trace: that of an earlier trace with the same boot, or a new one. */
static int find_host(struct probity_hosts *hosts, const struct probity_trace *traces, uint32_t at)
{
    const struct probity_info *info = &traces[at].facts.info;

    for (uint32_t i = 0; i < hosts->count; i++) {
        if (memcmp(traces[hosts->hosts[i].trace].facts.info.boot, info->boot, 16) == 0) {
            hosts->of_traces[at] = i;
            return 0;
        }
    }
    char *name = name_of(info);
    if (name == NULL)
        return PROBITY_ERROR_MEMORY;
    hosts->of_traces[at] = (uint32_t)hosts->count;
    hosts->hosts[hosts->count] = (struct probity_host){
        .name = name, .trace = at, .reference = (uint32_t)hosts->count, .error_ns = UINT64_MAX,
        .first_ns = UINT64_MAX};
    hosts->count++;
    return 0;
}

static void release_hosts(struct probity_hosts *hosts)
{
    for (size_t i = 0; hosts->hosts != NULL && i < hosts->count; i++)
        free((void *)(uintptr_t)hosts->hosts[i].name);
    free(hosts->hosts);
    free(hosts->pairs);
    free(hosts->of_traces);
    free(hosts);
}

static int make_hosts(const struct probity_trace *traces, size_t count,
                      struct probity_hosts **ret_hosts)
{
    struct probity_hosts *hosts = calloc(1, sizeof *hosts);
    int error = 0;

    if (hosts == NULL)
        return PROBITY_ERROR_MEMORY;
    hosts->hosts = calloc(count, sizeof *hosts->hosts);
    hosts->of_traces = calloc(count, sizeof *hosts->of_traces);
    if (hosts->hosts == NULL || hosts->of_traces == NULL)
        error = PROBITY_ERROR_MEMORY;
    for (uint32_t i = 0; error == 0 && i < count; i++)
        error = find_host(hosts, traces, i);
    if (error != 0)
        release_hosts(hosts);
    else
        *ret_hosts = hosts;
    return error;
}

/* ---- Clocks before alignment -------------------------------------------------------------------
 */

/* Copies a conversion, without the steps if the clock was set. */
static int copy_steady(const struct probity_clockmap *map, struct probity_clockmap *ret_steady)
{
    size_t bytes = map->count * sizeof *map->anchors;
    struct probity_clockmap steady = *map;

    probity_assert(map->count > 0);
    steady.anchors = malloc(bytes);
    if (steady.anchors == NULL)
        return PROBITY_ERROR_MEMORY;
    memcpy(steady.anchors, map->anchors, bytes);
    steady.capacity = map->count;
    steady.line.span = 0;
    for (size_t i = 1; map->steps > 0 && i < map->count; i++)
        steady.anchors[i].realtime_ns = steady.anchors[0].realtime_ns +
                                        (map->anchors[i].monotonic_ns -
                                         map->anchors[0].monotonic_ns);
    *ret_steady = steady;
    return 0;
}

static struct host_clock *clock_of(struct hosts *hosts, struct probity_clockmap *map)
{
    for (size_t i = 0; i < hosts->clock_count; i++) {
        if (hosts->clocks[i].map == map)
            return &hosts->clocks[i];
    }
    return NULL;
}

/* Sets the times of the first and last record, and the accuracy of the anchors. */
static void cover(struct probity_host *host, struct host_clock *clock,
                  const struct probity_trace_facts *facts)
{
    const struct probity_clockmap *steady = &clock->steady;
    uint64_t bound_ns = facts->clock_bound_ns;
    const uint64_t times[] = {
        steady->anchors[0].realtime_ns, steady->anchors[steady->count - 1].realtime_ns,
        probity_clockmap_wall(&clock->steady, facts->first_tick),
        probity_clockmap_wall(&clock->steady, facts->last_tick)};

    for (size_t i = 0; i < (facts->first_tick | facts->last_tick ? 4 : 2); i++) {
        host->first_ns = times[i] < host->first_ns ? times[i] : host->first_ns;
        host->last_ns = times[i] > host->last_ns ? times[i] : host->last_ns;
    }
    host->clock_bound_ns = bound_ns > host->clock_bound_ns ? bound_ns : host->clock_bound_ns;
}

static int take_clocks(struct hosts *hosts, struct probity_trace *traces, size_t count)
{
    int error = 0;

    for (size_t i = 0; error == 0 && i < count; i++) {
        struct probity_trace *trace = &traces[i];
        uint32_t host = hosts->hosts->of_traces[i];
        struct host_clock *clock = clock_of(hosts, trace->clock);
        if (clock == NULL) {
            clock = &hosts->clocks[hosts->clock_count];
            *clock = (struct host_clock){.map = trace->clock, .host = host};
            error = copy_steady(trace->clock, &clock->steady);
            hosts->clock_count += error == 0;
        }
        hosts->of_traces[i] = clock;
        if (error == 0)
            cover(&hosts->hosts->hosts[host], clock, &trace->facts);
    }
    return error;
}

/* ---- Clocks after alignment --------------------------------------------------------------------
 */

static int is_unchanged(const struct hosts *hosts, uint32_t host)
{
    return !hosts->places[host].is_placed;
}

static void set_clocks(struct hosts *hosts)
{
    for (size_t i = 0; i < hosts->clock_count; i++) {
        const struct host_clock *clock = &hosts->clocks[i];
        struct probity_clockmap *map = clock->map;
        if (is_unchanged(hosts, clock->host))
            continue;
        for (size_t j = 0; j < map->count; j++) {
            struct probity_anchor *anchor = &map->anchors[j];
            anchor->realtime_ns = hosts_to_reference(&hosts->places[clock->host],
                                                     clock->steady.anchors[j].realtime_ns);
            anchor->monotonic_ns = anchor->realtime_ns; /* without steps, both are the same */
        }
        /* For a single anchor, as in the trace of a program that was killed early. */
        map->nominal_rate =
            hosts_rate_to_reference(&hosts->places[clock->host], map->nominal_rate);
        map->line.span = 0;
    }
}

/* Converts the times that were stored when the trace was opened. */
static void set_facts(const struct hosts *hosts, struct probity_trace *trace)
{
    uint32_t host = hosts->hosts->of_traces[trace->number];
    struct probity_trace_facts *facts = &trace->facts;

    if (is_unchanged(hosts, host))
        return;
    probity_trace_share_clock(trace, trace->clock);
    facts->info.anchor.realtime_ns =
        probity_clockmap_wall(trace->clock, facts->info.anchor.ticks);
    facts->least_wall_ns = facts->info.anchor.realtime_ns;
    if (facts->first_wall_ns > 0 && facts->first_wall_ns < facts->least_wall_ns)
        facts->least_wall_ns = facts->first_wall_ns;
    for (size_t i = 0; i < trace->drops.count; i++) {
        struct probity_trace_drop *drop = &trace->drops.items[i];
        drop->from_ns = hosts_to_reference(&hosts->places[host], drop->from_ns);
        drop->to_ns = hosts_to_reference(&hosts->places[host], drop->to_ns);
    }
}

/* ---- All steps ---------------------------------------------------------------------------------
 */

static void release(struct hosts *hosts)
{
    for (size_t i = 0; i < hosts->clock_count; i++)
        probity_clockmap_release(&hosts->clocks[i].steady);
    free(hosts->clocks);
    free(hosts->of_traces);
    free(hosts->places);
    free(hosts->bounds.items);
}

static int align(struct hosts *hosts, struct probity_trace *traces, size_t count,
                 const struct probity_reader_options *options)
{
    hosts->clocks = calloc(count, sizeof *hosts->clocks);
    hosts->of_traces = calloc(count, sizeof(struct host_clock *));
    hosts->places = calloc(hosts->hosts->count, sizeof *hosts->places);
    if (hosts->clocks == NULL || hosts->of_traces == NULL || hosts->places == NULL)
        return PROBITY_ERROR_MEMORY;
    int error = take_clocks(hosts, traces, count);
    if (error == 0)
        error = hosts_find_bounds(hosts, traces, count, options);
    if (error == 0)
        error = hosts_place(hosts);
    if (error != 0)
        return error;
    hosts->hosts->left_out = hosts->bounds.left_out;
    set_clocks(hosts);
    for (size_t i = 0; i < count; i++)
        set_facts(hosts, &traces[i]);
    return 0;
}

static int align_traces(struct probity_trace *traces, size_t count,
                        const struct probity_reader_options *options,
                        struct probity_hosts **ret_hosts)
{
    struct probity_hosts *found = NULL;
    int error = make_hosts(traces, count, &found);

    if (error != 0)
        return error;
    struct hosts hosts = {.hosts = found};
    if (found->count <= PROBITY_HOSTS_MAX)
        error = align(&hosts, traces, count, options);
    release(&hosts);
    if (error != 0)
        release_hosts(found);
    else
        *ret_hosts = found;
    return error;
}

const struct probity_align_steps probity_align_steps = {align_traces, release_hosts};
