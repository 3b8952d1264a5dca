/* SPDX-License-Identifier: MIT
 *
 * filter.c: parses lists, and tests hits against the filters that are set.
 */
#include "cli/filter.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "base/hash.h"
#include "print/text.h"

/* Numbers come first, and are found by binary search; names are found by linear search. */
static int compare_items(const void *left, const void *right)
{
    const struct cli_filter_item *a = left, *b = right;

    if ((a->name == NULL) != (b->name == NULL))
        return a->name == NULL ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static int add_item(struct cli_filter *filter, struct cli_filter_item item)
{
    struct cli_filter_item *items =
        probity_array_append(filter->items, sizeof *filter->items, filter->count);

    if (items == NULL)
        return PROBITY_ERROR_MEMORY;
    filter->items = items;
    items[filter->count++] = item;
    filter->numbers += item.name == NULL;
    return 0;
}

/* Accepts only digits: strtoull() would accept signs and spaces. */
static int is_number(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (!isdigit((unsigned char)text[i]))
            return 0;
    }
    return bytes > 0;
}

int cli_filter_parse(const struct cli_command *command, struct cli_filter *filter, const char *text,
                     int allow_names)
{
    for (;;) {
        size_t bytes = strcspn(text, ",");
        struct cli_filter_item item = {0};
        if (is_number(text, bytes)) {
            item.number = strtoull(text, NULL, 10);
            if (bytes > 10 || item.number > UINT32_MAX)
                return cli_fail_usage(command, "'%.*s' is out of range (0 to 2^32-1)", (int)bytes,
                                      text);
        } else if (allow_names && bytes > 0) {
            item.name = text;
            item.name_bytes = bytes;
        } else {
            return cli_fail_usage(command, "'%.*s' is not a number", (int)bytes, text);
        }
        if (add_item(filter, item) != 0)
            return cli_fail(command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
        if (text[bytes] == '\0')
            break;
        text += bytes + 1;
    }
    qsort(filter->items, filter->count, sizeof *filter->items, compare_items);
    return CLI_OK;
}

/* Remembers a name that does not pass, for a suggestion. */
static __attribute__((noinline)) void refuse(struct cli_filter *filter, const char *name,
                                             size_t bytes)
{
    size_t place = (uintptr_t)name / sizeof(void *) % CLI_FILTER_REFUSED;

    if (filter->refused[place] == name)
        return;
    filter->refused[place] = name;
    for (size_t i = filter->numbers; i < filter->count; i++) {
        struct cli_filter_item *item = &filter->items[i];
        if (!item->is_seen)
            cli_nearest_take(&item->nearest, item->name, item->name_bytes, name, bytes);
    }
}

int cli_filter_passes(struct cli_filter *filter, uint64_t number, const char *name,
                      size_t name_bytes)
{
    struct cli_filter_item wanted = {.number = number};

    if (filter->count == 0)
        return 1;
    if (filter->numbers > 0) {
        struct cli_filter_item *found = bsearch(&wanted, filter->items, filter->numbers,
                                                sizeof wanted, compare_items);
        if (found != NULL) {
            found->is_seen = 1;
            return 1;
        }
    }
    for (size_t i = filter->numbers; name != NULL && i < filter->count; i++) {
        struct cli_filter_item *item = &filter->items[i];
        if (item->name_bytes == name_bytes && memcmp(item->name, name, name_bytes) == 0) {
            item->is_seen = 1;
            return 1;
        }
    }
    if (filter->count > filter->numbers && name != NULL)
        refuse(filter, name, name_bytes);
    return 0;
}

void cli_filter_see_tids(struct cli_filter *filter, const struct probity_reader *reader)
{
    for (size_t i = 0; i < filter->count; i++) {
        if (filter->items[i].name == NULL && !filter->items[i].is_seen)
            filter->items[i].is_seen = probity_reader_has_tid(reader, filter->items[i].number);
    }
}

int cli_filter_warn_unseen(const struct cli_command *command, const struct cli_filter *filter,
                           const char *noun)
{
    for (size_t i = 0; i < filter->count; i++) {
        const struct cli_filter_item *item = &filter->items[i];
        if (item->is_seen)
            continue;
        if (item->nearest.best[0] != '\0')
            cli_warn(command, "no match for %s '%.*s'; did you mean '%s'?", noun,
                     (int)item->name_bytes, item->name, item->nearest.best);
        else if (item->name != NULL)
            cli_warn(command, "no match for %s '%.*s'; run `probity %s` without filters to see all",
                     noun, (int)item->name_bytes, item->name, command->name);
        else
            cli_warn(command, "no match for %s %" PRIu64 "; run `probity %s` without filters to "
                     "see all", noun, item->number, command->name);
        return 1;
    }
    return 0;
}

int cli_filter_copy(const struct cli_filter *filter, struct cli_filter *ret_copy)
{
    struct cli_filter copy = {.count = filter->count, .numbers = filter->numbers};

    if (copy.count > 0) {
        copy.items = calloc(copy.count, sizeof *copy.items);
        if (copy.items == NULL)
            return PROBITY_ERROR_MEMORY;
    }
    for (size_t i = 0; i < copy.count; i++) {
        copy.items[i] = filter->items[i];
        copy.items[i].is_seen = 0;
    }
    *ret_copy = copy;
    return 0;
}

void cli_filter_see(struct cli_filter *filter, const struct cli_filter *copy)
{
    for (size_t i = 0; i < copy->count; i++) {
        struct cli_filter_item *item = &filter->items[i];
        const struct cli_nearest *nearest = &copy->items[i].nearest;
        item->is_seen |= copy->items[i].is_seen;
        if (nearest->best[0] != '\0' &&
            (item->nearest.best[0] == '\0' || nearest->errors < item->nearest.errors ||
             (nearest->errors == item->nearest.errors &&
              strcmp(nearest->best, item->nearest.best) < 0)))
            item->nearest = *nearest;
    }
}

void cli_filter_release(struct cli_filter *filter)
{
    free(filter->items);
    *filter = (struct cli_filter){0};
}

/* The most similar name for each of the first patterns. */
static struct {
    const char *pattern;
    struct cli_nearest nearest;
} missed[CLI_FUNCTION_PATTERNS];

static struct cli_nearest *nearest_of(const char *pattern)
{
    for (size_t i = 0; i < CLI_FUNCTION_PATTERNS; i++) {
        if (missed[i].pattern == NULL)
            missed[i].pattern = pattern;
        if (missed[i].pattern == pattern)
            return &missed[i].nearest;
    }
    return NULL;
}

static int miss(const char *pattern, const char *name)
{
    struct cli_nearest *nearest = nearest_of(pattern);

    if (nearest != NULL)
        cli_nearest_take(nearest, pattern, strlen(pattern), name, strlen(name));
    return 0;
}

const char *cli_function_nearest(const char *pattern)
{
    const struct cli_nearest *nearest = nearest_of(pattern);

    return nearest != NULL && nearest->best[0] != '\0' ? nearest->best : NULL;
}

int cli_fail_function(const struct cli_command *command, const char *pattern)
{
    const char *nearest = cli_function_nearest(pattern);

    if (nearest != NULL)
        return cli_fail(command, "no calls match '%s'; did you mean '%s'?", pattern, nearest);
    return cli_fail(command, "no calls match '%s'; `probity report` lists the functions", pattern);
}

int cli_function_matches(const char *pattern, const char *name, const char *signature)
{
    size_t bytes;

    if (fnmatch(pattern, name, 0) == 0 || fnmatch(pattern, signature, 0) == 0)
        return 1;
    const char *from = probity_text_qualified(signature, name, &bytes);
    char *qualified = strndup(from, bytes);
    int is_found = qualified != NULL && fnmatch(pattern, qualified, 0) == 0;
    free(qualified);
    return is_found;
}

int cli_function_memo_matches(struct cli_function_memo *memo, const char *pattern,
                              const struct probity_function *function)
{
    size_t count = sizeof memo->items / sizeof *memo->items;
    size_t at = (size_t)(probity_hash((uint64_t)(uintptr_t)function) % count);

    if (memo->items[at].function != function) {
        memo->items[at].function = function;
        memo->items[at].matches =
            cli_function_matches(pattern, function->name, function->signature);
    }
    return memo->items[at].matches;
}

int cli_function_is_like(const char *pattern, const char *name, const char *signature)
{
    return cli_function_matches(pattern, name, signature) || miss(pattern, name);
}

int cli_parse_number(const char *text, size_t least, size_t most, size_t *ret_number)
{
    size_t bytes = strlen(text);
    size_t number = strtoull(text, NULL, 10);

    if (!is_number(text, bytes) || bytes > 18 || number < least || number > most)
        return -1;
    *ret_number = number;
    return 0;
}
