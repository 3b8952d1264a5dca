/* SPDX-License-Identifier: MIT
 *
 * tree_command.c: `probity tree`: the call tree with its times.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/thread_states.h"
#include "answers/tree/tree.h"
#include "answers/tree/tree_print.h"
#include "cli/fleet_source.h"
#include "cli/patterns.h"
#include "cli/query.h"

/* With --states, there is one tree for each of these. */
enum { TREES = 3 };

static const enum probity_sched_state states_of[TREES] = {
    PROBITY_STATE_RUNNING, PROBITY_STATE_RUNNABLE, PROBITY_STATE_UNKNOWN};

enum tree_form { FORM_TEXT, FORM_JSON, FORM_CSV, FORM_FOLDED };

struct tree_call {
    struct cli_query answer;
    struct probity_tree_options options;
    struct probity_tree_limits limits;
    size_t nodes_max; /* 0: all */
    struct probity_tree_layout layout;
    struct probity_tree *tree;
    struct probity_tree *others[TREES]; /* trees for --states; the first is `tree` */
    struct probity_thread_states *states;
    struct probity_tree_states roots;
    enum tree_form form;
    enum probity_tree_key key;
    enum probity_tree_key value; /* PROBITY_TREE_KEYS if not given */
    enum probity_tree_view view;
    struct cli_patterns patterns; /* empty: the whole tree */
    uint64_t profiled, counted;
    int is_of_fleet;
    size_t pruned;
};

/* ---- Options -----------------------------------------------------------------------------------
 */

static int take_key(const struct cli_given *given)
{
    struct tree_call *call = given->at;

    call->key = probity_tree_key_parse(given->value);
    return call->key != PROBITY_TREE_KEYS ? CLI_OK : cli_fail_choice(given);
}

static int take_value(const struct cli_given *given)
{
    static const enum probity_tree_key keys[] = {PROBITY_TREE_SELF, PROBITY_TREE_CPU_SELF,
                                                 PROBITY_TREE_OFF_SELF, PROBITY_TREE_CALLS};
    struct tree_call *call = given->at;
    int choice = cli_choice_find(given);

    if (choice < 0)
        return cli_fail_choice(given);
    call->value = keys[choice];
    return CLI_OK;
}

static int take_percent(const struct cli_given *given)
{
    struct tree_call *call = given->at;
    const char *text = given->value;
    char *end;
    double percent = strtod(text, &end);

    if (strspn(text, "0123456789.") != strlen(text) || end == text || *end != '\0' ||
        percent > 100)
        return cli_fail_usage(given->command, "invalid --min-percent '%s' (0 to 100)", text);
    call->limits.share_min = percent / 100;
    return CLI_OK;
}

static int take_view(const struct cli_given *given)
{
    struct tree_call *call = given->at;
    enum probity_tree_view view = (enum probity_tree_view)given->option->number;

    if (call->patterns.count > 0 && call->view != view)
        return cli_fail_usage(given->command, "--function, --callers and --callees are mutually "
                              "exclusive");
    call->view = view;
    return cli_patterns_add(given->command, &call->patterns, given->value);
}

static int take_form(const struct cli_given *given)
{
    struct tree_call *call = given->at;
    enum tree_form form = (enum tree_form)given->option->number;

    if (call->form != FORM_TEXT && call->form != form)
        return cli_fail_usage(given->command, "--json, --csv and --folded are mutually exclusive");
    call->form = form;
    call->answer.is_bare = form != FORM_JSON;
    return CLI_OK;
}

/* ---- Steps -------------------------------------------------------------------------------------
 */

static int wants_costs(const struct tree_call *call)
{
    return call->form == FORM_JSON || call->form == FORM_CSV || call->layout.is_corrected;
}

static int open_tree(void *context, uint64_t from_ns, uint64_t to_ns)
{
    struct tree_call *call = context;

    call->options.from_ns = from_ns;
    call->options.to_ns = to_ns;
    if (!call->answer.has_states && wants_costs(call))
        call->options.costs_of = call->answer.reader;
    int error = probity_tree_open(&call->options, &call->tree);

    if (error != 0 || !call->answer.has_states)
        return error;
    call->others[0] = call->tree;
    error = probity_thread_states_open(0, &call->states);
    for (size_t i = 1; error == 0 && i < TREES; i++)
        error = probity_tree_open(&call->options, &call->others[i]);
    return error;
}

