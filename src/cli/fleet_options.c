/* SPDX-License-Identifier: MIT
 *
 * fleet_options.c: decides whether to query a database.
 */
#include "cli/fleet_options.h"

#include <stdlib.h>

int cli_fleet_is_wanted(const struct cli_fleet_source *source, size_t traces)
{
    const char *given = getenv("PROBITY_FLEET");

    return source->url != NULL || (traces == 0 && given != NULL && *given != '\0');
}

int cli_fleet_is_unused(const struct cli_command *command, const struct cli_fleet_source *source)
{
    const struct probity_fleet_choice *choice = &source->choice;

    if (choice->host == NULL && choice->executable == NULL && choice->label == NULL &&
        choice->build == NULL && source->password_file == NULL && !source->as_sql)
        return CLI_OK;
    return cli_fail_usage(command, "--host, --executable, --label, --build, --password-file and "
                          "--sql require --from-fleet");
}

int cli_fleet_refuse(const struct cli_command *command)
{
    return cli_fail_usage(command, "--from-fleet does not apply: a database has calls, blocks and "
                          "their sums, but no other records; use the traces, or blocks, diff, "
                          "hist, list, report, runs, threads or tree");
}
