/* SPDX-License-Identifier: MIT
 *
 * compared.c: reads a run, and adds it to a side of a comparison.
 */
#include "cli/compared.h"

#include <errno.h>

/* One run twice would look like two that agree. */
int cli_compared_take(struct cli_compared *compared, struct probity_compare_run *run)
{
    const struct probity_compare_run *twin =
        probity_compare_twin(compared->compare, compared->side, run);
    int status = CLI_OK;

    if (twin != NULL)
        status = cli_fail_usage(compared->command, "'%s' and '%s' are the same run, which counts "
                                "once on a side", twin->path, run->path);
    else if (probity_compare_take(compared->compare, compared->side, run) != 0)
        status = cli_fail(compared->command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    probity_compare_run_release(run);
    return status;
}

int cli_compared_read(struct cli_compared *compared, char *path)
{
    struct probity_reader_options options = {0};
    struct probity_compare_run run;
    struct probity_reader *reader;
    uint64_t from_ns, to_ns;
    int status = cli_open_reader(compared->command, &path, 1, &options, &reader);

    if (status != CLI_OK)
        return status;
    /* Times of day differ from run to run: each has its own beginning. */
    status = cli_parse_range(compared->command, &compared->range,
                             probity_reader_facts(reader, 0)->info.anchor.realtime_ns, &from_ns,
                             &to_ns);
    if (status == CLI_OK) {
        int error = probity_compare_run_read(reader, from_ns, to_ns, &run);
        status = error == 0 ? cli_compared_take(compared, &run)
                            : cli_fail_trace(compared->command, path, error, errno);
    }
    cli_progress_end();
    if (status == CLI_OK && cli_judge_traces(compared->command, reader) != CLI_OK)
        compared->is_damaged = 1;
    probity_reader_close(reader);
    return status;
}
