/* SPDX-License-Identifier: MIT
 *
 * export.c: `probity export`: traces in the formats of other tools.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/send.h"
#include "output/export.h"
#include "output/otlp_answer.h"

#define ME (&cli_command_export)

enum { HEADERS_MAX = 32 };

struct export_call {
    struct cli_answer answer;
    const struct probity_exporter *exporter; /* NULL: not said */
    struct probity_export_options options;
    struct probity_export_run *run; /* while there is one */
    int has_value, has_graph;       /* options that not all formats take */
    char *headers[HEADERS_MAX];     /* of requests */
    size_t header_count;
    struct cli_sender *sender;      /* NULL: to a file */
};

/* Every format is a row here, and a line in the help. */
static const struct probity_exporter *const exporters[] = {
    &probity_exporter_chrome,
    &probity_exporter_speedscope,
    &probity_exporter_callgrind,
    &probity_exporter_folded,
    &probity_exporter_sqlite,
    &probity_exporter_graphviz,
    &probity_exporter_perfetto,
    &probity_exporter_pprof,
    &probity_exporter_ctf,
    &probity_exporter_otlp,
    &probity_exporter_otlp_json,
};

enum { EXPORTERS = sizeof exporters / sizeof *exporters };

static const struct option long_options[] = {CLI_ANSWER_OPTIONS,
                                             {"format", required_argument, NULL, 'm'},
                                             {"value", required_argument, NULL, 'v'},
                                             {"by-thread", no_argument, NULL, 'b'},
                                             {"graph", required_argument, NULL, 'g'},
                                             {"header", required_argument, NULL, 'H'},
                                             {NULL, 0, NULL, 0}};

/* ---- Options -----------------------------------------------------------------------------------
 */

/* The names, as they stand in messages. */
static void list_formats(char *ret_text, size_t bytes)
{
    size_t used = 0;

    *ret_text = '\0';
    for (size_t i = 0; i < EXPORTERS && used < bytes; i++)
        used += (size_t)snprintf(ret_text + used, bytes - used, "%s%s", i > 0 ? ", " : "",
                                 exporters[i]->name);
}

static int parse_format(struct export_call *call, const char *text)
{
    char list[256];

    for (size_t i = 0; i < EXPORTERS; i++) {
        if (strcmp(text, exporters[i]->name) != 0)
            continue;
        call->exporter = exporters[i];
        return CLI_OK;
    }
    list_formats(list, sizeof list);
    return cli_fail_usage(ME, "no format '%s'; there are %s", text, list);
}

static int parse_value(struct export_call *call, const char *text)
{
    static const char *const names[] = {[PROBITY_EXPORT_WALL] = "wall",
                                        [PROBITY_EXPORT_CPU] = "cpu",
                                        [PROBITY_EXPORT_OFF_CPU] = "off-cpu",
                                        [PROBITY_EXPORT_CALLS] = "calls"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) != 0)
            continue;
        call->options.value = (enum probity_export_value)i;
        call->has_value = 1;
        return CLI_OK;
    }
    return cli_fail_usage(ME, "no value '%s'; there are wall, cpu, off-cpu, calls", text);
}

static int parse_graph(struct export_call *call, const char *text)
{
    call->has_graph = 1;
    if (strcmp(text, "calls") == 0)
        call->options.graph = PROBITY_EXPORT_CALL_GRAPH;
    else if (strcmp(text, "blocks") == 0)
        call->options.graph = PROBITY_EXPORT_BLOCK_GRAPH;
    else
        return cli_fail_usage(ME, "no graph '%s'; there are calls, blocks", text);
    return CLI_OK;
}

static int add_header(struct export_call *call, char *line)
{
    if (strchr(line, ':') == NULL || strpbrk(line, "\r\n") != NULL)
        return cli_fail_usage(ME, "--header '%s': a line 'Name: value'", line);
    if (call->header_count == HEADERS_MAX)
        return cli_fail_usage(ME, "--header: at most %d", HEADERS_MAX);
    call->headers[call->header_count++] = line;
    return CLI_OK;
}

