/* SPDX-License-Identifier: MIT
 *
 * export_command.c: `probity export`: converts traces to the formats of other tools.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "answers/model/model.h"
#include "cli/align.h"
#include "cli/query.h"
#include "cli/send.h"
#include "exports/export.h"
#include "exports/export_spans.h"
#include "exports/otlp/otlp_answer.h"

#define ME (&cli_command_export)

enum { HEADERS_MAX = 32 };

struct export_call {
    struct cli_query answer;
    const struct probity_exporter *exporter; /* NULL: not given */
    struct probity_export_options options;
    struct probity_export_run *run; /* NULL unless one is open */
    int has_value, has_graph;       /* options that only some formats have */
    char *headers[HEADERS_MAX];     /* headers of requests */
    size_t header_count;
    struct cli_sender *sender;      /* NULL if the output is a file */
};

/* Each format has a row here, a line in the help and a choice of --format. */
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
    &probity_exporter_openmetrics,
    &probity_exporter_firefox,
};

enum { EXPORTERS = sizeof exporters / sizeof *exporters };

/* ---- Options -----------------------------------------------------------------------------------
 */

/* Lists the names of the formats, for a message. */
static void list_formats(char *ret_text, size_t bytes)
{
    size_t used = 0;

    *ret_text = '\0';
    for (size_t i = 0; i < EXPORTERS && used < bytes; i++)
        used += (size_t)snprintf(ret_text + used, bytes - used, "%s%s", i > 0 ? ", " : "",
                                 exporters[i]->name);
}

static int take_format(const struct cli_given *given)
{
    struct export_call *call = given->at;

    for (size_t i = 0; i < EXPORTERS; i++) {
        if (strcmp(given->value, exporters[i]->name) != 0)
            continue;
        if (exporters[i]->missing != NULL)
            return cli_fail(ME, "this build cannot write format '%s' (requires %s)", given->value,
                            exporters[i]->missing);
        call->exporter = exporters[i];
        return CLI_OK;
    }
    return cli_fail_choice(given);
}

static int take_value(const struct cli_given *given)
{
    static const enum probity_export_value values[] = {PROBITY_EXPORT_WALL, PROBITY_EXPORT_CPU,
                                                       PROBITY_EXPORT_OFF_CPU,
                                                       PROBITY_EXPORT_CALLS};
    struct export_call *call = given->at;
    int choice = cli_choice_find(given);

    if (choice < 0)
        return cli_fail_choice(given);
    call->options.value = values[choice];
    call->has_value = 1;
    return CLI_OK;
}

static int take_graph(const struct cli_given *given)
{
    struct export_call *call = given->at;
    int choice = cli_choice_find(given);

    if (choice < 0)
        return cli_fail_choice(given);
    call->options.graph = choice == 0 ? PROBITY_EXPORT_CALL_GRAPH : PROBITY_EXPORT_BLOCK_GRAPH;
    call->has_graph = 1;
    return CLI_OK;
}

static int take_header(const struct cli_given *given)
{
    struct export_call *call = given->at;
    char *line = given->value;

    if (strchr(line, ':') == NULL || strpbrk(line, "\r\n") != NULL)
        return cli_fail_usage(ME, "invalid --header '%s' (expected 'Name: value')", line);
    if (call->header_count == HEADERS_MAX)
        return cli_fail_usage(ME, "too many --header options (at most %d)", HEADERS_MAX);
    call->headers[call->header_count++] = line;
    return CLI_OK;
}

/* Whether it is "HOST:PORT", which is not a URL. */
static int is_server(const char *out)
{
    const char *port = out != NULL ? strrchr(out, ':') : NULL;

    if (port == NULL || port == out || strchr(out, '/') != NULL)
        return 0;
    size_t digits = strspn(port + 1, "0123456789");
    return digits >= 1 && digits <= 5 && port[1 + digits] == '\0';
}

/* Whether the output is a URL rather than a file. */
static int is_url(const char *path)
{
    return path != NULL && (strncasecmp(path, "http://", 7) == 0 ||
                            strncasecmp(path, "https://", 8) == 0);
}

