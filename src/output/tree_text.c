/* SPDX-License-Identifier: MIT
 *
 * tree_text.c: a tree as an indented table. Of very deep paths only the innermost levels are drawn:
 * recursion must not make lines of thousands of columns.
 */
#include "output/tree_text.h"

#include <inttypes.h>
#include <string.h>

#include "output/report_text.h"
#include "output/text.h"

enum { LEVELS_DRAWN = 48 };

static void put_head(FILE *stream, const struct probity_tree_layout *layout)
{
    const char *start = layout->has_colour ? "\033[1m" : "";
    const char *end = layout->has_colour ? "\033[0m" : "";

    if (layout->is_corrected) {
        fprintf(stream, "%s%17s%18s%8s%18s%s\n", start, "wall", "less overhead", "wall",
                "less overhead", end);
        fprintf(stream, "%s%9s%8s%10s%8s%8s%10s%8s%8s  function%s\n", start, "calls", "total",
                "total", "+-", "self", "self", "+-", "share", end);
        return;
    }
    fprintf(stream, "%s%24s%16s%s\n", start, "wall time", "CPU time", end);
    fprintf(stream, "%s%9s%8s%8s%8s%8s%8s  function%s\n", start, "calls", "total", "self",
            "total", "self", "share", end);
}

static void put_time(FILE *stream, uint64_t ns, int is_known)
{
    char text[PROBITY_REPORT_TIME_BYTES];

    fprintf(stream, "%8s", is_known ? probity_report_time_text(ns, text) : "-");
}

static void put_corrected(FILE *stream, const struct probity_tree_node *node, int is_self)
{
    struct probity_corrected corrected;

    if ((is_self && node->function == NULL) ||
        !probity_tree_corrected(&node->sums, is_self, &corrected)) {
        fprintf(stream, "%10s%8s", "-", "-");
        return;
    }
    probity_report_put_corrected(stream, corrected);
    put_time(stream, corrected.error_ns, 1);
}

static void put_share(FILE *stream, double share)
{
    if (share >= 0)
        fprintf(stream, "%7.1f%%  ", 100 * share);
    else
        fprintf(stream, "%8s  ", "-");
}

static void put_corrected_sums(FILE *stream, const struct probity_tree_node *node)
{
    const struct probity_tree_sums *sums = &node->sums;
    int is_timed = sums->calls > sums->untimed, is_function = node->function != NULL;

    fprintf(stream, "%9" PRIu64, sums->calls);
    put_time(stream, sums->total.wall_ns, is_timed);
    put_corrected(stream, node, 0);
    put_time(stream, sums->self.wall_ns, is_timed && is_function);
    put_corrected(stream, node, 1);
    put_share(stream, is_timed ? probity_tree_share(node) : -1);
}

static void put_sums(FILE *stream, const struct probity_tree_node *node, int is_cpu_known)
{
    const struct probity_tree_sums *sums = &node->sums;
    int is_timed = sums->calls > sums->untimed, is_function = node->function != NULL;
    double share = is_timed ? probity_tree_share(node) : -1;

    fprintf(stream, "%9" PRIu64, sums->calls);
    put_time(stream, sums->total.wall_ns, is_timed);
    put_time(stream, sums->self.wall_ns, is_timed && is_function);
    put_time(stream, sums->total.cpu_ns, is_timed && is_cpu_known);
    put_time(stream, sums->self.cpu_ns, is_timed && is_cpu_known && is_function);
    put_share(stream, share);
}

/* The lines to the left of a name, from the outside: whether each node on the way has a sibling to
 * come. Nodes of the first level stand at the margin. */
static void put_lines(FILE *stream, const struct probity_tree_node *node, size_t depth,
                      int has_lines)
{
    uint8_t goes_on[LEVELS_DRAWN];
    size_t count = 0;

    if (depth > LEVELS_DRAWN + 1)
        fprintf(stream, "(%zu levels) ", depth - LEVELS_DRAWN - 1);
    for (; depth > 1 && count < LEVELS_DRAWN; depth--, node = node->parent)
        goes_on[count++] = node->next != NULL;
    while (count-- > 1)
        fputs(!goes_on[count] ? "   " : has_lines ? "\u2502  " : "|  ", stream);
    if (count == 0)
        fputs(has_lines ? (goes_on[0] ? "\u251c\u2500 " : "\u2514\u2500 ")
                        : (goes_on[0] ? "|- " : "`- "), stream);
}

static void put_thread(FILE *stream, const struct probity_thread_label *thread, int has_pids)
{
    fputs("thread ", stream);
    probity_report_put_thread(stream, thread, has_pids);
}

const char *probity_tree_label(const struct probity_tree_node *node, char ret_text[32],
                               size_t *ret_bytes)
{
    const struct probity_function *function = node->function->key.function;

    if (function != NULL)
        return probity_text_qualified(function->signature, function->name, ret_bytes);
    *ret_bytes = (size_t)snprintf(ret_text, 32, "site-%" PRIu32, node->function->key.number);
    return ret_text;
}

static void put_name(FILE *stream, const struct probity_tree_node *node, int has_places)
{
    const struct probity_function *function = node->function->key.function;
    char lost[32];
    size_t bytes;
    const char *name = probity_tree_label(node, lost, &bytes);

    probity_report_put_safe(stream, name, bytes);
    if (has_places && function != NULL) {
        fputs("  ", stream);
        probity_report_put_safe(stream, function->file, strlen(function->file));
        fprintf(stream, ":%" PRIu32, function->line);
    }
}

static void put_foot(FILE *stream, const struct probity_tree_layout *layout,
                     const struct probity_tree_answer *answer)
{
    fputc('\n', stream);
    if (answer->root->child == NULL)
        fputs("no calls\n", stream);
    if (answer->pruned > 0)
        fprintf(stream, "%zu nodes are not shown\n", answer->pruned);
    if (answer->root->sums.untimed > 0)
        fprintf(stream, "%" PRIu64 " outermost calls have no times: profiling was off\n",
                answer->root->sums.untimed);
    if (answer->profiled > 0)
        fprintf(stream, "%" PRIu64 " calls were counted in profile mode, which keeps no paths: "
                "`probity report` shows them\n", answer->profiled);
    if (answer->lost > 0)
        fprintf(stream, "%" PRIu64 " calls are left out: there are too many different paths "
                "(--fold-recursion may help)\n", answer->lost);
    if (layout->is_corrected)
        probity_report_put_overhead(stream, answer->reader);
    probity_report_foot(stream, layout->has_colour, answer->reader, answer->repairs);
}

void probity_tree_text(FILE *stream, const struct probity_tree_layout *layout,
                       const struct probity_tree_answer *answer)
{
    int is_cpu_known = probity_report_has_cpu(answer->reader);
    int has_pids = probity_reader_traces(answer->reader) > 1;
    const struct probity_tree_node *node = answer->root;
    size_t depth = 0;

    put_head(stream, layout);
    while ((node = probity_tree_next(node, answer->root, &depth)) != NULL) {
        if (layout->is_corrected)
            put_corrected_sums(stream, node);
        else
            put_sums(stream, node, is_cpu_known);
        put_lines(stream, node, depth, layout->has_lines);
        if (node->function == NULL)
            put_thread(stream, node->thread, has_pids);
        else
            put_name(stream, node, layout->has_places);
        fputc('\n', stream);
    }
    put_foot(stream, layout, answer);
}
