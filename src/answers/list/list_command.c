/* SPDX-License-Identifier: MIT
 *
 * list_command.c: `probity list`: the sites compiled into a program and how often each was hit.
 */
#include <fnmatch.h>
#include <string.h>

#include "answers/list/coverage.h"
#include "answers/list/list_print.h"
#include "cli/fleet_source.h"
#include "cli/patterns.h"
#include "cli/query.h"
#include "probity.h"

struct list_call {
    struct cli_query answer;
    struct cli_filter probes;
    struct cli_patterns functions, files;
    struct probity_coverage *coverage;
    struct probity_report *report; /* from a database */
    const struct probity_coverage_site **sites;
    struct probity_list_answer result;
    enum probity_coverage_key key;
    int only_never, only_hit;
    size_t runs_listed; /* from a database: number of runs with a list so far */
    uint32_t latest_listed;
};

static int open_coverage(void *context, uint64_t from_ns, uint64_t to_ns)
{
    struct list_call *call = context;

    return probity_coverage_open(from_ns, to_ns, &call->coverage);
}

static int put_event(void *context, const struct probity_event *event)
{
    struct list_call *call = context;

    return probity_coverage_put(call->coverage, event);
}

/* ---- Lists and counts --------------------------------------------------------------------------
 */

struct taking {
    struct list_call *call;
    uint64_t sites; /* in the trace's list */
};

static int take_site(void *context, const struct probity_listed_site *site)
{
    struct taking *taking = context;

    taking->sites++;
    return probity_coverage_list(taking->call->coverage, site);
}

static int take_profiled(void *context, const struct probity_profiled *profiled)
{
    struct list_call *call = ((struct taking *)context)->call;

    if (call->answer.tids.count > 0 &&
        !cli_filter_passes(&call->answer.tids, profiled->tid, NULL, 0))
        return 0;
    return probity_coverage_add_profiled(call->coverage, profiled);
}

static int take_lists(struct list_call *call, const struct probity_reader *reader)
{
    int error = 0;

    for (size_t i = 0; error == 0 && i < probity_reader_traces(reader); i++) {
        struct taking taking = {call, 0};
        uint64_t left_out = 0;
        error = probity_reader_sites(reader, i, take_site, &taking, &left_out);
        if (error == 0)
            error = probity_reader_profile(reader, i, take_profiled, &taking);
        call->result.left_out += left_out;
        call->result.traces_without += taking.sites == 0;
    }
    return error;
}

/* ---- Filters -----------------------------------------------------------------------------------
 */

/* A pattern may match the whole path or only the file name. */
static int matches_files(struct cli_patterns *files, const char *file)
{
    const char *slash = strrchr(file, '/');
    int is_like = files->count == 0;

    for (size_t i = 0; i < files->count; i++) {
        if (fnmatch(files->items[i], file, 0) != 0 &&
            (slash == NULL || fnmatch(files->items[i], slash + 1, 0) != 0))
            continue;
        files->is_found[i] = 1;
        is_like = 1;
    }
    return is_like;
}

static int passes(struct list_call *call, const struct probity_coverage_site *site)
{
    int is_number = site->kind == PROBITY_LISTED_NUMBERED;
    int is_function = site->kind == PROBITY_LISTED_FUNCTION;
    int is_like = cli_patterns_match(&call->functions, is_function ? site->name : site->within,
                                     site->signature);
    int is_there = matches_files(&call->files, site->file);

    if (call->probes.count > 0 &&
        (is_function || !cli_filter_passes(&call->probes, is_number ? site->number : UINT64_MAX,
                                           site->name, strlen(site->name))))
        return 0;
    return is_like && is_there;
}

