/* SPDX-License-Identifier: MIT
 *
 * hosts_links.c: reads hits with ids, and finds pairs of hits on different hosts whose order is
 * certain (doc/hosts.md, "Links"). Memory is bounded: if there are too many ids, those with the
 * smallest hashes are kept, in all traces.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "base/assert.h"
#include "base/hash.h"
#include "probity_typed.h"
#include "reader/hosts_internal.h"

/* Smaller ids may be counters or addresses, which other processes may also use, for other
 * purposes. */
#define REQUEST_ID_LEAST (UINT64_C(1) << 48)

/* Constant, so that each run chooses the same ids. */
#define HASH_SECRET UINT64_C(0x5851f42d4c957f2d)

/* A hit with a correlation id. */
struct moment {
    uint64_t hash, id, link; /* link: hash of a message's name and object; 0: not a message */
    uint64_t ns;             /* on the clock of its host */
    uint32_t trace, role;
};

struct links {
    struct hosts *hosts;
    struct moment *moments;
    size_t count, capacity;
    uint64_t hash_bound, left_out; /* hash_bound: only ids with smaller hashes are kept */
    uint64_t *sends; /* times of the sends of one group, from one host */
    size_t send_count, send_capacity;
    uint32_t send_host; /* UINT32_MAX: not collected yet */
};

/* ---- Reading -----------------------------------------------------------------------------------
 */

static int is_message(uint32_t role)
{
    return role == PROBITY_ROLE_SEND || role == PROBITY_ROLE_RECEIVE;
}

/* Returns the hash of the name without its ending, and of the object. Never 0. */
static uint64_t link_of(const struct probity_event *event)
{
    const char *colon = event->name != NULL ? memrchr(event->name, ':', event->name_bytes) : NULL;
    size_t bytes = colon != NULL ? (size_t)(colon - event->name) : event->name_bytes;
    uint64_t link = event->has_object ? event->object : 0;

    for (size_t i = 0; event->name != NULL && i < bytes; i++)
        link = probity_hash_keyed(HASH_SECRET, link ^ (unsigned char)event->name[i]);
    return link | 1;
}

/* Lowers the bound. An id whose hash is below the bound has all of its hits so far: if some were
 * missing, receives would be compared with later sends. */
static void keep_fewer(struct links *links)
{
    size_t kept = 0;

    links->hash_bound /= 2;
    for (size_t i = 0; i < links->count; i++) {
        if (links->moments[i].hash < links->hash_bound)
            links->moments[kept++] = links->moments[i];
    }
    links->left_out += links->count - kept;
    links->count = kept;
}

static int take_hit(struct links *links, uint32_t trace, const struct probity_event *event)
{
    uint64_t hash = probity_hash_keyed(HASH_SECRET, event->correlation);
    int is_of_message = is_message(event->role);

    if (!is_of_message && event->correlation < REQUEST_ID_LEAST)
        return 0;
    while (hash < links->hash_bound && links->count == PROBITY_HOSTS_MOMENTS_MAX)
        keep_fewer(links);
    if (hash >= links->hash_bound) {
        links->left_out++;
        return 0;
    }
    void *moments = probity_array_room(links->moments, sizeof *links->moments, links->count,
                                       &links->capacity);
    if (moments == NULL)
        return PROBITY_ERROR_MEMORY;
    links->moments = moments;
    links->moments[links->count++] = (struct moment){
        hash, event->correlation, is_of_message ? link_of(event) : 0,
        probity_clockmap_wall(&links->hosts->of_traces[trace]->steady, event->tick), trace,
        event->role};
    return 0;
}

static int read_events(struct links *links, uint32_t trace, struct probity_reader *reader)
{
    const struct probity_event *event;
    int got, error = 0;

    while (error == 0 && (got = probity_reader_next(reader, &event)) != 0) {
        if (got < 0)
            return got;
        if (event->kind == PROBITY_EVENT_HIT && event->has_correlation &&
            probity_role_is_of_work(event->role))
            error = take_hit(links, trace, event);
    }
    return error;
}

