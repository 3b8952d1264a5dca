/* SPDX-License-Identifier: MIT
 *
 * tree_csv.c: prints trees line by line. A list has the ancestors of the current node by depth.
 */
#include "answers/tree/tree_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "answers/report/report_csv.h"
#include "answers/report/report_text.h"
#include "answers/tree/tree_states.h"
#include "base/array_grow.h"
#include "print/text.h"
#include "probity.h"

static void put_share(FILE *stream, const struct probity_tree_node *node)
{
    double share = probity_tree_share(node);

    fputc(',', stream);
    if (node->sums.calls > node->sums.untimed && share >= 0)
        fprintf(stream, "%.6f", share);
}

static void put_calls(FILE *stream, const struct probity_tree_sums *sums)
{
    fprintf(stream, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, sums->calls, sums->untimed,
            sums->repaired);
}

static void put_times(FILE *stream, const struct probity_tree_node *node, int is_cpu_known)
{
    static const struct {
        enum probity_tree_key key;
        int is_cpu;
    } times[] = {{PROBITY_TREE_TOTAL, 0},     {PROBITY_TREE_SELF, 0},
                 {PROBITY_TREE_PAUSED, 0},    {PROBITY_TREE_CPU_TOTAL, 1},
                 {PROBITY_TREE_CPU_SELF, 1},  {PROBITY_TREE_OFF_TOTAL, 1},
                 {PROBITY_TREE_OFF_SELF, 1}};
    const struct probity_tree_sums *sums = &node->sums;
    int is_timed = sums->calls > sums->untimed;

    put_calls(stream, sums);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        fputc(',', stream);
        if (is_timed && (is_cpu_known || !times[i].is_cpu))
            fprintf(stream, "%" PRIu64, probity_tree_value(sums, times[i].key));
    }
    put_share(stream, node);
    for (int is_self = 0; is_self < 2; is_self++) {
        struct probity_corrected corrected;
        if (probity_tree_corrected(sums, is_self, &corrected))
            fprintf(stream, ",%" PRIu64 ",%" PRIu64, corrected.ns, corrected.error_ns);
        else
            fputs(",,", stream);
    }
    fputc('\n', stream);
}

static void put_states(FILE *stream, const struct probity_tree_at *at)
{
    const struct probity_tree_sums *sums = &at->node->sums;

    put_calls(stream, sums);
    if (sums->calls > sums->untimed)
        fprintf(stream, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
                probity_tree_value(sums, PROBITY_TREE_TOTAL),
                probity_tree_value(sums, PROBITY_TREE_SELF),
                probity_tree_value(sums, PROBITY_TREE_PAUSED));
    else
        fputs(",,,", stream);
    put_share(stream, at->node);
    probity_columns_put_csv(stream, probity_tree_states_columns, PROBITY_TREE_STATES_COLUMNS, at);
    fputc('\n', stream);
}

static void put_head(FILE *stream, int has_states)
{
    fputs("node,caller,depth,pid,tid,thread,function,file,line,calls,calls_untimed,calls_repaired,"
          "total_ns,self_ns,paused_ns", stream);
    if (!has_states) {
        fputs(",cpu_total_ns,cpu_self_ns,off_cpu_total_ns,off_cpu_self_ns,share,total_corrected_ns,"
              "total_error_ns,self_corrected_ns,self_error_ns\n", stream);
        return;
    }
    fputs(",share", stream);
    probity_columns_put_names(stream, probity_tree_states_columns, PROBITY_TREE_STATES_COLUMNS);
    fputc('\n', stream);
}

/* Threads have no lines of their own; each line names its thread. */
static void put_node(FILE *stream, const struct probity_tree_node *node,
                     const struct probity_thread_label *thread)
{
    const struct probity_function *function = node->function->key.function;
    char lost[32];

    probity_report_csv_thread(stream, thread);
    fputc(',', stream);
    probity_report_csv_field(stream, probity_tree_name(node, lost));
    fputc(',', stream);
    if (function != NULL) {
        probity_report_csv_field(stream, function->file);
        fprintf(stream, ",%" PRIu32, function->line);
    } else {
        fputc(',', stream);
    }
}

/* The numbers of the ancestors, by depth. */
struct numbers {
    size_t *items, capacity;
};

static int set_number(struct numbers *numbers, size_t depth, size_t number)
{
    size_t *items =
        probity_array_fit(numbers->items, sizeof *items, depth + 1, &numbers->capacity);

    if (items == NULL)
        return PROBITY_ERROR_MEMORY;
    numbers->items = items;
    numbers->items[depth] = number;
    return 0;
}

int probity_tree_csv(FILE *stream, const struct probity_tree_answer *answer)
{
    int is_cpu_known = probity_report_has_cpu(answer->reader);
    const struct probity_thread_label *thread = NULL;
    const struct probity_tree_node *node;
    struct probity_tree_at at = {.node = NULL};
    struct numbers numbers = {NULL, 0};
    size_t count = 0;
    int error = set_number(&numbers, 0, 0);

    put_head(stream, answer->states != NULL);
    while (error == 0 && (node = probity_tree_step(answer, &at)) != NULL) {
        if (node->function == NULL) {
            thread = node->thread;
            error = set_number(&numbers, at.depth, 0);
            continue;
        }
        error = set_number(&numbers, at.depth, ++count);
        if (error != 0)
            break;
        fprintf(stream, "%zu,%zu,%zu,", count, numbers.items[at.depth - 1],
                at.depth - (thread != NULL ? 1 : 0));
        put_node(stream, node, thread);
        if (answer->states != NULL)
            put_states(stream, &at);
        else
            put_times(stream, node, is_cpu_known);
    }
    free(numbers.items);
    return error;
}

