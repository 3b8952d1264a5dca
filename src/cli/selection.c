/* SPDX-License-Identifier: MIT
 *
 * selection.c: combines rules: first rules from files, then rules from options.
 */
#include "cli/selection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/selection.h"
#include "probity.h"

/* The kernel rejects variables of more than 128 KiB. */
enum { SELECTION_BYTES_MAX = 100000 };

struct rules {
    const struct cli_command *command;
    FILE *stream;
    size_t bytes;
};

static int put(struct rules *rules, const char *text, size_t bytes)
{
    rules->bytes += bytes + 1;
    if (rules->bytes > SELECTION_BYTES_MAX)
        return cli_fail(rules->command, "the selection has more than %d bytes: use patterns for "
                        "groups of functions", SELECTION_BYTES_MAX);
    fwrite(text, 1, bytes, rules->stream);
    fputc('\n', rules->stream);
    return CLI_OK;
}

/* ---- Files -------------------------------------------------------------------------------------
 */

static int put_text(struct rules *rules, const char *path, const char *text, size_t bytes)
{
    size_t line = probity_selection_check(text);

    if (strlen(text) != bytes)
        return cli_fail(rules->command, "'%s' is not a text file", path);
    if (line > 0)
        return cli_fail(rules->command, "'%s', line %zu: not a rule; see probity-functions(7)",
                        path, line);
    return put(rules, text, bytes);
}

static int put_file(struct rules *rules, const char *path)
{
    FILE *stream = fopen(path, "re");
    char *text = stream != NULL ? calloc(1, SELECTION_BYTES_MAX + 1) : NULL;
    int status;

    if (stream == NULL)
        return cli_fail(rules->command, "cannot read '%s': %s", path, strerror(errno));
    size_t bytes = text != NULL ? fread(text, 1, SELECTION_BYTES_MAX, stream) : 0;
    if (text == NULL)
        status = cli_fail(rules->command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    else if (ferror(stream))
        status = cli_fail(rules->command, "cannot read '%s': %s", path, strerror(errno));
    else if (!feof(stream) && fgetc(stream) != EOF)
        status = put(rules, text, bytes); /* too long */
    else
        status = put_text(rules, path, text, bytes);
    fclose(stream);
    free(text);
    return status;
}

/* ---- Options -----------------------------------------------------------------------------------
 */

static int put_patterns(struct rules *rules, const char *keyword,
                        const struct cli_patterns *patterns)
{
    int status = CLI_OK;

    for (size_t i = 0; i < patterns->count && status == CLI_OK; i++) {
        const char *pattern = patterns->items[i];
        if (strpbrk(pattern, ";#\n") != NULL || strspn(pattern, " \t\r") == strlen(pattern))
            return cli_fail_usage(rules->command, "invalid pattern '%s': it must not be empty or "
                                  "contain ; # or a line break", pattern);
        fprintf(rules->stream, "%s ", keyword);
        rules->bytes += strlen(keyword) + 1;
        status = put(rules, pattern, strlen(pattern));
    }
    return status;
}

static int put_min_bytes(struct rules *rules, size_t bytes)
{
    char rule[32];

    if (bytes == 0)
        return CLI_OK;
    int length = snprintf(rule, sizeof rule, "min-bytes %zu", bytes);
    return put(rules, rule, (size_t)length);
}

static int put_all(struct rules *rules, const struct cli_selection *selection)
{
    int status = CLI_OK;

    for (size_t i = 0; i < selection->files.count && status == CLI_OK; i++)
        status = put_file(rules, selection->files.items[i]);
    if (status == CLI_OK)
        status = put_patterns(rules, "function", &selection->functions);
    if (status == CLI_OK)
        status = put_patterns(rules, "exclude", &selection->excluded);
    if (status == CLI_OK)
        status = put_patterns(rules, "file", &selection->sources);
    if (status == CLI_OK)
        status = put_patterns(rules, "object", &selection->objects);
    return status == CLI_OK ? put_min_bytes(rules, selection->min_bytes) : status;
}

int cli_selection_text(const struct cli_command *command, const struct cli_selection *selection,
                       char **ret_text)
{
    size_t bytes;
    *ret_text = NULL;
    struct rules rules = {command, open_memstream(ret_text, &bytes), 0};

    if (rules.stream == NULL)
        return cli_fail(command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    int status = put_all(&rules, selection);
    if ((fclose(rules.stream) != 0 || *ret_text == NULL) && status == CLI_OK)
        status = cli_fail(command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    if (status != CLI_OK || bytes == 0) {
        free(*ret_text);
        *ret_text = NULL;
    }
    return status;
}

void cli_selection_release(struct cli_selection *selection)
{
    cli_patterns_release(&selection->files);
    cli_patterns_release(&selection->functions);
    cli_patterns_release(&selection->excluded);
    cli_patterns_release(&selection->sources);
    cli_patterns_release(&selection->objects);
}
