/* SPDX-License-Identifier: MIT
 *
 * export_lanes.c: a tree of minima in an array, as for a heap, with one leaf per lane.
 */
#include "exports/export_lanes.h"

#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "probity.h"

enum { LEAVES_FIRST = 16 };

static void set(struct export_lanes *lanes, uint32_t lane, uint64_t ns)
{
    uint64_t *least = lanes->free_ns;
    uint32_t node = lanes->leaves + lane;

    least[node] = ns;
    for (node /= 2; node > 0; node /= 2)
        least[node] = least[2 * node] < least[2 * node + 1] ? least[2 * node] : least[2 * node + 1];
}

static int grow(struct export_lanes *lanes)
{
    uint32_t leaves = lanes->leaves > 0 ? 2 * lanes->leaves : LEAVES_FIRST;
    uint64_t *least = calloc(2 * (size_t)leaves, sizeof *least);

    if (least == NULL)
        return PROBITY_ERROR_MEMORY;
    if (lanes->leaves > 0)
        memcpy(least + leaves, lanes->free_ns + lanes->leaves, lanes->leaves * sizeof *least);
    for (uint32_t node = leaves - 1; node > 0; node--)
        least[node] = least[2 * node] < least[2 * node + 1] ? least[2 * node] : least[2 * node + 1];
    free(lanes->free_ns);
    lanes->free_ns = least;
    lanes->leaves = leaves;
    return 0;
}

uint32_t export_lanes_take(struct export_lanes *lanes, uint64_t start_ns, uint32_t preferred,
                           uint32_t id)
{
    uint32_t lane = preferred;

    if (lane >= lanes->count || lanes->free_ns[lanes->leaves + lane] > start_ns) {
        if ((lanes->leaves == 0 || lanes->free_ns[1] > start_ns) && grow(lanes) != 0)
            return EXPORT_LANE_NONE;
        uint32_t node = 1;
        while (node < lanes->leaves)
            node = 2 * node + (lanes->free_ns[2 * node] > start_ns);
        lane = node - lanes->leaves;
    }
    if (lane == lanes->count) {
        uint32_t *ids = probity_array_append(lanes->ids, sizeof *ids, lanes->count);
        if (ids == NULL)
            return EXPORT_LANE_NONE;
        ids[lanes->count++] = id;
        lanes->ids = ids;
    }
    set(lanes, lane, UINT64_MAX);
    return lane;
}

void export_lanes_put(struct export_lanes *lanes, uint32_t lane, uint64_t end_ns)
{
    set(lanes, lane, end_ns);
}

void export_lanes_release(struct export_lanes *lanes)
{
    free(lanes->free_ns);
    free(lanes->ids);
    *lanes = (struct export_lanes){.leaves = 0};
}
