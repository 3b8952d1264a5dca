/* SPDX-License-Identifier: MIT
 *
 * hosts_place.c: compares each pair of linked hosts, then places each host on the clock of its
 * reference by the chain of pairs with the least error (doc/hosts.md, "From pairs to one time
 * line").
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "probity.h"
#include "reader/hosts_internal.h"

/* Conversions round to whole ns, up to twice for each time. */
#define ROUNDING_NS 2

/* The bounds of two hosts, in order of the left host's time. */
struct pair {
    struct host_bound *bounds;
    size_t count;
};

/* Bounds as points: times since origin_ns, offsets from base_ns. */
struct frame {
    struct probity_align_bounds points;
    uint64_t origin_ns, base_ns;
    double first, last; /* range of times for which the offset is needed */
    int is_started;
};

/* The chain of pairs from the reference to a host: its last pair, and the sum of errors. */
struct chain {
    size_t pair;
    uint32_t unknown; /* number of its pairs whose error is unknown */
    double error_ns;
    int is_known;
};

struct placing {
    struct hosts *hosts;
    struct pair *pairs;
    struct chain *chains; /* by host */
    struct frame frame; /* has room for all bounds of each kind */
};

static double since(uint64_t ns, uint64_t origin_ns)
{
    return (double)(int64_t)(ns - origin_ns);
}

static int64_t rounded(double ns)
{
    return ns >= 9e18 ? INT64_MAX : ns <= -9e18 ? -INT64_MAX : (int64_t)llround(ns);
}

uint64_t hosts_to_reference(const struct host_place *place, uint64_t host_ns)
{
    double slope = (place->line.at_end - place->line.at_begin) / place->line.span;
    double after = since(host_ns, place->base_ns + place->origin_ns);
    double time = (after - place->line.at_begin) / (1 + slope);

    probity_assert(place->is_placed);
    return host_ns - place->base_ns -
           (uint64_t)rounded(place->line.at_begin + slope * time);
}

uint64_t hosts_rate_to_reference(const struct host_place *place, uint64_t rate)
{
    double slope = (place->line.at_end - place->line.at_begin) / place->line.span;

    probity_assert(place->is_placed);
    return rate - (uint64_t)rounded((double)rate * slope / (1 + slope));
}

/* ---- Points ------------------------------------------------------------------------------------
 */

static void widen(struct frame *frame, double time)
{
    frame->first = time < frame->first ? time : frame->first;
    frame->last = time > frame->last ? time : frame->last;
}

/* Adds a message between a host whose time x_ns is known and another host, at its time y_ns.
 * is_upper: the other host received it. */
static void add_point(struct frame *frame, uint64_t x_ns, uint64_t y_ns, int is_upper)
{
    struct probity_align_bounds *points = &frame->points;

    if (!frame->is_started) {
        frame->origin_ns = x_ns;
        frame->base_ns = y_ns - x_ns;
        frame->first = frame->last = 0;
        frame->is_started = 1;
    }
    const struct probity_align_point point = {since(x_ns, frame->origin_ns),
                                              since(y_ns - x_ns, frame->base_ns)};
    if (is_upper)
        points->upper[points->upper_count++] = point;
    else
        points->lower[points->lower_count++] = point;
    widen(frame, point.x);
}

static void clear_frame(struct frame *frame)
{
    frame->is_started = 0;
    frame->points.upper_count = frame->points.lower_count = 0;
}

/* Extends the range by the times of the other host's records. */
static void widen_by(struct frame *frame, const struct probity_host *other)
{
    if (other->first_ns > other->last_ns)
        return;
    widen(frame, since(other->first_ns - frame->base_ns, frame->origin_ns));
    widen(frame, since(other->last_ns - frame->base_ns, frame->origin_ns));
}

/* Moves the origin to the first time that is needed. Returns the length of the range. */
static double settle_frame(struct frame *frame)
{
    int64_t moved = rounded(frame->first) - 1;
    struct probity_align_bounds *points = &frame->points;

    for (size_t i = 0; i < points->upper_count; i++)
        points->upper[i].x -= (double)moved;
    for (size_t i = 0; i < points->lower_count; i++)
        points->lower[i].x -= (double)moved;
    frame->origin_ns += (uint64_t)moved;
    probity_align_reduce(points);
    return frame->last - (double)moved + 1;
}

