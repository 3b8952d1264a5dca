/* SPDX-License-Identifier: MIT
 *
 * diff_input.c: reads runs from traces or from a project's history, and adds them to one side of a
 * comparison.
 */
#include "cli/diff_input.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/fleet_source.h"
#include "cli/index.h"

/* Giving the same run twice would look like two identical runs. The run is empty afterwards. */
static int take_run(struct cli_diff_input *compared, struct probity_compare_run *run)
{
    const struct probity_compare_run *twin =
        probity_compare_twin(compared->compare, compared->side, run);
    int status = CLI_OK;

    if (twin != NULL)
        status = cli_fail_usage(compared->command, "'%s' and '%s' are the same run; give it only "
                                "once", twin->path, run->path);
    else if (probity_compare_take(compared->compare, compared->side, run) != 0)
        status = cli_fail(compared->command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    probity_compare_run_release(run);
    return status;
}

/* ---- Traces ------------------------------------------------------------------------------------
 */

static int read_trace(struct cli_diff_input *compared, char *path)
{
    struct probity_reader_options options = {0};
    struct probity_compare_run run;
    struct probity_reader *reader;
    uint64_t from_ns, to_ns;

    cli_index_use(compared->command, &compared->range, 0, &options);
    int status = cli_open_reader(compared->command, &path, 1, &options, &reader);

    if (status != CLI_OK)
        return status;
    /* Relative times are relative to the start of each run. */
    status = cli_parse_range(compared->command, &compared->range, reader, &from_ns, &to_ns);
    if (status == CLI_OK) {
        int error = probity_compare_run_read(reader, from_ns, to_ns, &run);
        status = error == 0 ? take_run(compared, &run)
                            : cli_fail_trace(compared->command, path, error, errno);
    }
    cli_progress_end();
    int judged = compared->is_bare ? cli_judge_bare(compared->command, reader)
                                   : cli_judge_traces(compared->command, reader);
    if (status == CLI_OK && judged != CLI_OK)
        compared->is_damaged = 1;
    probity_reader_close(reader);
    return status;
}

/* ---- Runs of the history -----------------------------------------------------------------------
 */

/* Adds a run of the history; its path is built from label and number. */
static int take_entry(void *context, struct probity_store_entry *entry)
{
    struct cli_diff_input *compared = context;
    struct probity_compare_run *run = &entry->run;
    char *path = NULL;

    int error = probity_store_load(compared->store, entry->number, run);
    if (error != 0)
        return error;
    if (asprintf(&path, "@%s, run %" PRIu64, run->label, entry->number) < 0)
        return PROBITY_ERROR_MEMORY;
    free(run->path);
    run->path = path;
    if (run->is_damaged || (compared->is_bare && !run->is_complete)) {
        cli_warn(compared->command, "'%s' is damaged or incomplete: %s", run->path, run->why);
        compared->is_damaged = 1;
    }
    return take_run(compared, run);
}

static int read_label(struct cli_diff_input *compared, const char *name)
{
    const struct probity_store_choice choice = {.label = name + 1};
    size_t before, behind;

    if (compared->range.from != NULL || compared->range.to != NULL)
        return cli_fail_usage(compared->command, "--since and --until do not apply to '%s', which "
                              "has whole runs only; give traces", name);
    if (compared->store == NULL &&
        cli_project_open(compared->command, compared->project, 0, &compared->store) != CLI_OK)
        return CLI_FAILURE;
    probity_compare_runs(compared->compare, compared->side, &before);
    int status = probity_store_each(compared->store, &choice, take_entry, compared);
    if (status < 0)
        return cli_project_fail(compared->command, compared->store);
    probity_compare_runs(compared->compare, compared->side, &behind);
    if (status == CLI_OK && before == behind)
        return cli_fail(compared->command, "no run labeled '%s' in the history; see `probity runs "
                        "list` (for a file of this name, use './%s')", name + 1, name);
    return status;
}

/* ---- Runs in a database ------------------------------------------------------------------------
 */

static int take_fleet_run(void *context, const struct probity_fleet_run *of,
                          struct probity_compare_run *run)
{
    (void)of;
    return take_run(context, run);
}

static int read_fleet(struct cli_diff_input *compared, const char *name)
{
    struct cli_fleet_source source = compared->source;

    if (!cli_is_label(name))
        return cli_fail_usage(compared->command, "with --from-fleet, runs are given as @LABEL, "
                              "not '%s'", name);
    source.choice.label = name + 1;
    int status = cli_fleet_compare(compared->command, &source, &compared->range, compared->is_bare,
                                   take_fleet_run, compared);
    if (status != CLI_DAMAGED)
        return status;
    compared->is_damaged = 1;
    return CLI_OK;
}

int cli_diff_input_read(struct cli_diff_input *compared, char *name)
{
    if (compared->source.url != NULL)
        return read_fleet(compared, name);
    return cli_is_label(name) ? read_label(compared, name) : read_trace(compared, name);
}

void cli_diff_input_close(struct cli_diff_input *compared)
{
    if (compared->compare != NULL)
        probity_compare_close(compared->compare);
    probity_store_close(compared->store);
}
