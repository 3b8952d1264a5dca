/* SPDX-License-Identifier: MIT
 *
 * tree.c: `probity tree`: who called whom, and what it took.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/tree.h"
#include "cli/answer.h"
#include "output/tree_csv.h"
#include "output/tree_json.h"
#include "output/tree_text.h"

enum tree_form { FORM_TEXT, FORM_JSON, FORM_CSV, FORM_FOLDED };

struct tree_call {
    struct cli_answer answer;
    struct probity_tree_options options;
    struct probity_tree_limits limits;
    struct probity_tree_layout layout;
    struct probity_tree *tree;
    enum tree_form form;
    enum probity_tree_key key;
    enum probity_tree_key value; /* PROBITY_TREE_KEYS: not told */
    enum probity_tree_view view;
    const char *pattern; /* NULL: the whole tree */
    int is_found;        /* a function of that name */
    uint64_t profiled;
    size_t pruned;
};

static const struct option long_options[] = {
    CLI_ANSWER_OPTIONS,
    {"by-thread", no_argument, NULL, 'b'},
    {"depth", required_argument, NULL, 'd'},
    {"min-percent", required_argument, NULL, 'm'},
    {"function", required_argument, NULL, 'u'},
    {"callers", required_argument, NULL, 'r'},
    {"callees", required_argument, NULL, 'e'},
    {"fold-recursion", no_argument, NULL, 'R'},
    {"places", no_argument, NULL, 'P'},
    {"sort", required_argument, NULL, 's'},
    {"json", no_argument, NULL, 'j'},
    {"csv", no_argument, NULL, 'c'},
    {"folded", no_argument, NULL, 'l'},
    {"value", required_argument, NULL, 'v'},
    {"corrected", no_argument, NULL, 'k'},
    {NULL, 0, NULL, 0}};

/* ---- Options -----------------------------------------------------------------------------------
 */

static int parse_key(struct tree_call *call, const char *text)
{
    call->key = probity_tree_key_parse(text);
    if (call->key != PROBITY_TREE_KEYS)
        return CLI_OK;
    return cli_fail_usage(&cli_command_tree, "no order '%s'; there are calls, total, self, "
                          "cpu-total, cpu-self, off-total, off-self, paused, name", text);
}

static int parse_value(struct tree_call *call, const char *text)
{
    static const struct {
        const char *name;
        enum probity_tree_key key;
    } values[] = {{"wall", PROBITY_TREE_SELF},
                  {"cpu", PROBITY_TREE_CPU_SELF},
                  {"off-cpu", PROBITY_TREE_OFF_SELF},
                  {"calls", PROBITY_TREE_CALLS}};

    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (strcmp(text, values[i].name) != 0)
            continue;
        call->value = values[i].key;
        return CLI_OK;
    }
    return cli_fail_usage(&cli_command_tree, "no value '%s'; there are wall, cpu, off-cpu, calls",
                          text);
}

static int parse_depth(struct tree_call *call, const char *text)
{
    if (cli_parse_number(text, 0, 999999999, &call->limits.depth) == 0)
        return CLI_OK;
    return cli_fail_usage(&cli_command_tree, "--depth %s: a number of levels, or 0 for all", text);
}

static int parse_percent(struct tree_call *call, const char *text)
{
    char *end;
    double percent = strtod(text, &end);

    if (strspn(text, "0123456789.") != strlen(text) || end == text || *end != '\0' ||
        percent > 100)
        return cli_fail_usage(&cli_command_tree, "--min-percent %s: a number from 0 to 100", text);
    call->limits.share_min = percent / 100;
    return CLI_OK;
}

static int parse_view(struct tree_call *call, enum probity_tree_view view, const char *pattern)
{
    if (call->pattern != NULL)
        return cli_fail_usage(&cli_command_tree, "--function, --callers and --callees exclude each "
                              "other");
    call->view = view;
    call->pattern = pattern;
    return CLI_OK;
}

static int set_form(struct tree_call *call, enum tree_form form)
{
    if (call->form != FORM_TEXT && call->form != form)
        return cli_fail_usage(&cli_command_tree, "--json, --csv and --folded exclude each other");
    call->form = form;
    return CLI_OK;
}

static int take_option(void *context, int option, char *value)
{
    struct tree_call *call = context;

    switch (option) {
    case 'b': call->options.by_thread = 1; return CLI_OK;
    case 'd': return parse_depth(call, value);
    case 'm': return parse_percent(call, value);
    case 'u': return parse_view(call, PROBITY_TREE_BELOW, value);
    case 'r': return parse_view(call, PROBITY_TREE_CALLERS, value);
    case 'e': return parse_view(call, PROBITY_TREE_CALLEES, value);
    case 'R': call->options.fold_recursion = 1; return CLI_OK;
    case 'P': call->layout.has_places = 1; return CLI_OK;
    case 's': return parse_key(call, value);
    case 'j': return set_form(call, FORM_JSON);
    case 'c': return set_form(call, FORM_CSV);
    case 'l': return set_form(call, FORM_FOLDED);
    case 'v': return parse_value(call, value);
    case 'k': call->layout.is_corrected = 1; return CLI_OK;
    default: return cli_answer_option(&call->answer, option, value);
    }
}

/* ---- Steps -------------------------------------------------------------------------------------
 */

