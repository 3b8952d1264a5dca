/* SPDX-License-Identifier: MIT
 *
 * selection.c: rules, patterns, and names in C++ symbols. Each function is looked up only once, at
 * its first call, so the text is parsed again each time.
 */
#include "base/selection.h"

#include <string.h>

#include "base/assert.h"

enum { NAME_BYTES = 512, NUMBER_DIGITS_MAX = 9, LEVELS_MAX = 8 };

struct text {
    const char *at;
    size_t bytes;
};

/* ---- Rules -------------------------------------------------------------------------------------
 */

enum kind {
    KIND_NONE,
    KIND_FUNCTION,
    KIND_EXCLUDE,
    KIND_FILE,
    KIND_OBJECT,
    KIND_MIN_BYTES,
    KIND_INVALID
};

struct rule {
    enum kind kind;
    struct text pattern;
    uint64_t bytes; /* KIND_MIN_BYTES */
};

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Removes spaces at both ends. */
static struct text trim(const char *at, size_t bytes)
{
    probity_assert(at != NULL);
    while (bytes > 0 && is_blank(*at))
        at++, bytes--;
    while (bytes > 0 && is_blank(at[bytes - 1]))
        bytes--;
    return (struct text){at, bytes};
}

static int take_word(struct text *text, const char *word)
{
    size_t bytes = strlen(word);

    if (text->bytes <= bytes || memcmp(text->at, word, bytes) != 0 || !is_blank(text->at[bytes]))
        return 0;
    *text = trim(text->at + bytes, text->bytes - bytes);
    return 1;
}

static int take_number(struct text text, uint64_t *ret_number)
{
    *ret_number = 0;
    for (size_t i = 0; i < text.bytes; i++) {
        if (text.at[i] < '0' || text.at[i] > '9' || i == NUMBER_DIGITS_MAX)
            return 0;
        *ret_number = 10 * *ret_number + (uint64_t)(text.at[i] - '0');
    }
    return text.bytes > 0;
}

static struct rule parse(struct text text)
{
    struct rule rule = {KIND_INVALID, text, 0};

    if (text.bytes == 0)
        rule.kind = KIND_NONE;
    else if (take_word(&rule.pattern, "function"))
        rule.kind = KIND_FUNCTION;
    else if (take_word(&rule.pattern, "exclude"))
        rule.kind = KIND_EXCLUDE;
    else if (take_word(&rule.pattern, "file"))
        rule.kind = KIND_FILE;
    else if (take_word(&rule.pattern, "object"))
        rule.kind = KIND_OBJECT;
    else if (take_word(&rule.pattern, "min-bytes") && take_number(rule.pattern, &rule.bytes))
        rule.kind = KIND_MIN_BYTES;
    return rule;
}

static int is_comment(const char *rules, size_t i)
{
    return rules[i] == '#' && (i == 0 || is_blank(rules[i - 1]));
}

/* Takes the rule before the next semicolon, comment or line end, and advances *rules. Returns 0 at
 * the end of the text. */
static int next_rule(const char **rules, struct rule *ret_rule)
{
    const char *at = *rules;
    size_t bytes = 0, end;

    if (*at == '\0')
        return 0;
    while (strchr(";\n", at[bytes]) == NULL && !is_comment(at, bytes))
        bytes++;
    end = at[bytes] == '#' ? bytes + strcspn(at + bytes, "\n") : bytes;
    probity_assert(end >= bytes);
    *ret_rule = parse(trim(at, bytes));
    *rules = at + end + (at[end] != '\0');
    return 1;
}

size_t probity_selection_check(const char *rules)
{
    size_t line = 1;
    struct rule rule;

    while (next_rule(&rules, &rule)) {
        if (rule.kind == KIND_INVALID)
            return line;
        line += rules[-1] == '\n';
    }
    return 0;
}

/* ---- Patterns ----------------------------------------------------------------------------------
 *
 * Does not use fnmatch(), which is not async-signal-safe.
 */

/* Matches a set such as [a-z] or [!0-9]. Returns its length, or 0 if it has no end and is an
 * ordinary bracket. */
static size_t match_set(struct text pattern, char c, int *ret_is_in)
{
    size_t i = 1;
    int is_not = i < pattern.bytes && pattern.at[i] == '!', is_in = 0;

    probity_assert(pattern.bytes > 0 && *pattern.at == '[');
    i += (size_t)is_not;
    for (size_t first = i; i < pattern.bytes; i++) {
        char low = pattern.at[i], high = low;
        if (low == ']' && i > first) {
            *ret_is_in = is_in != is_not;
            probity_assert(i + 1 <= pattern.bytes);
            return i + 1;
        }
        if (i + 2 < pattern.bytes && pattern.at[i + 1] == '-' && pattern.at[i + 2] != ']') {
            high = pattern.at[i + 2];
            i += 2;
        }
        is_in |= (unsigned char)c >= (unsigned char)low && (unsigned char)c <= (unsigned char)high;
    }
    return 0;
}