/* ---- Pairs -------------------------------------------------------------------------------------
 */

static int compare_bounds(const void *left, const void *right)
{
    const struct host_bound *a = left, *b = right;

    if (a->left != b->left)
        return a->left < b->left ? -1 : 1;
    if (a->right != b->right)
        return a->right < b->right ? -1 : 1;
    if (a->is_request != b->is_request)
        return a->is_request - b->is_request;
    if (a->left_ns != b->left_ns)
        return a->left_ns < b->left_ns ? -1 : 1;
    return a->right_ns < b->right_ns ? -1 : a->right_ns > b->right_ns;
}

static int add_pair(struct placing *placing, size_t *capacity, struct host_bound *bounds,
                    size_t count)
{
    struct probity_hosts *hosts = placing->hosts->hosts;
    struct probity_host_pair pair = {bounds->left, bounds->right, PROBITY_PAIR_BOUNDED,
                                     bounds->is_request, 0, 0, 0, 0, UINT64_MAX, 0};

    for (size_t i = 0; i < count; i++) {
        pair.forward += bounds[i].is_forward != 0;
        pair.backward += bounds[i].is_forward == 0;
    }
    if (hosts->pair_count == *capacity) {
        size_t grown = *capacity > 0 ? 2 * *capacity : 16;
        void *pairs = realloc(hosts->pairs, grown * sizeof *hosts->pairs);
        if (pairs != NULL)
            hosts->pairs = pairs;
        void *own = realloc(placing->pairs, grown * sizeof *placing->pairs);
        if (own != NULL)
            placing->pairs = own;
        if (pairs == NULL || own == NULL)
            return PROBITY_ERROR_MEMORY;
        *capacity = grown;
    }
    placing->pairs[hosts->pair_count] = (struct pair){bounds, count};
    hosts->pairs[hosts->pair_count++] = pair;
    return 0;
}

/* Finds the pairs. Requests are used only between hosts without messages. */
static int find_pairs(struct placing *placing)
{
    struct host_bounds *bounds = &placing->hosts->bounds;
    size_t capacity = 0;
    int error = 0;

    if (bounds->count > 1)
        qsort(bounds->items, bounds->count, sizeof *bounds->items, compare_bounds);
    for (size_t i = 0, end; error == 0 && i < bounds->count; i = end) {
        struct host_bound *first = &bounds->items[i];
        size_t count = 0;
        for (end = i; end < bounds->count && bounds->items[end].left == first->left &&
                      bounds->items[end].right == first->right; end++)
            count += bounds->items[end].is_request == first->is_request;
        error = add_pair(placing, &capacity, first, count);
    }
    return error;
}

/* Adds the points of the first bounds of a pair, by the left host's time. */
static void put_points(struct placing *placing, const struct pair *pair, size_t count)
{
    clear_frame(&placing->frame);
    for (size_t i = 0; i < count; i++)
        add_point(&placing->frame, pair->bounds[i].left_ns, pair->bounds[i].right_ns,
                  pair->bounds[i].is_forward);
}

static int fit_frame(struct placing *placing, const struct probity_host *left,
                     const struct probity_host *right, double slope_max,
                     struct probity_align_fit *ret_fit)
{
    struct frame *frame = &placing->frame;

    if (left->first_ns <= left->last_ns) {
        widen(frame, since(left->first_ns, frame->origin_ns));
        widen(frame, since(left->last_ns, frame->origin_ns));
    }
    widen_by(frame, right);
    double span = settle_frame(frame);
    if (frame->points.upper_count == 0 || frame->points.lower_count == 0)
        return 1;
    return probity_align_fit(&frame->points, span, slope_max, ret_fit);
}

/* Finds the last bound, in order of time, up to which all bounds are consistent. */
static int find_contradiction(struct placing *placing, const struct pair *pair,
                              struct probity_host_pair *facts)
{
    const struct probity_host *hosts = placing->hosts->hosts->hosts;
    size_t low = 1, high = pair->count;
    struct probity_align_fit fit;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        put_points(placing, pair, middle);
        int got = fit_frame(placing, &hosts[facts->left], &hosts[facts->right],
                            PROBITY_ALIGN_SLOPE_MAX, &fit);
        if (got < 0)
            return got;
        low = got == 1 ? middle : low;
        high = got == 1 ? high : middle;
    }
    facts->agree_until_ns = pair->bounds[low - 1].left_ns;
    return 0;
}