static int read_trace(struct links *links, const struct probity_trace *trace,
                      const struct probity_reader_options *options)
{
    const char *path = trace->path;
    const struct probity_reader_options one = {.ahead = options->ahead,
                                               .ahead_bytes_min = options->ahead_bytes_min};
    struct probity_reader *reader;
    int error = probity_reader_open(&path, 1, &one, NULL, &reader);

    if (error != 0)
        return error;
    /* Another file may have been renamed to this path since. */
    if (memcmp(probity_reader_facts(reader, 0)->info.session, trace->facts.info.session,
               sizeof trace->facts.info.session) == 0)
        error = read_events(links, trace->number, reader);
    probity_reader_close(reader);
    return error;
}

/* ---- Bounds ------------------------------------------------------------------------------------
 */

static uint32_t host_of(const struct links *links, const struct moment *moment)
{
    return links->hosts->hosts->of_traces[moment->trace];
}

/* Adds a bound: `earlier` happened before `later`. */
static int add_bound(struct links *links, const struct moment *earlier, uint64_t earlier_ns,
                     const struct moment *later, uint64_t later_ns)
{
    struct host_bounds *bounds = &links->hosts->bounds;
    uint32_t from = host_of(links, earlier), to = host_of(links, later);
    int is_forward = from < to;
    void *items = probity_array_room(bounds->items, sizeof *bounds->items, bounds->count,
                                     &bounds->capacity);

    probity_assert(from != to);
    if (items == NULL)
        return PROBITY_ERROR_MEMORY;
    bounds->items = items;
    bounds->items[bounds->count++] = (struct host_bound){
        is_forward ? earlier_ns : later_ns, is_forward ? later_ns : earlier_ns,
        is_forward ? from : to, is_forward ? to : from, is_forward, earlier->link == 0};
    return 0;
}

/* The moments of one id and link, ordered by trace and time. */
struct group {
    const struct moment *moments;
    size_t count;
};

static size_t end_of_trace(const struct group *group, size_t first)
{
    size_t end = first;

    while (end < group->count && group->moments[end].trace == group->moments[first].trace)
        end++;
    return end;
}

/* Returns a send in another trace, if all such sends are on one host. NULL: there are none, or they
 * are on several hosts. */
static const struct moment *only_sender(const struct links *links, const struct group *group,
                                        uint32_t trace)
{
    const struct moment *sender = NULL;

    for (size_t i = 0; i < group->count; i++) {
        const struct moment *moment = &group->moments[i];
        if (moment->role != PROBITY_ROLE_SEND || moment->trace == trace)
            continue;
        if (sender != NULL && host_of(links, sender) != host_of(links, moment))
            return NULL;
        sender = moment;
    }
    return sender;
}

