/* SPDX-License-Identifier: MIT
 *
 * export_graphviz.c: a graph for dot, of functions and their calls, or of probes and their
 * successors. Holds a node for each call path, or for each pair of probes.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "answers/blocks/blocks.h"
#include "exports/export.h"
#include "exports/export_names.h"
#include "exports/export_tree.h"
#include "print/graphviz.h"
#include "print/time_text.h"
#include "probity.h"

/* Maximum line width, in points, for the edge with the most time. */
enum { WIDTH_MAX = 5 };

struct graphviz {
    struct export_tree tree; /* must be first: see export_tree.h */
    struct probity_blocks *blocks;
    struct export_names nodes;
};

static double width_of(uint64_t ns, uint64_t most_ns)
{
    return most_ns > 0 ? 0.5 + (WIDTH_MAX - 0.5) * (double)ns / (double)most_ns : 0.5;
}

/* Returns the number of a node; *ret_is_new is set if it is new. */
static int number_of(struct graphviz *state, const void *item, uint32_t *ret_number,
                     int *ret_is_new)
{
    size_t known = state->nodes.table.items;
    const struct export_name *name = export_names_at(&state->nodes, (uint64_t)(uintptr_t)item);

    if (name == NULL)
        return PROBITY_ERROR_MEMORY;
    *ret_number = name->number;
    *ret_is_new = state->nodes.table.items > known;
    return 0;
}

/* ---- Calls -------------------------------------------------------------------------------------
 */

static int put_function(struct graphviz *state, FILE *stream, const struct probity_tree_node *node)
{
    char lost[32], total[PROBITY_TIME_TEXT_BYTES], self[PROBITY_TIME_TEXT_BYTES];
    uint32_t number;
    int is_new;
    size_t bytes;
    const char *name = probity_tree_label(node, lost, &bytes);
    int error = number_of(state, node->function, &number, &is_new);

    fprintf(stream, "  n%" PRIu32 " [label=\"", number);
    probity_graphviz_text(stream, name, bytes);
    fprintf(stream, "\\ncalls %" PRIu64 "\\ntotal %s, self %s\"];\n", node->sums.calls,
            probity_time_text(node->sums.total.wall_ns, total),
            probity_time_text(node->sums.self.wall_ns, self));
    return error;
}

static uint64_t longest_call(const struct probity_tree_node *root)
{
    uint64_t most_ns = 0;

    for (const struct probity_tree_node *node = root->child; node != NULL; node = node->next) {
        for (const struct probity_tree_node *callee = node->child; callee != NULL;
             callee = callee->next)
            most_ns = callee->sums.total.wall_ns > most_ns ? callee->sums.total.wall_ns : most_ns;
    }
    return most_ns;
}

static int put_edges(struct graphviz *state, FILE *stream, const struct probity_tree_node *node,
                     uint64_t most_ns)
{
    uint32_t from, to;
    int is_new, error = number_of(state, node->function, &from, &is_new);

    for (const struct probity_tree_node *callee = node->child; error == 0 && callee != NULL;
         callee = callee->next) {
        char total[PROBITY_TIME_TEXT_BYTES];
        uint64_t ns = callee->sums.total.wall_ns;
        error = number_of(state, callee->function, &to, &is_new);
        fprintf(stream, "  n%" PRIu32 " -> n%" PRIu32 " [label=\"  %" PRIu64 "x  \\n  %s  \", "
                "penwidth=%.2f];\n", from, to, callee->sums.calls,
                probity_time_text(ns, total), width_of(ns, most_ns));
    }
    return error;
}

static int put_calls(struct probity_export *export, FILE *stream)
{
    struct graphviz *state = export->state;
    struct probity_tree_answer answer;
    int error = export_tree_finish(export, &answer);

    if (error == 0)
        error = probity_tree_view(state->tree.tree, PROBITY_TREE_CALLEES, NULL, NULL);
    if (error == 0)
        error = probity_tree_sort(state->tree.tree, PROBITY_TREE_TOTAL);
    if (error != 0)
        return error;
    uint64_t most_ns = longest_call(answer.root);
    const struct probity_tree_node *node;
    for (node = answer.root->child; error == 0 && node != NULL; node = node->next)
        error = put_function(state, stream, node);
    for (node = answer.root->child; error == 0 && node != NULL; node = node->next)
        error = put_edges(state, stream, node, most_ns);
    export->counts.left_out[1] = export->counts.hits;
    return error;
}

