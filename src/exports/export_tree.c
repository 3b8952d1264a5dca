/* SPDX-License-Identifier: MIT
 *
 * export_tree.c: builds a call tree from events, for formats that are written at the end.
 */
#include "exports/export_tree.h"

int export_tree_begin(struct probity_export *export)
{
    struct export_tree *state = export->state;
    const struct probity_tree_options options = {.by_thread = export->options->by_thread,
                                                 .from_ns = export->options->from_ns,
                                                 .to_ns = export->options->to_ns};

    return probity_tree_open(&options, &state->tree);
}

void export_tree_event(struct probity_export *export, struct probity_export_thread *thread,
                       const struct probity_event *event)
{
    struct export_tree *state = export->state;
    int error = probity_tree_put(state->tree, event);

    (void)thread;
    if (__builtin_expect(error != 0, 0))
        probity_export_fail(export, error);
}

int export_tree_finish(struct probity_export *export, struct probity_tree_answer *ret_answer)
{
    struct export_tree *state = export->state;
    int error = probity_tree_finish(state->tree);

    if (error == 0)
        error = probity_tree_sort(state->tree, PROBITY_TREE_TOTAL);
    if (error != 0)
        return error;
    *ret_answer = (struct probity_tree_answer){
        export->reader, probity_tree_root(state->tree), probity_tree_repairs(state->tree),
        probity_tree_lost(state->tree), 0, 0};
    export->repairs = ret_answer->repairs;
    export->counts.left_out[0] = ret_answer->lost;
    return 0;
}

void export_tree_release(struct probity_export *export)
{
    struct export_tree *state = export->state;

    if (state->tree != NULL)
        probity_tree_close(state->tree);
}