static int compare_times(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

/* Collects the times of the sends of the sender's host, in order: once for all receiving traces. */
static int collect_sends(struct links *links, const struct group *group, uint32_t host)
{
    if (links->send_host == host)
        return 0;
    links->send_host = host;
    links->send_count = 0;
    for (size_t i = 0; i < group->count; i++) {
        const struct moment *moment = &group->moments[i];
        if (moment->role != PROBITY_ROLE_SEND || host_of(links, moment) != host)
            continue;
        void *sends = probity_array_room(links->sends, sizeof *links->sends, links->send_count,
                                         &links->send_capacity);
        if (sends == NULL)
            return PROBITY_ERROR_MEMORY;
        links->sends = sends;
        links->sends[links->send_count++] = moment->ns;
    }
    if (links->send_count > 1)
        qsort(links->sends, links->send_count, sizeof *links->sends, compare_times);
    return 0;
}

/* Takes the receives of one trace, [first, end): the k-th receive is later than the k-th send. */
static int take_receives(struct links *links, const struct group *group, size_t first, size_t end)
{
    const struct moment *moments = group->moments;
    const struct moment *sender = only_sender(links, group, moments[first].trace);
    size_t receives = 0, k = 0;

    for (size_t i = first; i < end; i++)
        receives += moments[i].role == PROBITY_ROLE_RECEIVE;
    if (sender == NULL || receives == 0 ||
        host_of(links, sender) == host_of(links, &moments[first]))
        return 0;
    int error = collect_sends(links, group, host_of(links, sender));
    if (receives > links->send_count)
        return error;
    for (size_t i = first; error == 0 && i < end; i++) {
        if (moments[i].role == PROBITY_ROLE_RECEIVE)
            error = add_bound(links, sender, links->sends[k++], &moments[i], moments[i].ns);
    }
    return error;
}

static int take_messages(struct links *links, const struct group *group)
{
    int error = 0;

    links->send_host = UINT32_MAX;
    for (size_t i = 0, end; error == 0 && i < group->count; i = end) {
        end = end_of_trace(group, i);
        error = take_receives(links, group, i, end);
    }
    return error;
}

/* Whether the hits of one trace, [first, end), are a whole request. */
static int is_whole(const struct group *group, size_t first, size_t end)
{
    size_t begins = 0, ends = 0;

    for (size_t i = first; i < end; i++) {
        begins += group->moments[i].role == PROBITY_ROLE_REQUEST_BEGIN;
        ends += group->moments[i].role == PROBITY_ROLE_REQUEST_END;
    }
    return begins == 1 && ends == 1 && group->moments[first].role == PROBITY_ROLE_REQUEST_BEGIN &&
           group->moments[end - 1].role == PROBITY_ROLE_REQUEST_END;
}

/* Takes a group. If traces contain whole requests, the hits of all other traces happened within the
 * longest of these. */
static int take_request(struct links *links, const struct group *group)
{
    const struct moment *outer = NULL, *outer_end = NULL;
    uint64_t longest_ns = 0;
    int error = 0;

    for (size_t i = 0, end; i < group->count; i = end) {
        end = end_of_trace(group, i);
        uint64_t ns = group->moments[end - 1].ns - group->moments[i].ns;
        if (ns <= longest_ns || !is_whole(group, i, end))
            continue;
        longest_ns = ns;
        outer = &group->moments[i];
        outer_end = &group->moments[end - 1];
    }
    for (size_t i = 0, end; error == 0 && outer != NULL && i < group->count; i = end) {
        end = end_of_trace(group, i);
        const struct moment *first = &group->moments[i], *last = &group->moments[end - 1];
        if (host_of(links, first) == host_of(links, outer))
            continue;
        error = add_bound(links, outer, outer->ns, first, first->ns);
        if (error == 0)
            error = add_bound(links, last, last->ns, outer_end, outer_end->ns);
    }
    return error;
}

static int compare_moments(const void *left, const void *right)
{
    const struct moment *a = left, *b = right;

    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    if (a->link != b->link)
        return a->link < b->link ? -1 : 1;
    if (a->trace != b->trace)
        return a->trace < b->trace ? -1 : 1;
    if (a->ns != b->ns)
        return a->ns < b->ns ? -1 : 1;
    return a->role < b->role ? -1 : a->role > b->role;
}

static int take_groups(struct links *links)
{
    const struct moment *moments = links->moments;
    int error = 0;

    if (links->count > 1)
        qsort(links->moments, links->count, sizeof *links->moments, compare_moments);
    for (size_t i = 0, end; error == 0 && i < links->count; i = end) {
        for (end = i + 1; end < links->count && moments[end].id == moments[i].id &&
                          moments[end].link == moments[i].link;)
            end++;
        const struct group group = {moments + i, end - i};
        error = moments[i].link != 0 ? take_messages(links, &group) : take_request(links, &group);
    }
    return error;
}

int hosts_find_bounds(struct hosts *hosts, struct probity_trace *traces, size_t count,
                      const struct probity_reader_options *options)
{
    struct links links = {.hosts = hosts, .hash_bound = UINT64_MAX};
    int error = 0;

    for (size_t i = 0; error == 0 && i < count; i++)
        error = read_trace(&links, &traces[i], options);
    if (error == 0)
        error = take_groups(&links);
    hosts->bounds.left_out = links.left_out;
    free(links.moments);
    free(links.sends);
    return error;
}
