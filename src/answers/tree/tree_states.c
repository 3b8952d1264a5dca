/* SPDX-License-Identifier: MIT
 *
 * tree_states.c: computes the parts of a node's times from three trees.
 */
#include "answers/tree/tree_states.h"

#include "answers/report/states.h"

const struct probity_tree_node *probity_tree_step(const struct probity_tree_answer *answer,
                                                  struct probity_tree_at *at)
{
    const struct probity_tree_states *states = answer->states;

    at->node = probity_tree_next(at->node != NULL ? at->node : answer->root, answer->root,
                                 &at->depth);
    if (states == NULL)
        return at->node;
    at->waiting = probity_tree_next(at->waiting != NULL ? at->waiting : states->waiting,
                                    states->waiting, &at->waiting_depth);
    at->unknown = probity_tree_next(at->unknown != NULL ? at->unknown : states->unknown,
                                    states->unknown, &at->unknown_depth);
    return at->node;
}

static uint64_t time_of(const struct probity_tree_node *node, int is_self)
{
    return is_self ? node->sums.self.cpu_ns : node->sums.total.cpu_ns;
}

struct probity_thread_split probity_tree_split(const struct probity_tree_at *at, int is_self)
{
    const struct probity_tree_sums *sums = &at->node->sums;
    struct probity_thread_split split = {
        {[PROBITY_STATE_RUNNING] = time_of(at->node, is_self),
         [PROBITY_STATE_RUNNABLE] = time_of(at->waiting, is_self),
         [PROBITY_STATE_UNKNOWN] = time_of(at->unknown, is_self)}};

    probity_states_complete(&split, is_self ? sums->self.wall_ns : sums->total.wall_ns);
    return split;
}

static struct probity_cell cell(const struct probity_tree_at *at, int is_self,
                                enum probity_sched_state state)
{
    int is_timed = at->node->sums.calls > at->node->sums.untimed;

    if (!is_timed || (is_self && at->node->function == NULL))
        return probity_cell_unknown();
    return probity_cell_count(probity_tree_split(at, is_self).ns[state]);
}

#define STATE_CELL(NAME, IS_SELF, STATE)                                                           \
    static struct probity_cell NAME(const void *at)                                                \
    {                                                                                              \
        return cell(at, IS_SELF, STATE);                                                           \
    }

STATE_CELL(total_running, 0, PROBITY_STATE_RUNNING)
STATE_CELL(total_waiting, 0, PROBITY_STATE_RUNNABLE)
STATE_CELL(total_blocked, 0, PROBITY_STATE_BLOCKED)
STATE_CELL(total_unknown, 0, PROBITY_STATE_UNKNOWN)
STATE_CELL(self_running, 1, PROBITY_STATE_RUNNING)
STATE_CELL(self_waiting, 1, PROBITY_STATE_RUNNABLE)
STATE_CELL(self_blocked, 1, PROBITY_STATE_BLOCKED)
STATE_CELL(self_unknown, 1, PROBITY_STATE_UNKNOWN)

const struct probity_column probity_tree_states_columns[PROBITY_TREE_STATES_COLUMNS] = {
    {"total_running_ns", total_running}, {"total_waiting_ns", total_waiting},
    {"total_blocked_ns", total_blocked}, {"total_unknown_ns", total_unknown},
    {"self_running_ns", self_running},   {"self_waiting_ns", self_waiting},
    {"self_blocked_ns", self_blocked},   {"self_unknown_ns", self_unknown}};