/* ---- Blocks ------------------------------------------------------------------------------------
 */

static int put_probe(struct graphviz *state, FILE *stream,
                     const struct probity_probe *probe, uint32_t *ret_number)
{
    int is_new = 0, error = number_of(state, probe, ret_number, &is_new);

    if (!is_new)
        return error;
    fprintf(stream, "  n%" PRIu32 " [label=\"", *ret_number);
    probity_graphviz_text(stream, probe->text, strlen(probe->text));
    if (probe->name != NULL) {
        fputs("\\n", stream);
        probity_graphviz_text(stream, probe->name, strlen(probe->name));
    }
    fputs("\"];\n", stream);
    return error;
}

static int put_blocks(struct probity_export *export, FILE *stream)
{
    struct graphviz *state = export->state;
    size_t count;
    const struct probity_blocks_pair *const *pairs =
        probity_blocks_sort(state->blocks, PROBITY_BLOCKS_TOTAL, &count);
    int error = pairs != NULL ? 0 : PROBITY_ERROR_MEMORY;

    for (size_t i = 0; error == 0 && i < count; i++) {
        char mean[PROBITY_TIME_TEXT_BYTES];
        uint32_t from = 0, to = 0;
        error = put_probe(state, stream, pairs[i]->from, &from);
        if (error == 0)
            error = put_probe(state, stream, pairs[i]->to, &to);
        fprintf(stream, "  n%" PRIu32 " -> n%" PRIu32 " [label=\"  %.1f %%, %" PRIu64
                "x  \\n  %s  \", penwidth=%.2f];\n", from, to,
                (double)probity_blocks_value(pairs[i], PROBITY_BLOCKS_PROBABILITY) / 1e4,
                pairs[i]->calls,
                probity_time_text(probity_blocks_value(pairs[i], PROBITY_BLOCKS_MEAN), mean),
                width_of(pairs[i]->wall_ns, pairs[0]->wall_ns));
    }
    export->counts.left_out[0] = export->counts.scopes;
    return error;
}

/* ---- Both --------------------------------------------------------------------------------------
 */

static int is_of_blocks(const struct probity_export *export)
{
    return export->options->graph == PROBITY_EXPORT_BLOCK_GRAPH;
}

static int graphviz_begin(struct probity_export *export)
{
    struct graphviz *state = export->state;

    if (!is_of_blocks(export))
        return export_tree_begin(export);
    const struct probity_blocks_options options = {.from_ns = export->options->from_ns,
                                                   .to_ns = export->options->to_ns};
    return probity_blocks_open(&options, &state->blocks);
}

static void graphviz_event(struct probity_export *export, struct probity_export_thread *thread,
                           const struct probity_event *event)
{
    struct graphviz *state = export->state;

    if (!is_of_blocks(export)) {
        export_tree_event(export, thread, event);
        return;
    }
    int error = probity_blocks_put(state->blocks, event);
    if (error != 0)
        probity_export_fail(export, error);
}

static int graphviz_end(struct probity_export *export)
{
    FILE *stream = probity_export_stream_open(export);

    if (stream == NULL)
        return PROBITY_ERROR_MEMORY;
    fputs("digraph probity {\n  node [shape=box, fontname=\"sans-serif\", fontsize=10];\n"
          "  edge [fontname=\"sans-serif\", fontsize=8, color=\"#00000060\", arrowsize=0.7];\n",
          stream);
    int error = is_of_blocks(export) ? put_blocks(export, stream) : put_calls(export, stream);
    fputs("}\n", stream);
    int closed = probity_export_stream_close(stream);
    return error != 0 ? error : closed;
}

static void graphviz_release(struct probity_export *export)
{
    struct graphviz *state = export->state;

    if (state->blocks != NULL)
        probity_blocks_close(state->blocks);
    export_names_release(&state->nodes);
    export_tree_release(export);
}

const struct probity_exporter probity_exporter_graphviz = {
    .name = "graphviz",
    .target = PROBITY_EXPORT_STREAM,
    .carries = PROBITY_EXPORT_SCOPES | PROBITY_EXPORT_HITS,
    .has_all = 1,
    .has_graphs = 1,
    .state_bytes = sizeof(struct graphviz),
    .begin = graphviz_begin,
    .event = graphviz_event,
    .end = graphviz_end,
    .release = graphviz_release};
