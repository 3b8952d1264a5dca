/* SPDX-License-Identifier: MIT
 *
 * runs_command.c: `probity runs`: a project's history of runs, which `probity diff` compares by
 * label.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "answers/runs/runs.h"
#include "base/array_grow.h"
#include "base/limits.h"
#include "cli/cli.h"
#include "cli/fleet_source.h"
#include "cli/option.h"
#include "cli/output_stream.h"
#include "cli/project.h"
#include "print/text.h"

struct runs_call {
    const char *project, *label, *out;
    int force;
    enum probity_runs_form form;
    struct probity_store *store;
    struct probity_store_entry *entries; /* the runs that were found */
    size_t count;
    int is_damaged, with_items;
    struct cli_fleet_source source; /* if it has a URL, a database is used instead of the history */
    int (*print)(FILE *stream, enum probity_runs_form form, const struct probity_runs *runs);
};

/* A subcommand; the operands are those after its name. Returns an exit status. */
typedef int runs_action(struct runs_call *call, char **operands, size_t count);

static int fail_store(const struct runs_call *call)
{
    return cli_project_fail(&cli_command_runs, call->store);
}

/* ---- init --------------------------------------------------------------------------------------
 */

static int make_history(struct runs_call *call, const char *directory)
{
    static const char *const files[] = {"runs.db", "runs.db-journal", NULL};
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/" CLI_PROJECT_DIRECTORY, directory) >=
        (int)sizeof path - 16)
        return cli_fail(&cli_command_runs, "'%s': %s", directory, strerror(ENAMETOOLONG));
    int is_new = mkdir(path, 0777) == 0;
    if (!is_new && errno != EEXIST)
        return cli_fail(&cli_command_runs, "cannot create '%s': %s", path, strerror(errno));
    size_t directory_length = strlen(path);
    strncat(path, "/runs.db", sizeof path - directory_length - 1);
    if (probity_store_create(path, &call->store) != 0) {
        int status = fail_store(call);
        probity_store_close(call->store);
        call->store = NULL;
        path[directory_length] = '\0';
        if (is_new)
            cli_remove_directory(path, files);
        return status;
    }
    printf("history of runs: '%s'\n", path);
    return CLI_OK;
}

/* Keeps an existing history. */
static int init(struct runs_call *call, char **operands, size_t count)
{
    (void)operands;
    if (count > 0)
        return cli_fail_usage(&cli_command_runs, "init: unexpected argument; use --project to "
                              "choose the directory");
    char *directory = cli_project_find(&cli_command_runs, call->project, 0);
    int status = directory != NULL ? make_history(call, directory) : CLI_FAILURE;

    free(directory);
    return status;
}

/* ---- add ---------------------------------------------------------------------------------------
 */

static int put_run(struct runs_call *call, struct probity_compare_run *run, const char *path)
{
    static const char *const done[] = {"added", "updated", "kept"};
    enum probity_store_put how;
    uint64_t number;

    if (probity_store_put(call->store, run, call->label, &number, &how) != 0)
        return fail_store(call);
    if (how == PROBITY_STORE_KEPT) {
        cli_warn(&cli_command_runs, "'%s' is an incomplete copy of run %" PRIu64
                 ", which the history already has; nothing was changed", path, number);
        call->is_damaged = 1;
    }
    printf("run %" PRIu64 ": %s %s\n", number, path, done[how]);
    return CLI_OK;
}

/* Stores an absolute path, so that it is valid in any working directory. */
static int set_path(const char *path, struct probity_compare_run *run)
{
    char *absolute = realpath(path, NULL);

    if (absolute == NULL)
        return cli_fail(&cli_command_runs, "'%s': %s", path, strerror(errno));
    free(run->path);
    run->path = absolute;
    return CLI_OK;
}

static int add_trace(struct runs_call *call, char **path)
{
    struct probity_reader_options options = {0};
    struct probity_compare_run run;
    struct probity_reader *reader;
    int status = cli_open_reader(&cli_command_runs, path, 1, &options, &reader);

    if (status != CLI_OK)
        return status;
    int error = probity_compare_run_read(reader, 0, 0, &run), error_number = errno;
    cli_progress_end();
    if (error == 0) {
        status = set_path(*path, &run);
        if (status == CLI_OK)
            status = put_run(call, &run, *path);
        probity_compare_run_release(&run);
    } else {
        status = cli_fail_trace(&cli_command_runs, *path, error, error_number);
    }
    if (status == CLI_OK && cli_judge_traces(&cli_command_runs, reader) != CLI_OK)
        call->is_damaged = 1;
    probity_reader_close(reader);
    return status;
}