static int take_option(void *context, int option, char *value)
{
    struct export_call *call = context;

    switch (option) {
    case 'm': return parse_format(call, value);
    case 'v': return parse_value(call, value);
    case 'b': call->options.by_thread = 1; return CLI_OK;
    case 'g': return parse_graph(call, value);
    case 'H': return add_header(call, value);
    default: return cli_answer_option(&call->answer, option, value);
    }
}

/* An option that the format would not heed is no option of it. */
static int check_call(const struct export_call *call)
{
    const struct probity_exporter *exporter = call->exporter;
    char list[256];

    list_formats(list, sizeof list);
    if (exporter == NULL)
        return cli_fail_usage(ME, "no --format given; there are %s", list);
    if (call->has_value && !(exporter->values >> call->options.value & 1))
        return cli_fail_usage(ME, "'%s' has no such --value", exporter->name);
    if (call->options.by_thread && !exporter->has_threads)
        return cli_fail_usage(ME, "'%s' has no --by-thread", exporter->name);
    if (call->has_graph && !exporter->has_graphs)
        return cli_fail_usage(ME, "'%s' has no --graph", exporter->name);
    if (cli_is_url(call->answer.out) && exporter->content_type == NULL)
        return cli_fail_usage(ME, "'%s' goes to a file; only otlp and otlp-json are sent",
                              exporter->name);
    if (call->header_count > 0 && !cli_is_url(call->answer.out))
        return cli_fail_usage(ME, "--header is of requests: -o names no server");
    if (exporter->target != PROBITY_EXPORT_STREAM && call->answer.out == NULL)
        return cli_fail_usage(ME, "'%s' cannot go to standard output; name it with -o",
                              exporter->name);
    return CLI_OK;
}

/* ---- Steps -------------------------------------------------------------------------------------
 */

static int put_event(void *context, const struct probity_event *event)
{
    struct export_call *call = context;

    return probity_export_put(call->run, event);
}

static int take_profiled(void *context, const struct probity_profiled *profiled)
{
    struct export_call *call = context;

    if (!cli_filter_passes(&call->answer.tids, profiled->tid, NULL, 0))
        return 0;
    return probity_export_put_profiled(call->run, profiled);
}

static int finish(void *context, const struct probity_reader *reader)
{
    struct export_call *call = context;
    int error = 0;

    for (size_t i = 0; error == 0 && i < probity_reader_traces(reader); i++)
        error = probity_reader_profile(reader, i, take_profiled, call);
    return error == 0 ? probity_export_finish(call->run) : error;
}

/* What the reader of the other tool would look for in vain. */
static void tell_counts(const struct export_call *call, const struct probity_export *export)
{
    static const char *const nouns[] = {"calls of functions", "hits of probes",
                                        "messages, parameters and checkpoints",
                                        "calls counted in profile mode"};
    const struct probity_scopes_repairs *repairs = export->repairs;

    for (size_t i = 0; i < sizeof nouns / sizeof *nouns; i++) {
        if (export->counts.left_out[i] > 0)
            cli_warn(ME, "%" PRIu64 " %s are not in the output: '%s' has no place for them",
                     export->counts.left_out[i], nouns[i], call->exporter->name);
    }
    cli_answer_tell_shortened(&call->answer, export->counts.shortened);
    if (repairs != NULL && repairs->unwound + repairs->open + repairs->orphans > 0)
        cli_warn(ME, "scopes repaired: %" PRIu64 " unwound, %" PRIu64 " still open at the end, %"
                 PRIu64 " left without an enter", repairs->unwound, repairs->open,
                 repairs->orphans);
}

/* A file that is sent on does not tell what is missing in it: that is said here. What is damaged is
 * told of every command. */