/* Rejects options that the format would ignore. */
static int check_call(const struct export_call *call)
{
    const struct probity_exporter *exporter = call->exporter;
    char list[256];

    list_formats(list, sizeof list);
    if (exporter == NULL)
        return cli_fail_usage(ME, "--format is required (valid: %s)", list);
    if (call->has_value && !(exporter->values >> call->options.value & 1))
        return cli_fail_usage(ME, "format '%s' does not support this --value", exporter->name);
    if (call->options.by_thread && !exporter->has_threads)
        return cli_fail_usage(ME, "format '%s' does not support --by-thread", exporter->name);
    if (call->options.of_blocks && !exporter->has_blocks)
        return cli_fail_usage(ME, "format '%s' does not support --blocks", exporter->name);
    if (call->has_graph && !exporter->has_graphs)
        return cli_fail_usage(ME, "format '%s' does not support --graph", exporter->name);
    if (call->options.is_gzip && (!exporter->has_gzip || is_url(call->answer.out)))
        return cli_fail_usage(ME, is_url(call->answer.out) ? "requests are not sent compressed"
                                                           : "format '%s' does not support --gzip",
                              exporter->name);
    if (is_url(call->answer.out) && exporter->content_type == NULL)
        return cli_fail_usage(ME, "format '%s' cannot be sent; use otlp or otlp-json",
                              exporter->name);
    if (exporter->content_type != NULL && is_server(call->answer.out))
        return cli_fail_usage(ME, "-o %s: for a server use a URL (http://%s/v1/traces), for a file "
                              "of this name a path (./%s)", call->answer.out, call->answer.out,
                              call->answer.out);
    if (call->header_count > 0 && !is_url(call->answer.out))
        return cli_fail_usage(ME, "--header requires a URL in -o");
    if (exporter->target != PROBITY_EXPORT_STREAM && call->answer.out == NULL)
        return cli_fail_usage(ME, "format '%s' cannot be written to standard output; use -o",
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

static uint64_t count_pending(void *context)
{
    const struct export_call *call = context;

    return probity_export_pending(call->run);
}

static int finish(void *context, const struct probity_reader *reader)
{
    struct export_call *call = context;
    int error = 0;

    for (size_t i = 0; error == 0 && i < probity_reader_traces(reader); i++)
        error = probity_reader_profile(reader, i, take_profiled, call);
    return error == 0 ? probity_export_finish(call->run) : error;
}

/* Reports what the format cannot represent. */
static void report_counts(const struct export_call *call, const struct probity_export *export)
{
    static const char *const nouns[] = {"calls of functions", "hits of probes",
                                        "messages, parameters and checkpoints",
                                        "calls counted in profile mode",
                                        "thread states"};
    const struct probity_scopes_repairs *repairs = export->repairs;

    for (size_t i = 0; i < sizeof nouns / sizeof *nouns; i++) {
        if (export->counts.left_out[i] == 0)
            continue;
        if (i == 0 && export->is_of_blocks)
            cli_warn(ME, "%" PRIu64 " %s are not in the output, which has blocks",
                     export->counts.left_out[i], nouns[i]);
        else
            cli_warn(ME, "%" PRIu64 " %s are not in the output: '%s' cannot represent them",
                     export->counts.left_out[i], nouns[i], call->exporter->name);
    }
    if (export->counts.queue_hits > 0)
        cli_warn(ME, "%" PRIu64 " hits of queues are not in the output: only the first %d queues "
                 "have a counter", export->counts.queue_hits, (int)EXPORT_QUEUES_MAX);
    if (export->counts.station_hits > 0)
        cli_warn(ME, "%" PRIu64 " hits of queues and locks are not in the metrics, which cover "
                     "only the first %d of each", export->counts.station_hits,
                 (int)PROBITY_MODEL_STATIONS_MAX);
    cli_query_warn_shortened(&call->answer, export->counts.shortened);
    if (repairs != NULL && repairs->unwound + repairs->open + repairs->orphans > 0)
        cli_warn(ME, "scopes repaired: %" PRIu64 " unwound, %" PRIu64 " still open at the end, %"
                 PRIu64 " exits without a matching entry", repairs->unwound, repairs->open,
                 repairs->orphans);
}

/* Reports records that are missing from a trace, since the exported file cannot. All commands
 * report damage. */
static void report_complete(const struct probity_reader *reader)
{
    char why[256];

    for (size_t i = 0; i < probity_reader_traces(reader); i++) {
        const struct probity_trace_facts *facts = probity_reader_facts(reader, i);
        int is_complete = probity_trace_is_complete(facts, why, sizeof why);
        if (!probity_trace_is_damaged(facts) && facts->state != PROBITY_TRACE_UNFINISHED)
            cli_warn(ME, "'%s' is %scomplete: %s", facts->path, is_complete ? "" : "in", why);
    }
}

static int fail(struct export_call *call, const struct probity_reader *reader, int error,
                int error_number)
{
    const char *out = call->answer.out;

    if (error == PROBITY_ERROR_WRITE && out == NULL)
        return cli_fail(ME, "cannot write to standard output: %s", strerror(error_number));
    if (error == PROBITY_ERROR_SYSTEM)
        return cli_fail(ME, "cannot write a temporary file: %s; set TMPDIR to a directory with "
                        "free space", strerror(error_number));
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
        return cli_fail(ME, "cannot create a temporary file: %s", strerror(errno));
    if (error == 0)
        error = cli_query_take(&call->answer, reader);
    int error_number = errno, status = CLI_OK;
    cli_progress_end();
    if (error != 0 && call->sender != NULL && cli_sender_has_failed(call->sender))
        status = CLI_FAILURE; /* the cause was reported */
    else if (error != 0)
        status = fail(call, reader, error, error_number);
    else
        status = cli_query_check_functions(&call->answer);
    if (status == CLI_OK && error == 0)
        report_counts(call, probity_export_look(call->run));
    if (call->run != NULL)
        probity_export_close(call->run);
    return status;
}

static int open_output(const struct export_call *call, struct cli_output *ret_output)
{
    const struct probity_exporter *exporter = call->exporter;
    const char *out = call->answer.out;

    switch (exporter->target) {
    case PROBITY_EXPORT_DIRECTORY:
        return cli_directory_open(ME, out, call->answer.force, exporter->files, ret_output);
    case PROBITY_EXPORT_FILE:
        return cli_output_open_named(ME, out, call->answer.force, ret_output);
    default: return cli_output_open(ME, out, call->answer.force, ret_output);
    }
}

static int close_output(const struct export_call *call, struct cli_output *output, int keep)
{
    return call->exporter->target == PROBITY_EXPORT_DIRECTORY
               ? cli_directory_close(ME, output, keep)
               : cli_output_close(ME, output, keep);
}

/* Checks the response: a server may accept a request but reject some of its spans. */
static int judge_answer(const struct cli_command *command, const char *url, const char *answer,
                        size_t bytes, int is_json)
{
    struct otlp_answer said;

    otlp_answer_get(answer, bytes, is_json, &said);
    if (said.rejected <= 0)
        return 0;
    cli_fail(command, "'%s' rejected %" PRId64 " spans%s%s", url, said.rejected,
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
        cli_warn(ME, "'%s' accepted %zu requests", call->answer.out,
                 cli_sender_posted(call->sender));
    cli_sender_close(call->sender);
    if (status == CLI_OK)
        report_complete(reader);
    return status;
}

static int stream(void *context, struct probity_reader *reader, uint64_t from_ns, uint64_t to_ns)
{
    struct export_call *call = context;
    struct cli_output output;

    call->options.from_ns = from_ns;
    call->options.to_ns = to_ns;
    if (is_url(call->answer.out))
        return send_all(call, reader);
    int status = open_output(call, &output);
    if (status != CLI_OK)
        return status;
    if (call->exporter->target != PROBITY_EXPORT_STREAM && output.temporary == NULL)
        status = cli_fail(ME, "format '%s' requires a regular file; '%s' is not one",
                          call->exporter->name, call->answer.out);
    else
        status = copy_events(call, reader, &output);
    int closed = close_output(call, &output, status == CLI_OK);
    if (status == CLI_OK)
        status = closed;
    if (status == CLI_OK)
        report_complete(reader);
    return status;
}

static int is_gzip_name(const char *out)
{
    size_t length = out != NULL && !is_url(out) ? strlen(out) : 0;

    return length > 3 && strcmp(out + length - 3, ".gz") == 0;
}

static int run_on(void *context, char **names, size_t count)
{
    static const struct cli_query_steps whole = {.put = put_event, .finish = finish};
    static const struct cli_query_steps windowed = {
        .put = put_event, .finish = finish, .pending = count_pending, .is_windowed = 1,
        .has_past_of_functions = 1};
    struct export_call *call = context;

    if (call->exporter != NULL && call->exporter->has_gzip && is_gzip_name(call->answer.out))
        call->options.is_gzip = 1;
    int status = check_call(call);

    if (status == CLI_OK)
        call->answer.steps = call->exporter->has_declarations ? &whole : &windowed;
    return status == CLI_OK ? cli_query_run(&call->answer, names, count) : status;
}

static int run(int argc, char **argv)
{
    static const struct cli_query_steps steps = {.run = run_on};
    struct export_call call = {.answer = {.command = ME, .steps = &steps, .context = &call,
                                         .has_states = 1,
                                         .stream = stream}};

    return cli_query_main(&call.answer, argc, argv);
}

static const struct cli_option options[] = {
    {.name = "format", .value = "FORMAT", .help = "the format to write", .brief = "output format",
     .noun = "format",
     .choices = "chrome speedscope callgrind folded sqlite graphviz perfetto pprof ctf otlp "
                "otlp-json openmetrics firefox", .take = take_format},
    {.name = "output", .letter = 'o', .value = "FILE", .brief = "write to a file",
     .help = "write to FILE; '-' is standard output (the default); otlp and otlp-json also send to "
             "a URL such as http://127.0.0.1:4318/v1/traces",
     .take = cli_take_output, .offset = offsetof(struct export_call, answer.out)},
    {.name = "force", .letter = 'f', .help = "overwrite FILE if it exists",
     .brief = "overwrite an existing file", CLI_FLAG(struct export_call, answer.force)},
    {.name = "gzip", .brief = "compress the output",
     .help = "compress the output (default if FILE ends in .gz): chrome, perfetto, firefox, "
             "speedscope, pprof, otlp, otlp-json",
     CLI_FLAG(struct export_call, options.is_gzip)},
    {.name = "header", .value = "LINE", .brief = "header line for each request", .repeats = 1,
     .help = "send the header 'Name: value' with each request; may be repeated",
     .take = take_header},
    {.name = "value", .value = "WHAT", .brief = "value of aggregating formats",
     .help = "folded, pprof: wall (default), cpu, off-cpu (self time), or calls; speedscope: wall "
             "or cpu", .choices = "wall cpu off-cpu calls", .take = take_value},
    {.name = "by-thread", .help = "folded, pprof: keep threads separate",
     .brief = "keep threads separate", CLI_FLAG(struct export_call, options.by_thread)},
    {.name = "blocks", .brief = "blocks between probes instead of calls",
     .help = "folded, pprof, callgrind, speedscope: write blocks between probes instead of calls "
             "of functions (default if there are no calls)",
     CLI_FLAG(struct export_call, options.of_blocks)},
    {.name = "graph", .value = "WHAT", .brief = "kind of graph",
     .help = "graphviz: calls (default) of functions, or blocks between probes",
     .choices = "calls blocks", .take = take_graph},
    CLI_QUERY_RANGE_ROWS(struct export_call, "only calls and hits"),
    CLI_QUERY_TID_ROW(struct export_call, "only"),
    CLI_QUERY_WITHIN_ROW(struct export_call), CLI_QUERY_PROBE_ROW(struct export_call),
    CLI_ALIGN_ROW, CLI_COLOR_ROW, CLI_QUIET_ROW, CLI_HELP_ROW,
    {.name = NULL},
};

const struct cli_command cli_command_export = {
    .name = "export",
    .run = run,
    .summary = "Export traces to the formats of other tools",
    .usage = "--format FORMAT [OPTION]... TRACE...",
    .help =
        "FORMAT is one of\n\n"
        "          chrome        JSON trace events: Perfetto, chrome://tracing\n"
        "          speedscope    calls of each thread: speedscope\n"
        "          callgrind     costs of functions: KCachegrind, callgrind_annotate\n"
        "          folded        stacks for flame graphs: lines 'a;b;c VALUE'\n"
        "          sqlite        a database with tables and views; requires -o\n"
        "          graphviz      a graph of calls or of blocks: dot\n"
        "          perfetto      Perfetto's protobuf, with parameters and CPU time\n"
        "          pprof         profiles by stack: go tool pprof\n"
        "          ctf           a directory in the Common Trace Format 1.8; requires -o\n"
        "          otlp          OpenTelemetry spans: requests as protobuf\n"
        "          otlp-json     OpenTelemetry spans: requests as JSON, one per line\n"
        "          openmetrics   metrics of functions and blocks: Prometheus\n"
        "          firefox       a processed profile: profiler.firefox.com",
    .options = options,
    .notes =
        "Data that the format cannot represent is counted on standard error, which also reports "
        "whether the trace is complete. probity-export(1) lists what each format contains.",
};