/* Returns the offset if all bounds are of one kind: that of the unchanged clocks, or the nearest
 * one that satisfies the bounds. */
static double one_sided_offset(const struct frame *frame)
{
    const struct probity_align_bounds *points = &frame->points;
    double trusted = -(double)(int64_t)frame->base_ns, offset = trusted;

    for (size_t i = 0; i < points->upper_count; i++)
        offset = points->upper[i].y < offset ? points->upper[i].y : offset;
    for (size_t i = 0; i < points->lower_count; i++)
        offset = points->lower[i].y > offset ? points->lower[i].y : offset;
    return offset;
}

static double slack_of(const struct probity_host *left, const struct probity_host *right)
{
    return (double)left->clock_bound_ns + (double)right->clock_bound_ns + ROUNDING_NS;
}

static int compare_pair(struct placing *placing, size_t number)
{
    struct probity_host_pair *facts = &placing->hosts->hosts->pairs[number];
    const struct probity_host *hosts = placing->hosts->hosts->hosts;
    const struct pair *pair = &placing->pairs[number];
    const struct frame *frame = &placing->frame;
    struct probity_align_fit fit;

    put_points(placing, pair, pair->count);
    int got = fit_frame(placing, &hosts[facts->left], &hosts[facts->right],
                        PROBITY_ALIGN_SLOPE_MAX, &fit);
    if (got < 0)
        return got;
    if (facts->forward == 0 || facts->backward == 0) {
        facts->state = PROBITY_PAIR_ONE_SIDED;
        facts->offset_ns =
            (int64_t)(frame->base_ns + (uint64_t)rounded(one_sided_offset(frame)));
        return 0;
    }
    if (got == 0) {
        facts->state = PROBITY_PAIR_CONTRADICTORY;
        return find_contradiction(placing, pair, facts);
    }
    double error = probity_align_error(&fit, &fit.line);
    facts->offset_ns = (int64_t)(frame->base_ns + (uint64_t)rounded(fit.line.at_begin));
    facts->drift_ppm = (fit.line.at_end - fit.line.at_begin) / fit.line.span * 1e6;
    facts->error_ns =
        (uint64_t)rounded(ceil(error + slack_of(&hosts[facts->left], &hosts[facts->right])));
    return 0;
}

/* ---- Places ------------------------------------------------------------------------------------
 */

/* Adds points for a host from its bounds to a host that is placed. */
static void add_points_of(struct placing *placing, size_t number, uint32_t host)
{
    const struct probity_host_pair *facts = &placing->hosts->hosts->pairs[number];
    const struct pair *pair = &placing->pairs[number];
    int is_right = facts->right == host;
    const struct host_place *known =
        &placing->hosts->places[is_right ? facts->left : facts->right];

    for (size_t i = 0; i < pair->count; i++) {
        const struct host_bound *bound = &pair->bounds[i];
        add_point(&placing->frame,
                  hosts_to_reference(known, is_right ? bound->left_ns : bound->right_ns),
                  is_right ? bound->right_ns : bound->left_ns,
                  is_right ? bound->is_forward : !bound->is_forward);
    }
}

/* Returns the other host of a usable pair, if it is placed with the same reference; else
 * UINT32_MAX. */
static uint32_t placed_partner(const struct placing *placing, size_t number, uint32_t host,
                               uint32_t reference)
{
    const struct probity_host_pair *facts = &placing->hosts->hosts->pairs[number];
    uint32_t other = facts->left == host    ? facts->right
                     : facts->right == host ? facts->left
                                            : UINT32_MAX;

    if (other == UINT32_MAX || facts->state == PROBITY_PAIR_CONTRADICTORY ||
        !placing->hosts->places[other].is_placed ||
        placing->hosts->hosts->hosts[other].reference != reference)
        return UINT32_MAX;
    return other;
}