static void tell_complete(const struct probity_reader *reader)
{
    char why[256];

    for (size_t i = 0; i < probity_reader_traces(reader); i++) {
        const struct probity_trace_facts *facts = probity_reader_facts(reader, i);
        int is_complete = probity_trace_is_complete(facts, why, sizeof why);
        if (!probity_trace_is_damaged(facts) && facts->state != PROBITY_TRACE_UNFINISHED)
            cli_warn(ME, "'%s' is %scomplete: %s", facts->path, is_complete ? "" : "not ", why);
    }
}

static int fail(struct export_call *call, const struct probity_reader *reader, int error,
                int error_number)
{
    const char *out = call->answer.out;

    if (error == PROBITY_ERROR_WRITE && out == NULL)
        return cli_fail(ME, "cannot write to standard output: %s", strerror(error_number));
    if (error == PROBITY_ERROR_SYSTEM)
        return cli_fail(ME, "cannot keep events in a temporary file: %s; set TMPDIR to where there "
                        "is room", strerror(error_number));
    return cli_fail_trace(ME, error == PROBITY_ERROR_WRITE ? out
                                                           : probity_reader_facts(reader, 0)->path,
                          error, error_number);
}

static int copy_events(struct export_call *call, struct probity_reader *reader,
                       const struct cli_output *output)
{
    const struct probity_export_call export_call = {
        call->exporter, reader, &call->options, output->descriptor, output->temporary,
        call->sender != NULL ? cli_sender_post : NULL, call->sender};
    int error = probity_export_open(&export_call, &call->run);

    if (error == PROBITY_ERROR_OPEN)
        return cli_fail(ME, "cannot make a temporary file: %s", strerror(errno));
    if (error == 0)
        error = cli_answer_take(&call->answer, reader);
    int error_number = errno, status = CLI_OK;
    cli_progress_end();
    if (error != 0 && call->sender != NULL && cli_sender_has_failed(call->sender))
        status = CLI_FAILURE; /* why was told */
    else if (error != 0)
        status = fail(call, reader, error, error_number);
    else
        tell_counts(call, probity_export_look(call->run));
    if (call->run != NULL)
        probity_export_close(call->run);
    return status;
}

static int open_output(const struct export_call *call, struct cli_output *ret_output)
{
    const struct probity_exporter *exporter = call->exporter;
    const char *out = call->answer.out;

    switch (exporter->target) {
    case PROBITY_EXPORT_FOLDER:
        return cli_folder_open(ME, out, call->answer.force, exporter->files, ret_output);
    case PROBITY_EXPORT_FILE:
        return cli_output_open_named(ME, out, call->answer.force, ret_output);
    default: return cli_output_open(ME, out, call->answer.force, ret_output);
    }
}

static int close_output(const struct export_call *call, struct cli_output *output, int keep)
{
    return call->exporter->target == PROBITY_EXPORT_FOLDER ? cli_folder_close(ME, output, keep)
                                                           : cli_output_close(ME, output, keep);
}

/* What was taken, but not all of it. */
static int judge_answer(const struct cli_command *command, const char *url, const char *answer,
                        size_t bytes, int is_json)
{
    struct otlp_answer said;

    otlp_answer_get(answer, bytes, is_json, &said);
    if (said.rejected <= 0)
        return 0;
    cli_fail(command, "'%s' rejects %" PRId64 " spans%s%s", url, said.rejected,
             *said.why != '\0' ? ": " : "", said.why);
    return -1;
}

static int judge_protobuf(const struct cli_command *command, const char *url, const char *answer,
                          size_t bytes)
{
    return judge_answer(command, url, answer, bytes, 0);
}

static int judge_json(const struct cli_command *command, const char *url, const char *answer,
                      size_t bytes)
{
    return judge_answer(command, url, answer, bytes, 1);
}

