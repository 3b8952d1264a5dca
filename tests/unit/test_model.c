/* SPDX-License-Identifier: MIT
 *
 * test_model.c: models of generated events with known results; paths of requests by correlation id;
 * any number of ids.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/inflight.h"
#include "answers/blocks/blocks.h"
#include "answers/model/model.h"
#include "probity.h"
#include "probity_typed.h"

#define START UINT64_C(1700000000000000000)

/* A hit at START + ns. The thread's CPU time is the time since START minus off_ns, or unknown if
 * off_ns is NEVER. */
#define NEVER UINT64_MAX

struct hit {
    uint32_t thread, probe;
    uint64_t ns;
    uint32_t role;
    uint64_t id, object;
    uint64_t off_ns;
};

static struct probity_event event_of(const struct hit *hit)
{
    return (struct probity_event){
        .kind = PROBITY_EVENT_HIT, .thread_slot = hit->thread, .tid = 100 + hit->thread,
        .id = hit->probe, .wall_ns = START + hit->ns, .wall_known = 1, .role = hit->role,
        .has_correlation = hit->id != 0, .correlation = hit->id, .has_object = hit->object != 0,
        .object = hit->object, .cpu_known = hit->off_ns != NEVER,
        .cpu_ns = hit->off_ns != NEVER ? hit->ns - hit->off_ns : 0};
}

static struct probity_model *start_model(void)
{
    struct probity_model *model;

    assert_int_equal(probity_model_open(0, 0, &model), 0);
    return model;
}

static void put_name(struct probity_model *model, uint32_t thread, const char *name)
{
    const struct probity_event event = {.kind = PROBITY_EVENT_THREAD_NAME, .thread_slot = thread,
                                        .wall_ns = START, .payload = (const uint8_t *)name,
                                        .payload_bytes = strlen(name)};

    assert_int_equal(probity_model_put(model, &event), 0);
}

static void put_hits(struct probity_model *model, const struct hit *hits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct probity_event event = event_of(&hits[i]);
        assert_int_equal(probity_model_put(model, &event), 0);
    }
}

static const struct probity_model_result *finish(struct probity_model *model)
{
    const struct probity_model_result *result;

    assert_int_equal(probity_model_finish(model, NULL, &result), 0);
    return result;
}

#define PUT_HITS(model, hits) put_hits(model, hits, sizeof(hits) / sizeof *(hits))

static void expect_near(double expected, double found)
{
    assert_true(fabs(expected - found) <= 1e-9 * fabs(expected) + 1e-12);
}

/* ---- Queues ------------------------------------------------------------------------------------
 */

enum {
    WAIT = PROBITY_ROLE_LOCK_WAIT, HOLD = PROBITY_ROLE_LOCK_HOLD, BACK = PROBITY_ROLE_LOCK_RELEASE,
    PUT = PROBITY_ROLE_QUEUE_PUT, GET = PROBITY_ROLE_QUEUE_GET,
    BEGIN = PROBITY_ROLE_REQUEST_BEGIN, END = PROBITY_ROLE_REQUEST_END
};

/* One item every 100 ns waits for 30 ns: L = 0.3 except at the edges, W = 30, no variance. */
static void regular_items_make_a_regular_queue(void **state)
{
    enum { ITEMS = 1000 };
    struct probity_model *model = start_model();

    (void)state;
    for (uint64_t i = 0; i < ITEMS; i++) {
        const struct hit hits[] = {{0, 1, 100 * i, PUT, i + 1, 7, NEVER},
                                   {1, 2, 100 * i + 30, GET, i + 1, 7, NEVER}};
        PUT_HITS(model, hits);
    }
    const struct probity_model_result *result = finish(model);
    const uint64_t duration = 100 * (ITEMS - 1) + 30;
    assert_int_equal(result->to_ns - result->from_ns, duration);
    assert_int_equal(result->station_counts[PROBITY_MODEL_QUEUE], 1);
    const struct probity_model_station *queue = result->stations[PROBITY_MODEL_QUEUE][0];
    assert_int_equal(queue->object, 7);
    assert_int_equal(queue->arrivals, ITEMS);
    assert_int_equal(queue->departures, ITEMS);
    assert_int_equal(queue->level.max, 1);
    assert_int_equal(queue->level.now, 0);
    assert_int_equal(queue->stays.total_ns, 30 * ITEMS);
    expect_near(0, probity_duration_stats_variance(&queue->stays));
    assert_int_equal(queue->gaps.count, ITEMS - 1);
    assert_int_equal(queue->gaps.total_ns, 100 * (ITEMS - 1));
    expect_near(30.0 * ITEMS / (double)duration, queue->little.length);
    expect_near(1e9 * ITEMS / (double)duration, queue->little.rate_s);
    expect_near(30, queue->little.wait_ns);
    expect_near(0, queue->little.difference);
    probity_model_close(model);
}

