/* SPDX-License-Identifier: MIT
 *
 * triggers.h: the options of `record` and `attach` for rings and dumps (doc/triggers.md).
 */
#ifndef PROBITY_CLI_TRIGGERS_H
#define PROBITY_CLI_TRIGGERS_H

#include "cli/cli.h"
#include "cli/launch.h"
#include "cli/option.h"
#include "cli/patterns.h"

struct cli_triggers {
    const char *ring, *before, *after, *at_most, *keep, *limit;
    struct cli_patterns when;
    const char *names; /* pattern of the dumps' names; NULL: next to the trace */
    char *conditions;  /* for PROBITY_WHEN, or NULL */
    char *settings;    /* for PROBITY_DUMPS, or NULL */
};

/* The options, for a table. MEMBER: the struct above, in the command's context. */
#define CLI_TRIGGER_ROWS(CALL, MEMBER)                                                             \
    {.name = "ring", .value = "WINDOW", .brief = "keep the last seconds in memory only",           \
     .help = "keep only the records of the last WINDOW (30s), or what fits into this much memory " \
             "(64M), or both (30s,256M), for dumps: --when, `probity snapshot` and "               \
             "probity_snapshot() write them to separate files while recording continues",          \
     CLI_TEXT(CALL, MEMBER.ring)},                                                                 \
    {.name = "when", .value = "CONDITION", .brief = "write a dump when this happens",              \
     .help = "write a dump when 'function NAME > 20ms', 'block 4->9 > 5ms', 'wait > 10ms', "       \
             "'request > 20ms' (or > p99.9: longer than 99.9 % of such calls, blocks, waits or "   \
             "requests in the last minutes) or 'signal USR2' happens; may be repeated; implies "   \
             "--ring",                                                                             \
     CLI_PATTERNS(CALL, MEMBER.when)},                                                             \
    {.name = "before", .value = "TIME", .brief = "how long before a slow call a dump begins",      \
     .help = "a dump begins TIME before the call that met the condition (default: 2s)",            \
     CLI_TEXT(CALL, MEMBER.before)},                                                               \
    {.name = "after", .value = "TIME", .brief = "how long after a slow call a dump ends",          \
     .help = "a dump ends TIME after that call (default: 0s)",                                     \
     CLI_TEXT(CALL, MEMBER.after)},                                                                \
    {.name = "at-most", .value = "N/TIME", .brief = "maximum rate of dumps",                       \
     .help = "at most N dumps because of conditions in any period of this length (default: 1/1s)", \
     CLI_TEXT(CALL, MEMBER.at_most)},                                                              \
    {.name = "keep", .value = "WHICH", .brief = "which dumps to keep",                             \
     .help = "worst=N: once there are N dumps, a worse one replaces the least bad; first=N: no "   \
             "more than N are made",                                                               \
     CLI_TEXT(CALL, MEMBER.keep)},                                                                 \
    {.name = "dump-limit", .value = "BYTES", .brief = "maximum size of all dumps",                 \
     .help = "limit the total size of the dumps of a process to BYTES (default: 1G)",              \
     CLI_TEXT(CALL, MEMBER.limit)}

/* Maximum number of variables that cli_triggers_put() appends. */
enum { CLI_TRIGGER_VARIABLES = 4 };

/* Whether -o names dumps, not the trace: if it contains %i. */
int cli_triggers_is_pattern(const char *out);

/* Checks the options and makes the texts. mode, writer: as given, or NULL. Returns CLI_OK, or a
 * status after reporting the error. */
int cli_triggers_check(const struct cli_command *command, struct cli_triggers *triggers,
                       const char *mode, const char *writer);

/* Appends the variables for the program, after cli_triggers_check(). dumps: the pattern of their
 * names, an absolute path, or NULL: next to the trace. */
void cli_triggers_put(const struct cli_triggers *triggers, const char *dumps,
                      struct cli_variable *variables, size_t *count);

/* Check one condition, or one setting of dumps (before, after, at-most, keep or limit). option: how
 * messages name it. Return CLI_OK, or a status after reporting the error. */
int cli_triggers_check_condition(const struct cli_command *command, const char *option,
                                 const char *text);
int cli_triggers_check_dumps(const struct cli_command *command, const char *name,
                             const char *value);

void cli_triggers_release(struct cli_triggers *triggers);

#endif