static int add(struct runs_call *call, char **operands, size_t count)
{
    if (count == 0)
        return cli_fail_usage(&cli_command_runs, "add: no trace given");
    int status = cli_project_open(&cli_command_runs, call->project, 1, &call->store);
    char **paths = status == CLI_OK ? cli_trace_paths(&cli_command_runs, operands, &count) : NULL;

    if (status == CLI_OK && paths == NULL)
        status = CLI_FAILURE;
    for (size_t i = 0; status == CLI_OK && i < count; i++)
        status = add_trace(call, &paths[i]);
    cli_paths_free(paths, count);
    return status == CLI_OK && call->is_damaged ? CLI_DAMAGED : status;
}

/* ---- Runs that were found ----------------------------------------------------------------------
 */

static int keep_entry(void *context, struct probity_store_entry *entry)
{
    struct runs_call *call = context;
    struct probity_store_entry *entries =
        probity_array_append(call->entries, sizeof *entries, call->count);

    if (entries == NULL)
        return PROBITY_ERROR_MEMORY;
    call->entries = entries;
    int error = call->with_items ? probity_store_load(call->store, entry->number, &entry->run) : 0;
    if (error != 0)
        return error;
    entries[call->count++] = *entry;
    entry->run = (struct probity_compare_run){.item_count = 0};
    return 0;
}

static int print_runs(void *context, FILE *stream, int has_color)
{
    const struct runs_call *call = context;
    const struct probity_runs runs = {call->entries, call->count};

    (void)has_color;
    return call->print(stream, call->form, &runs);
}

/* Parses NUMBER or @LABEL. Returns CLI_OK or CLI_USAGE. */
static int parse_choice(const char *text, struct probity_store_choice *ret_choice)
{
    size_t digits = strspn(text, "0123456789");

    *ret_choice = (struct probity_store_choice){.label = cli_is_label(text) ? text + 1 : NULL};
    if (ret_choice->label != NULL)
        return CLI_OK;
    if (digits == 0 || digits > 18 || text[digits] != '\0' || strspn(text, "0") == digits)
        return cli_fail_usage(&cli_command_runs, "invalid run '%s' (a number from `probity runs "
                              "list`, or @LABEL)", text);
    ret_choice->number = strtoull(text, NULL, 10);
    return CLI_OK;
}

static int fail_none(const char *text)
{
    return cli_fail(&cli_command_runs, "no run '%s' in the history; see `probity runs list`", text);
}

/* ---- A database --------------------------------------------------------------------------------
 */

static int take_fleet_run(void *context, const struct probity_fleet_run *of,
                          struct probity_compare_run *run)
{
    struct runs_call *call = context;
    struct probity_store_entry *entries =
        probity_array_append(call->entries, sizeof *entries, call->count);

    if (entries == NULL) {
        probity_compare_run_release(run);
        return cli_fail(&cli_command_runs, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    }
    call->entries = entries;
    entries[call->count] = (struct probity_store_entry){
        .number = of->run, .added_ns = of->version, .run = *run,
        .counts = {run->item_count, UINT64_MAX, UINT64_MAX}}; /* the other counts are unknown */
    snprintf(entries[call->count].id, sizeof entries->id, "%016" PRIx64, of->run);
    call->count++;
    return CLI_OK;
}

/* The function that printed the list has already warned if some runs are incomplete. */
static int print_fleet(struct runs_call *call, int status)
{
    if ((status != CLI_OK && status != CLI_DAMAGED) || call->source.as_sql)
        return status;
    int printed = cli_print_answer(&cli_command_runs, call->out, call->force, print_runs, call);
    return printed == CLI_OK ? status : printed;
}

static int list_fleet(struct runs_call *call)
{
    uint64_t *counts;

    call->source.choice.label = call->label;
    int status = cli_fleet_list(&cli_command_runs, &call->source, take_fleet_run, call, &counts);
    for (size_t i = 0; i < call->count; i++)
        call->entries[i].counts[PROBITY_COMPARE_FUNCTION] = counts[i];
    free(counts);
    call->print = probity_runs_list;
    return print_fleet(call, status);
}

/* Parses the 16 hexadecimal digits that `probity fleet` prints, or @LABEL. */
static int choose_fleet(const char *text, struct probity_fleet_choice *choice)
{
    choice->label = cli_is_label(text) ? text + 1 : NULL;
    choice->run = 0;
    if (choice->label != NULL)
        return CLI_OK;
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16 ||
        strspn(text, "0") == 16)
        return cli_fail_usage(&cli_command_runs, "invalid run '%s' (16 hexadecimal digits, from "
                              "`probity fleet`, or @LABEL)", text);
    choice->run = strtoull(text, NULL, 16);
    return CLI_OK;
}