/* Three items arrive together: lengths 1, 2, 3, 2, 1 for 1, 1, 8, 10, 10 ns. Queues are separate,
 * whatever the ids of their items. */
static void lengths_are_summed_over_time(void **state)
{
    static const struct hit hits[] = {
        {0, 1, 0, PUT, 1, 7, NEVER},  {0, 1, 1, PUT, 2, 7, NEVER},  {0, 1, 2, PUT, 3, 7, NEVER},
        {0, 1, 4, PUT, 1, 8, NEVER},  {1, 2, 10, GET, 1, 7, NEVER}, {1, 2, 20, GET, 2, 7, NEVER},
        {1, 2, 24, GET, 1, 8, NEVER}, {1, 2, 30, GET, 3, 7, NEVER}};
    struct probity_model *model = start_model();

    (void)state;
    PUT_HITS(model, hits);
    const struct probity_model_result *result = finish(model);
    assert_int_equal(result->station_counts[PROBITY_MODEL_QUEUE], 2);
    const struct probity_model_station *queue = result->stations[PROBITY_MODEL_QUEUE][0];
    assert_int_equal(queue->object, 7);
    assert_int_equal(queue->level.max, 3);
    assert_true(queue->level.area == 1 + 2 + 3 * 8 + 2 * 10 + 10);
    assert_int_equal(queue->stays.total_ns, 10 + 19 + 28);
    assert_int_equal(queue->stays.min_ns, 10);
    assert_int_equal(queue->stays.max_ns, 28);
    expect_near(57.0 / 30, queue->little.length);
    expect_near(0, queue->little.difference);
    assert_int_equal(result->stations[PROBITY_MODEL_QUEUE][1]->stays.total_ns, 20);
    probity_model_close(model);
}

/* Items that are present at the beginning or end, or put twice, are counted and reported; Little's
 * law does not hold then. */
static void items_in_part_are_reported(void **state)
{
    static const struct hit hits[] = {
        {0, 1, 0, PUT, 1, 7, NEVER},  {1, 2, 5, GET, 99, 7, NEVER}, {0, 1, 10, PUT, 2, 7, NEVER},
        {1, 2, 20, GET, 1, 7, NEVER}, {0, 1, 40, PUT, 2, 7, NEVER}, {0, 3, 100, 0, 0, 0, NEVER}};
    struct probity_model *model = start_model();

    (void)state;
    PUT_HITS(model, hits);
    const struct probity_model_station *queue = finish(model)->stations[PROBITY_MODEL_QUEUE][0];
    assert_int_equal(queue->arrivals, 3);
    assert_int_equal(queue->departures, 2);
    assert_int_equal(queue->strays, 1);
    assert_int_equal(queue->again, 1);
    assert_int_equal(queue->level.now, 1);
    assert_int_equal(queue->stays.count, 1);
    assert_int_equal(queue->stays.total_ns, 20);
    expect_near((20 + 90) / 100.0, queue->little.length);
    expect_near((0.6 - 1.1) / 1.1, queue->little.difference);
    probity_model_close(model);
}

/* ---- Locks
 * -------------------------------------------------------------------------------------
 */

static void holds_and_waits_are_of_threads(void **state)
{
    static const struct hit hits[] = {
        {0, 1, 0, HOLD, 0, 5, NEVER},   {1, 2, 50, WAIT, 0, 5, NEVER},
        {0, 3, 100, BACK, 0, 5, NEVER}, {1, 1, 110, HOLD, 0, 5, NEVER},
        {1, 3, 130, BACK, 0, 5, NEVER}, {1, 1, 160, HOLD, 0, 5, NEVER},
        {1, 3, 200, BACK, 0, 5, NEVER}, {0, 3, 200, BACK, 0, 5, NEVER}};
    struct probity_model *model = start_model();

    (void)state;
    PUT_HITS(model, hits);
    const struct probity_model_result *result = finish(model);
    const struct probity_model_station *lock = result->stations[PROBITY_MODEL_LOCK][0];
    assert_int_equal(lock->arrivals, 3);
    assert_int_equal(lock->departures, 4);
    assert_int_equal(lock->strays, 1);
    assert_int_equal(lock->waits.count, 1);
    assert_int_equal(lock->waits.total_ns, 60);
    assert_int_equal(lock->stays.count, 3);
    assert_int_equal(lock->stays.total_ns, 100 + 20 + 40);
    assert_int_equal(lock->level.max, 1);
    expect_near(160.0 / 200, lock->little.length);
    expect_near(0, lock->little.difference);
    probity_model_close(model);
}

