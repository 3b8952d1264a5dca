/* SPDX-License-Identifier: MIT
 *
 * export_tree.c: builds a call tree from events, and blocks as long as there is no call, for
 * formats that are written at the end.
 */
#include "exports/export_tree.h"

#include <stdlib.h>

int export_tree_begin(struct probity_export *export)
{
    struct export_tree *state = export->state;
    const struct probity_tree_options options = {.by_thread = export->options->by_thread,
                                                 .from_ns = export->options->from_ns,
                                                 .to_ns = export->options->to_ns};
    const struct probity_blocks_options of_blocks = {.by_thread = options.by_thread,
                                                     .from_ns = options.from_ns,
                                                     .to_ns = options.to_ns};
    int error = probity_tree_open(&options, &state->tree);

    return error == 0 ? probity_blocks_open(&of_blocks, &state->blocks) : error;
}

/* Whether a call begins in the range. Calls outside it must be ignored, since whether they are read
 * depends on the index. */
static int begins_call(const struct probity_export_options *options,
                       const struct probity_event *event)
{
    return (event->kind == PROBITY_EVENT_ENTER || event->kind == PROBITY_EVENT_CHECKPOINT) &&
           event->wall_ns >= options->from_ns &&
           (options->to_ns == 0 || event->wall_ns < options->to_ns);
}

/* Puts an event into the tree or the blocks, not both: one total would count times of calls and of
 * blocks twice. */
static int put_event(struct probity_export *export, struct export_tree *state,
                     const struct probity_event *event)
{
    int is_of_scope = event->kind == PROBITY_EVENT_ENTER || event->kind == PROBITY_EVENT_LEAVE ||
                      event->kind == PROBITY_EVENT_CHECKPOINT;

    if (export->options->of_blocks)
        return probity_blocks_put(state->blocks, event);
    if (__builtin_expect(state->blocks != NULL, 0)) {
        int error = is_of_scope ? 0 : probity_blocks_put(state->blocks, event);
        if (error != 0)
            return error;
        if (begins_call(export->options, event)) {
            probity_blocks_close(state->blocks);
            state->blocks = NULL;
        }
    }
    return probity_tree_put(state->tree, event);
}

void export_tree_event(struct probity_export *export, struct probity_export_thread *thread,
                       const struct probity_event *event)
{
    struct export_tree *state = export->state;
    int error = put_event(export, state, event);

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
        probity_tree_lost(state->tree), 0, 0, 0, NULL};
    export->repairs = ret_answer->repairs;
    export->counts.left_out[0] = ret_answer->lost;
    return 0;
}

static int put_pair(struct probity_export *export, const struct probity_blocks_pair *pair,
                    export_pair_put *put)
{
    char *name = probity_blocks_pair_name(pair, 1);
    int error = name != NULL ? 0 : PROBITY_ERROR_MEMORY;

    for (size_t row = 0; error == 0 && row < pair->row_count; row++)
        error = put(export, pair->rows[row], name);
    if (error == 0 && pair->row_count == 0)
        error = put(export, pair, name);
    free(name);
    return error;
}

int export_tree_blocks(struct probity_export *export, export_pair_put *put, int *ret_done)
{
    struct export_tree *state = export->state;
    const struct probity_blocks_pair *const *pairs = NULL;
    size_t count = 0;
    int error = 0;

    if (state->blocks != NULL)
        pairs = probity_blocks_sort(state->blocks, PROBITY_BLOCKS_TOTAL, &count);
    if (state->blocks != NULL && pairs == NULL)
        return PROBITY_ERROR_MEMORY;
    for (size_t i = 0; error == 0 && i < count; i++)
        error = put_pair(export, pairs[i], put);
    export->is_of_blocks = count > 0 || export->options->of_blocks;
    *ret_done = export->is_of_blocks;
    return error;
}

void export_tree_release(struct probity_export *export)
{
    struct export_tree *state = export->state;

    if (state->blocks != NULL)
        probity_blocks_close(state->blocks);
    if (state->tree != NULL)
        probity_tree_close(state->tree);
}
