/* SPDX-License-Identifier: MIT
 *
 * paths.c: a call tree by thread finds the path of each call, and passes on what the call adds to
 * it. If a call turns out to have another path, because one of its callers was recorded only at its
 * end, the call is subtracted again. Rows are summed modulo 2^64, so the row of the earlier minute
 * may already have been written.
 */
#include "fleet/paths.h"

#include <stdlib.h>

#include "answers/tree/tree.h"
#include "fleet/numbers.h"
#include "fleet/open_sums.h"
#include "probity.h"

#define MINUTE_NS PROBITY_FLEET_MINUTE_NS

struct path {
    struct path *next; /* list of all paths */
    uint64_t number;
    uint32_t thread;
    struct probity_fleet_open *sums;
};

/* The sums of one minute. */
struct path_sums {
    struct probity_fleet_open open; /* owner: path */
    struct path *path;
    struct probity_tree_sums sums;
};

struct probity_fleet_paths {
    struct probity_fleet_output *output;
    uint64_t run, minute; /* minute: that of the latest event */
    struct probity_tree *tree;
    struct path *paths;
    struct probity_fleet_open_list sums; /* sums by minute */
    int error;
};

/* ---- Paths -------------------------------------------------------------------------------------
 */

static void put_path(struct probity_fleet_paths *paths, uint64_t number, uint64_t parent,
                     uint64_t function)
{
    const uint64_t values[] = {paths->run, number, parent, function};

    probity_fleet_put_row(&paths->output->batches[PROBITY_FLEET_PATHS], values);
    probity_fleet_output_pass_large(paths->output, PROBITY_FLEET_PATHS);
}

/* Creates a path. Threads repeat the rows of paths that they share. Returns NULL if out of
 * memory. */
static struct path *make_path(struct probity_fleet_paths *paths, struct probity_tree_node *node,
                              const struct path *parent, uint32_t thread)
{
    const struct probity_function_key *key = &node->function->key;
    const uint64_t pair[] = {parent != NULL ? parent->number : 0,
                             probity_fleet_function(key->function, paths->run, key->number)};
    struct path *path = calloc(1, sizeof *path);

    if (path == NULL)
        return NULL;
    *path = (struct path){
        .next = paths->paths, .thread = thread,
        .number = probity_fleet_hash(PROBITY_FLEET_HASH_SEED, pair, sizeof pair)};
    paths->paths = path;
    put_path(paths, path->number, pair[0], pair[1]);
    node->user = path;
    return path;
}

/* Creates the path of a node, after those of its callers. Returns NULL if out of memory. */
static struct path *path_of(struct probity_fleet_paths *paths, struct probity_tree_node *node)
{
    struct path *path = node->user;

    while (path == NULL) {
        struct probity_tree_node *first = node;
        while (first->parent->function != NULL && first->parent->user == NULL)
            first = first->parent;
        const struct path *parent = first->parent->function != NULL ? first->parent->user : NULL;
        const struct probity_thread_label *thread = first->parent->thread;
        uint32_t number = parent != NULL ? parent->thread : thread != NULL ? thread->thread : 0;
        if (make_path(paths, first, parent, number) == NULL)
            return NULL;
        path = node->user;
    }
    return path;
}

/* ---- Sums by minute ----------------------------------------------------------------------------
 */

static void put_sums(struct probity_fleet_paths *paths, uint64_t minute, const struct path *path,
                     const struct probity_tree_sums *sums)
{
    uint64_t day = paths->minute / PROBITY_FLEET_DAY_MINUTES;
    struct probity_fleet_batch *batch =
        probity_fleet_output_row(paths->output, PROBITY_FLEET_PATH_MINUTES, &day);
    const uint64_t values[] = {
        day, paths->run, paths->output->blocks[PROBITY_FLEET_PATH_MINUTES],
        probity_fleet_open_seconds(minute, 1), path->number, path->thread,
        sums->calls, sums->untimed, sums->repaired, sums->total.wall_ns, sums->total.cpu_ns,
        sums->self.wall_ns, sums->self.cpu_ns, sums->paused.wall_ns, sums->paused.cpu_ns};

    probity_fleet_put_row(batch, values);
}

