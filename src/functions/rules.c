/* SPDX-License-Identifier: MIT
 *
 * rules.c: see rules.h. The rules are read once, by the first thread that needs them.
 */
#include "functions/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/objects.h"
#include "base/os.h"
#include "functions/arena.h"
#include "functions/functions.h"
#include "functions/line_table.h"

enum { PATTERN_BYTES = 256, NAME_BYTES = 1024 };

/* Rules that were in effect before are used again: a program may be attached to any number of
 * times. */
struct made {
    struct made *next;
    char text[];
};

static struct made *all_made;

const char *probity_rules_make(const char *text)
{
    struct made *found = __atomic_load_n(&all_made, __ATOMIC_ACQUIRE);
    size_t bytes = strlen(text) + 1;

    for (; found != NULL; found = found->next) {
        if (strcmp(found->text, text) == 0)
            return found->text;
    }
    struct made *made = probity_arena_take(sizeof *made + bytes);
    if (made == NULL)
        return NULL;
    memcpy(made->text, text, bytes);
    made->next = __atomic_load_n(&all_made, __ATOMIC_ACQUIRE);
    while (!__atomic_compare_exchange_n(&all_made, &made->next, made, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
        ;
    return made->text;
}

static const char *make_or_none(const char *text)
{
    const char *made = probity_rules_make(text);

    return made != NULL ? made : "";
}

/* Returns a copy, because the program may change its environment. If a line is invalid, no function
 * is recorded: the trace would not be what was requested. */
static const char *read_rules(void)
{
    const char *text = probity_os_is_privileged() ? NULL : getenv("PROBITY_SELECT");
    size_t line = text != NULL ? probity_selection_check(text) : 0;
    char message[128];

    if (line == 0)
        return make_or_none(text != NULL ? text : "");
    int length = snprintf(message, sizeof message, "probity: PROBITY_SELECT: no rule in line %zu; "
                          "recording no function (see man 7 probity-functions)\n", line);
    probity_os_say(message, (size_t)length);
    return make_or_none("exclude *");
}

static const char *kept; /* NULL: not read yet */

/* Two threads may both read the rules: those of the first one are used. */
const char *probity_rules_now(void)
{
    const char *found = __atomic_load_n(&kept, __ATOMIC_SEQ_CST);

    if (found != NULL)
        return found;
    const char *read = read_rules();
    return __atomic_compare_exchange_n(&kept, &found, read, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)
               ? read
               : found;
}

/* Call before the results of the old rules are discarded: a thread that finds a function meanwhile
 * checks the rules again (functions.c). */
void probity_rules_set(const char *rules)
{
    __atomic_store_n(&kept, rules, __ATOMIC_SEQ_CST);
}

int probity_functions_are_selected(void)
{
    return *probity_rules_now() != '\0';
}

static int is_wanted_file(const void *rules_text, const char *path)
{
    return probity_selection_takes_file(rules_text, path);
}

/* Sets the sources of symbols. Without debugging information, no source is known, so earlier
 * results are cleared. */
static void find_sources(const char *rules, const char *path, const struct probity_object *loaded,
                         struct probity_symbol_table *symbols)
{
    struct probity_line_sections lines = {.text_bytes = 0};
    const struct probity_line_search search = {is_wanted_file, rules};

    for (size_t i = 0; i < symbols->count; i++)
        symbols->symbols[i].source = PROBITY_SOURCE_UNKNOWN;
    symbols->sources = 0;
    lines.lines = probity_section_load(path, loaded, ".debug_line", &lines.line_bytes);
    if (lines.lines == NULL)
        return;
    lines.texts = probity_section_load(path, loaded, ".debug_line_str", &lines.text_bytes);
    probity_line_table_mark(&lines, &search, symbols);
    probity_arena_unmap(lines.lines, lines.line_bytes);
    if (lines.texts != NULL)
        probity_arena_unmap(lines.texts, lines.text_bytes);
}

/* Works on a copy: a thread that uses the symbols meanwhile must not find them without sources. */
void probity_rules_find_sources(const char *rules, const char *path,
                                const struct probity_object *loaded,
                                struct probity_symbol_table *symbols)
{
    size_t bytes = symbols->count * sizeof *symbols->symbols;
    struct probity_symbol_table copy = *symbols;

    if (symbols->count == 0 || !probity_selection_has_files(rules))
        return;
    copy.symbols = probity_arena_map(bytes);
    if (copy.symbols == NULL) {
        find_sources(rules, path, loaded, symbols);
        return;
    }
    memcpy(copy.symbols, symbols->symbols, bytes);
    find_sources(rules, path, loaded, &copy);
    for (size_t i = 0; i < symbols->count; i++)
        __atomic_store_n(&symbols->symbols[i].source, copy.symbols[i].source, __ATOMIC_RELAXED);
    __atomic_store_n(&symbols->sources, copy.sources, __ATOMIC_RELAXED);
    probity_arena_unmap(copy.symbols, bytes);
}

/* Probity's libraries are ignored: they may have been built with debugging information. */
static void find_lines(void *context, const struct probity_object *object)
{
    static const char own[] = "libprobity";
    const char *slash = strrchr(object->path, '/');
    const char *name = slash != NULL ? slash + 1 : object->path;
    int *has_lines = context;
    size_t bytes;

    if (*has_lines || strncmp(name, own, sizeof own - 1) == 0)
        return;
    uint8_t *lines = probity_section_load(*object->path != '\0' ? object->path : "/proc/self/exe",
                                          object, ".debug_line", &bytes);
    *has_lines = lines != NULL;
    if (lines != NULL)
        probity_arena_unmap(lines, bytes);
}

int probity_rules_lack_sources(const char *rules)
{
    uint64_t loads = 0;
    int has_lines = 0;

    if (probity_selection_has_files(rules))
        probity_objects_each(&loads, find_lines, &has_lines);
    else
        has_lines = 1;
    return !has_lines;
}

/* Copies the pattern of a line `ends PATTERN`. Returns 0 if the line has another form. */
static int read_ends(const char *line, size_t bytes, char *ret_pattern, size_t room)
{
    static const char word[] = "ends ";
    size_t before = sizeof word - 1;

    if (bytes <= before || memcmp(line, word, before) != 0 || bytes - before >= room)
        return 0;
    memcpy(ret_pattern, line + before, bytes - before);
    ret_pattern[bytes - before] = '\0';
    return 1;
}

int probity_rules_have_ends(const char *rules)
{
    return strncmp(rules, "ends ", 5) == 0 || strstr(rules, "\nends ") != NULL;
}

int probity_rules_need_ends(const char *rules, const char *symbol)
{
    char pattern[PATTERN_BYTES], name[NAME_BYTES];
    int has_name = probity_selection_cxx_name(symbol, name, sizeof name);

    for (size_t bytes; *rules != '\0'; rules += bytes + (rules[bytes] != '\0')) {
        bytes = strcspn(rules, "\n");
        if (read_ends(rules, bytes, pattern, sizeof pattern) &&
            (probity_selection_matches(pattern, symbol) ||
             (has_name && probity_selection_matches(pattern, name))))
            return 1;
    }
    return 0;
}

/* Reports once, and only if a trace was requested. */
static void report_without_sources(const char *object)
{
    static uint32_t is_reported;
    char message[256];

    if (__atomic_exchange_n(&is_reported, 1, __ATOMIC_RELAXED) || getenv("PROBITY_OUT") == NULL)
        return;
    int length = snprintf(message, sizeof message, "probity: %.80s: `file` rules select none of "
                          "its functions, because it has no debugging information: compile it with "
                          "-g (see man 7 probity-functions)\n", object);
    probity_os_say(message, (size_t)length);
}

int probity_rules_take(const struct probity_selection_subject *subject, int has_sources)
{
    struct probity_selection_subject in_file = *subject;
    const char *rules = probity_rules_now();

    if (*rules == '\0' || probity_selection_takes(rules, subject))
        return 1;
    in_file.is_file = 1;
    if (!has_sources && probity_selection_has_files(rules) &&
        probity_selection_takes(rules, &in_file))
        report_without_sources(subject->object);
    return 0;
}
