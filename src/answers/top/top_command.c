/* SPDX-License-Identifier: MIT
 *
 * top_command.c: `probity top`: shows the activity of running programs once a second. On a
 * terminal, the screen is interactive; otherwise prints one table, or one line of JSON, per
 * interval.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "answers/top/top_print.h"
#include "answers/top/top_source.h"
#include "base/array_grow.h"
#include "cli/cli.h"
#include "cli/cli_process.h"
#include "cli/cli_spools.h"
#include "cli/option.h"
#include "cli/output_stream.h"
#include "cli/terminal.h"
#include "cli/time_range.h"
#include "cli/wait_symbols.h"
#include "reader/activity.h"
#include "reader/spools.h"
#include "writer/request.h"

#define ME (&cli_command_top)

enum { ROWS_USUAL = 20, LINES_AROUND = 4, INTERVAL_MS_MIN = 50 };

struct top_call {
    enum probity_top_view view;
    enum probity_top_key key;
    int as_json, is_limited;
    size_t count, limit;
    uint64_t interval_ns;
    struct symbols_addresses *symbols;
    struct probity_top *top;
    struct probity_top_source **sources;
    size_t source_count;
    char (*stems)[48]; /* of the spools found so far */
    size_t stem_count;
    int finds;    /* no operands: show programs that record, including those started later */
    int is_screen, is_over, has_color;
    struct cli_terminal terminal;
};

/* ---- Sources -----------------------------------------------------------------------------------
 */