/* ---- Folded stacks -----------------------------------------------------------------------------
 */

/* The stack as text, and the end of each of its levels. */
struct stack {
    char *text;
    size_t capacity;
    struct numbers ends;
};

/* A semicolon ends a level and a line feed ends a stack, so both are escaped. Escaping may make
 * each byte longer. */
static int push(struct stack *stack, size_t depth, const char *name, size_t bytes)
{
    size_t start = depth > 1 ? stack->ends.items[depth - 1] : 0, need = start + 4 * bytes + 2;

    char *text = probity_array_fit(stack->text, 1, need, &stack->capacity);

    if (text == NULL)
        return PROBITY_ERROR_MEMORY;
    stack->text = text;
    char *at = stack->text + start;
    if (start > 0)
        *at++ = ';';
    char *end = probity_text_put(at, stack->text + stack->capacity - 1, name, bytes, '\0');
    *end = '\0';
    while ((at = strchr(at, ';')) != NULL)
        *at = ':';
    return set_number(&stack->ends, depth, (size_t)(end - stack->text));
}

static uint64_t folded_value(const struct probity_tree_node *node, enum probity_tree_key key)
{
    struct probity_tree_sums sums = node->sums;

    if (key == PROBITY_TREE_CALLS)
        return sums.calls;
    sums.self.wall_ns += node->pruned.wall_ns;
    sums.self.cpu_ns += node->pruned.cpu_ns;
    return probity_tree_value(&sums, key);
}

void probity_tree_thread_text(const struct probity_reader *reader,
                              const struct probity_thread_label *thread,
                              char ret_text[PROBITY_TREE_THREAD_BYTES])
{
    size_t traces = probity_reader_traces(reader), earlier = 0;
    const char *name = thread->name != NULL ? thread->name : "thread";
    char process[48] = "";

    for (size_t i = 0; i < thread->trace; i++)
        earlier += probity_reader_facts(reader, i)->info.pid == thread->pid;
    if (earlier > 0)
        snprintf(process, sizeof process, "%" PRIu32 "#%zu/", thread->pid, earlier + 1);
    else if (traces > 1)
        snprintf(process, sizeof process, "%" PRIu32 "/", thread->pid);
    snprintf(ret_text, PROBITY_TREE_THREAD_BYTES, "%.*s-%s%" PRIu32,
             (int)probity_text_whole(name, strnlen(name, 60)), name, process, thread->tid);
}

static int push_thread(struct stack *stack, const struct probity_tree_answer *answer,
                       const struct probity_thread_label *thread, size_t depth)
{
    char text[PROBITY_TREE_THREAD_BYTES];

    probity_tree_thread_text(answer->reader, thread, text);
    return push(stack, depth, text, strlen(text));
}

static int push_function(struct stack *stack, const struct probity_tree_node *node, size_t depth)
{
    char lost[32];
    size_t bytes;
    const char *name = probity_tree_label(node, lost, &bytes);

    return push(stack, depth, name, bytes);
}

/* outside: number of levels that are not functions. Returns whether any levels were left out. */
static int put_stack(FILE *stream, const struct stack *stack, size_t depth, size_t outside,
                     uint64_t value)
{
    const size_t *ends = stack->ends.items;
    int is_deep = depth - outside > PROBITY_TREE_LEVELS_SHOWN;

    if (is_deep)
        fprintf(stream, "%.*s;" PROBITY_TREE_LEVELS_BETWEEN "%s",
                (int)ends[outside + PROBITY_TREE_LEVELS_OUTER], stack->text,
                stack->text + ends[depth - PROBITY_TREE_LEVELS_INNER]);
    else
        fputs(stack->text, stream);
    fprintf(stream, " %" PRIu64 "\n", value);
    return is_deep;
}

int probity_tree_folded(FILE *stream, const struct probity_tree_answer *answer,
                        enum probity_tree_key key, uint64_t *ret_shortened)
{
    const struct probity_tree_node *node = answer->root;
    struct stack stack = {0};
    size_t depth = 0, outside = 0;
    uint64_t shortened = 0;
    int error = 0;

    while (error == 0 && (node = probity_tree_next(node, answer->root, &depth)) != NULL) {
        uint64_t value = node->function != NULL ? folded_value(node, key) : 0;
        error = node->function != NULL ? push_function(&stack, node, depth)
                                       : push_thread(&stack, answer, node->thread, depth);
        outside = node->function != NULL ? outside : depth;
        if (error == 0 && value > 0)
            shortened += (uint64_t)put_stack(stream, &stack, depth, outside, value);
    }
    free(stack.text);
    free(stack.ends.items);
    *ret_shortened = shortened;
    return error;
}
