/* SPDX-License-Identifier: MIT
 *
 * option_help.c: prints a command's options for --help: two columns, wrapped.
 */
#include <string.h>

#include "cli/option.h"

/* A longer "-x, --name VALUE" gets a separate line. */
enum { HEAD_MAX = 27, LINE_COLUMNS = 97 };

static int shares_line(const struct cli_option *option)
{
    return option->name != NULL && option->help == NULL && option->choices == NULL;
}

/* Formats " -n, --limit N", or " --from T, --to T" for options on one line. Returns the length. */
static size_t make_head(const struct cli_option *option, char *ret_head, size_t bytes)
{
    char letter[] = "    ";
    size_t used;

    if (option->letter != 0)
        memcpy(letter, (char[]){'-', option->letter, ','}, 3);
    used = (size_t)snprintf(ret_head, bytes, "  %s--%s", letter, option->name);
    if (option->value != NULL)
        used += (size_t)snprintf(ret_head + used, bytes - used, " %s", option->value);
    for (option++; shares_line(option); option++)
        used += (size_t)snprintf(ret_head + used, bytes - used, ", --%s %s", option->name,
                                 option->value);
    return used;
}

/* Prints "a (default), b, c". */
static void list_choices(const struct cli_option *option, char *ret_text, size_t bytes)
{
    const char *choices = option->choices, *choice;
    const char *initial = option->initial != NULL ? option->initial : "";
    size_t used = 0, length;

    while ((choice = cli_choice_next(&choices, &length)) != NULL && used < bytes) {
        int is_initial = strlen(initial) == length && memcmp(choice, initial, length) == 0;
        used += (size_t)snprintf(ret_text + used, bytes - used, "%s%.*s%s", used > 0 ? ", " : "",
                                 (int)length, choice, is_initial ? " (default)" : "");
    }
}

/* Finds the next space outside of backquotes, whose contents stay on one line. */
static size_t word_length(const char *text)
{
    size_t length = 0;
    int is_quoted = 0;

    for (; text[length] != '\0' && text[length] != '\n'; length++) {
        if (text[length] == ' ' && !is_quoted)
            break;
        is_quoted ^= text[length] == '`';
    }
    return length;
}

/* Continues a line at column `indent`, to which later lines are indented. */
static void put_wrapped(FILE *stream, const char *text, size_t bytes, size_t indent)
{
    const char *end = text + bytes;
    size_t column = indent;

    while (text < end) {
        size_t length = word_length(text);
        if (column > indent && column + 1 + length > LINE_COLUMNS) {
            fprintf(stream, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', stream);
            column++;
        }
        fwrite(text, 1, length, stream);
        column += length;
        text += length + (text[length] == ' ');
    }
    fputc('\n', stream);
}

void cli_text_print(FILE *stream, const char *text)
{
    while (*text != '\0') {
        size_t bytes = strcspn(text, "\n");
        if (*text == ' ')
            fprintf(stream, "%.*s\n", (int)bytes, text);
        else
            put_wrapped(stream, text, bytes, 0);
        text += bytes + (text[bytes] == '\n');
    }
}

static void print_option(FILE *stream, const struct cli_option *option, size_t indent)
{
    char head[128], list[512];
    size_t length = make_head(option, head, sizeof head);

    fputs(head, stream);
    if (length + 2 > indent) {
        fputc('\n', stream);
        length = 0;
    }
    fprintf(stream, "%*s", (int)(indent - length), "");
    if (option->help == NULL)
        list_choices(option, list, sizeof list);
    const char *text = option->help != NULL ? option->help : list;
    put_wrapped(stream, text, strlen(text), indent);
}

void cli_options_print(FILE *stream, const struct cli_option *options)
{
    char head[128];
    size_t widest = 0;

    for (const struct cli_option *option = options; option->name != NULL; option++) {
        size_t length = shares_line(option) ? 0 : make_head(option, head, sizeof head);
        widest = length > widest && length <= HEAD_MAX ? length : widest;
    }
    for (const struct cli_option *option = options; option->name != NULL; option++) {
        if (!shares_line(option))
            print_option(stream, option, widest + 2);
    }
}

void cli_option_brief(const struct cli_option *option, char *ret_text, size_t bytes)
{
    const char *text = option->brief != NULL ? option->brief
                       : option->help != NULL ? option->help : "";
    size_t length = option->brief != NULL ? strlen(text) : strcspn(text, ":;(");

    while (length > 0 && text[length - 1] == ' ')
        length--;
    snprintf(ret_text, bytes, "%.*s", (int)length, text);
}

/* The format is the same for all commands. */
int cli_print_help(const struct cli_command *command)
{
    printf("Usage: probity %s %s\n\n%s.\n\n", command->name, command->usage, command->summary);
    cli_text_print(stdout, command->help);
    putchar('\n');
    cli_options_print(stdout, command->options);
    if (command->notes != NULL) {
        putchar('\n');
        cli_text_print(stdout, command->notes);
    }
    printf("\nExit status: %s.\n",
           command->statuses != NULL
               ? command->statuses
               : "0 success; 1 failure; 2 usage error; 3 the input is damaged or incomplete");
    return CLI_OK;
}

const char *cli_choice_next(const char **choices, size_t *ret_bytes)
{
    const char *first = *choices + strspn(*choices, " ");

    *ret_bytes = strcspn(first, " ");
    *choices = first + *ret_bytes;
    return *ret_bytes > 0 ? first : NULL;
}
