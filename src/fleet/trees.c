/* SPDX-License-Identifier: MIT
 *
 * trees.c: finds a path by number, and creates its node below that of its caller's path. Rows are
 * sorted by thread, so each path needs to store only one node.
 */
#include "fleet/trees.h"

#include <stdlib.h>

#include "base/hash.h"
#include "fleet/schema.h"
#include "probity.h"

struct path_entry {
    struct probity_link link;
    uint64_t number, parent, function;
    struct probity_tree_node *node; /* below `root` */
    const struct probity_tree_node *root;
    struct path_entry *callee; /* the path that needs this node, while the node is created */
};

/* ---- Statements --------------------------------------------------------------------------------
 */

static void put_runs(FILE *stream, const struct probity_fleet_range *range)
{
    struct probity_fleet_range whole = *range;

    whole.from_ns = whole.to_ns = 0;
    whole.functions = NULL;
    probity_fleet_sql_condition(stream, &whole, "", 1);
}

void probity_fleet_sql_paths(FILE *stream, const struct probity_fleet_range *range)
{
    fprintf(stream, "SELECT path, any(parent), any(function) FROM %s WHERE ",
            probity_fleet_tables[PROBITY_FLEET_PATHS].name);
    put_runs(stream, range);
    fputs(" GROUP BY path", stream);
}

void probity_fleet_sql_path_sums(FILE *stream, const struct probity_fleet_range *range)
{
    static const char *const names[] = {"calls", "untimed", "repaired", "total_ns", "total_cpu_ns",
                                        "self_ns", "self_cpu_ns", "paused_ns", "paused_cpu_ns"};
    int by_thread = range->group == PROBITY_FLEET_OF_THREAD;

    fputs(by_thread ? "SELECT run, thread, path" : "SELECT toUInt64(0), toUInt32(0), path", stream);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        fprintf(stream, ", sum(%s)", names[i]);
    fprintf(stream, " FROM %s WHERE ", probity_fleet_tables[PROBITY_FLEET_PATH_MINUTES].name);
    probity_fleet_sql_condition(stream, range, "toUnixTimestamp(minute)", UINT64_C(1000000000));
    fputs(by_thread ? " GROUP BY run, thread, path ORDER BY run, thread" : " GROUP BY path",
          stream);
}

void probity_fleet_sql_profiled(FILE *stream, const struct probity_fleet_range *range)
{
    fprintf(stream, "SELECT sum(profiled), sum(counted) FROM %s WHERE ",
            probity_fleet_tables[PROBITY_FLEET_MINUTES].name);
    probity_fleet_sql_condition(stream, range, "toUnixTimestamp(minute)", UINT64_C(1000000000));
}

/* ---- Paths -------------------------------------------------------------------------------------
 */

int probity_fleet_take_paths(struct probity_fleet_paths_taken *paths,
                             struct probity_fleet_answer *answer)
{
    while (!probity_fleet_answer_is_over(answer)) {
        struct path_entry *entry = calloc(1, sizeof *entry);
        if (entry == NULL)
            return PROBITY_ERROR_MEMORY;
        entry->number = probity_fleet_take_number(answer, 8);
        entry->parent = probity_fleet_take_number(answer, 8);
        entry->function = probity_fleet_take_number(answer, 8);
        if (probity_hashtable_add(&paths->table, entry, probity_hash(entry->number)) != 0) {
            free(entry);
            return PROBITY_ERROR_MEMORY;
        }
    }
    return answer->is_bad ? PROBITY_ERROR_FORMAT : 0;
}

static struct path_entry *path_at(struct probity_fleet_paths_taken *paths, uint64_t number)
{
    struct path_entry *entry = probity_hashtable_at(&paths->table, probity_hash(number));

    while (entry != NULL && entry->number != number)
        entry = (struct path_entry *)entry->link.next;
    return entry;
}

/* Goes up to a caller that has a node below this root. Returns the outermost path without a node,
 * from which `callee` leads back; NULL if a caller is missing, or is its own caller. */
static struct path_entry *find_first(struct probity_fleet_paths_taken *paths,
                                     struct path_entry *entry, const struct probity_tree_node *root,
                                     struct probity_tree_node **ret_parent)
{
    size_t left = paths->table.items;

    entry->callee = NULL;
    for (*ret_parent = NULL; entry->parent != 0; left--) {
        struct path_entry *caller = path_at(paths, entry->parent);
        if (caller == NULL || left == 0)
            return NULL;
        if (caller->node != NULL && caller->root == root) {
            *ret_parent = caller->node;
            return entry;
        }
        caller->callee = entry;
        entry = caller;
    }
    return entry;
}

