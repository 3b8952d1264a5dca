/* SPDX-License-Identifier: MIT
 *
 * export_callgrind.c: costs of functions in callgrind's format, from the call tree: a block for
 * each function with its self time, followed by a line for each of its callees; or a function for
 * each block between probes. Holds a node for each path or pair. Each name is written once and then
 * referred to by number.
 */
#include <inttypes.h>
#include <string.h>

#include "answers/report/report_text.h"
#include "exports/export.h"
#include "exports/export_names.h"
#include "exports/export_tree.h"
#include "probity.h"

struct callgrind {
    struct export_tree tree; /* must be first: see export_tree.h */
    struct export_names functions;
    FILE *stream;
    int is_cpu_known, is_begun;
    struct probity_scope_time total;
};

/* ---- Lines -------------------------------------------------------------------------------------
 */

/* Writes "fn=(1) name" the first time, then "fn=(1)", because names may be long. */
static int put_function(struct callgrind *state, const char *file_word, const char *function_word,
                        const struct probity_function_key *key)
{
    size_t known = state->functions.table.items;
    const struct export_name *entry = export_names_at(
        &state->functions, export_key_of_function(key->function, key->trace, key->number));
    const char *file = key->function != NULL ? key->function->file : "???";
    char lost[32];
    size_t bytes;
    const char *name = probity_export_function_name(key->function, key->number, lost, &bytes);

    if (entry == NULL)
        return PROBITY_ERROR_MEMORY;
    fprintf(state->stream, "%s=", file_word);
    probity_report_put_safe(state->stream, file, strlen(file));
    fprintf(state->stream, "\n%s=(%" PRIu32 ")", function_word, entry->number + 1);
    if (state->functions.table.items > known) {
        fputc(' ', state->stream);
        /* Readers drop the costs of an empty name. */
        probity_report_put_safe(state->stream, bytes > 0 ? name : "???", bytes > 0 ? bytes : 3);
    }
    fputc('\n', state->stream);
    return 0;
}

static void put_cost(const struct callgrind *state, const struct probity_function *function,
                     struct probity_scope_time cost)
{
    fprintf(state->stream, "%" PRIu32 " %" PRIu64, function != NULL ? function->line : 0,
            cost.wall_ns);
    if (state->is_cpu_known)
        fprintf(state->stream, " %" PRIu64, cost.cpu_ns);
    fputc('\n', state->stream);
}

/* Adds a cost to that of a function, and to the total. */
static void add_cost(struct callgrind *state, const struct probity_function *function,
                     struct probity_scope_time self)
{
    put_cost(state, function, self);
    state->total.wall_ns += self.wall_ns;
    state->total.cpu_ns += self.cpu_ns;
}

static int put_self(struct callgrind *state, const struct probity_function_key *key,
                    struct probity_scope_time self)
{
    int error = put_function(state, "fl", "fn", key);

    add_cost(state, key->function, self);
    return error;
}

/* Readers add the cost of a call to the caller. The time of recursive calls is already in the
 * function's self time. */
static int put_call(struct callgrind *state, const struct probity_tree_node *callee)
{
    const struct probity_same_function *caller = callee->parent->function;
    const struct probity_scope_time none = {0, 0};
    const struct probity_function_key *key = &callee->function->key;
    int error = put_function(state, "cfi", "cfn", key);

    fprintf(state->stream, "calls=%" PRIu64 " %" PRIu32 "\n", callee->sums.calls,
            key->function != NULL ? key->function->line : 0);
    put_cost(state, caller->key.function,
             callee->function == caller ? none : callee->sums.total);
    return error;
}

/* Writes a block as a function with self time only. Each has a different name. */
static int put_pair(struct probity_export *export, const struct probity_blocks_pair *pair,
                    const char *name)
{
    struct callgrind *state = export->state;

    fputs("\nfl=???\nfn=", state->stream);
    probity_report_put_safe(state->stream, name, strlen(name));
    fputc('\n', state->stream);
    add_cost(state, NULL, (struct probity_scope_time){pair->wall_ns, pair->cpu_ns});
    return 0;
}

/* ---- The file ----------------------------------------------------------------------------------
 */

