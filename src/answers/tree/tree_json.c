/* SPDX-License-Identifier: MIT
 *
 * tree_json.c: a tree as nested objects, written node by node, so that its depth is limited neither
 * by memory nor by a library's recursion.
 */
#include "answers/tree/tree_print.h"

#include <inttypes.h>

#include "answers/report/report_json.h"
#include "answers/report/report_text.h"
#include "answers/tree/tree_states.h"
#include "print/json.h"
#include "probity.h"

/* The first ones in a node's list, which need no CPU times. */
enum { TIMES_OF_WALL = 3 };

static void put_corrected(FILE *stream, const struct probity_tree_node *node, int is_self)
{
    const char *name = is_self ? "self" : "total";
    struct probity_corrected corrected;

    if ((!is_self || node->function != NULL) &&
        probity_tree_corrected(&node->sums, is_self, &corrected))
        fprintf(stream, ", \"%s_corrected_ns\": %" PRIu64 ", \"%s_error_ns\": %" PRIu64, name,
                corrected.ns, name, corrected.error_ns);
    else
        fprintf(stream, ", \"%s_corrected_ns\": null, \"%s_error_ns\": null", name, name);
}

static void put_times(FILE *stream, const struct probity_tree_at *at, int is_cpu_known,
                      int has_states)
{
    static const struct {
        const char *name;
        enum probity_tree_key key;
        int is_cpu, of_function;
    } times[] = {{"total_ns", PROBITY_TREE_TOTAL, 0, 0},
                 {"self_ns", PROBITY_TREE_SELF, 0, 1},
                 {"paused_ns", PROBITY_TREE_PAUSED, 0, 1},
                 {"cpu_total_ns", PROBITY_TREE_CPU_TOTAL, 1, 0},
                 {"cpu_self_ns", PROBITY_TREE_CPU_SELF, 1, 1},
                 {"off_cpu_total_ns", PROBITY_TREE_OFF_TOTAL, 1, 0},
                 {"off_cpu_self_ns", PROBITY_TREE_OFF_SELF, 1, 1}};
    const struct probity_tree_node *node = at->node;
    const struct probity_tree_sums *sums = &node->sums;
    double share = probity_tree_share(node);
    size_t count = has_states ? TIMES_OF_WALL : sizeof times / sizeof *times;

    fprintf(stream, ", \"calls\": %" PRIu64 ", \"calls_untimed\": %" PRIu64
            ", \"calls_repaired\": %" PRIu64, sums->calls, sums->untimed, sums->repaired);
    for (size_t i = 0; i < count; i++) {
        int is_known = sums->calls > sums->untimed && (is_cpu_known || !times[i].is_cpu) &&
                       (node->function != NULL || !times[i].of_function);
        fprintf(stream, ", \"%s\": ", times[i].name);
        if (is_known)
            fprintf(stream, "%" PRIu64, probity_tree_value(sums, times[i].key));
        else
            fputs("null", stream);
    }
    if (sums->calls > sums->untimed && share >= 0)
        fprintf(stream, ", \"share\": %.6f", share);
    else
        fputs(", \"share\": null", stream);
    if (has_states) {
        fputs(", ", stream);
        probity_columns_put_json(stream, probity_tree_states_columns, PROBITY_TREE_STATES_COLUMNS,
                                 at);
        return;
    }
    put_corrected(stream, node, 0);
    put_corrected(stream, node, 1);
}

static int put_function(FILE *stream, const struct probity_tree_node *node)
{
    const struct probity_function *function = node->function->key.function;
    char lost[32];

    fputs("{\"name\": ", stream);
    int error = probity_json_put_text(stream, probity_tree_name(node, lost));
    if (error == 0 && function != NULL) {
        fputs(", \"file\": ", stream);
        error = probity_json_put_text(stream, function->file);
        fprintf(stream, ", \"line\": %" PRIu32, function->line);
    }
    return error;
}

static int put_thread(FILE *stream, const struct probity_thread_label *thread)
{
    fprintf(stream, "{\"pid\": %" PRIu32 ", \"tid\": %" PRIu32 ", \"thread\": %" PRIu32
            ", \"name\": ", thread->pid, thread->tid, thread->thread);
    return probity_json_put_text(stream, thread->name);
}

int probity_tree_json(FILE *stream, const struct probity_tree_answer *answer)
{
    int is_cpu_known = probity_report_has_cpu(answer->reader);
    const struct probity_tree_node *node;
    struct probity_tree_at at = {.node = NULL};
    int error = probity_report_json_head(stream, answer->reader, answer->repairs);
    size_t open = 0; /* nodes not yet closed */

    fprintf(stream, ",\n\"nodes_pruned\": %zu, \"calls_lost\": %" PRIu64
            ", \"calls_profiled\": %" PRIu64 ", \"calls_counted\": %" PRIu64 ",\n\"tree\": [",
            answer->pruned, answer->lost, answer->profiled, answer->counted);
    while (error == 0 && (node = probity_tree_step(answer, &at)) != NULL) {
        int is_first = at.depth > open;
        for (; open >= at.depth; open--)
            fputs("]}", stream);
        fputs(is_first ? "\n" : ",\n", stream);
        error = node->function != NULL ? put_function(stream, node)
                                       : put_thread(stream, node->thread);
        put_times(stream, &at, is_cpu_known, answer->states != NULL);
        fputs(", \"children\": [", stream);
        open = at.depth;
    }
    for (; open > 0; open--)
        fputs("]}", stream);
    fputs("]}\n", stream);
    return error == 0 && ferror(stream) ? PROBITY_ERROR_WRITE : error;
}