/* Whether the pattern's first element, which is not a star, matches c. Sets its bytes. */
static int match_one(struct text pattern, char c, size_t *ret_bytes)
{
    int is_in = 0;

    probity_assert(pattern.bytes > 0 && *pattern.at != '*');
    *ret_bytes = 1;
    if (*pattern.at == '?')
        return 1;
    size_t bytes = *pattern.at == '[' ? match_set(pattern, c, &is_in) : 0;
    if (bytes == 0)
        return *pattern.at == c;
    *ret_bytes = bytes;
    return is_in;
}

/* Finds the next directory or file name, or the end if there is none. */
static const char *after_slash(const char *path)
{
    const char *slash = strchr(path, '/');

    return slash != NULL ? slash + 1 : path + strlen(path);
}

/* If an element does not match, the last star takes one more character. A pattern for a path may
 * begin at any directory: before the first star, matching is retried from the next one. */
static int matches_from(struct text pattern, const char *name, int is_path)
{
    struct text again = is_path ? pattern : (struct text){NULL, 0};
    const char *retry = is_path ? name : NULL;

    while (*name != '\0' || pattern.bytes > 0) {
        size_t bytes;
        if (pattern.bytes > 0 && *pattern.at == '*') {
            pattern = (struct text){pattern.at + 1, pattern.bytes - 1};
            again = pattern;
            retry = name;
            is_path = 0;
        } else if (pattern.bytes > 0 && *name != '\0' && match_one(pattern, *name, &bytes)) {
            pattern = (struct text){pattern.at + bytes, pattern.bytes - bytes};
            name++;
        } else if (retry != NULL && *retry != '\0') {
            pattern = again;
            name = retry = is_path ? after_slash(retry) : retry + 1;
        } else {
            return 0;
        }
    }
    return 1;
}

static int matches(struct text pattern, const char *name)
{
    return matches_from(pattern, name, 0);
}

int probity_selection_matches(const char *pattern, const char *name)
{
    return matches((struct text){pattern, strlen(pattern)}, name);
}

int probity_selection_has_files(const char *rules)
{
    struct rule rule;

    while (next_rule(&rules, &rule)) {
        if (rule.kind == KIND_FILE)
            return 1;
    }
    return 0;
}

int probity_selection_takes_file(const char *rules, const char *path)
{
    struct rule rule;

    while (next_rule(&rules, &rule)) {
        if (rule.kind == KIND_FILE && matches_from(rule.pattern, path, 1))
            return 1;
    }
    return 0;
}

int probity_selection_takes(const char *rules, const struct probity_selection_subject *subject)
{
    int has_function = 0, is_function = 0, has_object = 0, is_object = 0, has_file = 0;
    char name[NAME_BYTES];
    int has_name = probity_selection_cxx_name(subject->symbol, name, sizeof name);
    struct rule rule;

    while (next_rule(&rules, &rule)) {
        int is_named = (rule.kind == KIND_FUNCTION || rule.kind == KIND_EXCLUDE) &&
                       (matches(rule.pattern, subject->symbol) ||
                        (has_name && matches(rule.pattern, name)));
        if (rule.kind == KIND_EXCLUDE && is_named)
            return 0;
        if (rule.kind == KIND_MIN_BYTES && subject->bytes > 0 && subject->bytes < rule.bytes)
            return 0;
        has_function |= rule.kind == KIND_FUNCTION;
        is_function |= is_named;
        has_file |= rule.kind == KIND_FILE;
        has_object |= rule.kind == KIND_OBJECT;
        is_object |= rule.kind == KIND_OBJECT && matches(rule.pattern, subject->object);
    }
    return (is_function || !has_function) && (is_object || !has_object) &&
           (subject->is_file || !has_file);
}

/* ---- C++ ---------------------------------------------------------------------------------------
 */

struct cxx_name {
    const char *at; /* in the symbol */
    char *text;
    size_t used, room;
    size_t last; /* offset at which the last part begins */
};

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Parses a length and that many characters. Returns the characters; empty if the symbol cannot be
 * parsed. */
static struct text take_identifier(const char **at)
{
    size_t bytes = 0;

    for (int digits = 0; is_digit(**at) && digits < 4; digits++)
        bytes = 10 * bytes + (size_t)(*(*at)++ - '0');
    struct text identifier = {*at, strnlen(*at, bytes) == bytes ? bytes : 0};
    *at += identifier.bytes;
    return identifier;
}

static int append(struct cxx_name *name, const char *before, struct text part)
{
    size_t colons = name->used > 0 ? 2 : 0, prefix = strlen(before);
    size_t bytes = colons + prefix + part.bytes;

    if (part.bytes == 0 || bytes >= name->room - name->used)
        return 0;
    memcpy(name->text + name->used, "::", colons);
    name->last = name->used + colons;
    memcpy(name->text + name->last, before, prefix);
    memcpy(name->text + name->last + prefix, part.at, part.bytes);
    name->used += bytes;
    name->text[name->used] = '\0';
    return 1;
}

static int append_identifier(struct cxx_name *name)
{
    static const char unnamed[] = "(anonymous namespace)", prefix[] = "_GLOBAL__N";
    struct text part = take_identifier(&name->at);

    if (part.bytes >= sizeof prefix - 1 && memcmp(part.at, prefix, sizeof prefix - 1) == 0)
        part = (struct text){unnamed, sizeof unnamed - 1};
    return append(name, "", part);
}