static int show_fleet(struct runs_call *call, char **operands, size_t count)
{
    static const struct cli_range all = {.from = NULL};
    int status = CLI_OK;

    for (size_t i = 0; i < count && (status == CLI_OK || status == CLI_DAMAGED); i++) {
        int chosen = choose_fleet(operands[i], &call->source.choice);
        int asked = chosen == CLI_OK ? cli_fleet_compare(&cli_command_runs, &call->source, &all, 0,
                                                         take_fleet_run, call)
                                     : chosen;
        status = asked != CLI_OK ? asked : status;
    }
    call->print = probity_runs_show;
    return print_fleet(call, status);
}

/* ---- list, show, rm of the history -------------------------------------------------------------
 */

static int list(struct runs_call *call, char **operands, size_t count)
{
    const struct probity_store_choice choice = {.label = call->label};

    (void)operands;
    if (count > 0)
        return cli_fail_usage(&cli_command_runs, "list: unexpected argument; use --label to select "
                              "runs");
    if (call->source.url != NULL)
        return list_fleet(call);
    int status = cli_project_open(&cli_command_runs, call->project, 0, &call->store);
    if (status != CLI_OK)
        return status;
    if (probity_store_each(call->store, &choice, keep_entry, call) != 0)
        return fail_store(call);
    call->print = probity_runs_list;
    return cli_print_answer(&cli_command_runs, call->out, call->force, print_runs, call);
}

static int show(struct runs_call *call, char **operands, size_t count)
{
    struct probity_store_choice choice;

    if (count == 0)
        return cli_fail_usage(&cli_command_runs, "show: no run given");
    if (call->source.url != NULL)
        return show_fleet(call, operands, count);
    int status = cli_project_open(&cli_command_runs, call->project, 0, &call->store);
    call->with_items = 1;
    for (size_t i = 0; status == CLI_OK && i < count; i++) {
        size_t before = call->count;
        status = parse_choice(operands[i], &choice);
        if (status == CLI_OK && probity_store_each(call->store, &choice, keep_entry, call) != 0)
            status = fail_store(call);
        if (status == CLI_OK && call->count == before)
            status = fail_none(operands[i]);
    }
    call->print = probity_runs_show;
    return status == CLI_OK
               ? cli_print_answer(&cli_command_runs, call->out, call->force, print_runs, call)
               : status;
}

static int rm(struct runs_call *call, char **operands, size_t count)
{
    struct probity_store_choice choice;
    uint64_t removed = 0, all = 0;

    if (count == 0)
        return cli_fail_usage(&cli_command_runs, "rm: no run given");
    int status = cli_project_open(&cli_command_runs, call->project, 1, &call->store);
    for (size_t i = 0; status == CLI_OK && i < count; i++) {
        status = parse_choice(operands[i], &choice);
        if (status == CLI_OK && probity_store_remove(call->store, &choice, &removed) != 0)
            status = fail_store(call);
        if (status == CLI_OK && removed == 0)
            status = fail_none(operands[i]);
        all += status == CLI_OK ? removed : 0;
    }
    if (all > 0 || status == CLI_OK)
        printf("%" PRIu64 " run%s removed\n", all, probity_text_s(all));
    return status;
}

/* ---- The command -------------------------------------------------------------------------------
 */

static runs_action *action_of(const char *name)
{
    static const struct {
        const char *name;
        runs_action *run;
    } actions[] = {{"init", init}, {"add", add}, {"list", list}, {"show", show}, {"rm", rm}};

    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (strcmp(actions[i].name, name) == 0)
            return actions[i].run;
    }
    return NULL;
}

static int take_form(const struct cli_given *given)
{
    struct runs_call *call = given->at;

    call->form = (enum probity_runs_form)given->option->number;
    return CLI_OK;
}