static int open_tree(void *context, uint64_t from_ns, uint64_t to_ns)
{
    struct tree_call *call = context;

    call->options.from_ns = from_ns;
    call->options.to_ns = to_ns;
    if (call->form == FORM_JSON || call->form == FORM_CSV || call->layout.is_corrected)
        call->options.costs_of = call->answer.reader;
    return probity_tree_open(&call->options, &call->tree);
}

static int put_event(void *context, const struct probity_event *event)
{
    struct tree_call *call = context;

    return probity_tree_put(call->tree, event);
}

static int is_like(void *context, const struct probity_function *function)
{
    struct tree_call *call = context;
    int is_found = cli_function_matches(call->pattern, function->name, function->signature);

    call->is_found |= is_found;
    return is_found;
}

static int finish_tree(void *context, const struct probity_reader *reader)
{
    struct tree_call *call = context;
    int error = probity_tree_finish(call->tree);

    if (error == 0)
        error = cli_answer_profiles(&call->answer, reader, NULL, &call->profiled);
    if (error == 0 && call->pattern != NULL)
        error = probity_tree_view(call->tree, call->view, is_like, call);
    if (error != 0)
        return error;
    call->pruned = probity_tree_prune(call->tree, &call->limits);
    return probity_tree_sort(call->tree, call->key);
}

static int print_folded(struct tree_call *call, FILE *stream,
                        const struct probity_tree_answer *answer)
{
    uint64_t shortened = 0;
    int error = probity_tree_folded(stream, answer, call->value != PROBITY_TREE_KEYS
                                                        ? call->value : PROBITY_TREE_SELF,
                                    &shortened);

    cli_answer_tell_shortened(&call->answer, shortened);
    return error;
}

static int print_tree(void *context, FILE *stream, const struct probity_reader *reader,
                      int has_colour)
{
    struct tree_call *call = context;
    const struct probity_tree_answer answer = {
        reader, probity_tree_root(call->tree), probity_tree_repairs(call->tree),
        probity_tree_lost(call->tree), call->profiled, call->pruned};

    switch (call->form) {
    case FORM_JSON: return probity_tree_json(stream, &answer);
    case FORM_CSV: return probity_tree_csv(stream, &answer);
    case FORM_FOLDED: return print_folded(call, stream, &answer);
    default: break;
    }
    call->layout.has_colour = has_colour;
    call->layout.has_lines = cli_answer_is_utf8();
    call->layout.line_columns = cli_answer_line_columns(&call->answer);
    probity_tree_text(stream, &call->layout, &answer);
    return 0;
}

static int run_on(void *context, char **names, size_t count)
{
    struct tree_call *call = context;

    if (call->value != PROBITY_TREE_KEYS && call->form != FORM_FOLDED)
        return cli_fail_usage(&cli_command_tree, "--value is of --folded");
    int status = cli_answer_run(&call->answer, names, count);

    if (status == CLI_OK && call->pattern != NULL && !call->is_found)
        status = cli_fail_function(&cli_command_tree, call->pattern);
    return status;
}

static void release(void *context)
{
    struct tree_call *call = context;

    if (call->tree != NULL)
        probity_tree_close(call->tree);
}

static int run(int argc, char **argv)
{
    static const struct cli_answer_steps steps = {
        .options = {":o:fh", long_options, take_option}, .run = run_on,
        .open = open_tree, .put = put_event, .finish = finish_tree, .print = print_tree,
        .release = release};
    struct tree_call call = {
        .answer = {.command = &cli_command_tree, .steps = &steps, .context = &call},
        .key = PROBITY_TREE_TOTAL,
        .value = PROBITY_TREE_KEYS};

    return cli_answer_main(&call.answer, argc, argv);
}

const struct cli_command cli_command_tree = {
    "tree", run, "Show who called whom, with times along each path",
    "[OPTION]... TRACE...",
    "A line for each path of calls, merged over threads: calls, total and self time, and the\n"
    "share of the outermost function's total.\n\n"
    "      --by-thread          a tree for each thread\n"
    "      --depth N            so many levels of functions only\n"
    "      --min-percent P      nothing below so much of the outermost function's total\n"
    "      --function PATTERN   what happened below functions like this: * ? [a-z]\n"
    "      --callers PATTERN    upside down: who called functions like this, from where\n"
    "      --callees PATTERN    what functions like this called themselves, one level\n"
    "      --fold-recursion     a function that calls itself is one node\n"
    "      --sort KEY           calls, total (default), self, cpu-total, cpu-self, off-total,\n"
    "                           off-self, paused, name\n"
    "      --corrected          total and self time less what recording added, as far as it was\n"
    "                           measured, and how far that may be off (+-)\n"
    "      --places             file and line of each function\n"
    "      --from T, --to T     calls that begin from T on, and before T: seconds since recording\n"
    "                           began, or with a unit (ns, us, ms, s), or @SECONDS since 1970\n"
    "      --tid N,...          only these thread ids\n"
    "      --json               one object, nodes inside nodes; times are ns\n"
    "      --csv                a line of names, then one for each node; times are ns\n"
    "      --folded             lines 'a;b;c VALUE', which tools for flame graphs read\n"
    "      --value WHAT         of --folded: wall (default), cpu, off-cpu: self time in ns; calls\n"
    "  -o, --output FILE        write to FILE (default: standard output, also '-')\n"
    "  -f, --force              replace FILE where it exists\n"
    "  -h, --help               this text\n", NULL};
