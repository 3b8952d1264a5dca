/* SPDX-License-Identifier: MIT
 *
 * option.h: a command's options as a table. The arguments for getopt_long(), the text of --help and
 * the shell completions are derived from it.
 */
#ifndef PROBITY_CLI_OPTION_H
#define PROBITY_CLI_OPTION_H

#include <getopt.h> /* optind */
#include <stddef.h>
#include <stdio.h>

#include "cli/cli.h"

/* One option on the command line. */
struct cli_given {
    const struct cli_command *command;
    const struct cli_option *option;
    void *at;    /* `offset` bytes into the command's context */
    char *value; /* NULL if the option takes no value */
};

/* Returns CLI_OK, an exit status, or -1 if help was shown. */
typedef int cli_take(const struct cli_given *given);

struct cli_option {
    const char *name;  /* long name; NULL ends the table */
    const char *older; /* another name, accepted but not shown; or NULL */
    char letter;       /* 0 if it has none */
    const char *value; /* placeholder in --help, from which completions also derive the kind of
                        * value (FILE, DIR ...); NULL: the option takes no value */
    /* For --help; wrapped. NULL: the list of choices is shown or, without choices, the option
     * shares the line of the previous one. */
    const char *help;
    const char *brief;   /* for completions; NULL: `help` up to the first : ; or ( */
    const char *choices; /* valid values, separated by spaces; NULL: any value may be valid */
    const char *initial; /* the default choice, or NULL */
    const char *noun;    /* what messages call a value; NULL: the name of the option */
    int is_list;         /* a comma-separated list of choices */
    int repeats;         /* each use adds a value */
    cli_take *take;
    size_t offset;
    unsigned number;     /* for cli_take_flag, the bits to set; unused by the other functions
                          * here */
    size_t least, most;  /* for cli_take_number */
    const char *valid;   /* for cli_take_number, the valid numbers in words; NULL: the two limits */
};

/* ---- Storing values ----------------------------------------------------------------------------
 */

cli_take cli_take_flag;     /* sets `number` in an int or unsigned */
cli_take cli_take_text;     /* stores the value unchanged */
cli_take cli_take_output;   /* same as above, but stores NULL for "-" */
cli_take cli_take_number;   /* a size_t from `least` to `most` */
cli_take cli_take_choice;   /* stores the index among the choices in an int or enum */
cli_take cli_take_word;     /* stores the value, which must be one of the choices */
cli_take cli_take_patterns; /* adds to a struct cli_patterns */
cli_take cli_take_numbers;  /* adds a list of numbers to a struct cli_filter */
cli_take cli_take_names;    /* same as above for numbers and names */
cli_take cli_take_quiet;
cli_take cli_take_color;
cli_take cli_take_help;

/* Offset of a member, whose type must be one of those given. */
#define CLI_OFFSET(CALL, MEMBER, ...) \
    (offsetof(CALL, MEMBER) + _Generic(((CALL *)0)->MEMBER, __VA_ARGS__))

/* Columns of a row: the member of the context that receives the value, and the function that stores
 * it. */
#define CLI_BIT(CALL, MEMBER, BIT)                                                                 \
    .take = cli_take_flag, .number = (BIT),                                                        \
    .offset = CLI_OFFSET(CALL, MEMBER, int: 0, unsigned: 0)
#define CLI_FLAG(CALL, MEMBER) CLI_BIT(CALL, MEMBER, 1)
#define CLI_TEXT(CALL, MEMBER)                                                                     \
    .take = cli_take_text, .offset = CLI_OFFSET(CALL, MEMBER, const char *: 0)
#define CLI_NUMBER(CALL, MEMBER, LEAST, MOST)                                                      \
    .take = cli_take_number, .least = (LEAST), .most = (MOST),                                     \
    .offset = CLI_OFFSET(CALL, MEMBER, size_t: 0)
#define CLI_CHOICE(CALL, MEMBER, CHOICES)                                                          \
    .take = cli_take_choice, .choices = (CHOICES),                                                 \
    .offset = CLI_OFFSET(CALL, MEMBER, int: 0, unsigned: 0)
#define CLI_WORD(CALL, MEMBER, CHOICES)                                                            \
    .take = cli_take_word, .choices = (CHOICES),                                                   \
    .offset = CLI_OFFSET(CALL, MEMBER, const char *: 0)