static int run_action(struct runs_call *call, char **operands, size_t count)
{
    runs_action *action = count > 0 ? action_of(operands[0]) : NULL;

    if (count == 0)
        return cli_fail_usage(&cli_command_runs, "expected init, add, list, show or rm");
    if (action == NULL)
        return cli_fail_usage(&cli_command_runs, "unknown command '%s' (init, add, list, show or "
                              "rm)", operands[0]);
    if (call->label != NULL && (*call->label == '\0' || strlen(call->label) > PROBITY_LIMIT_NAME))
        return cli_fail_usage(&cli_command_runs, "a label must have 1 to %d bytes",
                              PROBITY_LIMIT_NAME);
    if (call->source.url == NULL &&
        cli_fleet_is_unused(&cli_command_runs, &call->source) != CLI_OK)
        return CLI_USAGE;
    if (call->source.url != NULL && action != list && action != show)
        return cli_fail_usage(&cli_command_runs, "%s: --from-fleet applies to list and show only; "
                              "`probity ship` adds to a database", operands[0]);
    int status = action(call, operands + 1, count - 1);
    if (call->store != NULL && probity_store_is_converted(call->store))
        cli_warn(&cli_command_runs, "the history was converted to version 2, which earlier "
                 "versions of Probity cannot read; requests are unknown for runs already in it "
                 "until their traces are added again");
    if (call->store != NULL && probity_store_warning(call->store) != NULL)
        cli_warn(&cli_command_runs, "%s", probity_store_warning(call->store));
    for (size_t i = 0; i < call->count; i++)
        probity_compare_run_release(&call->entries[i].run);
    free(call->entries);
    probity_store_close(call->store);
    return status;
}

static int run(int argc, char **argv)
{
    struct runs_call call = {.form = PROBITY_RUNS_TEXT};
    int status = cli_options_take(&cli_command_runs, &call, argc, argv);

    if (status == CLI_OK)
        status = run_action(&call, argv + optind, (size_t)(argc - optind));
    return status < 0 ? CLI_OK : status;
}

static const struct cli_operand operands[] = {
    {.label = "subcommand", .choices = "init add list show rm"},
    {.label = "trace or run", .repeats = 1},
    {.label = NULL},
};

static const struct cli_option options[] = {
    {.name = "label", .value = "LABEL", .brief = "label of the runs",
     .help = "add: label the runs, overriding the labels in their traces; list: only runs with "
             "this label", CLI_TEXT(struct runs_call, label)},
    CLI_FLEET_URL_ROW(struct runs_call, source, "the history"),
    CLI_FLEET_CHOICE_ROWS(struct runs_call, source),
    CLI_FLEET_SQL_ROW(struct runs_call, source),
    {.name = "project", .value = "DIR", .brief = "project directory",
     .help = "the project's directory (default: PROBITY_PROJECT)",
     CLI_TEXT(struct runs_call, project)},
    {.name = "json", .help = "list, show: print one JSON object; times in ns",
     .brief = "print JSON", .take = take_form, .number = PROBITY_RUNS_JSON},
    {.name = "csv", .help = "list: one row per run; show: one row per function, block and kind of "
             "request",
     .brief = "print CSV", .take = take_form, .number = PROBITY_RUNS_CSV},
    {.name = "output", .letter = 'o', .value = "FILE", .brief = "write to a file",
     .help = "list, show: write to FILE; '-' is standard output (the default)",
     .take = cli_take_output, .offset = offsetof(struct runs_call, out)},
    {.name = "force", .letter = 'f', .help = "overwrite FILE if it exists",
     .brief = "overwrite an existing file", CLI_FLAG(struct runs_call, force)},
    CLI_HELP_ROW,
    {.name = NULL},
};

const struct cli_command cli_command_runs = {
    .name = "runs",
    .run = run,
    .summary = "Keep a history of runs for `probity diff`",
    .usage = "init | add TRACE... | list | show RUN... | rm RUN...",
    .help =
        "The history is stored in .probity/ in the project's directory: the working directory "
        "or its nearest parent that has one. It has the data of each run that `probity diff` "
        "needs, so the traces can be removed. A RUN is a number shown by list, or @LABEL for all "
        "runs with that label. With --from-fleet, list and show print runs in a database.\n\n"
        "  init    create the history, by default in the working directory\n"
        "  add     add runs, or update those already there\n"
        "  list    show one line per run, by time\n"
        "  show    show all details of runs\n"
        "  rm      remove runs",
    .options = options,
    .operands = operands,
};
