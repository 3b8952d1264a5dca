/* SPDX-License-Identifier: MIT
 *
 * model_lists.c: completes the stations: levels up to the last hit, Little's law, names, and lists
 * in an order that does not depend on addresses.
 */
#include <stdlib.h>
#include <string.h>

#include "answers/model/model_internal.h"
#include "probity.h"

double probity_model_mean_level(const struct probity_model_result *result,
                                const struct probity_model_level *level)
{
    uint64_t ns = result->to_ns - result->from_ns;

    return ns > 0 ? (double)level->area / (double)ns : 0;
}

/* J. D. C. Little, "A proof for the queuing formula: L = lambda W", Operations Research 9 (1961).
 */
static void finish_little(const struct probity_model_result *result,
                          struct probity_model_station *station)
{
    struct probity_model_little *little = &station->little;
    uint64_t ns = result->to_ns - result->from_ns;

    little->length = probity_model_mean_level(result, &station->level);
    little->wait_ns = probity_duration_stats_mean(&station->stays);
    if (ns == 0)
        return;
    little->rate_s = (double)station->arrivals / ((double)ns / 1e9);
    double product = (double)station->arrivals / (double)ns * little->wait_ns;
    double larger = product > little->length ? product : little->length;
    if (larger > 0)
        little->difference = (product - little->length) / larger;
}

/* Replaces nodes of merged seeds with those they were merged into, and merges users that are now
 * equal. */
static void join_users(struct probity_model_user *users)
{
    for (struct probity_model_user *user = users; user != NULL; user = user->next) {
        const struct model_node *node = (const struct model_node *)user->node;
        while (node->into != NULL)
            node = node->into;
        user->node = &node->node;
    }
    for (struct probity_model_user *user = users; user != NULL; user = user->next) {
        struct probity_model_user **place = &user->next, *other;
        while ((other = *place) != NULL) {
            if (other->node != user->node || other->role != user->role) {
                place = &other->next;
                continue;
            }
            user->count += other->count;
            *place = other->next;
            free(other);
        }
    }
}

static int is_behind(const struct probity_model_user *a, const struct probity_model_user *b)
{
    if (a->role != b->role)
        return a->role > b->role;
    if (a->node->group->number != b->node->group->number)
        return a->node->group->number > b->node->group->number;
    return a->node->number > b->node->number;
}

/* Sorts by role, group and probe. Uses an insertion sort, because there are few. */
static struct probity_model_user *sort_users(struct probity_model_user *users)
{
    struct probity_model_user *sorted = NULL;

    join_users(users);
    while (users != NULL) {
        struct probity_model_user *user = users, **place = &sorted;
        users = user->next;
        while (*place != NULL && is_behind(user, *place))
            place = &(*place)->next;
        user->next = *place;
        *place = user;
    }
    return sorted;
}

/* Returns "jobs" if a site is named "jobs:put", else the name of the first probe. */
static char *name_of(const struct probity_model_user *users)
{
    const struct probity_probe *probe = users->node->probe;
    const char *text = probe->name != NULL ? probe->name : probe->text;
    const char *ending = probity_role_ending(users->role);
    size_t bytes = strlen(text), ending_bytes = strlen(ending);

    if (bytes > ending_bytes && strcmp(text + bytes - ending_bytes, ending) == 0)
        bytes -= ending_bytes;
    return strndup(text, bytes);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Sorts by kind, then busiest first. */
static int compare_stations(const void *left, const void *right)
{
    const struct probity_model_station *a = *(struct probity_model_station *const *)left;
    const struct probity_model_station *b = *(struct probity_model_station *const *)right;
    int order = compare_numbers(a->kind, b->kind);

    if (order == 0)
        order = compare_numbers(b->arrivals + b->departures, a->arrivals + a->departures);
    if (order == 0)
        order = strcmp(a->name, b->name);
    if (order == 0)
        order = compare_numbers(a->trace, b->trace);
    if (order == 0)
        order = compare_numbers(a->object, b->object);
    return order != 0 || a->begin == NULL ? order : probity_probes_compare(a->begin, b->begin);
}

static int finish_station(const struct probity_model *model, struct probity_model_station *station)
{
    struct probity_model_level *level = &station->level;

    level->area += (probity_wide_sum)level->now * (model->now_ns - level->since_ns);
    level->since_ns = model->now_ns;
    finish_little(&model->result, station);
    station->users = sort_users(station->users);
    station->name = name_of(station->users);
    return station->name != NULL ? 0 : PROBITY_ERROR_MEMORY;
}

int probity_model_finish_stations(struct probity_model *model)
{
    struct probity_model_result *result = &model->result;
    size_t all = 1, count = 0;
    int error = 0;

    for (int kind = 0; kind < PROBITY_MODEL_KINDS; kind++)
        all += result->station_counts[kind];
    struct probity_model_station **list = calloc(all, sizeof *list);
    model->station_list = list;
    if (list == NULL)
        return PROBITY_ERROR_MEMORY;
    for (size_t chain = 0; chain < MODEL_STATION_CHAINS; chain++) {
        struct model_station *item = model->stations[chain];
        for (; error == 0 && item != NULL; item = item->chain) {
            error = finish_station(model, &item->station);
            list[count++] = &item->station;
        }
    }
    if (error != 0)
        return error;
    qsort(list, count, sizeof *list, compare_stations);
    for (int kind = 0; kind < PROBITY_MODEL_KINDS; kind++) {
        result->stations[kind] = list;
        for (uint32_t i = 0; i < result->station_counts[kind]; i++)
            (*list++)->number = i;
    }
    return 0;
}

void probity_model_free_stations(struct probity_model *model)
{
    for (size_t chain = 0; chain < MODEL_STATION_CHAINS; chain++) {
        for (struct model_station *item = model->stations[chain], *next; item != NULL;
             item = next) {
            next = item->chain;
            probity_duration_stats_release(&item->station.gaps);
            probity_duration_stats_release(&item->station.stays);
            probity_duration_stats_release(&item->station.waits);
            for (struct probity_model_user *user = item->station.users, *after; user != NULL;
                 user = after) {
                after = user->next;
                free(user);
            }
            free(item->station.name);
            free(item);
        }
    }
    free(model->station_list);
}
