/* SPDX-License-Identifier: MIT
 *
 * scopes_cost.c: determines the cost of each record and charges it to a scope.
 */
#include "analysis/scopes_cost.h"

#include <stdlib.h>

#include "probity.h"

/* Values other than numbers take the slow path, whose cost is not measured: it may be up to this
 * many times as high. */
enum { TEXT_FACTOR = 16 };

int probity_scope_cost_open(struct probity_scopes_costs *costs,
                            const struct probity_reader *reader)
{
    size_t count = probity_reader_traces(reader);

    costs->of_trace = calloc(count, sizeof *costs->of_trace);
    if (costs->of_trace == NULL)
        return PROBITY_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++)
        probity_costs_of(probity_reader_facts(reader, i), &costs->of_trace[i]);
    costs->count = count;
    return 0;
}

static const struct probity_costs *costs_of(const struct probity_scopes_costs *costs,
                                            uint32_t trace)
{
    static const struct probity_costs unknown = {.gap_ticks = UINT64_MAX};

    return trace < costs->count ? &costs->of_trace[trace] : &unknown;
}

void probity_scope_cost_begin(const struct probity_scopes_costs *costs,
                              struct probity_scope *scope)
{
    scope->self_cost = scope->total_cost = (struct probity_cost_sum){0};
    scope->is_costed = costs_of(costs, scope->trace)->is_known;
    scope->has_values = 0;
}

/* Returns the cost of a scope with values: between that of a plain scope and the measured one,
 * which has values at both ends. */
static struct probity_cost_range part_of(const struct probity_costs *costs,
                                         const struct probity_scope *scope,
                                         enum probity_cost_part plain,
                                         enum probity_cost_part values)
{
    struct probity_cost_range range = costs->part[plain];

    if (scope->function != NULL && scope->function->is_hooked)
        return probity_cost_hooked(costs, plain);
    if (scope->has_values) {
        const struct probity_cost_range *other = &costs->part[values];
        range.least = other->least < range.least ? other->least : range.least;
        range.most = other->most > range.most ? other->most : range.most;
    }
    return range;
}

/* Ends a scope. A scope left by a jump has no leave record. */
void probity_scope_cost_end(const struct probity_scopes_costs *costs, struct probity_scope *scope,
                            enum probity_scope_end how, struct probity_scope *caller)
{
    const struct probity_costs *of = costs_of(costs, scope->trace);
    struct probity_cost_range own =
        part_of(of, scope, PROBITY_PART_SCOPE_OWN, PROBITY_PART_VALUES_OWN);
    struct probity_cost_range rest =
        part_of(of, scope, PROBITY_PART_SCOPE_CALLER, PROBITY_PART_VALUES_CALLER);

    int is_ordered = scope->function != NULL && scope->function->is_ordered;
    uint64_t early = is_ordered ? 0 : of->early;

    if (!probity_scope_end_is_recorded(how))
        own.least = rest.least = 0;
    probity_cost_add(&scope->self_cost, &own);
    scope->self_cost.early += early;
    /* Its records do not overlap with other work, so they cost up to twice the measurement. */
    if (is_ordered && !of->is_ordered)
        scope->self_cost.rare += own.most;
    probity_cost_include(&scope->total_cost, &scope->self_cost);
    scope->total_cost.early = scope->self_cost.early;
    if (caller == NULL)
        return;
    probity_cost_add(&caller->self_cost, &rest);
    caller->self_cost.early_inside += early;
    probity_cost_include(&caller->total_cost, &scope->total_cost);
    caller->is_costed &= scope->is_costed;
}

static int has_values(const struct probity_event *event)
{
    return event->format != NULL || event->value_bytes > 0;
}

static int has_texts(const struct probity_event *event)
{
    enum { LONG_DOUBLE = 15, STRING = 17, LITERAL = 20, WIDE_CHARACTER = 22 };

    for (size_t i = 0; event->format != NULL && i < event->format->count; i++) {
        uint32_t type = event->format->values[i].type;
        if (type == LONG_DOUBLE || (type >= STRING && type != LITERAL && type != WIDE_CHARACTER))
            return 1;
    }
    return 0;
}

static void add_texts(const struct probity_costs *costs, struct probity_scope *scope,
                      const struct probity_event *event)
{
    if (has_texts(event))
        scope->self_cost.rare += TEXT_FACTOR * costs->part[PROBITY_PART_MESSAGE].most;
}

void probity_scope_cost_values(const struct probity_scopes_costs *costs,
                               struct probity_scope *scope, const struct probity_event *event)
{
    if (!has_values(event))
        return;
    scope->has_values = 1;
    add_texts(costs_of(costs, scope->trace), scope, event);
}

void probity_scope_cost_record(const struct probity_scopes_costs *costs, struct probity_scope *top,
                               const struct probity_event *event, uint64_t gap)
{
    const struct probity_costs *of = costs_of(costs, event->trace);

    probity_scope_cost_gap(costs, top, event->trace, gap);
    switch (event->kind) {
    case PROBITY_EVENT_ENTER: probity_scope_cost_values(costs, top, event); return;
    case PROBITY_EVENT_HIT: probity_cost_add(&top->self_cost, &of->part[PROBITY_PART_HIT]); return;
    case PROBITY_EVENT_HIT_WITH:
    case PROBITY_EVENT_MESSAGE:
    case PROBITY_EVENT_PARAMETERS:
    case PROBITY_EVENT_CHECKPOINT:
        add_texts(of, top, event);
        probity_cost_add(&top->self_cost, &of->part[PROBITY_PART_MESSAGE]);
        return;
    /* Self time includes half of the PAUSE record and half of the RESUME record. */
    case PROBITY_EVENT_RESUME:
        probity_cost_add(&top->self_cost, &of->part[PROBITY_PART_MESSAGE]);
        top->self_cost.rare += of->early;
        return;
    default: return;
    }
}