#define CLI_PATTERNS(CALL, MEMBER)                                                                 \
    .take = cli_take_patterns, .repeats = 1,                                                       \
    .offset = CLI_OFFSET(CALL, MEMBER, struct cli_patterns: 0)
#define CLI_NUMBERS(CALL, MEMBER)                                                                  \
    .take = cli_take_numbers, .offset = CLI_OFFSET(CALL, MEMBER, struct cli_filter: 0)
#define CLI_NAMES(CALL, MEMBER)                                                                    \
    .take = cli_take_names, .offset = CLI_OFFSET(CALL, MEMBER, struct cli_filter: 0)

/* ---- Rows that several commands share ----------------------------------------------------------
 */

#define CLI_OUTPUT_ROWS(CALL, OUT, FORCE)                                                          \
    {.name = "output", .letter = 'o', .value = "FILE",                                             \
     .help = "write to FILE; '-' is standard output (the default)", .brief = "write to a file",    \
     .take = cli_take_output, .offset = CLI_OFFSET(CALL, OUT, const char *: 0)},                   \
    {.name = "force", .letter = 'f', .help = "overwrite FILE if it exists",                        \
     .brief = "overwrite an existing file", CLI_FLAG(CALL, FORCE)}

#define CLI_QUIET_ROW                                                                              \
    {.name = "quiet", .letter = 'q', .help = "print no warnings and no progress",                  \
     .take = cli_take_quiet}

#define CLI_COLOR_ROW                                                                              \
    {.name = "color", .value = "WHEN", .brief = "when to use colors",                              \
     .help = "auto (if the output is a terminal), always or never",                                \
     .choices = "auto always never", .take = cli_take_color}

#define CLI_HELP_ROW                                                                               \
    {.name = "help", .letter = 'h', .help = "show this help", .brief = "show help",                \
     .take = cli_take_help}

/* Options that limit WHAT to a range: the struct cli_range in MEMBER. OLD_FROM and OLD_TO: older
 * names of the options, or NULL. */
#define CLI_RANGE_ROWS(CALL, MEMBER, OLD_FROM, OLD_TO, WHAT)                                       \
    {.name = "since", .older = OLD_FROM, .value = "T",                                             \
     .help = WHAT " at or after the first T, and before the second: " CLI_TIME_SHORT,              \
     .brief = WHAT " at or after this time", CLI_TEXT(CALL, MEMBER.from)},                         \
    {.name = "until", .older = OLD_TO, .value = "T", .brief = WHAT " before this time",            \
     CLI_TEXT(CALL, MEMBER.to)}

#define CLI_TIME_SHORT                                                                             \
    "seconds since recording began, or with a unit (5ms); -1s before its end; 50% of it; a date "  \
    "(2026-01-31T12:00:00); @SECONDS since 1970"

/* ---- Parsing options, and messages -------------------------------------------------------------
 */

/* Parses all options in the command's table; optind is then the index of the first operand. Returns
 * CLI_OK, an exit status, or -1 if help was shown. */
int cli_options_take(const struct cli_command *command, void *context, int argc, char **argv);

/* Reports a value that is not among the option's choices. Returns CLI_USAGE. */
int cli_fail_choice(const struct cli_given *given);

/* Returns the index of a value among the choices, or -1. */
int cli_choice_find(const struct cli_given *given);

/* Finds the next choice: moves *choices past it and returns its first byte, or NULL at the end. */
const char *cli_choice_next(const char **choices, size_t *ret_bytes);

/* ---- Texts -------------------------------------------------------------------------------------
 */

/* Prints paragraphs, separated by newlines; lines that begin with a space are not wrapped. */
void cli_text_print(FILE *stream, const char *text);

/* Prints the options as --help shows them, on one or more lines each. */
void cli_options_print(FILE *stream, const struct cli_option *options);

/* Prints a command's --help on stdout. Returns CLI_OK. */
int cli_print_help(const struct cli_command *command);

/* Prints the completions of all commands for bash, zsh or fish. Returns CLI_OK or CLI_USAGE. */
int cli_completion_print(FILE *stream, const char *shell, const struct cli_command *const *commands,
                         size_t count);

/* Returns the description of an option in completions: `brief`, or part of `help`. */
void cli_option_brief(const struct cli_option *option, char *ret_text, size_t bytes);

#endif