static int send_all(struct export_call *call, struct probity_reader *reader)
{
    const struct cli_send_options options = {
        ME, call->answer.out, call->exporter->content_type, call->headers, call->header_count,
        call->exporter == &probity_exporter_otlp_json ? judge_json : judge_protobuf};
    int status = cli_sender_open(&options, &call->sender);

    if (status != CLI_OK)
        return status;
    const struct cli_output output = {.descriptor = cli_sender_descriptor(call->sender)};
    status = copy_events(call, reader, &output);
    if (status == CLI_OK)
        cli_warn(ME, "'%s' took %zu requests", call->answer.out, cli_sender_posted(call->sender));
    cli_sender_close(call->sender);
    if (status == CLI_OK)
        tell_complete(reader);
    return status;
}

static int stream(void *context, struct probity_reader *reader, uint64_t from_ns, uint64_t to_ns)
{
    struct export_call *call = context;
    struct cli_output output;

    call->options.from_ns = from_ns;
    call->options.to_ns = to_ns;
    if (cli_is_url(call->answer.out))
        return send_all(call, reader);
    int status = open_output(call, &output);
    if (status != CLI_OK)
        return status;
    if (call->exporter->target != PROBITY_EXPORT_STREAM && output.temporary == NULL)
        status = cli_fail(ME, "'%s' writes a file of its own: '%s' is none", call->exporter->name,
                          call->answer.out);
    else
        status = copy_events(call, reader, &output);
    int closed = close_output(call, &output, status == CLI_OK);
    if (status == CLI_OK)
        status = closed;
    if (status == CLI_OK)
        tell_complete(reader);
    return status;
}

static int run_on(void *context, char **names, size_t count)
{
    struct export_call *call = context;
    int status = check_call(call);

    return status == CLI_OK ? cli_answer_run(&call->answer, names, count) : status;
}

static int run(int argc, char **argv)
{
    static const struct cli_answer_steps steps = {
        .options = {":o:fh", long_options, take_option}, .run = run_on,
        .put = put_event, .finish = finish};
    struct export_call call = {.answer = {.command = ME, .steps = &steps, .context = &call,
                                         .stream = stream}};

    return cli_answer_main(&call.answer, argc, argv);
}

const struct cli_command cli_command_export = {
    "export", run, "Write traces in the formats of other tools",
    "--format FORMAT [OPTION]... TRACE...",
    "      --format FORMAT   one of\n"
    "          chrome        JSON of trace events: Perfetto, chrome://tracing\n"
    "          speedscope    calls of each thread: speedscope\n"
    "          callgrind     costs of functions: KCachegrind, callgrind_annotate\n"
    "          folded        stacks for flame graphs: lines 'a;b;c VALUE'\n"
    "          sqlite        a database with tables and views: needs -o\n"
    "          graphviz      a picture of calls or of blocks: dot\n"
    "          perfetto      Perfetto's protobuf, with parameters and CPU time\n"
    "          pprof         profiles by stack: go tool pprof\n"
    "          ctf           a folder in the Common Trace Format 1.8: needs -o\n"
    "          otlp          spans of OpenTelemetry: requests as protobuf\n"
    "          otlp-json     the same as JSON, a request a line\n"
    "  -o, --output FILE     write to FILE (default: standard output, also '-'); otlp, otlp-json:\n"
    "                        or send to a URL, as http://127.0.0.1:4318/v1/traces\n"
    "  -f, --force           replace FILE where it exists\n"
    "      --header LINE     of a URL: a line 'Name: value' of each request; may be repeated\n"
    "      --value WHAT      of folded, pprof: wall (default), cpu, off-cpu: self time; calls;\n"
    "                        of speedscope: wall, cpu\n"
    "      --by-thread       of folded, pprof: each thread for itself\n"
    "      --graph WHAT      of graphviz: calls (default) of functions, blocks between probes\n"
    "      --from T, --to T  what begins from T on, and before T: seconds since recording began,\n"
    "                        or with a unit (ns, us, ms, s), or @SECONDS since 1970\n"
    "      --tid N,...       only these thread ids\n"
    "  -h, --help            this text\n\n"
    "Standard error tells what of a trace the format has no place for, and whether the trace is\n"
    "complete. probity-export(1) says what each format carries.\n", NULL};