static void end_sums(void *paths, struct probity_fleet_open *open, int is_put)
{
    const struct path_sums *sums = (const struct path_sums *)open;

    if (is_put)
        put_sums(paths, open->period, sums->path, &sums->sums);
}

/* Finds or adds the sums of calls that began in this minute. Returns NULL if out of memory. */
static struct path_sums *sums_at(struct probity_fleet_paths *paths, struct path *path,
                                 uint64_t minute)
{
    struct path_sums *sums = probity_fleet_open_find(path->sums, minute);

    if (__builtin_expect(sums != NULL, 1))
        return sums;
    sums = probity_fleet_open_add(&paths->sums, &path->sums, minute);
    if (sums != NULL)
        sums->path = path;
    return sums;
}

static void add(struct probity_tree_sums *to, const struct probity_tree_sums *from, uint64_t sign)
{
    to->calls += sign * from->calls;
    to->untimed += sign * from->untimed;
    to->repaired += sign * from->repaired;
    to->total.wall_ns += sign * from->total.wall_ns;
    to->total.cpu_ns += sign * from->total.cpu_ns;
    to->self.wall_ns += sign * from->self.wall_ns;
    to->self.cpu_ns += sign * from->self.cpu_ns;
    to->paused.wall_ns += sign * from->paused.wall_ns;
    to->paused.cpu_ns += sign * from->paused.cpu_ns;
}

static void on_sums(void *context, struct probity_tree_node *node, uint64_t begin_ns,
                    const struct probity_tree_sums *sums, int is_off)
{
    struct probity_fleet_paths *paths = context;
    struct path *path = path_of(paths, node);
    struct path_sums *of = path != NULL ? sums_at(paths, path, begin_ns / MINUTE_NS) : NULL;

    if (__builtin_expect(of == NULL, 0))
        paths->error = PROBITY_ERROR_MEMORY;
    else
        add(&of->sums, sums, is_off ? UINT64_MAX : 1);
}

/* ---- Events ------------------------------------------------------------------------------------
 */

int probity_fleet_paths_put(struct probity_fleet_paths *paths, const struct probity_event *event)
{
    if (__builtin_expect(event->wall_ns / MINUTE_NS > paths->minute, 0)) {
        probity_fleet_open_end(&paths->sums, 1);
        paths->minute = event->wall_ns / MINUTE_NS;
    }
    int error = probity_tree_put(paths->tree, event);
    return error != 0 ? error : paths->error;
}

int probity_fleet_paths_finish(struct probity_fleet_paths *paths)
{
    static const struct path lost = {.number = 0};
    int error = probity_tree_finish(paths->tree);
    const struct probity_tree_sums sums = {.calls = probity_tree_lost(paths->tree)};

    probity_fleet_open_end(&paths->sums, 1);
    if (sums.calls > 0)
        put_sums(paths, paths->minute, &lost, &sums);
    return error != 0 ? error : paths->error;
}

int probity_fleet_paths_open(struct probity_fleet_output *output, uint64_t run,
                             struct probity_fleet_paths **ret_paths)
{
    struct probity_fleet_paths *paths = calloc(1, sizeof *paths);
    const struct probity_tree_options options = {
        .by_thread = 1, .nodes_max = PROBITY_FLEET_PATHS_MAX, .on_sums = on_sums,
        .context = paths};

    if (paths == NULL || probity_tree_open(&options, &paths->tree) != 0) {
        free(paths);
        return PROBITY_ERROR_MEMORY;
    }
    paths->output = output;
    paths->run = run;
    paths->sums = (struct probity_fleet_open_list){
        .item_bytes = sizeof(struct path_sums), .end = end_sums, .context = paths};
    *ret_paths = paths;
    return 0;
}

void probity_fleet_paths_close(struct probity_fleet_paths *paths)
{
    struct path *path;

    probity_fleet_open_end(&paths->sums, 0);
    probity_tree_close(paths->tree);
    while ((path = paths->paths) != NULL) {
        paths->paths = path->next;
        free(path);
    }
    free(paths);
}