/* Two readers at a time, and a thread that acquires a lock it already holds. */
static void a_lock_may_have_several_holders(void **state)
{
    static const struct hit hits[] = {
        {0, 1, 0, HOLD, 0, 5, NEVER},  {1, 1, 10, HOLD, 0, 5, NEVER},
        {1, 1, 15, HOLD, 0, 5, NEVER}, {1, 3, 20, BACK, 0, 5, NEVER},
        {0, 3, 30, BACK, 0, 5, NEVER}, {0, 1, 40, HOLD, 0, 5, NEVER}};
    struct probity_model *model = start_model();

    (void)state;
    PUT_HITS(model, hits);
    const struct probity_model_station *lock = finish(model)->stations[PROBITY_MODEL_LOCK][0];
    assert_int_equal(lock->arrivals, 4);
    assert_int_equal(lock->again, 1);
    assert_int_equal(lock->stays.total_ns, 10 + 30);
    assert_int_equal(lock->level.max, 2);
    assert_int_equal(lock->level.now, 1);
    probity_model_close(model);
}

/* ---- Requests ----------------------------------------------------------------------------------
 */

/* Two kinds of requests that end in another thread, with reused ids. */
static void requests_are_of_their_begin(void **state)
{
    static const struct hit hits[] = {
        {0, 1, 0, BEGIN, 1, 0, NEVER},  {0, 2, 10, BEGIN, 2, 0, NEVER},
        {1, 9, 30, END, 2, 0, NEVER},   {1, 9, 50, END, 1, 0, NEVER},
        {1, 9, 60, END, 1, 0, NEVER},   {0, 1, 100, BEGIN, 2, 0, NEVER},
        {0, 1, 200, BEGIN, 2, 0, NEVER}, {1, 9, 210, END, 2, 0, NEVER}};
    struct probity_model *model = start_model();

    (void)state;
    PUT_HITS(model, hits);
    const struct probity_model_result *result = finish(model);
    assert_int_equal(result->station_counts[PROBITY_MODEL_REQUEST], 2);
    assert_int_equal(result->ends_without_begin, 1);
    const struct probity_model_station *first = result->stations[PROBITY_MODEL_REQUEST][0];
    const struct probity_model_station *second = result->stations[PROBITY_MODEL_REQUEST][1];
    assert_int_equal(first->begin->number, 1);
    assert_int_equal(first->arrivals, 3);
    assert_int_equal(first->departures, 2);
    assert_int_equal(first->again, 1);
    assert_int_equal(first->stays.total_ns, 50 + 10);
    assert_int_equal(first->gaps.total_ns, 200);
    expect_near(0, probity_duration_stats_variance(&first->gaps));
    assert_true(first->level.area == 50 + 100 + 10);
    assert_int_equal(second->stays.total_ns, 20);
    assert_int_equal(second->users->role, BEGIN);
    assert_int_equal(second->users->next->role, END);
    assert_int_equal(second->users->next->node->probe->number, 9);
    probity_model_close(model);
}

/* Requests that never end do not increase memory without limit. */
static void too_many_ids_are_forgotten(void **state)
{
    enum { MORE = 10 };
    struct probity_model *model = start_model();

    (void)state;
    for (uint64_t i = 1; i <= PROBITY_INFLIGHT_MAX + MORE; i++) {
        const struct hit hit = {0, 1, i, BEGIN, i, 0, NEVER};
        put_hits(model, &hit, 1);
    }
    /* The oldest ones were evicted, but not the next one. */
    const struct hit ends[] = {{0, 2, PROBITY_INFLIGHT_MAX + MORE + 1, END, MORE, 0, NEVER},
                               {0, 2, PROBITY_INFLIGHT_MAX + MORE + 1, END, MORE + 1, 0, NEVER}};
    PUT_HITS(model, ends);
    const struct probity_model_result *result = finish(model);
    const struct probity_model_station *request = result->stations[PROBITY_MODEL_REQUEST][0];
    assert_int_equal(result->forgotten, MORE);
    assert_int_equal(request->forgotten, MORE);
    assert_int_equal(result->ends_without_begin, 1);
    assert_int_equal(request->departures, 1);
    assert_int_equal(request->stays.total_ns, PROBITY_INFLIGHT_MAX);
    assert_int_equal(request->level.now, PROBITY_INFLIGHT_MAX - 1);
    assert_int_equal(request->level.max, PROBITY_INFLIGHT_MAX);
    probity_model_close(model);
}

