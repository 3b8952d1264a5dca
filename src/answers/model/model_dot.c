/* SPDX-License-Identifier: MIT
 *
 * model_dot.c: a workload model as a graph. Rare transitions are omitted and counted in the title.
 */
#include "answers/model/model_print.h"

#include <inttypes.h>
#include <string.h>

#include "answers/report/report_text.h"
#include "print/graphviz.h"
#include "print/time_text.h"
#include "probity_typed.h"

/* Transitions with a lower probability are not drawn. */
#define RARE 0.01

static const struct {
    const char *noun, *shape, *color, *stay, *level;
} looks[PROBITY_MODEL_KINDS] = {
    [PROBITY_MODEL_QUEUE] = {"queue", "cds", "#fff2cc", "waiting", "length"},
    [PROBITY_MODEL_LOCK] = {"lock", "octagon", "#f8cecc", "held", "holders"},
    [PROBITY_MODEL_REQUEST] = {"requests", "ellipse", "#d5e8d4", "response",
                               "in flight"},
    [PROBITY_MODEL_CONDITION] = {"condition", "hexagon", "#e1d5e7", "waiting", "waiters"}};

static void put_name(FILE *stream, const char *name)
{
    probity_graphviz_text(stream, name, strlen(name));
}

static const char *mean_text(const struct probity_duration_stats *times, char *ret_text)
{
    return times->count > 0
               ? probity_time_text(times->total_ns / times->count, ret_text)
               : "-";
}

/* ---- Groups ------------------------------------------------------------------------------------
 */

static void put_node(FILE *stream, const struct probity_model_node *node)
{
    const struct probity_probe *probe = node->probe;

    fprintf(stream, "    g%" PRIu32 "n%" PRIu32 " [label=\"", node->group->number, node->number);
    put_name(stream, probe->text);
    if (probe->name != NULL) {
        fputc(' ', stream);
        put_name(stream, probe->name);
    }
    fprintf(stream, "\\n%" PRIu64 "\"];\n", node->hits);
}

/* The width of an edge shows the probability, its darkness the share of the group's time. */
static void put_block(FILE *stream, const struct probity_model_block *block)
{
    const struct probity_model_group *group = block->from->group;
    char cpu[PROBITY_TIME_TEXT_BYTES], off[PROBITY_TIME_TEXT_BYTES];
    double probability = probity_model_probability(block);
    double share = group->wall_ns > 0 ? (double)block->wall.total_ns / (double)group->wall_ns : 0;

    fprintf(stream, "    g%" PRIu32 "n%" PRIu32 " -> g%" PRIu32 "n%" PRIu32, group->number,
            block->from->number, group->number, block->to->number);
    if (block->cpu.count > 0)
        fprintf(stream, " [label=\"  %.3g %%  \\n  CPU %s  \\n  off %s  \"", 100 * probability,
                mean_text(&block->cpu, cpu), mean_text(&block->off, off));
    else
        fprintf(stream, " [label=\"  %.3g %%  \\n  wall %s  \"", 100 * probability,
                mean_text(&block->wall, cpu));
    fprintf(stream, ", penwidth=%.2f, color=\"%.3f 0.7 0.6 0.5\"];\n", 0.5 + 2.5 * probability,
            0.6 - 0.6 * share);
}

static uint64_t put_group(FILE *stream, const struct probity_model_group *group)
{
    uint64_t left_out = 0;

    fprintf(stream, "  subgraph cluster_g%" PRIu32 " {\n    label=\"", group->number);
    put_name(stream, group->name != NULL ? group->name : "(no name)");
    fprintf(stream, "\\n%" PRIu64 " thread%s\";\n", group->threads, group->threads == 1 ? "" : "s");
    for (size_t i = 0; i < group->node_count; i++)
        put_node(stream, group->nodes[i]);
    for (size_t i = 0; i < group->block_count; i++) {
        if (probity_model_probability(group->blocks[i]) >= RARE)
            put_block(stream, group->blocks[i]);
        else
            left_out++;
    }
    fputs("  }\n", stream);
    return left_out;
}

/* ---- Stations ----------------------------------------------------------------------------------
 */

static char letter_of(const struct probity_model_station *station)
{
    return looks[station->kind].noun[0];
}

/* Draws arrivals toward the station, departures away from it. A lock points to its holder; drawing
 * the release as well would only clutter the graph. */