/* The total ignores --never and --hit but no other filter. */
static int choose_sites(struct list_call *call)
{
    size_t count, kept = 0, shown = 0;
    int error = probity_coverage_finish(call->coverage, &call->sites, &count);

    if (error != 0)
        return error;
    for (size_t i = 0; i < count; i++) {
        if (passes(call, call->sites[i]))
            call->sites[kept++] = call->sites[i];
    }
    call->result.total = probity_coverage_total(call->sites, kept);
    for (size_t i = 0; i < kept; i++) {
        int is_hit = call->sites[i]->hits > 0;
        if (!(is_hit ? call->only_never : call->only_hit))
            call->sites[shown++] = call->sites[i];
    }
    probity_coverage_sort(call->sites, shown, call->key);
    call->result.sites = call->sites;
    call->result.count = shown;
    return 0;
}

static int finish_list(void *context, const struct probity_reader *reader)
{
    struct list_call *call = context;
    int error = take_lists(call, reader);

    return error == 0 ? choose_sites(call) : error;
}

static int print_list(void *context, FILE *stream, const struct probity_reader *reader,
                      int has_color)
{
    struct list_call *call = context;

    call->result.reader = reader;
    if (call->answer.as_json)
        return probity_list_json(stream, &call->result);
    if (call->answer.as_csv)
        probity_list_csv(stream, &call->result);
    else
        probity_list_text(stream, has_color, cli_query_line_columns(&call->answer),
                          &call->result);
    return 0;
}

/* ---- The command -------------------------------------------------------------------------------
 */

/* If a name is misspelled, the empty list would look as if every site had been hit. */
static int warn_unseen(const struct list_call *call)
{
    const char *what = "in a function", *pattern = cli_patterns_idle(&call->functions);

    if (pattern == NULL) {
        what = "in a file";
        pattern = cli_patterns_idle(&call->files);
    }
    if (pattern != NULL)
        return cli_fail(&cli_command_list, "no site %s matching '%s'; run `probity list` without "
                        "filters to see all", what, pattern);
    return cli_filter_warn_unseen(&cli_command_list, &call->probes, "probe") ? CLI_FAILURE
                                                                             : CLI_OK;
}

static int has_range(const struct list_call *call)
{
    return call->answer.range.from != NULL || call->answer.range.to != NULL;
}

/* A database stores hits of probes only for whole runs. */
static int take_fleet_site(void *context, const struct probity_fleet_site *row)
{
    struct list_call *call = context;
    int is_function = row->site.kind == PROBITY_LISTED_FUNCTION;

    if (row->site.kind == 0)
        call->result.left_out += row->hits;
    if (row->site.kind == 0 || (!is_function && has_range(call)))
        return 0;
    if (!row->is_listed)
        return probity_coverage_add_hits(call->coverage, &row->site, row->hits);
    call->runs_listed += row->site.trace != call->latest_listed;
    call->latest_listed = row->site.trace;
    return probity_coverage_list(call->coverage, &row->site);
}

static int take_report(void *context, struct probity_report *report,
                       const struct probity_scopes_repairs *repairs,
                       const struct probity_reader *reader)
{
    struct list_call *call = context;
    size_t count;
    struct probity_report_function *functions = probity_report_functions(report, &count);
    int error = 0;

    (void)repairs;
    for (size_t i = 0; error == 0 && i < count; i++) {
        const struct probity_report_sums *sums = &functions[i].sums;
        const struct probity_coverage_calls calls = {
            functions[i].function, functions[i].number, sums->calls, sums->counted,
            sums->entries > 0, sums->is_least};
        error = probity_coverage_add_calls(call->coverage, &calls);
    }
    call->result.traces_without = probity_reader_traces(reader) - call->runs_listed;
    call->report = report;
    return error == 0 ? choose_sites(call) : error;
}