/* ---- Groups ------------------------------------------------------------------------------------
 */

/* One of three workers begins differently; main and helper have the same name but do different
 * things. */
static void threads_that_do_the_same_are_a_group(void **state)
{
    static const struct hit hits[] = {
        {0, 1, 0, 0, 0, 0, 0},    {0, 2, 10, 0, 0, 0, 4},  {0, 1, 20, 0, 0, 0, 4},
        {0, 3, 25, 0, 0, 0, 4},   {1, 1, 100, 0, 0, 0, 0}, {1, 2, 130, 0, 0, 0, 0},
        {2, 2, 200, 0, 0, 0, 0},  {2, 1, 201, 0, 0, 0, 0}, {2, 2, 203, 0, 0, 0, 0},
        {3, 50, 300, 0, 0, 0, 0}, {3, 51, 310, 0, 0, 0, 0}, {4, 60, 300, 0, 0, 0, 0},
        {4, 61, 310, 0, 0, 0, 0}};
    struct probity_model *model = start_model();

    (void)state;
    put_name(model, 0, "worker-1");
    put_name(model, 1, "worker-22");
    put_name(model, 2, "worker-3");
    put_name(model, 3, "server");
    put_name(model, 4, "server");
    PUT_HITS(model, hits);
    const struct probity_model_result *result = finish(model);
    assert_int_equal(result->group_count, 3);
    assert_int_equal(result->threads, 5);
    const struct probity_model_group *workers = result->groups[0];
    assert_string_equal(workers->name, "worker-*");
    assert_int_equal(workers->threads, 3);
    assert_int_equal(workers->hits, 9);
    assert_int_equal(workers->wall_ns, 25 + 30 + 3);
    assert_int_equal(workers->lifetime_ns, 25 + 30 + 3);
    assert_int_equal(workers->cpu_ns, 21 + 30 + 3);
    assert_int_equal(workers->node_count, 3);
    assert_int_equal(workers->nodes[0]->starts, 2);
    assert_int_equal(workers->nodes[1]->starts, 1);
    assert_int_equal(workers->nodes[1]->ends, 2);
    assert_int_equal(workers->nodes[2]->ends, 1);
    assert_int_equal(workers->block_count, 3); /* 1 to 2, 1 to 3, 2 to 1 */
    const struct probity_model_block *block = workers->blocks[0];
    assert_int_equal(block->wall.count, 3);
    expect_near(0.75, probity_model_probability(block));
    assert_int_equal(block->cpu.total_ns, 6 + 30 + 2);
    assert_int_equal(block->off.total_ns, 4);
    assert_int_equal(block->off.max_ns, 4);
    expect_near(0.25, probity_model_probability(workers->blocks[1]));
    expect_near(0, result->row_error);
    assert_string_equal(result->groups[1]->name, "server");
    assert_string_equal(result->groups[2]->name, "server");
    assert_int_equal(result->groups[1]->nodes[0]->probe->number, 50);
    probity_model_close(model);
}

/* A lock that all threads use does not group them; a thread that only took locks joins the group of
 * its name. */
static void locks_do_not_make_a_group(void **state)
{
    static const struct hit hits[] = {
        {0, 8, 0, HOLD, 0, 5, NEVER}, {0, 9, 1, BACK, 0, 5, NEVER}, {0, 1, 2, 0, 0, 0, NEVER},
        {1, 2, 3, 0, 0, 0, NEVER},    {1, 8, 4, HOLD, 0, 5, NEVER}, {1, 9, 5, BACK, 0, 5, NEVER}};
    struct probity_model *model = start_model();

    (void)state;
    PUT_HITS(model, hits);
    const struct probity_model_result *result = finish(model);
    assert_int_equal(result->group_count, 2);
    assert_null(result->groups[0]->name);
    /* Both groups use the lock. */
    unsigned users = 0;
    const struct probity_model_station *lock = result->stations[PROBITY_MODEL_LOCK][0];
    for (const struct probity_model_user *user = lock->users; user != NULL; user = user->next)
        users++;
    assert_int_equal(users, 4);
    probity_model_close(model);
}

