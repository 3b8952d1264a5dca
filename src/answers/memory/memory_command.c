/* SPDX-License-Identifier: MIT
 *
 * memory_command.c: `probity memory`: which code allocated memory, and which blocks were live at
 * the peak and at the end.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/mappings.h"
#include "answers/memory/memory_print.h"
#include "cli/query.h"
#include "symbols/address.h"

struct memory_call {
    struct cli_query answer;
    struct probity_memory *memory;
    struct probity_memory_rows rows;
    struct probity_mappings mappings;
    struct symbols_addresses *symbols;
    enum probity_memory_by by;
    enum probity_memory_key key;
    size_t rows_max;
    int has_leaks, has_sort; /* --leaks; --sort was given */
};

static int take_key(const struct cli_given *given)
{
    struct memory_call *call = given->at;

    call->has_sort = 1;
    call->key = probity_memory_key_parse(given->value);
    return call->key != PROBITY_MEMORY_KEYS ? CLI_OK : cli_fail_choice(given);
}

static int is_wanted(void *context, const struct probity_event *event)
{
    struct memory_call *call = context;

    return cli_filter_passes(&call->answer.tids, event->tid, NULL, 0) &&
           cli_query_is_within(&call->answer, event->thread_slot, event->wall_ns);
}

static int open_memory(void *context, uint64_t from_ns, uint64_t to_ns)
{
    struct memory_call *call = context;

    const struct probity_memory_options options = {from_ns, to_ns, is_wanted, call};

    return probity_memory_open(&options, &call->memory);
}

static int put_event(void *context, const struct probity_event *event)
{
    struct memory_call *call = context;
    int error = probity_memory_put(call->memory, event);

    return error == 0 ? probity_mappings_put(&call->mappings, event) : error;
}

/* A run declares no mappings. */
static int put_run(void *context, const struct probity_run *run)
{
    struct memory_call *call = context;

    return probity_memory_put_run(call->memory, run);
}

/* Writes "parse_line parse.c:41", or else "parse_line+0x41", or else "libx.so+0x1234". */
static void name_place(void *context, const struct probity_memory_leaf *leaf, char *ret_text,
                       size_t bytes)
{
    struct memory_call *call = context;
    struct symbols_place place;
    const struct probity_mapping *mapping =
        probity_mappings_find(&call->mappings, leaf->trace, leaf->tick, leaf->place - 1);

    if (mapping == NULL) {
        snprintf(ret_text, bytes, "0x%" PRIx64, leaf->place);
        return;
    }
    uint64_t address = leaf->place - 1 - mapping->bias;
    const char *slash = strrchr(mapping->path, '/');
    int is_known = symbols_address_find(call->symbols, mapping->path, mapping->build_id, address,
                                        &place);
    if (is_known && place.symbol != NULL && place.file != NULL)
        snprintf(ret_text, bytes, "%s %s:%" PRIu32, place.symbol, place.file, place.line);
    else if (is_known && place.symbol != NULL)
        snprintf(ret_text, bytes, "%s+0x%" PRIx64, place.symbol, place.offset + 1);
    else
        snprintf(ret_text, bytes, "%s+0x%" PRIx64, slash != NULL ? slash + 1 : mapping->path,
                 address + 1);
}

static int finish_memory(void *context, const struct probity_reader *reader)
{
    struct memory_call *call = context;

    (void)reader;
    probity_memory_finish(call->memory);
    call->symbols = symbols_addresses_open(cli_memory_end);
    int error = probity_memory_rows_make(&call->rows, call->memory, call->by, name_place,
                                         call);
    if (error == 0 && call->has_leaks)
        probity_memory_rows_keep_live(&call->rows);
    return error == 0 ? probity_memory_rows_sort(&call->rows, call->key) : error;
}

static int print_memory(void *context, FILE *stream, const struct probity_reader *reader,
                        int has_color)
{
    struct memory_call *call = context;
    const struct probity_memory_answer answer = {
        .reader = reader, .facts = probity_memory_facts(call->memory),
        .repairs = probity_memory_repairs(call->memory), .rows = &call->rows,
        .limit = call->rows_max};

    if (call->answer.as_json)
        return probity_memory_json(stream, &answer);
    if (call->answer.as_csv)
        probity_memory_csv(stream, &answer);
    else
        probity_memory_text(stream, has_color, cli_query_is_utf8(),
                            cli_query_line_columns(&call->answer), &answer);
    return 0;
}

