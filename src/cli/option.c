/* SPDX-License-Identifier: MIT
 *
 * option.c: turns a table of options into arguments for getopt_long(), and stores the results in
 * the command's context.
 */
#include "cli/option.h"

#include <stdlib.h>
#include <string.h>

#include "cli/filter.h"
#include "cli/fleet_options.h"
#include "cli/output_stream.h"
#include "cli/patterns.h"
#include "cli/suggest.h"

/* Options without a letter get numbers above the codes of all letters. */
enum { OPTIONS_MAX = 40, FIRST_UNLETTERED = 256 };

struct getopt_arguments {
    struct option names[2 * OPTIONS_MAX + 1];
    char letters[2 * OPTIONS_MAX + 3];
};

static int value_of(const struct cli_option *options, size_t i)
{
    return options[i].letter != 0 ? options[i].letter : FIRST_UNLETTERED + (int)i;
}

/* A leading '+' makes getopt_long() stop at the first operand; ':' makes it report missing values
 * separately. */
static void make_arguments(const struct cli_command *command,
                           struct getopt_arguments *ret_arguments)
{
    const struct cli_option *options = command->options;
    char *letter = ret_arguments->letters;
    size_t names = 0;

    if (command->stops_at_operand)
        *letter++ = '+';
    *letter++ = ':';
    for (size_t i = 0; options[i].name != NULL && i < OPTIONS_MAX; i++) {
        int has_value = options[i].value != NULL;
        struct option option = {options[i].name, has_value ? required_argument : no_argument, NULL,
                                value_of(options, i)};
        ret_arguments->names[names++] = option;
        option.name = options[i].older;
        if (option.name != NULL)
            ret_arguments->names[names++] = option;
        if (options[i].letter != 0)
            *letter++ = options[i].letter;
        if (options[i].letter != 0 && has_value)
            *letter++ = ':';
    }
    ret_arguments->names[names] = (struct option){NULL, 0, NULL, 0};
    *letter = '\0';
}

/* Suggests the option with the most similar name. */
static int fail_unknown(const struct cli_command *command, const char *word)
{
    struct cli_suggestion suggestion;
    int length = (int)strcspn(word, "=");

    if (length == 12 && strncmp(word, "--from-fleet", 12) == 0)
        return cli_fleet_refuse(command);
    cli_suggest_begin(&suggestion, word + 2, (size_t)length - 2);
    for (const struct cli_option *option = command->options; option->name != NULL; option++)
        cli_suggest_take(&suggestion, option->name);
    if (suggestion.best != NULL)
        return cli_fail_usage(command, "unknown or ambiguous option '%.*s'; did you mean '--%s'?",
                              length, word, suggestion.best);
    return cli_fail_usage(command, "unknown or ambiguous option '%.*s'", length, word);
}

static int fail_option(const struct cli_command *command, char **argv, int returned)
{
    const char *word = argv[optind - 1];
    int is_long = strncmp(word, "--", 2) == 0;

    if (returned == ':')
        return cli_fail_usage(command, "option '%s' requires an argument", word);
    if (is_long && optopt == 0)
        return fail_unknown(command, word);
    if (is_long && strchr(word, '=') != NULL)
        return cli_fail_usage(command, "option '%s' takes no argument", word);
    return cli_fail_usage(command, "unknown option '-%c'", optopt);
}

static int take_one(const struct cli_command *command, void *context, int returned, char **argv)
{
    const struct cli_option *options = command->options;

    for (size_t i = 0; options[i].name != NULL; i++) {
        if (value_of(options, i) != returned)
            continue;
        void *at = context != NULL ? (char *)context + options[i].offset : NULL;
        const struct cli_given given = {command, &options[i], at, optarg};
        return options[i].take(&given);
    }
    return fail_option(command, argv, returned);
}

int cli_options_take(const struct cli_command *command, void *context, int argc, char **argv)
{
    struct getopt_arguments arguments;
    int returned, status = CLI_OK;

    make_arguments(command, &arguments);
    while (status == CLI_OK && (returned = getopt_long(argc, argv, arguments.letters,
                                                       arguments.names, NULL)) != -1)
        status = take_one(command, context, returned, argv);
    return status;
}