static int is_possible_in_parts(void *context)
{
    (void)context;
    return 1;
}

static int make_part(void *context, void **ret_part)
{
    const struct tree_call *call = context;
    struct probity_tree_options options = call->options;
    struct probity_tree *part;

    options.costs_of = wants_costs(call) ? call->answer.reader : NULL;
    int error = probity_tree_open(&options, &part);

    if (error == 0)
        *ret_part = part;
    return error;
}

static int put_in_part(void *part, const struct probity_event *event)
{
    return probity_tree_put(part, event);
}

static int put_run_in_part(void *part, const struct probity_run *run)
{
    return probity_tree_put_run(part, run);
}

static int are_joinable(const void *left, const void *right)
{
    return probity_tree_fits(left, right);
}

static int join_part(void *context, void *part)
{
    struct tree_call *call = context;

    return probity_tree_join(call->tree, part);
}

static void drop_part(void *part)
{
    probity_tree_close(part);
}

static __attribute__((noinline)) int
put_states(struct tree_call *call, const struct probity_event *event)
{
    struct probity_event copy;
    int error = 0;

    if (event->kind == PROBITY_EVENT_THREAD_STATE)
        return probity_thread_states_put(call->states, event);
    for (size_t i = 0; error == 0 && i < TREES; i++) {
        probity_thread_states_as_cpu(call->states, event, states_of[i], &copy);
        error = probity_tree_put(call->others[i], &copy);
    }
    return error;
}

static int put_event(void *context, const struct probity_event *event)
{
    struct tree_call *call = context;

    return call->states != NULL ? put_states(call, event) : probity_tree_put(call->tree, event);
}

static int put_run(void *context, const struct probity_run *run)
{
    struct tree_call *call = context;

    return call->states != NULL ? cli_query_put_each(run, put_event, call)
                                : probity_tree_put_run(call->tree, run);
}

static int is_like(void *context, const struct probity_function *function)
{
    struct tree_call *call = context;

    return cli_patterns_match(&call->patterns, function->name, function->signature);
}

static uint64_t count_pending(void *context)
{
    struct tree_call *call = context;

    return probity_tree_pending(call->tree);
}

static int finish_one(struct tree_call *call, struct probity_tree *tree)
{
    int error = probity_tree_finish(tree);

    if (error == 0 && call->patterns.count > 0)
        error = probity_tree_view(tree, call->view, is_like, call);
    if (error != 0)
        return error;
    call->pruned = probity_tree_prune(tree, &call->limits);
    error = probity_tree_sort(tree, call->key);
    int64_t pruned = error == 0 && call->nodes_max > 0
                         ? probity_tree_prune_rest(tree, call->nodes_max) : error;
    if (pruned < 0)
        return (int)pruned;
    call->pruned += (size_t)pruned;
    return 0;
}

static int finish_tree(void *context, const struct probity_reader *reader)
{
    struct tree_call *call = context;
    int error = finish_one(call, call->tree);

    for (size_t i = 1; error == 0 && call->states != NULL && i < TREES; i++)
        error = finish_one(call, call->others[i]);
    if (error == 0 && call->states != NULL) {
        call->roots.waiting = probity_tree_root(call->others[1]);
        call->roots.unknown = probity_tree_root(call->others[2]);
    }
    return error != 0 || call->is_of_fleet
               ? error
               : cli_query_profiles(&call->answer, reader, NULL, &call->profiled,
                                           &call->counted);
}

static int print_folded(struct tree_call *call, FILE *stream,
                        const struct probity_tree_answer *answer)
{
    uint64_t shortened = 0;
    int error = probity_tree_folded(stream, answer, call->value != PROBITY_TREE_KEYS
                                                        ? call->value : PROBITY_TREE_SELF,
                                    &shortened);

    cli_query_warn_shortened(&call->answer, shortened);
    return error;
}