static void warn_empty(const struct cli_query *answer)
{
    const char *why = "no allocation was recorded; `probity record --calls memory` records them";

    if (answer->range.from != NULL || answer->range.to != NULL)
        why = "no allocation in this range";
    if (answer->tids.count > 0 || answer->functions.count > 0)
        why = "no allocation matches";
    cli_warn(&cli_command_memory, "%s", why);
}

static int run_on(void *context, char **names, size_t count)
{
    struct memory_call *call = context;

    if (call->has_leaks && !call->has_sort)
        call->key = PROBITY_MEMORY_LIVE;
    int status = cli_query_run(&call->answer, names, count);
    if ((status == CLI_OK || status == CLI_DAMAGED) &&
        probity_memory_facts(call->memory)->sums.allocations == 0 &&
        probity_memory_facts(call->memory)->unknown_frees == 0)
        warn_empty(&call->answer);
    return status;
}

static void release(void *context)
{
    struct memory_call *call = context;

    probity_memory_rows_release(&call->rows);
    probity_mappings_release(&call->mappings);
    symbols_addresses_close(call->symbols);
    if (call->memory != NULL)
        probity_memory_close(call->memory);
}

static int run(int argc, char **argv)
{
    static const struct cli_query_steps steps = {
        .run = run_on, .open = open_memory, .put = put_event, .put_run = put_run,
        .finish = finish_memory, .print = print_memory, .release = release, .is_windowed = 1,
        .has_past_of_functions = 1};
    struct memory_call call = {
        .answer = {.command = &cli_command_memory, .steps = &steps, .context = &call,
                   .has_all_tids = 1, .has_all_functions = 1}};

    return cli_query_main(&call.answer, argc, argv);
}

static const struct cli_option options[] = {
    {.name = "by", .value = "WHAT", .brief = "what a row represents", .noun = "--by",
     .initial = "path",
     CLI_CHOICE(struct memory_call, by, "path function call")},
    {.name = "leaks", .help = "only what was live at the end, sorted by size unless --sort is "
             "given",
     .brief = "only what was live at the end", CLI_FLAG(struct memory_call, has_leaks)},
    {.name = "sort", .value = "KEY", .brief = "sort key", .noun = "sort key", .initial = "peak",
     .choices = "peak live bytes allocations frees lifetime name", .take = take_key},
    {.name = "limit", .letter = 'n', .value = "N", .help = "show only the first N rows",
     .brief = "maximum number of rows", CLI_NUMBER(struct memory_call, rows_max, 0, CLI_LIMIT_MAX)},
    CLI_QUERY_RANGE_ROWS(struct memory_call, "only allocations"),
    CLI_QUERY_TID_ROW(struct memory_call, "only allocations by"),
    {.name = "function", .value = "PATTERN",
     .brief = "only allocations in calls of functions that match",
     .help = "only allocations in calls of functions that match (* ? [a-z]), or of their callees; "
             "may be repeated",
     CLI_PATTERNS(struct memory_call, answer.functions)},
    CLI_QUERY_JSON_ROW(struct memory_call, "print one JSON object; times in ns"),
    CLI_QUERY_CSV_ROW(struct memory_call, "print CSV with a header, one line per row"),
    CLI_QUERY_OUTPUT_ROWS(struct memory_call),
    {.name = NULL},
};

const struct cli_command cli_command_memory = {
    .name = "memory",
    .run = run,
    .summary = "Show what allocated memory, and what is still allocated",
    .usage = "[OPTION]... TRACE...",
    .help =
        "For each call path: allocations and their bytes, how much was allocated at the peak and "
        "at the end, and how long blocks lived. Call paths consist of recorded functions; if there "
        "is none, the caller's address is shown. Requires recorded calls to the C library "
        "(probity-calls(7)).",
    .options = options,
};