static int no_memory(void)
{
    return cli_fail(ME, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
}

/* is_found: a source that cannot be opened is skipped instead of failing. Returns CLI_OK or
 * CLI_FAILURE. */
static int add_source(struct top_call *call, const char *path, int is_found)
{
    struct probity_top_source **sources =
        probity_array_append(call->sources, sizeof *sources, call->source_count);

    if (sources == NULL)
        return no_memory();
    call->sources = sources;
    int error = probity_top_source_open(call->top, path, call->interval_ns,
                                        &sources[call->source_count]);
    if (error == 0)
        call->source_count++;
    return error == 0 || is_found ? CLI_OK : cli_fail_trace(ME, path, error, errno);
}

static int is_known(const struct top_call *call, const char *stem)
{
    for (size_t i = 0; i < call->stem_count; i++) {
        if (strcmp(call->stems[i], stem) == 0)
            return 1;
    }
    return 0;
}

static int add_found(struct top_call *call, const struct probity_spools *spools,
                     const struct probity_spools_entry *entry)
{
    struct probity_activity *activity;
    char(*stems)[48] = probity_array_append(call->stems, sizeof *stems, call->stem_count);
    int status = CLI_OK;

    if (stems == NULL)
        return no_memory();
    call->stems = stems;
    memcpy(stems[call->stem_count++], entry->stem, sizeof *stems);
    if (probity_activity_open(spools, entry, &activity) != 0)
        return CLI_OK;
    const char *path = probity_activity_facts(activity)->trace_path;
    if (path != NULL)
        status = add_source(call, path, 1);
    probity_activity_close(activity);
    return status;
}

/* Adds programs that have begun to record. */
static int find_sources(struct top_call *call)
{
    struct probity_spools spools = {0};
    int status = cli_spools_collect(ME, 0, &spools);

    for (size_t i = 0; status == CLI_OK && i < spools.count; i++) {
        const struct probity_spools_entry *entry = &spools.entries[i];
        if ((entry->state == PROBITY_SPOOLS_ALIVE || entry->state == PROBITY_SPOOLS_UNKNOWN) &&
            !is_known(call, entry->stem))
            status = add_found(call, &spools, entry);
    }
    probity_spools_release(&spools);
    return status;
}

static int add_process(struct top_call *call, const char *operand)
{
    struct probity_spools_entry entry = {0};
    struct probity_request *request;
    int status = cli_process_open(ME, operand, &request);

    if (status != CLI_OK)
        return status;
    int found = probity_spools_find_trace(probity_request_attach(request), &entry);
    if (found == PROBITY_SPOOLS_FOUND)
        status = add_source(call, entry.trace_path, 0);
    else
        status = cli_fail(ME, "process %s: its trace is gone or cannot be read; give it by name",
                          operand);
    if (found >= 0)
        free(entry.trace_path);
    probity_request_close(request);
    return status;
}

static int add_trace(struct top_call *call, const char *name)
{
    char *path = cli_trace_path(name);
    int status = path != NULL ? add_source(call, path, 0) : no_memory();

    free(path);
    return status;
}

static int open_sources(struct top_call *call, char **operands, size_t count)
{
    int status = CLI_OK;

    call->finds = count == 0;
    if (call->finds)
        return find_sources(call);
    for (size_t i = 0; status == CLI_OK && i < count; i++)
        status = cli_process_is(operands[i]) ? add_process(call, operands[i])
                                             : add_trace(call, operands[i]);
    return status;
}

static size_t count_live(const struct top_call *call)
{
    size_t live = 0;

    for (size_t i = 0; i < call->source_count; i++)
        live += (size_t)probity_top_source_is_live(call->sources[i]);
    return live;
}

/* ---- Keys --------------------------------------------------------------------------------------
 */

/* The longest footer that fits is shown. */
static const char *const footers[] = {
    ("f functions  b blocks  l locks  t threads  p processes   sort: c calls  w wall  u CPU  "
     "o off CPU  5 p50  9 p99  m max   q quit"),
    "f functions  b blocks  l locks  t threads  p processes  sort: cwuo59m  q quit",
    "rows: fbltp  sort: cwuo59m  q quit",
    "q quit",
};

static const char view_keys[] = "fbltp";
static const char sort_keys[] = "cwuo59m";

/* Returns whether the screen must be redrawn. */
static int take_key(struct top_call *call, int key)
{
    const char *view = key > 0 ? strchr(view_keys, key) : NULL;
    const char *sort = key > 0 ? strchr(sort_keys, key) : NULL;

    if (view != NULL)
        call->view = (enum probity_top_view)(view - view_keys);
    if (sort != NULL)
        call->key = (enum probity_top_key)(sort - sort_keys);
    if (key == 'q' || key == 'Q' || key == CLI_TERMINAL_ENDED)
        call->is_over = 1;
    return view != NULL || sort != NULL || key == CLI_TERMINAL_RESIZED;
}

/* Called between events, of which there may be many. */
static int is_over(void *context)
{
    struct top_call *call = context;

    if (call->is_screen)
        take_key(call, cli_terminal_wait(&call->terminal, 0));
    return call->is_over;
}

/* ---- One interval ------------------------------------------------------------------------------
 */

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int read_all(struct top_call *call)
{
    int status = call->finds ? find_sources(call) : CLI_OK;

    probity_top_begin(call->top);
    for (size_t i = 0; status == CLI_OK && i < call->source_count && !call->is_over; i++) {
        int error = probity_top_source_read(call->sources[i], is_over, call);
        if (error != 0)
            status = cli_fail_trace(ME, probity_top_source_path(call->sources[i]), error, errno);
    }
    return status;
}

/* On a short terminal, omits the first lines of the head, and the footer. */
static const char *fit(char *text, size_t rows)
{
    size_t lines = 0;
    char *at = text + strlen(text);

    if (at > text)
        *--at = '\0'; /* the last line's end */
    while (at > text && (at[-1] != '\n' || ++lines < rows))
        at--;
    return at;
}

static const char *footer_of(size_t columns)
{
    size_t i = 0, last = sizeof footers / sizeof *footers - 1;

    while (i < last && strlen(footers[i]) > columns)
        i++;
    return footers[i];
}

static int draw(const struct top_call *call, struct probity_top_answer *answer)
{
    size_t rows = call->terminal.rows, bytes = 0;
    int is_low = rows <= LINES_AROUND;
    const char *shown;
    char *text = NULL;
    FILE *stream = open_memstream(&text, &bytes);

    if (stream == NULL)
        return PROBITY_ERROR_MEMORY;
    answer->line_columns = call->terminal.columns;
    answer->line_end = "\033[K\n";
    answer->takes_keys = 1;
    answer->limit = rows > LINES_AROUND ? rows - LINES_AROUND : 1;
    if (call->is_limited && call->limit > 0 && call->limit < answer->limit)
        answer->limit = call->limit;
    int error = probity_top_text(stream, answer);
    if (!is_low)
        fprintf(stream, "%s%.*s%s\033[K", call->has_color ? "\033[2m" : "",
                (int)call->terminal.columns, footer_of(call->terminal.columns),
                call->has_color ? "\033[0m" : "");
    if (fclose(stream) != 0)
        error = PROBITY_ERROR_MEMORY;
    shown = is_low && error == 0 ? fit(text, rows) : text;
    if (error == 0 && cli_terminal_draw(&call->terminal, shown, strlen(shown)) != 0)
        error = PROBITY_ERROR_WRITE;
    free(text);
    return error;
}

static int print(struct top_call *call, uint64_t interval_ns)
{
    struct probity_top_answer answer = {.top = call->top,
                                        .view = call->view,
                                        .key = call->key,
                                        .at_ns = clock_ns(CLOCK_REALTIME),
                                        .interval_ns = interval_ns,
                                        .programs = count_live(call),
                                        .limit = call->is_limited || call->as_json ? call->limit
                                                                                   : ROWS_USUAL,
                                        .has_color = call->has_color,
                                        .line_end = "\n"};
    int error = 0;

    if (call->is_screen) {
        error = draw(call, &answer);
    } else if (call->as_json) {
        error = probity_top_json(stdout, &answer);
    } else {
        answer.line_columns = cli_line_columns(NULL);
        error = probity_top_text(stdout, &answer);
        fputc('\n', stdout);
    }
    if (!call->is_screen && (fflush(stdout) != 0 || ferror(stdout)))
        return CLI_FAILURE; /* reported when standard output is closed */
    if (error == PROBITY_ERROR_MEMORY)
        return no_memory();
    call->is_over |= error != 0;
    return CLI_OK;
}

/* Waits until the given time, redrawing if a key requires it. */
static int wait_until(struct top_call *call, uint64_t until_ns, uint64_t interval_ns)
{
    int status = CLI_OK;

    for (uint64_t now_ns; status == CLI_OK && !call->is_over &&
                          (now_ns = clock_ns(CLOCK_MONOTONIC)) < until_ns;) {
        uint64_t left_ns = until_ns - now_ns;
        struct timespec pause = {(time_t)(left_ns / 1000000000), (long)(left_ns % 1000000000)};
        if (!call->is_screen)
            nanosleep(&pause, NULL);
        else if (take_key(call, cli_terminal_wait(&call->terminal,
                                                  (int)(left_ns / 1000000) + 1)))
            status = print(call, interval_ns);
    }
    return status;
}

/* Without a screen, there is nothing to wait for after all programs have ended. */
static int is_last(const struct top_call *call, size_t shown)
{
    return (call->count > 0 && shown >= call->count) ||
           (!call->is_screen && !call->finds && count_live(call) == 0);
}

static int watch(struct top_call *call)
{
    uint64_t at_ns = clock_ns(CLOCK_MONOTONIC), interval_ns = call->interval_ns;
    int status = CLI_OK;

    for (size_t shown = 0; status == CLI_OK && !call->is_over;) {
        status = read_all(call);
        if (status == CLI_OK && !call->is_over)
            status = print(call, interval_ns);
        if (is_last(call, ++shown) || status != CLI_OK)
            return status;
        uint64_t next_ns = at_ns + call->interval_ns, now_ns = clock_ns(CLOCK_MONOTONIC);
        status = wait_until(call, next_ns > now_ns ? next_ns : now_ns, interval_ns);
        now_ns = clock_ns(CLOCK_MONOTONIC);
        interval_ns = now_ns - at_ns;
        at_ns = now_ns;
        /* Programs that have ended stay as they were. */
        if (count_live(call) == 0 && !call->finds)
            interval_ns = call->interval_ns;
        while (status == CLI_OK && !call->is_over && !call->finds && count_live(call) == 0)
            status = wait_until(call, UINT64_MAX / 2, interval_ns);
    }
    return status;
}

/* ---- The command -------------------------------------------------------------------------------
 */

static int take_interval(const struct cli_given *given)
{
    struct top_call *call = given->at;

    if (cli_parse_duration(given->value, &call->interval_ns) != 0 ||
        call->interval_ns < INTERVAL_MS_MIN * UINT64_C(1000000) ||
        call->interval_ns > UINT64_C(86400000000000))
        return cli_fail_usage(ME, "invalid --interval '%s' (50ms to a day; seconds, or with a "
                              "unit)", given->value);
    return CLI_OK;
}

static int take_limit(const struct cli_given *given)
{
    struct top_call *call = given->at;

    call->is_limited = 1;
    call->limit = strtoul(given->value, NULL, 10);
    if (given->value[0] == 0 || given->value[strspn(given->value, "0123456789")] != 0)
        return cli_fail_usage(ME, "invalid --limit '%s'", given->value);
    return CLI_OK;
}

static int run_call(struct top_call *call, char **operands, size_t count)
{
    int may_be_screen = !call->as_json && call->count == 0; /* any view may be selected there */
    call->symbols = symbols_addresses_open(cli_memory_end);
    const struct probity_wait_symbols symbols = cli_wait_symbols(call->symbols);
    int has_locks = call->view == PROBITY_TOP_LOCKS || may_be_screen;
    if (probity_top_open(has_locks ? &symbols : NULL, &call->top) != 0)
        return no_memory();
    int status = open_sources(call, operands, count);
    if (status != CLI_OK)
        return status;
    const char *refused = getenv("NO_COLOR");
    call->is_screen = may_be_screen && cli_terminal_open(&call->terminal);
    call->has_color = call->is_screen && (refused == NULL || refused[0] == 0);
    if (!call->is_screen && call->finds && call->source_count == 0)
        return cli_fail(ME, "no program is recording");
    status = watch(call);
    if (call->is_screen)
        cli_terminal_close(&call->terminal);
    return status;
}

static int run(int argc, char **argv)
{
    struct top_call call = {.key = PROBITY_TOP_WALL, .interval_ns = 1000000000};
    int status = cli_options_take(ME, &call, argc, argv);

    if (status == CLI_OK)
        status = run_call(&call, argv + optind, (size_t)(argc - optind));
    for (size_t i = 0; i < call.source_count; i++)
        probity_top_source_close(call.sources[i]);
    free(call.sources);
    free(call.stems);
    if (call.top != NULL)
        probity_top_close(call.top);
    symbols_addresses_close(call.symbols);
    return status < 0 ? CLI_OK : status;
}

static const struct cli_operand operands[] = {{.label = "process or trace", .repeats = 1},
                                              {.label = NULL}};

static const struct cli_option options[] = {
    {.name = "by", .value = "VIEW", .brief = "what a row represents", .noun = "view",
     .initial = "functions",
     CLI_CHOICE(struct top_call, view, "functions blocks locks threads processes")},
    {.name = "sort", .value = "KEY", .brief = "sort key", .noun = "sort key", .initial = "wall",
     CLI_CHOICE(struct top_call, key, "calls wall cpu off-cpu p50 p99 max")},
    {.name = "interval", .letter = 'i', .value = "T", .take = take_interval,
     .help = "update every T: seconds, or with a unit (default: 1s)",
     .brief = "time between two tables"},
    {.name = "count", .letter = 'n', .value = "N", .brief = "number of tables",
     .help = "print N tables, then exit",
     CLI_NUMBER(struct top_call, count, 1, SIZE_MAX / 2)},
    {.name = "limit", .value = "N", .take = take_limit, .brief = "maximum number of rows",
     .help = "show at most N rows; 0: all (default: what fits on the screen; 20 if the output is "
             "not a terminal; all with --json)"},
    {.name = "json", .brief = "print JSON", .help = "print one JSON object per line; times in ns",
     CLI_FLAG(struct top_call, as_json)},
    CLI_HELP_ROW,
    {.name = NULL},
};

const struct cli_command cli_command_top = {
    .name = "top",
    .run = run,
    .summary = "Watch what running programs do",
    .usage = "[OPTION]... [PID|TRACE]...",
    .help =
        "Shows once a second what functions, blocks, locks, threads or processes did in the last "
        "interval and since recording began: calls per second, wall time, CPU time, off-CPU time, "
        "p50, p99 and maximum. Without operands, watches all your programs that are recording. A "
        "call counts when it ends.",
    .notes =
        "Keys: f functions, b blocks, l locks, t threads, p processes; c calls, w wall, u CPU, "
        "o off CPU, 5 p50, 9 p99, m max; q quits.",
    .options = options,
    .operands = operands,
    .statuses = "0 success; 1 failure; 2 usage error",
    .is_for_running = 1,
};
