/* SPDX-License-Identifier: MIT
 *
 * list.c: `probity list`: what is compiled into a program, and what of it was never hit.
 */
#include <fnmatch.h>
#include <getopt.h>
#include <string.h>

#include "analysis/coverage.h"
#include "cli/answer.h"
#include "output/list_csv.h"
#include "output/list_json.h"
#include "output/list_text.h"

struct list_call {
    struct cli_answer answer;
    struct cli_filter probes;
    const char *function, *file;
    struct probity_coverage *coverage;
    const struct probity_coverage_site **sites;
    struct probity_list_answer result;
    enum probity_coverage_key key;
    int only_never, only_hit;
    int is_function_found, is_file_found; /* a site that is like the pattern */
};

static const struct option long_options[] = {CLI_ANSWER_OPTIONS,
                                             {"sort", required_argument, NULL, 's'},
                                             {"limit", required_argument, NULL, 'n'},
                                             {"never", no_argument, NULL, 'N'},
                                             {"hit", no_argument, NULL, 'H'},
                                             {"probe", required_argument, NULL, 'p'},
                                             {"function", required_argument, NULL, 'u'},
                                             {"file", required_argument, NULL, 'i'},
                                             {"signature", no_argument, NULL, 'S'},
                                             CLI_ANSWER_FORMS,
                                             {NULL, 0, NULL, 0}};

static int parse_key(struct list_call *call, const char *text)
{
    call->key = probity_coverage_key_parse(text);
    if (call->key != PROBITY_COVERAGE_KEYS)
        return CLI_OK;
    return cli_fail_usage(&cli_command_list, "no order '%s'; there are place, hits, name, kind, "
                          "level", text);
}

static int parse_limit(struct list_call *call, const char *text)
{
    if (cli_parse_number(text, 0, SIZE_MAX, &call->result.limit) == 0)
        return CLI_OK;
    return cli_fail_usage(&cli_command_list, "--limit %s: a number of sites, or 0 for all", text);
}

static int take_option(void *context, int option, char *value)
{
    struct list_call *call = context;

    switch (option) {
    case 's': return parse_key(call, value);
    case 'n': return parse_limit(call, value);
    case 'N': call->only_never = 1; return CLI_OK;
    case 'H': call->only_hit = 1; return CLI_OK;
    case 'p': return cli_filter_parse(&cli_command_list, &call->probes, value, 1);
    case 'u': call->function = value; return CLI_OK;
    case 'i': call->file = value; return CLI_OK;
    case 'S': call->result.has_signatures = 1; return CLI_OK;
    default: return cli_answer_option(&call->answer, option, value);
    }
}

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
    uint64_t sites; /* that the trace lists */
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

/* ---- What is asked for -------------------------------------------------------------------------
 */

static int matches_file(const char *pattern, const char *file)
{
    const char *slash = strrchr(file, '/');

    return fnmatch(pattern, file, 0) == 0 || (slash != NULL && fnmatch(pattern, slash + 1, 0) == 0);
}

static int passes(struct list_call *call, const struct probity_coverage_site *site)
{
    int is_number = site->kind == PROBITY_LISTED_NUMBERED;
    int is_function = site->kind == PROBITY_LISTED_FUNCTION;
    int is_like = call->function == NULL ||
                  cli_function_matches(call->function, is_function ? site->name : site->within,
                                       site->signature);
    int is_there = call->file == NULL || matches_file(call->file, site->file);

    call->is_function_found |= is_like;
    call->is_file_found |= is_there;
    if (call->probes.count > 0 &&
        (is_function || !cli_filter_passes(&call->probes, is_number ? site->number : UINT64_MAX,
                                           site->name, strlen(site->name))))
        return 0;
    return is_like && is_there;
}

/* The total is of all that other filters leave, hit or not. */
static int finish_list(void *context, const struct probity_reader *reader)
{
    struct list_call *call = context;
    size_t count, kept = 0, shown = 0;
    int error = take_lists(call, reader);

    if (error == 0)
        error = probity_coverage_finish(call->coverage, &call->sites, &count);
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

static int print_list(void *context, FILE *stream, const struct probity_reader *reader,
                      int has_colour)
{
    struct list_call *call = context;

    call->result.reader = reader;
    if (call->answer.as_json)
        return probity_list_json(stream, &call->result);
    if (call->answer.as_csv)
        probity_list_csv(stream, &call->result);
    else
        probity_list_text(stream, has_colour, cli_answer_line_columns(&call->answer),
                          &call->result);
    return 0;
}

/* ---- The call ----------------------------------------------------------------------------------
 */

/* An empty list of a name that is misspelt would look like one of nothing never hit. */
static int tell_unseen(const struct list_call *call)
{
    const char *what = NULL, *pattern = NULL;

    if (call->function != NULL && !call->is_function_found) {
        what = "in a function";
        pattern = call->function;
    } else if (call->file != NULL && !call->is_file_found) {
        what = "in a file";
        pattern = call->file;
    }
    if (pattern != NULL)
        return cli_fail(&cli_command_list, "no site %s like '%s' here; `probity list` without "
                        "filters shows which there are", what, pattern);
    return cli_filter_tell_unseen(&cli_command_list, &call->probes, "probe") ? CLI_FAILURE
                                                                             : CLI_OK;
}

static int run_on(void *context, char **names, size_t count)
{
    struct list_call *call = context;

    if (call->only_never && call->only_hit)
        return cli_fail_usage(&cli_command_list, "--never and --hit exclude each other");
    int status = cli_answer_run(&call->answer, names, count);
    return status == CLI_OK ? tell_unseen(call) : status;
}

static void release(void *context)
{
    struct list_call *call = context;

    if (call->coverage != NULL)
        probity_coverage_close(call->coverage);
    cli_filter_release(&call->probes);
}

static int run(int argc, char **argv)
{
    static const struct cli_answer_steps steps = {
        .options = {":o:fn:h", long_options, take_option}, .run = run_on,
        .open = open_coverage, .put = put_event, .finish = finish_list, .print = print_list,
        .release = release};
    struct list_call call = {
        .answer = {.command = &cli_command_list, .steps = &steps, .context = &call,
                   .keeps_sites = 1},
        .key = PROBITY_COVERAGE_PLACE};

    return cli_answer_main(&call.answer, argc, argv);
}

const struct cli_command cli_command_list = {
    "list", run, "List what is compiled in, hit or never hit",
    "[OPTION]... TRACE...",
    "For each named site, numbered probe and function that is compiled into the program and its\n"
    "libraries: how often it was hit or called, its level, and where it stands; then how many of\n"
    "them were hit.\n\n"
    "      --never           only what was never hit\n"
    "      --hit             only what was hit\n"
    "      --function PATTERN\n"
    "                        only functions like PATTERN, and probes in them\n"
    "      --file PATTERN    only what stands in files like PATTERN, with folder or without\n"
    "      --probe ID,...    only these probe numbers or names of sites\n"
    "      --sort KEY        place (default), hits, name, kind, level\n"
    "  -n, --limit N         the first N sites only\n"
    "      --signature       signatures of functions instead of names, where they are known\n"
    "      --from T, --to T  count hits from T on, and before T: seconds since recording began,\n"
    "                        or with a unit (ns, us, ms, s), or @SECONDS since 1970\n"
    "      --tid N,...       count hits of these thread ids only\n"
    "      --json            one object\n"
    "      --csv             a line of names, then one for each site\n"
    "  -o, --output FILE     write to FILE (default: standard output, also '-')\n"
    "  -f, --force           replace FILE where it exists\n"
    "  -h, --help            this text\n", NULL};
