/* SPDX-License-Identifier: MIT
 *
 * export_folded.c: folded stacks, the input of flame graph tools: one line for each call path.
 * Holds a node for each path.
 */
#include "answers/tree/tree_csv.h"
#include "exports/export.h"
#include "exports/export_tree.h"

static int end_folded(struct probity_export *export)
{
    static const enum probity_tree_key keys[] = {
        [PROBITY_EXPORT_WALL] = PROBITY_TREE_SELF,
        [PROBITY_EXPORT_CPU] = PROBITY_TREE_CPU_SELF,
        [PROBITY_EXPORT_OFF_CPU] = PROBITY_TREE_OFF_SELF,
        [PROBITY_EXPORT_CALLS] = PROBITY_TREE_CALLS};
    struct probity_tree_answer answer;
    int error = export_tree_finish(export, &answer);
    FILE *stream = error == 0 ? probity_export_stream_open(export) : NULL;

    if (stream == NULL)
        return error != 0 ? error : PROBITY_ERROR_MEMORY;
    error = probity_tree_folded(stream, &answer, keys[export->options->value],
                                &export->counts.shortened);
    int closed = probity_export_stream_close(stream);
    return error != 0 ? error : closed;
}

const struct probity_exporter probity_exporter_folded = {
    .name = "folded",
    .target = PROBITY_EXPORT_STREAM,
    .carries = PROBITY_EXPORT_SCOPES,
    .has_all = 1,
    .values = 1 << PROBITY_EXPORT_WALL | 1 << PROBITY_EXPORT_CPU | 1 << PROBITY_EXPORT_OFF_CPU |
              1 << PROBITY_EXPORT_CALLS,
    .has_threads = 1,
    .state_bytes = sizeof(struct export_tree),
    .begin = export_tree_begin,
    .event = export_tree_event,
    .end = end_folded,
    .release = export_tree_release};