/* root NULL: the root of the tree. */
static int reach(struct probity_fleet_paths_taken *paths, const struct probity_fleet_sums *sums,
                 struct probity_tree *tree, struct probity_tree_node *root,
                 struct path_entry *entry)
{
    struct probity_tree_node *parent;
    struct probity_function_key key;

    if (entry->node != NULL && entry->root == root)
        return 0;
    struct path_entry *next = find_first(paths, entry, root, &parent);
    if (next == NULL)
        return PROBITY_ERROR_FORMAT;
    for (parent = parent != NULL ? parent : root; next != NULL; next = next->callee) {
        int error = probity_fleet_function_at(sums, next->function, &key);
        if (error != 0)
            return error;
        parent = probity_tree_reach(tree, parent, &key, NULL);
        if (parent == NULL)
            return PROBITY_ERROR_MEMORY;
        next->node = parent;
        next->root = root;
    }
    return 0;
}

/* ---- Sums --------------------------------------------------------------------------------------
 */

struct taking {
    struct probity_fleet_paths_taken *paths;
    const struct probity_fleet_sums *sums;
    struct probity_tree *tree;
    const struct probity_thread_label *thread; /* thread of the latest row; NULL: all threads */
    struct probity_tree_node *root;            /* node of that thread */
};

static int set_thread(struct taking *taking, uint64_t run, uint32_t number)
{
    const struct probity_thread_label *thread = probity_fleet_thread_at(taking->sums, run, number);

    if (thread == NULL)
        return PROBITY_ERROR_FORMAT;
    if (thread == taking->thread)
        return 0;
    taking->thread = thread;
    taking->root = probity_tree_reach(taking->tree, NULL, NULL, thread);
    return taking->root != NULL ? 0 : PROBITY_ERROR_MEMORY;
}

static int take_row(struct taking *taking, struct probity_fleet_answer *answer)
{
    uint64_t run = probity_fleet_take_number(answer, 8);
    uint32_t thread = (uint32_t)probity_fleet_take_number(answer, 4);
    uint64_t number = probity_fleet_take_number(answer, 8);
    struct probity_tree_sums sums = {.calls = 0};
    uint64_t *const numbers[] = {
        &sums.calls, &sums.untimed, &sums.repaired, &sums.total.wall_ns, &sums.total.cpu_ns,
        &sums.self.wall_ns, &sums.self.cpu_ns, &sums.paused.wall_ns, &sums.paused.cpu_ns};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = probity_fleet_take_number(answer, 8);
    sums.uncosted = sums.calls - sums.untimed;
    if (answer->is_bad)
        return PROBITY_ERROR_FORMAT;
    if (number == 0) {
        probity_tree_add_repairs(taking->tree, &(struct probity_scopes_repairs){0}, sums.calls);
        return 0;
    }
    struct path_entry *entry = path_at(taking->paths, number);
    int error = entry == NULL ? PROBITY_ERROR_FORMAT
                : taking->sums->group == PROBITY_FLEET_OF_THREAD ? set_thread(taking, run, thread)
                                                                 : 0;
    if (error == 0)
        error = reach(taking->paths, taking->sums, taking->tree, taking->root, entry);
    if (error == 0)
        probity_tree_add(entry->node, &sums);
    return error;
}

int probity_fleet_take_path_sums(struct probity_fleet_paths_taken *paths,
                                 const struct probity_fleet_sums *sums,
                                 struct probity_fleet_answer *answer, struct probity_tree *tree)
{
    struct taking taking = {.paths = paths, .sums = sums, .tree = tree};
    int error = 0;

    while (error == 0 && !probity_fleet_answer_is_over(answer))
        error = take_row(&taking, answer);
    return error == 0 && answer->is_bad ? PROBITY_ERROR_FORMAT : error;
}

int probity_fleet_take_profiled(struct probity_fleet_answer *answer, uint64_t *ret_profiled,
                                uint64_t *ret_counted)
{
    uint64_t profiled = probity_fleet_take_number(answer, 8);
    uint64_t counted = probity_fleet_take_number(answer, 8);

    if (answer->is_bad || answer->at != answer->end)
        return PROBITY_ERROR_FORMAT;
    *ret_profiled = profiled;
    *ret_counted = counted;
    return 0;
}

void probity_fleet_paths_taken_release(struct probity_fleet_paths_taken *paths)
{
    void *entry;

    while ((entry = probity_hashtable_take(&paths->table)) != NULL)
        free(entry);
}