static void set_place(struct placing *placing, uint32_t host, const struct probity_align_line *line)
{
    struct host_place *place = &placing->hosts->places[host];
    struct probity_host *facts = &placing->hosts->hosts->hosts[host];

    place->line = *line;
    place->origin_ns = placing->frame.origin_ns;
    place->base_ns = placing->frame.base_ns;
    place->is_placed = 1;
    facts->offset_ns = (int64_t)(place->base_ns + (uint64_t)rounded(line->at_begin));
    facts->drift_ppm = (line->at_end - line->at_begin) / line->span * 1e6;
}

/* Fits the host's line to the bounds of one pair, or (SIZE_MAX) to those of all pairs with placed
 * hosts. */
static int fit_host(struct placing *placing, uint32_t host, uint32_t reference, size_t only,
                    struct probity_align_fit *ret_fit)
{
    struct probity_host *hosts = placing->hosts->hosts->hosts;
    uint32_t hops = placing->hosts->places[host].hops;

    clear_frame(&placing->frame);
    /* This pair is first, because both calls for a host share the frame. */
    add_points_of(placing, placing->chains[host].pair, host);
    for (size_t i = 0; only == SIZE_MAX && i < placing->hosts->hosts->pair_count; i++) {
        if (i != placing->chains[host].pair &&
            placed_partner(placing, i, host, reference) != UINT32_MAX)
            add_points_of(placing, i, host);
    }
    struct probity_host covered = hosts[reference];
    return fit_frame(placing, &covered, &hosts[host], hops * PROBITY_ALIGN_SLOPE_MAX, ret_fit);
}

static void place_one_sided(struct placing *placing, uint32_t host)
{
    double offset = one_sided_offset(&placing->frame);

    set_place(placing, host, &(struct probity_align_line){1, offset, offset});
}

/* Returns the error of a line that satisfies the bounds to all placed hosts, judging by the bounds
 * of the last pair of its chain alone. placing->frame is of that pair. The origins of the frames
 * differ, because other bounds may cover more time. */
static double error_of_all(const struct placing *placing, const struct probity_align_fit *by_pair,
                           const struct frame *frame, const struct probity_align_line *all)
{
    double moved = since(placing->frame.origin_ns, frame->origin_ns);
    const struct probity_align_line line = {by_pair->line.span, probity_align_at(all, moved),
                                            probity_align_at(all, moved + by_pair->line.span)};

    return probity_align_error(by_pair, &line);
}

/* Places a host by the bounds to all placed hosts; if that is impossible, by those of the last pair
 * of the chain alone. */
static int place_by_bounds(struct placing *placing, uint32_t host, uint32_t reference,
                           double *ret_error)
{
    struct probity_align_fit by_pair, all;
    int is_all = fit_host(placing, host, reference, SIZE_MAX, &all);
    struct frame frame = placing->frame;

    if (is_all < 0)
        return is_all;
    is_all = is_all && frame.points.upper_count > 0 && frame.points.lower_count > 0;
    int got = fit_host(placing, host, reference, placing->chains[host].pair, &by_pair);
    if (got <= 0)
        return got;
    int is_bounded =
        placing->frame.points.upper_count > 0 && placing->frame.points.lower_count > 0;
    *ret_error = !is_bounded ? 0
                 : is_all    ? error_of_all(placing, &by_pair, &frame, &all.line)
                             : probity_align_error(&by_pair, &by_pair.line);
    if (is_all)
        placing->frame = frame;
    if (is_all || is_bounded)
        set_place(placing, host, is_all ? &all.line : &by_pair.line);
    else
        place_one_sided(placing, host);
    return 0;
}

static int place_host(struct placing *placing, uint32_t host, uint32_t reference)
{
    struct probity_hosts *hosts = placing->hosts->hosts;
    const struct probity_host_pair *pair = &hosts->pairs[placing->chains[host].pair];
    uint32_t from = pair->left == host ? pair->right : pair->left;
    double error = 0;

    placing->hosts->places[host].hops = placing->hosts->places[from].hops + 1;
    int failed = place_by_bounds(placing, host, reference, &error);
    if (failed != 0 || !placing->hosts->places[host].is_placed)
        return failed;
    hosts->hosts[host].reference = reference;
    error += slack_of(&hosts->hosts[host], &hosts->hosts[from]);
    hosts->hosts[host].error_ns =
        placing->chains[host].unknown > 0
            ? UINT64_MAX
            : hosts->hosts[from].error_ns + (uint64_t)rounded(ceil(error));
    return 0;
}

