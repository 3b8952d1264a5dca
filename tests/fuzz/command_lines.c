/* SPDX-License-Identifier: MIT
 *
 * command_lines.c: chooses random options from the commands' tables. A value is one of the option's
 * choices; without choices, the placeholder determines whether it is a number, a time or a
 * pattern.
 */
#include "fuzz/command_lines.h"

#include <stdio.h>
#include <string.h>

#include "cli/option.h"

enum { WORD_BYTES = 32, TEXT_BYTES = 1 << 14 };

static uint64_t draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* Options that write files, wait, start programs, send, or print help. */
static int is_left_out(const char *name)
{
    static const char *const left_out[] = {"output",  "force", "follow", "open", "header",
                                           "project", "help",  "trust",  "serve"};

    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++) {
        if (strcmp(name, left_out[i]) == 0)
            return 1;
    }
    return 0;
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* Returns one of the choices or, now and then, the placeholder, which is invalid. */
static void choice_make(const struct cli_option *option, uint64_t *state, char value[WORD_BYTES])
{
    const char *choices = option->choices, *choice;
    uint64_t words = 1;
    size_t bytes;

    while ((choice = cli_choice_next(&choices, &bytes)) != NULL) {
        if (draw(state) % ++words == 0)
            snprintf(value, WORD_BYTES, "%.*s", (int)bytes, choice);
    }
}

static void value_make(const struct cli_option *option, uint64_t *state, char value[WORD_BYTES])
{
    static const char *const lists[][7] = {
        {"N", "0", "1", "3", "60", "1000000", "18446744073709551615"},
        {"N,...", "0", "1", "4711", "1,2", "4711,4712", "4294967295"},
        {"P", "0", "1", "50", "100", "0.001", "1e9"},
        {"T", "0", "1ms", "-0.001s", "37%", "62.5%", "@1700000000"},
        {"ID,...", "0", "1", "7", "1,2", "*", "18446744073709551615"},
        {"PATTERN", "*", "*", "m*", "?*", "[a-z]*", ""},
        {"CHANGE", "p99>+5%", "calls<0%", "function:*:mean>0", "total>0", "self<-1%", "mean>1e300"},
    };

    snprintf(value, WORD_BYTES, "%s", option->value);
    if (option->choices != NULL) {
        choice_make(option, state, value);
        return;
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (strcmp(lists[i][0], option->value) == 0) {
            snprintf(value, WORD_BYTES, "%s", lists[i][1 + draw(state) % 6]);
            return;
        }
    }
}

/* ---- Lines ----------------------------------------------------------------------------------- */

struct line {
    char **arguments;
    int count;
    char *text, *text_end;
};

static void put(struct line *line, const char *argument)
{
    size_t bytes = strlen(argument) + 1;

    if (line->count + 1 >= LINE_ARGUMENTS_MAX || (size_t)(line->text_end - line->text) < bytes)
        return;
    memcpy(line->text, argument, bytes);
    line->arguments[line->count++] = line->text;
    line->text += bytes;
}

static void put_option(struct line *line, const struct cli_option *option, const char *trace,
                       uint64_t *state)
{
    char argument[2 + WORD_BYTES], value[WORD_BYTES];

    snprintf(argument, sizeof argument, "--%s", option->name);
    put(line, argument);
    if (option->value == NULL)
        return;
    value_make(option, state, value);
    put(line, strcmp(option->value, "BASE") == 0 ? trace : value);
}

/* The operands in the usage line: NAME TRACE..., BASE... -- NEW... */
static void put_operands(struct line *line, const char *usage, const char *trace, uint64_t *state)
{
    if (strstr(usage, "NAME") != NULL)
        put(line, "*");
    put(line, trace);
    if (strstr(usage, "NEW") != NULL) {
        put(line, "--");
        put(line, trace);
    } else if (draw(state) % 8 == 0) {
        put(line, trace);
    }
}

int command_line_make(const struct cli_command *command, uint64_t seed, char *trace,
                      char *ret_arguments[LINE_ARGUMENTS_MAX])
{
    static char text[TEXT_BYTES];
    struct line line = {.arguments = ret_arguments, .text = text, .text_end = text + sizeof text};
    uint64_t state = seed, count = 0;

    for (const struct cli_option *option = command->options; option->name != NULL; option++)
        count += !is_left_out(option->name);
    put(&line, "probity");
    put(&line, command->name);
    for (const struct cli_option *option = command->options; option->name != NULL; option++) {
        const char *demanded = strstr(command->usage, option->name);
        /* An option at the start of the usage line is required. */
        int is_demanded = demanded == command->usage + 2;
        if (!is_left_out(option->name) && (is_demanded || draw(&state) % (count + 1) < 2))
            put_option(&line, option, trace, &state);
    }
    put_operands(&line, command->usage, trace, &state);
    ret_arguments[line.count] = NULL;
    return line.count;
}