static void put_user(FILE *stream, const struct probity_model_station *station,
                     const struct probity_model_user *user)
{
    int goes_out = user->role == PROBITY_ROLE_QUEUE_GET || user->role == PROBITY_ROLE_LOCK_HOLD ||
                   user->role == PROBITY_ROLE_REQUEST_BEGIN || user->role == PROBITY_ROLE_WOKEN;
    char node[32], place[32];

    if (user->role == PROBITY_ROLE_LOCK_RELEASE || user->role == PROBITY_ROLE_LOCK_WAIT)
        return;
    snprintf(node, sizeof node, "g%" PRIu32 "n%" PRIu32, user->node->group->number,
             user->node->number);
    snprintf(place, sizeof place, "%c%" PRIu32, letter_of(station), station->number);
    fprintf(stream, "  %s -> %s [style=%s%s];\n", goes_out ? place : node, goes_out ? node : place,
            station->kind == PROBITY_MODEL_QUEUE ? "bold" : "dashed",
            station->kind == PROBITY_MODEL_LOCK ? ", color=gray" : "");
}

/* groups: number of groups drawn. */
static void put_station(FILE *stream, const struct probity_model_station *station, size_t groups)
{
    char stay[PROBITY_TIME_TEXT_BYTES], wait[PROBITY_TIME_TEXT_BYTES];

    fprintf(stream, "  %c%" PRIu32 " [shape=%s, margin=\"0.2,0.12\", style=filled, "
            "fillcolor=\"%s\", label=\"%s ",
            letter_of(station), station->number, looks[station->kind].shape,
            looks[station->kind].color, looks[station->kind].noun);
    put_name(stream, station->name);
    fprintf(stream, "\\n%.*f per second\\n%s %s\\n%s: mean %.3g, max %" PRIu64,
            station->little.rate_s < 100 ? 2 : 0, station->little.rate_s,
            looks[station->kind].stay, mean_text(&station->stays, stay),
            looks[station->kind].level, station->little.length, station->level.max);
    if (station->kind == PROBITY_MODEL_LOCK && station->arrivals > 0)
        fprintf(stream, "\\n%.3g %% wait %s",
                100 * (double)station->waits.count / (double)station->arrivals,
                mean_text(&station->waits, wait));
    fputs("\"];\n", stream);
    for (const struct probity_model_user *user = station->users; user != NULL; user = user->next) {
        if (user->node->group->number < groups)
            put_user(stream, station, user);
    }
}

/* ---- The graph ---------------------------------------------------------------------------------
 */

/* The title reports whether a trace is incomplete. */
static void put_title(FILE *stream, const struct probity_reader *reader,
                      const struct probity_model_result *result, uint64_t left_out)
{
    char text[PROBITY_TIME_TEXT_BYTES], why[256];

    fprintf(stream, "  label=\"%" PRIu64 " hits of %" PRIu64 " threads in %s", result->hits,
            result->threads, probity_time_text(result->to_ns - result->from_ns, text));
    if (left_out > 0)
        fprintf(stream, "; %" PRIu64 " transitions of less than 1 %% are not drawn", left_out);
    for (size_t i = 0; i < probity_reader_traces(reader); i++) {
        const struct probity_trace_facts *facts = probity_reader_facts(reader, i);
        if (probity_trace_is_complete(facts, why, sizeof why))
            continue;
        fputs("\\nINCOMPLETE: ", stream);
        put_name(stream, facts->path);
        fputs(": ", stream);
        put_name(stream, why);
    }
    fputs("\";\n", stream);
}

void probity_model_dot(FILE *stream, const struct probity_reader *reader,
                       const struct probity_model_result *result, size_t rows_max)
{
    size_t groups = probity_model_shown(result->group_count, rows_max);
    uint64_t left_out = 0;

    fputs("digraph model {\n"
          "  graph [fontname=\"sans-serif\", fontsize=11, nodesep=0.4, ranksep=0.5];\n"
          "  node [shape=box, fontname=\"sans-serif\", fontsize=10];\n"
          "  edge [fontname=\"sans-serif\", fontsize=8];\n", stream);
    for (size_t i = 0; i < groups; i++)
        left_out += put_group(stream, result->groups[i]);
    for (int kind = 0; kind < PROBITY_MODEL_KINDS; kind++) {
        size_t count = probity_model_shown(result->station_counts[kind], rows_max);
        for (size_t i = 0; i < count; i++)
            put_station(stream, result->stations[kind][i], groups);
    }
    put_title(stream, reader, result, left_out);
    fputs("}\n", stream);
}