/* With unlimited names and beginnings, all threads beyond the limit form one group, which is
 * reported. */
static void too_many_names_are_one_group(void **state)
{
    enum { MORE = 5 };
    struct probity_model *model = start_model();

    (void)state;
    for (uint32_t i = 0; i < PROBITY_MODEL_SEEDS_MAX + MORE; i++) {
        const struct hit hit = {i, i, i, 0, 0, 0, NEVER};
        put_hits(model, &hit, 1);
    }
    const struct probity_model_result *result = finish(model);
    assert_int_equal(result->threads_left_out, MORE);
    assert_int_equal(result->group_count, PROBITY_MODEL_SEEDS_MAX + 1);
    assert_int_equal(result->groups[0]->threads, MORE);
    probity_model_close(model);
}

static void nothing_makes_an_empty_model(void **state)
{
    struct probity_model *model = start_model();

    (void)state;
    const struct probity_model_result *result = finish(model);
    assert_int_equal(result->hits, 0);
    assert_int_equal(result->group_count, 0);
    assert_int_equal(result->to_ns, result->from_ns);
    probity_model_close(model);
    model = start_model();
    const struct hit one = {0, 1, 5, BEGIN, 1, 0, NEVER};
    put_hits(model, &one, 1);
    result = finish(model);
    assert_int_equal(result->group_count, 1);
    assert_int_equal(result->groups[0]->block_count, 0);
    expect_near(0, result->stations[PROBITY_MODEL_REQUEST][0]->little.difference);
    probity_model_close(model);
}

/* ---- Samples -----------------------------------------------------------------------------------
 */

static void variances_are_exact(void **state)
{
    struct probity_duration_stats times = {.count = 0}, other = {.count = 0};

    (void)state;
    expect_near(0, probity_duration_stats_variance(&times));
    /* A narrow sample far from zero, where a difference of two sums would lose all precision. */
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(probity_duration_stats_add(i < 500 ? &times : &other,
                                                    UINT64_C(4000000000000000) + i % 2), 0);
    assert_int_equal(probity_duration_stats_merge(&times, &other), 0);
    expect_near(0.25, probity_duration_stats_variance(&times));
    assert_int_equal(times.count, 1000);
    assert_int_equal(times.max_ns, UINT64_C(4000000000000001));
    assert_int_equal(times.fine.count, 1000);
    probity_duration_stats_release(&times);
    probity_duration_stats_release(&other);
}

/* ---- Paths -------------------------------------------------------------------------------------
 */

struct way {
    uint32_t from, to;
    uint64_t calls, wall_ns, cpu_calls, cpu_ns;
};

/* A path crosses threads. The end of a request ends its path; locks and hits without an id are not
 * part of it. */
static void ways_go_from_thread_to_thread(void **state)
{
    static const struct hit hits[] = {
        {0, 1, 0, PUT, 4, 7, 0},   {0, 1, 10, PUT, 5, 7, 0}, {1, 2, 30, GET, 4, 7, 0},
        {1, 8, 31, HOLD, 4, 9, 0}, {1, 3, 35, 0, 0, 0, 0},   {1, 4, 50, END, 4, 0, 15},
        {2, 2, 60, GET, 5, 7, 0},  {0, 1, 70, PUT, 4, 7, 0}, {2, 4, 80, END, 5, 0, 0},
        {2, 2, 90, GET, 4, 7, 0}};
    static const struct way expected[] = {{1, 2, 3, 30 + 50 + 20, 0, 0},
                                          {2, 4, 2, 20 + 20, 2, 5 + 20}};
    const struct probity_blocks_options options = {.by_correlation = 1};
    struct probity_blocks *blocks;
    size_t count;

    (void)state;
    assert_int_equal(probity_blocks_open(&options, &blocks), 0);
    for (size_t i = 0; i < sizeof hits / sizeof *hits; i++) {
        const struct probity_event event = event_of(&hits[i]);
        assert_int_equal(probity_blocks_put(blocks, &event), 0);
    }
    const struct probity_blocks_pair *const *pairs =
        probity_blocks_sort(blocks, PROBITY_BLOCKS_NAME, &count);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(pairs[i]->from->number, expected[i].from);
        assert_int_equal(pairs[i]->to->number, expected[i].to);
        assert_int_equal(pairs[i]->calls, expected[i].calls);
        assert_int_equal(pairs[i]->wall_ns, expected[i].wall_ns);
        assert_int_equal(pairs[i]->cpu_calls, expected[i].cpu_calls);
        assert_int_equal(pairs[i]->cpu_ns, expected[i].cpu_ns);
    }
    assert_int_equal(probity_blocks_forgotten(blocks), 0);
    probity_blocks_close(blocks);
}

