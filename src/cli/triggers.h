/* SPDX-License-Identifier: MIT
 *
 * triggers.h: the options of `record` for rings and dumps (doc/triggers.md).
 */
#ifndef PROBITY_CLI_TRIGGERS_H
#define PROBITY_CLI_TRIGGERS_H

#include "cli/cli.h"
#include "cli/patterns.h"

struct cli_triggers {
    const char *ring, *before, *after, *at_most, *keep, *limit;
    struct cli_patterns when;
    const char *names; /* pattern of dumps; NULL: next to the trace */
    char *conditions;  /* for PROBITY_WHEN, or NULL */
    char *settings;    /* for PROBITY_DUMPS, or NULL */
};

/* Whether -o names dumps and not the trace: if it has %i. */
int cli_triggers_is_pattern(const char *out);

/* Checks the options, and makes the texts. mode, writer: as given, or NULL. Returns CLI_OK, or a
 * status after reporting the error. */
int cli_triggers_check(const struct cli_command *command, struct cli_triggers *triggers,
                       const char *mode, const char *writer);

/* Check one condition, or one setting of dumps (before, after, at-most, keep or limit). option: how
 * messages name it. Return CLI_OK, or a status after reporting the error. */
int cli_triggers_check_condition(const struct cli_command *command, const char *option,
                                 const char *text);
int cli_triggers_check_dumps(const struct cli_command *command, const char *name,
                             const char *value);

void cli_triggers_release(struct cli_triggers *triggers);

#endif
