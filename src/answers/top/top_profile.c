/* SPDX-License-Identifier: MIT
 *
 * top_profile.c: functions that are counted instead of recorded. Their counts only grow, so an
 * interval is the difference of two readings.
 */
#include <stdlib.h>
#include <string.h>

#include "answers/top/top_internal.h"
#include "base/hash.h"
#include "base/ticks.h"
#include "probity.h"

struct counts {
    uint64_t calls, total_ns, cpu_ns;
    uint64_t histogram[PROBITY_PROFILE_BUCKETS];
};

struct profile_item {
    struct probity_link link;
    uint32_t number;
    const struct probity_function *function;
    struct probity_top_row *row;
    uint64_t rate, max_ns;
    struct counts before, now;
};

static struct profile_item *item_at(struct probity_top_profile *profile, uint32_t number)
{
    uint64_t hash = probity_hash(number);
    struct profile_item *item = probity_hashtable_at(&profile->items, hash);

    while (item != NULL && item->number != number)
        item = (void *)item->link.next;
    if (item != NULL)
        return item;
    item = calloc(1, sizeof *item);
    if (item == NULL || probity_hashtable_add(&profile->items, item, hash) != 0) {
        free(item);
        return NULL;
    }
    item->number = number;
    return item;
}

/* A function is reported once for each set of threads: adds up their counts. */
static int take(void *context, const struct probity_profiled *profiled)
{
    struct probity_top_profile *profile = context;
    struct profile_item *item = item_at(profile, profiled->number);

    if (item == NULL)
        return PROBITY_ERROR_MEMORY;
    item->function = profiled->function;
    item->rate = profiled->rate;
    item->max_ns = profiled->max_ns > item->max_ns ? profiled->max_ns : item->max_ns;
    item->now.calls += profiled->calls - profiled->open;
    item->now.total_ns += profiled->total_ns;
    item->now.cpu_ns += profiled->cpu_total_ns;
    for (uint32_t i = 0; i < PROBITY_PROFILE_BUCKETS; i++)
        item->now.histogram[i] += profiled->histogram[i];
    return 0;
}

static uint64_t grown(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

/* Counts all calls in a bucket at its midpoint, which is within an eighth of each call. */
static int add_durations(const struct profile_item *item, struct probity_top_row *row,
                         int is_first)
{
    int error = 0;

    for (uint32_t i = 0; error == 0 && i < PROBITY_PROFILE_BUCKETS; i++) {
        uint64_t more = grown(item->now.histogram[i], item->before.histogram[i]);
        uint64_t least = i > 0 ? probity_profile_bucket_start(i) : 0;
        uint64_t middle = least + (probity_profile_bucket_start(i + 1) - least) / 2;
        uint64_t ns = probity_ns_of_ticks(middle, item->rate);
        ns = ns > item->max_ns ? item->max_ns : ns;
        if (more == 0)
            continue;
        error = probity_histogram_add_times(&row->all.durations, ns, more);
        if (is_first || error != 0)
            continue;
        row->interval.max_ns = ns > row->interval.max_ns ? ns : row->interval.max_ns;
        error = probity_histogram_add_times(&row->interval.durations, ns, more);
    }
    row->all.max_ns = item->max_ns > row->all.max_ns ? item->max_ns : row->all.max_ns;
    return error;
}

static int add_difference(struct probity_top_profile *profile, struct profile_item *item)
{
    struct probity_top_row *row = item->row;

    if (row == NULL)
        row = item->row = probity_top_row_of(profile->top, item->function);
    if (row == NULL)
        return PROBITY_ERROR_MEMORY;
    const struct probity_top_sums more = {
        .calls = grown(item->now.calls, item->before.calls),
        .wall_ns = grown(item->now.total_ns, item->before.total_ns),
        .cpu_ns = grown(item->now.cpu_ns, item->before.cpu_ns)};
    uint64_t off_ns = profile->has_cpu ? grown(more.wall_ns, more.cpu_ns) : 0;
    struct probity_top_sums *both[] = {&row->all, &row->interval};
    for (int i = 0; i < (profile->is_first ? 1 : 2); i++) {
        both[i]->calls += more.calls;
        both[i]->wall_ns += more.wall_ns;
        both[i]->cpu_ns += more.cpu_ns;
        both[i]->off_ns += off_ns;
    }
    row->is_cpu_known |= profile->has_cpu;
    return add_durations(item, row, profile->is_first);
}

/* Calls `one` for each item, then starts the next reading. */
static int each_item(struct probity_top_profile *profile,
                     int (*one)(struct probity_top_profile *profile, struct profile_item *item))
{
    int error = 0;

    for (size_t i = 0; error == 0 && i < profile->items.chains; i++) {
        struct profile_item *item = (void *)profile->items.first[i];
        for (; error == 0 && item != NULL; item = (void *)item->link.next)
            error = one(profile, item);
    }
    return error;
}

static int forget(struct probity_top_profile *profile, struct profile_item *item)
{
    (void)profile;
    item->before = item->now;
    memset(&item->now, 0, sizeof item->now);
    return 0;
}

int probity_top_profile_read(struct probity_top_profile *profile,
                             const struct probity_reader *reader)
{
    int error = each_item(profile, forget);

    profile->is_first = !profile->was_read;
    profile->was_read = 1;
    if (error == 0)
        error = probity_reader_profile(reader, 0, take, profile);
    return error == 0 ? each_item(profile, add_difference) : error;
}

void probity_top_profile_release(struct probity_top_profile *profile)
{
    struct profile_item *item;

    while ((item = probity_hashtable_take(&profile->items)) != NULL)
        free(item);
}