static int print_tree(void *context, FILE *stream, const struct probity_reader *reader,
                      int has_color)
{
    struct tree_call *call = context;
    const struct probity_tree_answer answer = {
        reader, probity_tree_root(call->tree), probity_tree_repairs(call->tree),
        probity_tree_lost(call->tree), call->profiled, call->pruned, call->counted,
        call->states != NULL ? &call->roots : NULL};

    switch (call->form) {
    case FORM_JSON: return probity_tree_json(stream, &answer);
    case FORM_CSV: return probity_tree_csv(stream, &answer);
    case FORM_FOLDED: return print_folded(call, stream, &answer);
    default: break;
    }
    call->layout.has_color = has_color;
    call->layout.has_lines = cli_query_is_utf8();
    call->layout.line_columns = cli_query_line_columns(&call->answer);
    probity_tree_text(stream, &call->layout, &answer);
    return 0;
}

static int run_from_fleet(struct tree_call *call, size_t traces)
{
    if (traces > 0)
        return cli_fail_usage(&cli_command_tree, "--from-fleet and traces are mutually exclusive");
    if (call->answer.has_states || call->layout.is_corrected || call->options.fold_recursion ||
        call->answer.tids.count > 0)
        return cli_fail_usage(&cli_command_tree, "--states, --corrected, --fold-recursion and "
                              "--tid do not apply to --from-fleet");
    call->is_of_fleet = 1;
    if (probity_tree_open(&call->options, &call->tree) != 0)
        return cli_fail(&cli_command_tree, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    return cli_fleet_tree(&call->answer, call->tree, call->options.by_thread, &call->profiled,
                          &call->counted);
}

static int run_answer(struct tree_call *call, char **names, size_t count)
{
    if (cli_fleet_is_wanted(&call->answer.source, count))
        return run_from_fleet(call, count);
    int status = cli_fleet_is_unused(&cli_command_tree, &call->answer.source);
    return status == CLI_OK ? cli_query_run(&call->answer, names, count) : status;
}

static int run_on(void *context, char **names, size_t count)
{
    struct tree_call *call = context;

    if (call->value != PROBITY_TREE_KEYS && call->form != FORM_FOLDED)
        return cli_fail_usage(&cli_command_tree, "--value requires --folded");
    if (call->answer.has_states && (call->form == FORM_FOLDED || call->layout.is_corrected))
        return cli_fail_usage(&cli_command_tree, "--states does not apply to --folded and "
                              "--corrected");
    if (call->answer.has_states && call->key >= PROBITY_TREE_CPU_TOTAL &&
        call->key <= PROBITY_TREE_OFF_SELF)
        return cli_fail_usage(&cli_command_tree, "--states sorts by calls, total, self, paused or "
                              "name");
    int status = run_answer(call, names, count);

    if (call->answer.source.as_sql)
        return status;
    const char *idle = cli_patterns_idle(&call->patterns);
    return status == CLI_OK && idle != NULL ? cli_fail_function(&cli_command_tree, idle) : status;
}

static void release(void *context)
{
    struct tree_call *call = context;

    cli_patterns_release(&call->patterns);
    if (call->tree != NULL)
        probity_tree_close(call->tree);
    for (size_t i = 1; i < TREES; i++) {
        if (call->others[i] != NULL)
            probity_tree_close(call->others[i]);
    }
    if (call->states != NULL)
        probity_thread_states_close(call->states);
}

static int run(int argc, char **argv)
{
    static const struct cli_query_parts parts = {
        .is_possible = is_possible_in_parts, .make = make_part, .put = put_in_part,
        .put_run = put_run_in_part,
        .are_joinable = are_joinable, .join = join_part, .drop = drop_part};
    static const struct cli_query_steps steps = {
        .parts = &parts,
        .run = run_on,
        .open = open_tree, .put = put_event, .put_run = put_run,
        .finish = finish_tree, .print = print_tree,
        .release = release, .pending = count_pending, .is_windowed = 1,
        .wants = CLI_QUERY_CALLS};
    struct tree_call call = {
        .answer = {.command = &cli_command_tree, .steps = &steps, .context = &call},
        .key = PROBITY_TREE_TOTAL,
        .value = PROBITY_TREE_KEYS};

    return cli_query_main(&call.answer, argc, argv);
}

static const struct cli_option options[] = {
    {.name = "by-thread", .help = "show a tree for each thread",
     CLI_FLAG(struct tree_call, options.by_thread)},
    {.name = "depth", .value = "N", .help = "show only N levels of functions",
     .brief = "maximum number of levels", .valid = "a number, or 0 for all",
     CLI_NUMBER(struct tree_call, limits.depth, 0, 999999999)},
    {.name = "limit", .letter = 'n', .value = "N", .brief = "maximum number of nodes",
     .help = "show only the N nodes with the most total time",
     CLI_NUMBER(struct tree_call, nodes_max, 0, CLI_LIMIT_MAX)},
    {.name = "min-percent", .value = "P", .brief = "hide nodes below this share",
     .help = "hide nodes below P percent of the outermost function's total", .take = take_percent},
    {.name = "function", .value = "PATTERN", .brief = "only calls below functions that match",
     .help = "only calls below functions that match: * ? [a-z]", .repeats = 1, .take = take_view,
     .number = PROBITY_TREE_BELOW},
    {.name = "callers", .value = "PATTERN", .brief = "show callers of functions that match",
     .help = "invert the tree: show the callers of functions that match", .repeats = 1,
     .take = take_view,
     .number = PROBITY_TREE_CALLERS},
    {.name = "callees", .value = "PATTERN", .brief = "show callees of functions that match",
     .help = "show direct callees of functions that match; these three options are mutually "
             "exclusive and may be repeated", .repeats = 1, .take = take_view,
     .number = PROBITY_TREE_CALLEES},
    {.name = "fold-recursion", .help = "merge recursive calls into one node",
     CLI_FLAG(struct tree_call, options.fold_recursion)},
    {.name = "sort", .value = "KEY", .brief = "sort key", .noun = "sort key", .initial = "total",
     .choices = "calls total self cpu-total cpu-self off-total off-self paused name",
     .take = take_key},
    {.name = "corrected", .brief = "subtract the cost of recording",
     .help = "subtract the measured cost of recording from total and self time, and show the "
             "error bound (+-)", CLI_FLAG(struct tree_call, layout.is_corrected)},
    {.name = "states", .brief = "split times by thread states",
     .help = "split total and self time into running, waiting for a CPU and blocked, if thread "
             "states were recorded",
     CLI_FLAG(struct tree_call, answer.has_states)},
    {.name = "places", .help = "show file and line of each function",
     CLI_FLAG(struct tree_call, layout.has_places)},
    CLI_QUERY_RANGE_ROWS(struct tree_call, "only calls that begin"),
    CLI_QUERY_TID_ROW(struct tree_call, "only"),
    CLI_FLEET_ROWS(struct tree_call, answer.source),
    {.name = "json", .help = "print one JSON object with nested nodes; times in ns",
     .brief = "print JSON", .take = take_form, .number = FORM_JSON},
    {.name = "csv", .help = "print CSV with a header, one row per node; times in ns",
     .brief = "print CSV", .take = take_form, .number = FORM_CSV},
    {.name = "folded", .help = "print lines 'a;b;c VALUE' for flame graph tools",
     .brief = "print folded stacks", .take = take_form, .number = FORM_FOLDED},
    {.name = "value", .value = "WHAT", .brief = "value of folded stacks",
     .help = "with --folded: wall (default), cpu or off-cpu (self time in ns), or calls",
     .choices = "wall cpu off-cpu calls", .take = take_value},
    CLI_QUERY_OUTPUT_ROWS(struct tree_call),
    {.name = NULL},
};

const struct cli_command cli_command_tree = {
    .name = "tree",
    .run = run,
    .summary = "Show the call tree",
    .usage = "[OPTION]... TRACE...",
    .help =
        "Shows one line per call path, merged over threads: calls, total and self time, and the "
        "share of the outermost function's total.",
    .options = options,
};
