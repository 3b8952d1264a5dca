/* SPDX-License-Identifier: MIT
 *
 * align.c: intersects the polygon of all lines with the half-plane of each bound. A line is a
 * point: (value at the beginning, value at the end). Before that, the bounds are reduced to their
 * convex hulls: a line below all corners of the lower hull of the upper bounds is below all upper
 * bounds.
 */
#include "reader/align.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "probity.h"

/* ---- Hulls -------------------------------------------------------------------------------------
 */

static int compare_points(const void *left, const void *right)
{
    const struct probity_align_point *a = left, *b = right;

    if (a->x != b->x)
        return a->x < b->x ? -1 : 1;
    return a->y < b->y ? -1 : a->y > b->y;
}

/* Whether b is needed between a and c: it is below their line (side 1), or above it (side -1). */
static int is_corner(const struct probity_align_point *a, const struct probity_align_point *b,
                     const struct probity_align_point *c, double side)
{
    return side * ((b->y - a->y) * (c->x - a->x) - (c->y - a->y) * (b->x - a->x)) < 0;
}

/* Keeps only the lower hull (side 1) or the upper hull (side -1). */
static size_t keep_hull(struct probity_align_point *points, size_t count, double side)
{
    size_t kept = 0;

    if (count > 1)
        qsort(points, count, sizeof *points, compare_points);
    for (size_t i = 0; i < count; i++) {
        struct probity_align_point point = points[i];
        int is_same = kept > 0 && points[kept - 1].x == point.x;
        if (is_same && side * (point.y - points[kept - 1].y) >= 0)
            continue;
        kept -= (size_t)is_same;
        while (kept > 1 && !is_corner(&points[kept - 2], &points[kept - 1], &point, side))
            kept--;
        points[kept++] = point;
    }
    probity_assert(kept <= count);
    return kept;
}

void probity_align_reduce(struct probity_align_bounds *bounds)
{
    bounds->upper_count = keep_hull(bounds->upper, bounds->upper_count, 1);
    bounds->lower_count = keep_hull(bounds->lower, bounds->lower_count, -1);
}

/* ---- The polygon of lines ----------------------------------------------------------------------
 */

struct corner {
    double at[2]; /* values at both ends */
};

/* at_begin * weight[0] + at_end * weight[1] <= most */
struct half_plane {
    double weight[2], most;
};

struct polygon {
    struct corner *corners, *cut; /* cut: room for the next polygon */
    size_t count, room;
};

static double excess(const struct half_plane *plane, const struct corner *corner)
{
    return corner->at[0] * plane->weight[0] + corner->at[1] * plane->weight[1] - plane->most;
}

/* Cuts a polygon. Each cut adds at most one corner, unless rounding has made a tiny polygon
 * non-convex. */
static void cut_polygon(struct polygon *polygon, const struct half_plane *plane)
{
    struct corner *cut = polygon->cut;
    size_t count = 0;

    for (size_t i = 0; i < polygon->count && count + 2 <= polygon->room; i++) {
        const struct corner *a = &polygon->corners[i];
        const struct corner *b = &polygon->corners[i + 1 < polygon->count ? i + 1 : 0];
        double from = excess(plane, a), to = excess(plane, b);
        if (from <= 0)
            cut[count++] = *a;
        if ((from < 0 && to > 0) || (from > 0 && to < 0)) {
            double part = from / (from - to);
            cut[count++] = (struct corner){{a->at[0] + part * (b->at[0] - a->at[0]),
                                            a->at[1] + part * (b->at[1] - a->at[1])}};
        }
    }
    polygon->cut = polygon->corners;
    polygon->corners = cut;
    polygon->count = count;
}

/* Cuts by bounds. sign 1: upper bounds; -1: lower bounds. */
static void cut_by(struct polygon *polygon, const struct probity_align_point *points, size_t count,
                   double span, double sign)
{
    for (size_t i = 0; i < count && polygon->count > 0; i++) {
        double part = points[i].x / span;
        const struct half_plane plane = {{sign * (1 - part), sign * part}, sign * points[i].y};
        cut_polygon(polygon, &plane);
    }
}

/* Begins with a polygon of all lines that may satisfy the bounds: with the largest slope, a bound
 * at any time limits the values at both ends. */
static void start_polygon(struct polygon *polygon, const struct probity_align_bounds *bounds,
                          double change_max)
{
    double least = bounds->lower[0].y, most = bounds->upper[0].y;

    for (size_t i = 1; i < bounds->lower_count; i++)
        least = bounds->lower[i].y < least ? bounds->lower[i].y : least;
    for (size_t i = 1; i < bounds->upper_count; i++)
        most = bounds->upper[i].y > most ? bounds->upper[i].y : most;
    least -= change_max + 1;
    most += change_max + 1;
    const struct corner corners[] = {
        {{least, least}}, {{most, least}}, {{most, most}}, {{least, most}}};
    memcpy(polygon->corners, corners, sizeof corners);
    polygon->count = least <= most ? 4 : 0;
    const struct half_plane planes[] = {{{1, -1}, change_max}, {{-1, 1}, change_max}};
    cut_polygon(polygon, &planes[0]);
    cut_polygon(polygon, &planes[1]);
}

/* Computes the mean of the corners that are extreme at one of the ends, which is within the
 * polygon. */
static void conclude(const struct polygon *polygon, double span, struct probity_align_fit *ret_fit)
{
    struct corner sum = {{0, 0}};

    for (int end = 0; end < 2; end++) {
        const struct corner *least = &polygon->corners[0], *most = least;
        for (size_t i = 1; i < polygon->count; i++) {
            const struct corner *corner = &polygon->corners[i];
            least = corner->at[end] < least->at[end] ? corner : least;
            most = corner->at[end] > most->at[end] ? corner : most;
        }
        ret_fit->least[end] = least->at[end];
        ret_fit->most[end] = most->at[end];
        for (int other = 0; other < 2; other++)
            sum.at[other] += (least->at[other] + most->at[other]) / 4;
    }
    ret_fit->line = (struct probity_align_line){span, sum.at[0], sum.at[1]};
}

int probity_align_fit(const struct probity_align_bounds *bounds, double span, double slope_max,
                      struct probity_align_fit *ret_fit)
{
    size_t room = bounds->upper_count + bounds->lower_count + 8;
    struct polygon polygon = {malloc(room * sizeof(struct corner)),
                              malloc(room * sizeof(struct corner)), 0, room};

    probity_assert(bounds->upper_count > 0 && bounds->lower_count > 0 && span > 0);
    int got = polygon.corners != NULL && polygon.cut != NULL ? 1 : PROBITY_ERROR_MEMORY;
    if (got == 1) {
        start_polygon(&polygon, bounds, slope_max * span);
        cut_by(&polygon, bounds->upper, bounds->upper_count, span, 1);
        cut_by(&polygon, bounds->lower, bounds->lower_count, span, -1);
        got = polygon.count > 0;
    }
    if (got == 1)
        conclude(&polygon, span, ret_fit);
    free(polygon.corners);
    free(polygon.cut);
    return got;
}

double probity_align_error(const struct probity_align_fit *fit,
                           const struct probity_align_line *line)
{
    const double at[2] = {line->at_begin, line->at_end};
    double error = 0;

    for (int end = 0; end < 2; end++) {
        double below = at[end] - fit->least[end], above = fit->most[end] - at[end];
        error = below > error ? below : error;
        error = above > error ? above : error;
    }
    return error;
}
