/* SPDX-License-Identifier: MIT
 *
 * cli_traces.c: matches the names in a directory against a pattern.
 */
#include "cli/cli_traces.h"

#include <dirent.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probity.h"

/* Writes the last component of a pattern as a wildcard for fnmatch(), escaping special characters.
 */
static void put_wildcard(FILE *stream, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '%' && i + 1 < length) {
            i++;
            if (text[i] == 'p' || text[i] == 'n') {
                fputc('*', stream);
                continue;
            }
        }
        if (strchr("*?[]\\", text[i]) != NULL)
            fputc('\\', stream);
        fputc(text[i], stream);
    }
}

/* With or without an inserted ".PID". malloc'ed. */
static char *wildcard_of(const char *name, int is_inserted)
{
    const char *dot = strrchr(name, '.');
    size_t length = strlen(name), stem = dot != NULL && dot != name ? (size_t)(dot - name) : length;
    char *wildcard = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&wildcard, &bytes);

    if (stream == NULL)
        return NULL;
    put_wildcard(stream, name, stem);
    if (is_inserted)
        fputs(".*", stream);
    put_wildcard(stream, name + stem, length - stem);
    if (length > 4 && strcmp(name + length - 4, ".csv") == 0)
        fputs(".probity", stream);
    return fclose(stream) == 0 ? wildcard : NULL;
}

static int add_name(struct cli_names *names, const char *stem, const char *name)
{
    char **items = realloc(names->items, (names->count + 1) * sizeof *items);
    char *path = NULL;

    if (items == NULL)
        return PROBITY_ERROR_MEMORY;
    names->items = items;
    if (asprintf(&path, "%s%s", stem, name) < 0)
        return PROBITY_ERROR_MEMORY;
    items[names->count++] = path;
    return 0;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* stem: ends with a slash, or is empty for the working directory. */
static int search(const char *stem, const char *plain, const char *inserted,
                  struct cli_names *names)
{
    DIR *directory = opendir(*stem != '\0' ? stem : ".");
    const struct dirent *entry;
    int error = 0;

    if (directory == NULL)
        return 0; /* there are no names */
    while (error == 0 && (entry = readdir(directory)) != NULL) {
        if (fnmatch(plain, entry->d_name, 0) == 0 || fnmatch(inserted, entry->d_name, 0) == 0)
            error = add_name(names, stem, entry->d_name);
    }
    closedir(directory);
    if (names->count > 1)
        qsort(names->items, names->count, sizeof *names->items, compare_names);
    return error;
}

int cli_names_find(const char *pattern, struct cli_names *ret_names)
{
    const char *slash = strrchr(pattern, '/'), *name = slash != NULL ? slash + 1 : pattern;
    char *stem = strndup(pattern, (size_t)(name - pattern));
    char *plain = wildcard_of(name, 0), *inserted = wildcard_of(name, 1);
    struct cli_names names = {NULL, 0};
    int error = PROBITY_ERROR_MEMORY;

    if (stem != NULL && plain != NULL && inserted != NULL) {
        size_t used = 0;
        for (const char *at = stem; *at != '\0'; at++) {
            at += at[0] == '%' && at[1] == '%';
            stem[used++] = *at;
        }
        stem[used] = '\0';
        error = search(stem, plain, inserted, &names);
    }
    free(stem);
    free(plain);
    free(inserted);
    if (error != 0)
        cli_names_release(&names);
    else
        *ret_names = names;
    return error;
}

void cli_names_release(struct cli_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
    *names = (struct cli_names){NULL, 0};
}
