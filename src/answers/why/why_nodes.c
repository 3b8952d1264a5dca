/* SPDX-License-Identifier: MIT
 *
 * why_nodes.c: paths of calls below a function, the values of one call on each, and their
 * distribution over all calls. Paths that a call did not take cost nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "answers/why/why_internal.h"
#include "base/array_grow.h"
#include "probity.h"

static int is_same(const struct probity_function_key *key, const struct probity_scope *scope)
{
    return key->function == scope->function &&
           (key->function != NULL ||
            (key->trace == scope->trace && key->number == scope->number));
}

static int add_node(struct probity_why_group *group, const struct probity_function_key *key,
                    uint32_t parent, uint32_t *ret_node)
{
    struct probity_why_node *nodes = probity_array_room(group->nodes, sizeof *nodes,
                                                        group->node_count, &group->node_capacity);
    uint32_t number = (uint32_t)group->node_count;

    if (nodes == NULL)
        return PROBITY_ERROR_MEMORY;
    group->nodes = nodes;
    group->node_count++;
    nodes[number] = (struct probity_why_node){.key = *key, .number = number, .parent = parent};
    if (number != parent) {
        nodes[number].sibling = nodes[parent].child;
        nodes[parent].child = number;
    }
    *ret_node = number;
    return 0;
}

int why_group_begin(struct probity_why_group *group, const struct probity_function_key *key)
{
    uint32_t node;

    return add_node(group, key, 0, &node);
}

/* Returns the path of a callee, or 0 if there is none yet. Moves it to the front of its siblings,
 * because the next call is likely to take it again. */
static uint32_t find_child(struct probity_why_group *group, uint32_t parent,
                           const struct probity_scope *scope)
{
    struct probity_why_node *nodes = group->nodes;
    uint32_t *first = &nodes[parent].child, *at = first;

    while (*at != 0 && !is_same(&nodes[*at].key, scope))
        at = &nodes[*at].sibling;
    uint32_t node = *at;
    if (node != 0 && at != first) {
        *at = nodes[node].sibling;
        nodes[node].sibling = *first;
        *first = node;
    }
    return node;
}

int why_unit_enter(struct why_unit *unit, const struct probity_scope *scope)
{
    struct probity_why_group *group = unit->group;
    const struct probity_function_key key = {scope->function, scope->trace, scope->number};
    uint32_t node = find_child(group, unit->node, scope);
    int error = 0;

    unit->depth++;
    if (unit->lumped > 0 || (node == 0 && group->node_count >= PROBITY_WHY_NODES_MAX)) {
        unit->lumped++;
        group->nodes_lumped++;
        return 0;
    }
    if (node == 0)
        error = add_node(group, &key, unit->node, &node);
    if (error == 0)
        unit->node = node;
    return error;
}

int why_unit_add(struct why_unit *unit, uint32_t node, const struct probity_why_value *value)
{
    if (node >= unit->value_count) {
        void *grown = probity_array_grow(unit->values, sizeof *unit->values, node,
                                         &unit->value_count);
        if (grown == NULL)
            return PROBITY_ERROR_MEMORY;
        unit->values = grown;
    }
    struct probity_why_value *sum = &unit->values[node];
    if (sum->calls == 0) {
        uint32_t *touched = probity_array_room(unit->touched, sizeof *touched,
                                               unit->touched_count, &unit->touched_capacity);
        if (touched == NULL)
            return PROBITY_ERROR_MEMORY;
        unit->touched = touched;
        touched[unit->touched_count++] = node;
    }
    sum->calls += value->calls;
    sum->wall_ns += value->wall_ns;
    sum->cpu_ns += value->cpu_ns;
    return 0;
}

int why_unit_leave(struct why_unit *unit, const struct probity_scope *scope)
{
    const struct probity_why_value value = {1, scope->elapsed.wall_ns, scope->elapsed.cpu_ns};
    uint32_t node = unit->node;

    if (unit->depth == 0) /* the scope was entered before the span began */
        return 0;
    unit->depth--;
    if (unit->lumped > 0) {
        unit->lumped--;
        return 0;
    }
    unit->node = unit->group->nodes[node].parent;
    return why_unit_add(unit, node, &value);
}

int why_unit_distribute(struct why_unit *unit)
{
    int error = 0;

    for (size_t i = 0; error == 0 && i < unit->touched_count; i++) {
        const struct probity_why_value *value = &unit->values[unit->touched[i]];
        struct probity_why_node *node = &unit->group->nodes[unit->touched[i]];
        error = probity_histogram_add(&node->calls, value->calls);
        if (error == 0)
            error = probity_histogram_add(&node->wall, value->wall_ns);
        if (error == 0)
            error = probity_histogram_add(&node->cpu, value->cpu_ns);
    }
    return error;
}

void why_unit_clear(struct why_unit *unit)
{
    for (size_t i = 0; i < unit->touched_count; i++)
        unit->values[unit->touched[i]] = (struct probity_why_value){0};
    unit->touched_count = unit->wait_count = 0;
    unit->depth = unit->node = unit->lumped = 0;
    unit->blocked_ns = unit->unknown_ns = 0;
    memset(unit->parts, 0, sizeof unit->parts);
    memset(unit->waits, 0, sizeof unit->waits);
}

void why_group_release(struct probity_why_group *group)
{
    for (size_t i = 0; i < group->node_count; i++) {
        probity_histogram_release(&group->nodes[i].calls);
        probity_histogram_release(&group->nodes[i].wall);
        probity_histogram_release(&group->nodes[i].cpu);
    }
    free(group->nodes);
    for (size_t part = 0; part < PROBITY_WHY_PARTS; part++)
        probity_histogram_release(&group->parts[part]);
    probity_duration_stats_release(&group->durations);
}