/* ---- Choices -----------------------------------------------------------------------------------
 */

int cli_choice_find(const struct cli_given *given)
{
    const char *choices = given->option->choices, *choice;
    size_t bytes;

    for (int i = 0; (choice = cli_choice_next(&choices, &bytes)) != NULL; i++) {
        if (strlen(given->value) == bytes && memcmp(choice, given->value, bytes) == 0)
            return i;
    }
    return -1;
}

/* Lists the choices: "a, b or c" if there are few, otherwise "valid: a, b, c, d, e". */
int cli_fail_choice(const struct cli_given *given)
{
    enum { FEW = 4 };
    const struct cli_option *option = given->option;
    const char *choices = option->choices, *choice;
    char list[512];
    size_t bytes, used = 0, count = 0;

    while (cli_choice_next(&choices, &bytes) != NULL)
        count++;
    choices = option->choices;
    for (size_t i = 0; (choice = cli_choice_next(&choices, &bytes)) != NULL &&
                       used < sizeof list; i++) {
        const char *before = i == 0 ? "" : count <= FEW && i + 1 == count ? " or " : ", ";
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.*s", before, (int)bytes,
                                 choice);
    }
    return cli_fail_usage(given->command, "invalid %s%s '%.*s' (%s%s)",
                          option->noun != NULL ? "" : "--",
                          option->noun != NULL ? option->noun : option->name,
                          (int)strcspn(given->value, option->is_list ? "," : ""), given->value,
                          count > FEW ? "valid: " : "", list);
}

/* ---- Storing -----------------------------------------------------------------------------------
 */

int cli_take_flag(const struct cli_given *given)
{
    *(unsigned *)given->at |= given->option->number;
    return CLI_OK;
}

int cli_take_text(const struct cli_given *given)
{
    *(const char **)given->at = given->value;
    return CLI_OK;
}

int cli_take_output(const struct cli_given *given)
{
    *(const char **)given->at = strcmp(given->value, "-") == 0 ? NULL : given->value;
    return CLI_OK;
}

int cli_take_number(const struct cli_given *given)
{
    const struct cli_option *option = given->option;
    const char *dashes = option->noun != NULL ? "" : "--";
    const char *noun = option->noun != NULL ? option->noun : option->name;

    if (cli_parse_number(given->value, option->least, option->most, given->at) == 0)
        return CLI_OK;
    if (option->valid != NULL)
        return cli_fail_usage(given->command, "invalid %s%s '%s' (%s)", dashes, noun, given->value,
                              option->valid);
    return cli_fail_usage(given->command, "invalid %s%s '%s' (%zu to %zu)", dashes, noun,
                          given->value, option->least, option->most);
}

int cli_take_choice(const struct cli_given *given)
{
    int choice = cli_choice_find(given);

    if (choice < 0)
        return cli_fail_choice(given);
    *(int *)given->at = choice;
    return CLI_OK;
}

int cli_take_word(const struct cli_given *given)
{
    if (cli_choice_find(given) < 0)
        return cli_fail_choice(given);
    return cli_take_text(given);
}

int cli_take_patterns(const struct cli_given *given)
{
    return cli_patterns_add(given->command, given->at, given->value);
}

int cli_take_numbers(const struct cli_given *given)
{
    return cli_filter_parse(given->command, given->at, given->value, 0);
}

int cli_take_names(const struct cli_given *given)
{
    return cli_filter_parse(given->command, given->at, given->value, 1);
}

int cli_take_quiet(const struct cli_given *given)
{
    (void)given;
    cli_be_quiet();
    return CLI_OK;
}

int cli_take_color(const struct cli_given *given)
{
    int choice = cli_choice_find(given);

    if (choice < 0)
        return cli_fail_choice(given);
    cli_color_use((enum cli_color)choice);
    return CLI_OK;
}

int cli_take_help(const struct cli_given *given)
{
    cli_print_help(given->command);
    return -1;
}