static int is_shorter(const struct chain *a, const struct chain *b)
{
    if (!b->is_known || a->unknown != b->unknown)
        return !b->is_known || a->unknown < b->unknown;
    return a->error_ns < b->error_ns;
}

/* Extends the chain of a host that was just placed to the hosts that are linked to it. */
static void find_chains(struct placing *placing, uint32_t from)
{
    const struct probity_hosts *hosts = placing->hosts->hosts;

    for (size_t i = 0; i < hosts->pair_count; i++) {
        const struct probity_host_pair *pair = &hosts->pairs[i];
        uint32_t to = pair->left == from ? pair->right : pair->left;
        int is_bounded = pair->state == PROBITY_PAIR_BOUNDED;
        const struct chain chain = {
            i, placing->chains[from].unknown + !is_bounded,
            placing->chains[from].error_ns + (is_bounded ? (double)pair->error_ns : 0), 1};
        if ((pair->left == from || pair->right == from) &&
            pair->state != PROBITY_PAIR_CONTRADICTORY && !placing->hosts->places[to].is_placed &&
            is_shorter(&chain, &placing->chains[to]))
            placing->chains[to] = chain;
    }
}

/* Returns the host with the shortest chain of those that are not placed; UINT32_MAX: none. */
static uint32_t nearest(const struct placing *placing)
{
    const struct probity_hosts *hosts = placing->hosts->hosts;
    uint32_t least = UINT32_MAX;

    for (uint32_t i = 0; i < hosts->count; i++) {
        if (placing->chains[i].is_known && !placing->hosts->places[i].is_placed &&
            (least == UINT32_MAX || is_shorter(&placing->chains[i], &placing->chains[least])))
            least = i;
    }
    return least;
}

/* Places all hosts that are linked to the reference. */
static int place_all(struct placing *placing, uint32_t reference)
{
    static const struct probity_align_line same = {1, 0, 0};
    uint32_t host;
    int error = 0;

    clear_frame(&placing->frame);
    placing->frame.origin_ns = placing->frame.base_ns = 0;
    set_place(placing, reference, &same);
    placing->hosts->hosts->hosts[reference].error_ns = 0;
    find_chains(placing, reference);
    while (error == 0 && (host = nearest(placing)) != UINT32_MAX) {
        error = place_host(placing, host, reference);
        if (placing->hosts->places[host].is_placed)
            find_chains(placing, host);
        placing->chains[host].is_known = 0;
    }
    return error;
}

static int is_linked(const struct probity_hosts *hosts, uint32_t host)
{
    for (size_t i = 0; i < hosts->pair_count; i++) {
        const struct probity_host_pair *pair = &hosts->pairs[i];
        if ((pair->left == host || pair->right == host) &&
            pair->state != PROBITY_PAIR_CONTRADICTORY)
            return 1;
    }
    return 0;
}

static int place_linked(struct placing *placing)
{
    struct probity_hosts *hosts = placing->hosts->hosts;
    int error = 0;

    for (size_t i = 0; error == 0 && i < hosts->pair_count; i++)
        error = compare_pair(placing, i);
    for (uint32_t i = 0; error == 0 && i < hosts->count; i++) {
        hosts->hosts[i].is_linked = is_linked(hosts, i);
        if (hosts->hosts[i].is_linked && !placing->hosts->places[i].is_placed)
            error = place_all(placing, i);
    }
    return error;
}

int hosts_place(struct hosts *hosts)
{
    struct placing placing = {.hosts = hosts};
    size_t room = hosts->bounds.count;

    if (room == 0)
        return 0;
    placing.chains = calloc(hosts->hosts->count, sizeof *placing.chains);
    placing.frame.points.upper = malloc(room * sizeof(struct probity_align_point));
    placing.frame.points.lower = malloc(room * sizeof(struct probity_align_point));
    int error = placing.chains != NULL && placing.frame.points.upper != NULL &&
                        placing.frame.points.lower != NULL
                    ? find_pairs(&placing)
                    : PROBITY_ERROR_MEMORY;
    if (error == 0)
        error = place_linked(&placing);
    free(placing.chains);
    free(placing.pairs);
    free(placing.frame.points.upper);
    free(placing.frame.points.lower);
    return error;
}
