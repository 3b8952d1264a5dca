/* SPDX-License-Identifier: MIT
 *
 * request_times.c: opens a request at its first hit, and counts its duration at its last hit.
 */
#include "analysis/request_times.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "probity.h"
#include "probity_typed.h"

void probity_request_times_init(uint64_t from_ns, uint64_t to_ns,
                                struct probity_request_times *ret_times)
{
    *ret_times = (struct probity_request_times){
        .from_ns = from_ns, .to_ns = to_ns,
        .probes = {.item_bytes = sizeof(struct probity_request_kind)}};
}

static int begin(struct probity_request_times *times, const struct probity_inflight_key *key,
                 const struct probity_event *event)
{
    struct probity_probe *probe = probity_probes_of(&times->probes, event);
    struct probity_inflight_item *surplus, *open = probity_inflight_find(&times->open, key);

    if (probe == NULL)
        return PROBITY_ERROR_MEMORY;
    if (open == NULL) {
        surplus = probity_inflight_surplus(&times->open);
        if (surplus != NULL)
            probity_inflight_remove(&times->open, surplus);
        open = probity_inflight_add(&times->open, key);
    } else {
        probity_inflight_touch(&times->open, open);
    }
    if (open == NULL)
        return PROBITY_ERROR_MEMORY;
    open->owner = probe;
    open->wall_ns = event->wall_ns;
    return 0;
}

/* Adds a kind to the list. Returns 1, or 0 if the list is full. */
static int list(struct probity_request_times *times, struct probity_request_kind *kind)
{
    if (kind->is_listed || times->count == PROBITY_REQUEST_KINDS_MAX)
        return kind->is_listed;
    void *kinds = probity_array_append(times->kinds, sizeof *times->kinds, times->count);
    if (kinds == NULL)
        return PROBITY_ERROR_MEMORY;
    times->kinds = kinds;
    times->kinds[times->count++] = kind;
    kind->min_ns = UINT64_MAX;
    kind->is_listed = 1;
    return 1;
}

static int end(struct probity_request_times *times, struct probity_inflight_item *open,
               const struct probity_event *event)
{
    struct probity_request_kind *kind = open->owner;
    uint64_t ns = event->wall_ns > open->wall_ns ? event->wall_ns - open->wall_ns : 0;

    probity_inflight_remove(&times->open, open);
    int listed = list(times, kind);
    if (listed <= 0)
        return listed;
    kind->calls++;
    kind->wall_ns += ns;
    kind->min_ns = ns < kind->min_ns ? ns : kind->min_ns;
    kind->max_ns = ns > kind->max_ns ? ns : kind->max_ns;
    return probity_histogram_add(&kind->durations, ns);
}

int probity_request_times_take(struct probity_request_times *times,
                               const struct probity_event *event)
{
    const struct probity_inflight_key key = {event->correlation, 0, event->trace, 0};
    int is_begin = event->role == PROBITY_ROLE_REQUEST_BEGIN;

    if ((!is_begin && event->role != PROBITY_ROLE_REQUEST_END) ||
        event->wall_ns < times->from_ns || (times->to_ns != 0 && event->wall_ns >= times->to_ns))
        return 0;
    if (is_begin)
        return begin(times, &key, event);
    struct probity_inflight_item *open = probity_inflight_find(&times->open, &key);
    return open != NULL ? end(times, open, event) : 0;
}

static int compare_kinds(const void *left, const void *right)
{
    const struct probity_request_kind *a = *(const struct probity_request_kind *const *)left;
    const struct probity_request_kind *b = *(const struct probity_request_kind *const *)right;

    if (a->wall_ns != b->wall_ns)
        return a->wall_ns < b->wall_ns ? 1 : -1;
    return probity_probes_compare(&a->begin, &b->begin);
}

void probity_request_times_sort(struct probity_request_times *times)
{
    if (times->count > 1)
        qsort(times->kinds, times->count, sizeof *times->kinds, compare_kinds);
}

uint64_t probity_request_quantile(const struct probity_request_kind *kind, unsigned per_mille)
{
    return probity_histogram_quantile(&kind->durations, per_mille, kind->min_ns, kind->max_ns);
}

char *probity_request_kind_name(const struct probity_request_kind *kind, int with_name)
{
    static const char role[] = ":begin";
    const struct probity_probe *probe = &kind->begin;
    size_t bytes = strlen(probe->text), role_bytes = sizeof role - 1;
    char *text;

    if (probe->is_site && bytes > role_bytes && strcmp(probe->text + bytes - role_bytes, role) == 0)
        return strndup(probe->text, bytes - role_bytes);
    if (!with_name || probe->name == NULL)
        return strdup(probe->text);
    return asprintf(&text, "%s (%s)", probe->text, probe->name) >= 0 ? text : NULL;
}

void probity_request_times_release(struct probity_request_times *times)
{
    for (size_t i = 0; i < times->count; i++)
        probity_histogram_release(&times->kinds[i]->durations);
    free(times->kinds);
    probity_inflight_release(&times->open);
    probity_probes_release(&times->probes);
}