/* A constructor (C1) or destructor (D1) has the name of its class. */
static int append_special(struct cxx_name *name)
{
    const char *before = *name->at == 'D' ? "~" : "";
    char class_name[NAME_BYTES];
    size_t bytes = name->used - name->last;

    if (!is_digit(name->at[1]) || bytes == 0 || bytes > sizeof class_name)
        return 0;
    memcpy(class_name, name->text + name->last, bytes);
    name->at += 2;
    return append(name, before, (struct text){class_name, bytes});
}

/* Parses what follows an S. Returns 0 if the symbol ends. */
static int skip_substitution(const char **at)
{
    if (**at >= 'a' && **at <= 'z')
        return *(*at)++ != '\0';
    *at += strcspn(*at, "_");
    return **at == '_' && *(*at)++ != '\0';
}

/* Skips past the next such character. */
static int skip_to(const char **at, char c)
{
    const char *found = strchr(*at, c);

    *at = found != NULL ? found + 1 : *at;
    return found != NULL;
}

static int skip_element(const char **at, int *depth, int levels);

/* Starts after the opening letter. levels: limit on further nesting, because a signal handler may
 * have little stack. */
static int skip_nested(const char **at, int levels)
{
    int depth = 1;

    while (depth > 0) {
        if (levels == 0 || !skip_element(at, &depth, levels - 1))
            return 0;
    }
    return 1;
}

/* Parses a literal, after the L: its type and value, or a function. */
static int skip_literal(const char **at, int *depth, int levels)
{
    char c = **at;

    if (c == '_') {
        *at += (*at)[1] == 'Z' ? 2 : 0;
        ++*depth;
        return **at != '_';
    }
    if (c == 'N' && (++*at, !skip_nested(at, levels)))
        return 0;
    if (is_digit(c) && take_identifier(at).bytes == 0)
        return 0;
    if (c == 'S' && (++*at, !skip_substitution(at)))
        return 0;
    return (is_digit(c) || strchr("NS", c) != NULL || (c >= 'a' && c <= 'z')) && skip_to(at, 'E');
}

/* Parses one element of template arguments. *depth counts the Es still to come. Expressions are not
 * supported. */
static int skip_element(const char **at, int *depth, int levels)
{
    char c = **at;

    if (is_digit(c))
        return take_identifier(at).bytes > 0;
    if (c == '\0' || strchr("XZ", c) != NULL || (c == 'D' && (*at)[1] != 'n'))
        return 0;
    ++*at;
    if (c == 'S')
        return skip_substitution(at);
    if (c == 'T' || c == 'A')
        return skip_to(at, '_');
    if (c == 'L')
        return skip_literal(at, depth, levels);
    *depth += strchr("INJF", c) != NULL ? 1 : c == 'E' ? -1 : 0;
    return 1;
}

static int append_text(struct cxx_name *name, const char *text)
{
    return append(name, "", (struct text){text, strlen(text)});
}

/* Expands the standard library's abbreviations: St is std, Sa is std::allocator. */
static int append_standard(struct cxx_name *name)
{
    static const char names[][14] = {"aallocator", "bbasic_string", "sstring", "iistream",
                                     "oostream",   "diostream"};
    char c = name->at[1];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i][0] == c) {
            name->at += 2;
            return append_text(name, "std") && append_text(name, names[i] + 1);
        }
    }
    name->at += c == 't' ? 2 : 0;
    return c == 't' && append_text(name, "std");
}

/* Parses one part of a name, an ABI tag, or template arguments. */
static int take_part(struct cxx_name *name)
{
    char c = *name->at;

    if (c == 'L' || c == 'B')
        c = *++name->at;
    if (is_digit(c))
        return name->at[-1] == 'B' ? take_identifier(&name->at).bytes > 0
                                   : append_identifier(name);
    if (c == 'C' || c == 'D')
        return append_special(name);
    if (c == 'I')
        return name->used > 0 && (name->at++, skip_nested(&name->at, LEVELS_MAX));
    return c == 'S' && name->used == 0 && append_standard(name);
}

/* Returns whether the whole name was parsed. */
static int take_name(struct cxx_name *name)
{
    if (*name->at != 'N')
        return (*name->at != 'S' || take_part(name)) && take_part(name);
    name->at += 1 + strspn(name->at + 1, "rVKRO");
    while (*name->at != 'E') {
        if (!take_part(name))
            return 0;
    }
    return 1;
}

int probity_selection_cxx_name(const char *symbol, char *ret_name, size_t room)
{
    struct cxx_name name = {.at = symbol + 2, .text = ret_name, .room = room};
    int is_local = strncmp(symbol, "_ZZ", 3) == 0; /* a lambda, for example */

    if (strncmp(symbol, "_Z", 2) != 0)
        return 0;
    name.at += is_local;
    int is_whole = take_name(&name) && !is_local;
    return name.used > 0 && (is_whole || append_text(&name, "?"));
}