static int run_from_fleet(struct list_call *call, size_t traces)
{
    static const struct cli_fleet_want want = {.take = take_report, .take_site = take_fleet_site};

    if (traces > 0)
        return cli_fail_usage(&cli_command_list, "--from-fleet and traces are mutually exclusive");
    if (call->answer.tids.count > 0)
        return cli_fail_usage(&cli_command_list, "--tid does not apply to --from-fleet");
    if (call->probes.count > 0 && has_range(call))
        return cli_fail_usage(&cli_command_list, "--probe with a time range does not apply to "
                              "--from-fleet, which has hits of whole runs only; use the traces");
    if (probity_coverage_open(0, 0, &call->coverage) != 0)
        return cli_fail(&cli_command_list, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    call->latest_listed = UINT32_MAX;
    return cli_fleet_report(&call->answer, &want);
}

static int run_on(void *context, char **names, size_t count)
{
    struct list_call *call = context;
    const struct cli_fleet_source *source = &call->answer.source;
    int is_of_fleet = cli_fleet_is_wanted(source, count);

    if (call->only_never && call->only_hit)
        return cli_fail_usage(&cli_command_list, "--never and --hit are mutually exclusive");
    int status = is_of_fleet ? CLI_OK : cli_fleet_is_unused(&cli_command_list, source);
    if (status == CLI_OK)
        status = is_of_fleet ? run_from_fleet(call, count)
                             : cli_query_run(&call->answer, names, count);
    return status == CLI_OK && !source->as_sql ? warn_unseen(call) : status;
}

static void release(void *context)
{
    struct list_call *call = context;

    cli_patterns_release(&call->functions);
    cli_patterns_release(&call->files);
    if (call->coverage != NULL)
        probity_coverage_close(call->coverage);
    if (call->report != NULL)
        probity_report_close(call->report);
    cli_filter_release(&call->probes);
}

static int run(int argc, char **argv)
{
    static const struct cli_query_steps steps = {
        .run = run_on,
        .open = open_coverage, .put = put_event, .finish = finish_list, .print = print_list,
        .release = release, .is_windowed = 1};
    struct list_call call = {
        .answer = {.command = &cli_command_list, .steps = &steps, .context = &call,
                   .keeps_sites = 1},
        .key = PROBITY_COVERAGE_PLACE};

    return cli_query_main(&call.answer, argc, argv);
}

static const struct cli_option options[] = {
    {.name = "never", .help = "only sites that were never hit", .brief = "only sites never hit",
     CLI_FLAG(struct list_call, only_never)},
    {.name = "hit", .help = "only sites that were hit", CLI_FLAG(struct list_call, only_hit)},
    {.name = "function", .value = "PATTERN",
     .help = "only functions that match PATTERN, and probes in them; may be repeated",
     .brief = "only functions that match, and probes in them",
     CLI_PATTERNS(struct list_call, functions)},
    {.name = "file", .value = "PATTERN",
     .help = "only sites in files that match PATTERN, with or without directory; may be repeated",
     .brief = "only sites in files that match", CLI_PATTERNS(struct list_call, files)},
    {.name = "probe", .value = "ID,...", .help = "only these probe numbers or site names",
     .brief = "only these probes", CLI_NAMES(struct list_call, probes)},
    {.name = "sort", .value = "KEY", .brief = "sort key", .noun = "sort key", .initial = "place",
     CLI_CHOICE(struct list_call, key, "place hits name kind level")},
    {.name = "limit", .letter = 'n', .value = "N", .help = "show only the first N sites",
     .brief = "maximum number of sites", .valid = "a number, or 0 for all",
     CLI_NUMBER(struct list_call, result.limit, 0, SIZE_MAX)},
    {.name = "signature", .help = "show function signatures instead of names, if known",
     .brief = "show signatures instead of names",
     CLI_FLAG(struct list_call, result.has_signatures)},
    CLI_QUERY_RANGE_ROWS(struct list_call, "count only hits"),
    CLI_QUERY_TID_ROW(struct list_call, "count only hits by"),
    CLI_FLEET_ROWS(struct list_call, answer.source),
    CLI_QUERY_JSON_ROW(struct list_call, "print one JSON object"),
    CLI_QUERY_CSV_ROW(struct list_call, "print CSV with a header, one row per site"),
    CLI_QUERY_OUTPUT_ROWS(struct list_call),
    {.name = NULL},
};

const struct cli_command cli_command_list = {
    .name = "list",
    .run = run,
    .summary = "List instrumentation sites and hit counts",
    .usage = "[OPTION]... TRACE...",
    .help =
        "Lists each named site, numbered probe and function compiled into the program and its "
        "libraries: hits or calls, level, and source location; then how many of them were hit.",
    .options = options,
};