/* Written after all events, because it is not known earlier what is missing from a trace. */
static void put_head(struct callgrind *state, const struct probity_export *export)
{
    const struct probity_text *program =
        &probity_reader_facts(export->reader, 0)->info.text[PROBITY_TAG_PROGRAM];
    char lack[PROBITY_EXPORT_LACK_BYTES];

    if (state->is_begun)
        return;
    state->is_begun = 1;
    fprintf(state->stream, "# callgrind format\nversion: 1\ncreator: probity %s\ncmd: ",
            probity_version());
    probity_report_put_safe(state->stream, (const char *)program->bytes, program->length);
    for (size_t i = 0; i < probity_reader_traces(export->reader); i++) {
        if (!probity_export_lack(export, i, lack))
            continue;
        fputs("\ndesc: Trace: ", state->stream);
        probity_report_put_safe(state->stream, lack, strlen(lack));
    }
    fprintf(state->stream, "\npositions: line\nevent: Wall : wall time, ns\n");
    if (state->is_cpu_known)
        fputs("event: Cpu : CPU time, ns\n", state->stream);
    fprintf(state->stream, "events: Wall%s\n", state->is_cpu_known ? " Cpu" : "");
}

static int callgrind_begin(struct probity_export *export)
{
    struct callgrind *state = export->state;

    state->stream = probity_export_stream_open(export);
    state->is_cpu_known = probity_report_has_cpu(export->reader);
    return state->stream != NULL ? export_tree_begin(export) : PROBITY_ERROR_MEMORY;
}

/* Rows of profile mode have no caller. */
static void callgrind_profiled(struct probity_export *export,
                               const struct probity_profiled *profiled)
{
    struct callgrind *state = export->state;
    const struct probity_function_key key = {profiled->function, profiled->trace,
                                             profiled->number};

    put_head(state, export);
    fputc('\n', state->stream);
    int error = put_self(state, &key, (struct probity_scope_time){profiled->self_ns,
                                                                  profiled->cpu_self_ns});
    if (error != 0)
        probity_export_fail(export, error);
}

static int put_functions(struct callgrind *state, const struct probity_tree_answer *answer)
{
    const struct probity_tree_node *node, *callee;
    int error = probity_tree_view(state->tree.tree, PROBITY_TREE_CALLEES, NULL, NULL);

    for (node = answer->root->child; error == 0 && node != NULL; node = node->next) {
        const struct probity_function_key *key = &node->function->key;
        fputc('\n', state->stream);
        error = put_self(state, key, node->sums.self);
        for (callee = node->child; error == 0 && callee != NULL; callee = callee->next)
            error = put_call(state, callee);
    }
    return error;
}

static int callgrind_end(struct probity_export *export)
{
    struct callgrind *state = export->state;
    struct probity_tree_answer answer;
    int error = export_tree_finish(export, &answer), is_done = 0;

    put_head(state, export);
    if (error == 0)
        error = export_tree_blocks(export, put_pair, &is_done);
    if (error == 0 && !is_done)
        error = put_functions(state, &answer);
    fprintf(state->stream, "\ntotals: %" PRIu64, state->total.wall_ns);
    if (state->is_cpu_known)
        fprintf(state->stream, " %" PRIu64, state->total.cpu_ns);
    fputc('\n', state->stream);
    int closed = probity_export_stream_close(state->stream);
    state->stream = NULL;
    return error != 0 ? error : closed;
}

static void callgrind_release(struct probity_export *export)
{
    struct callgrind *state = export->state;

    if (state->stream != NULL)
        fclose(state->stream);
    export_names_release(&state->functions);
    export_tree_release(export);
}

const struct probity_exporter probity_exporter_callgrind = {
    .name = "callgrind",
    .target = PROBITY_EXPORT_STREAM,
    .carries = PROBITY_EXPORT_SCOPES | PROBITY_EXPORT_PROFILE,
    .has_all = 1,
    .has_blocks = 1,
    .state_bytes = sizeof(struct callgrind),
    .begin = callgrind_begin,
    .event = export_tree_event,
    .profiled = callgrind_profiled,
    .end = callgrind_end,
    .release = callgrind_release};