/* The path unused for longest is evicted, not the one that began first. */
static void the_way_left_alone_is_forgotten(void **state)
{
    const struct probity_blocks_options options = {.by_correlation = 1};
    struct probity_blocks *blocks;
    uint64_t ns = 0;
    size_t count;

    (void)state;
    assert_int_equal(probity_blocks_open(&options, &blocks), 0);
    for (uint64_t i = 1; i <= PROBITY_INFLIGHT_MAX + 1; i++) {
        const struct hit hits[] = {{0, 1, ns, 0, i, 0, NEVER}, {0, 2, ns + 1, 0, 1, 0, NEVER}};
        ns += 2;
        for (size_t k = 0; k < (i > 1 ? 2 : 1); k++) {
            const struct probity_event event = event_of(&hits[k]);
            assert_int_equal(probity_blocks_put(blocks, &event), 0);
        }
    }
    assert_int_equal(probity_blocks_forgotten(blocks), 1);
    const struct probity_blocks_pair *const *pairs =
        probity_blocks_sort(blocks, PROBITY_BLOCKS_NAME, &count);
    assert_int_equal(count, 2); /* 1 to 2 once, then 2 to 2 */
    assert_int_equal(pairs[1]->calls, PROBITY_INFLIGHT_MAX - 1);
    probity_blocks_close(blocks);
}

static void nothing_goes_over_a_loss(void **state)
{
    static const struct hit before[] = {{0, 1, 0, 0, 0, 0, NEVER}, {0, 2, 10, 0, 0, 0, NEVER},
                                        {0, 3, 20, WAIT, 0, 9, NEVER}};
    static const struct hit behind[] = {{0, 3, 90, HOLD, 0, 9, NEVER}, {0, 2, 95, 0, 0, 0, NEVER}};
    const struct probity_event lost = {.kind = PROBITY_EVENT_LOST, .wall_ns = START + 50};
    struct probity_model *model = start_model();

    (void)state;
    PUT_HITS(model, before);
    assert_int_equal(probity_model_put(model, &lost), 0);
    PUT_HITS(model, behind);
    const struct probity_model_result *result = finish(model);
    uint64_t hits = 0, followed = 0, ends = 0;
    for (size_t i = 0; i < result->groups[0]->node_count; i++) {
        const struct probity_model_node *node = result->groups[0]->nodes[i];
        hits += node->hits;
        followed += node->followed;
        ends += node->ends;
    }
    assert_int_equal(hits, 5);
    assert_int_equal(followed, 3);
    assert_int_equal(ends, 1);
    assert_int_equal(result->threads, 1);
    assert_int_equal(result->groups[0]->wall_ns, 25);
    assert_int_equal(result->stations[PROBITY_MODEL_LOCK][0]->waits.count, 0);
    probity_model_close(model);
}

static void put_state(struct probity_model *model, uint64_t ns, uint8_t state)
{
    uint8_t payload[8] = {state};
    const struct probity_event event = {.kind = PROBITY_EVENT_THREAD_STATE, .tid = 100,
                                        .wall_ns = START + ns, .payload = payload,
                                        .payload_bytes = sizeof payload};

    assert_int_equal(probity_model_put(model, &event), 0);
}

/* A reader of a range needs the end of the wait. */
static void a_wait_for_a_cpu_may_end_after_the_range(void **state)
{
    const struct hit hits[] = {{.probe = 1, .ns = 110}, {.probe = 2, .ns = 120}};
    const struct probity_model_result *result;
    struct probity_model *model;

    (void)state;
    assert_int_equal(probity_model_open(START + 100, START + 200, &model), 0);
    put_state(model, 50, PROBITY_STATE_RUNNABLE);
    assert_int_equal(probity_model_pending(model), 0);
    PUT_HITS(model, hits);
    put_state(model, 130, PROBITY_STATE_RUNNING);
    assert_int_equal(probity_model_pending(model), 0);
    put_state(model, 150, PROBITY_STATE_RUNNABLE);
    assert_int_equal(probity_model_pending(model), 1);
    put_state(model, 230, PROBITY_STATE_RUNNING);
    assert_int_equal(probity_model_pending(model), 0);
    put_state(model, 240, PROBITY_STATE_RUNNABLE);
    assert_int_equal(probity_model_pending(model), 0);
    result = finish(model);
    assert_int_equal(result->group_count, 1);
    assert_int_equal(result->groups[0]->run_queue.count, 1);
    assert_int_equal(result->groups[0]->run_queue.total_ns, 80);
    probity_model_close(model);
}

/* Returns the model of requests at each of `times` in each of the traces 0 to 2, between which
 * sites of trace 1 are switched. */
static struct probity_model *switched_model(const uint64_t *times, size_t count)
{
    struct probity_model *model = start_model();

    for (size_t i = 0; i < count; i++) {
        for (uint32_t trace = 0; trace < 3; trace++) {
            const struct hit hit = {trace, 5 + trace, times[i], BEGIN, 10 * i + 1, 0, NEVER};
            struct probity_event begin = event_of(&hit), lock = begin;
            begin.trace = lock.trace = trace;
            lock.role = i % 2 == 0 ? WAIT : HOLD;
            lock.id = 8;
            lock.has_object = 1;
            lock.object = 9;
            assert_int_equal(probity_model_put(model, &begin), 0);
            assert_int_equal(probity_model_put(model, &lock), 0);
        }
        const struct probity_event switched = {.kind = PROBITY_EVENT_SITES_SWITCHED, .trace = 1,
                                               .thread_slot = 3, .wall_ns = START + times[i] + 1};
        assert_int_equal(probity_model_put(model, &switched), 0);
    }
    return model;
}

/* Sites switched off in one process do not hide hits of another. */
static void only_the_switched_trace_is_cut(void **state)
{
    static const uint64_t times[] = {0, 100};
    struct probity_model *model = switched_model(times, 2);

    (void)state;
    const struct probity_model_result *result = finish(model);
    assert_int_equal(result->station_counts[PROBITY_MODEL_REQUEST], 3);
    for (size_t i = 0; i < 3; i++) {
        const struct probity_model_station *requests = result->stations[PROBITY_MODEL_REQUEST][i];
        uint64_t is_cut = requests->begin->number == 6;
        assert_int_equal(requests->arrivals, 2);
        assert_int_equal(requests->gaps.count, 1 - is_cut);
        assert_int_equal(requests->gaps.total_ns, is_cut ? 0 : 100);
        assert_int_equal(requests->level.now, is_cut ? 0 : 2);
        const struct probity_model_station *lock = result->stations[PROBITY_MODEL_LOCK][i];
        assert_int_equal(lock->waits.count, lock->trace != 1);
    }
    uint64_t followed = 0;
    for (size_t i = 0; i < result->group_count; i++) {
        for (size_t k = 0; k < result->groups[i]->node_count; k++)
            followed += result->groups[i]->nodes[k]->followed;
    }
    assert_int_equal(followed, 3 + 3 + 2);
    probity_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regular_items_make_a_regular_queue),
        cmocka_unit_test(lengths_are_summed_over_time),
        cmocka_unit_test(items_in_part_are_reported),
        cmocka_unit_test(holds_and_waits_are_of_threads),
        cmocka_unit_test(a_lock_may_have_several_holders),
        cmocka_unit_test(requests_are_of_their_begin),
        cmocka_unit_test(too_many_ids_are_forgotten),
        cmocka_unit_test(threads_that_do_the_same_are_a_group),
        cmocka_unit_test(locks_do_not_make_a_group),
        cmocka_unit_test(too_many_names_are_one_group),
        cmocka_unit_test(nothing_makes_an_empty_model),
        cmocka_unit_test(variances_are_exact),
        cmocka_unit_test(ways_go_from_thread_to_thread),
        cmocka_unit_test(the_way_left_alone_is_forgotten),
        cmocka_unit_test(nothing_goes_over_a_loss),
        cmocka_unit_test(a_wait_for_a_cpu_may_end_after_the_range),
        cmocka_unit_test(only_the_switched_trace_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
